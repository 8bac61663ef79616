"""Whether the cuts of a path are the cheapest: proved by a flow or, if floats leave it open, by the twin."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf, nextafter

import numpy as np

import labelcut.cut._reference as twin
import labelcut.cut.solver as solver
from labelcut.arrays import Mask
from labelcut.cut.care import EXACT_IF_OPEN
from labelcut.cut.path import CutPath
from labelcut.cut.problem import CutProblem, Part, connected_parts, csr_arrays, fold_seeds
from labelcut.cut.proof import CERTIFIED, LARGEST, Path, imbalance

__all__ = ["Certificate", "verify"]

#: Costs below one part of so many are far below what a float can hold, and count as nothing.
NOTHING = 10**290


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
    if (join_at[problem.source_seeds] > -inf).any() or (join_at[problem.sink_seeds] < inf).any():
        return Certificate(False, inf)
    free = fold_seeds(problem)
    own = Path(join_at[problem.is_free], path.t_min, path.t_max)
    relative = imbalance(solver.in_use, free, own)
    if (relative > CERTIFIED).any():
        for nodes, part in connected_parts(free):
            if nodes.size <= EXACT_IF_OPEN and (relative[nodes] > CERTIFIED).any():
                relative[nodes] = _exact_excess(part, own._replace(join_at=own.join_at[nodes]))
    worst = float(relative.max(initial=0.0))
    return Certificate(worst <= CERTIFIED, worst)


def _exact_excess(part: Part, path: Path) -> float:
    """Return how much dearer than the exact twin's the cuts of a path are at worst, relative to their terms.

    Between two thresholds sides stay as they are and everything is linear in t, up to its sign, so the first
    and the last float of each interval and zero speak for all t.
    """
    best = twin.solve_path(*part.arrays, path.t_min, path.t_max, 1, lambda n_settled: None)
    price = _Price(part)
    steps = np.unique(np.concatenate([path.join_at, best]))
    steps = steps[np.isfinite(steps)]
    ends = [max(path.t_min, -LARGEST), *steps.tolist(), min(path.t_max, LARGEST)]
    worst = Fraction(0)
    for low, high in pairwise(ends):
        first = min(nextafter(low, inf), high)
        side, best_side = path.join_at < high, best < high
        if (side == best_side).all():
            continue
        ours, theirs = price.line(side), price.line(best_side)
        for t in {first, high, min(max(0.0, first), high)}:
            worst = max(worst, price.excess(ours, theirs, t))
    return float(worst)


class _Price:
    """What sides of a part cost, in whole numbers of one unit."""

    def __init__(self, part: Part) -> None:
        row_start, column, capacity = csr_arrays(part.capacities)
        (self._c, self._b, self._m), self._unit = twin.whole_numbers(capacity, part.cost, part.slope)
        self._row = np.repeat(np.arange(part.n_nodes), np.diff(row_start))
        self._column = column

    def line(self, side: Mask) -> tuple[int, int, int]:
        """Return a side's fixed cost, its slope, and the sizes of the terms in the former."""
        torn = sum(self._c[k] for k in np.flatnonzero(side[self._row] & ~side[self._column]))
        inside = np.flatnonzero(side).tolist()
        fixed = sum(self._b[i] for i in inside)
        return torn + fixed, sum(self._m[i] for i in inside), torn + sum(abs(self._b[i]) for i in inside)

    def excess(self, ours: tuple[int, int, int], theirs: tuple[int, int, int], t: float) -> Fraction:
        """Return by how much ours is dearer at t, relative to the terms of both."""
        top, bottom = t.as_integer_ratio()
        dearer = (ours[0] - theirs[0]) * bottom - top * (ours[1] - theirs[1])
        dearer -= self._unit * bottom // NOTHING
        terms = (ours[2] + theirs[2]) * bottom + abs(top) * (ours[1] + theirs[1])
        return Fraction(dearer, terms) if dearer > 0 else Fraction(0)
