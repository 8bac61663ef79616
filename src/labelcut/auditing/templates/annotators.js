// Several annotators: who is right how often, where they disagree, whom to ask next; and in the
// card who said what.
const crowd = facts.annotators;
const FIRST_ROWS = 8; // Drawn at once; the others when asked for.
const ERRORS_SHOWN = 2; // Standard errors on each side: nineteen times in twenty.

// Who said what about a case, the most trusted first.
function drawSaid(s) {
  if (!crowd || !cases.said[s].length) return null;
  const title = make("h4", {}, "Who said what");
  return make("section", { class: "said" }, title, drawChips(cases.said[s], cases.suggested[s]));
}

function drawChips(said, consensus) {
  const chips = said.map(([j, code, wrong]) => {
    const name = make("bdi", { class: "who-said" }, shortened(crowd.names[j], 22));
    const right = percent(qualityOf(j).quality);
    const words = `${visible(crowd.names[j])}: ${visible(facts.classes[code])}`;
    const title = `${words}; right in ${right} of all labels, wrong here: ${percent(wrong)}`;
    const against = code === consensus ? "" : " against";
    const below = qualityOf(j).is_below_chance ? " below" : "";
    const share = make("span", { class: "chip-share" }, right);
    return make("span", { class: "chip" + against + below, title }, name, share, pill(code, 18));
  });
  return make("div", { class: "chips" }, ...chips);
}

const qualityOf = (j) => crowd.quality.find((line) => line.annotator === j);

function drawAnnotators() {
  const lines = crowd.quality.map(drawAnnotator);
  $("annotator-list").replaceChildren(...lines);
  fillRows("disagree-list", crowd.disagreements, drawDisagreement);
  fillRows("ask-list", crowd.ask_next, drawQuestion);
}

// A bar up to the share of right labels, with whiskers, and a mark where guessing would be.
function drawAnnotator(line) {
  const low = Math.max(0, line.quality - ERRORS_SHOWN * line.standard_error);
  const high = Math.min(1, line.quality + ERRORS_SHOWN * line.standard_error);
  const chance = 100 / facts.classes.length;
  const bar = make(
    "div",
    { class: "quality", role: "img", "aria-label": `${percent(low)} to ${percent(high)}` },
    make("i", { class: "level", "--w": 100 * line.quality }),
    make("i", { class: "chance", "--x": chance }),
    make("i", { class: "whisker", "--x": 100 * low, "--w": 100 * (high - low) }),
  );
  const share = `${percent(line.quality)} ± ${percent(line.standard_error)}`;
  const below = line.is_below_chance;
  return make(
    "div",
    { class: below ? "annotator below" : "annotator", role: "listitem" },
    make("span", { class: "name" }, cell(line.name), below ? drawBelow() : null),
    bar,
    make("span", { class: "num share" }, share),
    make("span", { class: "num" }, count(line.labels)),
    make("span", { class: "num" }, count(line.wrong)),
    make("span", { class: "num alone" }, count(line.alone)),
  );
}

function drawBelow() {
  const title = "Right less often than by guessing: these labels count against what they say";
  return make("span", { class: "mark-below", title }, "worse than chance");
}

function fillRows(id, rows, draw) {
  const box = $(id);
  const first = rows.slice(0, FIRST_ROWS).map(draw);
  box.replaceChildren(...first);
  if (rows.length <= FIRST_ROWS) return;
  const text = `Show ${count(rows.length - FIRST_ROWS)} more`;
  const more = () => box.replaceChildren(...rows.map(draw));
  box.append(make("button", { class: "more", onclick: more }, text));
}

function drawDisagreement(line) {
  return make(
    "div",
    { class: "crowd-row", role: "listitem" },
    drawRowName(line),
    drawAnswer(line),
    drawChips(line.said, line.consensus),
  );
}

function drawQuestion(line) {
  const who = line.ask === null ? "somebody new" : shortened(crowd.names[line.ask], 22);
  const ask = make("span", { class: "ask" }, "ask ", make("bdi", {}, who));
  const bits = `${line.bits.toFixed(2)} bits`;
  return make(
    "div",
    { class: "crowd-row", role: "listitem" },
    drawRowName(line),
    drawAnswer(line),
    make("span", { class: "question" }, ask, make("span", { class: "bits" }, bits)),
  );
}

function drawAnswer(line) {
  const sure = make("span", { class: "sure" }, percent(line.probability));
  return make("span", { class: "answer" }, pill(line.consensus, 16), sure);
}

function drawRowName(line) {
  const name = facts.id ? line.id : "row " + count(line.row);
  if (line.case === null) return make("span", { class: "name" }, cell(name));
  const title = "Open in the review";
  const open = () => openCase(line.case);
  return make("button", { class: "link name", title, onclick: open }, visible(name));
}

// The commands that end a review of several annotators: their own cells stay as they are.
function crowdCommands() {
  const { name, format, suffix } = facts.source;
  if (format === "data frame") {
    return [
      ["The rows with what was decided, else the consensus", 'audit.apply("decisions.csv")'],
      ["Look again, with your decisions as certain", crowdPython()],
    ];
  }
  const table = name === "standard input" ? "TABLE" : shellWord(name);
  const words = crowdWords();
  const write = `--consensus consensus --out cleaned${suffix}`;
  return [
    [
      "Write what was decided, else the consensus, into a column",
      `labelcut apply ${table} decisions.csv ${words} ${write}`,
    ],
    [
      "Look again, with your decisions as certain",
      `labelcut audit ${table} ${words} --decisions decisions.csv`,
    ],
  ];
}

function crowdWords() {
  const isLong = crowd.form === "long";
  const labels = (isLong ? [crowd.label] : crowd.labels).map((column) => ["--label", column]);
  const roles = [...labels, ["--annotator", isLong ? crowd.annotator : null], ["--id", facts.id]];
  const said = roles.filter(([, column]) => column);
  return said.map(([option, column]) => `${option} ${shellWord(column)}`).join(" ");
}

function crowdPython() {
  const label = crowd.form === "long" ? crowd.label : crowd.labels;
  const parts = [`label=${JSON.stringify(label)}`];
  if (crowd.form === "long") parts.push(`annotator=${JSON.stringify(crowd.annotator)}`);
  if (facts.id) parts.push(`id=${JSON.stringify(facts.id)}`);
  return `labelcut.audit(df, ${parts.join(", ")}, decisions="decisions.csv")`;
}
