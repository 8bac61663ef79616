"""Scores against the noise rate, and confidences of clean and of wrong labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labelcut.experiments.lines import Lines
from labelcut.experiments.loading import title_of
from labelcut.experiments.methods import METHODS
from labelcut.experiments.render import SCORE_TITLES, Table
from labelcut.experiments.result_lines import Record


def noise_table(records: Sequence[Record], score: str = "accuracy") -> Table:
    """Mean over the data sets against the noise rate, for the methods that have finished all of them."""
    lines = Lines(records)
    levels = sorted(
        {noise for _, noise in lines.cells()}, key=lambda word: [float(part) for part in word.split("+")]
    )
    rows = []
    for method in lines.methods():
        row = [METHODS[method].title]
        for noise in levels:
            means = [lines.mean(score, method, data, noise) for data in lines.data()]
            known = [mean for mean in means if mean is not None]
            row.append(f"{np.mean(known):.1f}" if known and len(known) == len(means) else "-")
        rows.append(tuple(row))
    return Table(
        f"{SCORE_TITLES[score]} against the noise rate, mean of {len(lines.data())} small sets",
        ("Method", *(f"{noise} %" for noise in levels)),
        tuple(rows),
        ("0+30 %: only truly positive rows have wrong labels; 30+0 %: only truly negative ones.",),
        f"noise-{score}",
    )


def confidence_table(lines: Lines, noise: str = "30") -> Table:
    """How well confidences tell wrong labels from clean ones: AUC, and their means per class."""
    rows = []
    for data in lines.data():
        for method in lines.methods():
            runs = lines.runs(method, data, noise).values()
            counts = [run["histograms"]["confidence"] for run in runs if "confidence" in run["histograms"]]
            auc = lines.mean("confidence_auc", method, data, noise)
            if not counts or auc is None:
                continue
            together = np.sum(counts, axis=0)  # negative clean and wrong, positive clean and wrong
            middles = (np.arange(together.shape[1]) + 0.5) / together.shape[1]
            means = together @ middles / np.maximum(together.sum(axis=1), 1)
            pairs = (f"{clean:.2f} / {wrong:.2f}" for clean, wrong in (means[2:], means[:2]))
            rows.append((title_of(data), METHODS[method].title, f"{auc:.1f}", *pairs))
    return Table(
        f"Confidences of clean and of wrong labels, {noise} % noise",
        ("Data", "Method", "AUC", "Labeled positive: clean / wrong", "Labeled negative: clean / wrong"),
        tuple(rows),
        ("AUC in percent: how often a wrong label has less confidence than a clean one.",),
        "confidence",
    )


def read_confidence(records: Sequence[Record]) -> list[str]:
    """Say how often a wrong label has less confidence than a clean one, by method."""
    lines = Lines(records)
    told = []
    for method in lines.methods():
        means = {data: lines.mean("confidence_auc", method, data, "30") for data in lines.data()}
        known = {data: mean for data, mean in means.items() if mean is not None}
        if known:
            each = ", ".join(f"{title_of(data)} {mean:.0f} %" for data, mean in known.items())
            told.append(
                f"{METHODS[method].title}: a wrong label has less confidence than a clean one in {each}."
            )
    return told
