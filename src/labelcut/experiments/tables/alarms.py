"""False alarms: what is expected and flagged on tables in which nothing can be found, or nothing is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from labelcut.experiments.conditions import Conditions
from labelcut.experiments.methods import METHODS
from labelcut.experiments.render import Table
from labelcut.experiments.result_lines import Record


def alarm_tables(found: Conditions, name: str) -> list[Table]:
    """Give expected share, largest share of a class flagged, and how often evidence is denied, per table."""
    return [
        _table(
            found,
            "Expected wrong labels, percent of the labels",
            _expected_text,
            "Mean over the seeds, in brackets the true share where labels are wrong.",
            f"{name}-expected",
        ),
        _table(
            found,
            "Largest share of one class that is flagged, percent",
            _flagged_text,
            "Mean over the seeds (largest of them).",
            f"{name}-flagged",
        ),
        _table(
            found,
            "Runs in which the method says that there is no evidence",
            _denied_text,
            "- : the method has no view on that.",
            f"{name}-evidence",
        ),
    ]


def _table(
    found: Conditions, title: str, text: Callable[[Sequence[Record]], str], remark: str, name: str
) -> Table:
    methods = found.methods()
    rows = []
    counts: dict[str, int] = {}
    for condition, by_method in found.runs.items():
        runs = {method: [run["scores"] for run in by_method.get(method, {}).values()] for method in methods}
        rows.append((condition, *(text(runs[method]) if runs[method] else "-" for method in methods)))
        for method in methods:
            counts[method] = counts.get(method, 0) + len(runs[method])
    told = ", ".join(f"{METHODS[method].title} {count}" for method, count in counts.items())
    head = ("Table", *(METHODS[method].title for method in methods))
    return Table(title, head, tuple(rows), (remark, f"Runs: {told}."), name)


def _expected_text(scores: Sequence[Record]) -> str:
    known = [one["expected_share"] for one in scores if one.get("expected_share") is not None]
    if not known:
        return "-"
    wrong = np.mean([one["wrong_share"] for one in scores])
    return f"{100 * np.mean(known):.1f}" + (f" [{100 * wrong:.1f}]" if wrong > 0 else "")


def _flagged_text(scores: Sequence[Record]) -> str:
    shares = [one["worst_class_flagged"] for one in scores]
    return f"{100 * np.mean(shares):.1f} ({100 * max(shares):.1f})"


def _denied_text(scores: Sequence[Record]) -> str:
    said = [one["says_evidence"] for one in scores if one.get("says_evidence") is not None]
    return f"{sum(value == 0 for value in said)} of {len(said)}" if said else "-"
