"""Proofs that the cuts of a path are the cheapest, whoever found it.

One flow proves all cuts at once. Let every arc from an earlier to a later node be full and every arc back be
empty. If flow among nodes that join together can then be chosen such that at each node ``join_at * slope -
cost`` equals what flows out minus what flows in, no set is cheaper at any t: these are the optimality
conditions of the underlying convex problem. What a node is short of, or has left, bounds what sets that
differ there can gain.

Floats leave something at every node. It is held against the node's own cost and ``join_at * slope``, which
are terms of every set that differs there, and not against its arcs, which may not be. A light node between
heavy arcs would fail: it is taken as one with neighbours over arcs that have room, both ways, for all that is
missing around. Then what is missing could be moved among them, and their sum needs no arc in between.

Sums are taken in long doubles with a bound on their rounding, and exactly where that bound leaves it open: a
proof is a proof. Where there is none the path may still be right; it can be held against the exact twin.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from labelcut.arrays import Floats, Ints, Mask
from labelcut.cut.problem import Part, csr_arrays

Longs = NDArray[np.longdouble]

LARGEST = float(np.finfo(np.float64).max)
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
LONG_ROUNDING = np.finfo(np.longdouble).eps

#: A proof may miss the balance of a flow by this much, relative to the terms that were added up.
CERTIFIED = 1e-12

#: So often is what rounding has left at light nodes carried to heavy ones, which do not notice it.
ROUNDS = 3


class Path(NamedTuple):
    """One threshold per node of a part, and the range that was solved."""

    join_at: Floats
    t_min: float
    t_max: float

    @property
    def known(self) -> Floats:
        """The trade-offs at which balance is due: the thresholds, or the ends of the range instead."""
        return np.clip(np.clip(self.join_at, self.t_min, self.t_max), -LARGEST, LARGEST)


class Tally:
    """Sums by node or group, with how far rounding may have moved them."""

    def __init__(self, n: int) -> None:
        self.total: Longs = np.zeros(n, np.longdouble)
        self._sizes: Longs = np.zeros(n, np.longdouble)
        self._counts = np.zeros(n)

    def add(self, where: Ints, values: Longs | Floats) -> None:
        """Add each value to the sum it belongs to."""
        np.add.at(self.total, where, values)
        np.add.at(self._sizes, where, np.abs(values))
        self._counts += np.bincount(where, minlength=self._counts.size)

    @property
    def error(self) -> Longs:
        """At most this far is each total from the true sum of the values."""
        error: Longs = (self._counts + 2) * LONG_ROUNDING * self._sizes
        return error


class Arcs(NamedTuple):
    """Arcs by the end they start from, and what flows over each of them, net of its opposite."""

    row: Ints
    column: Ints | NDArray[np.int32]
    flow: Longs | Floats


def imbalance(solver: Any, part: Part, path: Path) -> Floats:
    """Return, per node, what it lacks or has left of a proof, relative to its own terms."""
    row_start, column, capacity = csr_arrays(part.capacities)
    row = np.repeat(np.arange(part.n_nodes), np.diff(row_start))
    earlier, later = path.join_at[row], path.join_at[column]
    is_full, is_inner = (
        (earlier < later) & (capacity > 0),
        (earlier == later) & (capacity > 0) & (row != column),
    )
    full = capacity[is_full]
    across = Arcs(
        np.concatenate([row[is_full], column[is_full]]),
        np.concatenate([column[is_full], row[is_full]]),
        np.concatenate([full, -full]),
    )
    with np.errstate(over="ignore", invalid="ignore"):
        own = np.abs(path.known.astype(np.longdouble) * part.slope) + np.abs(part.cost)
        inner = _Inner(row[is_inner], column[is_inner], capacity[is_inner], own)

        def missing(as_one: Ints) -> Longs:
            tally = _missing(part, path, as_one, [across, inner.arcs])
            at = np.zeros(tally.total.size)
            at[as_one] = path.join_at
            wrong = _one_sided(tally.total, at)
            return wrong + np.copysign(tally.error, wrong)

        alone = as_one = np.arange(part.n_nodes)
        inner.route(solver, _missing(part, path, alone, [across]).total)
        relative = _relative_imbalance(part, path, alone, [across, inner.arcs])
        if (relative <= CERTIFIED).all():
            return relative
        for _ in range(ROUNDS):
            inner.gather(solver, missing(alone), 1)
            inner.gather(solver, missing(alone), -1)
        for _ in range(ROUNDS):
            as_one = inner.taken_as_one(as_one, np.abs(missing(as_one)))
        return _relative_imbalance(part, path, as_one, [across, inner.arcs])[as_one]


class _Inner:
    """The arcs among nodes that join together, every one with its opposite, and a flow over them."""

    def __init__(self, row: Ints, column: Ints, capacity: Floats, own: Longs) -> None:
        self._own, n_nodes = own, own.size
        with_opposites = sparse.coo_array(
            (
                np.concatenate([capacity, np.zeros_like(capacity)]),
                (np.concatenate([row, column]), np.concatenate([column, row])),
            ),
            shape=(n_nodes, n_nodes),
        ).tocsr()
        with_opposites.sort_indices()
        self._row_start, self._column, self._capacity = csr_arrays(with_opposites)
        number = np.arange(self._column.size)
        numbers = sparse.csr_array((number, self._column, self._row_start), shape=(n_nodes, n_nodes))
        self._mate = numbers.T.tocsr().data
        self._row = np.repeat(np.arange(n_nodes), np.diff(self._row_start))
        self._flow: Longs = np.zeros(self._column.size, np.longdouble)
        self._group = self._connect(np.ones(self._row.size, dtype=bool))
        by_weight = np.lexsort((own, self._group))
        is_last = np.diff(self._group[by_weight], append=n_nodes) > 0
        self._heaviest = by_weight[is_last]  # by group

    @property
    def arcs(self) -> Arcs:
        return Arcs(self._row, self._column, self._flow)

    def route(self, solver: Any, missing: Longs) -> None:
        """Let flow carry what is left at some nodes to where it is missing, as far as there is room."""
        self._move(solver, np.nan_to_num(missing), 1)

    def gather(self, solver: Any, missing: Longs, sign: int) -> None:
        """Let flow carry what is left (sign 1) or missing (-1) to the heaviest node of each group."""
        left = np.maximum(sign * np.nan_to_num(missing), 0)
        left[self._heaviest] = 0
        left[self._heaviest] = -2 * self._sum_by_group(left)
        self._move(solver, left, sign)

    def _move(self, solver: Any, excess: Longs, sign: int) -> None:
        room = np.maximum(self._capacity - self._flow, 0).astype(np.float64)
        room = room if sign > 0 else room[self._mate]
        most = room.sum()  # no node can send or take more
        wanted = np.clip(excess, -most, most).astype(np.float64)
        moved = solver.route(self._row_start, self._column, room, wanted, lambda n_settled: None)
        flow = self._flow + sign * (moved.astype(np.longdouble) - moved[self._mate])
        self._flow = np.clip(flow, -self._capacity[self._mate], self._capacity)

    def taken_as_one(self, as_one: Ints, missing: Longs) -> Ints:
        """Return a number for each node, the same where all that is missing in the group could be moved.

        Given are the numbers so far, and what is missing by them: the more nodes are taken as one, the fewer
        large flows hide what is small. What the heaviest lack may stay there if it is nothing to them.
        """
        own = np.bincount(as_one, self._own.astype(np.float64))
        heaviest = as_one[self._heaviest]
        is_nothing = missing[heaviest] <= CERTIFIED * own[heaviest]
        to_move = missing.copy()
        to_move[heaviest[is_nothing]] = 0
        group = np.zeros(missing.size, dtype=int)
        group[as_one] = self._group
        total: Longs = np.zeros(self._heaviest.size, np.longdouble)
        np.add.at(total, group, to_move)
        room = self._capacity - self._flow
        is_wide = np.minimum(room, room[self._mate]) > 4 * total[self._group][self._row]
        return self._connect(is_wide | (as_one[self._row] == as_one[self._column]))

    def _sum_by_group(self, values: Longs) -> Longs:
        total: Longs = np.zeros(self._heaviest.size, np.longdouble)
        np.add.at(total, self._group, values)
        return total

    def _connect(self, which: Mask) -> Ints:
        chosen = (np.ones(int(which.sum())), (self._row[which], self._column[which]))
        graph = sparse.coo_array(chosen, shape=(self._own.size, self._own.size))
        return connected_components(graph, directed=False)[1].astype(np.intp)


def _missing(part: Part, path: Path, as_one: Ints, arcs: list[Arcs]) -> Tally:
    """Return what flow should leave the nodes taken as one, less what does."""
    tally = Tally(int(as_one.max(initial=-1)) + 1)
    tally.add(as_one, path.known.astype(np.longdouble) * part.slope)
    tally.add(as_one, -part.cost)
    for row, column, flow in arcs:
        leaves = as_one[row] != as_one[column]
        tally.add(as_one[row[leaves]], -flow[leaves])
    return tally


def _one_sided(missing: Longs, join_at: Floats) -> Longs:
    """Return what is wrong: who joins always may have something left, who never does may lack something."""
    wrong = np.where(join_at == -inf, np.minimum(missing, 0), missing)
    return np.where(join_at == inf, np.maximum(wrong, 0), wrong)


def _relative_imbalance(part: Part, path: Path, as_one: Ints, arcs: list[Arcs]) -> Floats:
    """Return what is missing at nodes taken as one, over the sizes of their costs and slopes at their t."""
    tally = _missing(part, path, as_one, arcs)
    join_at = np.zeros(tally.total.size)
    join_at[as_one] = path.join_at
    own, slope = Tally(tally.total.size), Tally(tally.total.size)
    own.add(as_one, np.abs(path.known.astype(np.longdouble) * part.slope))
    own.add(as_one, np.abs(part.cost))
    slope.add(as_one, part.slope)
    terms = np.maximum(own.total - own.error, 0)
    least, most = (_one_sided(tally.total + sign * tally.error, join_at) for sign in (-1, 1))
    wrong = np.maximum(np.abs(least), np.abs(most))
    wrong -= slope.total * SMALLEST  # a threshold is a float, and near zero floats are this far apart
    relative = np.divide(wrong, terms, out=np.full_like(terms, inf), where=terms > 0)
    relative[~(wrong > 0)] = 0.0
    relative[np.isnan(wrong)] = inf
    for k in _worth_exact(tally, relative, terms, as_one):
        relative[k] = _exact_imbalance(part, path, as_one, arcs, k)
    result: Floats = relative.astype(np.float64)
    return result


def _worth_exact(tally: Tally, relative: Longs, terms: Longs, as_one: Ints) -> list[int]:
    """Return where rounding may be all that is missing, unless exact sums would take long."""
    most_nodes, most_groups = 1000, 1000
    is_open = (relative > CERTIFIED) & (np.abs(tally.total) - tally.error <= CERTIFIED * terms)
    is_open &= np.bincount(as_one, minlength=is_open.size) <= most_nodes
    found: list[int] = np.flatnonzero(is_open).tolist()
    return found[:most_groups]


def _exact_imbalance(part: Part, path: Path, as_one: Ints, arcs: list[Arcs], k: int) -> float:
    """Return the relative imbalance of one group in exact arithmetic."""
    nodes = np.flatnonzero(as_one == k)
    known = [Fraction(t) for t in path.known[nodes].tolist()]
    cost = [Fraction(b) for b in part.cost[nodes].tolist()]
    slope = [Fraction(m) for m in part.slope[nodes].tolist()]
    at_known = [t * m for t, m in zip(known, slope, strict=True)]
    missing = sum(at_known, Fraction(0)) - sum(cost)
    for row, column, flow in arcs:
        leaves = (as_one[row] == k) & (as_one[column] != k)
        missing -= sum(Fraction(*x.as_integer_ratio()) for x in flow[leaves])
    join_at = path.join_at[nodes[0]]
    is_allowed = missing > 0 if join_at == -inf else missing < 0 if join_at == inf else False
    wrong = Fraction(0) if is_allowed else abs(missing)
    wrong -= sum(slope) * Fraction(SMALLEST)
    terms = sum(map(abs, at_known)) + sum(map(abs, cost))
    if wrong <= 0:
        return 0.0
    return float(min(wrong / terms, Fraction(LARGEST))) if terms else inf
