"""How often labels are wrong, on scores whose noise is known."""

import numpy as np
import pytest
from scipy.special import expit, logit, logsumexp
from scipy.stats import norm, rankdata
from scored import apart, class_scores, overlap

from labelcut.hnc import noise_floor
from labelcut.hnc.noise_floor import POWERS, SLOPES, believe_rates


def rates_of(scores, codes, trust=None, **choices):
    return believe_rates(scores, codes, np.ones(codes.size) if trust is None else trust, **choices)


@pytest.mark.parametrize("share", [0.05, 0.16, 0.5])
def test_overlap_with_right_labels_is_not_taken_for_noise(share):
    scores, codes, _ = overlap(6000, share=share)
    assert rates_of(scores, codes).mean.max() < 0.01


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.2, 0.3])
def test_classes_that_are_apart_show_their_rate(n_classes, noise):
    scores, codes, _ = apart(n_classes=n_classes, noise=noise)
    assert rates_of(scores, codes).mean == pytest.approx(noise, abs=0.015)


def test_the_belief_is_wider_with_fewer_labels():
    wide, narrow = (rates_of(*apart(n, noise=0.2)[:2]) for n in (200, 6000))
    assert wide.error[0] > 3 * narrow.error[0]
    assert np.all(np.diff(wide.levels, axis=0) > 0)
    assert wide.levels.mean(axis=0) == pytest.approx(wide.mean, abs=0.02)


def test_one_sided_noise_is_told_from_symmetric_noise():
    scores, codes, _ = overlap(3000, slope=8, noise=(0.0, 0.3))
    found = rates_of(scores, codes)
    assert found.is_own.all()
    assert found.mean == pytest.approx([0.0, 0.3], abs=0.03)
    together = rates_of(scores, codes, noise="symmetric")
    assert together.mean[0] == together.mean[1]


def test_one_sided_noise_of_a_small_side_is_found_too():
    scores, codes, _ = overlap(400, slope=6, share=0.35, noise=(0.0, 0.3), seed=2)
    found = rates_of(scores, codes)
    assert found.is_own.all()
    assert found.mean == pytest.approx([0.0, 0.3], abs=0.08)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_who_knows_that_one_class_was_overlooked_may_say_so(seed):
    """Few labels cannot tell 40 % overlooked positives from a class that no column is ever sure of."""
    scores, codes, _ = overlap(300, slope=6, noise=(0.0, 0.4), seed=seed)
    assert rates_of(scores, codes).mean.max() < 0.02
    found = rates_of(scores, codes, noise="by_side")
    assert found.mean == pytest.approx([0.0, 0.4], abs=0.08)
    assert found.is_own.all()
    of_three = rates_of(*apart(n_classes=3, noise=0.2)[:2], noise="by_side")
    assert of_three.mean == pytest.approx([0.2] * 3, abs=0.03)


@pytest.mark.parametrize("share", [0.02, 0.05, 0.16, 0.3])
@pytest.mark.parametrize("slope", [1.0, 1.5, 2.5])
def test_classes_of_unequal_size_are_not_taken_for_one_sided_noise(share, slope):
    for seed in range(3):
        scores, codes, _ = overlap(3000, share=share, slope=slope, seed=seed)
        assert not rates_of(scores, codes).is_own.any()


@pytest.mark.parametrize("seed", range(20))
def test_symmetric_noise_is_never_called_one_sided(seed):
    scores, codes, _ = overlap(500, slope=4, noise=(0.2, 0.2), seed=seed)
    assert not rates_of(scores, codes).is_own.any()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n_rows", [1000, 3000])
def test_a_group_labeled_by_lot_is_not_taken_for_noise_of_a_rare_class(n_rows, seed):
    """Half of the labels of 40 % of the rows are turned: the rare class only seems to have a side there."""
    rng = np.random.default_rng(seed)
    is_rare, in_group = rng.random(n_rows) < 0.05, rng.random(n_rows) < 0.4
    given = np.where(in_group & (rng.random(n_rows) < 0.5), ~is_rare, is_rare)
    sure = np.where(is_rare, 0.98, 0.02)
    believed = expit(logit(np.where(in_group, 0.5, sure)) + 0.2 * rng.normal(size=n_rows))
    scores = np.log(np.column_stack([1 - believed, believed]))
    assert not rates_of(scores, given.astype(int)).is_own.any()


def test_sides_that_fall_at_different_speeds_are_seldom_taken_for_one_sided_noise():
    """Every label is right; the one class ends sharply, the other fades away."""
    n_alarms = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        lead = rng.normal(size=700)
        lead *= np.where(lead < 0, 0.9, 3.0)
        codes = (rng.random(700) < expit(lead)).astype(int)
        n_alarms += int(rates_of(class_scores(lead), codes).is_own.any())
    assert n_alarms <= 2


@pytest.mark.parametrize("n_classes", [4, 7, 10])
def test_of_many_classes_several_may_have_rates_of_their_own(n_classes):
    """Labels of every second class are wrong at 20 %, and then carry the class before it."""
    scores, truth, _ = apart(200 * n_classes, n_classes=n_classes)
    rates = np.where(np.arange(n_classes) % 2 == 1, 0.2, 0.0)
    channel = np.diag(1 - rates) + np.diag(rates[1:], -1)
    is_wrong = np.random.default_rng(1).random(truth.size) < rates[truth]
    found = rates_of(np.log(np.exp(scores) @ channel), np.where(is_wrong, truth - 1, truth))
    assert found.mean == pytest.approx(rates, abs=0.08)


def test_a_side_without_rows_has_the_rate_of_the_other():
    scores, codes, _ = overlap(4000, share=0.05, slope=0.8)
    assert (scores[:, 1] <= scores[:, 0]).all()
    rates = rates_of(scores, codes).mean
    assert rates[0] == rates[1]


def test_wrong_labels_that_all_fall_on_one_class_are_seen_to_do_so():
    scores, codes, _ = apart(n_classes=4)
    rng = np.random.default_rng(0)
    codes = np.where((codes == 0) & (rng.random(codes.size) < 0.3), 2, codes)
    channel = np.array([[0.7, 0, 0.3, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    found = rates_of(np.log(np.exp(scores) @ channel), codes)
    assert found.is_own[0]
    assert found.mean == pytest.approx([0.3, 0, 0, 0], abs=0.02)
    assert found.direction[0].argmax() == 2
    assert found.direction.sum(axis=1) == pytest.approx(1)
    assert found.channel(found.mean).sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("n_classes", [3, 10, 26])
def test_uniform_noise_has_no_direction(n_classes):
    scores, codes, _ = apart(n_classes=n_classes, noise=0.2)
    others = ~np.eye(n_classes, dtype=bool)
    assert rates_of(scores, codes).direction[others] == pytest.approx(1 / (n_classes - 1))


def test_reviewed_contrary_labels_speak_for_overlap():
    scores, codes, _ = overlap(600, slope=1.2, seed=3)
    trust = np.ones(600)
    before = rates_of(scores, codes, trust).mean[0]
    trust[scores.argmax(axis=1) != codes] = np.inf
    assert rates_of(scores, codes, trust).mean[0] < before


def test_neither_the_order_of_rows_nor_that_of_ties_matters():
    scores, codes, _ = overlap(700, noise=(0.1, 0.1))
    scores = class_scores(np.round(scores[:, 1] - scores[:, 0]))
    by_label = np.argsort(codes, kind="stable")
    once, again = rates_of(scores, codes), rates_of(scores[by_label], codes[by_label])
    np.testing.assert_allclose(again.posterior, once.posterior, rtol=1e-9)


def test_the_likelihood_is_that_of_a_plain_loop():
    scores, codes, _ = overlap(40, slope=3, noise=(0.1, 0.1))
    side = noise_floor._side(scores, codes, 1)
    grid = np.array([0.0, 0.1, 0.3])
    by_shape = noise_floor._likelihood_by_shape(side, np.ones(40), grid, 2)
    found = logsumexp(by_shape + noise_floor._LOG_SHAPES, axis=1)
    assert found == pytest.approx([plain_likelihood(scores, codes, e) for e in grid], rel=1e-9)


def plain_likelihood(scores, codes, e):
    """Return the log-likelihood of a rate for the side of class 1, row by row (each row its own bin)."""
    margin = scores[:, 1] - scores[:, 0]
    normal = norm.ppf((rankdata(margin) - 0.5) / margin.size)
    rows = sorted(np.flatnonzero(margin > 0), key=lambda i: margin[i])
    border = 1 - np.exp(scores[rows[0], 1])
    start = np.clip((border - e) / (1 - 2 * e), 1e-6, 0.5)
    slopes = SLOPES[1:]  # A slope of 0 has no place where sides are usual.
    weights = norm.pdf(np.log(slopes / noise_floor.USUAL_SLOPE) / noise_floor.SLOPE_SPREAD)
    total = 0.0
    shapes = [("slope", s, 0.7 * w) for s, w in zip(slopes, weights / weights.sum(), strict=True)]
    shapes += [("power", g, 0.3 / POWERS.size) for g in POWERS]
    for kind, value, prior in shapes:
        likelihood = prior
        for place, i in enumerate(rows):
            if kind == "slope":
                p = expit(logit(start) - value * (normal[i] - normal[rows[0]]))
            else:
                p = start * (1 - (place + 0.5) / len(rows)) ** value
            contrary = np.clip(e + (1 - 2 * e) * p, 1e-9, 1 - 1e-9)
            likelihood *= contrary if codes[i] != 1 else 1 - contrary
        total += likelihood
    return np.log(total)
