"""False alarms: what is expected and flagged on tables in which nothing can be found, or nothing is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from labelcut.experiments.conditions import Conditions
from labelcut.experiments.methods import METHODS
from labelcut.experiments.render import Table
from labelcut.experiments.result_lines import Record


def alarm_tables(found: Conditions, name: str) -> list[Table]:
    """Give expected share, largest share of a class flagged, and how often evidence is denied."""
    return [
        _table(
            found,
            "expected_share",
            "Expected wrong labels, percent of the labels",
            _expected_text,
            "Mean over the runs, in brackets the true share where labels are wrong.",
            f"{name}-alarms",
        ),
        _table(
            found,
            "worst_class_flagged",
            "Largest share of one class that is flagged, percent",
            _flagged_text,
            "Mean over the runs (largest of them).",
            f"{name}-flagged",
        ),
        evidence_table(found, name),
    ]


def evidence_table(found: Conditions, name: str) -> Table:
    """Count the runs in which a method says that the columns do not tell the classes apart."""
    title = "Runs in which the method says that there is no evidence"
    remark = "Methods that say nothing of it are left out."
    return _table(found, "says_evidence", title, _denied_text, remark, f"{name}-evidence")


def _table(
    found: Conditions,
    score: str,
    title: str,
    text: Callable[[Sequence[Record]], str],
    remark: str,
    name: str,
) -> Table:
    """Build one row per condition and one column per method that has this score."""
    runs = {
        (condition, method): [run["scores"] for run in done.values() if run["scores"].get(score) is not None]
        for condition, by_method in found.runs.items()
        for method, done in by_method.items()
    }
    counts = {m: sum(len(some) for (_, of), some in runs.items() if of == m) for m in found.methods()}
    methods = [method for method, count in counts.items() if count]
    rows = (
        (condition, *(text(some) if (some := runs.get((condition, method))) else "-" for method in methods))
        for condition in found.runs
        if methods
    )
    told = ", ".join(f"{METHODS[method].title} {counts[method]}" for method in methods)
    head = ("Condition", *(METHODS[method].title for method in methods))
    return Table(title, head, tuple(rows), (remark, f"Runs: {told}."), name)


def _expected_text(scores: Sequence[Record]) -> str:
    wrong = np.mean([one["wrong_share"] for one in scores])
    expected = f"{100 * np.mean([one['expected_share'] for one in scores]):.1f}"
    return expected + (f" [{100 * wrong:.1f}]" if wrong > 0 else "")


def _flagged_text(scores: Sequence[Record]) -> str:
    shares = [one["worst_class_flagged"] for one in scores]
    return f"{100 * np.mean(shares):.1f} ({100 * max(shares):.1f})"


def _denied_text(scores: Sequence[Record]) -> str:
    return f"{sum(one['says_evidence'] == 0 for one in scores)} of {len(scores)}"
