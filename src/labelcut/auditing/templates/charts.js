// The pictures of the overview, drawn as SVG, and the map on a canvas.
const LEAST_WIDTH = 250;
const NAME_WIDTH = 112; // Left of the axis, for the names of classes and groups.
const NAME_LENGTH = 14;
const MOST_GROUPS = 20;
const FEW_LABELS = 20; // Groups with fewer are pale.

// The step of an axis: 1, 2 or 5 times a power of ten.
function niceStep(span, parts) {
  const raw = Math.max(span / parts, 1e-9);
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= raw);
}

// Charts are as wide as their card, so that letters keep their size.
const widthOf = (id) => Math.max($(id).clientWidth, LEAST_WIDTH);

function newChart(width, height, label) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
}

function chartText(text, x, y, anchor, isStrong) {
  const attributes = isStrong ? { class: "strong", x, y } : { x, y };
  if (anchor) attributes["text-anchor"] = anchor;
  return svg("text", attributes, text);
}

function gridLine(x1, x2, y) {
  return svg("line", { class: "grid-line", x1, x2, y1: y, y2: y });
}

function drawBudget() {
  const budget = facts.budget;
  if (!budget || !$("budget")) return;
  const frame = budgetFrame(budget);
  const label = "Wrong labels expected to be found against labels reviewed";
  const chart = newChart(frame.width, frame.height, label);
  chart.append(...budgetAxes(frame), ...budgetCurves(budget, frame), ...budgetMark(budget, frame));
  $("budget").replaceChildren(chart);
}

function budgetFrame(budget) {
  const width = widthOf("budget");
  const height = Math.round(Math.min(310, Math.max(220, width * 0.56)));
  const left = 44;
  const right = width - 14;
  const bottom = height - 34;
  const top = 12;
  const xMax = budget.reviewed[budget.reviewed.length - 1];
  const yMax = Math.max(budget.total, 1) * 1.06;
  const x = (value) => left + (value / xMax) * (right - left);
  const y = (value) => bottom - (value / yMax) * (bottom - top);
  return { width, height, left, right, bottom, xMax, yMax, x, y };
}

function budgetAxes({ height, left, right, bottom, xMax, yMax, x, y }) {
  const drawn = [];
  const stepY = Math.max(1, niceStep(yMax, 4));
  for (let value = 0; value <= yMax; value += stepY) {
    drawn.push(gridLine(left, right, y(value)));
    drawn.push(chartText(count(value), left - 6, y(value) + 4, "end"));
  }
  const stepX = Math.max(1, niceStep(xMax, 5));
  for (let value = 0; value <= xMax; value += stepX) {
    drawn.push(chartText(count(value), x(value), bottom + 16, "middle"));
  }
  const name = "labels reviewed, most suspect first";
  drawn.push(chartText(name, (left + right) / 2, height - 2, "middle"));
  return drawn;
}

function budgetCurves(budget, { xMax, x, y }) {
  const points = budget.reviewed.map((value, i) => {
    return `${x(value).toFixed(1)} ${y(budget.found[i]).toFixed(1)}`;
  });
  const most = Math.min(budget.total, xMax);
  const area = `M${points.join("L")}L${x(xMax)} ${y(0)}L${x(0)} ${y(0)}Z`;
  const ideal = `M${x(0)} ${y(0)}L${x(most)} ${y(most)}L${x(xMax)} ${y(most)}`;
  return [
    svg("path", { class: "area", d: area }),
    svg("path", { class: "ideal", d: ideal }),
    svg("path", { class: "curve", d: "M" + points.join("L") }),
  ];
}

function budgetMark(budget, { right, x, y }) {
  const [reviewed, found] = budget.at_flagged;
  const text = `all suspects: ${count(reviewed)} → ${count(found)}`;
  const isFar = x(reviewed) + 10 + 7 * text.length > right; // No room on the right of the mark.
  const at = x(reviewed) + (isFar ? -10 : 10);
  return [
    svg("circle", { class: "mark", cx: x(reviewed), cy: y(found), r: 5 }),
    chartText(text, at, y(found) + 22, isFar ? "end" : null, true),
  ];
}

function drawConfidence() {
  if (!$("confidence")) return;
  const { codes } = facts.histogram;
  const width = widthOf("confidence");
  const rowHeight = codes.length > 4 ? 50 : 92;
  const height = codes.length * rowHeight + 26;
  const right = width - 10;
  const x = (value) => NAME_WIDTH + value * (right - NAME_WIDTH);
  const label = "Histograms of the confidence in the given labels, one per class";
  const chart = newChart(width, height, label);
  codes.forEach((code, at) => {
    const base = (at + 1) * rowHeight - 6;
    const labeled = count(facts.by_class[code].labeled);
    const name = shortClass(code, NAME_LENGTH);
    chart.append(
      confidenceBars(at, base, rowHeight - 22, x),
      gridLine(NAME_WIDTH, right, base),
      chartText(name, NAME_WIDTH - 10, base - 20, "end", true),
      chartText(labeled, NAME_WIDTH - 10, base - 5, "end"),
    );
  });
  for (const value of [0, 0.25, 0.5, 0.75, 1]) {
    chart.append(chartText(String(value), x(value), height - 6, "middle"));
  }
  $("confidence").replaceChildren(chart);
}

function confidenceBars(at, base, tallest, x) {
  const { edges, all, suspect, codes } = facts.histogram;
  // Square roots keep the small bars of the suspects visible beside the tall bars of the rest.
  const most = Math.sqrt(Math.max(...all[at], 1));
  const group = svg("g", { class: classColour(codes[at]) });
  all[at].forEach((n, i) => {
    const left = x(edges[i]) + 1;
    const width = Math.max(x(edges[i + 1]) - x(edges[i]) - 2, 1);
    const bar = (kind, value, ...children) => {
      const height = (Math.sqrt(value) / most) * tallest;
      const place = { x: left, width, y: base - height, height, rx: 1.5 };
      return svg("rect", { class: kind, ...place }, ...children);
    };
    const title = svg("title", {}, `${n} labels, ${suspect[at][i]} suspect`);
    group.append(bar("faint", n), bar("full", suspect[at][i], title));
  });
  return group;
}

function drawMoves() {
  if (!$("moves")) return;
  const { codes, counts, pairs } = facts.moves;
  if (pairs.length) {
    $("moves").replaceChildren(make("div", { class: "pairs" }, ...pairs.map(drawPair)));
    return;
  }
  const grid = movesGrid(codes.length);
  const label = "Number of suspects by given and suggested label";
  const chart = newChart(grid.whole, grid.top + codes.length * grid.height + 8, label);
  const most = Math.max(...counts.flat());
  codes.forEach((given, row) => {
    const name = shortClass(given, NAME_LENGTH);
    const middle = grid.top + row * grid.height + grid.height / 2 + 4;
    chart.append(chartText(name, NAME_WIDTH - 10, middle, "end", true));
    chart.append(svg("text", grid.headPlace(row), "→ " + name));
    codes.forEach((suggested, column) => {
      chart.append(movesCell(grid, row, column, counts[row][column], most));
    });
  });
  $("moves").replaceChildren(chart);
}

// With too many classes for a matrix: the largest pairs.
function drawPair([given, suggested, n]) {
  const width = (100 * n) / facts.moves.pairs[0][2];
  const names = make("span", { class: "move" }, pill(given, 20), "→", pill(suggested, 20));
  const bar = make("div", { class: "track" }, make("div", { class: "fill", "--w": width }));
  const attributes = { class: "pair", onclick: () => openMove(given, suggested) };
  return make("button", attributes, names, bar, make("span", { class: "num" }, count(n)));
}

function movesGrid(n) {
  const whole = widthOf("moves");
  const isSlanted = n > 3 || whole < 400; // So many names would touch each other.
  const top = isSlanted ? 62 : 30;
  const height = Math.min(64, 400 / n);
  const width = Math.min((whole - NAME_WIDTH - (isSlanted ? 60 : 10)) / n, 150);
  function headPlace(column) {
    const middle = NAME_WIDTH + column * width + width / 2;
    if (isSlanted) return { transform: `translate(${middle - 4} ${top - 8}) rotate(-32)` };
    return { x: middle, y: top - 10, "text-anchor": "middle" };
  }
  return { whole, top, height, width, headPlace };
}

function movesCell({ top, height, width }, row, column, n, most) {
  const x = NAME_WIDTH + column * width;
  const y = top + row * height;
  const shade = n ? 12 + (40 * n) / most : 0;
  const place = { x, y, width: width - 3, height: height - 3, rx: 4 };
  const group = svg("g", n ? { class: "clickable" } : {});
  group.append(svg("rect", { class: "cell", "--p": shade, ...place }));
  if (!n) return group;
  group.append(chartText(count(n), x + width / 2, y + height / 2 + 4, "middle", true));
  const { codes } = facts.moves;
  group.addEventListener("click", () => openMove(codes[row], codes[column]));
  return group;
}

function drawGroups() {
  if (!$("groups")) return;
  const whole = widthOf("groups");
  const shown = facts.groups.slice(0, MOST_GROUPS);
  const rowHeight = 26;
  const most = Math.max(...shown.map((group) => group.share), 0.001);
  const label = "Expected share of wrong labels in each group";
  const chart = newChart(whole, shown.length * rowHeight + 6, label);
  shown.forEach((group, i) => {
    const y = i * rowHeight + 4;
    const width = (group.share / most) * (whole - NAME_WIDTH - 110);
    const name = shortened(visible(group.name) || "(none)", NAME_LENGTH);
    const kind = group.labeled < FEW_LABELS ? "faint" : "full";
    const place = { x: NAME_WIDTH, y, width: Math.max(width, 1.5), height: 17, rx: 3 };
    const text = `${percent(group.share)} of ${count(group.labeled)}`;
    chart.append(
      chartText(name, NAME_WIDTH - 10, y + 13, "end", true),
      svg("rect", { class: kind + " k0", ...place }),
      chartText(text, NAME_WIDTH + width + 8, y + 13),
    );
  });
  $("groups").replaceChildren(chart);
  if (facts.groups.length <= MOST_GROUPS) return;
  const left = `The worst ${MOST_GROUPS} of ${count(facts.groups.length)} groups.`;
  $("groups").append(make("p", { class: "caption" }, left));
}

const FULL_TURN = 6.3;
const CLICK_REACH = 14; // Pixels from a suspect that still count as on it.
const MARGIN = 10;

function drawMap() {
  const canvas = $("map");
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const width = canvas.clientWidth || 600;
  const height = Math.round(width / 1.5);
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const inner = { width: width - 2 * MARGIN, height: height - 2 * MARGIN };
  const spots = facts.map.grid ? drawDensity(pen, inner) : drawDots(pen, inner);
  canvas.onclick = (event) => {
    const box = canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) * width) / box.width;
    const y = ((event.clientY - box.top) * height) / box.height;
    const suspect = nearestSuspect(spots, x, y);
    if (suspect >= 0) openCase(suspect);
  };
}

function mapColours() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const muted = colour("--muted");
  const ofClass = (code) => (colourOf(code) < 0 ? muted : colour("--c" + colourOf(code)));
  const classes = facts.classes.map((_, code) => ofClass(code));
  return { muted, ink: colour("--ink"), of: (code) => classes[code] ?? muted };
}

// Returns where the suspects are: x, y, number of the suspect.
function drawDots(pen, { width, height }) {
  const { code, suspect } = facts.map;
  const place = (i) => [
    MARGIN + (facts.map.x[i] / 1000) * width,
    MARGIN + (facts.map.y[i] / 1000) * height,
  ];
  const colours = mapColours();
  const circle = (i, radius) => {
    pen.beginPath();
    pen.arc(...place(i), radius, 0, FULL_TURN);
  };
  const spots = [];
  code.forEach((label, i) => {
    if (suspect[i] >= 0) return;
    pen.globalAlpha = label < 0 ? 0.8 : 0.38;
    circle(i, label < 0 ? 2.4 : 2);
    pen.fillStyle = pen.strokeStyle = label < 0 ? colours.muted : colours.of(label);
    if (label < 0) pen.stroke();
    else pen.fill();
  });
  pen.globalAlpha = 1;
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 1.3;
  code.forEach((label, i) => {
    if (suspect[i] < 0) return;
    pen.fillStyle = colours.of(label);
    circle(i, 3.6);
    pen.fill();
    pen.stroke();
    spots.push([...place(i), suspect[i]]);
  });
  return spots;
}

// Squares in the colour of their commonest label, the darker the more rows; dots by suspects.
function drawDensity(pen, { width, height }) {
  const { grid, cells } = facts.map;
  const [across, down] = [width / grid[0], height / grid[1]];
  const colours = mapColours();
  const mostRows = Math.max(...cells.map(([, , rows]) => rows));
  const mostSuspects = Math.max(...cells.map(([, , , , suspects]) => suspects), 1);
  const spots = [];
  for (const [column, line, rows, code] of cells) {
    pen.globalAlpha = 0.12 + (0.6 * Math.log1p(rows)) / Math.log1p(mostRows);
    pen.fillStyle = colours.of(code);
    pen.fillRect(MARGIN + column * across, MARGIN + line * down, across - 1, down - 1);
  }
  pen.globalAlpha = 1;
  for (const [column, line, , , suspects, first] of cells) {
    if (!suspects) continue;
    const [x, y] = [MARGIN + (column + 0.5) * across, MARGIN + (line + 0.5) * down];
    pen.beginPath();
    pen.arc(x, y, 1.2 + (0.5 * down - 1.2) * Math.sqrt(suspects / mostSuspects), 0, FULL_TURN);
    pen.fillStyle = colours.ink;
    pen.fill();
    spots.push([x, y, first]);
  }
  return spots;
}

function nearestSuspect(spots, x, y) {
  let best = -1;
  let nearest = CLICK_REACH ** 2;
  for (const [spotX, spotY, suspect] of spots) {
    const distance = (spotX - x) ** 2 + (spotY - y) ** 2;
    if (distance < nearest) {
      nearest = distance;
      best = suspect;
    }
  }
  return best;
}

function drawLegend() {
  const entries = facts.histogram.codes.map((code) => pill(code));
  const others = facts.classes.length - entries.length;
  if (others) entries.push(make("span", { class: "pill kx" }, `${count(others)} others`));
  if (facts.counts.unlabeled && !facts.map.grid) {
    entries.push(make("span", { class: "pill kx hollow" }, "no label"));
  }
  $("map-legend").replaceChildren(...entries);
}

function drawOverview() {
  drawBudget();
  drawConfidence();
  drawMoves();
  drawGroups();
  drawMap();
  drawLegend();
}
