// The row beside its nearest rows, or beside what is typical of the classes, column by column; long
// cells whole, above.
const ODD_SHARE = 0.05; // Values as rare as this in the class are marked.
const UNUSUAL_SHARE = 0.2;
const LONG = 90; // Letters; longer cells are shown whole above the table.
const FIRST_COLUMNS = 40; // Drawn at once; the others when asked for.
const MOST_BESIDE = 3;
const NO_VALUE = "(only in the table)";
let isTypical = false; // Which comparison is shown.

const textOf = (j, r) => valueOf(j, r) ?? NO_VALUE;
const nearRows = (s) => cases.neighbors[s].map(([row]) => row);
const rowName = (r) => (facts.id ? facts.rows.id[r] : "row " + facts.rows.row[r]);

// The columns of this row with the oddest values first, then by weight.
function columnsOf(s) {
  const odd = cases.unusual[s].map(([j]) => j);
  const isOdd = new Set(odd);
  const isShown = (j) => facts.values[j] && !["label", "image"].includes(facts.columns[j].role);
  return [...odd, ...columnOrder.filter((j) => !isOdd.has(j))].filter(isShown);
}

const isNamedText = (j) => facts.columns[j].name === facts.text;
const isLong = (s, j) =>
  isNamedText(j) || [s, ...nearRows(s)].some((r) => textOf(j, r).length > LONG);

function drawComparison(s) {
  const box = make("div", { class: "comparison" });
  const columns = columnsOf(s).filter((j) => !isLong(s, j));
  // Nothing but pictures and texts, which are beside each other above.
  if (!columns.length) return null;
  const state = { near: nearRows(s), limit: FIRST_COLUMNS };
  function draw() {
    const parts = [drawSwitch(draw)];
    if (isTypical) parts.push(drawTypicalTable(s, columns.slice(0, state.limit)));
    else parts.push(drawNear(s, state, draw), drawNearTable(s, state.near, columns, state.limit));
    parts.push(make("p", { class: "caption" }, isTypical ? typicalNote(s) : nearNote(s)));
    if (columns.length > state.limit) parts.push(drawMore(columns.length, state, draw));
    box.replaceChildren(...parts);
  }
  draw();
  return box;
}

function drawSwitch(draw) {
  const button = (text, value) => {
    const choose = () => {
      isTypical = value;
      draw();
    };
    return make("button", { "aria-pressed": isTypical === value, onclick: choose }, text);
  };
  const group = make("div", { class: "segmented", role: "group", "aria-label": "Beside this row" });
  group.append(button("Nearest rows", false), button("Typical values", true));
  return make("div", { class: "switch" }, make("span", {}, "Beside this row:"), group);
}

function drawMore(n, state, draw) {
  const more = () => {
    state.limit = n;
    draw();
  };
  return make("button", { onclick: more }, `Show all ${count(n)} columns`);
}

// The nearest rows, as buttons: the one that is clicked comes next to this row.
function drawNear(s, state, draw) {
  if (!state.near.length) return make("p", { class: "caption" }, "No row is near.");
  const box = make("div", { class: "near", role: "group", "aria-label": "Nearest rows" });
  const most = Math.max(...cases.neighbors[s].map(([, weight]) => weight), 1e-12);
  for (const [row, weight] of cases.neighbors[s]) {
    const bring = () => {
      state.near = [row, ...nearRows(s).filter((r) => r !== row)];
      draw();
    };
    const place = state.near.indexOf(row);
    const title = "likeness " + weight.toPrecision(2);
    const attributes = { title, "aria-pressed": place < MOST_BESIDE, "--w": (100 * weight) / most };
    const isToo = facts.rows.is_suspect[row];
    const mark = isToo ? make("span", { class: "too" }, "suspect too") : null;
    const name = make("span", { class: "near-id" }, cell(rowName(row)));
    box.append(make("button", { ...attributes, onclick: bring }, name, nearPill(row), mark));
  }
  return box;
}

const nearPill = (row) => pill(facts.rows.code[row], 14);

function headCell(className, ...children) {
  return make("th", { scope: "col", class: className }, ...children);
}

function drawTable(head, lines, label) {
  const top = make("thead", {}, make("tr", {}, ...head));
  const table = make("table", {}, top, make("tbody", {}, ...lines));
  const attributes = { class: "beside", tabindex: "0", role: "region", "aria-label": label };
  return make("div", attributes, table);
}

function drawNearTable(s, near, columns, limit) {
  const beside = near.slice(0, MOST_BESIDE);
  const bits = beside.map((row) => differencesFrom(s, row));
  const head = [headCell("", "column"), headCell("this", "this row")];
  beside.forEach((row, i) => head.push(headCell("near-" + i, drawNearHead(row))));
  const lines = columns.slice(0, limit).map((j) => {
    const line = drawLine(s, j);
    beside.forEach((row, i) => line.append(drawBeside(s, row, j, bits[i], "near-" + i)));
    return line;
  });
  return drawTable(head, lines, "This row beside its nearest rows");
}

function drawNearHead(row) {
  const name = cell(rowName(row));
  if (row >= N_CASES) return make("span", {}, name, nearPill(row));
  const open = make("button", { class: "link", onclick: () => openCase(row) }, name, " ↗");
  return make("span", {}, open, nearPill(row));
}

// The columns in which a near row clearly differs, from the bits that the facts hold for them.
function differencesFrom(s, row) {
  const digits = cases.unlike[s][nearRows(s).indexOf(row)] ?? "";
  const differs = new Map();
  facts.marked.forEach((j, at) => {
    const byte = parseInt(digits.slice(2 * (at >> 3), 2 * (at >> 3) + 2), 16) || 0;
    differs.set(j, Boolean(byte & (128 >> at % 8)));
  });
  return differs;
}

function drawBeside(s, row, j, differs, className) {
  const text = textOf(j, row);
  if (differs.get(j)) {
    const said = make("span", { class: "visually-hidden" }, "different: ");
    return make("td", { class: className + " differs" }, said, cell(text));
  }
  return make("td", { class: className + (text === textOf(j, s) ? " same" : "") }, cell(text));
}

// The name of a column and this row's value; marked where that is rare in its class.
function drawLine(s, j) {
  const unusual = cases.unusual[s].find(([column]) => column === j);
  const isOdd = unusual && unusual[1] < ODD_SHARE;
  const name = make("th", { scope: "row" }, cell(facts.columns[j].name));
  const text = valueOf(j, s) ?? unusual?.[3] ?? NO_VALUE;
  return make("tr", {}, name, make("td", { class: "this" + (isOdd ? " odd" : "") }, cell(text)));
}

const className = (code, most = 16) => quoted(shortClass(code, most));

function nearNote(s) {
  const rare = `Shaded: rare for ${className(cases.own[s])}.`;
  const spread = "clearly different from this row (by half the column’s middle spread or more)";
  const comparable = byImportance.filter((j) => facts.columns[j].kind !== "text");
  const some = facts.marked.length < comparable.length ? ", in the heaviest columns" : "";
  return `${rare} Marked ≠: ${spread}${some}.`;
}

function typicalNote(s) {
  const first = `The most unusual for ${className(cases.own[s])} first.`;
  return first + " Typical: the median, or the commonest value.";
}

function drawTypicalTable(s, columns) {
  const [own, other] = [cases.own[s], cases.other[s]];
  const head = [headCell("", "column"), headCell("this", "this row")];
  head.push(headCell("", "typical ", className(own)), headCell("", "typical ", className(other)));
  head.push(headCell("words", "in words"));
  const lines = columns.map((j) => {
    const line = drawLine(s, j);
    line.append(drawTypical(j, own), drawTypical(j, other));
    line.append(make("td", { class: "words" }, rarityText(s, j)));
    return line;
  });
  return drawTable(head, lines, "This row beside typical values");
}

function drawTypical(j, code) {
  return make("td", {}, cell(facts.typical[j]?.[code] ?? ""));
}

function rarityText(s, j) {
  const unusual = cases.unusual[s].find(([column]) => column === j);
  if (!unusual) return "";
  const [, own, other] = unusual;
  const word = (share) => {
    if (share < ODD_SHARE) return "rare for";
    return share < UNUSUAL_SHARE ? "unusual for" : "usual for";
  };
  const part = (share, code) => `${word(share)} ${className(code, 14)} (${percent(share)})`;
  return `${part(own, cases.own[s])}, ${part(other, cases.other[s])}`;
}
