"""Result lines -> figures, as SVG and PNG. matplotlib is loaded when the first one is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from labelcut.experiments.data import REAL
from labelcut.experiments.lines import NOISES, Lines, complete_cells, paired, stack_means
from labelcut.experiments.loading import title_of
from labelcut.experiments.methods import METHODS
from labelcut.experiments.result_lines import Record

Values = npt.NDArray[np.float64]

RIVALS = ("dividemix", "cl", "coteaching")
"""The paper's rivals, in its order; each has a histogram per noise level and preset."""
CONFIDENCE_SETS = ("vote", "obesity", "phishing")
RANKED = ("accuracy", "noise_f1")
IMPROVEMENTS = tuple(product(NOISES, RIVALS, ("paper", "default")))
FIGURE_NAMES = (
    *(f"improvement-{ours}-{rival}-{noise}" for noise, rival, ours in IMPROVEMENTS),
    *(f"confidence-{data}" for data in CONFIDENCE_SETS),
    *(f"ranks-{score}" for score in RANKED),
    "reliability",
    "noise",
)
CLEAN, WRONG, MEAN = "#4477aa", "#ee99aa", "#cc3311"
SIGNIFICANCE = 0.05


def _new(width: float, height: float, n_columns: int = 1, n_rows: int = 1) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    # Without these, the same lines would give other bytes on every call.
    matplotlib.rcParams["svg.hashsalt"] = "labelcut"
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def save(figure: Any, folder: Path, name: str, formats: Sequence[str] = ("svg", "png")) -> list[Path]:
    """Write the figure once per format."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for kind in formats:
        path = folder / f"{name}.{kind}"
        figure.savefig(path, dpi=120, metadata={"Date": None} if kind == "svg" else {"Software": None})
        paths.append(path)
    return paths


def improvement_histogram(records: Sequence[Record], noise: str, rival: str, ours: str) -> Any | None:
    """Histogram of the accuracy improvement over one rival on the synthetic sets, or None without any.

    The dashed line is zero, the red one the mean.
    """
    lines = Lines([record for record in records if record["data"] not in REAL])
    cells = sorted({(r["data"], noise) for r in lines.records})
    pairs = paired(lines, "accuracy", ours, rival, cells)
    if not len(pairs):
        return None
    better = 100 * (pairs[:, 0] / pairs[:, 1] - 1)
    figure, axes = _new(4.2, 3.0)
    plot = axes[0, 0]
    plot.hist(better, bins=40, color=CLEAN)
    plot.axvline(0, color="black", linestyle="--", linewidth=1)
    plot.axvline(better.mean(), color=MEAN, linewidth=1.5)
    plot.set_xlabel(f"accuracy improvement over {METHODS[rival].title}, %")
    plot.set_ylabel("synthetic sets")
    title = f"{METHODS[ours].title}, {noise} % noise: mean {better.mean():+.1f} %, {len(better)} sets"
    plot.set_title(title, fontsize=9)
    return figure


def confidence_histograms(lines: Lines, data: str, noise: str = "30", method: str = "paper") -> Any | None:
    """Confidences of clean and wrong labels, one panel per class, all seeds together; None without runs."""
    runs = [r for r in lines.runs(method, data, noise).values() if "confidence" in r.get("histograms", {})]
    if not runs:
        return None
    counts = np.sum([run["histograms"]["confidence"] for run in runs], axis=0)
    edges = np.linspace(0, 1, counts.shape[1] + 1)
    figure, axes = _new(7.5, 3.0, n_columns=2)
    for plot, first, title in ((axes[0, 0], 2, "positive"), (axes[0, 1], 0, "negative")):
        for row, colour, hatch, name in ((first, CLEAN, None, "clean"), (first + 1, WRONG, "//", "wrong")):
            share = counts[row] / max(counts[row].sum(), 1)
            plot.bar(
                edges[:-1],
                share,
                width=np.diff(edges),
                align="edge",
                color=colour,
                alpha=0.7,
                hatch=hatch,
                edgecolor="white",
                label=f"{name} ({counts[row].sum()})",
            )
        plot.set_xlabel("confidence")
        plot.set_ylabel("share of labels")
        plot.set_title(f"labeled {title}")
        plot.legend()
    figure.suptitle(f"{title_of(data)}, {noise} % noise, {METHODS[method].title}, {len(runs)} seeds")
    return figure


def mean_ranks(lines: Lines, score: str, methods: Sequence[str], noises: Sequence[str]) -> tuple[Values, int]:
    """Average rank of each method (1 is best, ties share) and the number of cells behind it."""
    from scipy import stats

    cells = complete_cells(lines, score, methods, noises)
    if not cells:
        return np.zeros(len(methods)), 0
    means = stack_means(lines, score, methods, cells)
    return np.asarray(stats.rankdata(-means, axis=1).mean(axis=0), dtype=np.float64), len(cells)


def critical_difference(n_methods: int, n_cells: int) -> float:
    """Give the smallest difference of mean ranks that Nemenyi's test calls real at 5 %."""
    from scipy import stats

    quantile = stats.studentized_range.ppf(1 - SIGNIFICANCE, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_cells)))


def cliques(ranks: Values, difference: float) -> list[tuple[float, float]]:
    """Give the longest spans of mean ranks whose ends do not differ, none inside another."""
    ordered = np.sort(ranks)
    spans: list[tuple[float, float]] = []
    for start in ordered:
        end = ordered[ordered <= start + difference].max()
        if end > start and (not spans or end > spans[-1][1]):
            spans.append((float(start), float(end)))
    return spans


def difference_diagram(lines: Lines, score: str, methods: Sequence[str], noises: Sequence[str]) -> Any | None:
    """Mean ranks on a line; methods under a common bar are not told apart by Nemenyi's test."""
    ranks, n_cells = mean_ranks(lines, score, methods, noises)
    if n_cells < 2 or len(methods) < 3:
        return None
    difference = critical_difference(len(methods), n_cells)
    order = np.argsort(ranks)
    figure, axes = _new(7.5, 1.4 + 0.16 * len(methods))
    plot = axes[0, 0]
    plot.set_xlim(0.5, len(methods) + 0.5)
    half = (len(methods) + 1) // 2
    for position, index in enumerate(order):
        on_left = position < half
        level = -1.0 - (position if on_left else len(methods) - 1 - position)
        end = 0.5 if on_left else len(methods) + 0.5
        plot.plot([ranks[index], ranks[index], end], [0, level, level], color="black", linewidth=0.8)
        plot.text(
            end,
            level + 0.08,
            f"{METHODS[methods[index]].title} {ranks[index]:.1f}",
            ha="left" if on_left else "right",
            va="bottom",
            fontsize=8,
        )
    for number, (start, end) in enumerate(cliques(ranks, difference)):
        height = -0.25 - 0.22 * number
        plot.plot([start - 0.04, end + 0.04], [height, height], color=MEAN, linewidth=2.5)
    plot.set_ylim(-half - 1.2, 0.1)
    plot.xaxis.tick_top()
    plot.set_yticks([])
    for side in ("left", "right", "bottom"):
        plot.spines[side].set_visible(False)
    plot.set_title(
        f"mean rank by {score.replace('_', ' ')}, {n_cells} cells; critical difference {difference:.2f}"
    )
    return figure


def reliability_curve(lines: Lines, methods: Sequence[str], noises: Sequence[str]) -> Any | None:
    """Share of positives against the mean probability, all real sets and seeds together."""
    figure, axes = _new(4.6, 4.2)
    plot = axes[0, 0]
    drawn = 0
    for method in methods:
        runs = [
            run["histograms"]["reliability"]
            for data in lines.data()
            for noise in noises
            for run in lines.runs(method, data, noise).values()
            if "reliability" in run.get("histograms", {})
        ]
        if not runs:
            continue
        rows, summed, positives = np.sum(runs, axis=0)
        filled = rows > 0
        plot.plot(summed[filled] / rows[filled], positives[filled] / rows[filled], marker="o", markersize=3,
                  linewidth=1, label=METHODS[method].title)  # fmt: skip
        drawn += 1
    if not drawn:
        return None
    plot.plot([0, 1], [0, 1], color="black", linestyle="--", linewidth=0.8)
    plot.set_xlabel("mean probability of the positive class")
    plot.set_ylabel("share of true positives")
    plot.set_title("reliability on clean test labels")
    plot.legend(fontsize=7)
    return figure


def noise_curve(records: Sequence[Record], score: str = "accuracy") -> Any | None:
    """Mean accuracy over the small sets against the noise rate."""
    lines = Lines(records)
    levels = lines.noises()
    figure, axes = _new(5.6, 4.0)
    plot = axes[0, 0]
    drawn = 0
    for method in lines.methods():
        means = [[lines.mean(score, method, data, noise) for data in lines.data()] for noise in levels]
        points = [(float(n), np.mean(m)) for n, m in zip(levels, means, strict=True) if None not in m]  # type: ignore[arg-type]
        if len(points) >= 2:
            style = "-" if METHODS[method].is_ours else "--"
            plot.plot(
                *zip(*points, strict=True), style, marker="o", markersize=3, label=METHODS[method].title
            )
            drawn += 1
    if not drawn:
        return None
    plot.set_xlabel("wrong labels in each class, %")
    plot.set_ylabel(f"{score.replace('_', ' ')}, %, mean of {len(lines.data())} sets")
    plot.legend(fontsize=7)
    return figure


def all_figures(by_study: Mapping[str, Sequence[Record]]) -> dict[str, Any]:
    """Draw every figure there are lines for; name -> figure."""
    real = Lines(by_study.get("real", []))
    methods = real.methods()
    found: dict[str, Any] = {}
    for noise, rival, ours in IMPROVEMENTS:
        records = by_study.get("synthetic", [])
        found[f"improvement-{ours}-{rival}-{noise}"] = improvement_histogram(records, noise, rival, ours)
    for data in CONFIDENCE_SETS:
        found[f"confidence-{data}"] = confidence_histograms(Lines(by_study.get("confidence", [])), data)
    for score in RANKED:
        finished = [m for m in methods if complete_cells(real, score, [m], NOISES)]
        found[f"ranks-{score}"] = difference_diagram(real, score, finished, NOISES)
    found["reliability"] = reliability_curve(real, methods, NOISES)
    found["noise"] = noise_curve(by_study.get("noise", []))
    return {name: found[name] for name in FIGURE_NAMES if found[name] is not None}
