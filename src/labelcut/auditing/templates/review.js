// The queue: search, filter, sort, and one row in full.
let queue = [];
let chosen = 0; // position in the queue
let isTable = false;
let list = null;
const haystacks = new Array(N);
const SEARCHED_COLUMNS = 60;
const CARD_HEIGHT = 58;
const LINE_HEIGHT = 38;
const VALUE_HEIGHT = 32;
const ODD_SHARE = 0.05; // Values as rare as this in the class are marked.

const isFeature = (j) => facts.columns[j].role === "feature";
const allColumns = facts.columns.map((_, j) => j);
const byImportance = allColumns
  .filter(isFeature)
  .sort((a, b) => facts.columns[b].weight - facts.columns[a].weight);
const columnOrder = [...byImportance, ...allColumns.filter((j) => !isFeature(j))];

const givenName = (s) => facts.classes[suspects.given[s]];
const suggestedName = (s) => facts.classes[suspects.suggested[s]];
const verdictOf = (s) => decisions.get(s)?.verdict;
const quoted = (text) => "‘" + text + "’";

function haystack(s) {
  if (haystacks[s] === undefined) {
    const columns = columnOrder.slice(0, SEARCHED_COLUMNS);
    const parts = [
      suspects.id[s],
      "row " + suspects.row[s],
      givenName(s),
      suggestedName(s),
      suspects.reason[s],
      ...columns.map((j) => valueOf(j, s) ?? ""),
    ];
    haystacks[s] = parts.join("\n").toLowerCase();
  }
  return haystacks[s];
}

function currentFilter() {
  return {
    status: $("filter-status").value,
    given: $("filter-given").value,
    group: $("filter-group")?.value ?? "",
    text: $("search").value.trim().toLowerCase(),
  };
}

function hasStatus(s, status) {
  if (status === "all") return true;
  if (status === "open") return !verdictOf(s);
  if (status === "done") return Boolean(verdictOf(s));
  return verdictOf(s) === status;
}

function isShown(s, filter) {
  if (!hasStatus(s, filter.status)) return false;
  if (filter.given !== "" && suspects.given[s] !== Number(filter.given)) return false;
  if (filter.group !== "" && suspects.group[s] !== Number(filter.group)) return false;
  return !filter.text || haystack(s).includes(filter.text);
}

const UNDECIDED_LAST = "~";
const ORDERS = {
  suspect: () => 0,
  row: (a, b) => suspects.row[a] - suspects.row[b],
  confidence: (a, b) => suspects.confidence[a] - suspects.confidence[b],
  given: (a, b) => suspects.given[a] - suspects.given[b],
  decision: (a, b) => {
    const [first, second] = [a, b].map((s) => verdictOf(s) ?? UNDECIDED_LAST);
    return first.localeCompare(second);
  },
};

function rebuild(keep) {
  const filter = currentFilter();
  const order = ORDERS[$("sort").value];
  queue = [];
  for (let s = 0; s < N; s++) {
    if (isShown(s, filter)) queue.push(s);
  }
  queue.sort((a, b) => order(a, b) || a - b);
  const at = keep === undefined ? -1 : queue.indexOf(keep);
  chosen = at >= 0 ? at : Math.min(chosen, Math.max(queue.length - 1, 0));
  $("list-text").textContent = queueText();
  list.refresh();
  showChosen();
}

function queueText() {
  if (queue.length < N) return `${count(queue.length)} of ${count(N)} suspects`;
  const all = facts.counts.suspects;
  const more = all > N ? `, the first of ${count(all)}; issues.csv has them all` : "";
  return `${count(N)} suspects${more}`;
}

const VERDICTS = { keep: "✓ keep", flip: "⇄ flip", unsure: "? unsure" };

function verdictMark(s) {
  const verdict = verdictOf(s);
  return make("span", { class: "verdict " + (verdict ?? "") }, verdict ? VERDICTS[verdict] : "");
}

function drawItem(index) {
  const s = queue[index];
  const item = make("div", {
    class: "item",
    role: "option",
    id: "item-" + s,
    "aria-selected": index === chosen,
    "aria-posinset": index + 1,
    "aria-setsize": queue.length,
  });
  const [given, suggested] = [suspects.given[s], suspects.suggested[s]];
  const arrow = make("span", {}, "→");
  item.append(
    make("span", { class: "name" }, cell(suspects.id[s])),
    make("span", { class: "wrong" }, percent(suspects.wrong[s])),
    make("span", { class: "conf" }, suspects.confidence[s].toFixed(2)),
    make("span", { class: "why" }, cell(suspects.reason[s])),
    make("span", { class: "move" }, pill(given, 13), arrow, pill(suggested, 13)),
    verdictMark(s),
  );
  item.addEventListener("click", () => {
    choose(index);
    if (isTable) $("detail").scrollIntoView({ block: "nearest" });
  });
  return item;
}

function choose(index) {
  if (!queue.length) return;
  const before = $("list").querySelector('[aria-selected="true"]');
  if (before) before.setAttribute("aria-selected", "false");
  chosen = Math.max(0, Math.min(index, queue.length - 1));
  list.show(chosen);
  const now = $("item-" + queue[chosen]);
  if (now) now.setAttribute("aria-selected", "true");
  showChosen();
}

function showChosen() {
  const detail = $("detail");
  if (!queue.length) {
    const found = N ? "No suspect fits this search and filter." : "No suspect labels were found.";
    detail.replaceChildren(make("p", { class: "empty" }, found));
    $("list").removeAttribute("aria-activedescendant");
    return;
  }
  const s = queue[chosen];
  $("list").setAttribute("aria-activedescendant", "item-" + s);
  detail.replaceChildren(...drawDetail(s));
  detail.scrollTop = 0;
}

function act(verdict, label) {
  if (!queue.length) return;
  const s = queue[chosen];
  decide(s, verdict, label);
  // With a filter the row may leave the queue; then the next one has already moved up.
  if (queue[chosen] === s) choose(chosen + 1);
}

function drawDetail(s) {
  const evidence = make("div", {}, drawNeighbors(s), drawCosts(s));
  return [
    drawDetailHead(s),
    drawVerdictLine(s),
    make("p", { class: "why-line" }, cell(suspects.reason[s])),
    drawDecideBar(s),
    make("div", { class: "split" }, drawValues(s), evidence),
  ];
}

function drawDetailHead(s) {
  const name = facts.id ? suspects.id[s] : "Row " + suspects.row[s];
  const row = facts.id ? `row ${count(suspects.row[s])} · ` : "";
  const place = `${row}number ${count(s + 1)} of ${count(N)}`;
  const head = make("h3", {}, cell(name));
  return make("div", { class: "detail-head" }, head, make("span", {}, place), verdictMark(s));
}

function drawVerdictLine(s) {
  const wrong = make("b", {}, percent(suspects.wrong[s]));
  const rest = ` likely wrong · confidence ${suspects.confidence[s].toFixed(2)}`;
  return make(
    "p",
    { class: "verdict-line" },
    pill(suspects.given[s]),
    make("span", { class: "arrow" }, "→"),
    pill(suspects.suggested[s]),
    make("span", { class: "odds" }, wrong, rest),
  );
}

function drawDecideBar(s) {
  const bar = make("div", { class: "decide", role: "group", "aria-label": "Decision" });
  bar.append(
    drawButton(s, "keep", "Keep " + quoted(visible(givenName(s))), "K"),
    drawButton(s, "flip", "Flip to " + quoted(visible(suggestedName(s))), "F"),
    drawButton(s, "unsure", "Unsure", "U"),
  );
  if (facts.classes.length > 2) bar.append(drawOtherLabels(s));
  return bar;
}

function drawButton(s, verdict, text, key) {
  const attributes = {
    class: verdict,
    "aria-pressed": verdictOf(s) === verdict,
    "aria-keyshortcuts": key,
    onclick: () => act(verdict),
  };
  return make("button", attributes, text + " ", make("kbd", { "aria-hidden": "true" }, key));
}

function drawOtherLabels(s) {
  const flip = (event) => {
    if (event.target.value !== "") act("flip", facts.classes[Number(event.target.value)]);
  };
  const select = make("select", { "aria-label": "Flip to another label", onchange: flip });
  select.append(make("option", { value: "" }, "another label …"));
  facts.classes.forEach((name, code) => {
    if (code === suspects.given[s] || code === suspects.suggested[s]) return;
    select.append(make("option", { value: code }, visible(name)));
  });
  return select;
}

function drawNeighbors(s) {
  const near = suspects.neighbors[s];
  const title = make("h4", {}, "Nearest rows");
  const nothing = make("p", { class: "caption" }, "No row is near.");
  if (!near.length) return make("div", {}, title, nothing);
  const head = make("div", { class: "head" });
  head.append(...["row", "label", "likeness"].map((name) => make("span", {}, name)));
  head.append(make("span", { class: "num" }, ""));
  const most = Math.max(...near.map((neighbor) => neighbor[3]), 1e-12);
  const lines = near.map((neighbor) => drawNeighbor(neighbor, most));
  return make("div", {}, title, make("div", { class: "near" }, head, ...lines));
}

function drawNeighbor([id, label, predicted, weight], most) {
  const note = label === predicted || label < 0 ? "" : " (suspect too)";
  const fill = make("div", { class: "fill", "--w": (100 * weight) / most });
  const attributes = { class: "track " + classColour(label), title: "weight " + weight + note };
  const number = make("span", { class: "num" }, weight.toPrecision(2));
  return make("div", {}, cell(id), pill(label, 13), make("div", attributes, fill), number);
}

const COSTS = ["cut neighbours", "label", "forest", "trade-off"];
const sumOf = (parts) => parts.reduce((a, b) => a + b, 0);

function drawCosts(s) {
  const [keep, flip] = [suspects.keep[s], suspects.flip[s]];
  const most = Math.max(sumOf(keep), sumOf(flip), 1e-12);
  const bars = [...drawCost("to keep", keep, most), ...drawCost("to flip", flip, most)];
  const legend = COSTS.map((name, i) => make("span", {}, make("i", { class: "s" + i }), name));
  return make(
    "div",
    {},
    make("h4", {}, "What the cut would pay"),
    make("div", { class: "cost" }, ...bars),
    make("p", { class: "legend" }, ...legend),
    make("p", { class: "caption" }, sideText(s) + trustText(s)),
  );
}

function drawCost(text, parts, most) {
  const label = COSTS.map((name, i) => `${name} ${parts[i].toFixed(2)}`).join(", ");
  const bars = parts.map((part, i) => make("i", { class: "s" + i, "--w": (100 * part) / most }));
  return [
    make("span", {}, text),
    make("div", { class: "stack", role: "img", "aria-label": label }, ...bars),
    make("span", { class: "num" }, sumOf(parts).toFixed(2)),
  ];
}

function sideText(s) {
  const joinsAt = suspects.joins_at[s];
  if (joinsAt == null) return "It is on this side at every trade-off.";
  const used = suspects.tradeoff[s].toFixed(3);
  return `It changes sides at the trade-off ${joinsAt.toFixed(3)}; ${used} is in use.`;
}

function trustText(s) {
  const trust = suspects.trust[s];
  if (trust == null) return "";
  const times = trust < 10 ? trust.toFixed(1) : count(trust);
  return ` Alone, the label would have to be trusted ${times} times as much to stand.`;
}

function drawValues(s) {
  const odd = new Map(suspects.unusual[s].map((found) => [found[0], found]));
  const order = [...odd.keys(), ...columnOrder.filter((j) => !odd.has(j))];
  const box = make("div", {
    class: "virtual",
    tabindex: "0",
    role: "list",
    "aria-label": "Values of the row",
  });
  box.style.height = Math.min(order.length * VALUE_HEIGHT, 14 * VALUE_HEIGHT) + "px";
  const draw = (index) => drawValue(s, order[index], odd.get(order[index]));
  virtualList(box, VALUE_HEIGHT, () => order.length, draw);
  const title = `Values, most unusual for ${quoted(visible(givenName(s)))} first`;
  const note = "Beside each: what is typical of the class, and how much of it is as far out.";
  const lines = make("div", { class: "values" }, drawValueHead(s), box);
  const caption = make("p", { class: "caption" }, note);
  return make("div", {}, make("div", {}, make("h4", {}, title), lines, caption));
}

function drawValueHead(s) {
  const title = "typical, and how many of the class are as far out";
  return make(
    "div",
    { class: "value-head" },
    make("span", {}, "column"),
    make("span", {}, "this row"),
    make("span", { title }, quoted(shortened(givenName(s), 14))),
    make("span", {}, quoted(shortened(suggestedName(s), 14))),
  );
}

// `unusual` is [column, share of the given class as far out, of the suggested class, text], or
// undefined.
function drawValue(s, j, unusual) {
  const [, givenShare, suggestedShare, unusualText] = unusual ?? [];
  const text = valueOf(j, s) ?? unusualText ?? "(only in the table)";
  const isOdd = unusual && givenShare < ODD_SHARE;
  return make(
    "div",
    { class: "item value" + (isOdd ? " odd" : ""), role: "listitem" },
    cell(facts.columns[j].name),
    make("span", { class: "this" }, cell(text)),
    drawTypical(j, suspects.given[s], givenShare),
    drawTypical(j, suspects.suggested[s], suggestedShare),
  );
}

function drawTypical(j, code, share) {
  const part = share == null ? "" : make("span", { class: "part" }, " · " + percent(share));
  return make("span", { class: "share" }, cell(facts.typical[j]?.[code] ?? ""), part);
}

function setView(table) {
  isTable = table;
  $("view-card").setAttribute("aria-pressed", String(!table));
  $("view-table").setAttribute("aria-pressed", String(table));
  $("panes").className = "panes " + (table ? "list-table" : "list-card");
  list.setHeight(table ? LINE_HEIGHT : CARD_HEIGHT);
  list.show(chosen);
}

function fillSelect(select, names, first) {
  select.append(make("option", { value: "" }, first));
  select.append(...names.map((name, i) => make("option", { value: i }, visible(name))));
}
