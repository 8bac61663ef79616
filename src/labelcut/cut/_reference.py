"""The slow, plain twin of the compiled core: the same two functions, written to be read.

The problem and the tie rule are told in ``core/parametric_cut.hpp``, the split in ``core/split.hpp``. Here
every block routes its flow from scratch, and all arithmetic is exact: every float is a whole number over a
power of two, so with one common denominator the whole computation runs in Python's unlimited integers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from fractions import Fraction
from math import inf, nextafter

import numpy as np
from numpy.typing import NDArray

Arcs = list[dict[int, int]]  # arcs[i][j]: how much may flow from i to j; arcs[j] has the key i as well


def solve_path(
    row_start: NDArray[np.int64],
    column: NDArray[np.int32],
    capacity: NDArray[np.float64],
    cost: NDArray[np.float64],
    slope: NDArray[np.float64],
    t_min: float,
    t_max: float,
    n_threads: int,
    poll: Callable[[int], object],
) -> NDArray[np.float64]:
    """Return, per node, the trade-off above which it is on the source side."""
    (c, b, m), _ = whole_numbers(capacity, cost, slope)
    arcs = _as_arcs(row_start, column, c)
    join_at = np.full(len(b), inf)
    blocks = [set(range(len(b)))]
    n_settled = 0
    while blocks:
        block = blocks.pop()
        total_slope = sum(m[i] for i in block)
        # Where taking the whole block costs nothing.
        t = Fraction(sum(b[i] for i in block), total_slope) if total_slope else Fraction(0)
        if not t_min <= t <= t_max:
            t = Fraction(t_min if t < t_min else t_max)
        early, tied, late = _three_parts(arcs, block, b, m, t)
        _fold(arcs, b, early, tied | late)
        _fold(arcs, b, tied, late)

        join_at[list(tied)] = largest_float_up_to(t) if t < t_max else inf
        n_settled += len(block)
        for part, t_end, is_beyond in ((early, -inf, t <= t_min), (late, inf, t >= t_max)):
            if is_beyond or not any(m[i] for i in part):
                join_at[list(part)] = t_end
            else:
                blocks.append(part)
                n_settled -= len(part)
        poll(n_settled)
    return join_at


def route(
    row_start: NDArray[np.int64],
    column: NDArray[np.int32],
    capacity: NDArray[np.float64],
    excess: NDArray[np.float64],
    poll: Callable[[int], object],
) -> NDArray[np.float64]:
    """Return, per stored arc, a flow that carries as much excess to deficits as possible."""
    (c, e), unit = whole_numbers(capacity, excess)
    room = _as_arcs(row_start, column, c)
    _route(room, dict(enumerate(e)))
    poll(len(e))
    row = np.repeat(np.arange(len(e)), np.diff(row_start)).tolist()
    arcs = zip(row, column.tolist(), c, strict=True)
    return np.array([max(0, c_ij - room[i].get(j, c_ij)) / unit for i, j, c_ij in arcs], dtype=np.float64)


def whole_numbers(*arrays: NDArray[np.float64]) -> tuple[list[list[int]], int]:
    """Return the arrays as whole numbers of one unit, and how many units make 1."""
    ratios = [[x.as_integer_ratio() for x in array.tolist()] for array in arrays]
    unit = max((denominator for ratio in ratios for _, denominator in ratio), default=1)
    return [[numerator * (unit // denominator) for numerator, denominator in ratio] for ratio in ratios], unit


def largest_float_up_to(t: Fraction) -> float:
    """Return the float that any other float exceeds exactly when it exceeds t."""
    try:
        nearest = t.numerator / t.denominator
    except OverflowError:
        return inf if t > 0 else -inf
    return nearest if nearest <= t else nextafter(nearest, -inf)


def _as_arcs(row_start: NDArray[np.int64], column: NDArray[np.int32], capacity: list[int]) -> Arcs:
    arcs: Arcs = [{} for _ in range(len(row_start) - 1)]
    for i in range(len(arcs)):
        for position in range(row_start[i], row_start[i + 1]):
            j = int(column[position])
            if i != j:
                arcs[i][j] = capacity[position]
                arcs[j].setdefault(i, 0)
    return arcs


def _three_parts(
    arcs: Arcs, block: set[int], b: list[int], m: list[int], t: Fraction
) -> tuple[set[int], set[int], set[int]]:
    """Split a block into what joins before t, exactly at t, and after t."""
    top, bottom = t.as_integer_ratio()  # all is multiplied by the bottom, to stay with whole numbers
    room: Arcs = [{} for _ in arcs]
    for i in block:
        room[i] = {j: c * bottom for j, c in arcs[i].items() if j in block}
    excess = {i: top * m[i] - bottom * b[i] for i in block}
    reaches_deficit = _route(room, excess).keys()

    early = _reachable(room, (i for i in block if excess[i] > 0))
    tied = _reachable(room, (i for i in block - early - reaches_deficit if m[i])) - early
    return early, tied, block - early - tied


def _route(room: Arcs, excess: dict[int, int]) -> dict[int, int]:
    """Push excess towards deficits until none can reach any; return who still reaches a deficit.

    Every pass measures each node's distance to the nearest deficit and pushes, from the farthest nodes on,
    along arcs that come one step closer. What is left of a node's excess after a pass is farther away than
    before, so there are at most as many passes as nodes.
    """
    while True:
        distance = _distance_to_deficits(room, excess)
        if not any(excess[i] > 0 for i in distance):
            return distance
        for i in sorted(distance, key=lambda node: -distance[node]):
            for j, most in room[i].items():
                if excess[i] <= 0:
                    break
                if most > 0 and distance.get(j) == distance[i] - 1:
                    pushed = min(most, excess[i])
                    room[i][j] -= pushed
                    room[j][i] += pushed
                    excess[i] -= pushed
                    excess[j] += pushed


def _distance_to_deficits(room: Arcs, excess: dict[int, int]) -> dict[int, int]:
    queue = deque(i for i in excess if excess[i] < 0)
    distance = dict.fromkeys(queue, 0)
    while queue:
        j = queue.popleft()
        for i in room[j]:
            if i not in distance and room[i][j] > 0:
                distance[i] = distance[j] + 1
                queue.append(i)
    return distance


def _reachable(room: Arcs, start: Iterable[int]) -> set[int]:
    found = set(start)
    stack = list(found)
    while stack:
        for j, most in room[stack.pop()].items():
            if most > 0 and j not in found:
                found.add(j)
                stack.append(j)
    return found


def _fold(arcs: Arcs, b: list[int], first: set[int], second: set[int]) -> None:
    """Charge the arcs between two separated parts to their ends: the first joins before the second."""
    for i in first:
        for j, c in arcs[i].items():
            if j in second:
                b[i] += c
                b[j] -= c
