"""The weighted graph that joins each row to its nearest rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

import labelcut.graph.compiled as compiled
from labelcut.arrays import Floats, Ints
from labelcut.graph.bounds import in_chunks
from labelcut.graph.nearest import NeighborIndex, build_index, check_count
from labelcut.parameters import one_of, positive

__all__ = [
    "SimilarityGraph",
    "graph_from_distances",
    "similarity_graph",
    "similarity_to",
]


#: From distance d, bandwidth s and number of features H to a weight; "literal" is the paper's print.
KERNELS: dict[str, Callable[[Floats, float, int], Floats]] = {
    "squared": lambda d, s, H: np.exp(-np.square(d) / (H * 2.0 * s**2)),
    "literal": lambda d, s, H: np.exp(-d / (2.0 * s**2)),
}


#: What a neighbor counts that does not choose back.
ONE_SIDED = ("half", "full")


@dataclass(frozen=True, eq=False)
class SimilarityGraph:
    """Rows joined to their nearest rows, weighted by likeness.

    Attributes
    ----------
    weights : csr_array of shape (n_rows, n_rows)
        Symmetric, positive, sorted, without self-loops. Of float64; of float32 where neighbors were found
        approximately because the table is large. A weight too small for its type is left out.
    degree : ndarray of shape (n_rows,)
        Sum of the weights of each row; 0 for a row without neighbors.
    component : ndarray of int of shape (n_rows,)
        Which connected part of the graph each row is in.
    n_components : int
    n_neighbors : int
        Neighbors asked for per row. A row may have more, because others may choose it.
    bandwidth : float
    kernel : str
    recall : float
        Share of the true nearest rows that were found; 1.0 when the search was exact.
    """

    weights: sparse.csr_array[Any, Any]
    n_neighbors: int
    bandwidth: float
    kernel: str = "squared"
    recall: float = 1.0
    degree: Floats = field(init=False)
    component: Ints = field(init=False)
    n_components: int = field(init=False)

    def __post_init__(self) -> None:
        """Add up the degrees and find the connected parts."""
        starts, column, weight = self.weights.indptr.astype(np.int64), self.weights.indices, self.weights.data
        degree, part = np.empty(len(starts) - 1), np.empty(len(starts) - 1, dtype=np.int32)
        compiled.in_use.add_up_rows(starts, weight, degree)
        n_components = compiled.in_use.number_parts(starts, column.astype(np.int32, copy=False), part)
        object.__setattr__(self, "degree", degree)
        object.__setattr__(self, "component", part.astype(np.intp))
        object.__setattr__(self, "n_components", n_components)


def similarity_graph(
    X: ArrayLike | NeighborIndex,
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
    X : array-like of shape (n_rows, n_features), or NeighborIndex
        Scaled features without missing values, weighted by the square root of their importance; or an index
        of them, which is then asked and can be asked again for new rows.
    n_neighbors : int, default=15
        Neighbors asked for per row. A row may end with more, because others may choose it.
    bandwidth : float, default=0.75
        Distance at which likeness has clearly faded. Larger joins more distant rows.
    kernel : {"squared", "literal"}, default="squared"
        "literal" is the formula as printed in the paper, ``exp(-d / (2 * bandwidth**2))``.
    one_sided : {"half", "full"}, default="half"
        What a neighbor counts that does not choose back. "half": the weight is the mean of both directions.
        "full": one direction is enough, as in the text of the paper.
    method : {"auto", "exact", "approximate"}, default="auto"
        How neighbors are found, see `neighbors`; an index knows its own.
    n_jobs : int or None
        Threads, as in joblib. The result does not depend on it.

    Returns
    -------
    SimilarityGraph
    """
    weigh = _kernel(kernel, bandwidth)
    one_of("one_sided", one_sided, ONE_SIDED)
    index = X if isinstance(X, NeighborIndex) else build_index(X, method=method)
    found = index.of_own_rows(n_neighbors, n_jobs)
    starts = np.arange(0, found.index.size + 1, n_neighbors)
    weight = found.distance
    for chunk in in_chunks(len(weight)):
        weight[chunk] = weigh(weight[chunk].astype(np.float64), bandwidth, index.n_features)
    weights = symmetric(starts, found.index, weight, one_sided)
    return SimilarityGraph(weights, n_neighbors, float(bandwidth), kernel, found.recall)


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
    weigh = _kernel(kernel, bandwidth)
    one_of("one_sided", one_sided, ONE_SIDED)
    source, target, distance, n_rows = _check_distances(distances)
    order = np.lexsort((target, distance, source))
    source, target, distance = source[order], target[order], distance[order]
    counts = np.bincount(source, minlength=n_rows)
    if n_neighbors is None:
        n_neighbors = max(1, round(source.size / n_rows))
    else:
        check_count(n_neighbors, n_rows - 1)
        rank = np.arange(source.size) - np.repeat(np.cumsum(counts) - counts, counts)
        near = rank < n_neighbors
        source, target, distance = source[near], target[near], distance[near]
    starts = np.append(0, np.cumsum(np.bincount(source, minlength=n_rows)))
    weight = weigh(distance, bandwidth, n_features)
    weights = symmetric(starts, target.astype(np.int32), weight, one_sided)
    return SimilarityGraph(weights, n_neighbors, float(bandwidth), kernel)


def similarity_to(
    index: NeighborIndex, rows: Floats, graph: SimilarityGraph, *, n_jobs: int | None = None
) -> sparse.csr_array[Any, Any]:
    """Return the weights of new rows to their nearest rows in an index, one line per new row.

    Parameters
    ----------
    index : NeighborIndex
        The rows that can be neighbors.
    rows : ndarray of shape (n_new, n_features)
        New rows, scaled and weighted like those of the index.
    graph : SimilarityGraph
        The graph made from the index: as many neighbors are asked for, weighted by the same kernel. No row of
        the index chooses a new one, so all weights are one-sided; they count in full.
    n_jobs : int or None
        Threads, as in joblib. The result does not depend on it.
    """
    near = index.of(rows, graph.n_neighbors, n_jobs)
    weight = KERNELS[graph.kernel](near.distance, graph.bandwidth, index.n_features)
    starts = np.arange(0, near.index.size + 1, graph.n_neighbors)
    return sparse.csr_array((weight.ravel(), near.index.ravel(), starts), shape=(len(rows), index.n_rows))


def _kernel(kernel: str, bandwidth: float) -> Callable[[Floats, float, int], Floats]:
    """Return the function from distance to weight, once its name and its width are found good."""
    positive("bandwidth", bandwidth)
    return KERNELS[one_of("kernel", kernel, KERNELS)]


def symmetric(
    starts: NDArray[np.int64], column: NDArray[np.int32], weight: NDArray[Any], one_sided: str
) -> sparse.csr_array[Any, Any]:
    """Return the symmetric weights of directed ones, in the very arrays that were given.

    Parameters
    ----------
    starts : ndarray of shape (n_rows + 1,)
        Where the neighbors of each row begin.
    column, weight : ndarray
        The neighbors and their weights, one row after the other; used up, for the result takes their memory.
    one_sided : {"half", "full"}
        As in `similarity_graph`.
    """
    core = compiled.in_use
    n_rows = starts.size - 1
    new_starts = np.empty_like(starts)
    core.prepare_symmetry(starts, column, weight, new_starts)
    for array in (column, weight):
        array.resize(new_starts[-1], refcheck=False)
    core.symmetrise(starts, column, weight, one_sided == "half", new_starts)
    for array in (column, weight):
        array.resize(new_starts[-1], refcheck=False)
    # scipy would copy the columns into the type of the starts.
    kind = np.int32 if new_starts[-1] <= np.iinfo(np.int32).max else np.int64
    return sparse.csr_array((weight, column, new_starts.astype(kind)), shape=(n_rows, n_rows))


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
