"""Nearest rows, and the weighted graph that joins them.

Exact neighbors are found in two steps. A product of float32 matrices gives a certain lower bound for every
distance, cheaply; the few rows that could be among the nearest are then measured in float64, one pair at a
time. The answer is the one a full table of float64 distances would give: it does not depend on the BLAS
library, on threads or on how the work is divided, and rows at equal distance are taken in the order of their
numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph
from threadpoolctl import threadpool_limits

from labelcut.features import row_bytes

__all__ = [
    "Neighbors",
    "SimilarityGraph",
    "graph_from_distances",
    "kernel_weights",
    "neighbors",
    "similarity_graph",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: Queries handled at once, and the most bounds kept at once per thread (64 MB of float32).
BLOCK_ROWS = 256
BLOCK_BOUNDS = 1 << 24

#: Rows of X whose bounds are reduced to their minimum before the smallest are looked for.
GROUP = 64

# Share of the variance whose columns are merged into one in the bounds: less to multiply, few more to
# measure.
NEGLIGIBLE = 0.002

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


@dataclass(frozen=True, eq=False)
class SimilarityGraph:
    """Rows joined to their nearest rows, weighted by likeness.

    Attributes
    ----------
    weights : csr_array of shape (n_rows, n_rows)
        Symmetric, positive, sorted, without self-loops. A weight too small for a float64 is left out.
    degree : ndarray of shape (n_rows,)
        Sum of the weights of each row; 0 for a row without neighbors.
    component : ndarray of int of shape (n_rows,)
        Which connected part of the graph each row is in.
    n_components : int
    n_neighbors : int
        Neighbors asked for per row. A row may have more, because others may choose it.
    bandwidth : float
    recall : float
        Share of the true nearest rows that were found; 1.0 when the search was exact.
    """

    weights: sparse.csr_array[Any, Any]
    n_neighbors: int
    bandwidth: float
    recall: float = 1.0
    degree: Floats = field(init=False)
    component: Ints = field(init=False)
    n_components: int = field(init=False)

    def __post_init__(self) -> None:
        """Add up the degrees and find the connected parts."""
        n_components, component = csgraph.connected_components(self.weights, directed=False)
        object.__setattr__(self, "degree", np.asarray(self.weights.sum(axis=1)).ravel())
        object.__setattr__(self, "component", component.astype(np.intp))
        object.__setattr__(self, "n_components", int(n_components))


def similarity_graph(
    X: ArrayLike,
    *,
    n_neighbors: int = 15,
    bandwidth: float = 0.75,
    kernel: str = "squared",
    one_sided: str = "half",
    method: str = "auto",
    n_jobs: int | None = None,
) -> SimilarityGraph:
    """Join each row to its nearest rows, weighted by likeness.

    The weight of rows i and j at distance d is ``exp(-d**2 / (n_features * 2 * bandwidth**2))``; the division
    by the number of features keeps one bandwidth usable for narrow and wide tables.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Scaled features without missing values, weighted by the square root of their importance.
    n_neighbors : int, default=15
        Neighbors asked for per row. A row may end with more, because others may choose it.
    bandwidth : float, default=0.75
        Distance at which likeness has clearly faded. Larger joins more distant rows.
    kernel : {"squared", "literal"}, default="squared"
        "literal" is the formula as printed in the paper, ``exp(-d / (2 * bandwidth**2))``.
    one_sided : {"half", "full"}, default="half"
        What a neighbor counts that does not choose back. "half": the weight is the mean of both directions.
        "full": one direction is enough, as in the text of the paper.
    method : {"auto", "exact"}, default="auto"
        How neighbors are found, see `neighbors`.
    n_jobs : int or None
        Threads, as in joblib. The result does not depend on it.

    Returns
    -------
    SimilarityGraph
    """
    weigh = _kernel(kernel, bandwidth, np.asarray(X).shape[-1])
    combine = _one_sided(one_sided)
    found = neighbors(X, n_neighbors, method=method, n_jobs=n_jobs)
    n_rows = len(found.index)
    starts = np.arange(0, n_rows * n_neighbors + 1, n_neighbors)
    directed = sparse.csr_array(
        (weigh(found.distance).ravel(), found.index.ravel(), starts), shape=(n_rows, n_rows)
    )
    return SimilarityGraph(combine(directed), n_neighbors, float(bandwidth), found.recall)


def graph_from_distances(
    distances: Any,
    *,
    n_neighbors: int | None = None,
    bandwidth: float = 0.75,
    kernel: str = "squared",
    one_sided: str = "half",
    n_features: int = 1,
) -> SimilarityGraph:
    """Weigh the edges of a graph whose distances are known already.

    Parameters
    ----------
    distances : sparse matrix or array of shape (n_rows, n_rows)
        Row i holds the distances from i to its neighbors, as made by ``sklearn.neighbors.kneighbors_graph``
        with ``mode="distance"`` or by any approximate search. A stored 0 is a neighbor at distance 0, an
        entry that is not stored is no neighbor. The diagonal is ignored.
    n_neighbors : int, optional
        Keep only so many nearest per row, ties by row number. By default all are kept, and their mean number
        is what the graph reports.
    bandwidth, kernel, one_sided
        As in `similarity_graph`.
    n_features : int, default=1
        What squared distances are divided by in the "squared" kernel: 1 if they are per column already.

    Returns
    -------
    SimilarityGraph
    """
    weigh = _kernel(kernel, bandwidth, n_features)
    combine = _one_sided(one_sided)
    source, target, distance, n_rows = _check_distances(distances)
    order = np.lexsort((target, distance, source))
    source, target, distance = source[order], target[order], distance[order]
    counts = np.bincount(source, minlength=n_rows)
    if n_neighbors is None:
        n_neighbors = max(1, round(source.size / n_rows))
    else:
        _check_count(n_neighbors, n_rows - 1)
        rank = np.arange(source.size) - np.repeat(np.cumsum(counts) - counts, counts)
        near = rank < n_neighbors
        source, target, distance = source[near], target[near], distance[near]
    directed = sparse.csr_array((weigh(distance), (source, target)), shape=(n_rows, n_rows))
    return SimilarityGraph(combine(directed), n_neighbors, float(bandwidth))


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
    method : {"auto", "exact"}, default="auto"
    n_jobs : int or None
        Threads, as in joblib. The result does not depend on it.

    Returns
    -------
    Neighbors
    """
    rows = _check_matrix("X", X)
    if method not in ("auto", "exact"):
        raise ValueError(f"method is {method!r}; choose 'auto' or 'exact'.")
    if queries is not None:
        new = _check_matrix("queries", queries)
        if new.shape[1] != rows.shape[1]:
            raise ValueError(
                f"queries have {new.shape[1]} columns, but X has {rows.shape[1]}; pass the same columns."
            )
        _check_count(n_neighbors, len(rows), "X has only {} rows")
        return Neighbors(*_nearest(_Distinct.of(rows), new, n_neighbors, n_jobs))

    _check_count(n_neighbors, len(rows) - 1)
    distinct = _Distinct.of(rows)
    index, distance = _nearest(distinct, distinct.rows, n_neighbors + 1, n_jobs)
    return Neighbors(*_drop_self(index[distinct.number], distance[distinct.number]))


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


class _LowerBounds:
    """Certain lower bounds for the distances between queries and rows, by one float32 product.

    Columns that vary little are replaced by one, the size of that part of the row, which can only bring rows
    nearer together. For a query x and a row y the bound is then one of ``|y|**2 / 2 - x @ y``, which orders
    the rows as the distance does. In float32 the sum of H + 2 products is off by at most ``(H + 5) * u * (|x|
    * |y| + |y|**2 / 2)`` with u = 2**-24, in whatever order it is added up; twice that much is subtracted, by
    two columns added to the product.
    """

    def __init__(self, rows: Floats, queries: Floats) -> None:
        self.center = np.median(rows, axis=0)
        largest = max(np.abs(rows - self.center).max(), np.abs(queries - self.center).max(initial=0.0))
        # A power of two keeps all digits, and no product overflows; what underflows is covered by 1e-36.
        self.unit = 2.0 ** -np.ceil(np.log2(largest)) if largest > 0.0 else 1.0
        variance = np.square((rows - self.center) * self.unit).mean(axis=0)
        falling = np.argsort(-variance, kind="stable")
        missing = 1.0 - np.cumsum(variance[falling]) / max(variance.sum(), 1e-300)
        n_kept = 1 + np.count_nonzero(missing > NEGLIGIBLE)
        self.kept, self.rest = falling[:n_kept], falling[n_kept:]
        y = self._shorten(rows)
        share = 2.0 * (y.shape[1] + 8) * 2.0**-24
        half = np.square(y).sum(axis=1) / 2.0
        columns = [-y, (1.0 - share) * half - 1e-36, -share * np.sqrt(2.0 * half)]
        self.table = np.column_stack(columns).astype(np.float32).T.copy()

    def _shorten(self, rows: Floats) -> Floats:
        """Return the columns that vary most, and the size of the rest as one column."""
        centered = (rows - self.center) * self.unit
        size_of_rest = np.sqrt(np.square(centered[:, self.rest]).sum(axis=1))
        return np.column_stack([centered[:, self.kept], size_of_rest])

    def of(self, queries: Floats, out: NDArray[np.float32]) -> tuple[NDArray[np.float32], Floats]:
        """Return the bounds, one line per query, and the squared size of each query."""
        x = self._shorten(queries)
        square = np.square(x).sum(axis=1)
        left = np.column_stack([x, np.ones(len(x)), np.sqrt(square)]).astype(np.float32)
        return np.matmul(left, self.table, out=out[: len(x)]), square

    def limit(self, squared_distance: Floats, square: Floats) -> NDArray[np.float32]:
        """Return a number that no bound of a row within the given squared distance exceeds."""
        scaled = squared_distance * self.unit**2
        # 1e-9 covers the rounding of the float64 sums; the step up covers the rounding to float32.
        exact = (scaled - square) / 2.0 + 1e-9 * (scaled + square)
        return np.nextafter(exact.astype(np.float32), np.float32(np.inf))


def _nearest(distinct: _Distinct, queries: Floats, k: int, n_jobs: int | None) -> tuple[Ints, Floats]:
    """Return row numbers and distances of the k nearest rows of each query, itself included if it is one."""
    bounds = _LowerBounds(distinct.rows, queries)
    n_distinct = len(distinct.rows)
    height = max(16, min(BLOCK_ROWS, BLOCK_BOUNDS // n_distinct))
    starts = np.arange(0, len(queries), height)
    index = np.empty((len(queries), k), dtype=np.intp)
    distance = np.empty((len(queries), k))

    def search(starts: Ints) -> None:
        lower = np.empty((height, n_distinct), dtype=np.float32)
        for start in starts:
            block = slice(start, start + height)
            index[block], distance[block] = _search_block(distinct, queries[block], k, bounds, lower)

    # Threads take whole blocks; a product that starts threads of its own would only get in their way.
    n_threads = effective_n_jobs(n_jobs)
    with threadpool_limits(1, user_api="blas"):
        shares = [starts[i::n_threads] for i in range(n_threads)]
        Parallel(n_jobs=n_threads, prefer="threads")(delayed(search)(share) for share in shares)
    return index, distance


def _search_block(
    distinct: _Distinct, queries: Floats, k: int, bounds: _LowerBounds, buffer: NDArray[np.float32]
) -> tuple[Ints, Floats]:
    """Return row numbers and distances of the k nearest rows for a few queries."""
    lower, square = bounds.of(queries, buffer)
    # The k nearest are not farther than any k rows; so only rows with bounds up to that distance are in
    # question.
    some = _rows_with_small_bounds(lower, min(k, len(distinct.rows)))
    query = np.repeat(np.arange(len(queries)), some.shape[1])
    squared = _squared_distances(queries, query, distinct.rows, some.ravel()).reshape(some.shape)
    limit = bounds.limit(squared.max(axis=1), square)
    query, candidate = np.divmod(np.flatnonzero(lower <= limit[:, None]), lower.shape[1])
    return _sort_out(distinct, queries, query, candidate, k)


def _rows_with_small_bounds(lower: NDArray[np.float32], k: int) -> Ints:
    """Return k different columns per line, most of them among the k smallest."""
    n_lines, n_columns = lower.shape
    size = max(1, min(GROUP, n_columns // (8 * k)))
    n_groups = n_columns // size
    # Groups take every n_groups-th column, so that rows next to each other in the table fall into different
    # ones.
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


def _squared_distances(A: Floats, i: Ints, B: Floats, j: Ints) -> Floats:
    """Return ``|A[i] - B[j]|**2`` for pairs of rows; a pair gives the same bytes wherever it stands."""
    squared = np.empty(len(i))
    step = max(1, PAIR_NUMBERS // A.shape[1])
    for start in range(0, len(i), step):
        chunk = slice(start, start + step)
        difference = A[i[chunk]] - B[j[chunk]]
        np.square(difference, out=difference).sum(axis=1, out=squared[chunk])
    return squared


def _drop_self(index: Ints, distance: Floats) -> tuple[Ints, Floats]:
    """Return the lists without the row itself, or without the last if it is crowded out by equal rows."""
    dropped = index == np.arange(len(index))[:, None]
    dropped[~dropped.any(axis=1), -1] = True
    shape = (len(index), index.shape[1] - 1)
    return index[~dropped].reshape(shape), distance[~dropped].reshape(shape)


def kernel_weights(distance: Floats, kernel: str, bandwidth: float, n_features: int) -> Floats:
    """Return the weights of distances, before both directions are brought together."""
    return _kernel(kernel, bandwidth, n_features)(distance)


def _kernel(kernel: str, bandwidth: float, n_features: int) -> Callable[[Floats], Floats]:
    """Return the function from distance to weight."""
    if not (np.isfinite(bandwidth) and bandwidth > 0.0):
        raise ValueError(f"bandwidth={bandwidth}; give a finite number above 0, such as 0.75.")
    if kernel == "squared":
        return lambda distance: np.exp(-np.square(distance) / (n_features * 2.0 * bandwidth**2))
    if kernel == "literal":
        return lambda distance: np.exp(-distance / (2.0 * bandwidth**2))
    raise ValueError(f"kernel is {kernel!r}; choose 'squared' or 'literal'.")


def _one_sided(one_sided: str) -> Callable[[sparse.csr_array[Any, Any]], sparse.csr_array[Any, Any]]:
    """Return the function from directed to symmetric weights."""
    if one_sided not in ("half", "full"):
        raise ValueError(f"one_sided is {one_sided!r}; choose 'half' or 'full'.")

    def combine(directed: sparse.csr_array[Any, Any]) -> sparse.csr_array[Any, Any]:
        back = directed.T.tocsr()
        weights = (directed + back) * 0.5 if one_sided == "half" else directed.maximum(back)
        weights = sparse.csr_array(weights)
        weights.eliminate_zeros()  # weights that underflowed
        weights.sort_indices()
        return weights

    return combine


def _check_count(n_neighbors: int, n_others: int, found: str = "each row has only {} others") -> None:
    """Check that there are enough rows to be neighbors."""
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors={n_neighbors}; choose at least 1.")
    if n_neighbors > n_others:
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


def _check_distances(distances: Any) -> tuple[Ints, Ints, Floats, int]:
    """Return source, target and distance of each edge, without self-loops, and the number of rows."""
    if not sparse.issparse(distances):
        raise TypeError(
            f"distances are a {type(distances).__name__}; give a scipy sparse matrix, "
            "in which what is not stored is no neighbor."
        )
    matrix: Any = distances
    n_rows, n_columns = matrix.shape
    if n_rows != n_columns or n_rows == 0:
        raise ValueError(f"distances have shape {matrix.shape}; give one row and one column per row of X.")
    edges = sparse.csr_array(matrix).tocoo()
    source, target = edges.row.astype(np.intp), edges.col.astype(np.intp)
    distance = edges.data.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(distance) & (distance >= 0.0)))
    if bad.size:
        i, j, value = source[bad[0]], target[bad[0]], distance[bad[0]]
        raise ValueError(f"distances[{i}, {j}] is {value}; distances are finite numbers >= 0.")
    other = source != target
    return source[other], target[other], distance[other], n_rows
