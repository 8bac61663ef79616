"""Result lines, sorted into the conditions of a study, and held against each other cell by cell.

A condition is what a column of a table stands for: a noise level, a kind of noise, a share of labels. A cell
is one task of it: data set, noise level, test share and seed. Means are taken over the cells of each data set
first, then over the data sets, which are the unit of every test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from labelcut.experiments.data import ORIGINALS, REAL
from labelcut.experiments.drawn import DRAWN
from labelcut.experiments.loading import RARE, STEP, title_of
from labelcut.experiments.methods import METHODS
from labelcut.experiments.noise_kinds import UNIFORM
from labelcut.experiments.result_lines import Record
from labelcut.experiments.run import noise_word
from labelcut.experiments.signed_rank import signed_rank_p

Cell = tuple[str, str, float, int]
"""Data set, noise level, test share, seed."""
Values = npt.NDArray[np.float64]

OURS = "default"
SMALL_IS_GOOD = {"log_loss"}
FEWEST_PAIRS = 5
"""Data sets below which no test is made."""


@dataclass(frozen=True)
class Conditions:
    """The finished runs of a study by condition, in the order in which they are shown, and method."""

    runs: dict[str, dict[str, dict[Cell, Record]]]

    @classmethod
    def of(
        cls, records: Iterable[Record], condition_of: Callable[[Record], tuple[object, str]]
    ) -> Conditions:
        """Sort the records; `condition_of` gives a condition's place in the order and its name."""
        found: dict[tuple[object, str], dict[str, dict[Cell, Record]]] = {}
        for record in records:
            if "scores" in record and not record["settings"]:
                methods = found.setdefault(condition_of(record), {})
                methods.setdefault(record["method"], {})[cell_of(record)] = record
        return cls({name: found[place, name] for place, name in sorted(found)})

    def methods(self) -> list[str]:
        """List the methods that have a run, in the order of `METHODS`."""
        present = {method for by_method in self.runs.values() for method in by_method}
        return [name for name in METHODS if name in present]

    def rivals(self) -> list[str]:
        """List the methods that ours is held against."""
        return [method for method in self.methods() if method != OURS]

    def values(self, condition: str, method: str, score: str) -> dict[Cell, float]:
        """Give one score by cell, as it is in the lines; cells in which it cannot be had are left out."""
        runs = self.runs[condition].get(method, {})
        found = {cell: run["scores"].get(score) for cell, run in runs.items()}
        return {cell: value for cell, value in found.items() if value is not None}

    def shared(self, condition: str, methods: Sequence[str], score: str) -> list[Cell]:
        """List the cells in which each of the methods has this score."""
        found = [set(self.values(condition, method, score)) for method in methods]
        return sorted(set.intersection(*found)) if found else []

    def by_data(
        self, conditions: Iterable[str], methods: Sequence[str], score: str
    ) -> dict[str, list[Values]]:
        """Give each data set's scores, one row per shared cell and one column per method."""
        rows: dict[str, list[Values]] = {}
        for condition in conditions:
            columns = [self.values(condition, method, score) for method in methods]
            for cell in self.shared(condition, methods, score):
                rows.setdefault(cell[0], []).append(np.array([column[cell] for column in columns]))
        return {data: rows[data] for data in sorted(rows, key=place_of)}

    def means(self, condition: str, methods: Sequence[str], score: str) -> Values | None:
        """Average each method over the shared cells of each data set, then over these; None of no cell."""
        found = self.by_data([condition], methods, score)
        return np.mean([np.mean(rows, axis=0) for rows in found.values()], axis=0) if found else None

    def differences(self, conditions: Iterable[str], rival: str, score: str) -> Values:
        """Average ours - rival over the shared cells, one number per data set."""
        found = self.by_data(conditions, [OURS, rival], score)
        return np.array([np.mean(rows, axis=0) @ [1.0, -1.0] for rows in found.values()])

    def n_runs(self, conditions: Iterable[str], methods: Sequence[str], score: str) -> int:
        """Count the runs of each method behind a comparison."""
        return sum(len(self.shared(condition, methods, score)) for condition in conditions)


def cell_of(record: Record) -> Cell:
    """Give the task of a run, whatever the method."""
    return record["data"], noise_word(record["noise"]), record["test_share"], record["seed"]


def place_of(data: str) -> tuple[int, str]:
    """Give a data set's place in tables: the paper's order, then originals, then drawn tables."""
    whole = data.split(STEP)[0]
    known = [*REAL, *ORIGINALS, *DRAWN]
    return (known.index(whole) if whole in known else len(known)), data


def wilcoxon(differences: Values) -> float | None:
    """Give the two-sided p-value that differences are around 0; None where there are too few."""
    if np.count_nonzero(differences) < FEWEST_PAIRS:
        return None
    return signed_rank_p(differences, is_two_sided=True)


def by_noise(record: Record) -> tuple[object, str]:
    """Sort by noise level, one-sided noise last."""
    word = noise_word(record["noise"])
    return ("+" in word, *(float(part) for part in word.split("+"))), f"{word} %"


def by_labeled_share(record: Record) -> tuple[object, str]:
    """Sort by the share of rows that have a label, and by the noise in them."""
    percent = round(100 * (1 - record["test_share"]))
    noise = noise_word(record["noise"])
    return (float(noise), percent), f"{percent} %" if noise == "0" else f"{percent} %, {noise} % wrong"


def by_table(record: Record) -> tuple[object, str]:
    """Sort by the table itself, and by the noise planted in it."""
    noise = noise_word(record["noise"])
    title = title_of(record["data"])
    return (place_of(record["data"]), float(noise)), title if noise == "0" else f"{title}, {noise} % planted"


KIND_TITLES = {
    "none": "no noise",
    UNIFORM: "uniform",
    "one-sided": "one-sided",
    "border": "near the border",
    "annotator": "weak annotator",
    "group": "one bad group",
}
TABLE_KINDS = ("two classes", "rare class", "many classes")


def by_kind(record: Record) -> tuple[object, str]:
    """Sort by the kind of noise; all its levels are one condition."""
    kind = kind_of(record)
    return list(KIND_TITLES).index(kind), KIND_TITLES[kind]


def kind_of(record: Record) -> str:
    """Name the kind of noise; labels that are all right are a kind of their own."""
    if "kind" in record:
        return str(record["kind"])
    low, high = record["noise"]
    return "none" if high == 0 else UNIFORM if low == high else "one-sided"


def table_kind_of(record: Record) -> str:
    """Say whether a table has two classes, two of which one was made rare, or many."""
    whole, *steps = record["data"].split(STEP)
    return TABLE_KINDS[2 if whole in ORIGINALS else 1 if RARE in steps else 0]
