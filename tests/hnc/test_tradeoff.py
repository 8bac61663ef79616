import itertools

import numpy as np
import pytest

from labelcut.graph import similarity_graph
from labelcut.hnc.calibration import Logistic
from labelcut.hnc.confidence import PAPER_GRID
from labelcut.hnc.objective import confidence_cut
from labelcut.hnc.tradeoff import best_accuracy_tradeoff, choose_tradeoff, crossing_tradeoff


def two_clouds(n=60, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.repeat([1, -1], n // 2)
    X = rng.normal(size=(n, 2)) + 2.0 * truth[:, None]
    return similarity_graph(X, n_neighbors=5), truth


def objective(graph, sign, label_term, prior_term, t, side):
    """The cost of a set as written in the paper, with the prior added."""
    W = graph.weights.toarray()
    cut = W[np.ix_(side, ~side)].sum()
    unlabeled = graph.degree[side & (sign == 0)].sum()
    labels = label_term[~side & (sign > 0)].sum() + label_term[side & (sign < 0)].sum()
    return cut - t * unlabeled + labels - prior_term[side].sum()


def test_no_set_of_rows_is_cheaper_than_the_cut():
    rng = np.random.default_rng(0)
    graph = similarity_graph(rng.normal(size=(9, 2)), n_neighbors=3)
    sign = np.array([1, -1, 1, -1, 0, 0, 0, 0, 1])
    label_term, prior_term = rng.random(9), rng.normal(size=9) / 4
    path = confidence_cut(graph, sign, label_term, prior_term)
    for t in (-0.7, -0.1, 0.0, 0.3, 0.9):
        ours = objective(graph, sign, label_term, prior_term, t, path.source_side(t))
        best = min(
            objective(graph, sign, label_term, prior_term, t, np.array(side))
            for side in itertools.product([False, True], repeat=9)
        )
        assert ours == pytest.approx(best)


def test_an_infinite_label_term_holds_its_row():
    graph, truth = two_clouds()
    sign = truth.copy()
    sign[0] = -1  # wrong on purpose
    label_term = np.full(sign.size, 0.01)
    label_term[0] = np.inf
    path = confidence_cut(graph, sign, label_term, np.zeros(sign.size))
    assert path.join_at[0] == np.inf


def test_huge_label_terms_give_plain_hnc():
    graph, truth = two_clouds()
    sign = np.where(np.arange(truth.size) % 3 == 0, truth, 0)
    nothing = np.zeros(sign.size)
    held = confidence_cut(graph, sign, np.full(sign.size, np.inf), nothing).join_at
    priced = confidence_cut(graph, sign, np.full(sign.size, 1e9), nothing).join_at
    assert held[sign == 0] == pytest.approx(priced[sign == 0])


def test_hidden_labels_are_not_used():
    graph, truth = two_clouds()
    hidden = np.arange(truth.size) % 4 == 0
    label_term, nothing = np.ones(truth.size), np.zeros(truth.size)
    flipped = np.where(hidden, -truth, truth)
    one = confidence_cut(graph, truth, label_term, nothing, hidden=hidden).join_at
    other = confidence_cut(graph, flipped, label_term, nothing, hidden=hidden).join_at
    assert np.array_equal(one, other)


def test_the_middle_of_the_longest_best_stretch_is_chosen():
    join_at = np.array([-0.5, -0.4, 0.2, 0.6])
    sign = np.array([1, 1, -1, -1])
    assert best_accuracy_tradeoff(join_at, sign) == pytest.approx((-0.4 + 0.2) / 2)
    assert best_accuracy_tradeoff(join_at, sign, PAPER_GRID) == pytest.approx(-0.1, abs=0.002)
    # Two equally good stretches of different length: (-1, 0) and (0.3, 1), by ends of the range.
    assert best_accuracy_tradeoff(np.array([0.0, 0.3]), np.array([-1, 1])) == pytest.approx(-0.5)


def test_the_crossing_is_where_the_curve_has_the_level():
    curve = Logistic(intercept=0.3, slope=-2.0)
    for level in (0.35, 0.5, 0.6):
        assert curve(crossing_tradeoff(curve, level)) == pytest.approx(level)
    assert crossing_tradeoff(Logistic(0.3, 2.0)) == 0.0


def test_folds_choose_a_tradeoff_that_finds_hidden_labels():
    graph, truth = two_clouds()
    folds = [np.arange(truth.size) % 5 == k for k in range(5)]
    nothing = np.zeros(truth.size)
    for rule in ("crossing", "accuracy"):
        choice = choose_tradeoff(graph, truth, [np.ones(truth.size)] * 5, nothing, folds, rule=rule)
        assert choice.accuracy > 0.95
        assert abs(choice.tradeoff) < 0.5
        assert not np.isnan(choice.join_at).any()


def test_ties_between_strengths_go_to_the_smaller_one():
    graph, truth = two_clouds()
    folds = [np.arange(truth.size) % 2 == k for k in range(2)]
    nothing = np.zeros(truth.size)  # without a prior all strengths are equal
    choice = choose_tradeoff(
        graph, truth, [np.ones(truth.size)] * 2, nothing, folds, strengths=(2.0, 0.5, 1.0)
    )
    assert choice.strength == 0.5


def test_without_folds_nothing_is_claimed():
    graph, truth = two_clouds()
    choice = choose_tradeoff(graph, truth, [], np.zeros(truth.size), [], strengths=(0.25, 2.0, 1.0))
    assert (choice.tradeoff, choice.strength) == (0.0, 1.0)
    assert np.isnan(choice.accuracy)


def test_threads_do_not_matter():
    graph, truth = two_clouds()
    folds = [np.arange(truth.size) % 5 == k for k in range(5)]
    prior = truth * 0.1
    runs = [
        choose_tradeoff(graph, truth, [np.ones(60)] * 5, prior, folds, strengths=(0.5, 1.0), n_jobs=n_jobs)
        for n_jobs in (1, 2)
    ]
    assert runs[0].join_at.tobytes() == runs[1].join_at.tobytes()
    assert runs[0].tradeoff == runs[1].tradeoff


def test_who_listens_is_passed_on_to_the_solver(monkeypatch):
    graph, truth = two_clouds()
    monkeypatch.setattr("labelcut.hnc.objective.parametric_cut", lambda *_, **options: options["on_progress"])
    nothing = np.zeros(truth.size)
    assert confidence_cut(graph, truth, nothing, nothing, on_progress=print) is print
