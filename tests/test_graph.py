"""The graph against full tables of distances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from labelcut import nearest
from labelcut.graph import graph_from_distances, neighbors, similarity_graph


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
def test_new_rows_are_compared_with_every_stored_row(seed):
    rng = np.random.default_rng(seed)
    for kind, X in tables(seed):
        queries = np.vstack([X[:2], X[:2] * 1.1, 3.0 * rng.normal(size=(4, X.shape[1]))])
        k = int(rng.integers(1, len(X) + 1))
        found = neighbors(X, k, queries)
        index, distance = slow_neighbors(X, k, queries)
        assert found.index.tolist() == index.tolist(), kind
        assert found.distance.tolist() == distance.tolist(), kind


def test_a_row_is_left_out_by_its_number_and_not_its_equals():
    X = np.array([[1.0], [1.0], [1.0], [5.0]])
    found = neighbors(X, 2)
    assert found.index.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1]]
    assert found.distance.tolist() == [[0, 0], [0, 0], [0, 0], [4, 4]]


@pytest.mark.parametrize("kind", ["normal", "integers", "repeated"])
def test_approximate_neighbors_are_mostly_the_true_ones_and_say_how_many(kind):
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
    assert (found.distance >= true.distance).all()
    assert not (found.index == np.arange(len(X))[:, None]).any()
    i, j = np.arange(0, len(X), 97), found.index[::97, -1]
    assert found.distance[::97, -1].tolist() == np.sqrt(np.square(X[i] - X[j]).sum(axis=1)).tolist()


def test_approximate_neighbors_do_not_depend_on_threads():
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(6000, 5)), rng.normal(size=(500, 5))
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
