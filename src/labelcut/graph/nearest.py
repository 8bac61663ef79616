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

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from labelcut.arrays import Floats, Ints
from labelcut.graph.bounds import LowerBounds, choose_bounds, search_everywhere
from labelcut.graph.cells import Cells, search_cells
from labelcut.graph.distinct import DistinctRows
from labelcut.parameters import one_of, whole

__all__ = ["NeighborIndex", "Neighbors", "build_index", "check_count", "neighbors"]


#: How neighbors can be looked for.
METHODS = ("auto", "exact", "approximate")

#: Rows, and queries, from which the rows are divided into cells.
CELLS_FROM = 10_000

#: Multiplications, had all bounds to be computed, up to which "auto" searches exactly.
EXACT_WORK = 1e12

#: Approximate search: share of the true neighbors it aims at, and the queries it is measured on.
RECALL = 0.98
SAMPLE = 1000

#: Larger numbers have differences whose squares, added up, may overflow.
LARGEST = 1e150


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


@dataclass(eq=False)
class NeighborIndex:
    """Rows made ready to be asked for neighbors: built once, asked often.

    Attributes
    ----------
    distinct : DistinctRows
        The rows, equal ones once.
    bounds : LowerBounds
        The cheapest bounds that tell these rows apart.
    method : {"auto", "exact", "approximate"}
        As in `neighbors`.
    cells : Cells or None
        Made when so much is asked that they pay, and kept.
    """

    distinct: DistinctRows
    bounds: LowerBounds
    method: str
    cells: Cells | None = field(default=None, repr=False)

    @property
    def n_rows(self) -> int:
        """The number of rows that can be neighbors."""
        return self.distinct.number.size

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return int(self.distinct.rows.shape[1])

    def of_own_rows(self, n_neighbors: int, n_jobs: int | None = None) -> Neighbors:
        """Find the nearest other rows of every row; an equal row elsewhere is a neighbor at distance 0."""
        check_count(n_neighbors, self.n_rows - 1)
        number = self.distinct.number
        index, distance, recall = self._search(self.distinct.rows, n_neighbors + 1, n_jobs)
        return Neighbors(*_drop_self(index[number], distance[number]), recall)

    def of(self, queries: ArrayLike, n_neighbors: int, n_jobs: int | None = None) -> Neighbors:
        """Find the nearest rows of new rows."""
        new = _check_matrix("queries", queries)
        if new.shape[1] != self.n_features:
            raise ValueError(
                f"queries have {new.shape[1]} columns, but X has {self.n_features}; pass the same columns."
            )
        check_count(n_neighbors, self.n_rows, "X has only {} rows")
        is_far = self.bounds.is_far(new)
        if not is_far.any():
            return Neighbors(*self._search(new, n_neighbors, n_jobs))
        index = np.empty((len(new), n_neighbors), dtype=np.intp)
        distance = np.empty((len(new), n_neighbors))
        index[~is_far], distance[~is_far], recall = self._search(new[~is_far], n_neighbors, n_jobs)
        every = np.arange(len(self.distinct.rows))
        for i in np.flatnonzero(is_far):
            one = self.distinct.nearest_of(new[[i]], np.zeros_like(every), every, n_neighbors)
            index[i], distance[i] = one[0][0], one[1][0]
        return Neighbors(index, distance, recall)

    def _search(self, queries: Floats, k: int, n_jobs: int | None) -> tuple[Ints, Floats, float]:
        """Return row numbers and distances of the k nearest rows of each query, and the recall."""
        distinct, bounds = self.distinct, self.bounds
        n_distinct = len(distinct.rows)
        if n_distinct < CELLS_FROM or len(queries) < CELLS_FROM:
            return *search_everywhere(distinct, queries, k, bounds, n_jobs), 1.0
        if self.cells is None:
            self.cells = Cells.of(bounds, distinct.rows, n_jobs)
        cells = self.cells
        # Looking at a bound takes as long as some 20 multiplications.
        work = float(len(queries)) * n_distinct * (self.n_features + 20)
        if self.method == "exact" or (self.method == "auto" and work <= EXACT_WORK):
            return *search_cells(distinct, queries, k, bounds, cells, cells.count, n_jobs), 1.0

        sampled = np.random.default_rng(0).choice(len(queries), SAMPLE, replace=False)
        truth, _ = search_cells(distinct, queries[sampled], k, bounds, cells, cells.count, n_jobs)
        trial, check = np.array_split(np.arange(SAMPLE), 2)
        ranks = cells.ranks(bounds.shorten(queries[sampled[trial]]), distinct.number[truth[trial]])
        n_visited = 1 + int(np.quantile(ranks, RECALL, method="inverted_cdf"))
        index, distance = search_cells(distinct, queries, k, bounds, cells, n_visited, n_jobs)
        found = [np.isin(truth[i], index[sampled[i]]).mean() for i in check]
        return index, distance, float(np.mean(found))


def build_index(X: ArrayLike, *, method: str = "auto") -> NeighborIndex:
    """Make rows ready to be asked for their neighbors.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    method : {"auto", "exact", "approximate"}, default="auto"
        As in `neighbors`.

    Returns
    -------
    NeighborIndex
    """
    rows = _check_matrix("X", X)
    one_of("method", method, METHODS)
    if not len(rows):
        raise ValueError("X has no rows; at least one is needed to be a neighbor.")
    distinct = DistinctRows.of(rows)
    return NeighborIndex(distinct, choose_bounds(distinct), method)


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
    index = build_index(X, method=method)
    if queries is None:
        return index.of_own_rows(n_neighbors, n_jobs)
    return index.of(queries, n_neighbors, n_jobs)


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
