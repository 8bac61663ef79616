"""The graph against full tables of distances."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from labelcut.graph import (
    bounds,
    build_index,
    cells,
    graph_from_distances,
    nearest,
    neighbors,
    similarity_graph,
)


def slow_neighbors(X, k, queries=None):
    """Neighbors from the full table of squared distances, one row at a time."""
    index, distance = [], []
    for i, x in enumerate(X if queries is None else queries):
        squared = np.square(x - X).sum(axis=1)
        order = np.lexsort((np.arange(len(X)), squared))
        order = (order if queries is not None else order[order != i])[:k]
        index.append(order)
        distance.append(np.sqrt(squared[order]))
    return np.array(index), np.array(distance)


def tables(seed):
    """Tables with distances that are distinct, tied, zero, huge or tiny."""
    rng = np.random.default_rng(seed)
    n, h = int(rng.integers(3, 150)), int(rng.integers(1, 12))
    yield "normal", rng.normal(size=(n, h))
    yield "small integers", rng.integers(0, 3, (n, h)).astype(float)
    yield "weighted bits", rng.integers(0, 2, (n, h)) * rng.normal(size=h) * 1e6
    yield "heavy tails", np.exp(8.0 * rng.normal(size=(n, h)))
    yield "far from zero", 1e9 + rng.normal(size=(n, h))
    yield "tiny", 1e-100 * rng.normal(size=(n, h))
    yield "identical", np.full((n, h), 0.1)


@pytest.mark.parametrize("seed", range(20))
def test_neighbors_are_those_of_the_full_table(seed):
    rng = np.random.default_rng(seed)
    for kind, X in tables(seed):
        k = int(rng.integers(1, len(X)))
        found = neighbors(X, k, n_jobs=1 + seed % 2)
        index, distance = slow_neighbors(X, k)
        assert found.index.tolist() == index.tolist(), kind
        assert found.distance.tolist() == distance.tolist(), kind
        assert found.recall == 1.0


@pytest.mark.parametrize("seed", range(10))
def test_cells_do_not_change_the_answer(seed, monkeypatch):
    monkeypatch.setattr(nearest, "CELLS_FROM", 2)
    rng = np.random.default_rng(seed)
    for kind, X in tables(seed):
        k = int(rng.integers(1, min(len(X), 12)))
        queries = (
            None if seed % 2 else np.vstack([X[:3], X.mean(axis=0) + X.std(axis=0) * rng.normal(size=(9, 1))])
        )
        found = neighbors(X, k, queries, n_jobs=1 + seed % 3)
        index, distance = slow_neighbors(X, k, queries)
        assert found.index.tolist() == index.tolist(), kind
        assert found.distance.tolist() == distance.tolist(), kind


def test_cells_leave_out_most_rows_and_none_that_matter():
    X = np.vstack([np.random.default_rng(0).normal(size=(4500, 3)), np.zeros((50, 3))])
    index = build_index(X)
    one = cells.Cells.one(index.distinct, index.shortening)
    everywhere = cells.search_cells(index.distinct, one, X, 8, 1, None)
    ordered, divided = cells.divide(index.distinct, index.shortening, None)
    in_cells = cells.search_cells(ordered, divided, X, 8, divided.count, None)
    assert in_cells[0].tolist() == everywhere[0].tolist()
    assert in_cells[1].tolist() == everywhere[1].tolist()
    away = np.sqrt(np.square(divided.centers[:, None] - index.shortening.shorten(X)).sum(axis=2)).T
    reach = everywhere[1][:, -1:] * index.shortening.unit + divided.radius
    assert (away <= reach).mean() < 0.3


@pytest.mark.parametrize("seed", range(10))
def test_new_rows_are_compared_with_every_stored_row(seed):
    rng = np.random.default_rng(seed)
    for kind, X in tables(seed):
        queries = np.vstack([X[:2], X[:2] * 1.1, 3.0 * rng.normal(size=(4, X.shape[1]))])
        k = int(rng.integers(1, len(X) + 1))
        found = neighbors(X, k, queries)
        index, distance = slow_neighbors(X, k, queries)
        assert found.index.tolist() == index.tolist(), kind
        assert found.distance.tolist() == distance.tolist(), kind


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e-158, 1e-140, 1e100])
def test_new_rows_far_from_all_others_are_measured_one_by_one(scale):
    rng = np.random.default_rng(0)
    X = scale * np.vstack([rng.normal(size=(60, 3)), rng.integers(0, 2, (30, 3))])
    queries = np.vstack([X[:4], X[:1] * 1e7, X[:1] * 1e9, np.minimum(X[:1] * 1e40, 1e149), X[4:6]])
    index, distance = slow_neighbors(X, 7, queries)
    found = neighbors(X, 7, queries)
    assert found.index.tolist() == index.tolist()
    assert found.distance.tolist() == distance.tolist()


def test_an_index_answers_again_after_a_pickle(monkeypatch):
    monkeypatch.setattr(nearest, "CELLS_FROM", 50)
    rng = np.random.default_rng(0)
    index = build_index(rng.normal(size=(300, 4)))
    queries = rng.normal(size=(80, 4))
    before = index.of(queries, 5)
    assert index.cells is not None
    monkeypatch.setattr(nearest, "divide", None)  # what was divided once is not divided again
    for again in (index, pickle.loads(pickle.dumps(index))):
        assert again.of(queries, 5).index.tolist() == before.index.tolist()
        assert again.of(queries, 5).distance.tolist() == before.distance.tolist()
        assert similarity_graph(again, n_neighbors=3).weights.shape == (300, 300)


def test_what_the_graph_was_searched_in_is_not_held_until_new_rows_come():
    rng = np.random.default_rng(0)
    index = build_index(rng.normal(size=(300, 4)))
    index.of_own_rows(5)
    size = len(pickle.dumps(index))
    assert "table" not in vars(index.cells)
    found = index.of(index.distinct.rows[:3], 1)
    assert found.distance.tolist() == [[0], [0], [0]]
    assert index.cells.table.nbytes >= index.distinct.rows.nbytes / 2
    assert len(pickle.dumps(index)) > size


def test_a_row_is_left_out_by_its_number_and_not_its_equals():
    X = np.array([[1.0], [1.0], [1.0], [5.0]])
    found = neighbors(X, 2)
    assert found.index.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1]]
    assert found.distance.tolist() == [[0, 0], [0, 0], [0, 0], [4, 4]]


@pytest.mark.parametrize("kind", ["normal", "integers", "repeated"])
def test_approximate_neighbors_are_mostly_the_true_ones_and_say_how_many(kind, monkeypatch):
    monkeypatch.setattr(nearest, "CELLS_FROM", 4000)
    rng = np.random.default_rng(0)
    X = {
        "normal": rng.normal(size=(6000, 6)),
        "integers": rng.integers(0, 5, (8000, 7)).astype(float),
        "repeated": np.repeat(rng.normal(size=(5000, 4)), 2, axis=0),
    }[kind]
    found = neighbors(X, 8, method="approximate")
    true = neighbors(X, 8, method="exact")
    recall = (true.index[:, :, None] == found.index[:, None, :]).any(axis=2).mean()
    assert recall > 0.95
    assert found.recall == pytest.approx(recall, abs=0.02)
    assert (found.distance >= (1 - 1e-5) * true.distance).all()
    assert not (found.index == np.arange(len(X))[:, None]).any()
    i, j = np.arange(0, len(X), 97), found.index[::97, -1]
    assert found.distance.dtype == np.float32
    assert found.distance[::97, -1] == pytest.approx(np.sqrt(np.square(X[i] - X[j]).sum(axis=1)), rel=1e-5)


def test_approximate_neighbors_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(nearest, "CELLS_FROM", 1000)
    monkeypatch.setattr(nearest, "SAMPLE", 1000)
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(6000, 5)), rng.normal(size=(1500, 5))
    for new in (None, queries):
        one = neighbors(X, 5, new, method="approximate", n_jobs=1)
        two = neighbors(X, 5, new, method="approximate", n_jobs=2)
        assert one.index.tolist() == two.index.tolist()
        assert one.distance.tolist() == two.distance.tolist()
        assert one.recall == two.recall > 0.95


def test_auto_searches_exactly_up_to_a_certain_amount_of_work(monkeypatch):
    X = np.random.default_rng(0).normal(size=(6000, 6))
    assert neighbors(X, 5).recall == 1.0
    monkeypatch.setattr(nearest, "EXACT_WORK", 6000 * 6000 * 20)
    monkeypatch.setattr(nearest, "CELLS_FROM", 5000)
    assert 0.95 < neighbors(X, 5).recall < 1.0
    assert 0.95 < similarity_graph(X, n_neighbors=5).recall < 1.0
    assert neighbors(X, 5, X[:10]).recall == 1.0


@pytest.mark.parametrize("one_sided", ["half", "full"])
@pytest.mark.parametrize("kernel", ["squared", "literal"])
def test_weights_follow_the_formula(kernel, one_sided):
    X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]])  # 0 <-> 1, and 2 -> 1 is one-sided
    graph = similarity_graph(X, n_neighbors=1, bandwidth=0.5, kernel=kernel, one_sided=one_sided)
    exponents = [-1 / 1.0, -4 / 1.0] if kernel == "squared" else [-1 / 0.5, -2 / 0.5]
    near, far = np.exp(exponents).tolist()
    far *= 0.5 if one_sided == "half" else 1.0
    assert graph.weights.toarray() == pytest.approx(np.array([[0, near, 0], [near, 0, far], [0, far, 0]]))
    assert graph.degree == pytest.approx([near, near + far, far])
    assert (graph.n_components, graph.component.tolist()) == (1, [0, 0, 0])


def test_known_distances_give_the_same_graph():
    X = np.random.default_rng(0).normal(size=(80, 3))
    graph = similarity_graph(X, n_neighbors=4)
    found = neighbors(X, 6)
    source = np.repeat(np.arange(80), 6)
    distances = sparse.csr_array((found.distance.ravel(), (source, found.index.ravel())), shape=(80, 80))
    known = graph_from_distances(distances, n_neighbors=4, n_features=3)
    assert abs(known.weights - graph.weights).max() == 0.0
    assert graph_from_distances(distances, n_features=3).n_neighbors == 6


def test_too_many_neighbors_are_refused_with_the_possible_number():
    with pytest.raises(
        ValueError, match=r"n_neighbors=50, but each row has only 32 others; choose at most 32\."
    ):
        similarity_graph(np.zeros((33, 2)), n_neighbors=50)


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(float, st.tuples(st.integers(2, 25), st.integers(1, 4)), elements=st.integers(-1, 1)),
    st.randoms(use_true_random=False),
)
def test_shuffled_rows_have_the_same_distances_and_ties_go_by_row_number(X, random):
    k = random.randint(1, len(X) - 1)
    shuffled = np.array(random.sample(range(len(X)), len(X)))
    found = neighbors(X, k)
    again = neighbors(X[shuffled], k)
    assert again.distance.tolist() == found.distance[shuffled].tolist()
    index, distance = slow_neighbors(X[shuffled], k)
    assert again.index.tolist() == index.tolist()
    assert again.distance.tolist() == distance.tolist()


def test_shuffling_rows_of_distinct_distances_shuffles_the_graph():
    X = np.random.default_rng(0).normal(size=(200, 4))
    shuffled = np.random.default_rng(1).permutation(200)
    graph = similarity_graph(X).weights
    again = similarity_graph(X[shuffled]).weights
    assert abs(again - graph[shuffled][:, shuffled]).max() == 0.0


def test_threads_and_chunks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.integers(0, 3, (400, 6)), rng.normal(size=(300, 6))]) * rng.random(6)
    usual = similarity_graph(X, n_jobs=1).weights
    for n_rows in (17, 256):
        monkeypatch.setattr(bounds, "CHUNK_ROWS", n_rows)
        for n_jobs in (1, 2, 3):
            graph = similarity_graph(X, n_jobs=n_jobs).weights
            assert graph.data.tobytes() == usual.data.tobytes()
            assert graph.indices.tobytes() == usual.indices.tobytes()


@pytest.mark.parametrize("spread", [1e-2, 1e-4, 1e-6])
def test_columns_that_hardly_vary_still_decide_close_races(spread):
    rng = np.random.default_rng(0)
    X = np.hstack([rng.integers(0, 2, (700, 1)), spread * rng.normal(size=(700, 10))])
    index, distance = slow_neighbors(X, 5)
    found = neighbors(X, 5)
    assert found.index.tolist() == index.tolist()
    assert found.distance.tolist() == distance.tolist()
    index = build_index(X)
    one = cells.Cells.one(index.distinct, index.shortening)
    n_measured = cells.search_cells(index.distinct, one, X, 6, 1, None)[2]
    assert n_measured < 150 * 700, "bounds that tell rows apart were not used"


# ---- the graph


def test_the_graph_is_symmetric_sorted_and_without_loops():
    X = np.random.default_rng(0).integers(0, 3, (120, 5)).astype(float)
    for one_sided in ("half", "full"):
        graph = similarity_graph(X, n_neighbors=7, one_sided=one_sided)
        weights = graph.weights
        assert isinstance(weights, sparse.csr_array)
        assert weights.dtype == np.float64
        assert weights.has_sorted_indices
        assert abs(weights - weights.T).max() == 0.0
        assert not weights.diagonal().any()
        assert (weights.data > 0).all()
        assert graph.degree == pytest.approx(weights.toarray().sum(axis=1))
        assert (np.diff(weights.indptr) >= 7).all()


def test_identical_rows_are_joined_with_full_weight():
    graph = similarity_graph(np.full((5, 3), 0.1), n_neighbors=4)
    assert graph.weights.toarray().tolist() == (1.0 - np.eye(5)).tolist()
    assert graph.n_components == 1


def test_two_far_groups_are_two_components():
    X = np.array([[0.0], [1.0], [2.0], [1000.0], [1001.0], [1002.0]])
    graph = similarity_graph(X, n_neighbors=2)
    assert graph.n_components == 2
    assert graph.component.tolist() == [0, 0, 0, 1, 1, 1]


def test_a_weight_that_underflows_is_no_edge():
    X = np.array([[0.0], [1.0], [1e4]])
    graph = similarity_graph(X, n_neighbors=1)
    assert graph.degree[2] == 0.0
    assert graph.weights.nnz == 2
    assert graph.component.tolist() == [0, 0, 1]


def test_tiny_weights_are_kept():
    graph = similarity_graph(np.array([[0.0], [10.0]]), n_neighbors=1, bandwidth=0.75)
    assert graph.degree.tolist() == [np.exp(-100 / (2 * 0.75**2))] * 2
    assert 0.0 < graph.degree[0] < 1e-38


def test_a_large_table_has_float32_weights_close_to_the_exact_ones(monkeypatch):
    X = 1e6 + np.random.default_rng(0).normal(size=(1500, 3))
    exact = similarity_graph(X, n_neighbors=6)
    monkeypatch.setattr(nearest, "CELLS_FROM", 1000)
    monkeypatch.setattr(nearest, "SAMPLE", 200)
    monkeypatch.setattr(nearest, "RECALL", 1.0)
    large = similarity_graph(X, n_neighbors=6, method="approximate")
    assert large.recall > 0.99
    assert large.weights.dtype == np.float32
    assert large.weights.indices.dtype == np.int32
    assert abs(large.weights - large.weights.T).max() == 0.0
    assert (abs(large.weights - exact.weights) > 1e-6).nnz <= 0.02 * exact.weights.nnz
    assert large.degree.dtype == np.float64
    assert large.degree.tolist() == pytest.approx(large.weights.toarray().astype(float).sum(axis=1).tolist())


@pytest.mark.parametrize("scale", [1e-120, 1.0, 1e120])
def test_rows_kept_as_float32_are_found_at_any_size(scale, monkeypatch):
    monkeypatch.setattr(nearest, "CELLS_FROM", 50)
    monkeypatch.setattr(nearest, "SAMPLE", 20)
    X = scale * (100 + np.random.default_rng(0).normal(size=(300, 3)))
    index = build_index(X, method="approximate")
    assert index.distinct.rows.dtype == np.float32
    queries = np.vstack([X[:5], X[:1] * 1e9])
    near, distance = slow_neighbors(X, 4, queries)
    found = index.of(queries, 4)
    assert found.index[:5].tolist() == near[:5].tolist()
    assert found.distance[:, 1:] == pytest.approx(distance[:, 1:], rel=1e-4)


def test_an_index_does_not_follow_later_changes_of_its_rows():
    X = np.arange(10.0)[:, None]
    index = build_index(X)
    X[:] = 0.0
    assert index.of([[3.2]], 2).index.tolist() == [[3, 4]]


# ---- known distances


def test_a_stored_zero_is_a_neighbor_and_the_diagonal_is_ignored():
    distances = sparse.csr_array(([0.0, 0.0, 2.0], ([0, 1, 2], [1, 1, 0])), shape=(3, 3))
    graph = graph_from_distances(distances, bandwidth=1.0)
    far = 0.5 * np.exp(-2.0)
    assert graph.weights.toarray() == pytest.approx(np.array([[0, 0.5, far], [0.5, 0, 0], [far, 0, 0]]))


def test_the_nearest_of_known_distances_are_kept_ties_by_row_number():
    distances = sparse.csr_array(np.array([[0, 3, 1, 1], [3, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0.0]]))
    graph = graph_from_distances(distances, n_neighbors=1, one_sided="full")
    assert graph.weights.toarray().astype(bool).tolist() == [
        [False, True, True, True],
        [True, False, False, False],
        [True, False, False, False],
        [True, False, False, False],
    ]
    assert graph.weights[[0], [2]] == pytest.approx(np.exp(-1 / (2 * 0.75**2)))
    assert graph.n_neighbors == 1


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.coo_array, sparse.csc_array])
def test_any_sparse_form_of_distances_will_do(form):
    distances = sparse.csr_array(np.array([[0, 1.0], [1.0, 0]]))
    assert graph_from_distances(form(distances)).weights.nnz == 2


@pytest.mark.parametrize(
    ("error", "distances", "message"),
    [
        (TypeError, np.ones((2, 2)), "distances are a ndarray; give a scipy sparse matrix"),
        (ValueError, sparse.csr_array((2, 3)), r"distances have shape \(2, 3\); give one row and one column"),
        (
            ValueError,
            sparse.csr_array([[0, -1.0], [1, 0]]),
            r"distances\[0, 1\] is -1.0; distances are finite",
        ),
        (ValueError, sparse.csr_array([[0, np.nan], [1, 0]]), r"distances\[0, 1\] is nan"),
    ],
)
def test_wrong_distances_are_refused(error, distances, message):
    with pytest.raises(error, match=message):
        graph_from_distances(distances)


# ---- messages


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0; choose at least 1"),
        (
            {"X": np.ones((1, 2))},
            "n_neighbors=2, but each row has only 0 others; at least two rows are needed",
        ),
        ({"bandwidth": 0.0}, "bandwidth=0.0; give a finite number above 0"),
        ({"bandwidth": np.nan}, "bandwidth=nan"),
        ({"kernel": "cubic"}, "kernel='cubic'; choose one of 'squared', 'literal'"),
        ({"one_sided": "none"}, "one_sided='none'; choose one of 'half', 'full'"),
        ({"method": "faiss"}, "method='faiss'; choose one of 'auto', 'exact', 'approximate'"),
        ({"X": np.array([[1.0], [np.inf], [2.0]])}, r"X\[1, 0\] is inf; replace or impute"),
        ({"X": np.array([[1.0], [1e200], [2.0]])}, "X holds numbers above 1e\\+150.*scale the columns first"),
        ({"X": np.ones(3)}, r"X has shape \(3,\); give one row per case"),
    ],
)
def test_wrong_arguments_are_refused_with_a_remedy(arguments, message):
    with pytest.raises(ValueError, match=message):
        similarity_graph(**({"X": np.arange(6.0)[:, None], "n_neighbors": 2} | arguments))


def test_queries_must_fit_the_rows():
    X = np.ones((4, 2))
    with pytest.raises(ValueError, match="queries have 3 columns, but X has 2; pass the same columns"):
        neighbors(X, 1, np.ones((1, 3)))
    with pytest.raises(ValueError, match="n_neighbors=5, but X has only 4 rows; choose at most 4"):
        neighbors(X, 5, X)
    assert neighbors(X, 2, np.empty((0, 2))).index.shape == (0, 2)


@pytest.mark.parametrize("method", ["exact", "approximate"])
def test_a_row_far_from_equal_rows_finds_them_however_large_the_numbers(method):
    row = 1e140 * np.linspace(-1.0, 1.0, 20)
    found = build_index(np.tile(row, (5, 1)), method=method).of(0.5 * row[None], 2)
    assert found.index.tolist() == [[0, 1]]
    assert found.distance == pytest.approx(np.full((1, 2), 0.5 * np.sqrt(np.square(row).sum())))
