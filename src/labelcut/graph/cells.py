"""Rows divided by the nearest of some centers; a query looks only into cells near it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import labelcut.graph.compiled as compiled
from labelcut.arrays import Floats
from labelcut.graph.bounds import Shortening, in_chunks
from labelcut.graph.distinct import DistinctRows
from labelcut.threads import thread_count

__all__ = ["Cells", "divide", "search_cells"]


#: Rows per center and rounds to place it.
ROWS_PER_CENTER = 50
ROUNDS = 8

#: The bytes of the widest registers; the core packs so much of one column side by side.
LANE_BYTES = 64


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows that lie in the order of the centers they are nearest to, in shortened columns."""

    distinct: DistinctRows  # in that order
    shortening: Shortening
    centers: Floats
    radius: Floats  # no row of a cell is farther from its center
    starts: NDArray[np.int64]  # where the rows of each cell begin; one more at the end

    @property
    def count(self) -> int:
        """The number of cells."""
        return len(self.centers)

    @cached_property
    def table(self) -> NDArray[Any]:
        """Shortened rows as the core wants them, as large as the rows; made when asked for."""
        core, shortening = compiled.in_use, self.shortening
        n_lanes = LANE_BYTES // np.dtype(shortening.number).itemsize
        table = np.empty(core.table_size(self.starts, shortening.n_short, n_lanes), dtype=shortening.number)
        core.pack_cells(self.distinct.rows, *shortening.arguments, self.starts, table)
        return table

    def drop_table(self) -> None:
        """Let go of the table; who asks next makes it again."""
        vars(self).pop("table", None)

    @classmethod
    def one(cls, distinct: DistinctRows, shortening: Shortening) -> Cells:
        """Return all rows in one cell."""
        rows = distinct.rows
        sizes = [
            np.square(shortening.shorten(rows[chunk])).sum(axis=1).max() for chunk in in_chunks(len(rows))
        ]
        centers, radius = np.zeros((1, shortening.n_short)), np.sqrt(np.array([max(sizes)]))
        return cls(distinct, shortening, centers, radius, np.array([0, len(rows)]))


def divide(distinct: DistinctRows, shortening: Shortening, n_jobs: int | None) -> tuple[DistinctRows, Cells]:
    """Return rows in the order of their cells, and the cells, placed by k-means on some of the rows."""
    n_cells = int(np.sqrt(len(distinct.rows)))
    rng = np.random.default_rng(0)
    some = rng.choice(len(distinct.rows), min(len(distinct.rows), n_cells * ROWS_PER_CENTER), replace=False)
    sample = distinct.rows[some]
    short = shortening.shorten(sample)
    centers = short[:n_cells].copy()
    for _ in range(ROUNDS):
        number, _ = _nearest_center(sample, shortening, centers, n_jobs)
        count = np.bincount(number, minlength=n_cells)
        used = count > 0
        for h in range(centers.shape[1]):
            centers[used, h] = np.bincount(number, short[:, h], n_cells)[used] / count[used]
    number, distance = _nearest_center(distinct.rows, shortening, centers, n_jobs)
    count = np.bincount(number, minlength=n_cells)
    radius = np.zeros(n_cells)
    np.maximum.at(radius, number, distance)
    used = count > 0
    starts = np.append(0, np.cumsum(count[used]))
    ordered = distinct.in_order(np.argsort(number, kind="stable"))
    return ordered, Cells(ordered, shortening, centers[used], radius[used], starts)


def search_cells(
    distinct: DistinctRows,
    cells: Cells,
    queries: NDArray[Any] | None,
    k: int,
    n_visited: int,
    n_jobs: int | None,
) -> tuple[NDArray[np.int32], NDArray[Any], int]:
    """Return row numbers and distances of the k nearest rows, and how many distances were measured.

    Asked are new rows or, without them, all rows for their nearest others. The search is exact when all cells
    may be visited: those too far away to hold one of the k are left out.
    """
    n_lines = distinct.members.size if queries is None else len(queries)
    index = np.empty((n_lines, k), dtype=np.int32)
    distance = np.empty((n_lines, k), dtype=distinct.rows.dtype)
    n_measured = compiled.in_use.search(
        distinct.rows,
        distinct.members,
        distinct.starts,
        *cells.shortening.arguments,
        cells.starts,
        cells.centers,
        cells.radius,
        cells.table,
        queries,
        n_visited,
        thread_count(n_jobs),
        _no_report,
        index,
        distance,
    )
    return index, distance, n_measured


def _nearest_center(
    rows: NDArray[Any], shortening: Shortening, centers: Floats, n_jobs: int | None
) -> tuple[NDArray[np.int32], Floats]:
    """Return number and distance of the center nearest to each row."""
    number, distance = np.empty(len(rows), dtype=np.int32), np.empty(len(rows))
    compiled.in_use.nearest_center(
        rows, *shortening.arguments, centers, thread_count(n_jobs), _no_report, number, distance
    )
    return number, distance


def _no_report(n_done: int) -> None:
    pass
