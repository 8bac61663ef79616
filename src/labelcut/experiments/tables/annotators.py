"""Several annotators: answers, ranking of annotators and of labels, by labels per row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labelcut.experiments.crowds import crowd_title, labels_per_row
from labelcut.experiments.methods import METHODS
from labelcut.experiments.render import Table
from labelcut.experiments.result_lines import Record

SCORES = {
    "accuracy": "Right answers, percent of the rows",
    "annotator_rank": "Annotators: rank correlation of stated and true quality",
    "average_precision": "Wrong labels: average precision, percent",
}


def annotator_tables(records: Sequence[Record]) -> list[Table]:
    """Give one table per score, a row per data set and number of labels, a column per method."""
    done = [record for record in records if "scores" in record]
    return [_table(done, score) for score in SCORES] if done else []


def _table(records: Sequence[Record], score: str) -> Table:
    cells: dict[tuple[str, int], dict[str, list[float | None]]] = {}
    for record in records:
        place = crowd_title(record["data"]), labels_per_row(record["data"])
        cells.setdefault(place, {}).setdefault(record["method"], []).append(record["scores"][score])
    methods = [m for m in METHODS if any(m in by_method for by_method in cells.values())]
    rows = [
        (title, str(n_labels), *(_text(by_method.get(method, []), score) for method in methods))
        for (title, n_labels), by_method in sorted(cells.items())
    ]
    remarks = (
        "Mean over the seeds; - where there is no run, or a method holds all annotators alike.",
        "CROWDLAB and 'combine, opinion' are given the same out-of-sample probabilities: a network's for "
        "people, a forest's learned from the majority for crowds. fit(X, Y) has the columns instead.",
    )
    head = ("Data", "Labels a row", *(METHODS[method].title for method in methods))
    return Table(SCORES[score], head, tuple(rows), remarks, f"annotators-{score}")


def _text(values: Sequence[float | None], score: str) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    mean = float(np.mean(known))
    return f"{mean:.2f}" if score == "annotator_rank" else f"{100 * mean:.1f}"


def read_annotators(records: Sequence[Record]) -> list[str]:
    """Rank the methods by each score over the tasks that all of these have done."""
    done = [record for record in records if "scores" in record]
    told = []
    for score, title in SCORES.items():
        values: dict[str, dict[str, list[float]]] = {}
        for record in done:
            if record["scores"][score] is not None:
                by_data = values.setdefault(record["method"], {})
                by_data.setdefault(record["data"], []).append(record["scores"][score])
        methods = [method for method in METHODS if method in values and method != "crowd_fit"]
        shared = set.intersection(*(set(values[m]) for m in methods)) if len(methods) > 1 else set()
        if shared:
            means = {m: float(np.mean([np.mean(values[m][d]) for d in shared])) for m in methods}
            ranked = sorted(means, key=lambda m: -means[m])
            texts = ", ".join(f"{METHODS[m].title} {_text([means[m]], score)}" for m in ranked)
            told.append(f"{title}, mean of {len(shared)} tasks: {texts}.")
    return told
