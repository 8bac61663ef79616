// Long cells and the column of texts, whole: to be read, searched, and with their telling words
// marked.
const MOST_MARKS = 2000; // In one text; more would be slow and tell nothing.
const LETTER = "[\\p{L}\\p{M}\\p{N}]";
const UNSPACED = new RegExp(
  "^[" +
    ["Han", "Hira", "Kana", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"]
      .map((script) => `\\p{scx=${script}}`)
      .join("") +
    "]+$",
  "u",
);

function drawTexts(s) {
  const box = make("div", { class: "texts" });
  const columns = columnOrder.filter((j) => facts.values[j] && !isNoText(j) && isLong(s, j));
  columns.sort((a, b) => isNamedText(b) - isNamedText(a));
  box.append(...columns.map((j) => drawText(s, j)));
  return box;
}

const isNoText = (j) => ["label", "image"].includes(facts.columns[j].role);

function drawText(s, j) {
  const name = visible(facts.columns[j].name);
  const near = nearRows(s).map((r) => drawNearText(r, j));
  const title = make("summary", {}, "The same in the nearest rows");
  const isAll = !columnsOf(s).some((other) => !isLong(s, other)); // Nothing else stands beside it.
  const others = make("details", { open: isAll ? "" : null }, title, ...near);
  const marks = isNamedText(j) ? cases.words?.[s] : null;
  const own = readable(name, textOf(j, s), undefined, marks ? wordMarks(s, marks) : []);
  const legend = isNamedText(j) && cases.words ? drawWordLegend(s, marks) : null;
  const className = isNamedText(j) ? "text named" : "text";
  return make("section", { class: className }, ...own, legend, near.length ? others : null);
}

function drawNearText(r, j) {
  const label = pill(facts.rows.code[r], 18);
  const head = make("p", { class: "near-name" }, cell(rowName(r)), " ", label);
  return make("div", {}, head, ...readable(null, textOf(j, r), rowName(r)));
}

// A text that can be read to its end by wheel, finger or arrow keys, with its line breaks.
function readable(title, text, name, marks = []) {
  const label = `${title ?? "Text"} ${name ?? "of this row"}, whole`;
  const box = make("div", { class: "whole", tabindex: "0", role: "region", "aria-label": label });
  const shown = readableLines(text);
  const found = findMarks(shown, [...searchMarks(), ...marks]);
  box.append(make("bdi", {}, ...(shown ? withMarks(shown, found) : ["(empty)"])));
  return title === null ? [box] : [make("h4", {}, title), box];
}

// What is searched for, wherever it stands.
function searchMarks() {
  const text = $("search").value.trim();
  return text ? [{ pattern: escaped(text), className: "hit", title: null }] : [];
}

// The other class in question: the given one, or the second likeliest of a row without a label.
const rivalOf = (s) => (isSuspect(s) ? cases.given[s] : cases.other[s]);

function wordMarks(s, marks) {
  const [wanted, rival] = [cases.suggested[s], rivalOf(s)];
  return marks.map(([spellings, level, share, otherShare]) => {
    const isFor = level > 0;
    const colour = classColour(isFor ? wanted : rival);
    const words = spellings.map((word) => {
      const edge = UNSPACED.test(word) ? ["", ""] : [`(?<!${LETTER})`, `(?!${LETTER})`];
      return edge[0] + escaped(word) + edge[1];
    });
    const shares = [[share, wanted], [otherShare, rival]];
    const parts = shares.map(([part, code]) => `${percent(part)} of ${className(code, 24)}`);
    return {
      pattern: words.join("|"),
      className: `${isFor ? "speaks-for" : "speaks-against"} level-${Math.abs(level)} ${colour}`,
      title: `in ${parts[0]}, ${parts[1]}`,
    };
  });
}

function escaped(text) {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

// The places of the marks in a text: [start, end, mark], in order; of two in one place what was
// searched for, else the first.
function findMarks(text, marks) {
  const found = [];
  for (const mark of marks) {
    const flags = mark.className === "hit" ? "giu" : "gu";
    for (const match of text.matchAll(new RegExp(mark.pattern, flags))) {
      if (found.length >= MOST_MARKS) break;
      if (match[0]) found.push([match.index, match.index + match[0].length, mark]);
    }
  }
  const hits = found.filter(([, , mark]) => mark.className === "hit");
  const isFree = ([start, end, mark]) =>
    mark.className === "hit" || !hits.some((hit) => start < hit[1] && hit[0] < end);
  let done = 0;
  return found.filter(isFree).sort((a, b) => a[0] - b[0]).filter(([start, end]) => {
    const isBehind = start >= done;
    if (isBehind) done = end;
    return isBehind;
  });
}

function withMarks(text, found) {
  const parts = [];
  let done = 0;
  for (const [start, end, { className, title }] of found) {
    parts.push(text.slice(done, start));
    parts.push(make("mark", { class: className, title }, text.slice(start, end)));
    done = end;
  }
  return [...parts, text.slice(done)];
}

function drawWordLegend(s, marks) {
  const [wanted, rival] = [className(cases.suggested[s], 24), className(rivalOf(s), 24)];
  if (!marks) {
    const none = `No words are marked: the texts do not tell ${wanted} from ${rival}.`;
    return make("p", { class: "caption" }, none);
  }
  const sample = (kind, code, text) => {
    const mark = make("mark", { class: `${kind} level-2 ${classColour(code)}` }, "word");
    return make("span", {}, mark, " " + text);
  };
  const legend = make("p", { class: "legend" });
  legend.append(sample("speaks-for", cases.suggested[s], `speaks for ${wanted}`));
  legend.append(sample("speaks-against", rivalOf(s), `speaks for ${rival}`));
  legend.append(make("span", {}, facts.words_note));
  return legend;
}

// Brings what was searched for into sight.
function showHits() {
  for (const box of $("detail").querySelectorAll(".whole")) {
    const hit = box.querySelector(".hit");
    if (hit) box.scrollTop = hit.offsetTop - box.offsetTop - box.clientHeight / 3;
  }
}
