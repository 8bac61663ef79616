"""The compiled core of the graph against its plain twin: the same bytes, whatever rows, cells and threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labelcut.graph import _core as core
from labelcut.graph import _reference as twin
from labelcut.graph import bounds, cells, distinct


def rows_of(rng, kind):
    """Return a few rows with ties, zeros, equals, tiny or huge numbers, or far groups."""
    n, h = int(rng.integers(1, 60)), int(rng.choice([1, 2, 3, 7, 8, 9, 20, 130]))
    return {
        "normal": lambda: rng.normal(size=(n, h)),
        "bits": lambda: rng.integers(0, 2, (n, h)).astype(float),
        "zeros": lambda: rng.choice([0.0, -0.0], (n, h)),
        "repeated": lambda: np.repeat(rng.normal(size=(n, h)), rng.integers(1, 5, n), axis=0),
        "tiny": lambda: 1e-160 * rng.normal(size=(n, h)),
        "huge": lambda: 1e140 * rng.normal(size=(n, h)),
        "far groups": lambda: 1e6 * rng.integers(0, 2, (n, 1)) + rng.normal(size=(n, h)),
        "heavy tails": lambda: np.exp(20.0 * rng.normal(size=(n, h))),
    }[kind]()


KINDS = ["normal", "bits", "zeros", "repeated", "tiny", "huge", "far groups", "heavy tails"]


def divided(rng, X, dtype, number):
    """Return distinct rows divided by centers of any kind, into cells that may be one row or all of them."""
    whole = distinct.DistinctRows.of(X)
    if dtype == np.float32:
        scale = np.abs(X).max() or 1.0
        whole = distinct.DistinctRows((whole.rows / scale).astype(np.float32), whole.members, whole.starts)
    shortening = bounds.Shortening.of(whole.rows, number, float(rng.choice([0.0, 0.3])))
    short = shortening.shorten(whole.rows)
    centers = short[rng.choice(len(short), int(rng.integers(1, len(short) + 1)), replace=False)]
    away = np.sqrt(np.square(short[:, None] - centers).sum(axis=2))
    cell = away.argmin(axis=1)
    ordered = whole.in_order(np.argsort(cell, kind="stable"))
    counts = np.bincount(cell, minlength=len(centers))
    radius = np.array([away[cell == c, c].max(initial=0.0) for c in range(len(centers))])
    used = counts > 0
    starts = np.append(0, np.cumsum(counts[used]))
    return ordered, cells.Cells(ordered, shortening, centers[used], radius[used], starts)


def ask(solver, whole, in_cells, queries, k, n_visited, n_threads=1):
    n_lines = whole.members.size if queries is None else len(queries)
    index = np.full((n_lines, k), -1, dtype=np.int32)
    distance = np.full((n_lines, k), -1, dtype=whole.rows.dtype)
    shortening = in_cells.shortening
    solver.search(
        *(whole.rows, whole.members, whole.starts, *shortening.arguments),
        *(in_cells.starts, in_cells.centers, in_cells.radius, in_cells.table),
        *(queries, n_visited, n_threads, lambda n: None, index, distance),
    )
    return index.tolist(), distance.tolist()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
@example(seed=19836)  # a single huge row
def test_the_search_finds_what_its_twin_finds(kind, seed):
    rng = np.random.default_rng(seed)
    X = rows_of(rng, kind)
    dtype, number = rng.choice([np.float32, np.float64]), rng.choice([np.float32, np.float64])
    whole, in_cells = divided(rng, X, dtype, number)
    n_visited = int(rng.integers(1, in_cells.count + 1))
    near = whole.rows[rng.choice(len(whole.rows), 7)]
    queries = (near * rng.choice([1.0, 0.5, 1.1], (7, 1))).astype(dtype)
    # The core is asked about no query that its bounds cannot measure, such as one far from a single row.
    queries = np.where(in_cells.shortening.is_far(queries)[:, None], near, queries)
    asked = [(queries, int(rng.integers(1, len(X) + 1)))]
    if len(X) > 1:
        asked.append((None, int(rng.integers(1, len(X)))))
    for new, k in asked:
        slow = ask(twin, whole, in_cells, new, k, n_visited)
        assert ask(core, whole, in_cells, new, k, n_visited) == slow
        assert ask(core, whole, in_cells, new, k, n_visited, n_threads=3) == slow


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
@example(seed=4272435371)  # two centers equally far from a row, up to rounding
def test_equal_rows_and_nearest_centers_are_those_of_the_twin(kind, seed):
    rng = np.random.default_rng(seed)
    X = rows_of(rng, kind)
    number, slow_number = np.empty((2, len(X)), dtype=np.int32)
    assert core.number_equal_rows(X, number) == twin.number_equal_rows(X, slow_number)
    assert number.tolist() == slow_number.tolist()

    shortening = bounds.Shortening.of(X, np.float32, 0.1)
    centers = shortening.shorten(X[rng.choice(len(X), int(rng.integers(1, 20)))])
    distance, slow_distance = np.empty((2, len(X)))
    for n_threads in (1, 2):
        arguments = (X, *shortening.arguments, centers, n_threads, lambda n: None)
        core.nearest_center(*arguments, number, distance)
        twin.nearest_center(*arguments, slow_number, slow_distance)
        assert distance.tolist() == pytest.approx(slow_distance.tolist(), rel=1e-14)
        for i in np.flatnonzero(number != slow_number):
            only, to_only = np.empty(len(X), dtype=np.int32), np.empty(len(X))
            alone = (X, *shortening.arguments, centers[[number[i]]], 1, lambda n: None)
            twin.nearest_center(*alone, only, to_only)
            assert to_only[i] == pytest.approx(slow_distance[i], rel=1e-14), (
                "rounding decides between ties alone"
            )


def lists(rng):
    """Return lists of other rows with weights, among them none, all, zeros, equals, tiny and huge ones."""
    n = int(rng.integers(1, 15))
    starts, column = [0], []
    for i in range(n):
        others = rng.permutation(np.delete(np.arange(n), i))
        column.extend(others[: rng.integers(0, n)])
        starts.append(len(column))
    weight = rng.choice([0.0, 1.0, 1.0, rng.random(), 1e-30, 1e30], len(column))
    return np.array(starts), np.array(column, dtype=np.int32), weight


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_graphs_are_made_symmetric_as_by_the_twin(seed):
    rng = np.random.default_rng(seed)
    starts, column, weight = lists(rng)
    weight = weight.astype(rng.choice([np.float32, np.float64]))
    is_mean = bool(rng.integers(2))
    answers = []
    for solver in (core, twin):
        mine, my_weight, new_starts = column.copy(), weight.copy(), np.empty_like(starts)
        solver.prepare_symmetry(starts, mine, my_weight, new_starts)
        mine.resize(new_starts[-1], refcheck=False)
        my_weight.resize(new_starts[-1], refcheck=False)
        solver.symmetrise(starts, mine, my_weight, is_mean, new_starts)
        n_arcs = new_starts[-1]
        sums, part = np.empty(starts.size - 1), np.empty(starts.size - 1, dtype=np.int32)
        solver.add_up_rows(new_starts, my_weight[:n_arcs], sums)
        n_parts = solver.number_parts(new_starts, mine[:n_arcs], part)
        answers.append(
            [new_starts.tolist(), mine[:n_arcs].tolist(), my_weight[:n_arcs].tolist(), sums.tolist()]
            + [n_parts, part.tolist()]
        )
    assert answers[0] == answers[1]


@pytest.mark.parametrize("n_columns", [*range(1, 40), 127, 128, 129, 136, 200, 257, 300])
def test_a_distance_has_the_bytes_that_numpy_gives_it(n_columns):
    rng = np.random.default_rng(n_columns)
    X = np.exp(3.0 * rng.normal(size=(30, n_columns)))
    whole = distinct.DistinctRows.of(X)
    one = cells.Cells.one(whole, bounds.Shortening.of(X, np.float32, 0.0))
    index, distance, _ = cells.search_cells(whole, one, X[:3], 30, 1, None)
    for q in range(3):
        table = np.sqrt(np.square(X[q] - X).sum(axis=1))
        assert distance[q].tolist() == table[index[q]].tolist()


def test_an_exception_from_poll_stops_the_search():
    rng = np.random.default_rng(0)
    whole = distinct.DistinctRows.of(rng.normal(size=(30_000, 30)))
    one = cells.Cells.one(whole, bounds.Shortening.of(whole.rows, np.float32, 0.0))

    def enough(n_done):
        raise InterruptedError("enough")

    index, distance = np.empty((30_000, 5), dtype=np.int32), np.empty((30_000, 5))
    for n_threads in (1, 2):
        with pytest.raises(InterruptedError, match="enough"):
            core.search(
                *(whole.rows, whole.members, whole.starts, *one.shortening.arguments),
                *(one.starts, one.centers, one.radius, one.table),
                *(None, 1, n_threads, enough, index, distance),
            )


@given(st.integers(0, 10_000))
@settings(max_examples=50, deadline=None)
def test_lists_from_several_places_merge_into_the_nearest_whatever_comes_first(seed):
    rng = np.random.default_rng(seed)
    n, k, n_places = int(rng.integers(2, 20)), int(rng.integers(1, 6)), int(rng.integers(1, 5))
    found = []
    for _ in range(n_places):
        at = np.sort(rng.choice(n, int(rng.integers(1, n + 1)), replace=False)).astype(np.int32)
        row, distance = np.full((at.size, k), -1, np.int32), np.full((at.size, k), np.inf, np.float32)
        for line in range(at.size):
            size = int(rng.integers(0, min(k, n) + 1))
            row[line, :size] = rng.choice(n, size, replace=False)
            distance[line, :size] = np.sort(rng.integers(0, 4, size))
            order = np.lexsort((row[line, :size], distance[line, :size]))
            row[line, :size], distance[line, :size] = row[line, order], distance[line, order]
        found.append((at, row, distance))

    def merged(solver, order):
        best = np.full((n, k), -1, np.int32), np.full((n, k), np.inf, np.float32)
        for place in order:
            solver.merge_nearest(*found[place], *best)
        return [array.tolist() for array in best]

    first = merged(core, range(n_places))
    assert first == merged(twin, range(n_places))
    assert first == merged(core, rng.permutation(n_places))
