"""The table that stands for all of them: LabelCut and its rivals on fresh seeds, from clean to noisy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from labelcut.experiments.conditions import OURS, Conditions, by_noise
from labelcut.experiments.methods import METHODS
from labelcut.experiments.render import SCORE_TITLES, Table, bold_best
from labelcut.experiments.result_lines import Record
from labelcut.experiments.tables.told import tell_losses, told_of

SCORES = ("accuracy", "average_precision")
MODELS = {
    OURS: "LabelCut, default",
    "forest": "Random forest, 150 trees, tuned",
    "forest_layer": "that forest, LabelCut's probabilities",
    "extra_trees": "ExtraTrees, 100 trees",
    "boosting": "Histogram boosting, early stopping",
    "cl": "cleanlab CleanLearning, ExtraTrees",
    "cl_forest": "cleanlab CleanLearning, tuned forest",
}
"""Which model stands behind each row."""
NAMES = {
    "accuracy": "Accuracy on the unlabeled rows, %",
    "average_precision": "Ranking of the wrong labels, average precision, %",
}
MEASURES = {"noise_f1": "F1 of the flags", "log_loss": "log-loss"}


def headline_tables(records: Sequence[Record]) -> list[Table]:
    """Accuracy and ranking of every method, one column per noise level."""
    found = Conditions.of(records, by_noise)
    return [table for score in SCORES if (table := _table(found, score)).rows]


def _table(found: Conditions, score: str) -> Table:
    methods = found.methods()
    columns = {}
    for condition in found.runs:
        means = found.means(condition, methods, score)
        if means is not None:
            columns[condition_title(condition)] = bold_best(100 * means, 1, small_is_good=False)
    order = sorted(range(len(methods)), key=lambda i: methods[i] != OURS)
    rows = tuple(
        (MODELS.get(methods[i], METHODS[methods[i]].title), *(texts[i] for texts in columns.values()))
        for i in order
        if columns
    )
    n_runs = found.n_runs(found.runs, methods, score)
    seeds = sorted({cell[3] for c in found.runs for cell in found.shared(c, methods, score)})
    told = (
        f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}" if seeds else "no seed"
    )
    return Table(
        NAMES[score],
        ("wrong labels", *columns),
        rows,
        (f"Means over ten tables, {told}; {n_runs} runs of each method.",),
        f"headline-{score}",
    )


def condition_title(condition: str) -> str:
    """Write a noise level as a reader of the first page understands it."""
    if condition == "0 %":
        return "none"
    low, _, high = condition.removesuffix(" %").partition("+")
    return f"{high} % of one class" if high and float(low) == 0 else condition


def losses(records: Sequence[Record]) -> str:
    """Say where LabelCut is not the best on fresh seeds, by any of the four scores."""
    found = Conditions.of(records, by_noise)
    parts = []
    for score in ("accuracy", "average_precision", "noise_f1", "log_loss"):
        told = [replace(one, condition=condition_title(one.condition)) for one in told_of(found, score)]
        text = tell_losses(told, most=4)
        if text:
            name = MEASURES.get(score, SCORE_TITLES[score].lower())
            parts.append(f"{name}: {text.removeprefix('Behind: ').rstrip('.')}")
    return (
        ". ".join(part[0].upper() + part[1:] for part in parts) + "." if parts else "Nowhere, on these seeds."
    )
