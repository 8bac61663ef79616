"""Columns that know nothing about the label call no label wrong, and it is said."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, norm
from sklearn.datasets import load_breast_cancer, load_iris, make_moons
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from labelcut import DEFAULT, HNC, PAPER, ConfidenceHNC
from labelcut.hnc.evidence import (
    NULL_ERROR,
    UNPROVEN_P_WRONG,
    Evidence,
    hit_test,
    measure_evidence,
    shuffle_test,
)
from labelcut.hnc.judgement import true_class_probability

SAID = "the columns do not tell the classes apart better than chance"
TOLD = replace(DEFAULT, experts=())


def noise(shares, n=600, seed=0):
    """Columns and labels that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 6)), rng.choice(len(shares), n, p=shares)


def shuffled(seed=0):
    """Real columns, labels dealt out anew."""
    X, y = load_breast_cancer(return_X_y=True)
    return X, np.random.default_rng(seed).permutation(y)


def flipped(X, y, share, seed=0):
    """Return the table with a share of its labels made wrong."""
    rng = np.random.default_rng(seed)
    wrong = rng.choice(y.size, round(share * y.size), replace=False)
    given = y.copy()
    given[wrong] = (y[wrong] + rng.integers(1, y.max() + 1, wrong.size)) % (y.max() + 1)
    return X, given


WITHOUT_SIGNAL = {
    "16 % positive": noise([0.84, 0.16]),
    "50 % positive": noise([0.5, 0.5]),
    "three classes": noise([0.3, 0.3, 0.4]),
    "shuffled labels": shuffled(),
}
WITH_SIGNAL = {
    "moons": flipped(*make_moons(200, noise=0.15, random_state=0), 0.1),
    "iris": flipped(*load_iris(return_X_y=True), 0.1),
    "breast cancer": flipped(*load_breast_cancer(return_X_y=True), 0.3),
}


def silent(X, y, model=None, **fit):
    """Fit, expecting the warning."""
    model = ConfidenceHNC() if model is None else model
    with pytest.warns(UserWarning, match=SAID):
        return model.fit(X, y, **fit)


def answers(model, X):
    """Return the bytes of everything that a model says about its rows."""
    found = (model.transduction_, model.label_distributions_, model.p_wrong_, model.is_label_issue_)
    return [values.tobytes() for values in (*found, model.noise_rates_, model.predict_proba(X))]


# -- the measure -----------------------------------------------------------------------------------


def two_classes(seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.choice(2, 300, p=[0.8, 0.2])
    score = np.round(np.clip(rng.normal(0.3 + 0.1 * codes, 0.1), 0, 1), 2)
    return np.column_stack([1 - score, score]), codes


def test_with_two_classes_the_test_is_that_of_mann_and_whitney():
    probability, codes = two_classes()
    score = probability[:, 1]
    u = mannwhitneyu(score[codes == 1], score[codes == 0], use_continuity=False, alternative="greater")
    assert norm.sf(shuffle_test(probability, codes)) == pytest.approx(u.pvalue, rel=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_test_has_the_mean_and_spread_of_shuffled_labels(n_classes):
    rng = np.random.default_rng(n_classes)
    scores = rng.dirichlet(np.ones(n_classes), 60)
    codes = rng.permutation(np.arange(60) % n_classes)
    z = [shuffle_test(scores, rng.permutation(codes)) for _ in range(4000)]
    assert abs(np.mean(z)) < 0.05
    assert np.std(z) == pytest.approx(1.0, abs=0.04)


@pytest.mark.parametrize("share", [0.03, 0.1, 0.5])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_shuffled_labels_of_a_rare_class_are_not_taken_for_evidence(share, n_classes):
    rng = np.random.default_rng(n_classes)
    rest = np.full(n_classes - 1, (1 - share) / (n_classes - 1))
    codes = rng.permutation(np.repeat(np.arange(n_classes), np.round(400 * np.r_[rest, share]).astype(int)))
    # The rare class is hardly ever thought likely, but now and then very much so.
    scores = rng.dirichlet(np.r_[np.full(n_classes - 1, 3.0), 0.3], codes.size)
    z = np.array([hit_test(scores, rng.permutation(codes)) for _ in range(6000)])
    assert np.mean(z > 3) < 0.004
    assert np.mean(z > 1.64) == pytest.approx(0.05, abs=0.015)


def test_the_test_of_hits_has_a_plain_twin():
    rng = np.random.default_rng(0)
    probability, codes = rng.dirichlet(np.ones(3), 40), rng.integers(0, 3, 40)
    shares = [np.mean(codes == c) for c in range(3)]
    means = [np.mean([row[c] for row in probability]) for c in range(3)]
    total = variance = third = 0.0
    for row, given in zip(probability, codes, strict=True):
        above = [row[c] - means[c] for c in range(3)]
        usual = sum(shares[c] * above[c] for c in range(3))
        total += above[given] - usual
        variance += sum(shares[c] * (above[c] - usual) ** 2 for c in range(3)) * 40 / 39
        third += sum(shares[c] * (above[c] - usual) ** 3 for c in range(3))
    skewness = third / variance**1.5
    assert skewness > 1e-3
    z = total / variance**0.5
    expected = 6 / skewness * ((skewness * z / 2 + 1) ** (1 / 3) - 1) + skewness / 6
    assert hit_test(probability, codes) == pytest.approx(expected)


def test_a_few_rows_known_for_sure_are_evidence_though_ranks_do_not_see_it():
    """A class of 3 %, 10 % of all labels turned: most of its labels are wrong, but its rows are known."""
    rng = np.random.default_rng(0)
    is_rare = np.arange(800) < 24
    given = (is_rare ^ (rng.random(800) < 0.1)).astype(int)
    score = np.where(is_rare, 0.85, 0.1) + 0.02 * rng.normal(size=800)
    probability = np.column_stack([1 - score, score])
    assert shuffle_test(probability, given) < 3.5
    assert measure_evidence(probability, given, probability).z > 6


def test_reviewed_labels_are_no_evidence_since_everybody_has_seen_them():
    X, y = WITHOUT_SIGNAL["50 % positive"]
    trust = np.where(np.arange(y.size) < 300, np.inf, 1.0)
    assert not silent(X, y, sample_weight=trust).evidence_.is_there
    trust[:-20] = np.inf
    assert ConfidenceHNC().fit(X, y, sample_weight=trust).evidence_ is None, "20 labels are too few to tell"


def test_auc_and_balanced_accuracy_are_the_usual_ones():
    probability, codes = two_classes()
    found = measure_evidence(probability, codes)
    assert found.auc == pytest.approx(roc_auc_score(codes, probability[:, 1]))
    shares = np.bincount(codes) / codes.size
    chosen = (probability / shares).argmax(axis=1)
    assert found.balanced_accuracy == pytest.approx(balanced_accuracy_score(codes, chosen))
    rng = np.random.default_rng(0)
    again = []
    for _ in range(400):
        rows = rng.integers(0, codes.size, codes.size)
        hit = balanced_accuracy_score(codes[rows], chosen[rows])
        again.append((roc_auc_score(codes[rows], probability[rows, 1]), hit))
    errors = [found.auc_error, found.balanced_accuracy_error]
    assert errors == pytest.approx(np.std(again, axis=0).tolist(), rel=0.15)


def test_with_more_classes_the_auc_is_the_mean_over_each_against_the_rest():
    rng = np.random.default_rng(0)
    codes = rng.choice(3, 400, p=[0.2, 0.3, 0.5])
    probability = rng.dirichlet(np.ones(3), 400) + 0.2 * np.eye(3)[codes]
    probability /= probability.sum(axis=1, keepdims=True)
    expected = roc_auc_score(codes, probability, multi_class="ovr", average="macro")
    assert measure_evidence(probability, codes).auc == pytest.approx(expected)


def test_unlabeled_rows_do_not_count():
    probability, codes = two_classes()
    rest = np.full((50, 2), 0.5)
    longer = measure_evidence(np.vstack([probability, rest]), np.r_[codes, np.full(50, -1)])
    assert longer == measure_evidence(probability, codes)


def told(z, perfect_z=15.0):
    return Evidence(0.5, 0.1, 0.5, 0.1, z, perfect_z)


def test_the_chance_of_a_signal_is_bayes_rule():
    """Two tables with a signal for every one without, drawn: of those with a z near 2, how many have one?"""
    rng = np.random.default_rng(0)
    with_signal, by_chance = rng.uniform(0, 15, 2_000_000), rng.normal(0, np.sqrt(2), 1_000_000)
    n_with, n_without = (np.sum(np.abs(z - 2) < 0.05) for z in (with_signal, by_chance))
    assert told(2.0).signal == pytest.approx(n_with / (n_with + n_without), abs=0.01)


def test_the_chance_of_a_signal_grows_with_z_and_is_never_certain_by_luck():
    chances = [told(z).signal for z in np.linspace(0, 15, 40)]
    assert chances == sorted(chances)
    assert told(-4.0).signal == told(0.0).signal, "labels that run against the columns speak for none"
    assert told(0.0).signal < 1 / 3
    assert told(3.0, perfect_z=300.0).signal < told(3.0).signal, "much more could have come"
    assert told(6.0).signal > 0.999


def test_where_rows_judge_each_other_chance_spreads_by_the_root_of_two():
    """Labels by lot, each judged by its neighbours' labels: each pair of neighbours speaks twice."""
    rng = np.random.default_rng(0)
    near = rng.random((120, 120)) < 0.1
    near = np.triu(near, 1) | np.triu(near, 1).T
    z = []
    for _ in range(1500):
        codes = rng.permutation(np.arange(120) % 2)
        vote = 0.5 + 0.02 * near @ (2.0 * codes - 1.0)
        z.append(hit_test(np.column_stack([1 - vote, vote]), codes))
    assert np.std(z) == pytest.approx(NULL_ERROR, rel=0.07)


def test_a_class_with_a_single_label_has_a_wide_error_and_no_nan():
    probability, codes = two_classes()
    probability = np.column_stack([probability * 0.99, np.full(len(codes), 0.01)])
    codes[0] = 2
    found = measure_evidence(probability, codes)
    assert np.isfinite([found.auc, found.balanced_accuracy, found.balanced_accuracy_error, found.z]).all()
    assert found.auc_error > 0.15


# -- tables without signal -------------------------------------------------------------------------


@pytest.mark.parametrize("name", WITHOUT_SIGNAL)
def test_without_signal_nothing_is_flagged_and_it_is_said(name):
    X, y = WITHOUT_SIGNAL[name]
    told = ConfidenceHNC(TOLD).fit(X, y)
    clf = silent(X, y)
    assert not clf.evidence_.is_there
    assert str(clf.evidence_).startswith("No evidence: ")
    assert not clf.is_label_issue_.any()
    assert clf.p_wrong_.sum() <= 0.01 * y.size
    assert np.array_equal(clf.transduction_, y), "a label is all there is to go by"
    assert clf.label_distributions_.sum(axis=1) == pytest.approx(1.0)
    assert np.all(clf.noise_rates_ == UNPROVEN_P_WRONG)
    assert told.p_wrong_.sum() > 0.05 * y.size, "or this table shows nothing"
    assert not clf.is_worth_a_look_.any()


def test_without_signal_probabilities_stay_near_the_shares_of_the_classes():
    X, y = WITHOUT_SIGNAL["16 % positive"]
    y = np.where(np.arange(y.size) % 3 == 0, -1, y)
    clf = silent(X, y)
    shares = np.bincount(y[y >= 0]) / np.sum(y >= 0)
    for found in (clf.label_distributions_[y == -1], clf.predict_proba(X[:50] + 0.01)):
        assert np.abs(found - shares).max() < 0.15, "the pool believes nobody"
    new = X[:50] + 0.01
    assert np.array_equal(clf.predict(new), clf.classes_[clf.predict_proba(new).argmax(axis=1)])
    assert set(clf.status_[y == -1]) == {"unlabeled"}


def test_noise_is_undone_as_far_as_there_may_be_a_signal():
    """100 labels, 40 % of them wrong: too little to call a label wrong, not too little to guess."""
    X, y = flipped(*make_moons(160, noise=0.1, random_state=1), 0.4, seed=1)
    y[100:] = -1
    clf = silent(X, y)
    panel = clf._answer.verdict
    assert 0.2 < panel.signal < 0.9
    rows = np.flatnonzero(clf._answer.rows.codes == -1)
    scores = panel.pool.scores({name: opinion[rows] for name, opinion in panel.opinions.items()})
    undone = true_class_probability(scores, panel.belief, panel.n_labeled)
    assert np.abs(undone - np.exp(scores)).max() > 0.1
    found = clf.label_distributions_[clf.row_order_][rows]
    assert found == pytest.approx(panel.signal * undone + (1 - panel.signal) * np.exp(scores))


def test_without_signal_reviewed_labels_stay_certain():
    X, y = WITHOUT_SIGNAL["three classes"]
    trust = np.where(np.arange(y.size) < 40, np.inf, 1.0)
    trust[-40:] = 0
    clf = silent(X, y, sample_weight=trust)
    assert np.all(clf.p_wrong_[:40] == 0)
    assert np.all(clf.label_distributions_[np.arange(40), y[:40]] == 1)
    assert clf.p_wrong_[40:-40].mean() == pytest.approx(UNPROVEN_P_WRONG)
    assert np.isnan(clf.p_wrong_[-40:]).all()


@pytest.mark.parametrize("name", ["16 % positive", "three classes"])
def test_without_signal_neither_the_order_of_rows_nor_threads_matter(name):
    X, y = WITHOUT_SIGNAL[name]
    y = np.where(np.arange(y.size) % 4 == 0, -1, y)
    first = silent(X, y)
    order = np.random.default_rng(1).permutation(y.size)
    again = silent(X[order], y[order], ConfidenceHNC(n_jobs=2))
    assert again.evidence_ == first.evidence_
    assert again.label_distributions_.tobytes() == first.label_distributions_[order].tobytes()
    assert np.array_equal(again.p_wrong_, first.p_wrong_[order], equal_nan=True)
    assert np.array_equal(again.transduction_, first.transduction_[order])


@pytest.mark.parametrize("preset", [TOLD, replace(PAPER, forest_tuning="oob")])
def test_the_cut_alone_only_tells_it(preset):
    X, y = WITHOUT_SIGNAL["50 % positive"]
    clf = ConfidenceHNC(preset).fit(X, y)
    assert not clf.evidence_.is_there
    assert clf.p_wrong_.mean() > 2 * UNPROVEN_P_WRONG


def test_held_labels_are_not_judged_so_nothing_is_held_back():
    X, y = WITHOUT_SIGNAL["50 % positive"]
    y = np.where(np.arange(y.size) % 2 == 0, -1, y)
    held = HNC(DEFAULT).fit(X, y)
    assert not held.evidence_.is_there
    assert answers(held, X) == answers(HNC(TOLD).fit(X, y), X)
    by_weight = ConfidenceHNC().fit(X, y, sample_weight=np.full(y.size, np.inf))
    assert answers(held, X) == answers(by_weight, X)


# -- tables with signal, and with too few labels ---------------------------------------------------


@pytest.mark.parametrize("name", WITH_SIGNAL)
def test_with_signal_labels_are_called_wrong(name):
    clf = ConfidenceHNC().fit(*WITH_SIGNAL[name])
    assert clf.evidence_.is_there
    assert str(clf.evidence_).startswith("The columns tell the classes apart with an AUC of 0.")
    assert clf.is_label_issue_.any()


def test_too_few_labels_for_a_test_change_nothing():
    X, y = make_moons(46, noise=0.1, random_state=0)
    assert ConfidenceHNC().fit(X, y).evidence_ is None
    X, y = make_moons(50, noise=0.1, random_state=0)
    assert ConfidenceHNC().fit(X, y).evidence_.is_there


def test_without_a_forest_there_is_no_test():
    X, y = WITHOUT_SIGNAL["50 % positive"]
    clf = ConfidenceHNC(replace(TOLD, importances="equal", prior_strengths=())).fit(X, y)
    assert clf.evidence_ is None


def test_pure_noise_of_many_classes_with_a_few_labels_each_is_silent():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(160, 6)), rng.permutation(np.arange(160) % 20)
    y[:3] = 20  # and a class that is hardly there
    with pytest.warns(UserWarning, match="do not tell the classes apart"):
        model = ConfidenceHNC().fit(X, y)
    assert not model.evidence_.is_there
    assert not model.is_label_issue_.any()
