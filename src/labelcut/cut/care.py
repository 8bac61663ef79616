"""Problems whose numbers lie far apart: connected parts by themselves, each as carefully as it needs.

The core is fast because it carries one flow through all its blocks. Beside large numbers that flow forgets
small ones, so where sizes lie far apart its answers have to be earned: nodes without arcs have a closed form,
small parts are solved in exact arithmetic, and the answers of large ones are proved, computed again in exact
arithmetic, or marked as doubtful.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import inf
from typing import Any

import numpy as np

import labelcut.cut._reference as twin
from labelcut.arrays import Floats, Mask
from labelcut.cut.problem import Part, connected_parts, in_chunks
from labelcut.cut.proof import CERTIFIED, Path, imbalance

Poll = Callable[[int], object]

#: Numbers that span no more than this (costs and capacities, times slopes) are safe in the core's arithmetic.
SAFE_SPAN = 1e12

#: Parts of up to so many nodes are solved in exact arithmetic where they are not safe.
EXACT_UP_TO = 50

#: Parts of up to so many nodes are solved once more, exactly, where the core's answer cannot be proved.
EXACT_IF_OPEN = 3000

#: Quotients below this may have been rounded past the threshold they stand for.
TINY = 1e-290


def is_safe(part: Part) -> bool:
    """Tell whether the sizes of a problem's numbers are near enough for the core."""
    return _span(part.capacities.data, part.cost) * _span(part.slope) <= SAFE_SPAN


def _span(*arrays: Floats) -> float:
    low, high = inf, 0.0
    for size in (np.abs(chunk) for array in arrays for chunk in in_chunks(array)):
        high = max(high, float(size.max()))
        least = size.min() if size.min() > 0 else size.min(initial=inf, where=size > 0)
        low = min(low, float(least))
    with np.errstate(over="ignore"):
        return float(np.float64(high) / low) if high > 0 else 1.0


def solve_apart(
    solver: Any, whole: Part, t_min: float, t_max: float, n_threads: int, poll: Poll
) -> tuple[Floats, Mask]:
    """Return the threshold of every node, and a mask of those that could not be proved."""
    join_at = join_alone(whole.cost, whole.slope, t_min, t_max)
    is_doubtful = np.zeros(whole.n_nodes, dtype=bool)
    parts = list(connected_parts(whole))
    n_settled = whole.n_nodes - sum(nodes.size for nodes, _ in parts)
    for nodes, part in parts:
        report = partial(_report, poll, n_settled)
        join_at[nodes], is_doubtful[nodes] = _solve_part(solver, part, t_min, t_max, n_threads, report)
        n_settled += nodes.size
    return join_at, is_doubtful


def _report(poll: Poll, n_before: int, n_settled: int) -> None:
    poll(n_before + n_settled)


def join_alone(cost: Floats, slope: Floats, t_min: float, t_max: float) -> Floats:
    """Return the thresholds of nodes without arcs: the largest floats up to cost / slope."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        t = cost / slope + 0.0  # not -0.0
    t = np.where(slope > 0, t, np.where(cost < 0, -inf, inf))
    for i in np.flatnonzero((np.abs(t) < TINY) & (cost != 0)).tolist():
        t[i] = twin.largest_float_up_to(Fraction(cost[i]) / Fraction(slope[i]))
    alone: Floats = np.where(t < t_min, -inf, np.where(t >= t_max, inf, t))
    return alone


def _solve_part(
    solver: Any, part: Part, t_min: float, t_max: float, n_threads: int, poll: Poll
) -> tuple[Floats, Mask]:
    """Return the thresholds of a connected part, and a mask of those that could not be proved."""

    def solved_by(chosen: Any) -> Path:
        return Path(chosen.solve_path(*part.arrays, t_min, t_max, n_threads, poll), t_min, t_max)

    sure = np.zeros(part.n_nodes, dtype=bool)
    if is_safe(part):
        return solved_by(solver).join_at, sure
    if part.n_nodes <= EXACT_UP_TO or solver is twin:
        return solved_by(twin).join_at, sure
    path = solved_by(solver)
    is_open = imbalance(solver, part, path) > CERTIFIED
    if is_open.any() and part.n_nodes <= EXACT_IF_OPEN:
        return solved_by(twin).join_at, sure
    return path.join_at, is_open
