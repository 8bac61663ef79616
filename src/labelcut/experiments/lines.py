"""Result lines, looked up by what was run, and the comparisons that tables and figures draw from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from labelcut.experiments.data import REAL
from labelcut.experiments.methods import METHODS
from labelcut.experiments.result_lines import Record
from labelcut.experiments.run import noise_word
from labelcut.experiments.signed_rank import signed_rank_p

NOISES = ("20", "30")
"""The paper's noise levels."""
LEVEL = 0.05
"""Means in percent that are no further apart are level: they may read the same to one digit."""


@dataclass(frozen=True)
class Lines:
    """The finished runs of a study at one test share, looked up by method, data set and noise level."""

    records: Sequence[Record]
    test_share: float = 0.3
    _by_cell: dict[tuple[str, str, str], dict[int, Record]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Sort the records into cells."""
        for record in self.records:
            if record["test_share"] == self.test_share and not record["settings"] and "scores" in record:
                cell = record["method"], record["data"], noise_word(record["noise"])
                self._by_cell.setdefault(cell, {})[record["seed"]] = record

    def runs(self, method: str, data: str, noise: str) -> dict[int, Record]:
        """Give the cell's runs by seed."""
        return self._by_cell.get((method, data, noise), {})

    def values(self, score: str, method: str, data: str, noise: str) -> dict[int, float]:
        """Give one score by seed, in percent unless it is a log-loss or a time."""
        factor = 1.0 if score in ("log_loss", "brier") else 100.0
        found = {seed: record["scores"].get(score) for seed, record in self.runs(method, data, noise).items()}
        return {seed: factor * value for seed, value in sorted(found.items()) if value is not None}

    def mean(self, score: str, method: str, data: str, noise: str) -> float | None:
        """Give the cell's mean, or None."""
        values = self.values(score, method, data, noise)
        return float(np.mean(list(values.values()))) if values else None

    def on_shared_seeds(self, methods: Sequence[str]) -> Lines:
        """Keep in each cell only the seeds that all of these methods have finished."""
        kept = []
        for (method, data, noise), runs in self._by_cell.items():
            if method in methods:
                shared = set.intersection(*(set(self.runs(other, data, noise)) for other in methods))
                kept += [run for seed, run in runs.items() if seed in shared]
        return Lines(kept, self.test_share)

    def cells(self) -> list[tuple[str, str]]:
        """List the data sets and noise levels that have a line, whatever the method."""
        return sorted({(data, noise) for _, data, noise in self._by_cell})

    def methods(self) -> list[str]:
        """List the methods that have a line, in the order of `METHODS`."""
        present = {method for method, _, _ in self._by_cell}
        return [name for name in METHODS if name in present]

    def data(self) -> list[str]:
        """List the real data sets that have a line, in the paper's order."""
        present = {data for _, data, _ in self._by_cell}
        return [name for name in REAL if name in present]

    def noises(self) -> list[str]:
        """List the equal-sided noise levels that have a line."""
        return sorted({noise for _, _, noise in self._by_cell if "+" not in noise}, key=float)


def complete_cells(
    lines: Lines, score: str, methods: Sequence[str], noises: Sequence[str]
) -> list[tuple[str, str]]:
    """List the cells (data set, noise) in which every method has a value."""
    return [
        (data, noise)
        for data in lines.data()
        for noise in noises
        if all(lines.values(score, method, data, noise) for method in methods)
    ]


def stack_means(
    lines: Lines, score: str, methods: Sequence[str], cells: Sequence[tuple[str, str]]
) -> npt.NDArray[np.float64]:
    """Stack the means of finished cells: one row per cell, one column per method."""
    means = [[lines.mean(score, method, *cell) for method in methods] for cell in cells]
    return np.array(means, dtype=np.float64).reshape(len(cells), len(methods))


def paired(
    lines: Lines, score: str, one: str, two: str, cells: Iterable[tuple[str, str]]
) -> npt.NDArray[np.float64]:
    """Stack the scores of both methods on the runs (data set, noise, seed) that both have finished."""
    pairs = []
    for data, noise in cells:
        first, second = lines.values(score, one, data, noise), lines.values(score, two, data, noise)
        pairs += [(first[seed], second[seed]) for seed in first if seed in second]
    return np.array(pairs, dtype=np.float64).reshape(-1, 2)


def p_values(pairs: npt.NDArray[np.float64]) -> tuple[float | None, float | None]:
    """Wilcoxon and paired t-test that the first method is better, one-sided as in the paper."""
    from scipy import stats

    if len(pairs) < 5 or np.ptp(pairs[:, 0] - pairs[:, 1]) == 0:
        return None, None
    first, second = pairs.T
    wilcoxon = signed_rank_p(first - second, is_two_sided=False)
    return wilcoxon, float(stats.ttest_rel(first, second, alternative="greater").pvalue)


def gaps(
    lines: Lines, score: str, methods: Sequence[str], cells: Iterable[tuple[str, str]]
) -> dict[str, list[float]]:
    """Give each method's distance from the best mean, relative and in percent as the paper has it."""
    found: dict[str, list[float]] = {method: [] for method in methods}
    for data, noise in cells:
        means = {method: lines.mean(score, method, data, noise) for method in methods}
        known = [mean for mean in means.values() if mean is not None]
        for method, mean in means.items():
            if mean is not None and max(known) > 0:
                found[method].append(100 * (mean / max(known) - 1))
    return found
