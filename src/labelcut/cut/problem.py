"""What is cut: a graph with arc capacities, node costs and node slopes, checked and in canonical form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from labelcut.arrays import Floats, Ints, Mask

__all__ = ["CutProblem", "Part", "connected_parts", "csr_arrays", "fold_seeds"]

#: The core keeps two flags beside a node's number in 32 bits.
MOST_NODES = 2**30

#: Numbers looked at at once, so that no copy of all of them is made.
CHUNK = 1 << 20


@dataclass(frozen=True, eq=False, init=False)
class CutProblem:
    """A graph with arc capacities, node costs and node slopes, checked and in canonical form.

    Parameters
    ----------
    capacities : sparse matrix or array of shape (n_nodes, n_nodes)
        ``capacities[i, j] >= 0`` is paid when i is on the source side and j is not. It need not be symmetric.
        Self-loops are never cut and are ignored; duplicate entries of a COO matrix are added up. CSR of
        float32 or float64 with int32 columns, in memory or memory-mapped, is used as it is, without a copy.
    cost : array-like of shape (n_nodes,)
        Paid for every node on the source side; may be negative.
    slope : array-like of shape (n_nodes,)
        How fast the trade-off cheapens each node; not negative.
    source_seeds, sink_seeds : array-like of bool of shape (n_nodes,), optional
        Nodes that are on the source (sink) side at every trade-off.
    """

    capacities: sparse.csr_array[Any, Any]
    cost: Floats
    slope: Floats
    source_seeds: Mask
    sink_seeds: Mask

    def __init__(
        self,
        capacities: ArrayLike | sparse.sparray,
        cost: ArrayLike,
        slope: ArrayLike,
        source_seeds: ArrayLike | None = None,
        sink_seeds: ArrayLike | None = None,
    ) -> None:
        matrix = _read_capacities(capacities)
        n_nodes = matrix.shape[0]
        costs = _read_vector("cost", cost, n_nodes)
        _check_sum("capacities and cost", matrix.data, costs)
        slopes = _read_slope(slope, n_nodes)
        source = _read_seeds("source_seeds", source_seeds, n_nodes)
        sink = _read_seeds("sink_seeds", sink_seeds, n_nodes)
        if (source & sink).any():
            raise ValueError(
                f"node {int(np.argmax(source & sink))} is in source_seeds and in sink_seeds; "
                "a node can be held on one side only, so remove it from one of them."
            )
        # Frozen, and without a way around the checks above.
        vars(self).update(capacities=matrix, cost=costs, slope=slopes, source_seeds=source, sink_seeds=sink)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.cost.size)

    @property
    def is_free(self) -> Mask:
        """The nodes that are no seeds."""
        return ~(self.source_seeds | self.sink_seeds)

    def value_of(self, side: Mask, t: float) -> float:
        """Return the cost of one particular source side at trade-off t."""
        arcs_out = np.asarray(self.capacities @ (~side).astype(float))
        fixed = float(arcs_out[side].sum() + self.cost[side].sum())
        return fixed - float(t) * float(self.slope[side].sum())


class Part(NamedTuple):
    """A problem, or a connected part of one, without seeds; its capacities are canonical CSR."""

    capacities: sparse.csr_array[Any, Any]
    cost: Floats
    slope: Floats

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.cost.size)

    @property
    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any], Floats, Floats]:
        """What the solvers take: row starts, columns, capacities of either float, costs, slopes."""
        return *_pattern(self.capacities), self.capacities.data, self.cost, self.slope


def csr_arrays(matrix: sparse.csr_array[Any, Any]) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
    """Return row starts, columns and values in the types in which flows are routed and proofs computed."""
    return *_pattern(matrix), matrix.data.astype(np.float64, copy=False)


def in_chunks(array: NDArray[Any]) -> list[NDArray[Any]]:
    """Return views of an array that are small enough for a temporary copy."""
    return [array[start : start + CHUNK] for start in range(0, array.size, CHUNK)]


def _pattern(matrix: sparse.csr_array[Any, Any]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    return matrix.indptr.astype(np.int64, copy=False), matrix.indices.astype(np.int32, copy=False)


def fold_seeds(problem: CutProblem) -> Part:
    """Return the problem on the free nodes alone: arcs to seeds become costs."""
    capacities, cost, is_free = problem.capacities, problem.cost, problem.is_free
    if is_free.all():
        return Part(capacities, cost, problem.slope)
    to_sink = capacities @ problem.sink_seeds.astype(float)
    from_source = capacities.T @ problem.source_seeds.astype(float)
    return Part(
        capacities[is_free][:, is_free],
        (cost + to_sink - from_source)[is_free],
        problem.slope[is_free],
    )


def connected_parts(whole: Part) -> Iterator[tuple[Ints, Part]]:
    """Yield the nodes and the problem of each connected part that has arcs."""
    capacities = whole.capacities.copy()
    capacities.eliminate_zeros()
    n_parts, part_of = connected_components(capacities, directed=False)
    order = np.argsort(part_of, kind="stable")
    capacities = capacities[order][:, order]
    capacities.sort_indices()
    ends = np.cumsum(np.bincount(part_of, minlength=n_parts)).tolist()
    for begin, end in zip([0, *ends], ends, strict=False):
        nodes = order[begin:end]
        if end - begin > 1:
            arcs = slice(capacities.indptr[begin], capacities.indptr[end])
            own = sparse.csr_array(
                (
                    capacities.data[arcs],
                    capacities.indices[arcs] - begin,
                    capacities.indptr[begin : end + 1] - capacities.indptr[begin],
                ),
                shape=(end - begin, end - begin),
            )
            yield nodes, Part(own, whole.cost[nodes], whole.slope[nodes])


def _read_capacities(capacities: Any) -> sparse.csr_array[Any, Any]:
    """Return capacities as CSR with sorted float64 or float32 entries, or say what is wrong with them."""
    if not sparse.issparse(capacities):
        capacities = np.asarray(capacities)
        _check_real("capacities", capacities.dtype)
        if capacities.ndim != 2:
            raise ValueError(f"capacities has {capacities.ndim} dimension(s); a square matrix is needed.")
    _check_real("capacities", capacities.dtype)
    if capacities.ndim != 2 or capacities.shape[0] != capacities.shape[1]:
        raise ValueError(
            f"capacities has shape {capacities.shape}; a square matrix is needed, one row per node."
        )
    if capacities.shape[0] >= MOST_NODES:
        raise ValueError(f"capacities has {capacities.shape[0]} nodes; fewer than 2**30 are supported.")
    _check_index_bounds(capacities)
    number = np.float32 if capacities.dtype == np.float32 else np.float64
    matrix = sparse.csr_array(capacities, dtype=number)
    _check_index_order(matrix)
    for is_bad, kind, remedy in (
        (
            ~np.isfinite(matrix.data),
            "not finite",
            "to hold a node on one side, use source_seeds or sink_seeds",
        ),
        (matrix.data < 0, "negative", "minimum cuts need capacities of zero or more"),
    ):
        if is_bad.any():
            position = int(np.argmax(is_bad))
            i = int(np.searchsorted(matrix.indptr, position, side="right")) - 1
            raise ValueError(
                f"capacities[{i}, {matrix.indices[position]}] is {matrix.data[position]}, "
                f"which is {kind}; {remedy}."
            )
    return matrix


def _check_index_bounds(matrix: Any) -> None:
    """Refuse indices that would make scipy, or us, write where they must not."""
    try:
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        elif getattr(matrix, "format", None) == "coo":
            sparse.coo_array((matrix.data, matrix.coords), shape=matrix.shape)
    except ValueError as error:
        raise ValueError(
            f"capacities is no valid {matrix.format.upper()} matrix: {error}; rebuild it from its entries."
        ) from error


def _check_index_order(matrix: sparse.csr_array[Any, Any]) -> None:
    columns, inner = matrix.indices, matrix.indptr[1:-1]
    falls = columns[1:] <= columns[:-1]
    falls[inner[(inner > 0) & (inner < columns.size)] - 1] = False  # a new row begins there
    if not falls.any():
        return
    if (columns[1:][falls] == columns[:-1][falls]).any():
        raise ValueError(
            "capacities lists an arc twice in a row; if they should add up, call capacities.sum_duplicates()."
        )
    raise ValueError("capacities has unsorted column indices; call capacities.sort_indices() first.")


def _check_real(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {dtype}; real numbers are needed, convert it with astype(float).")


def _read_vector(name: str, values: Any, n_nodes: int) -> Floats:
    array = np.asarray(values)
    _check_real(name, array.dtype)
    if array.shape != (n_nodes,):
        raise ValueError(
            f"{name} has shape {array.shape}, but capacities has {n_nodes} nodes; give one number per node."
        )
    array = np.ascontiguousarray(array, dtype=np.float64)
    if not np.isfinite(array).all():
        i = int(np.argmin(np.isfinite(array)))
        raise ValueError(
            f"{name}[{i}] is {array[i]}; finite numbers are needed. To hold a node on one side, use "
            "source_seeds or sink_seeds."
        )
    return array


def _read_slope(values: ArrayLike, n_nodes: int) -> Floats:
    slope = _read_vector("slope", values, n_nodes)
    _check_sum("slope", slope)
    if (slope < 0).any():
        i = int(np.argmin(slope))
        raise ValueError(
            f"slope[{i}] is {slope[i]}, but a negative slope breaks the nesting of the cuts. "
            "To follow a falling trade-off, replace t by -t for the whole problem."
        )
    return slope


def _check_sum(name: str, *arrays: NDArray[Any]) -> None:
    """Leave room for adding and subtracting everything once more."""
    with np.errstate(over="ignore"):
        total = 4 * sum(np.abs(chunk).sum(dtype=np.float64) for array in arrays for chunk in in_chunks(array))
    if not np.isfinite(total):
        raise ValueError(
            f"{name} add up to more than a float can hold; divide capacities, cost and slope by 1e100."
        )


def _read_seeds(name: str, mask: Any, n_nodes: int) -> Mask:
    if mask is None:
        return np.zeros(n_nodes, dtype=bool)
    array = np.asarray(mask)
    if array.dtype != np.bool_:
        raise TypeError(
            f"{name} has dtype {array.dtype}; a mask of {n_nodes} booleans is needed. From node numbers: "
            "mask = np.zeros(n_nodes, dtype=bool); mask[numbers] = True."
        )
    if array.shape != (n_nodes,):
        raise ValueError(
            f"{name} has shape {array.shape}; one boolean for each of the {n_nodes} nodes is needed."
        )
    return array
