// Tabs, keys and the start.
const ALL_TABS = ["overview", "review", "unlabeled", "annotators", "columns"];
const TABS = ALL_TABS.filter((name) => $("tab-" + name));
const PANELS = { review: "queue", unlabeled: "queue" }; // Two tabs share one panel.
const COLUMN_HEIGHT = 36;
let columnsAreDrawn = false;

function openTab(name, focus) {
  const panel = PANELS[name] ?? name;
  for (const part of ["overview", "queue", "annotators", "columns"]) {
    if ($(part)) $(part).hidden = part !== panel;
  }
  for (const tab of TABS) {
    $("tab-" + tab).setAttribute("aria-selected", String(tab === name));
    $("tab-" + tab).tabIndex = tab === name ? 0 : -1;
  }
  document.body.classList.toggle("is-queue", panel === "queue");
  if (panel === "queue") {
    if (group !== name) setGroup(name);
    list.refresh();
    list.show(chosen);
    if (sizeOfGroup() && !atEnd()) showChosen(); // Names are cut to the room there is now.
    if (focus) $("list").focus();
  }
  if (name === "overview") drawOverview();
  if (name === "annotators") drawAnnotators();
  if (name === "columns" && !columnsAreDrawn) {
    drawColumns();
    columnsAreDrawn = true;
  }
  window.scrollTo(0, 0);
}

function openCase(s) {
  openTab(isSuspect(s) ? "review" : "unlabeled", true);
  if (!queue.includes(s)) clearFilters();
  rebuild(s);
  choose(queue.indexOf(s));
}

function openMove(given, suggested) {
  openTab("review", true);
  clearFilters();
  $("filter-given").value = given;
  $("filter-suggested").value = suggested;
  showFromTop();
}

function startReview() {
  if (N_CASES) openTab(N ? "review" : "unlabeled", true);
}

function drawColumns() {
  const most = Math.max(...facts.columns.map((column) => column.weight), 1e-12);
  const draw = (index) => drawColumn(facts.columns[columnOrder[index]], most);
  $("column-list").style.height = Math.min(columnOrder.length * COLUMN_HEIGHT, 560) + "px";
  virtualList($("column-list"), COLUMN_HEIGHT, () => columnOrder.length, draw);
}

function drawColumn(column, most) {
  const use = useOf(column);
  const line = make("div", { class: "item column", role: "listitem" });
  line.append(
    cell(column.name),
    make("span", {}, column.kind),
    make("span", { class: "note", title: use }, use),
    make("span", {}, column.missing ? count(column.missing) : ""),
    make("span", {}, count(column.distinct)),
    column.role === "feature" ? drawWeight(column.weight, most) : make("span", {}),
  );
  return line;
}

function useOf(column) {
  if (column.role === "feature" || column.role === "beside") return column.note;
  if (column.role === "ignored") return "not used: " + column.note;
  return `the ${column.role} ${column.note}`.trim();
}

function drawWeight(weight, most) {
  const fill = make("div", { class: "fill", "--w": (100 * weight) / most });
  return make("div", { class: "track", title: percent(weight) }, fill);
}

function showProgress() {
  const size = sizeOfGroup();
  $("progress-text").textContent = size ? progressText() : "";
  $("progress").max = Math.max(size, 1);
  $("progress").value = countDecided();
  $("progress").hidden = !size;
  $("tab-count").textContent = N ? count(N) : "";
  $("save").classList.toggle("primary", isUnsaved);
  warnIfLost();
}

onDecision = (s, jump) => {
  showProgress();
  const isFiltered = $("filter-status").value !== "all" || $("sort").value === "decision";
  if (s == null || isFiltered) {
    rebuild(jump ? s ?? queue[chosen] : undefined);
    return;
  }
  list.refresh();
  showBulk();
  if (jump && queue.includes(s)) choose(queue.indexOf(s));
  else showChosen();
};

const DARK = matchMedia("(prefers-color-scheme: dark)");

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("labelcut:theme", theme);
  } catch { /* A sandboxed page has no store. */ }
  if (!$("overview").hidden) drawMap();
}

function recallTheme() {
  try {
    const theme = localStorage.getItem("labelcut:theme");
    if (theme) document.documentElement.dataset.theme = theme;
  } catch { /* A sandboxed page has no store. */ }
}

function changeTheme() {
  const theme = document.documentElement.dataset.theme || (DARK.matches ? "dark" : "light");
  setTheme(theme === "dark" ? "light" : "dark");
}

const KEYS = {
  k: () => act("keep"),
  f: () => act("flip"),
  u: () => act("unsure"),
  z: undo,
  s: save,
  x: () => toggle(queue[chosen]),
  c: changeComparison,
  arrowdown: () => choose(chosen + 1),
  arrowup: () => choose(chosen - 1),
  arrowright: () => choose(chosen + 1),
  arrowleft: () => choose(chosen - 1),
  home: () => choose(0),
  end: () => choose(queue.length - 1),
  pagedown: () => choose(chosen + 10),
  pageup: () => choose(chosen - 10),
};

function changeComparison() {
  isTypical = !isTypical;
  showChosen();
}

// Each of these answers a key or leaves it to the next one; the first that is true has answered.
function onKey(event) {
  if (leaveSearch(event)) return;
  const hasOtherMeaning = event.ctrlKey && event.key.toLowerCase() !== "z";
  if (event.altKey || event.metaKey || hasOtherMeaning) return;
  const isTyping = event.target.matches("input, select, textarea");
  if (isTyping || document.querySelector("dialog[open]")) return;
  const answers = [moveBetweenTabs, openSearch, openKeys, startByKey, selectByKey, actByKey];
  if (answers.some((answer) => answer(event))) event.preventDefault();
}

function openKeys(event) {
  if (event.key === "?") showKeys();
  return event.key === "?";
}

// Enter on the overview starts, unless it is for the button or link that has the focus.
function startByKey(event) {
  const isTaken = event.target.closest("button, a, label, summary");
  if (event.key !== "Enter" || isTaken || $("overview").hidden) return false;
  startReview();
  return true;
}

function selectByKey(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!event.shiftKey || !step || $("queue").hidden || !queue.length) return false;
  if (event.target.closest(SCROLLING)) return false;
  selected.add(queue[chosen]);
  choose(chosen + step);
  selected.add(queue[chosen]);
  list.refresh();
  showBulk();
  return true;
}

function leaveSearch(event) {
  if (event.target !== $("search") || !["Escape", "Enter"].includes(event.key)) return false;
  if (event.key === "Escape") {
    $("search").value = "";
    rebuild();
  }
  $("list").focus();
  return true;
}

function moveBetweenTabs(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step || !event.target.matches("[role=tab]")) return false;
  const now = TABS.indexOf(event.target.id.slice("tab-".length));
  const next = TABS[(now + step + TABS.length) % TABS.length];
  openTab(next);
  $("tab-" + next).focus();
  return true;
}

function openSearch(event) {
  if (event.key !== "/" || !N_CASES) return false;
  if ($("queue").hidden) openTab(N ? "review" : "unlabeled");
  $("search").focus();
  return true;
}

// Parts that move by the arrow keys themselves.
const SCROLLING = "#detail, .tabs";

function actByKey(event) {
  const isMove = event.key.length > 1;
  const scrolls = isMove && !atEnd() && event.target.closest(SCROLLING);
  const action = KEYS[event.key.toLowerCase()];
  if ($("queue").hidden || scrolls || !action || !sizeOfGroup()) return false;
  action();
  return true;
}

// Calls `action` once the calls of this function have stopped for a while.
function delayed(action, milliseconds) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds);
  };
}

function showFromTop() {
  chosen = 0;
  $("list").scrollTop = 0;
  rebuild();
}

async function loadChosenFile(event) {
  const file = event.target.files[0];
  if (file) load(await file.text());
  event.target.value = "";
}

function foldFilters() {
  const isOpen = $("filters").classList.toggle("open");
  $("fold").setAttribute("aria-expanded", String(isOpen));
}

function listenToTools() {
  const on = (id, kind, action) => $(id)?.addEventListener(kind, action);
  for (const tab of TABS) on("tab-" + tab, "click", () => openTab(tab, tab in PANELS));
  on("start", "click", startReview);
  on("search", "input", delayed(showFromTop, N_CASES > 2000 ? 120 : 0));
  for (const id of ["status", "given", "suggested", "group"]) {
    on("filter-" + id, "change", showFromTop);
  }
  on("sort", "change", showFromTop);
  on("fold", "click", foldFilters);
  on("view-card", "click", () => setView(false));
  on("view-table", "click", () => setView(true));
  on("save", "click", save);
  on("load-file", "change", loadChosenFile);
  on("theme", "click", changeTheme);
  on("help", "click", showKeys);
  on("keys-close", "click", () => $("keys").close());
  on("picture-close", "click", () => $("picture").close());
  on("picture", "click", (event) => event.target === $("picture") && $("picture").close());
  on("toast-undo", "click", undo);
}

function start() {
  document.body.classList.toggle("has-pictures", Boolean(album));
  recallTheme();
  recall();
  $("panes").className = "panes list-card";
  list = virtualList($("list"), CARD_HEIGHT, () => queue.length, drawItem);
  fillSelect($("filter-given"), withAny(facts.classes));
  fillSelect($("filter-suggested"), withAny(facts.classes));
  if ($("filter-group")) fillSelect($("filter-group"), withAny(facts.group_names));
  setGroup(N || !N_UNLABELED ? "review" : "unlabeled");
  drawOverview();
  $("next").append(...drawNextSteps());
  listenToTools();
  document.addEventListener("keydown", onKey);
  DARK.addEventListener("change", drawMap);
  const drawIfShown = () => $("overview").hidden || drawOverview();
  window.addEventListener("resize", delayed(drawIfShown, 100));
  window.addEventListener("beforeunload", holdUnsaved);
  document.documentElement.dataset.ready = "yes";
}
start();
