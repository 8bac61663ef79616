"""P(wrong), and which labels are called wrong."""

from dataclasses import replace

import numpy as np
import pytest
from scored import apart, overlap

from labelcut.hnc.judgement import guard_classes, judge_labels, match_total, true_class_probability
from labelcut.hnc.noise_floor import believe_rates


def judge(scores, codes, trust=None):
    trust = np.ones(codes.size) if trust is None else trust
    belief = believe_rates(scores, codes, trust)
    return judge_labels(scores, codes, trust, belief), belief


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.2, 0.3])
def test_p_wrong_adds_up_to_the_number_of_wrong_labels(n_classes, noise):
    scores, codes, is_wrong = apart(n_classes=n_classes, noise=noise)
    judged, _ = judge(scores, codes)
    assert judged.mean() == pytest.approx(is_wrong.mean(), abs=0.01)


def test_with_one_rate_suspects_are_ranked_by_plain_contradiction():
    scores, codes, _ = overlap(3000, share=0.1, noise=(0.05, 0.05))
    judged, belief = judge(scores, codes)
    assert not belief.is_own.any()
    given = scores[np.arange(codes.size), codes]
    np.testing.assert_array_equal(np.argsort(judged), np.argsort(-given))


def test_reviewed_labels_are_never_wrong():
    scores, codes, is_wrong = apart(noise=0.2)
    judged, _ = judge(scores, codes, np.where(is_wrong, np.inf, 1.0))
    assert not judged[is_wrong].any()
    assert judged[~is_wrong].mean() < 0.02


def test_a_shift_keeps_the_order_and_adds_up():
    matched = match_total(np.array([0.9, 0.2, 0.01, 1e-15]), 2.0)
    assert matched.sum() == pytest.approx(2.0)
    assert (np.diff(matched) < 0).all()
    assert match_total(np.zeros(0), 1.0).size == 0


def test_the_noise_is_undone():
    scores, codes, is_wrong = apart(n_classes=3, noise=0.2)
    _, belief = judge(scores, codes)
    truth = true_class_probability(scores, belief, codes.size)
    assert truth.sum(axis=1) == pytest.approx(1.0)
    assert np.mean(truth.max(axis=1)) > 0.95 > np.mean(np.exp(scores).max(axis=1))
    assert np.mean(truth[np.arange(codes.size), codes][is_wrong]) < 0.05


def test_a_large_share_of_a_class_is_flagged_only_on_evidence():
    codes = np.repeat([0, 1], [90, 30])
    is_flagged = np.arange(120) >= 114
    p_wrong = np.where(is_flagged, 0.9, 0.0)
    sure = believe_rates(*apart(6000, noise=0.2)[:2], np.ones(6000))
    grid, everything = sure.grid, np.full((2, sure.grid.size), 1 / sure.grid.size)
    kept, silenced = guard_classes(is_flagged, codes, p_wrong, sure)
    assert kept.tolist() == is_flagged.tolist()
    assert silenced == []
    doubtful = replace(sure, posterior=np.where(grid == 0, 0.4, 0.6 / (grid.size - 1)) * (everything > 0))
    kept, silenced = guard_classes(is_flagged, codes, p_wrong, doubtful)
    assert not kept.any()
    assert silenced == [(1, 6)]
    few = np.arange(120) >= 116
    assert guard_classes(few, codes, p_wrong, doubtful)[0].tolist() == few.tolist()


@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_a_review_finds_what_was_promised(noise):
    scores, codes, is_wrong = overlap(6000, slope=5, noise=(noise, noise))
    p_wrong = judge(scores, codes)[0]
    found = np.cumsum(is_wrong[np.argsort(-p_wrong, kind="stable")])
    n_expected = int(p_wrong.sum())
    promised = np.cumsum(np.sort(p_wrong)[::-1])
    assert promised[n_expected] == pytest.approx(found[n_expected], rel=0.2)
