"""What each choice of the method is worth: one changed at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from labelcut.experiments.methods import METHODS
from labelcut.experiments.render import Table
from labelcut.experiments.result_lines import Record

SCORES = ("accuracy", "noise_f1", "average_precision", "log_loss")
Cells = dict[str, Record]
"""The runs of one variant by data set, noise and seed."""


def ablation_table(records: Sequence[Record]) -> Table:
    """Mean over the study's data sets and noise levels of every variant, and its distance from its preset."""
    variants: dict[tuple[str, str], Cells] = {}
    for record in records:
        if "scores" in record:
            cell = json.dumps([record["data"], record["noise"], record["seed"]])
            variants.setdefault((record["method"], _settings_text(record)), {})[cell] = record
    rows = []
    for (method, variant), cells in sorted(variants.items()):
        usual = variants.get((method, ""), {})
        shared = [cell for cell in cells if cell in usual]
        changes = (_change_text(score, cells, usual, shared, bool(variant)) for score in SCORES)
        rows.append((METHODS[method].title, variant or "as it is", str(len(shared)), *changes))
    return Table(
        "What each choice is worth",
        ("Method", "Changed", "Runs", "Accuracy", "Noise F1", "Average precision", "Log-loss, hundredths"),
        tuple(rows),
        ("In brackets the paired difference from the preset as it is, with its standard error.",),
        "ablation",
    )


def _change_text(score: str, cells: Cells, usual: Cells, shared: Sequence[str], is_changed: bool) -> str:
    """Give a variant's mean over the shared runs, and its paired difference from the preset as it is."""
    if not shared:
        return "-"
    values = _percents(score, cells, shared)
    if not is_changed:
        return f"{values.mean():.2f}"
    difference = values - _percents(score, usual, shared)
    error = np.std(difference, ddof=1) / np.sqrt(len(shared)) if len(shared) > 1 else 0.0
    return f"{values.mean():.2f} ({difference.mean():+.2f} +- {error:.2f})"


def _percents(score: str, cells: Cells, shared: Sequence[str]) -> npt.NDArray[np.float64]:
    return np.array([cells[cell]["scores"][score] for cell in shared], dtype=np.float64) * 100


def _settings_text(record: Record) -> str:
    shown = {name: value for name, value in record["settings"].items() if name != "share_forest"}
    return ", ".join(f"{name}={_value_text(value)}" for name, value in sorted(shown.items()))


def _value_text(value: Any) -> str:
    return " + ".join(map(str, value)) if isinstance(value, list) and value else str(value)


def read_ablation(records: Sequence[Record]) -> list[str]:
    """Name, for each preset, the changes that cost or bring more accuracy than twice their error."""
    told = []
    table = ablation_table(records)
    for method in dict.fromkeys(row[0] for row in table.rows):
        mine = [(row[1], _difference_of(row[3])) for row in table.rows if row[0] == method and "(" in row[3]]
        clear = sorted((d, e, name) for name, (d, e) in mine if abs(d) > 2 * e)
        worse = ", ".join(f"{name} ({d:+.1f})" for d, _, name in clear if d < 0)
        better = ", ".join(f"{name} ({d:+.1f})" for d, _, name in reversed(clear) if d > 0)
        if mine:
            told.append(
                f"{method}: of {len(mine)} changes these cost accuracy by more than twice their error: "
                f"{worse or 'none'}; these bring some: {better or 'none'}."
            )
    return told


def _difference_of(text: str) -> tuple[float, float]:
    """Read the difference and its error back from a cell."""
    difference, _, error = text.partition("(")[2].rstrip(")").partition(" +- ")
    return float(difference), float(error)
