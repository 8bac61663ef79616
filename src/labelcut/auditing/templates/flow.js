// From the first row to the last: the end of the list, what to do next, and the keys.

// Whether the end is shown in place of a row.
const atEnd = () => Boolean($("detail").querySelector(".end"));

function showEnd() {
  document.body.classList.remove("has-card");
  $("detail").replaceChildren(drawEnd());
  $("detail").focus({ preventScroll: true });
}

function drawEnd() {
  const open = sizeOfGroup() - countDecided();
  const box = make("div", { class: "end" });
  box.append(make("h3", {}, open ? "The end of this list" : "Done"));
  box.append(make("p", {}, open ? `${counted(open, "row")} still open.` : doneText()));
  const buttons = make("div", { class: "end-buttons" });
  const button = (text, action, kind) => make("button", { class: kind, onclick: action }, text);
  if (open) buttons.append(button("Show the open ones", showOpen, "primary"));
  else buttons.append(button("Save decisions", save, "primary"));
  if (!open && otherGroup()) buttons.append(button(otherGroup().text, otherGroup().open, ""));
  buttons.append(button("Back to the last row", () => choose(chosen), ""));
  box.append(buttons);
  if (!open) box.append(...drawNextSteps());
  return box;
}

function doneText() {
  const tally = { keep: 0, flip: 0, unsure: 0 };
  for (const [s, { verdict }] of decisions) {
    if (s >= firstOfGroup() && s < endOfGroup()) tally[verdict]++;
  }
  const size = sizeOfGroup();
  if (isUnlabeledGroup()) {
    const parts = `${count(tally.flip)} filled in, ${count(tally.unsure)} left empty`;
    return `${counted(size, OPEN_ROW)} looked at: ${parts}.`;
  }
  const parts = `${count(tally.flip)} flipped, ${count(tally.keep)} kept`;
  return `${counted(size, "suspect")} reviewed: ${parts}, ${count(tally.unsure)} unsure.`;
}

function otherGroup() {
  if (isUnlabeledGroup() ? !N : !N_UNLABELED) return null;
  const name = isUnlabeledGroup() ? "review" : "unlabeled";
  const text = isUnlabeledGroup() ? "Go to the suspects" : `Go to the ${OPEN_ROW}s`;
  return { text, open: () => openTab(name, true) };
}

function showOpen() {
  clearFilters();
  $("filter-status").value = "open";
  showFromTop();
  $("list").focus();
}

// A word of a command as a shell takes it.
function shellWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replaceAll("'", `'"'"'`) + "'";
}

function nextCommands() {
  if (facts.annotators) return crowdCommands();
  const { name, format, suffix } = facts.source;
  const fill = facts.unlabeled.classified > 0;
  if (format === "data frame") {
    return [
      ["Correct the table", 'corrected = audit.apply("decisions.csv")'],
      ["Look again, with your decisions as certain", pythonAgain()],
    ];
  }
  const table = name === "standard input" ? "TABLE" : shellWord(name);
  const apply = `labelcut apply ${table} decisions.csv --out cleaned${suffix}`;
  const roles = [["--label", facts.label], ["--id", facts.id], ["--group", facts.group]];
  roles.push(["--image", facts.image], ["--image-root", facts.pictures?.root]);
  roles.push(["--text", facts.text]);
  const beside = facts.beside || { opinions: {} };
  const words = roles.filter(([, column]) => column).map(([option, column]) => {
    return `${option} ${shellWord(column)}`;
  });
  for (const [name, from] of Object.entries(beside.opinions)) {
    words.push(`--opinion ${shellWord(`${name}=${from}`)}`);
  }
  if (beside.embedding) words.push(`--embedding ${shellWord(beside.embedding)}`);
  const commands = [["Correct the table", apply]];
  if (fill) commands.push(["Also fill in what is sure", apply + " --fill-unlabeled"]);
  const again = `labelcut audit ${table} ${words.join(" ")} --decisions decisions.csv`;
  return [...commands, ["Look again, with your decisions as certain", again]];
}

function pythonAgain() {
  const named = { label: facts.label, image: facts.image, text: facts.text };
  const words = Object.entries(named).filter(([, column]) => column);
  const roles = words.map(([role, column]) => `${role}=${JSON.stringify(column)}`).join(", ");
  return `labelcut.audit(df, ${roles}, decisions="decisions.csv")`;
}

function drawNextSteps() {
  const lead = make("p", { class: "caption" }, "Save decisions.csv beside the table, then:");
  return [lead, ...nextCommands().map(([text, command]) => drawCommand(text, command))];
}

function drawCommand(text, command) {
  const code = make("code", {}, visible(command));
  const copied = () => copy(command, code);
  const label = "Copy: " + visible(command);
  const button = make("button", { "aria-label": label, onclick: copied }, "Copy");
  return make("div", { class: "command" }, make("p", {}, text), code, button);
}

async function copy(text, element) {
  try {
    await navigator.clipboard.writeText(text);
    tell("Copied");
  } catch {
    getSelection().selectAllChildren(element); // A sandboxed page may not write; the user can.
    tell("Marked: copy it with Ctrl+C");
  }
}

function showKeys() {
  if (!$("keys").open) $("keys").showModal();
}

// Where nothing is stored a decision lasts as long as the page: say so as soon as there is one.
function warnIfLost() {
  $("no-store").hidden = canStore || !isUnsaved;
}

function holdUnsaved(event) {
  if (!canStore && isUnsaved) event.preventDefault();
}
