"""Random cut problems of numbers that lie far apart, and an exact judge of their answers at every t."""

from itertools import pairwise

import numpy as np
from cut_problems import ROUNDING
from scipy import sparse

from labelcut.cut import CutProblem

LARGEST = float(np.finfo(float).max)

#: Costs below one part of so many are far below what a float can hold, and count as nothing.
NOTHING = 10**290


def _small_integers(rng, size):
    return rng.integers(0, 4, size).astype(float)


def _ordinary(rng, size):
    return rng.random(size)


def _spread(decades):
    """Return a family of numbers whose sizes are spread evenly over so many decades around 1."""
    return lambda rng, size: rng.uniform(1, 10, size) * 10.0 ** rng.uniform(-decades, decades, size)


def _two_sizes(rng, size):
    """Small whole numbers, of which about half count in a unit that is 1e-8 to 1e-40 of the other's."""
    return rng.integers(0, 4, size) * np.where(rng.random(size) < 0.5, 1.0, 10.0 ** -rng.integers(8, 41))


def _tied_extremes(rng, size):
    return rng.integers(0, 4, size) * 2.0 ** rng.choice([-664, -300, -52, 0, 1, 300, 660], size)


def _powers(rng, size):
    """Powers of ten from a handful of exponents, so that sums tie or nearly tie."""
    return 10.0 ** rng.choice(rng.integers(-200, 201, 3), size)


FAMILIES = (
    _small_integers,
    _ordinary,
    _spread(1),
    _spread(3),
    _spread(5),
    _spread(8),
    _spread(12),
    _spread(20),
    _spread(100),
    _spread(199),
    _two_sizes,
    _tied_extremes,
    _powers,
)


def random_problem(rng, n_nodes, families=None):
    """Return a problem with capacities, costs and slopes of one family each; some are zero."""
    families = rng.choice(len(FAMILIES), 3) if families is None else families
    if rng.random() < 0.5:
        families = [families[0]] * 3
    draw = [FAMILIES[k] for k in families]
    is_arc = rng.random((n_nodes, n_nodes)) < rng.choice([0.3, 0.6, 0.9])
    capacities = np.where(is_arc, draw[0](rng, (n_nodes, n_nodes)), 0.0)
    np.fill_diagonal(capacities, 0.0)
    if rng.random() < 0.5:
        capacities = np.triu(capacities) + np.triu(capacities).T
    share = rng.choice([0.3, 0.8, 1.0], 2)  # of nodes with a cost, and with a slope
    cost = np.where(rng.random(n_nodes) < share[0], draw[1](rng, n_nodes), 0.0) * rng.choice(
        [-1.0, 1.0], n_nodes
    )
    slope = np.where(rng.random(n_nodes) < share[1], draw[2](rng, n_nodes), 0.0)
    return CutProblem(capacities, cost, slope)


def random_crowd(rng, n_parts):
    """Return small problems, in half of the crowds of one kind, and the problem of all of them together."""
    families = rng.choice(len(FAMILIES), 3) if rng.random() < 0.5 else None
    parts = [random_problem(rng, int(rng.integers(1, 6)), families) for _ in range(n_parts)]
    return parts, together(parts)


def together(parts):
    """Return one problem in which the given ones have nothing to do with each other."""
    return CutProblem(
        sparse.csr_array(sparse.block_diag([part.capacities for part in parts])),
        np.concatenate([part.cost for part in parts]),
        np.concatenate([part.slope for part in parts]),
    )


class Judge:
    """Every subset of a small problem, with what it costs in whole numbers of one unit."""

    def __init__(self, problem):
        n = problem.n_nodes
        arrays = [problem.capacities.toarray().ravel(), problem.cost, problem.slope]
        ratios = [[x.as_integer_ratio() for x in array.tolist()] for array in arrays]
        self.unit = max(bottom for ratio in ratios for _, bottom in ratio)
        c, b, m = [[top * (self.unit // bottom) for top, bottom in ratio] for ratio in ratios]
        self.n_nodes = n
        self.lines = []  # by subset: fixed cost, slope, and the sizes of the terms in the former
        for subset in range(1 << n):
            inside = [i for i in range(n) if subset >> i & 1]
            torn = sum(c[i * n + j] for i in inside for j in range(n) if not subset >> j & 1)
            self.lines.append(
                (
                    torn + sum(b[i] for i in inside),
                    sum(m[i] for i in inside),
                    torn + sum(abs(b[i]) for i in inside),
                )
            )

    def faults(self, join_at):
        """Return the trade-offs at which a subset is cheaper than the path's side by more than rounding."""
        return [t for side, t, prices in self._sides(join_at) if self._is_beaten(prices[side], t, prices)]

    def beaten_by_the_cheapest(self, join_at):
        """Return where the smallest of the cheapest subsets is cheaper; others may have smaller terms."""
        found = []
        for side, t, prices in self._sides(join_at):
            least = min(cost for cost, _ in prices)
            smallest = min((k for k, (cost, _) in enumerate(prices) if cost == least), key=int.bit_count)
            found += [t] if self._is_beaten(prices[side], t, [prices[smallest]]) else []
        return found

    def _sides(self, join_at):
        """Yield sides, as bits, with trade-offs that speak for all t and what every subset costs there.

        Between two thresholds the side stays as it is and everything is linear in t, up to its sign, so the
        first and the last float of each interval and zero will do.
        """
        steps = np.unique(join_at[np.isfinite(join_at)]).tolist()
        for low, high in pairwise([-LARGEST, *steps, LARGEST]):
            side = sum(1 << i for i in np.flatnonzero(join_at <= low).tolist())
            first = np.nextafter(low, np.inf).item()
            for t in {first, high, min(max(0.0, first), high)}:
                yield side, t, self._prices(t)

    def _prices(self, t):
        """Return what every subset costs at t, and the sizes of its terms, in whole numbers of some unit."""
        top, bottom = t.as_integer_ratio()
        return [
            (fixed * bottom - top * slope, terms * bottom + abs(top) * slope)
            for fixed, slope, terms in self.lines
        ]

    def _is_beaten(self, own, t, rivals):
        cost, terms = own
        cost -= self.unit * t.as_integer_ratio()[1] // NOTHING
        return any((cost - rival) * ROUNDING.denominator > terms + its_terms for rival, its_terms in rivals)
