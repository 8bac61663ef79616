"""Neighbours from an embedding or from given distances, and what stands for X where there is none."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs, make_moons
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph

from labelcut import HNC, ConfidenceHNC


def hidden_classes(n=120, n_classes=2, seed=0):
    """Return an embedding that knows the class, columns that hardly do, given labels and the truth."""
    E, truth = make_blobs(n, 5, centers=n_classes, cluster_std=1.0, random_state=seed)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + 0.5 * truth[:, None]
    given = np.where(rng.random(n) < 0.1, (truth + 1) % n_classes, truth)
    given[rng.random(n) < 0.2] = -1
    return X, E, given, truth


def small(**parameters):
    """Return an estimator that asks only two experts, to be quick."""
    return ConfidenceHNC(experts=["forest", "cut"], **parameters)


def shuffled(n):
    return np.random.default_rng(1).permutation(n)


def test_the_embedding_makes_the_neighbours_and_X_feeds_the_rest():
    X, E, given, truth = hidden_classes()
    clf = small().fit(X, given, embedding=E)
    assert np.mean(clf.transduction_ == truth) > 0.97
    assert clf.n_features_in_ == 3, "X is what is explained"
    nearest = kneighbors_graph((E - E.mean(axis=0)) / E.std(axis=0), 1).indices
    found = [set(clf.explain(i).neighbors) for i in range(40)]
    assert all(nearest[i] in found[i] for i in range(40))
    assert clf.expert_log_loss_["cut"] < clf.expert_log_loss_["forest"]


def test_the_embedding_of_new_rows_is_wanted():
    X, E, given, truth = hidden_classes()
    clf = small().fit(X[:100], given[:100], embedding=E[:100])
    assert np.mean(clf.predict(X[100:], embedding=E[100:]) == truth[100:]) > 0.95
    with pytest.raises(ValueError, match="fit was given an embedding; pass that of the new rows"):
        clf.predict(X[100:])
    with pytest.raises(ValueError, match="embedding has 2 columns, but that of fit had 5"):
        clf.predict(X[100:], embedding=E[100:, :2])
    with pytest.raises(ValueError, match="fit was given no embedding"):
        small().fit(E, given).predict(E, embedding=E)


def test_the_paper_takes_an_embedding_and_a_graph_too():
    X, E, given, truth = hidden_classes()
    assert np.mean(HNC().fit(X, given, embedding=E).transduction_ == truth) > 0.85
    graph = kneighbors_graph(E, 15, mode="distance")
    clf = ConfidenceHNC("paper").fit(X, given, graph=graph)
    assert np.mean(clf.transduction_ == truth) > 0.85
    with pytest.raises(ValueError, match="fit was given a graph, in which new rows have no neighbours"):
        clf.predict(X)


@pytest.mark.parametrize("make", ["plain", "transformer", "explicit loops"])
def test_given_distances_make_the_neighbours(make):
    X, E, given, truth = hidden_classes()
    graph = kneighbors_graph(E, 15, mode="distance")
    if make == "transformer":  # it stores every row as its own neighbour at distance 0
        graph = KNeighborsTransformer(n_neighbors=15, mode="distance").fit_transform(E)
    if make == "explicit loops":
        rows, columns = graph.nonzero()
        loops = np.arange(len(X))
        places = (np.r_[rows, loops], np.r_[columns, loops])
        graph = sparse.csr_matrix((np.r_[graph.data, np.zeros(len(X))], places), shape=graph.shape)
    clf = small().fit(X, given, graph=graph)
    assert np.mean(clf.transduction_ == truth) > 0.97
    plain = small().fit(X, given, graph=kneighbors_graph(E, 15, mode="distance"))
    assert clf.p_wrong_.tobytes() == plain.p_wrong_.tobytes()


def test_distances_are_measured_in_their_median():
    X, E, given, _ = hidden_classes()
    graph = kneighbors_graph(E, 10, mode="distance")
    one, other = (small().fit(X, given, graph=graph * unit) for unit in (1.0, 1024.0))
    assert one.p_wrong_.tobytes() == other.p_wrong_.tobytes()
    i = 0
    j = next(j for j in graph[i].indices if i in graph[j].indices)
    weight = one.explain(i).weights[one.explain(i).neighbors.tolist().index(j)]
    measured = graph[i, j] / np.median(graph.data)
    assert weight == pytest.approx(np.exp(-(measured**2) / (2 * 0.75**2)))


def test_a_neighbour_at_distance_0_is_a_neighbour():
    X, E, given, _ = hidden_classes()
    E[1] = E[0]
    graph = kneighbors_graph(E, 5, mode="distance")
    clf = small().fit(X, given, graph=graph)
    assert clf.explain(0).neighbors[0] == 1
    assert clf.explain(0).weights[0] == 1.0


def test_new_rows_have_no_neighbours_in_a_given_graph_and_the_others_are_asked():
    X, E, given, truth = hidden_classes()
    graph = kneighbors_graph(E, 15, mode="distance")
    clf = small().fit(X, given, graph=graph)
    panel = clf._answer.verdict
    assert set(clf.expert_weights_) == {"forest", "cut"}
    assert set(panel.pool_of_new.weights) == {"forest"}
    forest = panel.experts["forest"].of(clf.column_scale_.apply(X))[:, 1]
    assert np.all(np.diff(clf.predict_proba(X)[np.argsort(forest), 1]) >= -1e-12), "the order is the forest's"
    oracle = np.where(truth == 1, 0.95, 0.05)
    clf = small().fit(None, given, graph=graph, opinions={"oracle": oracle})
    assert clf.predict(None, opinions={"oracle": np.array([0.9, 0.1])}).tolist() == [1, 0]
    only_cut = ConfidenceHNC(experts=["cut"]).fit(X, given, graph=graph)
    assert only_cut.predict_proba(X[:5]).shape == (5, 2), "then the forest speaks"


def test_without_X_the_embedding_stands_for_it():
    _, E, given, truth = hidden_classes()
    clf = small().fit(None, given, embedding=E)
    assert np.mean(clf.transduction_ == truth) > 0.97
    assert np.mean(clf.predict(None, embedding=E[:50]) == truth[:50]) > 0.95
    with pytest.raises(ValueError, match="fit had X=None; pass None"):
        clf.predict(E, embedding=E)


def test_with_opinions_alone_rows_are_alike_if_the_same_is_said_about_them():
    _, _, given, truth = hidden_classes(n_classes=3)
    rng = np.random.default_rng(2)
    P = rng.dirichlet(np.ones(3), truth.size) * 0.3 + 0.7 * np.eye(3)[truth]
    clf = small().fit(None, given, opinions={"net": P})
    assert np.mean(clf.transduction_ == truth) > 0.97
    assert np.mean(clf.predict(None, opinions={"net": P[:30]}) == truth[:30]) > 0.97
    with pytest.raises(ValueError, match="fit was given the opinions of 'net'"):
        clf.predict(None)


def test_without_anything_the_error_names_what_to_give():
    _, E, given, _ = hidden_classes()
    with pytest.raises(ValueError, match=r"X is None.*give X, embedding=E .*opinions="):
        small().fit(None, given)
    with pytest.raises(ValueError, match=r"X is None.*give X"):
        small().fit(None, given, graph=kneighbors_graph(E, 5, mode="distance"))


@pytest.mark.filterwarnings("ignore:.* labels .* contradict the columns")
@pytest.mark.parametrize("door", ["embedding", "graph", "opinions", "embedding for X"])
def test_neither_threads_nor_the_order_of_rows_change_a_byte(door):
    X, E, given, truth = hidden_classes(90, 3)
    X[3], X[4] = X[5], X[6]  # equal in X, but not in what makes the neighbours
    given[3], given[4] = given[5], given[6]
    order = shuffled(90)
    graph = kneighbors_graph(E, 8, mode="distance").tocsr()
    P = 0.6 * np.eye(3)[truth] + 0.4 / 3
    P[:, 0] += 0.01 * np.random.default_rng(0).random(90)
    P /= P.sum(axis=1, keepdims=True)
    first_X, metadata, again = {
        "embedding": (X, {"embedding": E}, {"embedding": E[order]}),
        "graph": (X, {"graph": graph}, {"graph": graph[order][:, order]}),
        "opinions": (None, {"opinions": {"p": P}}, {"opinions": {"p": P[order]}}),
        "embedding for X": (None, {"embedding": E}, {"embedding": E[order]}),
    }[door]
    first = small(n_jobs=1).fit(first_X, given, **metadata)
    other = small(n_jobs=2).fit(None if first_X is None else X[order], given[order], **again)
    assert other.label_distributions_.tobytes() == first.label_distributions_[order].tobytes()
    assert np.array_equal(other.p_wrong_, first.p_wrong_[order], equal_nan=True)


@pytest.mark.parametrize(
    ("metadata", "error", "message"),
    [
        ({"embedding": np.zeros((59, 2))}, ValueError, r"embedding has shape \(59, 2\); give 60 lines"),
        ({"embedding": np.zeros(60)}, ValueError, r"embedding has shape \(60,\)"),
        ({"embedding": np.full((60, 2), np.nan)}, ValueError, r"embedding\[0, 0\] is nan"),
        ({"graph": np.zeros((60, 60))}, TypeError, "graph is a ndarray; give a scipy sparse matrix"),
        ({"graph": sparse.eye(59)}, ValueError, r"graph has shape \(59, 59\)"),
        ({"graph": sparse.eye(60)}, ValueError, "joins no row to another"),
        ({"graph": -sparse.eye(60, k=1)}, ValueError, r"graph\[0, 1\] is -1.0; distances are finite"),
        ({"graph": sparse.eye(60, k=1), "embedding": np.zeros((60, 2))}, ValueError, "leave out one"),
        ({"grahp": None}, TypeError, "it takes sample_weight, opinions, embedding, graph"),
    ],
)
def test_bad_doors_are_refused_with_a_remedy(metadata, error, message):
    X, _, given, _ = hidden_classes(60)
    with pytest.raises(error, match=message):
        small().fit(X, given, **metadata)


def test_an_embedding_is_enough_where_the_columns_know_nothing():
    E, y = make_moons(300, noise=0.1, random_state=0)
    noise = np.random.default_rng(0).normal(size=(300, 2))
    wrong = np.arange(0, 300, 15)
    given = y.copy()
    given[wrong] = 1 - y[wrong]
    clf = ConfidenceHNC().fit(noise, given, embedding=E)
    assert clf.is_label_issue_[wrong].mean() > 0.8
    assert (clf.transduction_ == y).mean() > 0.97
    assert clf.feature_importances_.shape == (2,)
    assert clf.feature_importances_.sum() == pytest.approx(1.0)
    assert (clf.predict(noise[:50], embedding=E[:50]) == y[:50]).mean() > 0.95
