// The decisions: kept in the browser, undone, saved as csv, read from csv.
const STORE = "labelcut:" + facts.report;
const decisions = new Map(); // position of the suspect -> {verdict, label}; all of it passes through `put`
const undoStack = [];
let onDecision = () => {};

// What the store or a file holds may be anything: a decision is about a suspect of this page, keeps its label, flips it
// to another class of the table, or is unsure and names none.
function isDecision(s, verdict, label) {
  if (!Number.isInteger(s) || s < 0 || s >= N) return false;
  const given = facts.classes[suspects.given[s]];
  if (verdict === "keep") return label === given;
  if (verdict === "flip") return label !== given && facts.classes.includes(label);
  return verdict === "unsure" && label === "";
}

function put(s, verdict, label) {
  if (!isDecision(s, verdict, label)) return false;
  decisions.set(s, { verdict, label });
  return true;
}

function stored() {
  try {
    const found = JSON.parse(localStorage.getItem(STORE) || "[]");
    return Array.isArray(found) ? found.filter(Array.isArray) : [];
  } catch { return []; /* A sandboxed page has no store; what is no JSON is not ours. */ }
}

function remember() {
  const entries = [...decisions].map(([s, d]) => [s, d.verdict, d.label]);
  try { localStorage.setItem(STORE, JSON.stringify(entries)); } catch { /* A sandboxed page has no store. */ }
}

function recall() {
  for (const s of facts.unsure) put(s, "unsure", "");
  for (const [s, verdict, label] of stored()) put(s, verdict, label);
}

function decide(s, verdict, label) {
  const before = decisions.get(s);
  const text = verdict === "keep" ? facts.classes[suspects.given[s]] : verdict === "flip" ? label ?? facts.classes[suspects.suggested[s]] : "";
  if (!put(s, verdict, text)) return tell("This is no decision for the row");
  undoStack.push([s, before]);
  remember();
  onDecision(s);
  const said = { keep: "kept", flip: "flipped to " + text, unsure: "unsure" }[verdict];
  announce(`${suspects.id[s]}: ${said}. ${decisions.size} of ${N} reviewed.`);
}

function undo() {
  if (!undoStack.length) return tell("Nothing to undo");
  const [s, before] = undoStack.pop();
  if (before) decisions.set(s, before); else decisions.delete(s);
  remember();
  onDecision(s, true);
  announce(`Undone: ${suspects.id[s]}. ${decisions.size} of ${N} reviewed.`);
}

// A cell that a spreadsheet would run as a formula gets an apostrophe, one that has some already one more;
// numbers are left alone. The same rule is in writing.py.
function guarded(text) {
  text = String(text ?? "");
  const harmless = text.trim() === text && text !== "" && !Number.isNaN(Number(text));
  if (/^'*[=+\-@\t\r]/.test(text) && !harmless) text = "'" + text;
  return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}
const unguarded = (text) => (/^'+[=+\-@\t\r]/.test(text) ? text.slice(1) : text);

function decisionsCsv() {
  const rows = [...facts.earlier];
  for (const s of [...decisions.keys()].sort((a, b) => a - b)) {
    const d = decisions.get(s);
    if (!isDecision(s, d.verdict, d.label)) continue;
    rows.push([suspects.key[s], facts.id ? suspects.id[s] : "", suspects.row[s], facts.classes[suspects.given[s]], d.verdict, d.label, facts.label, facts.id ?? ""]);
  }
  return ["key,id,row,given_label,decision,label,label_column,id_column", ...rows.map((row) => row.map(guarded).join(","))].join("\n") + "\n";
}

function save() {
  const link = make("a", { download: "decisions.csv", href: URL.createObjectURL(new Blob([decisionsCsv()], { type: "text/csv" })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  tell(`decisions.csv: ${count(decisions.size + facts.earlier.length)} decisions`);
}

function parseCsv(text) {
  const rows = [];
  let row = [], field = "", quoted = false;
  const separator = (text.split("\n", 1)[0].match(/;/g) || []).length > (text.split("\n", 1)[0].match(/,/g) || []).length ? ";" : ",";
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c === '"' && text[i + 1] === '"') { field += '"'; i++; } else if (c === '"') quoted = false; else field += c;
    } else if (c === '"' && field === "") quoted = true;
    else if (c === separator) { row.push(field); field = ""; }
    else if (c === "\n") { row.push(field.replace(/\r$/, "")); rows.push(row); row = []; field = ""; }
    else field += c;
  }
  if (field || row.length) { row.push(field); rows.push(row); }
  return rows;
}

function load(text) {
  const [head, ...rows] = parseCsv(text.replace(/^\ufeff/, ""));
  const at = Object.fromEntries((head || []).map((name, i) => [name.trim(), i]));
  if (!("decision" in at) || !("key" in at)) return tell("This is no decisions.csv: it has no column key or decision");
  const places = new Map(); // by id where there is one, else by content; equal rows in their order
  for (let s = N - 1; s >= 0; s--) {
    const name = facts.id ? suspects.id[s] : suspects.key[s];
    places.set(name, [s, ...(places.get(name) || [])]);
  }
  const taken = new Set();
  let used = 0, elsewhere = 0, wrong = 0;
  for (const row of rows) {
    const get = (name) => unguarded((row[at[name]] ?? "").trim());
    const candidates = (places.get(facts.id ? get("id") : get("key")) || []).filter((s) => !taken.has(s));
    const s = candidates.find((c) => String(suspects.row[c]) === get("row")) ?? candidates[0];
    const verdict = get("decision").toLowerCase();
    if (s === undefined) elsewhere++;
    else if (put(s, verdict, verdict === "unsure" ? "" : get("label"))) { taken.add(s); used++; }
    else wrong++;
  }
  remember();
  onDecision(null, true);
  return tell(`${count(used)} decisions loaded` + (elsewhere ? `, ${count(elsewhere)} are for rows not in this queue` : "") + (wrong ? `, ${count(wrong)} are no decisions and were left out` : ""));
}
