"""Search in cells: rows divided by the nearest of some centers; a query looks only into cells near it.

The search is exact when every cell that could hold a neighbor is visited, and approximate when a query visits
only so many of the nearest cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcut.arrays import Floats, Ints
from labelcut.graph.blocks import in_threads
from labelcut.graph.bounds import LowerBounds, columns_with_small_bounds
from labelcut.graph.distinct import DistinctRows, farthest

__all__ = ["Cells", "search_cells"]


#: Rows per center and rounds to place it, rows for a first guess, queries and rows handled at once.
ROWS_PER_CENTER = 50
ROUNDS = 8
FIRST_ROWS = 1000
CELL_QUERIES = 1 << 13
CENTER_ROWS = 1 << 12


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows divided by the center they are nearest to, in the shortened columns of the bounds."""

    centers: Floats
    radius: Floats  # no member is farther from its center
    number: Ints  # the cell of each row
    members: Ints  # all rows, those of cell 0 first
    table: NDArray[Any]  # the table of the bounds in that order, so that a cell lies in one piece
    starts: Ints  # where the members of each cell begin; one more at the end
    around: Ints  # for each cell all cells, nearest first

    @property
    def count(self) -> int:
        """The number of cells."""
        return len(self.centers)

    @classmethod
    def of(cls, bounds: LowerBounds, rows: Floats, n_jobs: int | None) -> Cells:
        """Place the centers by a few rounds of k-means on some of the rows."""
        n_cells = int(np.sqrt(len(rows)))
        rng = np.random.default_rng(0)
        some = rng.choice(len(rows), min(len(rows), n_cells * ROWS_PER_CENTER), replace=False)
        sample = bounds.shorten(rows[some])
        centers = sample[:n_cells].copy()
        for _ in range(ROUNDS):
            number, _ = nearest_center(sample, centers, n_jobs)
            count = np.bincount(number, minlength=n_cells)
            used = count > 0
            for h in range(centers.shape[1]):
                centers[used, h] = np.bincount(number, sample[:, h], n_cells)[used] / count[used]
        number, distance = nearest_center(bounds.shorten(rows), centers, n_jobs)
        radius = np.zeros(n_cells)
        np.maximum.at(radius, number, distance)
        members = np.argsort(number, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(number, minlength=n_cells)))
        around = np.argsort(center_distances(centers, centers), axis=1, kind="stable")
        return cls(centers, radius, number, members, bounds.table[:, members], starts, around)

    def around_cell(self, cell: int, n_rows: int) -> tuple[NDArray[Any], Ints]:
        """Return table and rows of the cells around a cell that together hold the given number of rows."""
        size = np.cumsum(np.diff(self.starts)[self.around[cell]])
        chosen = self.around[cell, : 1 + np.searchsorted(size, n_rows)]
        pieces = [slice(self.starts[c], self.starts[c + 1]) for c in chosen]
        rows = np.concatenate([self.members[piece] for piece in pieces])
        return np.hstack([self.table[:, piece] for piece in pieces]), rows

    def ranks(self, queries: Floats, rows: Ints) -> Ints:
        """Return how many cells are nearer to each (shortened) query than the cells of the given rows."""
        distance = center_distances(queries, self.centers)
        reached = np.take_along_axis(distance, self.number[rows], axis=1)
        return np.asarray((distance[:, None, :] < reached[:, :, None]).sum(axis=2))


def search_cells(
    distinct: DistinctRows,
    queries: Floats,
    k: int,
    bounds: LowerBounds,
    cells: Cells,
    n_visited: int,
    n_jobs: int | None,
) -> tuple[Ints, Floats]:
    """Return row numbers and distances of the k nearest rows in the given number of cells around each query.

    The search is exact when all cells may be visited: those too far away to hold one of the k are left out.
    """
    # Queries that are near each other visit the same cells, so they are handled together.
    is_own = queries is distinct.rows
    number = cells.number if is_own else nearest_center(bounds.shorten(queries), cells.centers, n_jobs)[0]
    order = np.argsort(number, kind="stable")

    def search(starts: Sequence[int]) -> list[tuple[Ints, Floats]]:
        buffer = np.empty(CELL_QUERIES * int(np.diff(cells.starts).max()), dtype=bounds.number)
        found = []
        for start in starts:
            some = queries[order[start : start + CELL_QUERIES]]
            query, candidate = _candidates(distinct, some, k, bounds, cells, n_visited, buffer)
            found.append(distinct.nearest_of(some, query, candidate, k))
        return found

    found = in_threads(search, range(0, len(queries), CELL_QUERIES), n_jobs)
    index = np.empty((len(queries), k), dtype=np.intp)
    distance = np.empty((len(queries), k))
    index[order] = np.concatenate([one[0] for one in found])
    distance[order] = np.concatenate([one[1] for one in found])
    return index, distance


def _candidates(
    distinct: DistinctRows,
    queries: Floats,
    k: int,
    bounds: LowerBounds,
    cells: Cells,
    n_visited: int,
    buffer: NDArray[Any],
) -> tuple[Ints, Ints]:
    """Return pairs of a query and a distinct row, among them the k nearest that are in visited cells."""
    factor, square = bounds.factor(queries)
    away = center_distances(bounds.shorten(queries), cells.centers)
    nearest = away.argmin(axis=1)

    n_some = min(k, len(distinct.rows))
    some = np.empty((len(queries), n_some), dtype=np.intp)
    for cell in np.unique(nearest):
        mine = np.flatnonzero(nearest == cell)
        table, rows = cells.around_cell(cell, max(FIRST_ROWS, n_some))
        some[mine] = rows[columns_with_small_bounds(factor[mine] @ table, n_some)]
    squared = farthest(distinct.rows, queries, some)
    limit = bounds.limit(squared, square)

    # The triangle inequality, with room for the rounding of both distances from a center.
    sizes = np.sqrt(square) + np.sqrt(np.square(cells.centers).sum(axis=1).max())
    room = np.sqrt(32.0 * (cells.centers.shape[1] + 8) * np.finfo(np.float64).eps) * sizes
    visited = away <= (np.sqrt(squared) * bounds.unit + room)[:, None] + cells.radius
    if n_visited < cells.count:
        visited &= away <= np.partition(away, n_visited - 1, axis=1)[:, [n_visited - 1]]

    pairs = [np.repeat(np.arange(len(queries)), n_some) * len(distinct.rows) + some.ravel()]
    for cell in range(cells.count):
        mine = np.flatnonzero(visited[:, cell])
        first, last = cells.starts[cell : cell + 2]
        if mine.size and last > first:
            lower = buffer[: mine.size * (last - first)].reshape(mine.size, last - first)
            np.matmul(factor[mine], cells.table[:, first:last], out=lower)
            query, candidate = np.divmod(np.flatnonzero(lower <= limit[mine, None]), last - first)
            pairs.append(mine[query] * len(distinct.rows) + cells.members[first + candidate])
    pair = np.sort(np.concatenate(pairs))
    is_new = np.append(True, pair[1:] != pair[:-1])
    query, candidate = np.divmod(pair[is_new], len(distinct.rows))
    return query, candidate


def center_distances(rows: Floats, centers: Floats) -> Floats:
    """Return the distances of rows from centers, one line per row."""
    squared = np.square(rows).sum(axis=1)[:, None] + np.square(centers).sum(axis=1) - 2.0 * rows @ centers.T
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def nearest_center(rows: Floats, centers: Floats, n_jobs: int | None) -> tuple[Ints, Floats]:
    """Return number and distance of the center nearest to each row."""

    def search(starts: Sequence[int]) -> list[tuple[Ints, Floats]]:
        away = (center_distances(rows[start : start + CENTER_ROWS], centers) for start in starts)
        return [(distance.argmin(axis=1), distance.min(axis=1)) for distance in away]

    found = in_threads(search, range(0, len(rows), CENTER_ROWS), n_jobs)
    return np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found])
