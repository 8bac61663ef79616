"""A result is right or it says that it is not, whatever the sizes of the numbers: random problems, judged.

`make test` runs a fixed handful. `make test-slow` goes on until 100 000 small problems, 30 000 parts of
crowds and 30 000 spoiled paths were tried, or for LABELCUT_FUZZ_SECONDS (180 each), beginning with
LABELCUT_FUZZ_SEED.
"""

import os
import time
import warnings
from itertools import takewhile

import numpy as np
import pytest
from cut_fuzz import Judge, random_crowd, random_problem

from labelcut.cut import CutPath, CutProblem, care, verify
from labelcut.cut.path import solve

SEED = int(os.environ.get("LABELCUT_FUZZ_SEED", "0"))
SECONDS = float(os.environ.get("LABELCUT_FUZZ_SECONDS", "180"))


def until_time_is_over(n_trials):
    """Count seeds up to a number of trials, as long as there is time."""
    end = time.monotonic() + SECONDS
    yield from takewhile(lambda seed: time.monotonic() < end, range(SEED, SEED + n_trials))


def described(problem):
    """Return a problem as something that can be pasted."""
    arrays = (problem.capacities.toarray(), problem.cost, problem.slope)
    return f"CutProblem({', '.join(str(array.tolist()) for array in arrays)})"


def try_small_problem(seed):
    """Hold a problem of up to six nodes against every subset."""
    rng = np.random.default_rng([1, seed])
    problem = random_problem(rng, int(rng.integers(1, 7)))
    path = solve(problem)
    assert not Judge(problem).faults(path.join_at), f"seed {seed}: {described(problem)}"
    assert verify(problem, path).is_optimal, f"seed {seed}: a right path is doubted, {described(problem)}"


def try_crowd(seed):
    """Hold each of 30 small problems against every subset of its own, solved side by side as one."""
    rng = np.random.default_rng([2, seed])
    parts, crowd = random_crowd(rng, n_parts=30)
    path = solve(crowd)
    assert not path.is_doubtful.any()
    ends = np.cumsum([part.n_nodes for part in parts])[:-1]
    for part, join_at in zip(parts, np.split(path.join_at, ends), strict=True):
        assert not Judge(part).faults(join_at), f"seed {seed}: {described(part)} in its crowd"
    assert verify(crowd, path).is_optimal, f"seed {seed}: a right path is doubted"


def spoil(rng, join_at):
    """Change one or several thresholds by a little, by much, or for another node's."""
    k, other = rng.integers(join_at.size, size=2)
    factor = 1 + 10.0 ** -rng.integers(9, 16)
    spoiled = join_at.copy()
    match rng.integers(5):
        case 0:
            spoiled[k] = join_at[other]
        case 1:
            spoiled[k] *= factor
        case 2:
            spoiled[k] += 10.0 ** rng.uniform(-200, 200) * rng.choice([-1, 1])
        case 3:
            spoiled[k] = rng.choice([-np.inf, np.inf, 0.0])
        case _:
            spoiled[join_at == join_at[k]] *= factor
    return spoiled


def try_spoiled_path(seed):
    """Spoil the path of a problem of up to five nodes: nothing that enumeration faults is certified."""
    rng = np.random.default_rng([3, seed])
    problem = random_problem(rng, int(rng.integers(2, 6)))
    path = CutPath(spoil(rng, solve(problem).join_at), problem)
    is_wrong = Judge(problem).beaten_by_the_cheapest(path.join_at)
    assert not (is_wrong and verify(problem, path).is_optimal), (
        f"seed {seed}: {path.join_at.tolist()} is certified for {described(problem)}"
    )
    return is_wrong


def test_a_few_small_problems_are_right():
    for seed in range(300):
        try_small_problem(seed)


def test_every_part_of_a_few_crowds_is_right():
    for seed in range(20):
        try_crowd(seed)


def test_a_few_spoiled_paths_are_not_certified():
    n_wrong = sum(bool(try_spoiled_path(seed)) for seed in range(300))
    assert 60 < n_wrong < 240, "spoiling should make some paths wrong, and not all"


@pytest.mark.slow
def test_100_000_small_problems_are_right():
    for seed in until_time_is_over(100_000):
        try_small_problem(seed)


@pytest.mark.slow
def test_30_000_parts_of_crowds_are_right():
    for seed in until_time_is_over(1_000):
        try_crowd(seed)


@pytest.mark.slow
def test_30_000_spoiled_paths_are_not_certified():
    for seed in until_time_is_over(30_000):
        try_spoiled_path(seed)


def wide_ring(n_nodes, seed=0):
    """Return a connected problem whose numbers lie up to 400 decades apart."""
    rng = np.random.default_rng(seed)
    node = np.arange(n_nodes)
    row, column = np.r_[node, node, node], np.r_[np.roll(node, 1), np.roll(node, -1), rng.permutation(node)]
    capacities = np.zeros((n_nodes, n_nodes))
    capacities[row, column] = 10.0 ** rng.uniform(-200, 200, row.size)
    cost = 10.0 ** rng.uniform(-200, 200, n_nodes) * rng.choice([-1, 1], n_nodes)
    return CutProblem(capacities, cost, 10.0 ** rng.uniform(-200, 200, n_nodes))


@pytest.mark.parametrize("n_nodes", [60, 200])
@pytest.mark.parametrize("seed", range(4))
def test_a_large_part_whose_numbers_lie_far_apart_is_right(n_nodes, seed):
    problem = wide_ring(n_nodes, seed)
    path = solve(problem)
    assert not path.is_doubtful.any()
    assert verify(problem, path).is_optimal


def test_what_is_beyond_proof_and_exact_arithmetic_is_marked(monkeypatch):
    problems = [wide_ring(n_nodes, seed) for n_nodes in (60, 100) for seed in range(6)]
    n_wrong = 0
    for problem in problems:
        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            patch.setattr(care, "EXACT_IF_OPEN", 0)
            path = solve(problem)
        if not verify(problem, path).is_optimal:
            n_wrong += 1
            assert path.is_doubtful.any()
            assert f"{path.is_doubtful.sum()} not proved" in repr(path)
    assert n_wrong > 2, "the core is to be wrong here, or this tests nothing"


def test_a_doubt_is_told(monkeypatch):
    monkeypatch.setattr(care, "EXACT_IF_OPEN", 0)
    with pytest.warns(RuntimeWarning, match="22 of 60 nodes could not be proved"):
        solve(wide_ring(60, seed=2))


@pytest.mark.parametrize("light", [1e-16, 1e-17, 1e-20, 1e-40])
def test_a_node_without_arcs_keeps_its_own_threshold_beside_light_slopes(light):
    capacities = np.zeros((4, 4))
    capacities[2, 3] = 1
    path = solve(CutProblem(capacities, [-3, -1, -1, 0], [2 * light, 1, light, 2]))
    assert path.join_at == pytest.approx([-1.5 / light, -1, -0.5, -0.5], rel=1e-15)


@pytest.mark.parametrize(
    ("cost", "slope", "expected"),
    [
        (1.0, 4.0, 0.25),
        (0.0, 1.0, 0.0),
        (-1e-167, 1e176, -5e-324),  # the largest float that is not above
        (1e-167, 1e176, 0.0),
        (1e200, 1e-200, np.inf),
        (-1.0, 0.0, -np.inf),
        (0.0, 0.0, np.inf),
    ],
)
def test_a_node_alone_has_a_closed_form(cost, slope, expected):
    far_apart = CutProblem(np.zeros((2, 2)), [cost, 1e150], [slope, 1e-100])
    assert solve(far_apart).join_at[0] == expected
