import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from labelcut.hnc.calibration import (
    HIGHEST_RATE,
    NoiseRates,
    asymmetric_rates,
    estimate_noise,
    fit_logistic,
    true_class_probability,
    wrong_label_probability,
)
from labelcut.hnc.flags import flag_by_expected_f1


def noisy_labels(n, rates, seed=0):
    """Scores, their true sides and labels flipped at a rate per side."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=n)
    truth = score > 0
    flipped = rng.random(n) < np.where(truth, rates.positive, rates.negative)
    return score, truth, truth != flipped


def test_the_curve_is_scikit_learns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y = rng.random(200) < 1 / (1 + np.exp(-(0.5 + 2 * x)))
    curve = fit_logistic(x, y)
    theirs = LogisticRegression(C=1.0, tol=1e-10).fit(x[:, None], y)
    assert curve.intercept == pytest.approx(theirs.intercept_[0], abs=1e-4)
    assert curve.slope == pytest.approx(theirs.coef_[0, 0], abs=1e-4)


def test_the_curve_stays_finite_when_labels_are_separated_or_all_the_same():
    x = np.array([-2.0, -1.0, 1.0, 2.0])
    assert 0 < fit_logistic(x, x > 0).slope < 100
    assert np.isfinite(fit_logistic(x, np.ones(4, dtype=bool)).intercept)


def test_a_curve_through_half_has_no_intercept():
    rng = np.random.default_rng(1)
    x = rng.normal(size=100)
    curve = fit_logistic(x, x + 1.0 > rng.normal(size=100), through_half=True)
    assert curve(np.zeros(1)) == 0.5
    assert curve.slope > 0


def test_equal_noise_is_not_called_one_sided():
    # Three standard errors leave about one false alarm in 370.
    cases = [noisy_labels(1000, NoiseRates(0.3, 0.3), seed) for seed in range(40)]
    assert sum(asymmetric_rates(*case) is not None for case in cases) <= 1


def test_one_sided_noise_is_measured():
    score, truth, label = noisy_labels(2000, NoiseRates(positive=0.3, negative=0.0))
    rates = asymmetric_rates(score, truth, label)
    assert rates.positive == pytest.approx(0.3, abs=0.1)
    assert rates.negative == 0.0
    assert rates.border == pytest.approx(0.35, abs=0.05)


def test_a_side_without_labels_says_nothing_about_asymmetry():
    assert asymmetric_rates(np.ones(10), np.ones(10, dtype=bool), np.ones(10, dtype=bool)) is None


def test_rates_are_shares_of_contrary_labels():
    side = np.array([True, True, True, True, False, False])
    label = np.array([True, True, True, False, False, True])
    score = np.where(side, 1.0, -1.0)
    assert estimate_noise(score, side, label) == NoiseRates(2 / 6, 2 / 6)
    assert estimate_noise(score, side, label, kind="by_side") == NoiseRates(1 / 4, HIGHEST_RATE)


def test_misplaced_rows_at_a_blurred_border_are_not_taken_for_noise():
    # True classes overlap around 0, where sides are often wrong; labels themselves are wrong in 10 %.
    rng = np.random.default_rng(0)
    score = rng.normal(size=4000)
    truth = score + 0.7 * rng.normal(size=4000) > 0
    label = truth != (rng.random(4000) < 0.1)
    share = np.mean((score > 0) != label)
    rates = estimate_noise(score, score > 0, label)
    assert share > 0.2
    assert rates.positive == rates.negative == pytest.approx(0.1, abs=0.03)


def test_a_clean_table_keeps_half_a_wrong_label():
    score = np.linspace(-1, 1, 100)
    assert estimate_noise(score, score > 0, score > 0) == NoiseRates(0.005, 0.005)


def test_undoing_the_noise_inverts_it_up_to_the_blend():
    truth = np.array([0.1, 0.5, 0.9])
    rates = NoiseRates(positive=0.2, negative=0.1)
    given = truth * (1 - rates.positive) + (1 - truth) * rates.negative
    assert true_class_probability(given, rates) == pytest.approx(0.98 * truth + 0.02 * given)


def test_clipping_keeps_the_order():
    given = np.linspace(0, 1, 50)
    assert (np.diff(true_class_probability(given, NoiseRates(0.3, 0.3))) > 0).all()


def test_wrong_labels_follow_bayes_rule():
    rates = NoiseRates(positive=0.2, negative=0.1)
    p = np.array([0.7, 0.7])
    wrong = wrong_label_probability(p, np.array([True, False]), rates)
    assert wrong[0] == pytest.approx(0.3 * 0.1 / (0.3 * 0.1 + 0.7 * 0.8))
    assert wrong[1] == pytest.approx(0.7 * 0.2 / (0.7 * 0.2 + 0.3 * 0.9))


def test_without_noise_no_label_is_wrong():
    wrong = wrong_label_probability(np.array([0.0, 1.0]), np.array([True, True]), NoiseRates(0.0, 0.0))
    assert wrong.tolist() == [0.0, 0.0]


def test_flags_have_the_best_expected_f1_of_all_prefixes():
    p = np.array([0.9, 0.02, 0.8, 0.5, 0.1, 0.01, 0.6])
    flagged = flag_by_expected_f1(p)
    order = np.argsort(-p)
    scores = [2 * p[order[:k]].sum() / (k + p.sum()) for k in range(1, p.size + 1)]
    assert set(np.flatnonzero(flagged)) == set(order[: int(np.argmax(scores)) + 1])


def test_clean_labels_are_not_flagged():
    assert not flag_by_expected_f1(np.full(100, 1e-4)).any()
    assert not flag_by_expected_f1(np.zeros(5)).any()
    assert flag_by_expected_f1(np.zeros(0)).size == 0


def test_equal_probabilities_are_flagged_together():
    assert flag_by_expected_f1(np.array([0.9, 0.7, 0.7, 0.01])).tolist() == [True, True, True, False]
