"""Is every cut of a path the cheapest? Held against all subsets, closed forms, and a plain maximum flow."""

from fractions import Fraction

import numpy as np
import pytest
from cut_problems import (
    Exact,
    chain,
    cut_problems,
    extreme,
    ordinary,
    small_integers,
    telling_tradeoffs,
    tied_extremes,
    units,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow

from labelcut.cut import CutProblem, minimum_cut, parametric_cut, verify
from labelcut.cut.path import solve

pytestmark = pytest.mark.usefixtures("solver")

any_numbers = st.sampled_from([small_integers, units, ordinary, extreme, tied_extremes])
any_problem = any_numbers.flatmap(lambda numbers: cut_problems(numbers, with_seeds=True))


def assert_optimal(problem):
    """Hold a path against every subset at every trade-off where it could show a mistake."""
    path, exact = solve(problem), Exact.of(problem)
    for t in telling_tradeoffs(path):
        assert_cheapest(exact, t, path.source_side(t), path.value(t))
    assert verify(problem, path).is_optimal


def assert_cheapest(exact, t, side, value):
    """Hold one cut against every subset, up to rounding relative to the terms of its own cost."""
    best, allowed = exact.best_and_rounding(side, t)
    assert exact.cost(side, t) - best <= allowed, f"not the cheapest at t={t!r}"
    if allowed < 1e288:  # else the terms add up to more than a float can hold
        assert abs(Fraction(value) - best) <= allowed + Fraction(1, 10**300), f"value({t!r})"


@settings(max_examples=150, deadline=None)
@given(cut_problems(small_integers, with_seeds=True))
def test_no_subset_is_cheaper_with_small_integers(problem):
    assert_optimal(problem)


@settings(max_examples=100, deadline=None)
@given(cut_problems(units))
def test_no_subset_is_cheaper_with_unit_weights(problem):
    assert_optimal(problem)


@settings(max_examples=100, deadline=None)
@given(cut_problems(ordinary, with_seeds=True))
def test_no_subset_is_cheaper_with_ordinary_numbers(problem):
    assert_optimal(problem)


@settings(max_examples=150, deadline=None)
@given(cut_problems(extreme, with_seeds=True))
def test_no_subset_is_cheaper_with_numbers_from_1e_200_to_1e200(problem):
    assert_optimal(problem)


@settings(max_examples=150, deadline=None)
@given(cut_problems(tied_extremes))
def test_no_subset_is_cheaper_with_ties_between_extremes(problem):
    assert_optimal(problem)


@settings(max_examples=5, deadline=None)
@given(st.randoms(use_true_random=False))
def test_no_subset_of_ten_nodes_is_cheaper(random):
    rng = np.random.default_rng(random.getrandbits(32))
    capacities = np.where(rng.random((10, 10)) < 0.3, rng.integers(0, 5, (10, 10)), 0).astype(float)
    assert_optimal(CutProblem(capacities, rng.integers(-6, 7, 10), rng.integers(0, 4, 10)))


@settings(max_examples=150, deadline=None)
@given(cut_problems(small_integers, max_nodes=6, with_seeds=True))
def test_join_at_is_exact_and_the_smallest_of_equally_cheap_sides_counts(problem):
    expected = [float(t) for t in Exact.of(problem).join_at()]
    assert solve(problem).join_at == pytest.approx(expected, rel=1e-14, abs=1e-15)


@settings(max_examples=150, deadline=None)
@given(cut_problems(units, max_nodes=6))
def test_join_at_is_exact_with_unit_weights(problem):
    expected = [float(t) for t in Exact.of(problem).join_at()]
    assert solve(problem).join_at == pytest.approx(expected, rel=1e-14, abs=1e-15)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([small_integers, units, ordinary]).flatmap(cut_problems), st.integers(-3, 3))
def test_no_subset_is_cheaper_in_a_crowd_of_small_problems(problem, pull):
    # Beyond 64 nodes that all have slope the core balances a block before it cuts it.
    assume(problem.n_nodes > 0)
    slope = np.where(problem.slope == 0, 1.0, problem.slope)
    alike = CutProblem(problem.capacities, problem.cost, slope)
    pulled = CutProblem(problem.capacities, problem.cost + pull * slope, slope)
    n_copies = 64 // (2 * problem.n_nodes) + 1
    each = [alike, pulled] * n_copies
    crowd = CutProblem(
        sparse.block_diag([one.capacities for one in each]),
        np.concatenate([one.cost for one in each]),
        np.concatenate([one.slope for one in each]),
    )
    path, exact = solve(crowd), [Exact.of(alike), Exact.of(pulled)] * n_copies
    for t in telling_tradeoffs(path):
        for one, side in zip(exact, np.split(path.source_side(t), len(each)), strict=True):
            best, allowed = one.best_and_rounding(side, t)
            assert one.cost(side, t) - best <= allowed
    assert verify(crowd, path).is_optimal


def test_a_node_without_slope_counts_when_the_mean_is_too_small_for_a_float():
    path = parametric_cut(np.zeros((2, 2)), cost=[-1.3e-200, 0.0], slope=[0.0, 4.8e198])
    assert path.join_at.tolist() == [-np.inf, 0.0]


LIGHT, HUGE = 1e-200, 1e200


@pytest.mark.parametrize(
    "problem",
    [
        chain([HUGE], [-LIGHT, 3 * LIGHT], [LIGHT, LIGHT]),
        chain([LIGHT, HUGE, LIGHT], [-LIGHT, 0, 0, 2 * LIGHT], [LIGHT] * 4),
        chain([LIGHT, HUGE, LIGHT], [-1.0, LIGHT, -LIGHT, 1.0], [1.0, LIGHT, LIGHT, 1.0]),
        chain(
            [1.0, HUGE, 1.0, HUGE, LIGHT],
            [-3.0, LIGHT, 0, LIGHT, 0, 2.0],
            [1.0, LIGHT, LIGHT, LIGHT, 1.0, 1.0],
        ),
        chain([HUGE, LIGHT, HUGE], [HUGE, -HUGE, LIGHT, -3 * LIGHT], [LIGHT, 1.0, LIGHT, LIGHT]),
        chain([HUGE, HUGE], [HUGE, LIGHT, -HUGE], [1.0, LIGHT, 1.0]),
        chain([1.0, 1.0, 1.0], [-HUGE, LIGHT, LIGHT, HUGE], [HUGE, LIGHT, LIGHT, HUGE]),
        chain([1e-16, 1.0, 1e-16], [1.0, 1e-17, -1e-17, -1.0], [1.0, 1e-20, 1e-20, 1.0]),
        chain([0.1, 0.2, 0.3], [0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 3e-20, 0.1]),
        # A light node on a hub through which a huge flow passes.
        CutProblem(
            np.array([[0, HUGE, 0, 0], [HUGE, 0, HUGE, LIGHT], [0, HUGE, 0, 0], [0, LIGHT, 0, 0]]),
            [-HUGE, 0.0, HUGE, LIGHT],
            [1.0, 1.0, 1.0, LIGHT],
        ),
    ],
)
def test_light_nodes_next_to_huge_arcs_are_cut_right(problem):
    assert_optimal(problem)


@settings(max_examples=60, deadline=None)
@given(any_problem)
def test_sides_are_nested_and_counted(problem):
    path = solve(problem)
    grid = sorted(telling_tradeoffs(path))
    sides = [path.source_side(t) for t in grid]
    assert all((earlier <= later).all() for earlier, later in zip(sides, sides[1:], strict=False))
    assert path.n_source(grid).tolist() == [side.sum() for side in sides]


@settings(max_examples=60, deadline=None)
@given(any_problem, st.sampled_from([2.0**-300, 0.5, 2.0**100]))
def test_scaling_the_problem_by_a_power_of_two_changes_nothing(problem, factor):
    try:
        scaled = CutProblem(
            problem.capacities * factor,
            problem.cost * factor,
            problem.slope * factor,
            problem.source_seeds,
            problem.sink_seeds,
        )
    except ValueError:  # beyond what a float can hold
        return
    is_exact = all(
        (x * factor / factor == x).all() for x in (problem.capacities.data, problem.cost, problem.slope)
    )
    if is_exact:
        assert solve(scaled).join_at.tolist() == solve(problem).join_at.tolist()


@settings(max_examples=60, deadline=None)
@given(cut_problems(small_integers), st.randoms(use_true_random=False))
def test_renumbering_the_nodes_renumbers_the_answer(problem, random):
    order = np.array(random.sample(range(problem.n_nodes), problem.n_nodes), dtype=int)
    capacities = problem.capacities.toarray()[order][:, order]
    renumbered = parametric_cut(capacities, problem.cost[order], problem.slope[order])
    assert renumbered.join_at == pytest.approx(solve(problem).join_at[order], rel=1e-14, abs=1e-15)


@settings(max_examples=60, deadline=None)
@given(cut_problems(small_integers), st.integers(-8, 8))
def test_adding_a_multiple_of_the_slope_to_the_cost_moves_all_thresholds(problem, shift):
    moved = parametric_cut(problem.capacities, problem.cost + shift * problem.slope, problem.slope)
    assert moved.join_at == pytest.approx(solve(problem).join_at + shift, rel=1e-13, abs=1e-13)


@settings(max_examples=60, deadline=None)
@given(any_problem, st.floats(-3, 3), st.floats(0, 3))
def test_a_narrow_range_gives_the_same_sides_inside_it(problem, t_min, width):
    t_max = t_min + width
    path, narrow = solve(problem), solve(problem, t_min=t_min, t_max=t_max)
    exact = Exact.of(problem)
    inside = [t for t in telling_tradeoffs(path) if t_min <= t <= t_max]
    for t in [t_min, t_max, *inside]:
        assert_cheapest(exact, t, narrow.source_side(t), narrow.value(t))
    assert verify(problem, narrow).is_optimal
    assert np.isin(
        narrow.join_at[(narrow.join_at < t_min) | (narrow.join_at >= t_max)], [-np.inf, np.inf]
    ).all()


def test_a_range_far_below_the_unit_of_the_thresholds_still_has_two_ends():
    capacities = sparse.coo_array(([1e200], ([0], [1])), shape=(3, 3)).tocsr()
    narrow = parametric_cut(capacities, [0, 0, 0], [0, 0, 1e-150], t_min=0, t_max=1)
    assert narrow.join_at.tolist() == [np.inf, np.inf, 0.0]
    above = parametric_cut(capacities, [0, 0, 0], [0, 0, 1e-150], t_min=0.5, t_max=1)
    assert above.join_at.tolist() == [np.inf, np.inf, -np.inf]


@settings(max_examples=60, deadline=None)
@given(any_problem)
def test_one_minimum_cut_is_the_cheapest_subset(problem):
    cut = minimum_cut(
        problem.capacities, problem.cost, source_seeds=problem.source_seeds, sink_seeds=problem.sink_seeds
    )
    assert_cheapest(Exact.of(problem), 0.0, cut.source_side, cut.value)


def test_the_core_lets_rounding_of_one_part_not_move_another():
    from labelcut.cut import _core

    light = 1e-20  # moves the nodes with an arc from -0.5 to 0; the second node has none
    row_start, column, capacity = np.array([0, 0, 0, 1, 1]), np.array([3], dtype=np.int32), np.ones(1)
    cost, slope = np.array([-3.0, -1, -1, 0]), np.array([2 * light, 1, light, 2])
    join_at = _core.solve_path(row_start, column, capacity, cost, slope, -np.inf, np.inf, 1, lambda n: None)
    assert join_at[1] == -1


def test_an_empty_problem_has_an_empty_answer():
    path = parametric_cut(sparse.csr_array((0, 0)), [], [])
    assert path.join_at.shape == (0,)
    assert path.breakpoints.shape == (0,)
    assert path.value(1.0) == 0.0
    assert path.n_source([0.0, 1.0]).tolist() == [0, 0]
    assert verify(CutProblem(sparse.csr_array((0, 0)), [], []), path).is_optimal


def test_isolated_nodes_join_when_they_pay_for_themselves():
    path = parametric_cut(sparse.csr_array((5, 5)), [2.0, -1.0, 0.0, 3.0, -3.0], [4.0, 2.0, 1.0, 0.0, 0.0])
    assert path.join_at.tolist() == [0.5, -0.5, 0.0, np.inf, -np.inf]


def test_a_node_without_arcs_cost_and_slope_never_joins():
    assert parametric_cut(sparse.csr_array((1, 1)), [0.0], [0.0]).join_at.tolist() == [np.inf]


def test_without_any_slope_nodes_join_always_or_never():
    problem = chain([1.0, 1.0, 1.0], [-3.0, 0.5, 0.0, 2.0], [0.0] * 4)
    assert solve(problem).join_at.tolist() == [-np.inf, np.inf, np.inf, np.inf]


def test_a_node_that_outweighs_its_arcs_decides_its_neighbors_in_turn():
    domino = chain([1.0] * 5, [-3, -0.5, -0.5, -0.5, -0.5, 4], [0, 0, 0, 0, 0, 1])
    assert solve(domino).join_at.tolist() == [-np.inf] * 5 + [3.0]
    mirrored = CutProblem(domino.capacities, -domino.cost, domino.slope)
    assert solve(mirrored).join_at.tolist() == [np.inf] * 5 + [-3.0]


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_crowd_is_sure_where_none_of_its_nodes_is(sign):
    # Each holds less than the arcs among the four carry; together they hold more than those to the fifth.
    capacities = np.ones((5, 5)) - np.eye(5)
    path = parametric_cut(capacities, cost=[2.0 * sign] * 4 + [0.0], slope=[0.0] * 4 + [1.0])
    assert path.join_at.tolist() == [sign * np.inf] * 4 + [sign * 4.0]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([small_integers, ordinary]).flatmap(cut_problems), st.randoms(use_true_random=False))
def test_no_subset_is_cheaper_where_few_nodes_have_slope(problem, random):
    # Mostly nodes that join always or never, which the core looks for before it cuts anything.
    has_slope = np.array([random.random() < 0.25 for _ in range(problem.n_nodes)], dtype=bool)
    assert_optimal(CutProblem(problem.capacities, problem.cost, np.where(has_slope, problem.slope, 0.0)))


def test_equal_nodes_join_together():
    capacities = np.ones((6, 6)) - np.eye(6)
    assert parametric_cut(capacities, np.full(6, 0.5), np.ones(6)).join_at.tolist() == [0.5] * 6


def test_self_loops_are_ignored():
    loops = np.array([[7.0, 2.0], [2.0, 1e300]])
    assert parametric_cut(loops, [-3.0, 3.0], [1.0, 1.0]).join_at.tolist() == [-1.0, 1.0]


def test_duplicate_entries_of_a_coo_matrix_add_up():
    twice = sparse.coo_array(([1.0, 1.0, 2.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert parametric_cut(twice, [-3.0, 3.0], [1.0, 1.0]).join_at.tolist() == [-1.0, 1.0]


def test_stored_zeros_are_no_arcs():
    stored = sparse.csr_array(([0.0, 0.0], ([0, 1], [1, 0])), shape=(2, 2))
    assert parametric_cut(stored, [1.0, 2.0], [1.0, 1.0]).join_at.tolist() == [1.0, 2.0]


def test_every_sparse_format_and_real_dtype_gives_the_same_answer():
    dense = np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0]])
    for capacities in (dense, dense.astype(np.float32), sparse.csc_matrix(dense), sparse.lil_array(dense)):
        path = parametric_cut(capacities, [-3, 0, 3], np.ones(3, dtype=np.float32))
        assert path.join_at.tolist() == [-1.0, -1.0, 2.0]


def test_the_input_is_left_as_it_was():
    capacities = sparse.csr_array(np.array([[0.0, 2.0], [2.0, 0.0]]))
    cost, slope, seeds = np.array([-3.0, 3.0]), np.ones(2), np.array([False, True])
    parametric_cut(capacities, cost, slope, sink_seeds=seeds)
    assert capacities.toarray().tolist() == [[0.0, 2.0], [2.0, 0.0]]
    assert (cost.tolist(), slope.tolist(), seeds.tolist()) == ([-3.0, 3.0], [1.0, 1.0], [False, True])


def test_seeds_stay_on_their_side_whatever_they_cost():
    problem = CutProblem(
        np.ones((4, 4)),
        [1e300, 0.0, 0.0, -1e300],
        np.ones(4),
        [True, False, False, False],
        [False] * 3 + [True],
    )
    path = solve(problem)
    assert path.join_at.tolist() == [-np.inf, 0.0, 0.0, np.inf]
    assert verify(problem, path).is_optimal


def test_thresholds_beyond_a_float_are_infinite():
    path = parametric_cut(sparse.csr_array((2, 2)), [1e200, -1e200], [1e-200, 1e-200])
    assert path.join_at.tolist() == [np.inf, -np.inf]


def test_a_range_where_every_term_overflows_is_answered():
    capacities = np.array([[0.0, 1e200], [1e200, 0.0]])
    late = parametric_cut(capacities, [-1e200, 1e200], [1e200, 1.0], t_min=1e300)
    assert late.join_at.tolist() == [-np.inf, -np.inf]
    early = parametric_cut(capacities, [-1e200, 1e200], [1e200, 1.0], t_max=-1e300)
    assert early.join_at.tolist() == [np.inf, np.inf]


def test_a_chain_with_two_held_ends_is_cut_at_its_weakest_link():
    capacity = np.array([5.0, 3.0, 0.5, 4.0, 2.0])
    ends = np.eye(6, dtype=bool)
    problem = chain(capacity, np.zeros(6), np.zeros(6))
    cut = minimum_cut(problem.capacities, problem.cost, source_seeds=ends[0], sink_seeds=ends[5])
    assert cut.source_side.tolist() == [True, True, True, False, False, False]
    assert cut.value == 0.5


def test_a_uniform_chain_pulled_at_one_end_joins_as_one():
    # Cost only at the first node: no link is weak enough to part, so all n nodes share it.
    n = 500
    path = solve(chain(np.ones(n - 1), np.r_[-0.75, np.zeros(n - 1)], np.ones(n)))
    assert path.join_at == pytest.approx(np.full(n, -0.75 / n), rel=1e-13)


def test_a_chain_with_a_step_keeps_the_step_less_the_arc_at_each_side():
    # Total variation of a step of height 2 between 40 and 60 nodes: each side moves by capacity / size.
    step = chain(np.full(99, 3.0), np.r_[np.zeros(40), np.full(60, 2.0)], np.ones(100))
    assert solve(step).join_at == pytest.approx(
        np.r_[np.full(40, 3 / 40), np.full(60, 2 - 3 / 60)], rel=1e-13
    )


def test_a_grid_with_a_bright_square_shrinks_it_by_perimeter_over_area():
    # Unit arcs in a 30 x 30 grid, a 10 x 10 square of height 1 inside, each arc worth lam: the square as a
    # whole loses 40 * lam / 100, and its surroundings gain 40 * lam / 800, as long as its corners hold on.
    lam, side = 0.1, 30
    n = side * side
    number = np.arange(n).reshape(side, side)
    pairs = np.vstack(
        [np.c_[number[:, :-1].ravel(), number[:, 1:].ravel()], np.c_[number[:-1].ravel(), number[1:].ravel()]]
    )
    arcs = sparse.coo_array((np.full(len(pairs), lam), pairs.T), shape=(n, n))
    bright = np.zeros((side, side), dtype=bool)
    bright[10:20, 10:20] = True
    path = parametric_cut(arcs + arcs.T, bright.ravel().astype(float), np.ones(n))
    join_at = path.join_at.reshape(side, side)
    # The four corners have two arcs out for one cell, and so have the steps behind them: they give in first.
    assert join_at[bright].max() == pytest.approx(join_at[14, 14])
    assert (join_at[bright] * 1).sum() == pytest.approx(100 - 40 * lam, rel=1e-12)
    assert join_at[~bright].sum() == pytest.approx(40 * lam, rel=1e-12)
    assert verify(CutProblem(arcs + arcs.T, bright.ravel().astype(float), np.ones(n)), path).is_optimal


def symmetric(weights):
    weights = weights.maximum(weights.T).tocsr()
    weights.sort_indices()
    return weights


def neighbor_graph(n_nodes, seed, n_neighbors=10, unit=False):
    """Join each of some random points in the plane to its nearest ones."""
    from sklearn.neighbors import kneighbors_graph

    points = np.random.default_rng(seed).random((n_nodes, 2))
    graph = kneighbors_graph(points, n_neighbors, mode="connectivity" if unit else "distance")
    weights = sparse.csr_array(graph)
    if not unit:
        weights.data = np.exp(-((weights.data / weights.data.mean()) ** 2))
    return symmetric(weights)


def plain_minimum_cut(problem, t):
    """Return the optimal cost of an integer problem at an integer t by scipy's maximum flow."""
    n = problem.n_nodes
    unary = np.rint(problem.cost - t * problem.slope).astype(np.int32)
    network = sparse.lil_array((n + 2, n + 2), dtype=np.int32)
    network[:n, :n] = problem.capacities.astype(np.int32)
    network[n, :n] = np.maximum(-unary, 0)
    network[:n, n + 1] = np.maximum(unary, 0)[:, None].ravel()
    flow = maximum_flow(network.tocsr(), n, n + 1)
    return flow.flow_value + np.minimum(unary, 0).sum()


def test_the_value_equals_a_plain_maximum_flow(solver):
    rng = np.random.default_rng(0)
    n = 3000 if solver == "compiled" else 300
    weights = neighbor_graph(n, seed=0)
    weights.data = np.rint(weights.data * 100)
    weights = symmetric(weights)
    problem = CutProblem(weights, rng.integers(-1000, 1000, n), rng.integers(0, 20, n))
    path = solve(problem)
    for t in rng.integers(-60, 60, 12).tolist():
        assert path.value(t) == pytest.approx(plain_minimum_cut(problem, t), rel=1e-12)
        assert problem.value_of(path.source_side(t), t) == pytest.approx(path.value(t), rel=1e-12)


def test_unit_weights_on_600_nodes_with_many_ties(solver):
    n = 600 if solver == "compiled" else 200
    rng = np.random.default_rng(1)
    weights = neighbor_graph(n, seed=1, unit=True)
    is_negative = rng.random(n) < 0.3
    problem = CutProblem(weights, np.zeros(n), weights.sum(axis=1), sink_seeds=is_negative)
    path = solve(problem)
    assert path.breakpoints.size > 3
    assert verify(problem, path).is_optimal
    # Every threshold is a ratio of two whole numbers of arcs, no matter how many nodes are tied.
    degree = np.asarray(weights.sum(axis=1))
    for t in path.breakpoints:
        group = path.join_at == t
        earlier, later = path.join_at < t, path.join_at > t
        arcs_out = weights[group][:, later].sum() - weights[earlier][:, group].sum()
        assert t == pytest.approx(arcs_out / degree[group].sum(), rel=1e-14, abs=1e-16)
        whole = {k: problem.value_of(earlier, k) for k in (-1, 0, 1)}
        assert all(value == round(value) for value in whole.values())


@pytest.mark.parametrize("share_with_slope", [0.3, 1.0])
def test_both_solvers_agree_to_the_last_digits_on_a_neighbor_graph(solver, share_with_slope):
    import labelcut.cut._reference as twin
    from labelcut.cut import solver as chosen

    n = 250
    rng = np.random.default_rng(2)
    weights = neighbor_graph(n, seed=2)
    slope = np.where(rng.random(n) < share_with_slope, weights.sum(axis=1), 0.0)
    problem = CutProblem(weights, rng.normal(size=n), slope)
    here = solve(problem).join_at
    in_use, chosen.in_use = chosen.in_use, twin
    there = solve(problem).join_at
    chosen.in_use = in_use
    assert here == pytest.approx(there, rel=1e-12)


def test_the_certificate_rejects_a_path_that_is_not_optimal():
    problem = chain([2.0, 1.0], [-3.0, 0.0, 3.0], [1.0, 1.0, 1.0])
    path = solve(problem)
    right = path.join_at.copy()
    assert verify(problem, path).is_optimal
    for wrong in (
        right + [0, 0, 1e-9],
        right + [1e-9, 0, 0],
        [-1.0, 2.0, 2.0],
        [0, 0, 0],
        [-np.inf, -1, 2],
        right[::-1],
    ):
        path.join_at[:] = wrong
        assert not verify(problem, path).is_optimal
    seeded = CutProblem(problem.capacities, problem.cost, problem.slope, source_seeds=[False, False, True])
    path.join_at[:] = right
    assert not verify(seeded, path).is_optimal


def test_what_a_path_tells_about_itself():
    path = solve(chain([2.0, 1.0], [-3.0, 0.0, 3.0], [1.0, 1.0, 1.0]))
    assert repr(path) == (
        "CutPath(3 nodes, 2 breakpoints from -1 to 2; 0 always and 0 never on the source side)"
    )
    assert path.breakpoints.tolist() == [-1.0, 2.0]
    assert path.source_side(-1.0).tolist() == [False] * 3, "at a breakpoint the smaller side counts"
    assert path.source_side(-0.5).tolist() == [True, True, False]
    assert [path.value(t) for t in (-2.0, -1.0, 0.0, 3.0)] == [0.0, 0.0, -2.0, -9.0]


def test_nearly_equal_breakpoints_are_listed_once_and_kept_in_join_at():
    path = parametric_cut(sparse.csr_array((2, 2)), [1.0, 1.0 + 1e-12], [1.0, 1.0])
    assert path.breakpoints.tolist() == [1.0]
    assert np.unique(path.join_at).size == 2


def test_the_examples_in_the_docstrings_are_true():
    import doctest

    import labelcut.cut.path

    results = doctest.testmod(labelcut.cut.path)
    assert results.attempted > 5
    assert results.failed == 0
