"""Large problems, threads, interruption and memory of the compiled core."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from labelcut.cut import CutPath, CutProblem, parametric_cut, solver, verify
from labelcut.cut.path import solve


def random_neighbor_problem(n_nodes, kind, unit=False, seed=0):
    """Join random points to their nearest ones; kind P has seeds, kind C has penalties and few slopes."""
    rng = np.random.default_rng(seed)
    points = rng.random((n_nodes, 2))
    arcs = sparse.csr_array(kneighbors_graph(points, 6, mode="connectivity" if unit else "distance"))
    if not unit:
        arcs.data = np.exp(-((arcs.data / arcs.data.mean()) ** 2))
    capacities = (arcs + arcs.T).tocsr()
    capacities.sort_indices()
    degree = np.asarray(capacities.sum(axis=1))
    is_positive = (points[:, 0] + 0.3 * rng.normal(size=n_nodes)) > 0.5
    is_labeled = rng.random(n_nodes) < 0.7
    if kind == "P":
        return CutProblem(capacities, np.zeros(n_nodes), degree, sink_seeds=is_labeled & ~is_positive)
    penalty = np.where(is_labeled, np.where(is_positive, -1.0, 1.0), 0.0) * (
        1 if unit else rng.random(n_nodes)
    )
    return CutProblem(capacities, penalty, np.where(is_labeled, 0.0, degree))


def long_problem(side=1200):
    """Return a grid of noise that takes several seconds."""
    n = side * side
    number = np.arange(n).reshape(side, side)
    tail = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    head = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    arcs = sparse.coo_array((np.full(tail.size, 0.5), (tail, head)), shape=(n, n))
    return CutProblem(arcs + arcs.T, np.random.default_rng(0).normal(size=n), np.ones(n))


def test_the_compiled_core_is_in_use():
    assert solver.in_use.__name__ == "labelcut.cut._core", "the core was not built; see the output of pip"


@pytest.mark.parametrize("kind", ["P", "C"])
def test_a_path_on_100_000_nodes_is_certified(kind):
    problem = random_neighbor_problem(100_000, kind)
    path = solve(problem)
    assert path.breakpoints.size > 100
    certificate = verify(problem, path)
    assert certificate.is_optimal
    assert certificate.worst <= 1e-12
    # Moving the first joiners a little later is noticed.
    spoiled = path.join_at.copy()
    spoiled[spoiled == path.breakpoints[0]] += 1e-6
    assert not verify(problem, CutPath(spoiled, problem)).is_optimal


def test_a_group_of_most_nodes_is_found_whole_and_certified():
    # Chords anywhere: a large block that is swept in strips, evened out along a tree, and searched both ways.
    n = 80_000
    rng = np.random.default_rng(3)
    ends = rng.integers(n, size=(2, 4 * n))
    chords = sparse.coo_array((rng.random(4 * n), ends), shape=(n, n)).tocsr()
    problem = CutProblem(chords + chords.T, rng.normal(size=n), 1 + rng.random(n))
    path = solve(problem, n_jobs=1)
    middle = np.median(path.join_at)
    assert n / 2 < np.count_nonzero(path.join_at == middle) < n
    assert verify(problem, path).is_optimal
    assert solve(problem, n_jobs=2).join_at.tobytes() == path.join_at.tobytes()


@pytest.mark.parametrize("kind", ["P", "C"])
def test_outliers_with_weights_down_to_1e_250_are_certified(kind):
    # Heavy tails: some points are so far out that their likeness to any other is all but nothing.
    rng = np.random.default_rng(2)
    arcs = sparse.csr_array(kneighbors_graph(rng.standard_cauchy((2000, 2)), 8, mode="distance"))
    arcs.data = np.maximum(np.exp(-(arcs.data**2) / 2), 1e-250 * rng.random(arcs.nnz))
    capacities = (arcs + arcs.T).tocsr()
    capacities.sort_indices()
    assert capacities.data.min() < 1e-200
    degree = np.asarray(capacities.sum(axis=1))
    is_labeled, is_positive = rng.random(2000) < 0.7, rng.random(2000) < 0.5
    if kind == "P":
        problem = CutProblem(capacities, np.zeros(2000), degree, sink_seeds=is_labeled & ~is_positive)
    else:
        cost = np.where(is_labeled, np.where(is_positive, -1.0, 1.0), 0.0) * rng.random(2000)
        problem = CutProblem(capacities, cost, np.where(is_labeled, 0.0, degree))
    path = solve(problem, n_jobs=1)
    assert verify(problem, path).is_optimal
    assert solve(problem, n_jobs=2).join_at.tobytes() == path.join_at.tobytes()


@pytest.mark.parametrize("kind", ["P", "C"])
@pytest.mark.parametrize("unit", [False, True])
def test_any_number_of_threads_gives_the_same_bytes(kind, unit):
    problem = random_neighbor_problem(20_000, kind, unit)
    one = solve(problem, n_jobs=1).join_at.tobytes()
    assert solve(problem, n_jobs=2).join_at.tobytes() == one
    assert solve(problem, n_jobs=4).join_at.tobytes() == one
    assert solve(problem, n_jobs=-1).join_at.tobytes() == one


def test_progress_is_told_and_an_exception_in_it_stops_the_solver():
    class OutOfTime(Exception):
        pass

    calls = []

    def stop_at_the_third(n_settled, n_nodes):
        calls.append((n_settled, n_nodes))
        if len(calls) == 3:
            raise OutOfTime

    problem = long_problem()
    start = time.monotonic()
    for n_jobs in (1, 2):
        calls.clear()
        with pytest.raises(OutOfTime):
            solve(problem, n_jobs=n_jobs, on_progress=stop_at_the_third)
        assert len(calls) == 3
        settled, totals = zip(*calls, strict=True)
        assert list(settled) == sorted(settled)
        assert set(totals) == {problem.n_nodes}
        assert 0 <= settled[-1] <= problem.n_nodes
    assert time.monotonic() - start < 10


def test_the_twin_tells_progress_up_to_the_last_node(monkeypatch):
    import labelcut.cut._reference as twin

    monkeypatch.setattr(solver, "in_use", twin)
    calls = []
    parametric_cut(np.eye(3, k=1), [0, 1, 2], [1, 1, 1], on_progress=lambda *call: calls.append(call))
    assert calls[-1] == (3, 3)
    assert [n for n, _ in calls] == sorted(n for n, _ in calls)


INTERRUPTED = """
import sys, time
sys.path.insert(0, {tests!r})
from test_cut_process import long_problem
from labelcut.cut.path import solve
problem = long_problem()
print("ready", flush=True)
try:
    solve(problem, n_jobs={n_jobs})
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
else:
    print("finished", time.time(), flush=True)
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_a_long_solve_within_a_second(n_jobs):
    code = INTERRUPTED.format(tests=os.path.dirname(__file__), n_jobs=n_jobs)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline().strip() == "ready"
        time.sleep(1.0)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate(timeout=60)
    what, when = output.split()
    assert what == "interrupted"
    assert float(when) - sent < 1.0


def test_ten_thousand_small_problems_leak_nothing():
    rng = np.random.default_rng(0)
    problems = [
        CutProblem(rng.integers(0, 3, (8, 8)), rng.integers(-5, 5, 8), rng.integers(0, 3, 8))
        for _ in range(50)
    ]

    def solve_them(times):
        for k in range(times):
            path = solve(problems[k % 50])
            if k % 10 == 0:
                verify(problems[k % 50], path)

    process = psutil.Process()
    solve_them(1000)
    before = process.memory_info().rss
    solve_them(10_000)
    assert process.memory_info().rss - before < 4e6
