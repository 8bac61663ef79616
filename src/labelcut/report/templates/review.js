// The queue: search, filter, sort, one row in full, and the keys.
let queue = [];
let chosen = 0; // position in the queue
let isTable = false;
let list = null;
const haystacks = new Array(N);
const SEARCHED_COLUMNS = 60;
const byImportance = facts.columns.map((_, j) => j).filter((j) => facts.columns[j].role === "feature").sort((a, b) => facts.columns[b].weight - facts.columns[a].weight);
const columnOrder = [...byImportance, ...facts.columns.map((_, j) => j).filter((j) => facts.columns[j].role !== "feature")];

function haystack(s) {
  if (haystacks[s] === undefined) {
    const parts = [suspects.id[s], "row " + suspects.row[s], facts.classes[suspects.given[s]], facts.classes[suspects.suggested[s]], suspects.reason[s]];
    for (const j of columnOrder.slice(0, SEARCHED_COLUMNS)) parts.push(valueOf(j, s) ?? "");
    haystacks[s] = parts.join("\n").toLowerCase();
  }
  return haystacks[s];
}

function isShown(s, filter) {
  const verdict = decisions.get(s)?.verdict;
  if (filter.status === "open" && verdict) return false;
  if (filter.status === "done" && !verdict) return false;
  if (["keep", "flip", "unsure"].includes(filter.status) && verdict !== filter.status) return false;
  if (filter.given !== "" && suspects.given[s] !== Number(filter.given)) return false;
  if (filter.group !== "" && suspects.group[s] !== Number(filter.group)) return false;
  return !filter.text || haystack(s).includes(filter.text);
}

const ORDERS = {
  suspect: () => 0,
  row: (a, b) => suspects.row[a] - suspects.row[b],
  confidence: (a, b) => suspects.confidence[a] - suspects.confidence[b],
  given: (a, b) => suspects.given[a] - suspects.given[b],
  decision: (a, b) => String(decisions.get(a)?.verdict ?? "~").localeCompare(String(decisions.get(b)?.verdict ?? "~")),
};

function rebuild(keep) {
  const filter = { status: $("filter-status").value, given: $("filter-given").value, group: $("filter-group")?.value ?? "", text: $("search").value.trim().toLowerCase() };
  queue = [];
  for (let s = 0; s < N; s++) if (isShown(s, filter)) queue.push(s);
  queue.sort((a, b) => ORDERS[$("sort").value](a, b) || a - b);
  const at = keep === undefined ? -1 : queue.indexOf(keep);
  chosen = at >= 0 ? at : Math.min(chosen, Math.max(queue.length - 1, 0));
  $("list-text").textContent = queue.length === N ? `${count(N)} suspects` + (facts.counts.suspects > N ? `, the first of ${count(facts.counts.suspects)}; issues.csv has them all` : "") : `${count(queue.length)} of ${count(N)} suspects`;
  list.refresh();
  showChosen();
}

const VERDICTS = { keep: "✓ keep", flip: "⇄ flip", unsure: "? unsure" };
function verdictMark(s) {
  const d = decisions.get(s);
  return make("span", { class: "verdict " + (d?.verdict ?? "") }, d ? VERDICTS[d.verdict] : "");
}

function drawItem(index) {
  const s = queue[index];
  const item = make("div", { class: "item", role: "option", id: "item-" + s, "aria-selected": index === chosen, "aria-posinset": index + 1, "aria-setsize": queue.length });
  item.append(
    make("span", { class: "name" }, cell(suspects.id[s])),
    make("span", { class: "wrong" }, percent(suspects.wrong[s])),
    make("span", { class: "conf" }, suspects.confidence[s].toFixed(2)),
    make("span", { class: "why" }, cell(suspects.reason[s])),
    make("span", { class: "move" }, pill(suspects.given[s], 13), make("span", {}, "→"), pill(suspects.suggested[s], 13)),
    verdictMark(s),
  );
  item.addEventListener("click", () => { choose(index); if (isTable && window.innerWidth > 0) $("detail").scrollIntoView({ block: "nearest" }); });
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
    detail.replaceChildren(make("p", { class: "empty" }, N ? "No suspect fits this search and filter." : "No suspect labels were found."));
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
  const given = suspects.given[s], suggested = suspects.suggested[s], d = decisions.get(s);
  const name = (code) => "‘" + visible(facts.classes[code]) + "’";
  const button = (verdict, text, key) => make("button", { class: verdict, "aria-pressed": d?.verdict === verdict, "aria-keyshortcuts": key, onclick: () => act(verdict) }, text + " ", make("kbd", { "aria-hidden": "true" }, key));
  const decideBar = make("div", { class: "decide", role: "group", "aria-label": "Decision" }, button("keep", `Keep ${name(given)}`, "K"), button("flip", `Flip to ${name(suggested)}`, "F"), button("unsure", "Unsure", "U"));
  if (facts.classes.length > 2) {
    const other = make("select", { "aria-label": "Flip to another label", onchange: (event) => { if (event.target.value !== "") act("flip", facts.classes[Number(event.target.value)]); } }, make("option", { value: "" }, "another label …"));
    facts.classes.forEach((text, code) => { if (code !== given && code !== suggested) other.append(make("option", { value: code }, visible(text))); });
    decideBar.append(other);
  }
  return [
    make("div", { class: "detail-head" }, make("h3", {}, cell(facts.id ? suspects.id[s] : "Row " + suspects.row[s])), make("span", {}, (facts.id ? `row ${count(suspects.row[s])} · ` : "") + `number ${count(s + 1)} of ${count(N)}`), verdictMark(s)),
    make("p", { class: "verdict-line" }, pill(given), make("span", { class: "arrow" }, "→"), pill(suggested), make("span", { class: "odds" }, make("b", {}, percent(suspects.wrong[s])), ` likely wrong · confidence ${suspects.confidence[s].toFixed(2)}`)),
    make("p", { class: "why-line" }, cell(suspects.reason[s])),
    decideBar,
    make("div", { class: "split" }, drawValues(s), make("div", {}, drawNeighbors(s), drawCosts(s))),
  ];
}

function drawNeighbors(s) {
  const box = make("div", { class: "near" }, make("div", { class: "head" }, make("span", {}, "row"), make("span", {}, "label"), make("span", {}, "likeness"), make("span", { class: "num" }, "")));
  const near = suspects.neighbors[s], most = Math.max(...near.map((n) => n[3]), 1e-12);
  for (const [id, label, predicted, weight] of near) {
    const note = label === predicted || label < 0 ? "" : " (suspect too)";
    box.append(make("div", {}, cell(id), pill(label, 13), make("div", { class: "track " + classColour(label), title: "weight " + weight + note }, make("div", { class: "fill", "--w": (100 * weight) / most })), make("span", { class: "num" }, weight.toPrecision(2))));
  }
  return make("div", {}, make("h4", {}, "Nearest rows"), near.length ? box : make("p", { class: "caption" }, "No row is near."));
}

const COSTS = ["cut neighbours", "label", "forest", "trade-off"];
function drawCosts(s) {
  const keep = suspects.keep[s], flip = suspects.flip[s], sum = (parts) => parts.reduce((a, b) => a + b, 0);
  const most = Math.max(sum(keep), sum(flip), 1e-12);
  const line = (text, parts) => [make("span", {}, text), make("div", { class: "stack", role: "img", "aria-label": COSTS.map((c, i) => `${c} ${parts[i].toFixed(2)}`).join(", ") }, ...parts.map((p, i) => make("i", { class: "s" + i, "--w": (100 * p) / most }))), make("span", { class: "num" }, sum(parts).toFixed(2))];
  const t = suspects.joins_at[s];
  const trust = suspects.trust[s];
  const where = (t == null ? "It is on this side at every trade-off" : `It changes sides at the trade-off ${t.toFixed(3)}; ${suspects.tradeoff[s].toFixed(3)} is in use`) + (trust == null ? "." : `. Alone, the label would have to be trusted ${trust < 10 ? trust.toFixed(1) : count(trust)} times as much to stand.`);
  return make("div", {}, make("h4", {}, "What the cut would pay"), make("div", { class: "cost" }, ...line("to keep", keep), ...line("to flip", flip)), make("p", { class: "legend" }, ...COSTS.map((c, i) => make("span", {}, make("i", { class: "s" + i }), c))), make("p", { class: "caption" }, where));
}

function drawValues(s) {
  const odd = new Map(suspects.unusual[s].map((u) => [u[0], u]));
  const order = [...odd.keys(), ...columnOrder.filter((j) => !odd.has(j))];
  const given = suspects.given[s], suggested = suspects.suggested[s];
  const head = make("div", { class: "value-head" }, make("span", {}, "column"), make("span", {}, "this row"), make("span", { title: "typical, and how many of the class are as far out" }, "‘" + shortened(facts.classes[given], 14) + "’"), make("span", {}, "‘" + shortened(facts.classes[suggested], 14) + "’"));
  const box = make("div", { class: "virtual", tabindex: "0", role: "list", "aria-label": "Values of the row" });
  const side = (j, code, share) => make("span", { class: "share" }, cell(facts.typical[j]?.[code] ?? ""), share == null ? "" : make("span", { class: "part" }, " · " + percent(share)));
  const draw = (index) => {
    const j = order[index], u = odd.get(j), column = facts.columns[j];
    const text = valueOf(j, s) ?? u?.[3] ?? "(only in the table)";
    return make("div", { class: "item value" + (u && u[1] < 0.05 ? " odd" : ""), role: "listitem" }, cell(column.name), make("span", { class: "this" }, cell(text)), side(j, given, u?.[1]), side(j, suggested, u?.[2]));
  };
  const lines = make("div", { class: "values" }, head, box);
  box.style.height = Math.min(order.length * 32, 448) + "px";
  virtualList(box, 32, () => order.length, draw);
  const title = `Values, most unusual for ‘${visible(facts.classes[given])}’ first`;
  return make("div", {}, make("div", {}, make("h4", {}, title), lines, make("p", { class: "caption" }, "Beside each: what is typical of the class, and how much of it is as far out.")));
}

function setView(table) {
  isTable = table;
  $("view-card").setAttribute("aria-pressed", String(!table));
  $("view-table").setAttribute("aria-pressed", String(table));
  $("panes").className = "panes " + (table ? "list-table" : "list-card");
  list.setHeight(table ? 38 : 58);
  list.show(chosen);
}

function fillSelect(select, names, first) {
  select.append(make("option", { value: "" }, first), ...names.map((name, i) => make("option", { value: i }, visible(name))));
}
