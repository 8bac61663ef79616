// Tabs, keys and the start.
const TABS = ["overview", "review", "columns"];
const COLUMN_HEIGHT = 36;
let columnsAreDrawn = false;

function openTab(name, focus) {
  for (const tab of TABS) {
    $(tab).hidden = tab !== name;
    $("tab-" + tab).setAttribute("aria-selected", String(tab === name));
    $("tab-" + tab).tabIndex = tab === name ? 0 : -1;
  }
  if (name === "review") {
    list.refresh();
    list.show(chosen);
    if (focus) $("list").focus();
  }
  if (name === "overview") drawMap();
  if (name === "columns" && !columnsAreDrawn) {
    drawColumns();
    columnsAreDrawn = true;
  }
  window.scrollTo(0, 0);
}

function openSuspect(s) {
  openTab("review", true);
  if (!queue.includes(s)) clearFilters();
  rebuild(s);
  choose(queue.indexOf(s));
}

function clearFilters() {
  $("search").value = "";
  $("filter-status").value = "all";
  $("filter-given").value = "";
  if ($("filter-group")) $("filter-group").value = "";
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
  if (column.role === "feature") return column.note;
  return column.role === "ignored" ? "not used: " + column.note : "the " + column.role;
}

function drawWeight(weight, most) {
  const fill = make("div", { class: "fill", "--w": (100 * weight) / most });
  return make("div", { class: "track", title: percent(weight) }, fill);
}

function showProgress() {
  $("progress-text").textContent = `${count(decisions.size)} of ${count(N)} reviewed`;
  $("progress").max = Math.max(N, 1);
  $("progress").value = decisions.size;
  $("tab-count").textContent = N ? count(N) : "";
}

onDecision = (s, jump) => {
  showProgress();
  const isFiltered = $("filter-status").value !== "all" || $("sort").value === "decision";
  if (s == null || isFiltered) {
    rebuild(jump ? s ?? queue[chosen] : undefined);
    return;
  }
  list.refresh();
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
  arrowdown: () => choose(chosen + 1),
  arrowup: () => choose(chosen - 1),
  arrowright: () => choose(chosen + 1),
  arrowleft: () => choose(chosen - 1),
  home: () => choose(0),
  end: () => choose(queue.length - 1),
  pagedown: () => choose(chosen + 10),
  pageup: () => choose(chosen - 10),
};

// Each of these answers a key or leaves it to the next one; the first that is true has answered.
function onKey(event) {
  if (leaveSearch(event)) return;
  const hasOtherMeaning = event.ctrlKey && event.key.toLowerCase() !== "z";
  if (event.altKey || event.metaKey || hasOtherMeaning) return;
  if (event.target.matches("input, select, textarea")) return;
  if (moveBetweenTabs(event) || openSearch(event) || actByKey(event)) event.preventDefault();
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
  if (event.key !== "/") return false;
  openTab("review");
  $("search").focus();
  return true;
}

function actByKey(event) {
  const isMove = event.key.length > 1;
  const scrolls = isMove && event.target.closest("#detail, .tabs, .values");
  const action = KEYS[event.key.toLowerCase()];
  if ($("review").hidden || scrolls || !action) return false;
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

function listenToTools() {
  const on = (id, kind, action) => $(id)?.addEventListener(kind, action);
  for (const tab of TABS) on("tab-" + tab, "click", () => openTab(tab, tab === "review"));
  on("start", "click", () => openTab("review", true));
  on("search", "input", delayed(showFromTop, N > 2000 ? 120 : 0));
  for (const id of ["filter-status", "filter-given", "filter-group", "sort"]) {
    on(id, "change", showFromTop);
  }
  on("view-card", "click", () => setView(false));
  on("view-table", "click", () => setView(true));
  on("save", "click", save);
  on("load-file", "change", loadChosenFile);
  on("theme", "click", changeTheme);
}

function start() {
  recallTheme();
  recall();
  $("panes").className = "panes list-card";
  list = virtualList($("list"), CARD_HEIGHT, () => queue.length, drawItem);
  fillSelect($("filter-given"), facts.classes, "any");
  if ($("filter-group")) fillSelect($("filter-group"), facts.group_names, "any");
  rebuild();
  showProgress();
  drawOverview();
  $("start").hidden = !N;
  listenToTools();
  document.addEventListener("keydown", onKey);
  DARK.addEventListener("change", drawMap);
  const drawMapIfShown = () => $("overview").hidden || drawMap();
  window.addEventListener("resize", delayed(drawMapIfShown, 100));
  document.documentElement.dataset.ready = "yes";
}
start();
