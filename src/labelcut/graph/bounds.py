"""Exact search by certain lower bounds: one product of matrices, then few rows are left to measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcut.arrays import Floats, Ints
from labelcut.graph.blocks import in_threads
from labelcut.graph.distinct import DistinctRows, farthest

__all__ = ["LowerBounds", "choose_bounds", "columns_with_small_bounds", "search_everywhere"]


#: Queries handled at once; most bounds kept at once per thread (64 MB of float32); bounds not worth dividing.
BLOCK_ROWS = 256
BLOCK_BOUNDS = 1 << 24
SMALL_BOUNDS = 1 << 20

#: Rows of X whose bounds are reduced to their minimum before the smallest are looked for.
GROUP = 32

#: Columns with this last share of the variance are merged into one in the cheapest bounds.
NEGLIGIBLE = 0.002

#: Rows are scaled up by at most this power of two, whose square is still a float64.
MOST_DOUBLINGS = 500.0

#: Bounds are cheap enough if this many rows, asked for this many neighbors each, leave few more than these to
#: measure, on average.
BOUND_QUERIES = 64
BOUND_NEIGHBORS = 16
FEW = 100


class LowerBounds:
    """Certain lower bounds for the distances between queries and rows, by one product of matrices.

    Columns that vary little may be replaced by one, the size of that part of the row, which can only bring
    rows nearer together. For a query x and a row y the bound is then one of ``|y|**2 / 2 - x @ y``, which
    orders the rows as the distance does. With u the rounding of a number, the sum of H + 2 products is off by
    at most ``(H + 5) * u * (|x| * |y| + |y|**2 / 2)``, in whatever order it is added up; twice that much is
    subtracted, by two columns added to the product.
    """

    def __init__(self, rows: Floats, number: type[np.floating[Any]], negligible: float) -> None:
        self.number = number
        self.center = np.median(rows, axis=0)
        largest = np.abs(rows - self.center).max()
        # A power of two keeps all digits, and no product overflows; what underflows is covered by ``tiny``.
        self.unit = 2.0 ** min(MOST_DOUBLINGS, -np.ceil(np.log2(largest))) if largest > 0.0 else 1.0
        variance = np.square((rows - self.center) * self.unit).mean(axis=0)
        falling = np.argsort(-variance, kind="stable")
        missing = 1.0 - np.cumsum(variance[falling]) / max(variance.sum(), 1e-300)
        n_kept = 1 + np.count_nonzero(missing > negligible)
        self.kept, self.rest = falling[:n_kept], falling[n_kept:]
        y = self.shorten(rows)
        share = (y.shape[1] + 8) * float(np.finfo(number).eps)
        tiny = 100.0 * float(np.finfo(number).tiny)
        half = np.square(y).sum(axis=1) / 2.0
        columns = [-y, (1.0 - share) * half - tiny, -share * np.sqrt(2.0 * half)]
        self.table = np.column_stack(columns).astype(number).T.copy()

    def shorten(self, rows: Floats) -> Floats:
        """Return the columns that vary most, and the size of the rest as one column."""
        centered = (rows - self.center) * self.unit
        size_of_rest = np.sqrt(np.square(centered[:, self.rest]).sum(axis=1))
        return np.column_stack([centered[:, self.kept], size_of_rest])

    def is_far(self, queries: Floats) -> NDArray[np.bool_]:
        """Mark queries so far from all rows that the bounds could not tell one row from another."""
        with np.errstate(over="ignore"):
            away = np.abs(queries - self.center).max(axis=1) * self.unit
        return np.asarray(away > 1.0 / np.finfo(self.number).eps)

    def factor(self, queries: Floats) -> tuple[NDArray[Any], Floats]:
        """Return what to multiply the table with, one line per query, and the squared size of each query."""
        x = self.shorten(queries)
        square = np.square(x).sum(axis=1)
        return np.column_stack([x, np.ones(len(x)), np.sqrt(square)]).astype(self.number), square

    def limit(self, squared_distance: Floats, square: Floats) -> NDArray[Any]:
        """Return a number that no bound of a row within the given squared distance exceeds."""
        scaled = squared_distance * self.unit**2
        # The additions cover the rounding of float64 sums and what was lost below the smallest float64, the
        # step up covers the rounding of the result.
        rounding = 4.0 * (self.center.size + 8) * float(np.finfo(np.float64).eps)
        lost = (self.center.size + 8) * float(np.finfo(np.float64).smallest_subnormal) * self.unit**2
        exact = (scaled - square) / 2.0 + rounding * (scaled + square) + lost
        return np.asarray(np.nextafter(exact.astype(self.number), self.number(np.inf)))


def choose_bounds(distinct: DistinctRows) -> LowerBounds:
    """Return the cheapest bounds that leave few rows to measure, judged by some of the rows themselves.

    A single column may hold nearly all the variance, and rows that agree in it differ by less than the cheap
    bounds can see.
    """
    rows = distinct.rows
    some = rows[:: max(1, len(rows) // BOUND_QUERIES)][:BOUND_QUERIES]
    best, fewest = None, np.inf
    for number, negligible in ((np.float32, NEGLIGIBLE), (np.float32, 0.0), (np.float64, 0.0)):
        bounds = LowerBounds(rows, number, negligible)
        buffer = np.empty((len(some), len(rows)), dtype=number)
        count = candidates(distinct, some, BOUND_NEIGHBORS, bounds, buffer)[0].size
        # Ties leave many rows under any bounds.
        if best is None or count < fewest / 2:
            best, fewest = bounds, count
        if fewest <= len(some) * (BOUND_NEIGHBORS + FEW):
            break
    assert best is not None
    return best


def search_everywhere(
    distinct: DistinctRows, queries: Floats, k: int, bounds: LowerBounds, n_jobs: int | None
) -> tuple[Ints, Floats]:
    """Return row numbers and distances of the k nearest rows of each query, from the bounds of all rows."""
    n_distinct = len(distinct.rows)
    # At least so many rows that a product is worth it; small tables are one block.
    height = max(BLOCK_ROWS, SMALL_BOUNDS // n_distinct)
    height = max(16, min(height, BLOCK_BOUNDS // n_distinct))

    def search(starts: Sequence[int]) -> list[tuple[Ints, Floats]]:
        buffer = np.empty((min(height, len(queries)), n_distinct), dtype=bounds.number)
        found = []
        for start in starts:
            some = queries[start : start + height]
            query, candidate = candidates(distinct, some, k, bounds, buffer)
            found.append(distinct.nearest_of(some, query, candidate, k))
        return found

    found = in_threads(search, range(0, len(queries), height), n_jobs)
    index = np.concatenate([np.empty((0, k), dtype=np.intp), *(one[0] for one in found)])
    return index, np.concatenate([np.empty((0, k)), *(one[1] for one in found)])


def candidates(
    distinct: DistinctRows, queries: Floats, k: int, bounds: LowerBounds, buffer: NDArray[Any]
) -> tuple[Ints, Ints]:
    """Return pairs of a query and a distinct row, among them all those of the k nearest."""
    factor, square = bounds.factor(queries)
    lower = np.matmul(factor, bounds.table, out=buffer[: len(factor)])
    # The k nearest are not farther than any k rows, so only rows with bounds up to that distance matter.
    some = columns_with_small_bounds(lower, min(k, lower.shape[1]))
    limit = bounds.limit(farthest(distinct.rows, queries, some), square)
    query, candidate = np.divmod(np.flatnonzero(lower <= limit[:, None]), lower.shape[1])
    return query, candidate


def columns_with_small_bounds(lower: NDArray[Any], k: int) -> Ints:
    """Return k different columns per line, most of them among the k smallest."""
    n_lines, n_columns = lower.shape
    size = max(1, min(GROUP, n_columns // (8 * k)))
    n_groups = n_columns // size
    # A group takes every n_groups-th column: rows next to each other in the table fall into different groups.
    grouped = lower[:, : n_groups * size].reshape(n_lines, size, n_groups)
    group = np.argpartition(grouped.min(axis=1), k - 1, axis=1)[:, :k]
    place = np.take_along_axis(grouped, group[:, None, :], axis=2).argmin(axis=1)
    return np.asarray(place * n_groups + group)
