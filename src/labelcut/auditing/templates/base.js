// What the other files share: the facts, making elements, showing text, and a list that draws
// only what is seen.
const facts = JSON.parse(document.getElementById("facts").textContent);
// The rows to decide about: suspects first, rows without a label behind them, under one number.
const N = facts.suspects.row.length;
const N_UNLABELED = facts.unlabeled_rows.row.length;
const N_CASES = N + N_UNLABELED;
const cases = joined(facts.suspects, facts.unlabeled_rows);
const isSuspect = (s) => s < N;
const $ = (id) => document.getElementById(id);
const count = (n) => Math.round(n).toLocaleString("en").replace(/,/g, "\u202f");
const hasNoLabel = (code) => code == null || code < 0;
const colourOf = (code) => (hasNoLabel(code) ? -1 : facts.colours[code]);
const classColour = (code) => "k" + (colourOf(code) < 0 ? "x" : colourOf(code));

function joined(first, second) {
  const names = Object.keys(first).filter((name) => name in second);
  return Object.fromEntries(names.map((name) => [name, [...first[name], ...second[name]]]));
}

// "1 label", "2 labels".
const counted = (n, thing) => `${count(n)} ${thing}${Math.round(n) === 1 ? "" : "s"}`;

function percent(share) {
  if (share === 0 || share === 1) return 100 * share + " %";
  if (share > 0 && share < 0.001) return "< 0.1 %";
  if (share > 0.999) return "> 99.9 %";
  return (100 * share).toFixed(share > 0.95 || share < 0.05 ? 1 : 0) + " %";
}

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "class") element.className = value;
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

// Text from the table may hold control characters and marks that turn the direction of writing:
// show them as marks.
const HIDDEN = new RegExp(
  "[\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u202a-\\u202e" +
    "\\u2028\\u2029\\u2060-\\u2069\\ufeff]",
  "g",
);

function visible(text) {
  return String(text).replace(HIDDEN, (character) => {
    const code = character.charCodeAt(0);
    if (code === 10 || code === 13) return "⏎";
    if (code === 9) return "⇥";
    if (code < 32) return String.fromCharCode(0x2400 + code);
    return "⟨U+" + code.toString(16).toUpperCase().padStart(4, "0") + "⟩";
  });
}

// In a text that is read, tabs, joiners and marks of direction between letters are what they are.
const HIDDEN_IN_PROSE = new RegExp(HIDDEN.source.replace("\\u200b-\\u200f", "\\u200b"), "g");

function readableLines(text) {
  const asMark = (mark) => (mark === "\t" ? mark : visible(mark));
  const show = (line) => line.replace(HIDDEN_IN_PROSE, asMark);
  return text.split(/\r\n|\r|\n/).map(show).join("\n");
}

const cell = (text) => make("bdi", { title: visible(text) }, visible(text));

// Long names are cut in the middle: classes often differ at their ends only.
function shortened(text, most) {
  const shown = visible(text);
  if (shown.length <= most) return shown;
  const start = shown.slice(0, Math.ceil(most * 0.55) - 1);
  const end = shown.slice(shown.length - Math.floor(most * 0.45));
  return start + "…" + end;
}

// How many letters fit into so many pixels.
const room = (pixels, most) => Math.max(5, Math.min(most, Math.floor(pixels / 7.6)));

// Letters that all classes begin or end with tell nothing: they are the first to go.
function commonLength(names) {
  let n = 0;
  while (names.length > 1 && names.every((name) => n < name.length && name[n] === names[0][n])) n++;
  return n;
}
const reversed = (name) => [...name].reverse().join("");
const COMMON_START = commonLength(facts.classes);
const COMMON_END = commonLength(facts.classes.map((name) => reversed(name.slice(COMMON_START))));

function shortClass(code, most) {
  const name = facts.classes[code];
  if (visible(name).length <= most) return visible(name);
  const end = name.length - COMMON_END;
  if (end < most) return visible(name.slice(0, end)) + "…";
  if (name.length - COMMON_START < most) return "…" + visible(name.slice(COMMON_START));
  if (COMMON_START < 3 || COMMON_END < 3) return shortened(name, most);
  return "…" + shortened(name.slice(COMMON_START, end), most - 2) + "…";
}

function pill(code, most = 30) {
  const name = hasNoLabel(code) ? "no label" : facts.classes[code];
  const text = make("bdi", {}, hasNoLabel(code) ? name : shortClass(code, most));
  return make("span", { class: "pill " + classColour(code), title: visible(name) }, text);
}

// A list of `size()` lines of equal height; only the visible ones exist as elements.
function virtualList(box, height, size, draw) {
  const spacer = make("div", { class: "spacer" });
  box.replaceChildren(spacer);
  const drawn = new Map();
  function paint() {
    const first = Math.max(0, Math.floor(box.scrollTop / height) - 4);
    const bottom = box.scrollTop + Math.max(box.clientHeight, 200);
    const last = Math.min(size(), Math.ceil(bottom / height) + 4);
    for (const [index, element] of drawn) {
      if (index >= first && index < last) continue;
      element.remove();
      drawn.delete(index);
    }
    for (let index = first; index < last; index++) {
      if (drawn.has(index)) continue;
      const element = draw(index);
      element.style.height = height + "px";
      element.style.transform = `translateY(${index * height}px)`;
      drawn.set(index, element);
      box.append(element);
    }
  }
  function refresh() {
    for (const element of drawn.values()) element.remove();
    drawn.clear();
    spacer.style.height = size() * height + "px";
    paint();
  }
  function show(index) {
    const top = index * height;
    const bottom = top + height;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
    paint();
  }
  function setHeight(newHeight) {
    height = newHeight;
    refresh();
  }
  box.addEventListener("scroll", () => requestAnimationFrame(paint), { passive: true });
  new ResizeObserver(paint).observe(box);
  refresh();
  return { refresh, show, setHeight };
}

const TOAST_TIME = 2600;
const UNDO_TIME = 9000; // Long enough to see what many decisions at once have done.
let toastTimer = 0;

function tell(text, canUndo = false) {
  $("live").textContent = text;
  $("toast-text").textContent = text;
  $("toast-undo").hidden = !canUndo;
  $("toast").hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(hideToast, canUndo ? UNDO_TIME : TOAST_TIME);
}

function hideToast() {
  $("toast").hidden = true;
}

function announce(text) {
  $("live").textContent = text;
}

// The cell of column j in row r of the page: columns are stored whole, repeated values once.
function valueOf(j, r) {
  const stored = facts.values[j];
  if (!stored) return null;
  const at = stored.i ? stored.i[r] : r;
  return at == null || at >= stored.d.length ? null : stored.d[at];
}
