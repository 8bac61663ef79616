"""The nearest rows of every row, or of new rows.

Exact neighbors are found in two steps. A product of float32 matrices gives a certain lower bound for every
distance, cheaply; the few rows that could be among the nearest are then measured in float64, one pair at a
time. The answer is the one a full table of float64 distances would give: it does not depend on the BLAS
library, on threads or on how the work is divided, and rows at equal distance are taken in the order of their
numbers.

From ten thousand rows on, the rows are divided into cells, and a query looks only into cells near enough to
hold one of its neighbors. Very large tables may be searched approximately: a query then visits only so many
of the nearest cells.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import ThreadpoolController

__all__ = ["Neighbors", "check_count", "neighbors", "row_bytes"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: Queries handled at once; most bounds kept at once per thread (64 MB of float32); bounds not worth dividing.
BLOCK_ROWS = 256
BLOCK_BOUNDS = 1 << 24
SMALL_BOUNDS = 1 << 20

#: Rows of X whose bounds are reduced to their minimum before the smallest are looked for.
GROUP = 32

#: Columns with this last share of the variance are merged into one in the cheapest bounds.
NEGLIGIBLE = 0.002

#: Bounds are cheap enough if this many queries leave few more rows than wanted to measure, on average.
BOUND_QUERIES = 64
FEW = 100

#: Rows, and queries, from which the rows are divided into cells.
CELLS_FROM = 10_000

#: Rows per center and rounds to place it, rows for a first guess, queries and rows handled at once.
ROWS_PER_CENTER = 50
ROUNDS = 8
FIRST_ROWS = 1000
CELL_QUERIES = 1 << 13
CENTER_ROWS = 1 << 12

#: Multiplications, had all bounds to be computed, up to which "auto" searches exactly.
EXACT_WORK = 1e12

#: Approximate search: share of the true neighbors it aims at, and the queries it is measured on.
RECALL = 0.98
SAMPLE = 1000

#: Larger numbers have differences whose squares, added up, may overflow.
LARGEST = 1e150

#: Numbers of float64 gathered at once to measure pairs (32 MB).
PAIR_NUMBERS = 1 << 22


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The nearest rows of each query, nearest first; rows at equal distance by row number.

    Attributes
    ----------
    index : ndarray of int of shape (n_queries, n_neighbors)
    distance : ndarray of shape (n_queries, n_neighbors)
    recall : float
        Share of the true nearest rows that were found; 1.0 when the search was exact.
    """

    index: Ints
    distance: Floats
    recall: float = 1.0


def neighbors(
    X: ArrayLike,
    n_neighbors: int,
    queries: ArrayLike | None = None,
    *,
    method: str = "auto",
    n_jobs: int | None = None,
) -> Neighbors:
    """Find the nearest rows of X for every row of X, or for new rows.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    n_neighbors : int
    queries : array-like of shape (n_queries, n_features), optional
        New rows. Without them each row of X is asked for its neighbors among the others; it is left out
        itself by its number, so an equal row elsewhere is a neighbor at distance 0.
    method : {"auto", "exact", "approximate"}, default="auto"
        "approximate" looks only into the cells nearest to each query, as many as are needed to find 98 % of
        the true neighbors of sampled queries; ``recall`` is the share it found for other sampled queries.
        "auto" is exact up to 150 000 rows of 20 columns or 100 000 of 80, and approximate above.
    n_jobs : int or None
        Threads, as in joblib. The result does not depend on it.

    Returns
    -------
    Neighbors
    """
    rows = _check_matrix("X", X)
    if method not in ("auto", "exact", "approximate"):
        raise ValueError(f"method is {method!r}; choose 'auto', 'exact' or 'approximate'.")
    if queries is not None:
        new = _check_matrix("queries", queries)
        if new.shape[1] != rows.shape[1]:
            raise ValueError(
                f"queries have {new.shape[1]} columns, but X has {rows.shape[1]}; pass the same columns."
            )
        check_count(n_neighbors, len(rows), "X has only {} rows")
        return Neighbors(*_search(_Distinct.of(rows), new, n_neighbors, method, n_jobs))

    check_count(n_neighbors, len(rows) - 1)
    distinct = _Distinct.of(rows)
    index, distance, recall = _search(distinct, distinct.rows, n_neighbors + 1, method, n_jobs)
    return Neighbors(*_drop_self(index[distinct.number], distance[distinct.number]), recall)


def _search(
    distinct: _Distinct, queries: Floats, k: int, method: str, n_jobs: int | None
) -> tuple[Ints, Floats, float]:
    """Return row numbers and distances of the k nearest rows of each query, and the recall."""
    n_distinct, n_features = distinct.rows.shape
    bounds = _choose_bounds(distinct, queries, k)
    if n_distinct < CELLS_FROM or len(queries) < CELLS_FROM:
        return *_search_everywhere(distinct, queries, k, bounds, n_jobs), 1.0
    cells = _Cells.of(bounds, distinct.rows, n_jobs)
    # Looking at a bound takes as long as some 20 multiplications.
    work = float(len(queries)) * n_distinct * (n_features + 20)
    if method == "exact" or (method == "auto" and work <= EXACT_WORK):
        return *_search_cells(distinct, queries, k, bounds, cells, cells.count, n_jobs), 1.0

    sampled = np.random.default_rng(0).choice(len(queries), SAMPLE, replace=False)
    truth, _ = _search_cells(distinct, queries[sampled], k, bounds, cells, cells.count, n_jobs)
    trial, check = np.array_split(np.arange(SAMPLE), 2)
    ranks = cells.ranks(bounds.shorten(queries[sampled[trial]]), distinct.number[truth[trial]])
    n_visited = 1 + int(np.quantile(ranks, RECALL, method="inverted_cdf"))
    index, distance = _search_cells(distinct, queries, k, bounds, cells, n_visited, n_jobs)
    found = [np.isin(truth[i], index[sampled[i]]).mean() for i in check]
    return index, distance, float(np.mean(found))


@dataclass(frozen=True, eq=False)
class _Distinct:
    """The different rows of a matrix, and which rows are equal to each of them.

    Equal rows are at equal distance from everything, so they are looked for only once.
    """

    rows: Floats
    number: Ints  # the distinct row each row is equal to
    members: Ints  # all rows, those equal to distinct row 0 first, ascending
    starts: Ints  # where the members of each distinct row begin; one more at the end

    @classmethod
    def of(cls, X: Floats) -> _Distinct:
        _, first, number, counts = np.unique(
            row_bytes(X), return_index=True, return_inverse=True, return_counts=True
        )
        return cls(X[first], number, np.argsort(number, kind="stable"), np.append(0, np.cumsum(counts)))


def row_bytes(X: Floats) -> NDArray[np.void]:
    """Return each row as one opaque value, equal exactly when the rows are the same bytes."""
    X = np.ascontiguousarray(X)
    return X.view(np.dtype((np.void, X.itemsize * X.shape[1]))).reshape(len(X))


class _LowerBounds:
    """Certain lower bounds for the distances between queries and rows, by one product of matrices.

    Columns that vary little may be replaced by one, the size of that part of the row, which can only bring
    rows nearer together. For a query x and a row y the bound is then one of ``|y|**2 / 2 - x @ y``, which
    orders the rows as the distance does. With u the rounding of a number, the sum of H + 2 products is off by
    at most ``(H + 5) * u * (|x| * |y| + |y|**2 / 2)``, in whatever order it is added up; twice that much is
    subtracted, by two columns added to the product.
    """

    def __init__(
        self, rows: Floats, queries: Floats, number: type[np.floating[Any]], negligible: float
    ) -> None:
        self.number = number
        self.center = np.median(rows, axis=0)
        largest = max(np.abs(rows - self.center).max(), np.abs(queries - self.center).max(initial=0.0))
        # A power of two keeps all digits, and no product overflows; what underflows is covered by ``tiny``.
        self.unit = 2.0 ** -np.ceil(np.log2(largest)) if largest > 0.0 else 1.0
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

    def factor(self, queries: Floats) -> tuple[NDArray[Any], Floats]:
        """Return what to multiply the table with, one line per query, and the squared size of each query."""
        x = self.shorten(queries)
        square = np.square(x).sum(axis=1)
        return np.column_stack([x, np.ones(len(x)), np.sqrt(square)]).astype(self.number), square

    def limit(self, squared_distance: Floats, square: Floats) -> NDArray[Any]:
        """Return a number that no bound of a row within the given squared distance exceeds."""
        scaled = squared_distance * self.unit**2
        # The addition covers the rounding of float64 sums, the step up that of the result.
        rounding = 4.0 * (self.center.size + 8) * float(np.finfo(np.float64).eps)
        exact = (scaled - square) / 2.0 + rounding * (scaled + square)
        return np.asarray(np.nextafter(exact.astype(self.number), self.number(np.inf)))


def _choose_bounds(distinct: _Distinct, queries: Floats, k: int) -> _LowerBounds:
    """Return the cheapest bounds that leave few rows to measure, judged by some of the queries.

    A single column may hold nearly all the variance, and rows that agree in it differ by less than the cheap
    bounds can see.
    """
    some = queries[:: max(1, len(queries) // BOUND_QUERIES)][:BOUND_QUERIES]
    best, fewest = None, np.inf
    for number, negligible in ((np.float32, NEGLIGIBLE), (np.float32, 0.0), (np.float64, 0.0)):
        bounds = _LowerBounds(distinct.rows, queries, number, negligible)
        buffer = np.empty((len(some), len(distinct.rows)), dtype=number)
        count = _candidates(distinct, some, k, bounds, buffer)[0].size
        # Ties leave many rows under any bounds.
        if best is None or count < fewest / 2:
            best, fewest = bounds, count
        if fewest <= len(some) * (k + FEW):
            break
    assert best is not None
    return best


def _search_everywhere(
    distinct: _Distinct, queries: Floats, k: int, bounds: _LowerBounds, n_jobs: int | None
) -> tuple[Ints, Floats]:
    """Return row numbers and distances of the k nearest rows of each query, from the bounds of all rows."""
    n_distinct = len(distinct.rows)
    # At least so many rows that a product is worth it; small tables are one block.
    height = max(BLOCK_ROWS, SMALL_BOUNDS // n_distinct)
    height = max(16, min(height, BLOCK_BOUNDS // n_distinct))
    index = np.empty((len(queries), k), dtype=np.intp)
    distance = np.empty((len(queries), k))

    def search(starts: Ints) -> None:
        buffer = np.empty((height, n_distinct), dtype=bounds.number)
        for start in starts:
            block = slice(start, start + height)
            query, candidate = _candidates(distinct, queries[block], k, bounds, buffer)
            index[block], distance[block] = _sort_out(distinct, queries[block], query, candidate, k)

    _run_in_threads(search, np.arange(0, len(queries), height), n_jobs)
    return index, distance


def _run_in_threads(search: Callable[[Ints], None], starts: Ints, n_jobs: int | None) -> None:
    """Call ``search`` with a share of the starts in each thread."""
    if starts.size <= 1:
        search(starts)
        return
    n_threads = effective_n_jobs(n_jobs)
    # Threads take whole blocks; a product that starts threads of its own would only get in their way.
    with _blas().limit(limits=1, user_api="blas"):
        shares = [starts[i::n_threads] for i in range(n_threads)]
        Parallel(n_jobs=n_threads, prefer="threads")(delayed(search)(share) for share in shares)


@functools.cache
def _blas() -> ThreadpoolController:
    """Return the handle on the loaded BLAS libraries; finding them takes longer than a small search."""
    return ThreadpoolController()


def _candidates(
    distinct: _Distinct, queries: Floats, k: int, bounds: _LowerBounds, buffer: NDArray[Any]
) -> tuple[Ints, Ints]:
    """Return pairs of a query and a distinct row, among them all those of the k nearest."""
    factor, square = bounds.factor(queries)
    lower = np.matmul(factor, bounds.table, out=buffer[: len(factor)])
    # The k nearest are not farther than any k rows, so only rows with bounds up to that distance matter.
    some = _rows_with_small_bounds(lower, min(k, lower.shape[1]))
    limit = bounds.limit(_farthest(distinct.rows, queries, some), square)
    query, candidate = np.divmod(np.flatnonzero(lower <= limit[:, None]), lower.shape[1])
    return query, candidate


def _farthest(rows: Floats, queries: Floats, some: Ints) -> Floats:
    """Return the largest squared distance of each query from some rows, given by number in one line each."""
    query = np.repeat(np.arange(len(queries)), some.shape[1])
    squared = _squared_distances(queries, query, rows, some.ravel())
    return np.asarray(squared.reshape(some.shape).max(axis=1))


def _rows_with_small_bounds(lower: NDArray[Any], k: int) -> Ints:
    """Return k different columns per line, most of them among the k smallest."""
    n_lines, n_columns = lower.shape
    size = max(1, min(GROUP, n_columns // (8 * k)))
    n_groups = n_columns // size
    # A group takes every n_groups-th column: rows next to each other in the table fall into different groups.
    grouped = lower[:, : n_groups * size].reshape(n_lines, size, n_groups)
    group = np.argpartition(grouped.min(axis=1), k - 1, axis=1)[:, :k]
    place = np.take_along_axis(grouped, group[:, None, :], axis=2).argmin(axis=1)
    return np.asarray(place * n_groups + group)


def _sort_out(
    distinct: _Distinct, queries: Floats, query: Ints, candidate: Ints, k: int
) -> tuple[Ints, Floats]:
    """Return row numbers and distances of the k nearest among the candidates of each query."""
    squared = _squared_distances(queries, query, distinct.rows, candidate)
    # Of more than k equal rows only the first k can be wanted.
    begin = distinct.starts[candidate]
    counts = np.minimum(distinct.starts[candidate + 1] - begin, k)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    row = distinct.members[np.repeat(begin, counts) + within]
    query, squared = np.repeat(query, counts), np.repeat(squared, counts)
    order = np.lexsort((row, squared, query))
    per_query = np.bincount(query, minlength=len(queries))
    wanted = order[(np.cumsum(per_query) - per_query)[:, None] + np.arange(k)]
    return row[wanted], np.sqrt(squared[wanted])


@dataclass(frozen=True, eq=False)
class _Cells:
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
    def of(cls, bounds: _LowerBounds, rows: Floats, n_jobs: int | None) -> _Cells:
        """Place the centers by a few rounds of k-means on some of the rows."""
        n_cells = int(np.sqrt(len(rows)))
        rng = np.random.default_rng(0)
        some = rng.choice(len(rows), min(len(rows), n_cells * ROWS_PER_CENTER), replace=False)
        sample = bounds.shorten(rows[some])
        centers = sample[:n_cells].copy()
        for _ in range(ROUNDS):
            number, _ = _nearest_center(sample, centers, n_jobs)
            count = np.bincount(number, minlength=n_cells)
            used = count > 0
            for h in range(centers.shape[1]):
                centers[used, h] = np.bincount(number, sample[:, h], n_cells)[used] / count[used]
        number, distance = _nearest_center(bounds.shorten(rows), centers, n_jobs)
        radius = np.zeros(n_cells)
        np.maximum.at(radius, number, distance)
        members = np.argsort(number, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(number, minlength=n_cells)))
        around = np.argsort(_center_distances(centers, centers), axis=1, kind="stable")
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
        distance = _center_distances(queries, self.centers)
        reached = np.take_along_axis(distance, self.number[rows], axis=1)
        return np.asarray((distance[:, None, :] < reached[:, :, None]).sum(axis=2))


def _search_cells(
    distinct: _Distinct,
    queries: Floats,
    k: int,
    bounds: _LowerBounds,
    cells: _Cells,
    n_visited: int,
    n_jobs: int | None,
) -> tuple[Ints, Floats]:
    """Return row numbers and distances of the k nearest rows in the given number of cells around each query.

    The search is exact when all cells may be visited: those too far away to hold one of the k are left out.
    """
    index = np.empty((len(queries), k), dtype=np.intp)
    distance = np.empty((len(queries), k))
    # Queries that are near each other visit the same cells, so they are handled together.
    is_own = queries is distinct.rows
    number = cells.number if is_own else _nearest_center(bounds.shorten(queries), cells.centers, n_jobs)[0]
    order = np.argsort(number, kind="stable")

    def search(starts: Ints) -> None:
        buffer = np.empty(CELL_QUERIES * int(np.diff(cells.starts).max()), dtype=bounds.number)
        for start in starts:
            block = order[start : start + CELL_QUERIES]
            some = queries[block]
            query, candidate = _candidates_in_cells(distinct, some, k, bounds, cells, n_visited, buffer)
            index[block], distance[block] = _sort_out(distinct, some, query, candidate, k)

    _run_in_threads(search, np.arange(0, len(queries), CELL_QUERIES), n_jobs)
    return index, distance


def _candidates_in_cells(
    distinct: _Distinct,
    queries: Floats,
    k: int,
    bounds: _LowerBounds,
    cells: _Cells,
    n_visited: int,
    buffer: NDArray[Any],
) -> tuple[Ints, Ints]:
    """Return pairs of a query and a distinct row, among them the k nearest that are in visited cells."""
    factor, square = bounds.factor(queries)
    away = _center_distances(bounds.shorten(queries), cells.centers)
    nearest = away.argmin(axis=1)

    n_some = min(k, len(distinct.rows))
    some = np.empty((len(queries), n_some), dtype=np.intp)
    for cell in np.unique(nearest):
        mine = np.flatnonzero(nearest == cell)
        table, rows = cells.around_cell(cell, max(FIRST_ROWS, n_some))
        some[mine] = rows[_rows_with_small_bounds(factor[mine] @ table, n_some)]
    farthest = _farthest(distinct.rows, queries, some)
    limit = bounds.limit(farthest, square)

    # The triangle inequality, with room for the rounding of both distances from a center.
    sizes = np.sqrt(square) + np.sqrt(np.square(cells.centers).sum(axis=1).max())
    room = np.sqrt(32.0 * (cells.centers.shape[1] + 8) * np.finfo(np.float64).eps) * sizes
    visited = away <= (np.sqrt(farthest) * bounds.unit + room)[:, None] + cells.radius
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


def _center_distances(rows: Floats, centers: Floats) -> Floats:
    """Return the distances of rows from centers, one line per row."""
    squared = np.square(rows).sum(axis=1)[:, None] + np.square(centers).sum(axis=1) - 2.0 * rows @ centers.T
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def _nearest_center(rows: Floats, centers: Floats, n_jobs: int | None) -> tuple[Ints, Floats]:
    """Return number and distance of the center nearest to each row."""
    number = np.empty(len(rows), dtype=np.intp)
    distance = np.empty(len(rows))

    def search(starts: Ints) -> None:
        for start in starts:
            block = slice(start, start + CENTER_ROWS)
            away = _center_distances(rows[block], centers)
            number[block] = away.argmin(axis=1)
            distance[block] = away.min(axis=1)

    _run_in_threads(search, np.arange(0, len(rows), CENTER_ROWS), n_jobs)
    return number, distance


def _squared_distances(A: Floats, i: Ints, B: Floats, j: Ints) -> Floats:
    """Return ``|A[i] - B[j]|**2`` for pairs of rows; a pair gives the same bytes wherever it stands."""
    squared = np.empty(len(i))
    step = max(1, PAIR_NUMBERS // A.shape[1])
    for start in range(0, len(i), step):
        chunk = slice(start, start + step)
        difference = A.take(i[chunk], axis=0) - B.take(j[chunk], axis=0)
        np.square(difference, out=difference).sum(axis=1, out=squared[chunk])
    return squared


def _drop_self(index: Ints, distance: Floats) -> tuple[Ints, Floats]:
    """Return the lists without the row itself, or without the last if it is crowded out by equal rows."""
    dropped = index == np.arange(len(index))[:, None]
    dropped[~dropped.any(axis=1), -1] = True
    shape = (len(index), index.shape[1] - 1)
    return index[~dropped].reshape(shape), distance[~dropped].reshape(shape)


def check_count(n_neighbors: int, n_others: int, found: str = "each row has only {} others") -> None:
    """Check that there are enough rows to be neighbors."""
    if whole("n_neighbors", n_neighbors, 1) > n_others:
        raise ValueError(
            f"n_neighbors={n_neighbors}, but {found.format(n_others)}; "
            + (f"choose at most {n_others}." if n_others else "at least two rows are needed.")
        )


def _check_matrix(name: str, X: ArrayLike) -> Floats:
    """Return a matrix of finite float64 in which 0 has one form."""
    matrix = np.asarray(X, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(f"{name} has shape {matrix.shape}; give one row per case and at least one column.")
    if not np.isfinite(matrix).all():
        i, h = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(
            f"{name}[{i}, {h}] is {matrix[i, h]}; replace or impute missing and infinite values first."
        )
    if len(matrix) and np.abs(matrix).max() > LARGEST:
        raise ValueError(
            f"{name} holds numbers above {LARGEST}, whose squares overflow; scale the columns first."
        )
    return np.ascontiguousarray(matrix + 0.0)  # -0.0 becomes 0.0
