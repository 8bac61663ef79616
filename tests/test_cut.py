import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelcut.cut import CutProblem, parametric_cut, verify


@st.composite
def integer_problems(draw, max_nodes=6):
    n = draw(st.integers(0, max_nodes))
    small = st.integers(0, 3)
    capacities = np.array(draw(st.lists(small, min_size=n * n, max_size=n * n)), dtype=float).reshape(n, n)
    cost = np.array(draw(st.lists(st.integers(-4, 4), min_size=n, max_size=n)), dtype=float)
    slope = np.array(draw(st.lists(small, min_size=n, max_size=n)), dtype=float)
    return CutProblem(capacities, cost, slope)


def cheapest_of_all_subsets(problem, t):
    sides = itertools.product([False, True], repeat=problem.n_nodes)
    return min(problem.value_of(np.array(side, dtype=bool), t) for side in sides)


@given(integer_problems(), st.floats(-3, 3))
def test_no_subset_is_cheaper_than_the_returned_cut(problem, t):
    path = parametric_cut(problem.capacities, problem.cost, problem.slope)
    best = cheapest_of_all_subsets(problem, t)
    assert problem.value_of(path.source_side(t), t) == pytest.approx(best, abs=1e-9)
    assert path.value(t) == pytest.approx(best, abs=1e-9)
    assert verify(problem, path).is_optimal
