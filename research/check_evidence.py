"""Evidence, rates, P(wrong) and flags on tables small enough to know the answer."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import mannwhitneyu, norm

from evidence import (
    area_under_curve,
    class_scores,
    estimate_rates,
    expected_finds,
    guard_classes,
    judge_labels,
    match_total,
    measure_evidence,
    shuffle_test,
    true_class_probability,
    wrong_label_probability,
)


def overlap(n=4000, *, share=0.5, slope=1.5, noise=(0.0, 0.0), seed=0):
    """Return the perfect honest log-odds of the given label, the labels, and which are wrong."""
    rng = np.random.default_rng(seed)
    score = slope * rng.normal(size=n)
    at = np.linspace(-12, 12, 4001)
    intercept = at[np.argmin([abs(expit(score + a).mean() - share) for a in at])]
    p = expit(score + intercept)
    truth = (rng.random(n) < p).astype(int)
    is_wrong = rng.random(n) < np.where(truth == 1, noise[1], noise[0])
    q = noise[0] + (1 - noise[0] - noise[1]) * p
    return logit(q), np.where(is_wrong, 1 - truth, truth), is_wrong


def apart(n=6000, *, n_classes=2, noise=0.0, seed=0):
    """Return perfect scores of classes that are apart, the labels, and which are wrong."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    certainty = expit(rng.normal(5, 1.5, size=(n, 1)))
    p = np.where(np.arange(n_classes) == truth[:, None], certainty, (1 - certainty) / (n_classes - 1))
    is_wrong = rng.permutation(n) < noise * n
    codes = np.where(is_wrong, (truth + rng.integers(1, n_classes, n)) % n_classes, truth)
    off = noise / (n_classes - 1)
    return np.log(off + (1 - noise - off) * p), codes, is_wrong


def flagged_share(judgement, codes):
    return max(judgement.is_flagged[codes == c].mean() for c in np.unique(codes))


# evidence


def test_with_two_classes_the_shuffle_test_is_that_of_mann_and_whitney():
    rng = np.random.default_rng(1)
    codes = rng.integers(2, size=60)
    log_odds = np.round(rng.normal(size=60) + codes, 1)
    wanted = mannwhitneyu(
        log_odds[codes == 1],
        log_odds[codes == 0],
        use_continuity=False,
        method="asymptotic",
        alternative="greater",
    )
    assert shuffle_test(class_scores(log_odds), codes) == pytest.approx(norm.isf(wanted.pvalue), abs=1e-6)


def test_the_shuffle_test_agrees_with_shuffling():
    rng = np.random.default_rng(2)
    codes = rng.integers(3, size=50)
    scores = rng.normal(size=(50, 3))
    z = [shuffle_test(scores, rng.permutation(codes)) for _ in range(4000)]
    assert np.mean(z) == pytest.approx(0, abs=0.06)
    assert np.std(z) == pytest.approx(1, abs=0.04)


def test_the_error_of_the_area_is_that_of_repeated_draws():
    rng = np.random.default_rng(3)
    y = np.arange(200) < 60
    draws = [area_under_curve(rng.normal(size=200) + y, y) for _ in range(500)]
    area, error = np.transpose(draws)
    assert error.mean() == pytest.approx(area.std(), rel=0.1)


@pytest.mark.parametrize("share", [0.05, 0.16, 0.5])
@pytest.mark.parametrize("n", [300, 2000])
def test_scores_that_know_nothing_give_no_evidence_no_flags_and_a_warning(n, share):
    rng = np.random.default_rng(4)
    codes = (rng.random(n) < share).astype(int)
    judgement = judge_labels(class_scores(logit(share) + 0.3 * rng.normal(size=n)), codes)
    assert not judgement.evidence.is_enough
    assert judgement.p_wrong.sum() <= 0.01 * n
    assert not judgement.is_flagged.any()
    assert not judgement.is_worth_a_look.any()
    assert "do not predict the label" in judgement.warnings[0]
    assert judgement.rates.mean.tolist() == [0.0, 0.0]


def test_three_classes_without_signal_give_no_evidence():
    rng = np.random.default_rng(5)
    scores = np.log(rng.dirichlet([20, 20, 20], size=900))
    judgement = judge_labels(scores, rng.integers(3, size=900))
    assert not judgement.evidence.is_enough
    assert judgement.p_wrong.sum() <= 9


def test_a_rare_class_that_is_never_the_likelier_one_still_has_a_balanced_accuracy_above_chance():
    log_odds, codes, _ = overlap(6000, share=0.05)
    evidence = measure_evidence(class_scores(log_odds), codes)
    assert evidence.balanced_accuracy > 0.5 + 5 * evidence.balanced_accuracy_error
    assert evidence.auc > 0.75


def test_rows_without_trust_are_no_evidence():
    log_odds, codes, _ = overlap(800)
    trust = np.where(np.arange(800) < 400, 0.0, 1.0)
    half = measure_evidence(class_scores(log_odds[400:]), codes[400:])
    assert measure_evidence(class_scores(log_odds), codes, trust) == half


def test_plain_scores_decide_whether_there_is_evidence():
    log_odds, codes, _ = overlap(800)
    plain = class_scores(np.random.default_rng(9).normal(size=800))
    assert not judge_labels(class_scores(log_odds), codes, plain_scores=plain).evidence.is_enough


# rates


@pytest.mark.parametrize("share", [0.05, 0.16, 0.5])
def test_overlap_with_right_labels_is_not_taken_for_noise(share):
    log_odds, codes, _ = overlap(6000, share=share)
    judgement = judge_labels(class_scores(log_odds), codes)
    assert judgement.evidence.is_enough
    assert judgement.p_wrong.mean() <= 0.03
    assert flagged_share(judgement, codes) <= 0.05


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.2, 0.3])
def test_classes_that_are_apart_show_their_rate(n_classes, noise):
    scores, codes, is_wrong = apart(n_classes=n_classes, noise=noise)
    judgement = judge_labels(scores, codes)
    assert judgement.p_wrong.mean() == pytest.approx(is_wrong.mean(), abs=0.01)
    assert judgement.rates.mean == pytest.approx(noise, abs=0.015)


def test_one_sided_noise_is_told_from_symmetric_noise():
    log_odds, codes, _ = overlap(3000, slope=8, noise=(0.0, 0.3))
    rates = estimate_rates(class_scores(log_odds), codes, np.ones(3000))
    assert rates.is_own.all()
    assert rates.mean == pytest.approx([0.0, 0.3], abs=0.03)


@pytest.mark.parametrize("seed", range(20))
def test_symmetric_noise_is_never_called_one_sided(seed):
    log_odds, codes, _ = overlap(500, slope=4, noise=(0.2, 0.2), seed=seed)
    assert not estimate_rates(class_scores(log_odds), codes, np.ones(500)).is_own.any()


def test_a_side_without_rows_has_the_rate_of_the_other():
    log_odds, codes, _ = overlap(4000, share=0.05, slope=0.8)
    assert (log_odds <= 0).all()
    rates = estimate_rates(class_scores(log_odds), codes, np.ones(4000)).mean
    assert rates[0] == rates[1] < 0.02


def test_wrong_labels_that_all_fall_on_one_class_are_seen_to_do_so():
    scores, codes, _ = apart(n_classes=4)
    rng = np.random.default_rng(0)
    codes = np.where((codes == 0) & (rng.random(codes.size) < 0.3), 2, codes)
    scores = np.log(np.exp(scores) @ np.array([[0.7, 0, 0.3, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]))
    rates = estimate_rates(scores, codes, np.ones(codes.size))
    assert rates.is_own.tolist() == [True, False, False, False]
    assert rates.direction[0].argmax() == 2
    assert rates.direction.sum(axis=1) == pytest.approx(1)


def test_reviewed_contrary_labels_speak_for_overlap():
    log_odds, codes, _ = overlap(600, slope=1.2, noise=(0.0, 0.0), seed=3)
    scores, trust = class_scores(log_odds), np.ones(600)
    before = estimate_rates(scores, codes, trust).mean[0]
    trust[(log_odds > 0) != (codes == 1)] = np.inf
    assert estimate_rates(scores, codes, trust).mean[0] < before


def test_rows_without_trust_do_not_move_the_rates():
    scores, codes, _ = apart(noise=0.1)
    trust = np.ones(codes.size)
    trust[::2] = 0
    upside_down = np.where(trust == 0, 1 - codes, codes)
    same = estimate_rates(scores, upside_down, trust).posterior
    np.testing.assert_array_equal(estimate_rates(scores, codes, trust).posterior, same)


def test_the_order_of_rows_does_not_matter():
    log_odds, codes, _ = overlap(700, noise=(0.1, 0.1))
    order = np.random.default_rng(0).permutation(700)
    once = judge_labels(class_scores(log_odds), codes).p_wrong
    again = judge_labels(class_scores(log_odds[order]), codes[order]).p_wrong
    np.testing.assert_allclose(again, once[order], rtol=1e-9)


def test_the_order_of_equally_sure_rows_does_not_matter():
    log_odds, codes, _ = overlap(700, noise=(0.1, 0.1))
    scores = class_scores(np.round(log_odds))
    by_label = np.argsort(codes, kind="stable")
    once = judge_labels(scores, codes).p_wrong
    again = judge_labels(scores[by_label], codes[by_label]).p_wrong
    np.testing.assert_allclose(again, once[by_label], rtol=1e-9)


# judgement


def test_the_channel_is_undone():
    channel = np.array([[0.8, 0.2, 0.0], [0.1, 0.9, 0.0], [0.0, 0.3, 0.7]])
    true = np.array([[0.7, 0.2, 0.1]])
    given = true @ channel
    assert true_class_probability(given, channel) == pytest.approx(0.98 * true + 0.02 * given)


def test_p_wrong_is_bayes_rule():
    channel = np.array([[0.9, 0.1], [0.3, 0.7]])
    wrong = wrong_label_probability(np.array([[0.8, 0.2]]), np.array([1]), channel)
    assert wrong == pytest.approx(0.8 * 0.1 / (0.8 * 0.1 + 0.2 * 0.7))


def test_p_wrong_adds_up_and_keeps_its_order():
    p = np.array([0.9, 0.2, 0.01, 1e-15])
    matched = match_total(p, 2.0)
    assert matched.sum() == pytest.approx(2.0)
    assert (np.diff(matched) < 0).all()


def test_with_one_rate_suspects_are_ranked_by_plain_contradiction():
    log_odds, codes, _ = overlap(3000, share=0.1, noise=(0.05, 0.05))
    judgement = judge_labels(class_scores(log_odds), codes)
    assert not judgement.rates.is_own.any()
    contradiction = np.where(codes == 1, -log_odds, log_odds)
    np.testing.assert_array_equal(np.argsort(judgement.p_wrong), np.argsort(contradiction))


def test_reviewed_labels_are_never_wrong():
    scores, codes, is_wrong = apart(noise=0.2)
    trust = np.where(is_wrong, np.inf, 1.0)
    judgement = judge_labels(scores, codes, trust)
    assert not judgement.p_wrong[is_wrong].any()
    assert not (judgement.is_flagged | judgement.is_worth_a_look)[is_wrong].any()


def test_flags_are_more_likely_wrong_than_right_and_never_in_the_other_list():
    log_odds, codes, _ = overlap(3000, slope=3, noise=(0.1, 0.1))
    judgement = judge_labels(class_scores(log_odds), codes)
    assert judgement.is_flagged.any()
    assert (judgement.p_wrong[judgement.is_flagged] > 0.5).all()
    assert judgement.is_worth_a_look.any()
    assert not (judgement.is_flagged & judgement.is_worth_a_look).any()


def test_a_large_share_of_a_class_is_flagged_only_on_evidence():
    codes = np.repeat([0, 1], [90, 10])
    is_flagged = np.arange(100) >= 98
    surely = np.tile(np.where(is_flagged, 0.9, 0.0), (15, 1))
    doubtful = surely * (np.arange(15) >= 5)[:, None]
    assert guard_classes(is_flagged, codes, surely) == (pytest.approx(is_flagged), ())
    kept, warnings = guard_classes(is_flagged, codes, doubtful)
    assert not kept.any()
    assert "2 of 10 labels of class 1" in warnings[0]


@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_a_review_finds_what_was_promised(noise):
    log_odds, codes, is_wrong = overlap(6000, slope=5, noise=(noise, noise))
    p_wrong = judge_labels(class_scores(log_odds), codes).p_wrong
    found = np.cumsum(is_wrong[np.argsort(-p_wrong, kind="stable")])
    k = int(p_wrong.sum())
    assert expected_finds(p_wrong)[k] == pytest.approx(found[k], rel=0.2)
