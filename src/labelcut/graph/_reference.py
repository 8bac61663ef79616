"""The slow, plain twin of the compiled core of the graph: the same functions, written to be read.

What is found and how ties are broken is told in ``core/neighbors.hpp``. Here every row of a visited cell is
measured, one query at a time, so there are no bounds and no table of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

Rows = NDArray[Any]
Ints32 = NDArray[np.int32]
Ints64 = NDArray[np.int64]
Doubles = NDArray[np.float64]


def number_equal_rows(matrix: Doubles, number: Ints32) -> int:
    """Write the number of each row, equal ones once, in order of occurrence; return how many there are."""
    _, first, inverse = np.unique(matrix, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int32)
    rank[np.argsort(first)] = np.arange(first.size)
    number[:] = rank[inverse.ravel()]
    return int(first.size)


def shorten(rows: Rows, center: Doubles, column: Ints32, n_kept: int, unit: float) -> Doubles:
    """Return the columns that vary most, centered and scaled, and the size of the rest as one more."""
    scaled = (rows.astype(np.float64) - center) * unit
    kept, rest = scaled[:, column[:n_kept]], scaled[:, column[n_kept:]]
    return np.hstack([kept, np.sqrt(np.square(rest).sum(axis=1, keepdims=True))]) if rest.size else kept


def nearest_center(
    rows: Rows,
    center: Doubles,
    column: Ints32,
    n_kept: int,
    unit: float,
    cell_center: Doubles,
    n_threads: int,
    poll: Callable[[int], object],
    number: Ints32,
    distance: Doubles,
) -> None:
    """Find the center nearest to each row, ties by number, and how far it is."""
    for i, point in enumerate(shorten(rows, center, column, n_kept, unit)):
        away = _away(point, cell_center)
        number[i], distance[i] = away.argmin(), away.min()


def table_size(cell_start: Ints64, n_short: int, n_lanes: int) -> int:
    """Return that no table is needed."""
    return 0


def pack_cells(
    rows: Rows,
    center: Doubles,
    column: Ints32,
    n_kept: int,
    unit: float,
    cell_start: Ints64,
    table: NDArray[Any],
) -> None:
    """Leave the table as it is, which is empty."""


def search(
    rows: Rows,
    equal: Ints32,
    equal_start: Ints64,
    center: Doubles,
    column: Ints32,
    n_kept: int,
    unit: float,
    cell_start: Ints64,
    cell_center: Doubles,
    cell_radius: Doubles,
    table: NDArray[Any],
    queries: Rows | None,
    n_visited: int,
    n_threads: int,
    poll: Callable[[int], object],
    index: Ints32,
    distance: NDArray[Any],
) -> int:
    """Find the k nearest rows of each query, or of each row; return how many distances were measured."""
    asked = rows if queries is None else queries
    k = index.shape[1] + (queries is None)
    points = shorten(asked, center, column, n_kept, unit)
    cell_of = np.repeat(np.arange(len(cell_start) - 1), np.diff(cell_start))
    home = cell_of if queries is None else [_away(point, cell_center).argmin() for point in points]
    n_visited = _enough_cells(np.diff(equal_start[cell_start]), n_visited, k)
    n_measured = 0
    for q, query in enumerate(asked):
        poll(q)
        visited = _visited(points[q], cell_center, int(home[q]), n_visited)
        candidate = np.flatnonzero(visited[cell_of])
        n_measured += candidate.size
        row, away = nearest_of(query, candidate, rows, equal, equal_start, k)
        if queries is not None:
            index[q], distance[q] = row, away
            continue
        for i in equal[equal_start[q] : equal_start[q + 1]]:
            others = np.flatnonzero(row != i)[: index.shape[1]]
            index[i], distance[i] = row[others], away[others]
    return n_measured


def nearest_of(
    query: Rows, candidate: NDArray[np.intp], rows: Rows, equal: Ints32, equal_start: Ints64, k: int
) -> tuple[Ints32, Doubles]:
    """Return the k nearest rows that are equal to some candidates, ties by number, and how far they are."""
    squared = np.square(query.astype(np.float64) - rows[candidate].astype(np.float64)).sum(axis=1)
    row = np.concatenate([equal[equal_start[c] : equal_start[c + 1]] for c in candidate])
    squared = np.repeat(squared, np.diff(equal_start)[candidate])
    nearest = np.lexsort((row, squared))[:k]
    return row[nearest], np.sqrt(squared[nearest])


def _away(point: Doubles, centers: Doubles) -> Doubles:
    """Return the distances of a point from all centers, added up column by column."""
    squared = np.zeros(len(centers))
    for h in range(centers.shape[1]):
        squared += np.square(point[h] - centers[:, h])
    return np.asarray(np.sqrt(squared))


def _enough_cells(n_rows: Ints64, n_visited: int, k: int) -> int:
    """Return how many cells to visit: those asked for, and so many that even the smallest hold k rows."""
    held = np.cumsum(np.sort(n_rows))
    return max(n_visited, 1 + int(np.searchsorted(held, k)))


def _visited(point: Doubles, centers: Doubles, home: int, n_visited: int) -> NDArray[np.bool_]:
    """Mark the cells nearest to a point, of those that are nearest to its home."""
    visited = np.ones(len(centers), dtype=bool)
    if n_visited < len(centers):
        away = _away(point, centers)
        around = np.argsort(_away(centers[home], centers), kind="stable")[: 4 * n_visited + 16]
        visited[:] = False
        visited[around] = away[around] <= np.sort(away[around])[n_visited - 1]
    return visited


def prepare_symmetry(start: Ints64, column: Ints32, weight: NDArray[Any], new_start: Ints64) -> None:
    """Write where the rows of the symmetric graph will begin, if no weight is 0."""
    directed = _matrix(np.ones_like(weight), column, start)
    new_start[:] = sparse.csr_array(directed + directed.T).indptr


def symmetrise(start: Ints64, column: Ints32, weight: NDArray[Any], is_mean: bool, new_start: Ints64) -> None:
    """Make lists symmetric, in arrays that have grown: the mean of both directions, or their maximum."""
    directed = _matrix(weight[: start[-1]].copy(), column[: start[-1]].copy(), start)
    back = directed.T.tocsr()
    both = sparse.csr_array((directed + back) * weight.dtype.type(0.5) if is_mean else directed.maximum(back))
    both.eliminate_zeros()
    both.sort_indices()
    column[: both.nnz], weight[: both.nnz], new_start[:] = both.indices, both.data, both.indptr


def add_up_rows(start: Ints64, weight: NDArray[Any], sum: Doubles) -> None:
    """Add up each row in doubles."""
    column = np.zeros(weight.size, dtype=np.int32)
    rows = sparse.csr_array((weight.astype(np.float64), column, start), shape=(sum.size, 1))
    sum[:] = np.asarray(rows.sum(axis=1)).ravel()


def number_parts(start: Ints64, column: Ints32, part: Ints32) -> int:
    """Write the connected part of each row, in the order of first rows; return how many there are."""
    n_parts, part[:] = csgraph.connected_components(
        _matrix(np.ones(column.size), column, start), directed=False
    )
    return int(n_parts)


def merge_nearest(
    at: Ints32,
    row: Ints32,
    distance: NDArray[np.float32],
    best_row: Ints32,
    best_distance: NDArray[np.float32],
) -> None:
    """Merge lists of nearest rows, ended by -1, into those of rows `at`; of a row twice the nearer one."""
    k = row.shape[1]
    for i, to in enumerate(at):
        both = [*zip(best_distance[to], best_row[to], strict=True), *zip(distance[i], row[i], strict=True)]
        nearest: dict[int, Any] = {}
        for away, other in sorted(pair for pair in both if pair[1] >= 0):
            nearest.setdefault(int(other), away)
        kept = list(nearest.items())[:k]
        best_row[to, : len(kept)], best_row[to, len(kept) :] = [other for other, _ in kept], -1
        best_distance[to, : len(kept)], best_distance[to, len(kept) :] = [away for _, away in kept], np.inf


def _matrix(weight: NDArray[Any], column: Ints32, start: Ints64) -> sparse.csr_array[Any, Any]:
    n_rows = start.size - 1
    return sparse.csr_array((weight, column, start), shape=(n_rows, n_rows))
