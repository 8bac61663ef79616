// Tabs, keys and the start.
const TABS = ["overview", "review", "columns"];
let columnsAreDrawn = false;

function openTab(name, focus) {
  for (const tab of TABS) {
    $(tab).hidden = tab !== name;
    $("tab-" + tab).setAttribute("aria-selected", String(tab === name));
    $("tab-" + tab).tabIndex = tab === name ? 0 : -1;
  }
  if (name === "review") { list.refresh(); list.show(chosen); if (focus) $("list").focus(); }
  if (name === "overview") drawMap();
  if (name === "columns" && !columnsAreDrawn) { drawColumns(); columnsAreDrawn = true; }
  window.scrollTo(0, 0);
}

function openSuspect(s) {
  openTab("review", true);
  if (!queue.includes(s)) { $("search").value = ""; $("filter-status").value = "all"; $("filter-given").value = ""; if ($("filter-group")) $("filter-group").value = ""; }
  rebuild(s);
  choose(queue.indexOf(s));
}

function drawColumns() {
  const most = Math.max(...facts.columns.map((c) => c.weight), 1e-12), order = [...byImportance, ...facts.columns.map((_, j) => j).filter((j) => facts.columns[j].role !== "feature")];
  const draw = (index) => {
    const c = facts.columns[order[index]];
    const use = c.role === "feature" ? c.note : c.role === "ignored" ? "not used: " + c.note : "the " + c.role;
    return make("div", { class: "item column", role: "listitem" }, cell(c.name), make("span", {}, c.kind), make("span", { class: "note", title: use }, use), make("span", {}, c.missing ? count(c.missing) : ""), make("span", {}, count(c.distinct)), c.role === "feature" ? make("div", { class: "track", title: percent(c.weight) }, make("div", { class: "fill", "--w": (100 * c.weight) / most })) : make("span", {}));
  };
  $("column-list").style.height = Math.min(order.length * 36, 560) + "px";
  virtualList($("column-list"), 36, () => order.length, draw);
}

function showProgress() {
  $("progress-text").textContent = `${count(decisions.size)} of ${count(N)} reviewed`;
  $("progress").max = Math.max(N, 1);
  $("progress").value = decisions.size;
  $("tab-count").textContent = N ? count(N) : "";
}

onDecision = (s, jump) => {
  showProgress();
  const current = s ?? queue[chosen];
  const isFiltered = $("filter-status").value !== "all" || $("sort").value === "decision";
  if (s == null || isFiltered) rebuild(jump ? current : undefined);
  else { list.refresh(); if (jump && queue.indexOf(s) >= 0) choose(queue.indexOf(s)); else showChosen(); }
};

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme;
  try { localStorage.setItem("labelcut:theme", theme || ""); } catch { /* no store */ }
  if (!$("overview").hidden) drawMap();
}

const KEYS = {
  k: () => act("keep"), f: () => act("flip"), u: () => act("unsure"), z: undo, s: save,
  arrowdown: () => choose(chosen + 1), arrowup: () => choose(chosen - 1), arrowright: () => choose(chosen + 1), arrowleft: () => choose(chosen - 1),
  home: () => choose(0), end: () => choose(queue.length - 1), pagedown: () => choose(chosen + 10), pageup: () => choose(chosen - 10),
};

document.addEventListener("keydown", (event) => {
  const inField = event.target.matches("input, select, textarea");
  if (event.key === "Escape" && event.target === $("search")) { $("search").value = ""; rebuild(); $("list").focus(); return; }
  if (event.key === "Enter" && event.target === $("search")) { $("list").focus(); return; }
  if (event.altKey || event.metaKey || (event.ctrlKey && event.key.toLowerCase() !== "z") || inField) return;
  if (event.target.matches("[role=tab]")) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) { const next = TABS[(TABS.indexOf(event.target.id.slice(4)) + step + 3) % 3]; openTab(next); $("tab-" + next).focus(); event.preventDefault(); return; }
  }
  if (event.key === "/") { openTab("review"); $("search").focus(); event.preventDefault(); return; }
  if ($("review").hidden) return;
  const isMove = event.key.length > 1;
  if (isMove && event.target.closest("#detail, .tabs, .values")) return; // Arrows scroll there.
  const action = KEYS[event.key.toLowerCase()];
  if (action) { action(); event.preventDefault(); }
});

function start() {
  let theme = "";
  try { theme = localStorage.getItem("labelcut:theme") || ""; } catch { /* no store */ }
  if (theme) document.documentElement.dataset.theme = theme;
  recall();
  $("panes").className = "panes list-card";
  list = virtualList($("list"), 58, () => queue.length, drawItem);
  fillSelect($("filter-given"), facts.classes, "any");
  if ($("filter-group")) fillSelect($("filter-group"), facts.group_names, "any");
  rebuild();
  showProgress();
  drawOverview();
  for (const tab of TABS) $("tab-" + tab).addEventListener("click", () => openTab(tab, tab === "review"));
  $("start").addEventListener("click", () => openTab("review", true));
  if (!N) $("start").hidden = true;
  let searchTimer = 0;
  $("search").addEventListener("input", () => { clearTimeout(searchTimer); searchTimer = setTimeout(() => { chosen = 0; $("list").scrollTop = 0; rebuild(); }, N > 2000 ? 120 : 0); });
  for (const id of ["filter-status", "filter-given", "filter-group", "sort"]) $(id)?.addEventListener("change", () => { chosen = 0; $("list").scrollTop = 0; rebuild(); });
  $("view-card").addEventListener("click", () => setView(false));
  $("view-table").addEventListener("click", () => setView(true));
  $("save").addEventListener("click", save);
  $("load-file").addEventListener("change", async (event) => { const file = event.target.files[0]; if (file) load(await file.text()); event.target.value = ""; });
  $("theme").addEventListener("click", () => { const isDark = (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark"; setTheme(isDark ? "light" : "dark"); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawMap);
  let sizeTimer = 0;
  window.addEventListener("resize", () => { clearTimeout(sizeTimer); sizeTimer = setTimeout(() => { if (!$("overview").hidden) drawMap(); }, 100); });
  document.documentElement.dataset.ready = "yes";
}
start();
