"""Whoever has a probability for every row without having seen its label."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from labelcut import ConfidenceHNC
from labelcut.hnc.folds import deal_folds
from labelcut.hnc.opinion import Given, NoOpinion, cross_fit


def noisy_moons(n=300, seed=0):
    X, truth = make_moons(n, noise=0.1, random_state=seed)
    rng = np.random.default_rng(seed)
    given = np.where(rng.random(n) < 0.15, 1 - truth, truth)
    given[rng.random(n) < 0.2] = -1
    return X, given, truth


class Asking(ConfidenceHNC):
    """An estimator that asks somebody else than the forest."""

    def _form_opinion(self, X, codes, clock):
        return self.ask(X, codes)


def test_no_opinion_is_the_shares_of_the_classes():
    nobody = NoOpinion.on(np.array([0, 0, 2, -1, 1]))
    assert nobody.probability.tolist() == [[0.5, 0.25, 0.25]] * 5
    assert nobody.of(np.zeros((2, 3))).tolist() == [[0.5, 0.25, 0.25]] * 2
    assert nobody.importances is None


def test_a_classifier_never_judges_a_row_by_its_own_label():
    # One neighbour is the row itself if it was seen: every label would be confirmed.
    X, _, _ = noisy_moons()
    codes = np.random.default_rng(0).integers(0, 2, len(X))
    opinion = cross_fit(KNeighborsClassifier(1), X, codes, deal_folds(codes, 5, 0))
    assert np.mean(opinion.probability.argmax(axis=1) == codes) < 0.65


def test_unlabeled_and_new_rows_get_the_mean_of_all_folds():
    X, codes, _ = noisy_moons()
    opinion = cross_fit(GaussianNB(), X, codes, deal_folds(codes, 3, 0))
    mean = np.mean([model.predict_proba(X) for model in opinion.models], axis=0)
    assert opinion.probability[codes < 0] == pytest.approx(mean[codes < 0])
    assert opinion.of(X[:7]) == pytest.approx(mean[:7])
    assert np.all(opinion.probability[codes >= 0] != mean[codes >= 0])


def test_a_class_that_a_fold_never_saw_gets_nothing_from_it():
    X = np.arange(8.0).reshape(-1, 1)
    codes = np.array([0, 0, 0, 1, 1, 1, 2, -1])
    opinion = cross_fit(GaussianNB(), X, codes, deal_folds(codes, 3, 0))
    assert opinion.probability[6, 2] == 0.0
    assert opinion.probability.sum(axis=1) == pytest.approx(1.0)


def test_the_cut_takes_a_classifier_as_its_prior():
    X, given, truth = noisy_moons()
    asking = Asking()
    asking.ask = lambda X, codes: cross_fit(KNeighborsClassifier(15), X, codes, deal_folds(codes, 5, 0))
    clf = asking.fit(X, given)
    assert np.mean(clf.transduction_ == truth) > 0.97
    assert clf.prior_strength_ > 0
    assert clf.feature_importances_.tolist() == [0.5, 0.5], (
        "who cannot say how columns count leaves them equal"
    )
    assert clf.predict(X[:20]).tolist() == truth[:20].tolist()


def test_the_cut_takes_given_probabilities_and_says_that_new_rows_need_more():
    X, given, truth = noisy_moons()
    asking = Asking()
    asking.ask = lambda scaled, codes: Given(np.column_stack([1.0 - truth_of(scaled), truth_of(scaled)]))
    found = {tuple(row): label for row, label in zip(X.round(9).tolist(), truth, strict=True)}

    def truth_of(scaled):
        raw = scaled * asking.column_scale_.sd + asking.column_scale_.mean
        return np.array([0.05 + 0.9 * found[tuple(row)] for row in raw.round(9).tolist()])

    clf = asking.fit(X, given)
    assert np.mean(clf.transduction_ == truth) > 0.98
    with pytest.raises(
        ValueError, match="given probabilities of its 300 rows.*3 new ones; give a classifier"
    ):
        clf.predict(X[:3])
