"""The nearest rows of every row, or of new rows.

Exact neighbors are found in two steps by the compiled core (``core/neighbors.hpp``). Products of float32
numbers give a certain lower bound for a distance, cheaply; the few rows that could be among the nearest are
then measured in float64, one pair at a time. The answer is the one a full table of float64 distances would
give: it does not depend on the processor, on threads or on how the work is divided, and rows at equal
distance are taken in the order of their numbers.

From ten thousand rows on, the rows are divided into cells, and a query looks only into cells near enough to
hold one of its neighbors. Very large tables may be searched approximately: a query then visits only so many
of the nearest cells, and rows are kept as float32.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelcut.arrays import Floats
from labelcut.graph._reference import nearest_of
from labelcut.graph.bounds import SHORTENINGS, Shortening, in_chunks
from labelcut.graph.cells import Cells, divide, search_cells
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
SAMPLE = 2000

#: Bounds are judged by so many rows, of which so many are asked for so many neighbors; they tell rows apart
#: if few more are measured for each than the log(n) per neighbor that come nearer and nearer in any order.
TRIAL_ROWS = 20_000
TRIAL_QUERIES = 64
TRIAL_NEIGHBORS = 16
FEW = 100

#: Distances of rows kept as float32 are float32, unless rows were scaled by more than this or its inverse.
MOST_SCALED = 2.0**60

#: Larger numbers have differences whose squares, added up, may overflow.
LARGEST = 1e150


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The nearest rows of each query, nearest first; rows at equal distance by row number.

    Attributes
    ----------
    index : ndarray of int32 of shape (n_queries, n_neighbors)
    distance : ndarray of shape (n_queries, n_neighbors)
        Of float64; of float32 where the rows are kept as float32.
    recall : float
        Share of the true nearest rows that were found; 1.0 when the search was exact.
    """

    index: NDArray[np.int32]
    distance: NDArray[Any]
    recall: float = 1.0


@dataclass(frozen=True, eq=False)
class Narrow:
    """Rows as float32: centered, and scaled by a power of two so that no number is above 1."""

    center: Floats
    scale: float

    @classmethod
    def of(cls, rows: Floats) -> Narrow:
        """Take center and scale from the rows."""
        whole = Shortening.of(rows, np.float32, 0.0)
        return cls(whole.center, whole.unit)

    def round(self, rows: Floats) -> NDArray[np.float32]:
        """Return rows as float32."""
        narrow = np.empty(rows.shape, dtype=np.float32)
        for chunk in in_chunks(len(rows)):
            narrow[chunk] = (rows[chunk] - self.center) * self.scale
        return narrow

    def undo(self, distance: NDArray[Any]) -> NDArray[Any]:
        """Return distances in the units of the rows as they were given."""
        if not 1.0 / MOST_SCALED < self.scale < MOST_SCALED:
            distance = distance.astype(np.float64)
        distance /= self.scale
        return distance


@dataclass(eq=False)
class NeighborIndex:
    """Rows made ready to be asked for neighbors: built once, asked often.

    Attributes
    ----------
    distinct : DistinctRows
        The rows, equal ones once; in the order of the cells once there are several.
    shortening : Shortening
        The cheapest bounds that tell these rows apart.
    method : {"auto", "exact", "approximate"}
        As in `neighbors`.
    narrow : Narrow or None
        How rows became float32, if the table is so large that its own rows are searched approximately.
    cells : Cells or None
        Made when first asked; several when so much is asked that they pay, and kept, but for their table.
    """

    distinct: DistinctRows
    shortening: Shortening
    method: str
    narrow: Narrow | None = None
    cells: Cells | None = field(default=None, repr=False)

    @property
    def n_rows(self) -> int:
        """The number of rows that can be neighbors."""
        return self.distinct.members.size

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return int(self.distinct.rows.shape[1])

    def of_own_rows(self, n_neighbors: int, n_jobs: int | None = None) -> Neighbors:
        """Find the nearest other rows of every row; an equal row elsewhere is a neighbor at distance 0."""
        check_count(n_neighbors, self.n_rows - 1)
        found = self._in_units(*self._search(None, n_neighbors, n_jobs))
        if self.cells is not None:  # new rows may not come for long
            self.cells.drop_table()
        return found

    def of(self, queries: ArrayLike, n_neighbors: int, n_jobs: int | None = None) -> Neighbors:
        """Find the nearest rows of new rows."""
        new = _check_matrix("queries", queries)
        if new.shape[1] != self.n_features:
            raise ValueError(
                f"queries have {new.shape[1]} columns, but X has {self.n_features}; pass the same columns."
            )
        check_count(n_neighbors, self.n_rows, "X has only {} rows")
        if self.narrow is not None:
            new = (new - self.narrow.center) * self.narrow.scale
        is_far = self.shortening.is_far(new)
        near = new[~is_far].astype(self.distinct.rows.dtype)
        if not is_far.any():
            return self._in_units(*self._search(near, n_neighbors, n_jobs))
        index = np.empty((len(new), n_neighbors), dtype=np.int32)
        distance = np.empty((len(new), n_neighbors))
        index[~is_far], distance[~is_far], recall = self._search(near, n_neighbors, n_jobs)
        distinct = self.distinct
        every = np.arange(len(distinct.rows))
        for i in np.flatnonzero(is_far):
            index[i], distance[i] = nearest_of(
                new[i], every, distinct.rows, distinct.members, distinct.starts, n_neighbors
            )
        return self._in_units(index, distance, recall)

    def _in_units(self, index: NDArray[np.int32], distance: NDArray[Any], recall: float) -> Neighbors:
        """Return an answer with distances in the units of the rows as they were given."""
        return Neighbors(index, distance if self.narrow is None else self.narrow.undo(distance), recall)

    def _search(
        self, queries: NDArray[Any] | None, k: int, n_jobs: int | None
    ) -> tuple[NDArray[np.int32], NDArray[Any], float]:
        """Return row numbers and distances of the k nearest rows of each query, and the recall.

        Without queries all rows are asked for their nearest others.
        """
        n_distinct = len(self.distinct.rows)
        n_queries = n_distinct if queries is None else len(queries)
        is_large = min(n_distinct, n_queries) >= CELLS_FROM
        if is_large and (self.cells is None or self.cells.count == 1):
            # Cells bring their own rows, so a thread that asks meanwhile finds the old or the new ones whole.
            self.distinct, self.cells = divide(self.distinct, self.shortening, n_jobs)
        cells = self.cells or Cells.one(self.distinct, self.shortening)
        self.cells, distinct = cells, cells.distinct
        if not (is_large and _is_approximate(self.method, n_queries, n_distinct, self.n_features)):
            return *search_cells(distinct, cells, queries, k, cells.count, n_jobs)[:2], 1.0

        is_own = queries is None
        sampled = np.random.default_rng(0).choice(n_queries, SAMPLE, replace=False)
        some = (distinct.rows if queries is None else queries)[sampled]
        truth = search_cells(distinct, cells, some, k + is_own, cells.count, n_jobs)[0]
        trial, check = np.array_split(np.arange(SAMPLE), 2)

        def recall_in(n_visited: int) -> float:
            found = search_cells(distinct, cells, some[trial], truth.shape[1], n_visited, n_jobs)[0]
            return share_found(truth[trial], found)

        goal = (k * RECALL + is_own) / (k + is_own)  # a row surely finds itself
        n_visited = 1 + bisect_left(range(1, cells.count), goal, key=recall_in)
        index, distance, _ = search_cells(distinct, cells, queries, k, n_visited, n_jobs)
        line = distinct.members[distinct.starts[sampled]] if is_own else sampled
        return index, distance, share_found(index[line[check]], truth[check])


def share_found(wanted: NDArray[np.int32], found: NDArray[np.int32]) -> float:
    """Return the share of the rows in each line that are in the same line of another list."""
    return float(np.mean([np.isin(one, other).mean() for one, other in zip(wanted, found, strict=True)]))


def _is_approximate(method: str, n_queries: int, n_rows: int, n_features: int) -> bool:
    """Tell whether a large question is answered approximately."""
    # Looking at a bound takes as long as some 20 multiplications.
    work = float(n_queries) * n_rows * (n_features + 20)
    return method == "approximate" or (method == "auto" and work > EXACT_WORK)


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
    n_distinct, n_features = distinct.rows.shape
    narrow = None
    if n_distinct >= CELLS_FROM and _is_approximate(method, n_distinct, n_distinct, n_features):
        narrow = Narrow.of(distinct.rows)
        distinct = replace(distinct, rows=narrow.round(distinct.rows))
    elif distinct.rows is rows:
        distinct = replace(distinct, rows=rows.copy())  # the caller may change his
    return NeighborIndex(distinct, _choose_shortening(distinct), method, narrow)


def _choose_shortening(distinct: DistinctRows) -> Shortening:
    """Return the cheapest bounds that leave few rows to measure, judged by some of the rows themselves.

    A single column may hold nearly all the variance, and rows that agree in it differ by less than the cheap
    bounds can see.
    """
    rows = distinct.rows[:: 1 + len(distinct.rows) // TRIAL_ROWS]
    each = np.arange(len(rows) + 1)
    some = DistinctRows(np.ascontiguousarray(rows), each[:-1].astype(np.int32), each)
    queries = rows[:: max(1, len(rows) // TRIAL_QUERIES)][:TRIAL_QUERIES].copy()
    k = min(TRIAL_NEIGHBORS, len(rows))
    best, fewest = None, np.inf
    for number, negligible in SHORTENINGS:
        shortening = Shortening.of(rows, number, negligible)
        _, _, count = search_cells(some, Cells.one(some, shortening), queries, k, 1, None)
        # Ties leave many rows under any bounds.
        if best is None or count < fewest / 2:
            best, fewest = (number, negligible), count
        if fewest <= len(queries) * (FEW + k * np.log(len(rows))):
            break
    assert best is not None
    return Shortening.of(distinct.rows, *best)


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


def check_count(n_neighbors: int, n_others: int, found: str = "each row has only {} others") -> None:
    """Check that there are enough rows to be neighbors."""
    if whole("n_neighbors", n_neighbors, 1) > n_others:
        raise ValueError(
            f"n_neighbors={n_neighbors}, but {found.format(n_others)}; "
            + (f"choose at most {n_others}." if n_others else "at least two rows are needed.")
        )


def _check_matrix(name: str, X: ArrayLike) -> Floats:
    """Return a matrix of finite float64."""
    matrix = np.asarray(X, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(f"{name} has shape {matrix.shape}; give one row per case and at least one column.")
    if not np.isfinite(matrix).all():
        i, h = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(
            f"{name}[{i}, {h}] is {matrix[i, h]}; replace or impute missing and infinite values first."
        )
    if len(matrix) and max(matrix.max(), -matrix.min()) > LARGEST:
        raise ValueError(
            f"{name} holds numbers above {LARGEST}, whose squares overflow; scale the columns first."
        )
    return np.ascontiguousarray(matrix)
