"""How many labels are held to be wrong against how many are, and what the review list promised and held."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from labelcut.experiments.conditions import OURS, Cell, Conditions, place_of
from labelcut.experiments.loading import title_of
from labelcut.experiments.methods import METHODS
from labelcut.experiments.render import Table
from labelcut.experiments.result_lines import Record


def expected_table(found: Conditions, where: str, name: str) -> Table:
    """Mean absolute error of the expected number of wrong labels, in percent of the labels, and its bias."""
    methods = [method for method in found.methods() if _runs_with(found, method, "expected_share")]
    rows = []
    for method in methods:
        texts = []
        for condition in found.runs:
            texts.append(_error_text(_errors_by_data(found, condition, method)))
        rows.append((METHODS[method].title, *texts))
    return Table(
        f"Expected number of wrong labels: error in percent of the labels, {where}",
        ("Method", *found.runs),
        tuple(rows),
        (
            "Mean over the tables of the absolute error, in brackets the mean error with its sign. Expected "
            "is the sum of P(wrong); of Confident Learning the number of labels it lists; of plain "
            "classifiers the sum of 1 - P(given label) out of sample.",
            _runs_remark(found, methods),
        ),
        f"{name}-expected",
    )


def promise_table(found: Conditions, where: str, name: str) -> Table:
    """Give what the first suspects promise over what they hold, per method and condition."""
    methods = [method for method in found.methods() if _runs_with(found, method, "review_found")]
    rows = tuple(
        (
            METHODS[method].title,
            *(_promise_text(_scores(found, condition, method).values()) for condition in found.runs),
        )
        for method in methods
    )
    return Table(
        f"Review list: promised finds over found ones, {where}",
        ("Method", *found.runs),
        rows,
        (
            "The list has as many suspects as wrong labels are expected; promised is the sum of their "
            "P(wrong), all runs together. - : nothing to find.",
            _runs_remark(found, methods),
        ),
        f"{name}-promised",
    )


def ours_by_table(found: Conditions, where: str, name: str, method: str = OURS) -> list[Table]:
    """Give expected over true number, and promised over found, of one method on every table."""
    cells = {
        cell: run for condition in found.runs for cell, run in found.runs[condition].get(method, {}).items()
    }
    data_sets = sorted({cell[0] for cell in cells}, key=place_of)
    if not data_sets:
        return []
    head = ("Table", *found.runs)
    runs = {
        (data, condition): [
            scores for cell, scores in _scores(found, condition, method).items() if cell[0] == data
        ]
        for data in data_sets
        for condition in found.runs
    }
    return [
        Table(
            f"{METHODS[method].title}: {title}, {where}",
            head,
            tuple(
                (title_of(data), *(text(runs[data, condition]) for condition in found.runs))
                for data in data_sets
            ),
            (remark,),
            f"{name}-{kind}-by-table",
        )
        for kind, title, text, remark in (
            (
                "expected",
                "expected over true number of wrong labels",
                _ratio_text,
                f"Of {len(cells)} runs. Where no label is wrong: the expected share of the labels.",
            ),
            (
                "promised",
                "promised over found of the review list",
                _promise_text,
                f"Of {len(cells)} runs. - : nothing was found, or nothing is wrong.",
            ),
        )
    ]


def _scores(found: Conditions, condition: str, method: str) -> dict[Cell, Record]:
    return {cell: run["scores"] for cell, run in found.runs[condition].get(method, {}).items()}


def _runs_with(found: Conditions, method: str, score: str) -> int:
    return sum(len(found.values(condition, method, score)) for condition in found.runs)


def _runs_remark(found: Conditions, methods: Iterable[str]) -> str:
    counts = {METHODS[m].title: sum(len(found.runs[c].get(m, {})) for c in found.runs) for m in methods}
    return "Runs: " + ", ".join(f"{title} {count}" for title, count in counts.items()) + "."


def _errors_by_data(found: Conditions, condition: str, method: str) -> list[list[float]]:
    """Give expected - true share of wrong labels in percent, one list of runs per data set."""
    by_data: dict[str, list[float]] = {}
    for cell, scores in _scores(found, condition, method).items():
        if scores.get("expected_share") is not None:
            error = 100 * (scores["expected_share"] - scores["wrong_share"])
            by_data.setdefault(cell[0], []).append(error)
    return list(by_data.values())


def _error_text(errors: list[list[float]]) -> str:
    if not errors:
        return "-"
    size = np.mean([np.mean(np.abs(values)) for values in errors])
    return f"{size:.1f} ({np.mean([np.mean(values) for values in errors]):+.1f})"


def _ratio_text(scores: Iterable[Record]) -> str:
    known = [one for one in scores if one.get("expected_share") is not None]
    if not known:
        return "-"
    expected, wrong = (sum(one[name] for one in known) for name in ("expected_share", "wrong_share"))
    return f"{expected / wrong:.2f}" if wrong > 0 else f"{100 * expected / len(known):.1f} %"


def _promise_text(scores: Iterable[Record]) -> str:
    known = [one for one in scores if one.get("review_found") is not None and one["wrong_share"] > 0]
    promised, found = (sum(one[name] for one in known) for name in ("review_promised", "review_found"))
    return f"{promised / found:.2f}" if found else "-"
