// What the other files share: the facts, making elements, showing text, and a list that draws only what is seen.
const facts = JSON.parse(document.getElementById("facts").textContent);
const suspects = facts.suspects;
const N = suspects.row.length;
const $ = (id) => document.getElementById(id);
const count = (n) => Math.round(n).toLocaleString("en").replace(/,/g, "\u202f");
const percent = (p) => (p > 0 && p < 0.001 ? "< 0.1 %" : p === 0 || p === 1 ? 100 * p + " %" : p > 0.999 ? "> 99.9 %" : (100 * p).toFixed(p > 0.95 || p < 0.05 ? 1 : 0) + " %");
const classColour = (code) => "k" + (code < 0 || code == null ? "x" : code % 8);

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

// Text from the table may hold control characters and marks that turn the direction of writing: show them as marks.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2028\u2029\u2060-\u2069\ufeff]/g;
function visible(text) {
  return String(text).replace(HIDDEN, (c) => {
    const code = c.charCodeAt(0);
    if (code === 10 || code === 13) return "⏎";
    if (code === 9) return "⇥";
    return code < 32 ? String.fromCharCode(0x2400 + code) : "⟨U+" + code.toString(16).toUpperCase().padStart(4, "0") + "⟩";
  });
}
const cell = (text) => make("bdi", { title: visible(text) }, visible(text));
// Long names are cut in the middle: classes often differ at their ends only.
function shortened(text, most) {
  text = visible(text);
  return text.length <= most ? text : text.slice(0, Math.ceil(most * 0.55) - 1) + "…" + text.slice(text.length - Math.floor(most * 0.45));
}
function pill(code, most = 30) {
  const name = code < 0 || code == null ? "no label" : facts.classes[code];
  return make("span", { class: "pill " + classColour(code), title: visible(name) }, make("bdi", {}, shortened(name, most)));
}

// A list of `size()` lines of equal height; only the visible ones exist as elements.
function virtualList(box, height, size, draw) {
  const spacer = make("div", { class: "spacer" });
  box.replaceChildren(spacer);
  const drawn = new Map();
  function paint() {
    const first = Math.max(0, Math.floor(box.scrollTop / height) - 4);
    const last = Math.min(size(), Math.ceil((box.scrollTop + Math.max(box.clientHeight, 200)) / height) + 4);
    for (const [index, element] of drawn) if (index < first || index >= last) { element.remove(); drawn.delete(index); }
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
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
    paint();
  }
  box.addEventListener("scroll", () => requestAnimationFrame(paint), { passive: true });
  new ResizeObserver(paint).observe(box);
  refresh();
  return { refresh, show, setHeight(h) { height = h; refresh(); } };
}

let toastTimer = 0;
function tell(text) {
  $("live").textContent = text;
  $("toast").textContent = text;
  $("toast").hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { $("toast").hidden = true; }, 2600);
}
const announce = (text) => { $("live").textContent = text; };

// Values of column j for suspect s: columns are stored whole, repeated values once.
function valueOf(j, s) {
  const stored = facts.values[j];
  if (!stored) return null;
  const at = stored.i ? stored.i[s] : s;
  return at == null || at >= stored.d.length ? null : stored.d[at];
}
