// The pictures of the overview, drawn as SVG, and the map on a canvas.
const CHART_WIDTH = facts.groups ? 400 : 560; // Three charts in a line, or two.
const NAME_WIDTH = 112; // Left of the axis, for the names of classes and groups.
const NAME_LENGTH = 14;
const MOST_CLASSES = 8;
const MOST_GROUPS = 20;
const FEW_LABELS = 20; // Groups with fewer are pale.

// The step of an axis: 1, 2 or 5 times a power of ten.
function niceStep(span, parts) {
  const raw = Math.max(span / parts, 1e-9);
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= raw);
}

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
  if (!budget) return;
  const frame = budgetFrame(budget);
  const label = "Wrong labels expected to be found against labels reviewed";
  const chart = newChart(frame.width, frame.height, label);
  chart.append(...budgetAxes(frame), ...budgetCurves(budget, frame), ...budgetMark(budget, frame));
  $("budget").append(chart);
}

function budgetFrame(budget) {
  const width = 560;
  const height = 310;
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

function budgetMark(budget, { x, y }) {
  if (!budget.at_flagged) return [];
  const [reviewed, found] = budget.at_flagged;
  const text = `all suspects: ${count(reviewed)} → ${count(found)}`;
  return [
    svg("circle", { class: "mark", cx: x(reviewed), cy: y(found), r: 5 }),
    chartText(text, x(reviewed) + 10, y(found) + 16, null, true),
  ];
}

function drawConfidence() {
  const shown = facts.classes.slice(0, MOST_CLASSES);
  const rowHeight = shown.length > 4 ? 56 : 92;
  const height = shown.length * rowHeight + 26;
  const right = CHART_WIDTH - 10;
  const x = (value) => NAME_WIDTH + value * (right - NAME_WIDTH);
  const label = "Histograms of the confidence in the given labels, one per class";
  const chart = newChart(CHART_WIDTH, height, label);
  shown.forEach((name, code) => {
    const base = (code + 1) * rowHeight - 6;
    const labeled = count(facts.by_class[code].labeled);
    chart.append(
      confidenceBars(code, base, rowHeight - 22, x),
      gridLine(NAME_WIDTH, right, base),
      chartText(shortened(name, NAME_LENGTH), NAME_WIDTH - 10, base - 20, "end", true),
      chartText(labeled, NAME_WIDTH - 10, base - 5, "end"),
    );
  });
  for (const value of [0, 0.25, 0.5, 0.75, 1]) {
    chart.append(chartText(String(value), x(value), height - 6, "middle"));
  }
  $("confidence").append(chart);
  tellCut("confidence", "The first", MOST_CLASSES, facts.classes.length, "classes");
}

function confidenceBars(code, base, tallest, x) {
  const { edges, all, suspect } = facts.histogram;
  // Square roots keep the small bars of the suspects visible beside the tall bars of the rest.
  const most = Math.sqrt(Math.max(...all[code], 1));
  const group = svg("g", { class: classColour(code) });
  all[code].forEach((n, i) => {
    const left = x(edges[i]) + 1;
    const width = Math.max(x(edges[i + 1]) - x(edges[i]) - 2, 1);
    const bar = (kind, value, ...children) => {
      const height = (Math.sqrt(value) / most) * tallest;
      const place = { x: left, width, y: base - height, height, rx: 1.5 };
      return svg("rect", { class: kind, ...place }, ...children);
    };
    const title = svg("title", {}, `${n} labels, ${suspect[code][i]} suspect`);
    group.append(bar("faint", n), bar("full", suspect[code][i], title));
  });
  return group;
}

// Says below a chart that it does not show all there is.
function tellCut(id, which, most, total, things) {
  if (total <= most) return;
  $(id).append(make("p", { class: "caption" }, `${which} ${most} of ${total} ${things}.`));
}

function drawMoves() {
  const counts = new Map(facts.moves.map(([given, suggested, n]) => [given + ">" + suggested, n]));
  const involved = new Set(facts.moves.flatMap(([given, suggested]) => [given, suggested]));
  const codes = [...involved].sort((a, b) => a - b).slice(0, 10);
  if (!codes.length) {
    $("moves").append(make("p", { class: "empty" }, "No suspects."));
    return;
  }
  const grid = movesGrid(codes.length);
  const label = "Number of suspects by given and suggested label";
  const chart = newChart(CHART_WIDTH, grid.top + codes.length * grid.height + 8, label);
  const most = Math.max(...counts.values());
  codes.forEach((given, row) => {
    const name = shortened(facts.classes[given], NAME_LENGTH);
    const middle = grid.top + row * grid.height + grid.height / 2 + 4;
    chart.append(chartText(name, NAME_WIDTH - 10, middle, "end", true));
    chart.append(svg("text", grid.headPlace(row), "→ " + name));
    codes.forEach((suggested, column) => {
      const n = counts.get(given + ">" + suggested) || 0;
      chart.append(...movesCell(grid, row, column, n, most));
    });
  });
  $("moves").append(chart);
}

function movesGrid(n) {
  const isSlanted = n > 3; // So many names would touch each other.
  const top = isSlanted ? 62 : 30;
  const height = Math.min(64, 400 / n);
  const width = Math.min((CHART_WIDTH - NAME_WIDTH - (isSlanted ? 60 : 10)) / n, 150);
  function headPlace(column) {
    const middle = NAME_WIDTH + column * width + width / 2;
    if (isSlanted) return { transform: `translate(${middle - 4} ${top - 8}) rotate(-32)` };
    return { x: middle, y: top - 10, "text-anchor": "middle" };
  }
  return { top, height, width, headPlace };
}

function movesCell({ top, height, width }, row, column, n, most) {
  const x = NAME_WIDTH + column * width;
  const y = top + row * height;
  const shade = n ? 12 + (40 * n) / most : 0;
  const place = { x, y, width: width - 3, height: height - 3, rx: 4 };
  const drawn = [svg("rect", { class: "cell", "--p": shade, ...place })];
  if (n) drawn.push(chartText(count(n), x + width / 2, y + height / 2 + 4, "middle", true));
  return drawn;
}

function drawGroups() {
  if (!facts.groups) return;
  const shown = facts.groups.slice(0, MOST_GROUPS);
  const rowHeight = 26;
  const most = Math.max(...shown.map((group) => group.share), 0.001);
  const label = "Expected share of wrong labels in each group";
  const chart = newChart(CHART_WIDTH, shown.length * rowHeight + 6, label);
  shown.forEach((group, i) => {
    const y = i * rowHeight + 4;
    const width = (group.share / most) * (CHART_WIDTH - NAME_WIDTH - 110);
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
  $("groups").append(chart);
  tellCut("groups", "The worst", MOST_GROUPS, facts.groups.length, "groups");
}

const FULL_TURN = 6.3;
const CLICK_REACH = 14; // Pixels from a suspect that still count as on it.

function drawMap() {
  const canvas = $("map");
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const width = canvas.clientWidth || 600;
  const height = Math.round(width / 1.5);
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const place = (i) => [
    10 + (facts.map.x[i] / 1000) * (width - 20),
    10 + (facts.map.y[i] / 1000) * (height - 20),
  ];
  drawDots(pen, place);
  canvas.onclick = (event) => {
    const box = canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) * width) / box.width;
    const y = ((event.clientY - box.top) * height) / box.height;
    const suspect = nearestSuspect(place, x, y);
    if (suspect >= 0) openSuspect(suspect);
  };
}

function drawDots(pen, place) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const classColours = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => colour("--c" + i));
  const muted = colour("--muted");
  const { code, suspect } = facts.map;
  const circle = (i, radius) => {
    pen.beginPath();
    pen.arc(...place(i), radius, 0, FULL_TURN);
  };
  pen.globalAlpha = 0.38;
  for (let i = 0; i < code.length; i++) {
    if (suspect[i] >= 0) continue;
    pen.fillStyle = code[i] < 0 ? muted : classColours[code[i] % 8];
    circle(i, 2);
    pen.fill();
  }
  pen.globalAlpha = 1;
  pen.strokeStyle = colour("--ink");
  pen.lineWidth = 1.3;
  for (let i = 0; i < code.length; i++) {
    if (suspect[i] < 0) continue;
    pen.fillStyle = classColours[code[i] % 8];
    circle(i, 3.6);
    pen.fill();
    pen.stroke();
  }
}

function nearestSuspect(place, x, y) {
  let best = -1;
  let nearest = CLICK_REACH ** 2;
  facts.map.suspect.forEach((suspect, i) => {
    if (suspect < 0) return;
    const [dotX, dotY] = place(i);
    const distance = (dotX - x) ** 2 + (dotY - y) ** 2;
    if (distance < nearest) {
      nearest = distance;
      best = suspect;
    }
  });
  return best;
}

function drawOverview() {
  drawBudget();
  drawConfidence();
  drawMoves();
  drawGroups();
  drawMap();
  const legend = facts.classes.slice(0, MOST_CLASSES).map((_, code) => pill(code));
  $("map-legend").replaceChildren(...legend);
}
