// One row in full: what is in question, the decision, why, and what it is compared with.
const COSTS = ["ties to rows of the other side", "the label", "the forest", "the trade-off"];
const sumOf = (parts) => parts.reduce((a, b) => a + b, 0);

function drawDetail(s) {
  const parts = [
    drawDetailHead(s),
    drawVerdictLine(s),
    drawDecideBar(s),
    drawPictures(s),
    make("p", { class: "why-line" }, cell(cases.reason[s])),
    drawSaid(s),
    drawTexts(s),
    drawComparison(s),
    drawCosts(s),
  ];
  return parts.filter((part) => part != null);
}

function drawDetailHead(s) {
  const name = facts.id ? cases.id[s] : "Row " + cases.row[s];
  const row = facts.id ? `row ${count(cases.row[s])} · ` : "";
  const place = `${row}number ${count(s - firstOfGroup() + 1)} of ${count(sizeOfGroup())}`;
  const head = make("h3", {}, cell(name));
  return make("div", { class: "detail-head" }, head, make("span", {}, place), verdictMark(s));
}

function drawVerdictLine(s) {
  const width = $("detail").clientWidth;
  const most = room(isNarrow() ? width / 2 - 60 : (width - 240) / 2.9, 40);
  const line = make("p", { class: "verdict-line" });
  const odds = make("b", {}, percent(oddsOf(s)));
  if (isSuspect(s)) {
    const arrow = make("span", { class: "arrow" }, "→");
    line.append(pill(cases.given[s], most), arrow, pill(cases.suggested[s], most));
    line.append(make("span", { class: "odds" }, odds, " likely wrong"));
    return line;
  }
  const hasEvidence = facts.unlabeled_rows.has_evidence[s - N];
  const next = make("span", { class: "next" }, "else ", pill(cases.other[s], most));
  line.append(pill(cases.suggested[s], most), next);
  const words = hasEvidence ? [odds, " sure"] : ["no evidence, only a guess"];
  line.append(make("span", { class: "odds" }, ...words));
  return line;
}

function drawDecideBar(s) {
  const bar = make("div", { class: "decide", role: "group", "aria-label": "Decision" });
  if (isSuspect(s)) bar.append(drawButton(s, "keep", "Keep", cases.given[s], "K"));
  bar.append(drawButton(s, "flip", isSuspect(s) ? "Flip to" : "Fill in", cases.suggested[s], "F"));
  if (!isSuspect(s)) bar.append(drawOtherLabels(s));
  bar.append(drawButton(s, "unsure", isSuspect(s) ? "Unsure" : "Leave empty", null, "U"));
  if (isSuspect(s) && facts.classes.length > 2) bar.append(drawOtherLabels(s));
  return bar;
}

function drawButton(s, verdict, word, code, key) {
  const isOther = verdict === "flip" && decisions.get(s)?.label !== suggestedName(s);
  const isPressed = verdictOf(s) === verdict && !isOther;
  const attributes = {
    class: verdict,
    title: visible(code === null ? word : `${word} ${quoted(facts.classes[code])}`),
    "aria-pressed": isPressed,
    "aria-keyshortcuts": key,
    onclick: () => act(verdict),
  };
  const text = make("span", {}, word + " ");
  if (code !== null) text.append(make("bdi", {}, quoted(shortClass(code, roomForName(s, word)))));
  return make("button", attributes, text, make("kbd", { "aria-hidden": "true" }, key));
}

// On a phone the name has a line of its own.
const isNarrow = () => $("detail").clientWidth < 480;

function roomForName(s, word) {
  const width = $("detail").clientWidth;
  if (isNarrow()) return room(width / 3 - 36, 30);
  const hasFour = isSuspect(s) && facts.classes.length > 2 && width > 640;
  const nButtons = hasFour ? 4 : 3;
  return Math.max(5, room(width / nButtons - 60, 40) - word.length - 3);
}

function drawOtherLabels(s) {
  const choose = (event) => {
    if (event.target.value !== "") act("flip", facts.classes[Number(event.target.value)]);
  };
  const select = make("select", { "aria-label": "Another label", onchange: choose });
  select.append(make("option", { value: "" }, "another label …"));
  facts.classes.forEach((name, code) => {
    if (code === cases.given[s] || code === cases.suggested[s]) return;
    const isSet = decisions.get(s)?.label === name;
    select.append(make("option", { value: code, selected: isSet ? "" : null }, visible(name)));
  });
  return select;
}

function drawCosts(s) {
  const [keep, flip] = [cases.keep[s], cases.flip[s]];
  const most = Math.max(sumOf(keep), sumOf(flip), 1e-12);
  const name = quoted(shortClass(cases.own[s], 20));
  const bars = [
    ...drawCost("to be " + name, keep, most),
    ...drawCost("not to be " + name, flip, most),
  ];
  const legend = COSTS.map((cost, i) => make("span", {}, make("i", { class: "s" + i }), cost));
  return make(
    "details",
    { class: "costs" },
    make("summary", {}, "How the cut weighs this row"),
    make("p", { class: "caption" }, "Each side has its price; the cheaper side wins."),
    make("div", { class: "cost" }, ...bars),
    make("p", { class: "legend" }, ...legend),
    make("p", { class: "caption" }, sideText(s) + trustText(s)),
  );
}

function drawCost(text, parts, most) {
  const label = COSTS.map((name, i) => `${name} ${parts[i].toFixed(2)}`).join(", ");
  const bars = parts.map((part, i) => make("i", { class: "s" + i, "--w": (100 * part) / most }));
  return [
    make("span", {}, text),
    make("div", { class: "stack", role: "img", "aria-label": label }, ...bars),
    make("span", { class: "num" }, sumOf(parts).toFixed(2)),
  ];
}

function sideText(s) {
  const joinsAt = cases.joins_at[s];
  if (joinsAt == null) return "It is on this side at every trade-off.";
  const used = cases.tradeoff[s].toFixed(3);
  return `It changes sides at the trade-off ${joinsAt.toFixed(3)}; ${used} is in use.`;
}

function trustText(s) {
  const trust = cases.trust[s];
  if (trust == null) return "";
  const times = trust < 10 ? trust.toFixed(1) : count(trust);
  return ` Alone, the label would have to be trusted ${times} times as much to stand.`;
}
