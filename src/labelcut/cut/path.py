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

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

import labelcut.cut.solver as solver
from labelcut.arrays import Floats, Mask
from labelcut.cut.care import is_safe, solve_apart
from labelcut.cut.problem import CutProblem, fold_seeds
from labelcut.memory import give_back
from labelcut.threads import thread_count

__all__ = ["Cut", "CutPath", "minimum_cut", "parametric_cut", "solve"]

#: Breakpoints closer than this, relative to their size, are listed as one; ``join_at`` is never rounded.
SAME_BREAKPOINT = 1e-9

#: From so many nodes on what the solver has freed is given back at once: it is more than most callers hold.
MANY_NODES = 250_000

Progress = Callable[[int, int], object]


@dataclass(frozen=True, eq=False, repr=False, init=False)
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
    t_min: float
    t_max: float
    is_doubtful: Mask

    def __init__(
        self,
        join_at: Floats,
        problem: CutProblem,
        t_min: float = -np.inf,
        t_max: float = np.inf,
        is_doubtful: Mask | None = None,
    ) -> None:
        doubts = np.zeros(join_at.size, dtype=bool) if is_doubtful is None else is_doubtful
        vars(self).update(join_at=join_at, problem=problem, t_min=t_min, t_max=t_max, is_doubtful=doubts)

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

    def n_source(self, grid: ArrayLike) -> NDArray[np.int64]:
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
        n_doubtful = int(self.is_doubtful.sum())
        return f"{text}; {n_doubtful} not proved)" if n_doubtful else f"{text})"


@dataclass(frozen=True, eq=False)
class Cut:
    """One minimum cut: its source side as a mask, and its cost."""

    source_side: Mask
    value: float


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
    problem = CutProblem(capacities, cost, slope, source_seeds, sink_seeds)
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
    is_free, free = problem.is_free, fold_seeds(problem)
    poll = (lambda n: None) if on_progress is None else (lambda n: on_progress(n, free.n_nodes))
    join_at = np.where(problem.source_seeds, -np.inf, np.inf)
    is_doubtful = np.zeros(problem.n_nodes, dtype=bool)
    n_threads = thread_count(n_jobs)
    core = solver.in_use
    if is_safe(free):
        join_at[is_free] = core.solve_path(*free.arrays, t_min, t_max, n_threads, poll)
    else:
        join_at[is_free], is_doubtful[is_free] = solve_apart(core, free, t_min, t_max, n_threads, poll)
    if free.n_nodes >= MANY_NODES:
        give_back()
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


def _check_tradeoff(name: str, t: float) -> float:
    t = float(t)
    if np.isnan(t):
        raise ValueError(f"{name} is NaN; give a number, or -inf or inf for no limit.")
    return t
