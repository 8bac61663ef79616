"""Wrong labels by people: ranking, flags and expected number, of all pictures and of those not looked at."""

from __future__ import annotations

from collections.abc import Sequence

from labelcut.experiments.methods import METHODS
from labelcut.experiments.pictures import PictureName
from labelcut.experiments.render import Table
from labelcut.experiments.result_lines import Record

OURS = "sight"
SCORES = {
    "average_precision": "Wrong labels by people: average precision, percent",
    "noise_f1": "Wrong labels by people: F1 of the flags, percent",
}
CLOSE = 0.1
"""An expected number is close if it is off by at most this share."""

ByData = dict[str, dict[str, dict[str, float | None]]]
"""Data set -> method -> scores."""


def real_error_tables(records: Sequence[Record]) -> list[Table]:
    """Give the tables of all pictures, then those of the pictures of odd number."""
    by_data: ByData = {}
    for record in records:
        if "scores" in record:
            by_data.setdefault(record["data"], {})[record["method"]] = record["scores"]
    found: list[Table] = []
    for is_odd in (False, True):
        part = {data: by_data[data] for data in by_data if PictureName.read(data).is_odd == is_odd}
        if part:
            found += [_score_table(part, score, is_odd=is_odd) for score in SCORES]
            found.append(_number_table(part, is_odd=is_odd))
    return found


def read_real_errors(records: Sequence[Record]) -> list[str]:
    """Say where LabelCut is ahead, first on all pictures, then on those that were not looked at."""
    told: list[str] = []
    for table in real_error_tables(records):
        told.append(f"{table.title}: {table.remarks[0]}")
    return told


def _score_table(by_data: ByData, score: str, *, is_odd: bool) -> Table:
    methods = [m for m in METHODS if any(m in found for found in by_data.values())]
    if score == "average_precision":  # all filters rank by self-confidence
        methods = [m for m in methods if not m.startswith("filter_")]
    rows = tuple(
        (*_place(data), *(_percent(found.get(method, {}).get(score)) for method in methods))
        for data, found in _in_order(by_data)
    )
    head = ("Labels", "Opinions", *(METHODS[method].title for method in methods))
    remarks = (_reading(by_data, score), *_rules(score))
    return Table(SCORES[score] + _part(is_odd), head, rows, remarks, f"real-errors-{score}{_suffix(is_odd)}")


def _number_table(by_data: ByData, *, is_odd: bool) -> Table:
    methods = [m for m in METHODS if any(m in found for found in by_data.values())]
    rows = []
    for data, found in _in_order(by_data):
        wrong = next(iter(found.values()))["wrong_share"]
        expected = (found.get(method, {}).get("expected_share") for method in methods)
        rows.append((*_place(data), _percent(wrong), *(_percent(value) for value in expected)))
    head = ("Labels", "Opinions", "Wrong", *(METHODS[method].title for method in methods))
    title = "Wrong labels by people: expected share, percent of the labels"
    remarks = (
        _reading_of_numbers(by_data),
        "A method that gives no P(wrong) expects what it flags; self-confidence is read as 1 - P(wrong).",
    )
    name = f"real-errors-expected{_suffix(is_odd)}"
    return Table(title + _part(is_odd), head, tuple(rows), remarks, name)


def _in_order(by_data: ByData) -> list[tuple[str, dict[str, dict[str, float | None]]]]:
    def place(data: str) -> tuple[str, int, bool]:
        name = PictureName.read(data)
        return name.label_set, ("resnet18", "swin", "both").index(name.who), name.has_embedding

    return [(data, by_data[data]) for data in sorted(by_data, key=place)]


def _place(data: str) -> tuple[str, str]:
    name = PictureName.read(data)
    if not name.has_embedding:
        return name.label_set, name.who
    return name.label_set, f"{name.who}, embedding" + (" by both" if name.who == "both" else " by the other")


def _reading(by_data: ByData, score: str) -> str:
    """Say in how many rows ours is above every rival, and where it is not."""
    behind, n_rows = [], 0
    for data, found in _in_order(by_data):
        rivals = {m: s[score] for m, s in found.items() if m != OURS and s.get(score) is not None}
        own = found.get(OURS, {}).get(score)
        if own is None or not rivals:
            continue
        n_rows += 1
        best = max(rivals, key=lambda method: rivals[method] or 0.0)
        if own <= (rivals[best] or 0.0):
            behind.append(f"{', '.join(_place(data))} ({METHODS[best].title})")
    if not n_rows:
        return "LabelCut and a rival have no row in common yet."
    said = f"LabelCut is above every rival in {n_rows - len(behind)} of {n_rows} rows"
    return f"{said}; not in {'; '.join(behind)}." if behind else f"{said}."


def _reading_of_numbers(by_data: ByData) -> str:
    """Say how often the expected number of wrong labels is close to the true one."""
    off = []
    for found in by_data.values():
        scores = found.get(OURS, {})
        expected, wrong = scores.get("expected_share"), scores.get("wrong_share")
        if expected is not None and wrong:
            off.append(expected / wrong - 1.0)
    if not off:
        return "LabelCut has no run yet."
    n_close = sum(abs(value) <= CLOSE for value in off)
    return (
        f"LabelCut is within {CLOSE:.0%} of the true number in {n_close} of {len(off)} rows, between "
        f"{100 * min(off):+.0f} and {100 * max(off):+.0f} %."
    )


def _rules(score: str) -> tuple[str, ...]:
    both = "Rivals take one opinion; of both networks they are given the mean."
    if score == "average_precision":
        return (
            both,
            "cleanlab's filters rank by self-confidence. 'Prediction differs' ranks by the log-odds of the "
            "likeliest other class against the label.",
        )
    return both, "Self-confidence flags below one half."


def _part(is_odd: bool) -> str:
    return " (pictures of odd number, not looked at before)" if is_odd else ""


def _suffix(is_odd: bool) -> str:
    return "-odd" if is_odd else ""


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"
