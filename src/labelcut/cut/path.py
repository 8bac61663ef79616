"""Minimum cuts of a graph for every value of a trade-off.

The problem, for a directed graph with arc capacities ``c``, node costs ``b`` and node slopes ``m >= 0``::

    minimise over node sets S:  sum of c[i, j] over i in S, j not in S  +  sum of b[i] - t * m[i] over i in S

As the trade-off ``t`` grows the smallest minimising sets only grow, so the answer for **all** t is one number
per node, ``join_at``: node i is on the source side (in S) exactly when ``t > join_at[i]``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelcut.cut.care import EXACT_IF_OPEN, connected_parts, is_safe, solve_apart
from labelcut.cut.proof import CERTIFIED, Part, Path, exact_excess, imbalance
from labelcut.threads import thread_count

try:
    import labelcut.cut._core as _solver
except ImportError:  # installed without a C++ compiler
    import labelcut.cut._reference as _solver  # type: ignore[no-redef]

    warnings.warn(
        "labelcut was installed without its compiled core, so cuts are computed by the slow Python twin; "
        "install a C++ compiler (Debian: apt install g++) and reinstall labelcut to get the fast one.",
        RuntimeWarning,
        stacklevel=2,
    )

__all__ = ["Certificate", "Cut", "CutPath", "CutProblem", "minimum_cut", "parametric_cut", "verify"]

#: Breakpoints closer than this, relative to their size, are listed as one; ``join_at`` is never rounded.
SAME_BREAKPOINT = 1e-9

#: The core keeps two flags beside a node's number in 32 bits.
MOST_NODES = 2**30

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Progress = Callable[[int, int], object]


@dataclass(frozen=True, eq=False)
class CutProblem:
    """A graph with arc capacities, node costs and node slopes, checked and in canonical form.

    Parameters
    ----------
    capacities : sparse matrix or array of shape (n_nodes, n_nodes)
        ``capacities[i, j] >= 0`` is paid when i is on the source side and j is not. It need not be symmetric.
        Self-loops are never cut and are ignored; duplicate entries of a COO matrix are added up.
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
    source_seeds: Mask | None = None
    sink_seeds: Mask | None = None

    def __post_init__(self) -> None:
        """Check every argument and store it in canonical form."""
        capacities = _check_capacities(self.capacities)
        n_nodes = capacities.shape[0]
        cost = _check_vector("cost", self.cost, n_nodes)
        _check_sum("capacities and cost", capacities.data, cost)
        slope = _check_vector("slope", self.slope, n_nodes)
        _check_sum("slope", slope)
        if (slope < 0).any():
            i = int(np.argmin(slope))
            raise ValueError(
                f"slope[{i}] is {slope[i]}, but a negative slope breaks the nesting of the cuts. "
                "To follow a falling trade-off, replace t by -t for the whole problem."
            )
        source = _check_seeds("source_seeds", self.source_seeds, n_nodes)
        sink = _check_seeds("sink_seeds", self.sink_seeds, n_nodes)
        if (source & sink).any():
            raise ValueError(
                f"node {int(np.argmax(source & sink))} is in source_seeds and in sink_seeds; "
                "a node can be held on one side only, so remove it from one of them."
            )
        for name, value in (
            ("capacities", capacities),
            ("cost", cost),
            ("slope", slope),
            ("source_seeds", source),
            ("sink_seeds", sink),
        ):
            object.__setattr__(self, name, value)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.cost.size)

    def value_of(self, side: Mask, t: float) -> float:
        """Return the cost of one particular source side at trade-off t."""
        arcs_out = np.asarray(self.capacities @ (~side).astype(float))
        fixed = float(arcs_out[side].sum() + self.cost[side].sum())
        return fixed - float(t) * float(self.slope[side].sum())


@dataclass(frozen=True, eq=False, repr=False)
class CutPath:
    """The minimum cuts for every trade-off, as one number per node.

    Attributes
    ----------
    join_at : ndarray of shape (n_nodes,)
        Node i is on the source side exactly when ``t > join_at[i]``; ``-inf`` means always, ``+inf`` never.
        Among equally cheap sets the smallest is meant, so a node that makes no difference never joins.
    problem : CutProblem
        What was solved.
    t_min, t_max : float
        The range that was solved; outside it the sides are not known.
    is_doubtful : ndarray of bool of shape (n_nodes,)
        Nodes whose threshold could not be proved to give cheapest cuts. None, unless a connected part of more
        than 3000 nodes holds numbers whose sizes lie more than 1e12 apart, and seldom then; a warning tells.
    """

    join_at: Floats
    problem: CutProblem
    t_min: float = -np.inf
    t_max: float = np.inf
    is_doubtful: Mask | None = None

    def __post_init__(self) -> None:
        """Doubt nothing unless told to."""
        if self.is_doubtful is None:
            object.__setattr__(self, "is_doubtful", np.zeros(self.join_at.size, dtype=bool))

    @cached_property
    def breakpoints(self) -> Floats:
        """The trade-offs at which the cut changes, ascending; nearly equal ones are listed once."""
        t = np.unique(self.join_at[np.isfinite(self.join_at)])
        is_new = np.diff(t) > SAME_BREAKPOINT * np.maximum(np.abs(t[1:]), np.abs(t[:-1]))
        breakpoints: Floats = t[np.concatenate([np.ones(min(t.size, 1), dtype=bool), is_new])]
        return breakpoints

    def source_side(self, t: float) -> Mask:
        """Return the smallest optimal source side at trade-off t, as a mask."""
        self._check_range(np.asarray(t, dtype=float))
        return self.join_at < t

    def sides(self, grid: ArrayLike) -> NDArray[np.int64]:
        """Return the number of nodes on the source side at each trade-off of a grid."""
        grid = np.asarray(grid, dtype=float)
        self._check_range(grid)
        return np.searchsorted(np.sort(self.join_at), grid, side="left").astype(np.int64)

    def value(self, t: float) -> float:
        """Return the optimal cost at trade-off t: a concave, piecewise linear function of t."""
        return self.problem.value_of(self.source_side(t), t)

    def _check_range(self, t: Floats) -> None:
        if np.isnan(t).any():
            raise ValueError("the trade-off is NaN; give a number.")
        if t.size and (t.min() < self.t_min or t.max() > self.t_max):
            raise ValueError(
                f"trade-off {t.min() if t.min() < self.t_min else t.max()} lies outside the solved range "
                f"[{self.t_min}, {self.t_max}]; solve again with a wider t_min and t_max."
            )

    def __repr__(self) -> str:
        """Tell sizes and range in one line."""
        n_always, n_never = int((self.join_at == -np.inf).sum()), int((self.join_at == np.inf).sum())
        text = f"CutPath({self.join_at.size} nodes, {self.breakpoints.size} breakpoints"
        if self.breakpoints.size:
            text += f" from {self.breakpoints[0]:.6g} to {self.breakpoints[-1]:.6g}"
        text += f"; {n_always} always and {n_never} never on the source side"
        n_doubtful = int(self.is_doubtful.sum())  # type: ignore[union-attr]
        return f"{text}; {n_doubtful} not proved)" if n_doubtful else f"{text})"


@dataclass(frozen=True, eq=False)
class Cut:
    """One minimum cut: its source side as a mask, and its cost."""

    source_side: Mask
    value: float


@dataclass(frozen=True)
class Certificate:
    """What :func:`verify` found.

    Attributes
    ----------
    is_optimal : bool
        No cut at any trade-off is cheaper, up to 1e-12 of the terms of both. This is proved if True.
    worst : float
        The largest imbalance of a flow at any node, relative to its own terms; where exact numbers decided,
        by how much a cut is too dear, relative to its terms.
    """

    is_optimal: bool
    worst: float


def parametric_cut(
    capacities: ArrayLike | sparse.sparray,
    cost: ArrayLike,
    slope: ArrayLike,
    *,
    source_seeds: ArrayLike | None = None,
    sink_seeds: ArrayLike | None = None,
    t_min: float = -np.inf,
    t_max: float = np.inf,
    n_jobs: int | None = None,
    on_progress: Progress | None = None,
) -> CutPath:
    """Return the minimum cuts for every trade-off between ``t_min`` and ``t_max``.

    Parameters
    ----------
    capacities, cost, slope, source_seeds, sink_seeds
        The problem; see :class:`CutProblem`.
    t_min, t_max : float
        Trade-offs of interest. Nodes that join before ``t_min`` are reported at -inf, nodes that have not
        joined by ``t_max`` at +inf; a narrow range saves work.
    n_jobs : int, optional
        Threads; -1 for all cores. The result has the same bytes for any number.
    on_progress : callable(n_settled, n_nodes), optional
        Called a few times a second. An exception raised in it (a deadline, say) stops the solver.

    Examples
    --------
    A chain of three nodes; the ends are pulled to opposite sides.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from labelcut.cut import parametric_cut
    >>> chain = csr_array(np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> path = parametric_cut(chain, cost=[-3.0, 0.0, 3.0], slope=[1.0, 1.0, 1.0])
    >>> path.join_at
    array([-1., -1.,  2.])
    """
    problem = CutProblem(capacities, cost, slope, source_seeds, sink_seeds)  # type: ignore[arg-type]
    return solve(problem, t_min=t_min, t_max=t_max, n_jobs=n_jobs, on_progress=on_progress)


def solve(
    problem: CutProblem,
    *,
    t_min: float = -np.inf,
    t_max: float = np.inf,
    n_jobs: int | None = None,
    on_progress: Progress | None = None,
) -> CutPath:
    """Return the path of a problem that was checked before; see :func:`parametric_cut`."""
    t_min, t_max = _check_tradeoff("t_min", t_min), _check_tradeoff("t_max", t_max)
    if t_min > t_max:
        raise ValueError(f"t_min={t_min} is above t_max={t_max}; swap them.")
    if t_min == np.inf or t_max == -np.inf:
        raise ValueError(f"no trade-off lies between t_min={t_min} and t_max={t_max}; give a finite limit.")
    is_free = ~(problem.source_seeds | problem.sink_seeds)  # type: ignore[operator]
    free = _fold_seeds(problem, is_free)
    poll = (lambda n: None) if on_progress is None else (lambda n: on_progress(n, free.n_nodes))
    join_at = np.where(problem.source_seeds, -np.inf, np.inf)  # type: ignore[arg-type]
    is_doubtful = np.zeros(problem.n_nodes, dtype=bool)
    n_threads = thread_count(n_jobs)
    if is_safe(free):
        join_at[is_free] = _solver.solve_path(*free.arrays, t_min, t_max, n_threads, poll)
    else:
        join_at[is_free], is_doubtful[is_free] = solve_apart(_solver, free, t_min, t_max, n_threads, poll)
    if is_doubtful.any():
        warnings.warn(
            f"the thresholds of {is_doubtful.sum()} of {problem.n_nodes} nodes could not be proved, because "
            "capacities, costs and slopes lie too far apart in size; path.is_doubtful marks them. To have "
            "all proved, leave out numbers that are too small to matter.",
            RuntimeWarning,
            stacklevel=3,
        )
    return CutPath(join_at, problem, t_min, t_max, is_doubtful)


def minimum_cut(
    capacities: ArrayLike | sparse.sparray,
    cost: ArrayLike,
    *,
    source_seeds: ArrayLike | None = None,
    sink_seeds: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Cut:
    """Return the smallest set that minimises arcs out of it plus the costs of its nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcut.cut import minimum_cut
    >>> cut = minimum_cut(np.array([[0.0, 2.0], [2.0, 0.0]]), cost=[-3.0, 1.0])
    >>> cut.source_side, cut.value
    (array([ True,  True]), -2.0)
    """
    cost = np.asarray(cost)
    path = parametric_cut(
        capacities,
        cost,
        np.zeros(cost.shape),
        source_seeds=source_seeds,
        sink_seeds=sink_seeds,
        n_jobs=n_jobs,
    )
    return Cut(path.source_side(0.0), path.value(0.0))


def verify(problem: CutProblem, path: CutPath) -> Certificate:
    """Certify a path without trusting how it was found.

    A flow proves all cuts at once: if every arc from an earlier to a later node is full, every arc back is
    empty, and at each node ``join_at * slope - cost`` equals what flows out minus what flows in, then no set
    is cheaper at any t. The flow is looked for by the solver and then checked by plain sums over the original
    arcs. Connected parts of up to 3000 nodes that this leaves open are held against exact arithmetic.
    """
    join_at = np.asarray(path.join_at, dtype=float)
    if join_at.shape != (problem.n_nodes,) or np.isnan(join_at).any():
        raise ValueError(f"path.join_at needs one number, not NaN, for each of the {problem.n_nodes} nodes.")
    source, sink = problem.source_seeds, problem.sink_seeds
    assert source is not None
    assert sink is not None
    if (join_at[source] > -np.inf).any() or (join_at[sink] < np.inf).any():
        return Certificate(False, np.inf)
    is_free = ~(source | sink)
    free = _fold_seeds(problem, is_free)
    own = Path(join_at[is_free], path.t_min, path.t_max)
    relative = imbalance(_solver, free, own)
    if (relative > CERTIFIED).any():
        for nodes, part in connected_parts(free):
            if nodes.size <= EXACT_IF_OPEN and (relative[nodes] > CERTIFIED).any():
                relative[nodes] = exact_excess(part, own._replace(join_at=own.join_at[nodes]))
    worst = float(relative.max(initial=0.0))
    return Certificate(worst <= CERTIFIED, worst)


def _fold_seeds(problem: CutProblem, is_free: Mask) -> Part:
    """Return the problem on the free nodes alone: arcs to seeds become costs."""
    capacities, cost = problem.capacities, problem.cost
    if is_free.all():
        return Part(capacities, cost, problem.slope)
    to_sink = capacities @ problem.sink_seeds.astype(float)  # type: ignore[union-attr]
    from_source = capacities.T @ problem.source_seeds.astype(float)  # type: ignore[union-attr]
    return Part(
        capacities[is_free][:, is_free],
        (cost + to_sink - from_source)[is_free],
        problem.slope[is_free],
    )


def _check_capacities(capacities: Any) -> sparse.csr_array[Any, Any]:
    """Return capacities as CSR with sorted float64 entries, or say what is wrong with them."""
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
    matrix = sparse.csr_array(capacities, dtype=np.float64)
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


def _check_vector(name: str, values: Any, n_nodes: int) -> Floats:
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


def _check_sum(name: str, *arrays: Floats) -> None:
    """Leave room for adding and subtracting everything once more."""
    with np.errstate(over="ignore"):
        total = 4 * sum(np.abs(array).sum() for array in arrays)
    if not np.isfinite(total):
        raise ValueError(
            f"{name} add up to more than a float can hold; divide capacities, cost and slope by 1e100."
        )


def _check_seeds(name: str, mask: Any, n_nodes: int) -> Mask:
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


def _check_tradeoff(name: str, t: float) -> float:
    t = float(t)
    if np.isnan(t):
        raise ValueError(f"{name} is NaN; give a number, or -inf or inf for no limit.")
    return t
