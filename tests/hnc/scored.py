"""Tables of scores whose noise is known: what perfect experts would say about them."""

import numpy as np
from scipy.special import expit, log_expit, logit


def class_scores(log_odds):
    """Return the log-probabilities of both classes from the log-odds of the second."""
    return np.column_stack([log_expit(-log_odds), log_expit(log_odds)])


def overlap(n=4000, *, share=0.5, slope=1.5, noise=(0.0, 0.0), seed=0):
    """Return the scores of a logistic truth, the given labels, and which of them are wrong."""
    rng = np.random.default_rng(seed)
    score = slope * rng.normal(size=n)
    at = np.linspace(-12, 12, 4001)
    intercept = at[np.argmin([abs(expit(score + a).mean() - share) for a in at])]
    p = expit(score + intercept)
    truth = (rng.random(n) < p).astype(int)
    is_wrong = rng.random(n) < np.where(truth == 1, noise[1], noise[0])
    given = noise[0] + (1 - noise[0] - noise[1]) * p
    return class_scores(logit(given)), np.where(is_wrong, 1 - truth, truth), is_wrong


def apart(n=6000, *, n_classes=2, noise=0.0, seed=0):
    """Return the scores of classes that are apart, the given labels, and which of them are wrong."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    certainty = expit(rng.normal(5, 1.5, size=(n, 1)))
    p = np.where(np.arange(n_classes) == truth[:, None], certainty, (1 - certainty) / (n_classes - 1))
    is_wrong = rng.permutation(n) < noise * n
    codes = np.where(is_wrong, (truth + rng.integers(1, n_classes, n)) % n_classes, truth)
    off = noise / (n_classes - 1)
    return np.log(off + (1 - noise - off) * p), codes, is_wrong
