"""One opinion out of many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax

from labelcut.hnc.pool import PENALTY, fit_pool, label_log_loss


def experts(n=800, n_classes=3, skills=(2.0, 0.0), seed=0):
    """Return labels, and opinions that know so much about them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes, size=n)
    opinions = {}
    for i, skill in enumerate(skills):
        logits = rng.normal(size=(n, n_classes)) + skill * np.eye(n_classes)[codes]
        opinions[f"expert {i}"] = np.exp(log_softmax(logits, axis=1))
    return opinions, codes


def plain_loss(opinions, codes, weights, intercepts, channel):
    """Return what the pool minimises, row by row."""
    loss = PENALTY / 2 * (sum((w - 1 / len(weights)) ** 2 for w in weights) + sum(b * b for b in intercepts))
    for i, label in enumerate(codes):
        score = np.array(intercepts, dtype=float)
        for w, opinion in zip(weights, opinions.values(), strict=True):
            p = np.maximum(opinion[i], 0.02 / opinion.shape[1])
            score += w * np.log(p / p.sum())
        p = np.exp(score - score.max())
        loss -= np.log((p / p.sum()) @ channel[:, label])
    return loss


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from([0.0, 0.2]))
def test_no_weights_near_the_found_ones_are_better(seed, n_classes, noise):
    opinions, codes = experts(60, n_classes, (1.0, 0.5, 0.0), seed)
    channel = np.full((n_classes, n_classes), noise / (n_classes - 1))
    np.fill_diagonal(channel, 1 - noise)
    pool = fit_pool(opinions, codes, channel)
    weights = np.array(list(pool.weights.values()))
    best = plain_loss(opinions, codes, weights, pool.intercepts, channel)
    rng = np.random.default_rng(seed)
    for size in (0.001, 0.1, 1.0):
        for _ in range(5):
            other = np.maximum(weights + size * rng.normal(size=weights.size), 0.0)
            shifted = pool.intercepts + size * rng.normal(size=n_classes)
            assert plain_loss(opinions, codes, other, shifted, channel) > best - 1e-5


def test_who_knows_is_believed_and_who_guesses_is_not():
    opinions, codes = experts(3000)
    pool = fit_pool(opinions, codes)
    assert pool.weights["expert 0"] > 0.8
    assert pool.weights["expert 1"] < 0.1
    assert label_log_loss(opinions["expert 0"], codes) < label_log_loss(opinions["expert 1"], codes)


def test_weights_are_never_negative():
    opinions, codes = experts(2000)
    liar = 1.0 - opinions["expert 0"]
    pool = fit_pool(opinions | {"liar": liar / liar.sum(axis=1, keepdims=True)}, codes)
    assert pool.weights["liar"] == 0.0


def test_a_few_labels_leave_the_weights_nearly_equal():
    opinions, codes = experts(6)
    assert list(fit_pool(opinions, codes).weights.values()) == pytest.approx([0.5, 0.5], abs=0.4)


def test_equal_experts_are_believed_equally():
    opinions, codes = experts(500, skills=(1.0,))
    twins = {"a": opinions["expert 0"], "b": opinions["expert 0"]}
    weights = fit_pool(twins, codes).weights
    assert weights["a"] == pytest.approx(weights["b"], abs=1e-4)


def test_scores_are_those_of_the_given_label_seen_through_the_noise():
    opinions, codes = experts(2000, skills=(3.0,))
    rng = np.random.default_rng(1)
    noisy = np.where(rng.random(2000) < 0.3, rng.integers(3, size=2000), codes)
    channel = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    given = np.exp(fit_pool(opinions, noisy, channel).scores(opinions))
    assert given.sum(axis=1) == pytest.approx(1.0)
    assert given.max() < 0.8 + 1e-9
    assert given.min() > 0.1 - 1e-9
