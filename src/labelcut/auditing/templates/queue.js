// The queue: the suspects or the unlabeled rows, searched, filtered, sorted, selected.
let group = "review"; // or "unlabeled"
let queue = [];
let chosen = 0; // position in the queue
let isTable = false;
let list = null;
const selected = new Set();
const haystacks = new Array(N_CASES);
const CARD_HEIGHT = 58;
const LINE_HEIGHT = 38;

const isFeature = (j) => facts.columns[j].role === "feature";
const allColumns = facts.columns.map((_, j) => j);
const byImportance = allColumns
  .filter(isFeature)
  .sort((a, b) => facts.columns[b].weight - facts.columns[a].weight);
const columnOrder = [...byImportance, ...allColumns.filter((j) => !isFeature(j))];

const isUnlabeledGroup = () => group === "unlabeled";
const firstOfGroup = () => (isUnlabeledGroup() ? N : 0);
const endOfGroup = () => (isUnlabeledGroup() ? N_CASES : N);
const sizeOfGroup = () => endOfGroup() - firstOfGroup();
const suggestedName = (s) => facts.classes[cases.suggested[s]];
const verdictOf = (s) => decisions.get(s)?.verdict;
const quoted = (text) => "‘" + text + "’";
// How likely the label is wrong, or how sure the class of a row without one is.
const oddsOf = (s) => (isSuspect(s) ? facts.suspects.wrong[s] : facts.unlabeled_rows.sure[s - N]);

function countDecided() {
  let n = 0;
  for (const s of decisions.keys()) {
    if (s >= firstOfGroup() && s < endOfGroup()) n++;
  }
  return n;
}

const progressText = () => `${count(countDecided())} of ${count(sizeOfGroup())} reviewed`;

// Everything that stands in a row, whole cells too, so that what can be read can be found.
function haystack(s) {
  if (haystacks[s] === undefined) {
    const parts = [cases.id[s], "row " + cases.row[s], cases.given_text[s], suggestedName(s)];
    parts.push(cases.reason[s], ...columnOrder.map((j) => valueOf(j, s) ?? ""));
    haystacks[s] = parts.join("\n").toLowerCase();
  }
  return haystacks[s];
}

function currentFilter() {
  const numberOf = (id) => ($(id)?.value ? Number($(id).value) : null);
  return {
    status: $("filter-status").value,
    given: isUnlabeledGroup() ? null : numberOf("filter-given"),
    suggested: numberOf("filter-suggested"),
    group: numberOf("filter-group"),
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
  if (filter.given !== null && cases.given[s] !== filter.given) return false;
  if (filter.suggested !== null && cases.suggested[s] !== filter.suggested) return false;
  if (filter.group !== null && cases.group[s] !== filter.group) return false;
  return !filter.text || haystack(s).includes(filter.text);
}

const UNDECIDED_LAST = "~";
const ORDERS = {
  first: () => 0,
  row: (a, b) => cases.row[a] - cases.row[b],
  confidence: (a, b) => facts.suspects.confidence[a] - facts.suspects.confidence[b],
  sure: (a, b) => oddsOf(b) - oddsOf(a),
  given: (a, b) => cases.given[a] - cases.given[b],
  suggested: (a, b) => cases.suggested[a] - cases.suggested[b],
  decision: (a, b) => {
    const [first, second] = [a, b].map((s) => verdictOf(s) ?? UNDECIDED_LAST);
    return first.localeCompare(second);
  },
};

function rebuild(keep) {
  const filter = currentFilter();
  const order = ORDERS[$("sort").value];
  queue = [];
  for (let s = firstOfGroup(); s < endOfGroup(); s++) {
    if (isShown(s, filter)) queue.push(s);
  }
  queue.sort((a, b) => order(a, b) || a - b);
  for (const s of selected) {
    if (!isShown(s, filter)) selected.delete(s);
  }
  const at = keep === undefined ? -1 : queue.indexOf(keep);
  chosen = at >= 0 ? at : Math.min(chosen, Math.max(queue.length - 1, 0));
  $("list-text").textContent = queueText();
  list.refresh();
  showBulk();
  showChosen();
}

// A row without a label, or without one that its annotators agree on.
const OPEN_ROW = facts.annotators ? "open row" : "unlabeled row";

function queueText() {
  const thing = isUnlabeledGroup() ? OPEN_ROW : "suspect";
  const size = sizeOfGroup();
  if (queue.length < size) return `${count(queue.length)} of ${counted(size, thing)}`;
  const all = isUnlabeledGroup() ? facts.unlabeled.rows : facts.counts.suspects;
  const file = isUnlabeledGroup() ? "the table" : "issues.csv";
  const more = all > size ? `, the first of ${count(all)}; ${file} has them all` : "";
  return counted(size, thing) + more;
}

const VERDICTS = { keep: "✓ keep", flip: "⇄ flip", unsure: "? unsure" };
const FILLED = { flip: "✓ fill in", unsure: "? empty" };

function verdictMark(s) {
  const verdict = verdictOf(s);
  const words = isSuspect(s) ? VERDICTS : FILLED;
  return make("span", { class: "verdict " + (verdict ?? "") }, verdict ? words[verdict] : "");
}

function drawMove(s) {
  const beside = verdictOf(s) ? 175 : 115; // Dots, arrow, gaps, and the decision if any.
  const most = isTable ? 14 : room(($("list").clientWidth - beside) / 2, 18);
  const suggested = pill(cases.suggested[s], isSuspect(s) ? most : 24);
  if (!isSuspect(s)) return make("span", { class: "move" }, suggested);
  const arrow = make("span", {}, "→");
  return make("span", { class: "move" }, pill(cases.given[s], most), arrow, suggested);
}

function drawItem(index) {
  const s = queue[index];
  const item = make("div", {
    class: "item",
    role: "option",
    id: "item-" + s,
    "aria-selected": index === chosen,
    "aria-checked": selected.has(s),
    "aria-posinset": index + 1,
    "aria-setsize": queue.length,
  });
  item.append(
    make("span", { class: "check", title: "Select ( X )" }),
    ...[drawMini(s)].filter((part) => part != null),
    make("span", { class: "name" }, cell(cases.id[s])),
    make("span", { class: "odds" }, percent(oddsOf(s))),
    make("span", { class: "why" }, cell(cases.reason[s])),
    drawMove(s),
    verdictMark(s),
  );
  item.addEventListener("click", (event) => clickItem(event, index));
  return item;
}

function clickItem(event, index) {
  const s = queue[index];
  if (event.shiftKey) selectTo(index);
  else if (event.ctrlKey || event.metaKey || event.target.matches(".check")) toggle(s);
  else choose(index);
  if (isTable && !event.shiftKey) $("detail").scrollIntoView({ block: "nearest" });
}

function toggle(s) {
  if (!selected.delete(s)) selected.add(s);
  list.refresh();
  showBulk();
}

function selectTo(index) {
  const [from, to] = [Math.min(chosen, index), Math.max(chosen, index)];
  for (let i = from; i <= to; i++) selected.add(queue[i]);
  list.refresh();
  showBulk();
}

function clearSelection() {
  selected.clear();
  list.refresh();
  showBulk();
}

// Decides for the selected rows, or for those of the list that are still open.
const bulkCases = () => (selected.size ? [...selected] : queue.filter((s) => !verdictOf(s)));

function showBulk() {
  const some = bulkCases();
  const which = selected.size ? "selected" : queue.length < sizeOfGroup() ? "found" : "open";
  $("bulk").hidden = some.length < 2 && !selected.size;
  $("bulk-text").textContent = `Decide the ${count(some.length)} ${which} together`;
  const words = isUnlabeledGroup()
    ? { flip: "Fill in each", unsure: "Leave each empty" }
    : { flip: "Flip each", keep: "Keep each", unsure: "All unsure" };
  const buttons = Object.entries(words).map(([verdict, text]) => {
    return make("button", { class: verdict, onclick: () => decideTogether(verdict) }, text);
  });
  if (selected.size) buttons.push(make("button", { onclick: clearSelection }, "Select none"));
  $("bulk-buttons").replaceChildren(...buttons);
}

function decideTogether(verdict) {
  const some = bulkCases();
  selected.clear();
  decideAll(some, verdict);
  if (countDecided() === sizeOfGroup()) showEnd();
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
  document.body.classList.toggle("has-card", queue.length > 0);
  if (!queue.length) {
    detail.replaceChildren(make("p", { class: "empty" }, "No row fits this search and filter."));
    $("list").removeAttribute("aria-activedescendant");
    return;
  }
  const s = queue[chosen];
  $("list").setAttribute("aria-activedescendant", "item-" + s);
  detail.replaceChildren(...drawDetail(s));
  detail.scrollTop = 0;
  showHits();
}

function act(verdict, label) {
  if (!queue.length || atEnd()) return;
  const s = queue[chosen];
  if (!isSuspect(s) && verdict === "keep") return;
  decide(s, verdict, label);
  // With a filter the row may leave the queue; then the next one has already moved up.
  const isLast = queue[chosen] === s && chosen === queue.length - 1;
  if (isLast || !queue.length) showEnd();
  else if (queue[chosen] === s) choose(chosen + 1);
}

function setView(table) {
  isTable = table;
  $("view-card").setAttribute("aria-pressed", String(!table));
  $("view-table").setAttribute("aria-pressed", String(table));
  $("panes").className = "panes " + (table ? "list-table" : "list-card");
  list.setHeight(table ? LINE_HEIGHT : CARD_HEIGHT);
  list.show(chosen);
}

function fillSelect(select, entries) {
  const options = entries.map(([value, text]) => make("option", { value }, visible(text)));
  select.replaceChildren(...options);
}

const withAny = (names) => [["", "any"], ...names.map((name, i) => [i, name])];

const ANY_STATUS = [["all", "all"], ["open", "open"], ["done", "decided"]];
const STATUSES = {
  review: [["keep", "kept"], ["flip", "flipped"], ["unsure", "unsure"]],
  unlabeled: [["flip", "filled in"], ["unsure", "left empty"]],
};
const SORTS = {
  review: [
    ["first", "most suspect"],
    ["row", "row number"],
    ["confidence", "lowest confidence"],
    ["given", "given label"],
    ["suggested", "suggested label"],
    ["decision", "decision"],
  ],
  unlabeled: [
    ["first", "least sure"],
    ["sure", "most sure"],
    ["row", "row number"],
    ["suggested", "predicted label"],
    ["decision", "decision"],
  ],
};

// Turns the queue over to the suspects or to the unlabeled rows.
function setGroup(name) {
  group = name;
  chosen = 0;
  selected.clear();
  const isUnlabeled = isUnlabeledGroup();
  $("queue").setAttribute("aria-labelledby", "tab-" + name);
  $("queue-title").textContent = isUnlabeled ? "Unlabeled rows" : "Review";
  $("given-label").hidden = isUnlabeled;
  $("suggested-name").textContent = isUnlabeled ? "Predicted" : "Suggested";
  $("head-move").textContent = isUnlabeled ? "Predicted" : "Given → suggested";
  $("head-odds").textContent = isUnlabeled ? "Sure" : "Wrong";
  fillSelect($("filter-status"), [...ANY_STATUS, ...STATUSES[name]]);
  fillSelect($("sort"), SORTS[name]);
  $("list").scrollTop = 0;
  clearFilters();
  for (const id of ["bar", "panes"]) $(id).hidden = !sizeOfGroup();
  $("nothing").hidden = sizeOfGroup() > 0;
  $("nothing").textContent = "No label stands out here, so there is nothing to review.";
  rebuild();
  showProgress();
}

function clearFilters() {
  $("search").value = "";
  $("filter-status").value = "all";
  for (const id of ["filter-given", "filter-suggested", "filter-group"]) {
    if ($(id)) $(id).value = "";
  }
}
