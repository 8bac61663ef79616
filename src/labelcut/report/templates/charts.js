// The pictures of the overview, drawn as SVG, and the map on a canvas.
const niceStep = (span, parts) => {
  const raw = Math.max(span / parts, 1e-9), power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((m) => m * power >= raw);
};

const SMALL = facts.groups ? 400 : 560; // Three charts in a line, or two.

function drawBudget() {
  const budget = facts.budget;
  if (!budget) { $("card-budget").querySelector(".chart").append(make("p", { class: "empty" }, "Too few labels to plant errors and measure.")); return; }
  const W = 560, H = 310, left = 44, bottom = 34, top = 12, right = 14;
  const xMax = budget.reviewed[budget.reviewed.length - 1], yMax = Math.max(budget.total, 1) * 1.06;
  const x = (v) => left + (v / xMax) * (W - left - right), y = (v) => H - bottom - (v / yMax) * (H - bottom - top);
  const chart = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "Wrong labels expected to be found against labels reviewed" });
  const stepY = Math.max(1, niceStep(yMax, 4)), stepX = Math.max(1, niceStep(xMax, 5));
  for (let v = 0; v <= yMax; v += stepY) chart.append(svg("line", { class: "grid-line", x1: left, x2: W - right, y1: y(v), y2: y(v) }), svg("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, count(v)));
  for (let v = 0; v <= xMax; v += stepX) chart.append(svg("text", { x: x(v), y: H - bottom + 16, "text-anchor": "middle" }, count(v)));
  chart.append(svg("text", { x: (left + W - right) / 2, y: H - 2, "text-anchor": "middle" }, "labels reviewed, most suspect first"));
  const points = budget.reviewed.map((v, i) => `${x(v).toFixed(1)} ${y(budget.found[i]).toFixed(1)}`);
  chart.append(svg("path", { class: "area", d: `M${points.join("L")}L${x(xMax)} ${y(0)}L${x(0)} ${y(0)}Z` }));
  chart.append(svg("path", { class: "ideal", d: `M${x(0)} ${y(0)}L${x(Math.min(budget.total, xMax))} ${y(Math.min(budget.total, xMax))}L${x(xMax)} ${y(Math.min(budget.total, xMax))}` }));
  chart.append(svg("path", { class: "curve", d: "M" + points.join("L") }));
  const at = budget.at_flagged;
  if (at) chart.append(svg("circle", { class: "mark", cx: x(at[0]), cy: y(at[1]), r: 5 }), svg("text", { class: "strong", x: x(at[0]) + 10, y: y(at[1]) + 16 }, `all suspects: ${count(at[0])} → ${count(at[1])}`));
  $("budget").append(chart);
  const [n, found] = budget.at_first;
  $("budget-text").replaceChildren(`Reviewing the first ${count(n)} should find about `, make("b", {}, `${count(found)} wrong labels`), `. Calibrated on planted errors: ${count(budget.n_planted)} labels were flipped at random in a copy of ${count(budget.n_sample)} rows and ranked the same way, with a light fit. Real mistakes are seldom random, so expect somewhat fewer. Dashed: a perfect ranking.`);
}

function drawConfidence() {
  const { edges, all, suspect } = facts.histogram, shown = facts.classes.slice(0, 8);
  const W = SMALL, rowH = shown.length > 4 ? 56 : 92, left = 112, right = 10, H = shown.length * rowH + 26;
  const chart = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "Histograms of the confidence in the given labels, one per class" });
  const x = (v) => left + v * (W - left - right);
  shown.forEach((name, c) => {
    // Square roots keep the small bars of the suspects visible beside the tall bars of the rest.
    const most = Math.sqrt(Math.max(...all[c], 1)), base = (c + 1) * rowH - 6, y = (v) => (Math.sqrt(v) / most) * (rowH - 22);
    const group = svg("g", { class: classColour(c) });
    all[c].forEach((v, i) => {
      const x0 = x(edges[i]) + 1, w = Math.max(x(edges[i + 1]) - x(edges[i]) - 2, 1);
      group.append(svg("rect", { class: "faint", x: x0, width: w, y: base - y(v), height: y(v), rx: 1.5 }));
      group.append(svg("rect", { class: "full", x: x0, width: w, y: base - y(suspect[c][i]), height: y(suspect[c][i]), rx: 1.5 }, svg("title", {}, `${v} labels, ${suspect[c][i]} suspect`)));
    });
    const short = shortened(name, 14);
    chart.append(group, svg("line", { class: "grid-line", x1: left, x2: W - right, y1: base, y2: base }), svg("text", { class: "strong", x: left - 10, y: base - 20, "text-anchor": "end" }, short), svg("text", { x: left - 10, y: base - 5, "text-anchor": "end" }, count(facts.by_class[c].labeled)));
  });
  for (const v of [0, 0.25, 0.5, 0.75, 1]) chart.append(svg("text", { x: x(v), y: H - 6, "text-anchor": "middle" }, String(v)));
  $("confidence").append(chart);
  if (facts.classes.length > 8) $("confidence").append(make("p", { class: "caption" }, `The first 8 of ${facts.classes.length} classes.`));
}

function drawMoves() {
  const involved = new Set();
  const counts = new Map();
  facts.moves.forEach(([given, suggested, n]) => { involved.add(given).add(suggested); counts.set(given + ">" + suggested, n); });
  const codes = [...involved].sort((a, b) => a - b).slice(0, 10);
  if (!codes.length) { $("moves").append(make("p", { class: "empty" }, "No suspects.")); return; }
  const most = Math.max(...counts.values()), side = Math.min(64, 400 / codes.length), left = 112, slanted = codes.length > 3, top = slanted ? 62 : 30;
  const short = (code) => shortened(facts.classes[code], 14);
  const W = SMALL, H = top + codes.length * side + 8;
  const chart = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "Number of suspects by given and suggested label" });
  const wide = Math.min((W - left - (slanted ? 60 : 10)) / codes.length, 150);
  codes.forEach((given, r) => {
    chart.append(svg("text", { class: "strong", x: left - 10, y: top + r * side + side / 2 + 4, "text-anchor": "end" }, short(given)), svg("text", slanted ? { transform: `translate(${left + r * wide + wide / 2 - 4} ${top - 8}) rotate(-32)` } : { x: left + r * wide + wide / 2, y: top - 10, "text-anchor": "middle" }, "→ " + short(given)));
    codes.forEach((suggested, c) => {
      const n = counts.get(given + ">" + suggested) || 0;
      chart.append(svg("rect", { class: "cell", "--p": n ? 12 + (40 * n) / most : 0, x: left + c * wide, y: top + r * side, width: wide - 3, height: side - 3, rx: 4 }));
      if (n) chart.append(svg("text", { class: "strong", x: left + c * wide + wide / 2, y: top + r * side + side / 2 + 4, "text-anchor": "middle" }, count(n)));
    });
  });
  $("moves").append(chart);
}

function drawGroups() {
  if (!facts.groups) return;
  const shown = facts.groups.slice(0, 20), W = SMALL, rowH = 26, left = 112, right = 110, H = shown.length * rowH + 6;
  const most = Math.max(...shown.map((g) => g.share), 0.001);
  const chart = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "Expected share of wrong labels in each group" });
  shown.forEach((g, i) => {
    const y = i * rowH + 4, w = (g.share / most) * (W - left - right), name = visible(g.name) || "(none)";
    chart.append(svg("text", { class: "strong", x: left - 10, y: y + 13, "text-anchor": "end" }, shortened(name, 14)), svg("rect", { class: (g.labeled < 20 ? "faint" : "full") + " k0", x: left, y, width: Math.max(w, 1.5), height: 17, rx: 3 }), svg("text", { x: left + w + 8, y: y + 13 }, `${percent(g.share)} of ${count(g.labeled)}`));
  });
  $("groups").append(chart);
  if (facts.groups.length > 20) $("groups").append(make("p", { class: "caption" }, `The worst 20 of ${facts.groups.length} groups.`));
}

let chosenOnMap = -1;
function drawMap() {
  const map = facts.map, canvas = $("map"), pen = canvas.getContext("2d");
  const ratio = Math.min(window.devicePixelRatio || 1, 2), W = canvas.clientWidth || 600, H = Math.round(W / 1.5);
  canvas.width = W * ratio; canvas.height = H * ratio;
  pen.scale(ratio, ratio);
  const style = getComputedStyle(document.documentElement), colours = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => style.getPropertyValue("--c" + i).trim());
  const ink = style.getPropertyValue("--ink").trim(), muted = style.getPropertyValue("--muted").trim();
  const px = (i) => 10 + (map.x[i] / 1000) * (W - 20), py = (i) => 10 + (map.y[i] / 1000) * (H - 20);
  pen.globalAlpha = 0.38;
  for (let i = 0; i < map.x.length; i++) if (map.suspect[i] < 0) { pen.fillStyle = map.code[i] < 0 ? muted : colours[map.code[i] % 8]; pen.beginPath(); pen.arc(px(i), py(i), 2, 0, 6.3); pen.fill(); }
  pen.globalAlpha = 1;
  for (let i = 0; i < map.x.length; i++) if (map.suspect[i] >= 0) {
    pen.fillStyle = colours[map.code[i] % 8]; pen.strokeStyle = ink; pen.lineWidth = 1.3;
    pen.beginPath(); pen.arc(px(i), py(i), 3.6, 0, 6.3); pen.fill(); pen.stroke();
  }
  const i = map.suspect.indexOf(chosenOnMap);
  if (chosenOnMap >= 0 && i >= 0) { pen.strokeStyle = ink; pen.lineWidth = 2; pen.beginPath(); pen.arc(px(i), py(i), 9, 0, 6.3); pen.stroke(); }
  canvas.onclick = (event) => {
    const box = canvas.getBoundingClientRect(), x = ((event.clientX - box.left) * W) / box.width, y = ((event.clientY - box.top) * H) / box.height;
    let best = -1, nearest = 196;
    for (let k = 0; k < map.x.length; k++) if (map.suspect[k] >= 0) { const d = (px(k) - x) ** 2 + (py(k) - y) ** 2; if (d < nearest) { nearest = d; best = map.suspect[k]; } }
    if (best >= 0) openSuspect(best);
  };
}

function drawOverview() {
  drawBudget(); drawConfidence(); drawMoves(); drawGroups(); drawMap();
  const legend = facts.classes.slice(0, 8).map((_, c) => pill(c));
  $("map-text").replaceChildren(make("span", { class: "legend" }, ...legend), `The two main directions of the weighted columns${facts.map.is_sample ? `, ${count(facts.map.x.length)} of the rows` : ""}. Ringed: suspects, in the colour of the given label; click one to review it.`);
}
