// The decisions: kept in the browser, undone, saved as csv, read from csv.
const STORE = "labelcut:" + facts.report;
// Position of the suspect -> {verdict, label}; all of it passes through `put`.
const decisions = new Map();
const undoStack = [];
let onDecision = () => {};

// What the store or a file holds may be anything: a decision is about a suspect of this page, keeps
// its label, flips it to another class of the table, or is unsure and names none.
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
  } catch {
    return []; // A sandboxed page has no store; what is no JSON is not ours.
  }
}

function remember() {
  const entries = [...decisions].map(([s, { verdict, label }]) => [s, verdict, label]);
  try {
    localStorage.setItem(STORE, JSON.stringify(entries));
  } catch { /* A sandboxed page has no store. */ }
}

function recall() {
  for (const s of facts.unsure) put(s, "unsure", "");
  for (const [s, verdict, label] of stored()) put(s, verdict, label);
}

// `label` is for a flip to another label than the suggested one.
function decide(s, verdict, label) {
  const before = decisions.get(s);
  const labels = {
    keep: facts.classes[suspects.given[s]],
    flip: label ?? facts.classes[suspects.suggested[s]],
    unsure: "",
  };
  const text = labels[verdict];
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
  if (before) decisions.set(s, before);
  else decisions.delete(s);
  remember();
  onDecision(s, true);
  announce(`Undone: ${suspects.id[s]}. ${decisions.size} of ${N} reviewed.`);
}

// A cell that a spreadsheet would run as a formula gets an apostrophe, one that has some already
// one more; numbers are left alone. The same rule is in writing.py.
function guarded(text) {
  text = String(text ?? "");
  const harmless = text.trim() === text && text !== "" && !Number.isNaN(Number(text));
  if (/^'*[=+\-@\t\r]/.test(text) && !harmless) text = "'" + text;
  return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}
const unguarded = (text) => (/^'+[=+\-@\t\r]/.test(text) ? text.slice(1) : text);

const CSV_HEAD = "key,id,row,given_label,decision,label,label_column,id_column".split(",");

function decisionsCsv() {
  const rows = [CSV_HEAD, ...facts.earlier];
  for (const s of [...decisions.keys()].sort((a, b) => a - b)) {
    const { verdict, label } = decisions.get(s);
    if (!isDecision(s, verdict, label)) continue;
    const id = facts.id ? suspects.id[s] : "";
    const given = facts.classes[suspects.given[s]];
    const known = [suspects.key[s], id, suspects.row[s], given];
    rows.push([...known, verdict, label, facts.label, facts.id ?? ""]);
  }
  return rows.map((row) => row.map(guarded).join(",") + "\n").join("");
}

function save() {
  const file = new Blob([decisionsCsv()], { type: "text/csv" });
  const link = make("a", { download: "decisions.csv", href: URL.createObjectURL(file) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  tell(`decisions.csv: ${count(decisions.size + facts.earlier.length)} decisions`);
}

// Spreadsheets of some countries write semicolons: the head has more of the one that separates.
function separatorOf(text) {
  const head = text.split("\n", 1)[0];
  return head.split(";").length > head.split(",").length ? ";" : ",";
}

function parseCsv(text) {
  const separator = separatorOf(text);
  const rows = [];
  let row = [];
  let field = "";
  let isQuoted = false;
  const endField = (end) => {
    row.push(end);
    field = "";
  };
  const endRow = (end) => {
    endField(end);
    rows.push(row);
    row = [];
  };
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (isQuoted && character === '"' && text[i + 1] === '"') {
      field += '"';
      i++;
    } else if (isQuoted) {
      if (character === '"') isQuoted = false;
      else field += character;
    } else if (character === '"' && field === "") isQuoted = true;
    else if (character === separator) endField(field);
    else if (character === "\n") endRow(field.replace(/\r$/, ""));
    else field += character;
  }
  if (field || row.length) endRow(field);
  return rows;
}

// The suspects under the name a file knows them by: the id where there is one, else the content;
// equal rows in their order.
function suspectsByName() {
  const places = new Map();
  const names = facts.id ? suspects.id : suspects.key;
  names.forEach((name, s) => {
    if (!places.has(name)) places.set(name, []);
    places.get(name).push(s);
  });
  return places;
}

function load(text) {
  const [head, ...rows] = parseCsv(text.replace(/^\ufeff/, ""));
  const at = Object.fromEntries((head || []).map((name, i) => [name.trim(), i]));
  if (!("decision" in at) || !("key" in at)) {
    return tell("This is no decisions.csv: it has no column key or decision");
  }
  const places = suspectsByName();
  const taken = new Set();
  let elsewhere = 0;
  let wrong = 0;
  for (const row of rows) {
    const get = (name) => unguarded((row[at[name]] ?? "").trim());
    const named = places.get(facts.id ? get("id") : get("key")) || [];
    const open = named.filter((s) => !taken.has(s));
    const s = open.find((one) => String(suspects.row[one]) === get("row")) ?? open[0];
    const verdict = get("decision").toLowerCase();
    if (s === undefined) elsewhere++;
    else if (put(s, verdict, verdict === "unsure" ? "" : get("label"))) taken.add(s);
    else wrong++;
  }
  remember();
  onDecision(null, true);
  return tell(loadedText(taken.size, elsewhere, wrong));
}

function loadedText(used, elsewhere, wrong) {
  const parts = [`${count(used)} decisions loaded`];
  if (elsewhere) parts.push(`${count(elsewhere)} are for rows not in this queue`);
  if (wrong) parts.push(`${count(wrong)} are no decisions and were left out`);
  return parts.join(", ");
}
