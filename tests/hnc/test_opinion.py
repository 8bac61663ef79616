"""Whoever has a probability for every row without having seen its label."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from labelcut import ConfidenceHNC
from labelcut.hnc.hiding import deal_tasks
from labelcut.hnc.opinion import NoOpinion, cross_fit
from labelcut.hnc.own_experts import check_order


def noisy_moons(n=300, seed=0):
    X, truth = make_moons(n, noise=0.1, random_state=seed)
    rng = np.random.default_rng(seed)
    given = np.where(rng.random(n) < 0.15, 1 - truth, truth)
    given[rng.random(n) < 0.2] = -1
    return X, given, truth


def deal(codes, n_folds):
    return deal_tasks(codes, np.ones(codes.size), n_folds, 0)


def test_no_opinion_is_the_shares_of_the_classes():
    nobody = NoOpinion.on(np.array([0, 0, 2, -1, 1]))
    assert nobody.probability.tolist() == [[0.5, 0.25, 0.25]] * 5
    assert nobody.of(np.zeros((2, 3))).tolist() == [[0.5, 0.25, 0.25]] * 2
    assert nobody.importances is None


def test_a_classifier_never_judges_a_row_by_its_own_label():
    # One neighbour is the row itself if it was seen: every label would be confirmed.
    X, _, _ = noisy_moons()
    codes = np.random.default_rng(0).integers(0, 2, len(X))
    opinion = cross_fit(KNeighborsClassifier(1), X, codes, deal(codes, 5))
    assert np.mean(opinion.probability.argmax(axis=1) == codes) < 0.65


def test_unlabeled_and_new_rows_get_the_mean_of_all_folds():
    X, codes, _ = noisy_moons()
    opinion = cross_fit(GaussianNB(), X, codes, deal(codes, 3))
    mean = np.mean([model.predict_proba(X) for model in opinion.models], axis=0)
    assert opinion.probability[codes < 0] == pytest.approx(mean[codes < 0])
    assert opinion.of(X[:7]) == pytest.approx(mean[:7])
    assert np.all(opinion.probability[codes >= 0] != mean[codes >= 0])


def test_a_class_that_a_fold_never_saw_gets_nothing_from_it():
    X = np.arange(8.0).reshape(-1, 1)
    codes = np.array([0, 0, 0, 1, 1, 1, 2, -1])
    opinion = cross_fit(GaussianNB(), X, codes, deal(codes, 3))
    assert opinion.probability[6, 2] == 0.0
    assert opinion.probability.sum(axis=1) == pytest.approx(1.0)


def three_classes():
    truth = np.arange(90) % 3
    P = np.full((90, 3), 0.1)
    P[np.arange(90), truth] = 0.8
    return np.array(["a", "b", "c"])[truth], P


def test_columns_in_another_order_are_told():
    y, P = three_classes()
    message = r"agree with 0% of the labels.*100% if their columns were \['b', 'c', 'a'\]; put"
    with pytest.raises(ValueError, match=message):
        ConfidenceHNC().fit(P, y, opinions={"mine": P[:, [1, 2, 0]]})


@pytest.mark.parametrize("said", ["always the same", "nothing", "noise", "half wrong"])
def test_opinions_that_know_little_are_not_taken_for_swapped_ones(said):
    y, P = three_classes()
    rng = np.random.default_rng(0)
    bad = {
        "always the same": np.tile([0.8, 0.1, 0.1], (90, 1)),
        "nothing": np.full((90, 3), 1 / 3),
        "noise": rng.dirichlet([1, 1, 1], 90),
        "half wrong": np.where(rng.random((90, 1)) < 0.5, P, rng.permutation(P)),
    }[said]
    codes = np.searchsorted(["a", "b", "c"], y)
    check_order("opinions", bad, codes, np.array(["a", "b", "c"]))


def test_an_opinion_may_not_take_the_name_of_an_expert():
    y, P = three_classes()
    with pytest.raises(ValueError, match=r"opinions\['forest'\] would have the name of another expert"):
        ConfidenceHNC().fit(P, y, opinions={"forest": P})
    with pytest.raises(ValueError, match=r"opinions\['mine'\] would have the name of another expert"):
        ConfidenceHNC(experts=[("mine", GaussianNB())]).fit(P, y, opinions={"mine": P})
