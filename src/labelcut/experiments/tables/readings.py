"""Readings of the paper's text beside its printed accuracies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labelcut.experiments.conditions import place_of
from labelcut.experiments.loading import title_of
from labelcut.experiments.printed import PRINTED_SEEDS, printed
from labelcut.experiments.render import Table
from labelcut.experiments.result_lines import Record
from labelcut.experiments.run import noise_word

Cell = tuple[str, str]
"""Data set and noise level."""
TEXTS = {
    "": '`preset="paper"`',
    "confidence_counts=with_seeds": "confidences count the seeds, as printed",
    "kernel=literal": "kernel as printed: exp(-distance / 2 sigma²)",
    "confidence_counts=with_seeds, kernel=literal": "both",
    "n_neighbors=14": "a row is its own nearest neighbour (14 others)",
}


def readings_table(records: Sequence[Record]) -> Table:
    """Mean accuracy of every reading in every cell, and whether the printed one is reached."""
    values = _values(records)
    cells = sorted(
        {cell for found in values.values() for cell in found}, key=lambda c: (place_of(c[0]), c[1])
    )
    rows = [("printed", *(f"{_printed(cell)[0]:.1f} ({_printed(cell)[1]:.1f})" for cell in cells))]
    rows += [
        (_title(reading), *(_text(cell, found.get(cell, [])) for cell in cells))
        for reading, found in values.items()
    ]
    seeds = sorted({len(some) for found in values.values() for some in found.values()})
    return Table(
        "Accuracy of each reading beside the printed one",
        ("Reading", *(f"{title_of(data)} {noise} %" for data, noise in cells)),
        tuple(rows) if values else (),
        (
            "In bold what is reproduced: at most twice the combined standard error below the printed mean. "
            f"{'-'.join(str(n) for n in sorted({*seeds[:1], *seeds[-1:]}))} seeds from 20 on; - : not run.",
        ),
        "readings",
    )


def read_readings(records: Sequence[Record]) -> list[str]:
    """Say in how many cells each reading reproduces the printed accuracy, and its mean over shared cells."""
    values = _values(records)
    if not values:
        return []
    shared = sorted(set.intersection(*(set(found) for found in values.values())))
    told = []
    for reading, found in values.items():
        reached = [cell for cell in found if _is_reached(cell, found[cell])]
        missed = ", ".join(f"{title_of(d)} {n} %" for d, n in sorted(found) if (d, n) not in reached)
        mean = f"; mean {np.mean([np.mean(found[cell]) for cell in shared]):.1f} over {len(shared)} cells"
        told.append(
            f"{_title(reading)}: {len(reached)} of {len(found)} cells reached{mean if shared else ''}"
            f"{f'; not {missed}' if missed else ''}."
        )
    return told


def _values(records: Sequence[Record]) -> dict[str, dict[Cell, list[float]]]:
    """Give the accuracies in percent by reading and cell."""
    found: dict[str, dict[Cell, list[float]]] = {}
    for record in records:
        if "scores" in record:
            settings = {name: value for name, value in record["settings"].items() if name != "share_forest"}
            reading = ", ".join(f"{name}={value}" for name, value in sorted(settings.items()))
            cell = record["data"], noise_word(record["noise"])
            found.setdefault(reading, {}).setdefault(cell, []).append(100 * record["scores"]["accuracy"])
    return dict(sorted(found.items(), key=lambda one: list(TEXTS).index(one[0]) if one[0] in TEXTS else 99))


def _title(reading: str) -> str:
    return TEXTS.get(reading, reading)


def _printed(cell: Cell) -> list[float]:
    data, noise = cell
    mean, bracket = printed()["real"]["accuracy"][noise]["cells"][data]["paper"]
    return [mean, bracket]


def _is_reached(cell: Cell, values: Sequence[float]) -> bool:
    if len(values) < 2:
        return False
    mean, bracket = _printed(cell)
    errors = bracket / np.sqrt(PRINTED_SEEDS), np.std(values, ddof=1) / np.sqrt(len(values))
    return float(np.mean(values)) >= mean - 2 * float(np.hypot(*errors))


def _text(cell: Cell, values: Sequence[float]) -> str:
    if not values:
        return "-"
    deviation = np.std(values, ddof=1) if len(values) > 1 else 0.0
    text = f"{np.mean(values):.1f} ({deviation:.1f})"
    return f"**{text}**" if _is_reached(cell, values) else text
