"""Result lines -> what the ten-seed study shows, one function per sentence; every number from its lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from labelcut.experiments.lines import LEVEL, NOISES, Lines, complete_cells, paired, stack_means
from labelcut.experiments.loading import title_of
from labelcut.experiments.methods import METHODS
from labelcut.experiments.printed import Reproduction, reproductions
from labelcut.experiments.render import SCORE_TITLES
from labelcut.experiments.result_lines import Record

SCORES = ("accuracy", "noise_f1", "average_precision")
OURS = "default"
CLOSE_RIVALS = ("forest", "forest_layer", "cl")
"""Rivals that LabelCut is held against run by run."""
FEWEST_PAIRS = 5
"""Paired runs below which nothing is said of a difference."""


def read_ten_seeds(records: Sequence[Record]) -> list[str]:
    """Say what the runs with the paper's test share show; see `reading`."""
    return reading(Lines(records))


def reading(lines: Lines) -> list[str]:
    """Say what the lines show; each entry is a paragraph of one or more sentences."""
    methods = [method for method in lines.methods() if method not in ("literal", "hnc")]
    shared = lines.on_shared_seeds(methods)
    told = [tell_reproduction(reproductions(lines))]
    told += [tell_standing(Standing.of(shared, score, methods)) for score in SCORES]
    if OURS in methods:
        told += [tell_differences(shared, rival) for rival in CLOSE_RIVALS if rival in methods]
    return [text for text in told if text]


def tell_reproduction(cells: Sequence[Reproduction]) -> str:
    """How much of the paper `preset="paper"` reproduces, and what it does not."""
    if not cells:
        return ""
    return " ".join(filter(None, (_reproduced(cells), _not_reproduced(cells))))


def _reproduced(cells: Sequence[Reproduction]) -> str:
    yes = sum(cell.is_reproduced for cell in cells)
    above = sum(cell.ours >= cell.printed for cell in cells)
    return (
        f'`preset="paper"` reproduces {yes} of {len(cells)} finished accuracy cells '
        f"({above} of them at or above the printed value)."
    )


def _not_reproduced(cells: Sequence[Reproduction]) -> str:
    missed = [
        f"{title_of(cell.data)} {cell.noise} % ({cell.ours:.1f} against {cell.printed:.1f}, "
        f"allowed {cell.printed - cell.allowed:.1f})"
        for cell in cells
        if not cell.is_reproduced
    ]
    return f"Not reproduced: {', '.join(missed)}." if missed else ""


@dataclass(frozen=True)
class Standing:
    """How the methods stand by one score, over the cells that all of them have finished."""

    score: str
    methods: Sequence[str]
    means: npt.NDArray[np.float64]
    """One row per cell, one column per method."""

    @classmethod
    def of(cls, lines: Lines, score: str, methods: Sequence[str]) -> Standing:
        """Take the means from the lines."""
        cells = complete_cells(lines, score, methods, NOISES)
        return cls(score, methods, stack_means(lines, score, methods, cells))

    @property
    def best(self) -> npt.NDArray[np.float64]:
        """The best mean of each cell."""
        found: npt.NDArray[np.float64] = self.means.max(axis=1)
        return found

    @property
    def gap(self) -> npt.NDArray[np.float64]:
        """Average distance of each method from the best of each cell."""
        found: npt.NDArray[np.float64] = (self.best[:, None] - self.means).mean(axis=0)
        return found


def tell_standing(standing: Standing) -> str:
    """Who is nearest to the best by this score, who is ahead of LabelCut, how often it is the best."""
    if not len(standing.means):
        return ""
    sentences = [_nearest(standing)]
    if OURS in standing.methods:
        sentences += [_ahead_of_ours(standing), _ours_is_best(standing)]
    return " ".join(filter(None, sentences))


def _nearest(standing: Standing) -> str:
    gap, titles = standing.gap, [METHODS[method].title for method in standing.methods]
    first, *others = np.argsort(gap)[:4]
    then = ", ".join(f"{titles[i]} ({gap[i]:.2f})" for i in others)
    return (
        f"{SCORE_TITLES[standing.score]}: over {len(standing.means)} cells the smallest average gap from the "
        f"best has {titles[first]} ({gap[first]:.2f} points){', then ' if then else ''}{then}."
    )


def _ahead_of_ours(standing: Standing) -> str:
    gap, ours = standing.gap, standing.methods.index(OURS)
    ahead = [METHODS[standing.methods[i]].title for i in np.argsort(gap) if gap[i] < gap[ours]]
    return f"Ahead of LabelCut on this measure: {', '.join(ahead)}." if ahead else ""


def _ours_is_best(standing: Standing) -> str:
    ours = standing.means[:, standing.methods.index(OURS)]
    best = int((ours >= standing.best - LEVEL).sum())
    return f"LabelCut is the best, or level with it to one digit, in {best} of {len(ours)} cells."


def tell_differences(lines: Lines, rival: str) -> str:
    """By how much LabelCut differs from a rival on the runs that both have finished."""
    cells = [(data, noise) for data in lines.data() for noise in NOISES]
    pairs = {score: paired(lines, score, OURS, rival, cells) for score in SCORES}
    enough = {score: found for score, found in pairs.items() if len(found) >= FEWEST_PAIRS}
    if not enough:
        return ""
    n_runs = max(len(found) for found in enough.values())
    differences = ", ".join(_difference(score, found) for score, found in enough.items())
    return (
        f"LabelCut against {METHODS[rival].title}, {n_runs} paired runs: {differences}. "
        "Runs of one data set are not independent, so read the errors as lower bounds."
    )


def _difference(score: str, pairs: npt.NDArray[np.float64]) -> str:
    difference = pairs[:, 0] - pairs[:, 1]
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    return f"{difference.mean():+.2f} (se {error:.2f}) in {SCORE_TITLES[score].lower()}"
