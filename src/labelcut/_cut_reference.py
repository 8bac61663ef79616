"""The slow, plain twin of the compiled core: the same two functions, written to be read.

The problem, the split into blocks and the tie rule are told in ``core/parametric_cut.hpp``; here every
block simply routes its flow from scratch, with arcs in dictionaries.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from math import fsum, inf

import numpy as np
from numpy.typing import NDArray

Arcs = list[dict[int, float]]  # arcs[i][j]: how much may flow from i to j; arcs[j] has the key i as well


def solve_path(
    row_start: NDArray[np.int64],
    column: NDArray[np.int32],
    capacity: NDArray[np.float64],
    cost: NDArray[np.float64],
    slope: NDArray[np.float64],
    t_min: float,
    t_max: float,
    n_threads: int,
    poll: Callable[[int], None],
) -> NDArray[np.float64]:
    """Return, per node, the trade-off above which it is on the source side."""
    arcs = _as_arcs(row_start, column, capacity)
    b, m = cost.tolist(), slope.tolist()
    join_at = np.full(len(b), inf)
    blocks = [set(range(len(b)))]
    n_settled = 0
    while blocks:
        block = blocks.pop()
        mean = _threshold(block, b, m, otherwise=0.0)
        t = min(max(mean, t_min), t_max)
        early, tied, late = _three_parts(arcs, block, b, m, t)
        _fold(arcs, b, early, tied | late)
        _fold(arcs, b, tied, late)

        for part, t_end, is_beyond in ((early, -inf, t <= t_min), (late, inf, t >= t_max)):
            if is_beyond or not any(m[i] for i in part):
                join_at[list(part)] = t_end
            elif len(part) == len(block):  # a block cannot leave itself behind: only rounding says so
                tied = block
            else:
                blocks.append(part)
                n_settled -= len(part)
        join_at[list(tied)] = t if t < t_max else inf
        n_settled += len(block)
        poll(n_settled)
    return join_at


def route(
    row_start: NDArray[np.int64],
    column: NDArray[np.int32],
    capacity: NDArray[np.float64],
    excess: NDArray[np.float64],
    poll: Callable[[int], None],
) -> NDArray[np.float64]:
    """Return, per stored arc, a flow that carries as much excess to deficits as possible."""
    net_flow: dict[tuple[int, int], float] = {}
    _route(_as_arcs(row_start, column, capacity), dict(enumerate(excess.tolist())), net_flow)
    poll(len(excess))
    row = np.repeat(np.arange(len(excess)), np.diff(row_start))
    arcs = zip(row.tolist(), column.tolist(), strict=True)
    flow = np.array([net_flow.get(arc, 0.0) for arc in arcs], dtype=np.float64)
    return np.minimum(np.maximum(flow, 0.0), capacity)


def _as_arcs(row_start: NDArray[np.int64], column: NDArray[np.int32], capacity: NDArray[np.float64]) -> Arcs:
    arcs: Arcs = [{} for _ in range(len(row_start) - 1)]
    for i in range(len(arcs)):
        for position in range(row_start[i], row_start[i + 1]):
            j = int(column[position])
            if i != j:
                arcs[i][j] = float(capacity[position])
                arcs[j].setdefault(i, 0.0)
    return arcs


def _threshold(part: set[int], b: list[float], m: list[float], otherwise: float) -> float:
    """Return the trade-off at which taking the whole part costs nothing."""
    total_slope = fsum(m[i] for i in part)
    return fsum(b[i] for i in part) / total_slope if total_slope else otherwise


def _three_parts(
    arcs: Arcs, block: set[int], b: list[float], m: list[float], t: float
) -> tuple[set[int], set[int], set[int]]:
    """Split a block into what joins before t, exactly at t, and after t."""
    inside = [{j: c for j, c in arcs[i].items() if j in block} if i in block else {} for i in range(len(b))]
    excess = {i: t * m[i] - b[i] for i in block}
    distance = _route(inside, excess)

    early = _reachable(inside, (i for i in block if excess[i] > 0))
    late = set(distance) - early
    slope_of_early, slope_of_late = fsum(m[i] for i in early), fsum(m[i] for i in late)
    if slope_of_early and t - fsum(excess[i] for i in early) / slope_of_early >= t:
        early = set()
    if slope_of_late and t - fsum(excess[i] for i in late) / slope_of_late <= t:
        late = set()
    tied = _reachable(inside, (i for i in block - early - late if m[i] > 0)) - early
    return early, tied, block - early - tied


def _route(
    residual: Arcs, excess: dict[int, float], net_flow: dict[tuple[int, int], float] | None = None
) -> dict[int, int]:
    """Push excess towards deficits until none can reach any; return who still reaches a deficit.

    Every pass measures each node's distance to the nearest deficit and pushes, from the farthest nodes on,
    along arcs that come one step closer. Distances never fall and some rise in every pass, so it ends.
    """
    while True:
        distance = _distance_to_deficits(residual, excess)
        if not any(excess[i] > 0 for i in distance):
            return distance
        for i in sorted(distance, key=lambda node: -distance[node]):
            for j, room in residual[i].items():
                if excess[i] <= 0:
                    break
                if room > 0 and distance.get(j) == distance[i] - 1:
                    pushed = min(room, excess[i])
                    residual[i][j] -= pushed
                    residual[j][i] += pushed
                    excess[i] -= pushed
                    excess[j] += pushed
                    if net_flow is not None:
                        net_flow[i, j] = net_flow.get((i, j), 0.0) + pushed
                        net_flow[j, i] = net_flow.get((j, i), 0.0) - pushed


def _distance_to_deficits(residual: Arcs, excess: dict[int, float]) -> dict[int, int]:
    queue = deque(i for i in excess if excess[i] < 0)
    distance = dict.fromkeys(queue, 0)
    while queue:
        j = queue.popleft()
        for i in residual[j]:
            if i not in distance and residual[i][j] > 0:
                distance[i] = distance[j] + 1
                queue.append(i)
    return distance


def _reachable(residual: Arcs, start: Iterable[int]) -> set[int]:
    found = set(start)
    stack = list(found)
    while stack:
        for j, room in residual[stack.pop()].items():
            if room > 0 and j not in found:
                found.add(j)
                stack.append(j)
    return found


def _fold(arcs: Arcs, b: list[float], first: set[int], second: set[int]) -> None:
    """Charge the arcs between two separated parts to their ends: the first joins before the second."""
    for i in first:
        for j, c in arcs[i].items():
            if j in second:
                b[i] += c
                b[j] -= c
