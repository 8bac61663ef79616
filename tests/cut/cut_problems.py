"""Small cut problems, and their exact answers by trying every subset in whole-number arithmetic."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from labelcut.cut import CutProblem

#: A returned cut may exceed the true minimum by this much of the terms that make up the two costs.
ROUNDING = Fraction(1, 10**12)

small_integers = st.integers(0, 3).map(float)
units = st.sampled_from([0.0, 1.0])
ordinary = st.one_of(st.just(0.0), st.floats(1e-3, 1e3))
magnitudes = st.integers(-200, 200)
extreme = st.one_of(st.just(0.0), st.builds(lambda x, e: x * 10.0**e, st.floats(1, 10), magnitudes))
tied_extremes = st.builds(
    lambda k, e: k * 2.0**e, st.integers(0, 3), st.sampled_from([-664, -300, -52, 0, 1, 300, 660])
)


@st.composite
def cut_problems(draw, numbers, max_nodes=7, with_seeds=False):
    """Draw a directed or undirected graph, often disconnected, with costs and slopes of the given sizes."""
    n = draw(st.integers(0, max_nodes))
    pairs = [(i, j) for i in range(n) for j in range(n)]
    arcs = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3 * n)) if n else []
    capacities = np.zeros((n, n))
    for i, j in arcs:
        capacities[i, j] = draw(numbers)
    if draw(st.booleans()):
        capacities = np.triu(capacities) + np.triu(capacities, 1).T
    signed = st.builds(lambda x, is_negative: -x if is_negative else x, numbers, st.booleans())
    cost = np.array(draw(st.lists(signed, min_size=n, max_size=n)), dtype=float)
    slope = np.array(draw(st.lists(numbers, min_size=n, max_size=n)), dtype=float)
    if not with_seeds:
        return CutProblem(capacities, cost, slope)
    seed = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=int)
    return CutProblem(capacities, cost, slope, source_seeds=seed == 0, sink_seeds=seed == 1)


def chain(capacity, cost, slope):
    """Return a problem whose node i is joined to node i + 1, both ways, with the given capacity."""
    return CutProblem(np.diag(capacity, 1) + np.diag(capacity, -1), cost, slope)


@dataclass(frozen=True)
class Exact:
    """Every subset of a problem, as a bit mask, with what it costs in whole numbers (times 2 ** SHIFT)."""

    n_nodes: int
    fixed: dict[int, int]
    per_t: dict[int, int]
    terms_fixed: dict[int, int]  # the same with every term's magnitude

    SHIFT = 1100  # turns every float into a whole number

    @classmethod
    def of(cls, problem):
        """Enumerate all subsets that respect the seeds."""
        n = problem.n_nodes
        capacity = [[_whole(c) for c in row] for row in problem.capacities.toarray()]
        cost, slope = [_whole(b) for b in problem.cost], [_whole(m) for m in problem.slope]
        must = sum(1 << i for i in range(n) if problem.source_seeds[i])
        must_not = sum(1 << i for i in range(n) if problem.sink_seeds[i])
        fixed, per_t, terms = {}, {}, {}
        for subset in range(1 << n):
            if subset & must != must or subset & must_not:
                continue
            inside = [i for i in range(n) if subset >> i & 1]
            outside = [i for i in range(n) if not subset >> i & 1]
            crossing = sum(capacity[i][j] for i in inside for j in outside)
            fixed[subset] = crossing + sum(cost[i] for i in inside)
            terms[subset] = crossing + sum(abs(cost[i]) for i in inside)
            per_t[subset] = sum(slope[i] for i in inside)
        return cls(n, fixed, per_t, terms)

    def cost(self, side, t):
        """Return what a side costs."""
        return self._in_ones(self._cost(_bits(side), Fraction(t)), t)

    def best_and_rounding(self, side, t):
        """Return the least cost, and by how much the cost of a computed side may differ from it."""
        best = min(self.fixed, key=lambda subset: self._cost(subset, Fraction(t)))
        terms = self._terms(best, Fraction(t)) + self._terms(_bits(side), Fraction(t))
        # Costs far below what a float can hold count as nothing.
        allowed = ROUNDING * self._in_ones(terms, t) + Fraction(1, 10**290)
        return self._in_ones(self._cost(best, Fraction(t)), t), allowed

    def join_at(self):
        """Return the exact threshold of every node; the smallest of equally cheap sides counts."""
        smallest = {}  # per slope the cheapest fixed cost, and what is common to all sides that have both
        for subset, fixed in self.fixed.items():
            known = smallest.get(self.per_t[subset])
            if known is None or fixed < known[0]:
                smallest[self.per_t[subset]] = (fixed, subset)
            elif fixed == known[0]:
                smallest[self.per_t[subset]] = (fixed, known[1] & subset)
        # Walk the lower envelope of the lines fixed - t * slope from t = -inf on: slopes rise along it.
        slope = min(smallest)
        fixed, side = smallest[slope]
        result = [-np.inf if side >> i & 1 else np.inf for i in range(self.n_nodes)]
        while steeper := [m for m in smallest if m > slope]:
            crossing = {m: Fraction(smallest[m][0] - fixed, m - slope) for m in steeper}
            t = min(crossing.values())
            slope = max(m for m in steeper if crossing[m] == t)
            fixed, next_side = smallest[slope]
            for i in range(self.n_nodes):
                if next_side >> i & 1 and not side >> i & 1:
                    result[i] = t
            side = next_side
        return result

    def _in_ones(self, units, t):
        return Fraction(units, Fraction(t).denominator << self.SHIFT)

    def _cost(self, subset, t):
        return self.fixed[subset] * t.denominator - t.numerator * self.per_t[subset]

    def _terms(self, subset, t):
        return self.terms_fixed[subset] * t.denominator + abs(t.numerator) * self.per_t[subset]


def _bits(side):
    return sum(1 << i for i in np.flatnonzero(side).tolist())


def _whole(x):
    scaled = Fraction(float(x)) * (1 << Exact.SHIFT)
    assert scaled.denominator == 1
    return int(scaled)


def telling_tradeoffs(path):
    """Return the trade-offs where a wrong path would show: at, just around and between its breakpoints."""
    at = np.unique(path.join_at[np.isfinite(path.join_at)])
    if at.size == 0:
        return [-1.0, 0.0, 1.0]
    between = at[:-1] / 2 + at[1:] / 2
    with np.errstate(over="ignore"):
        ends = [at[0] - abs(at[0]) - 1.0, at[-1] + abs(at[-1]) + 1.0]
        around = np.concatenate(
            [at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf), between, ends, [0.0]]
        )
    return around[np.isfinite(around)].tolist()
