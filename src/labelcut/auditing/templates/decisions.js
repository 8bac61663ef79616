// The decisions: kept in the browser, undone, saved as csv, read from csv.
const STORE = "labelcut:" + facts.report;
// Position of the suspect -> {verdict, label}; all of it passes through `put`.
const decisions = new Map();
const undoStack = [];
let onDecision = () => {};

let isUnsaved = false;
let canStore = true;

// What the store or a file holds may be anything: a decision is about a row of this page, keeps its
// label, sets another class of the table, or is unsure and names none. Without a label there is
// nothing to keep.
function isDecision(s, verdict, label) {
  if (!Number.isInteger(s) || s < 0 || s >= N_CASES) return false;
  const given = cases.given_text[s];
  if (verdict === "keep") return isSuspect(s) && label === given;
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
  isUnsaved = decisions.size > 0;
  const entries = [...decisions].map(([s, { verdict, label }]) => [s, verdict, label]);
  try {
    localStorage.setItem(STORE, JSON.stringify(entries));
  } catch {
    canStore = false; // A sandboxed page has no store, and a full one takes nothing more.
  }
}

function recall() {
  for (const s of facts.unsure) put(s, "unsure", "");
  const before = decisions.size;
  for (const [s, verdict, label] of stored()) put(s, verdict, label);
  isUnsaved = decisions.size > before;
  try {
    localStorage.getItem(STORE);
  } catch {
    canStore = false;
  }
}

// What a verdict sets the label to.
function labelOf(s, verdict) {
  if (verdict === "unsure") return "";
  return verdict === "keep" ? cases.given_text[s] : facts.classes[cases.suggested[s]];
}

const SAID = { keep: "kept", flip: "set to the suggested label", unsure: "left unsure" };

// `label` is for another label than the suggested one.
function decide(s, verdict, label) {
  const before = decisions.get(s);
  const text = label ?? labelOf(s, verdict);
  if (!put(s, verdict, text)) return tell("This is no decision for the row");
  undoStack.push([[s, before]]);
  remember();
  onDecision(s);
  const said = verdict === "flip" ? "set to " + text : SAID[verdict];
  announce(`${cases.id[s]}: ${said}. ${progressText()}.`);
}

// Many at once, one step to undo.
function decideAll(some, verdict) {
  const step = [];
  for (const s of some) {
    const before = decisions.get(s);
    if (put(s, verdict, labelOf(s, verdict))) step.push([s, before]);
  }
  if (!step.length) return tell("Nothing to decide here");
  undoStack.push(step);
  remember();
  onDecision(null);
  tell(`${counted(step.length, "row")} ${SAID[verdict]}`, true);
}

function undo() {
  if (!undoStack.length) return tell("Nothing to undo");
  hideToast();
  const step = undoStack.pop();
  for (const [s, before] of step) {
    if (before) decisions.set(s, before);
    else decisions.delete(s);
  }
  remember();
  const isOne = step.length === 1;
  onDecision(isOne ? step[0][0] : null, true);
  const what = isOne ? cases.id[step[0][0]] : counted(step.length, "decision");
  if (isOne) announce(`Undone: ${what}. ${progressText()}.`);
  else tell("Undone: " + what);
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
    const id = facts.id ? cases.id[s] : "";
    const known = [cases.key[s], id, cases.row[s], cases.given_text[s]];
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
  isUnsaved = false;
  showProgress();
  tell(`decisions.csv: ${counted(decisions.size + facts.earlier.length, "decision")}`);
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

// The rows under the name a file knows them by: the id where there is one, else the content; equal
// rows in their order.
function casesByName() {
  const places = new Map();
  const names = facts.id ? cases.id : cases.key;
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
  const places = casesByName();
  const taken = new Set();
  let elsewhere = 0;
  let wrong = 0;
  for (const row of rows) {
    const get = (name) => unguarded((row[at[name]] ?? "").trim());
    const named = places.get(facts.id ? get("id") : get("key")) || [];
    const open = named.filter((s) => !taken.has(s));
    const s = open.find((one) => String(cases.row[one]) === get("row")) ?? open[0];
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
  const parts = [`${counted(used, "decision")} loaded`];
  if (elsewhere) parts.push(`${count(elsewhere)} for rows that are not in this page`);
  if (wrong) parts.push(`${count(wrong)} left out, not being decisions`);
  return parts.join(", ");
}
