"""From the scores of all experts to what is said about each label: P(wrong), flags, and when to be silent."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from labelcut.arrays import Floats, Ints, Mask
from labelcut.hnc.channel import seen_through
from labelcut.hnc.noise_floor import NoiseBelief

__all__ = ["expect_wrong", "guard_classes", "judge_labels", "match_total", "true_class_probability"]

#: The corrected probability is blended with this much of the uncorrected one: clipping keeps the order.
BLEND = 0.02

#: Flagging more than this share of a class needs evidence that at least half as many of its labels are wrong:
#: this sure. A few flags are not a share.
LARGE_SHARE, LARGE_SHARE_CERTAINTY, FEWEST_FLAGS = 0.1, 0.75, 5


def judge_labels(scores: Floats, codes: Ints, trust: Floats, belief: NoiseBelief) -> Floats:
    """Return the probability that each label is wrong; it adds up to the number that is expected.

    A rate is never taken as known: P(wrong) is the mean over the rates that the labels leave possible. One
    shift of all log-odds then makes it add up to the number of wrong labels that these rates let expect.

    Parameters
    ----------
    scores : ndarray of shape (n_labeled, n_classes)
        Log-probabilities of the given label.
    codes : ndarray of int of shape (n_labeled,)
        The given labels.
    trust : ndarray of shape (n_labeled,)
        A label of trust inf is right.
    belief : NoiseBelief
        How often labels are wrong.
    """
    is_open = np.isfinite(trust)
    p_wrong, total = expect_wrong(scores, codes, is_open, belief, codes.size)
    p_wrong[~is_open] = 0.0
    p_wrong[is_open] = match_total(p_wrong[is_open], total)
    return p_wrong


def expect_wrong(
    scores: Floats, codes: Ints, is_open: Mask, belief: NoiseBelief, n_labeled: int
) -> tuple[Floats, float]:
    """Return P(wrong) of some labels before it is matched, and how many of the open ones should be wrong.

    Parameters
    ----------
    scores, codes, belief
        As in `judge_labels`, of all labels or of some of them.
    is_open : ndarray of bool
        The labels that may be wrong.
    n_labeled : int
        The number of all labels.
    """
    given = np.exp(scores)
    levels = _levels(belief, n_labeled)
    p_wrong, total = np.zeros(codes.size), 0.0
    for rates in levels:
        channel = belief.channel(rates)
        true = _undo(given, channel)
        p_wrong += _wrong_label_probability(true, codes, channel) / len(levels)
        total += float((true[is_open] @ rates).sum()) / len(levels)
    return p_wrong, total


def true_class_probability(scores: Floats, belief: NoiseBelief, n_labeled: int) -> Floats:
    """Return P(true class) of rows from the log-probabilities of their label: the mixing by noise undone."""
    given = np.exp(scores)
    levels = _levels(belief, n_labeled)
    total = np.zeros_like(given)
    for rates in levels:
        total += _undo(given, belief.channel(rates))
    return total / len(levels)


def match_total(p_wrong: Floats, total: float) -> Floats:
    """Return P(wrong), all log-odds shifted by one constant so that they add up to a total."""
    if not p_wrong.size:
        return p_wrong
    odds = logit(np.clip(p_wrong, 1e-12, 1.0 - 1e-12))
    low, high = -30.0 - odds.max(), 30.0 - odds.min()
    total = float(np.clip(total, 1e-9 * odds.size, (1.0 - 1e-9) * odds.size))
    return np.asarray(expit(odds + brentq(lambda shift: expit(odds + shift).sum() - total, low, high)))


def guard_classes(
    is_flagged: Mask, codes: Ints, p_wrong: Floats, belief: NoiseBelief
) -> tuple[Mask, list[tuple[int, int]]]:
    """Return the flags that may stand, and the classes that lost theirs, with how many these were.

    A large share of a class is flagged only if at least half as many are wrong at odds of three to one: as
    far as the rate may be lower than is expected, so may their number.
    """
    is_flagged = is_flagged.copy()
    silenced = []
    levels = belief.levels.mean(axis=1)
    relative = levels / max(float(levels.mean()), 1e-300)
    for c in np.unique(codes):
        of_class = codes == c
        n_flagged = int((is_flagged & of_class).sum())
        if n_flagged < max(FEWEST_FLAGS, LARGE_SHARE * of_class.sum()):
            continue
        n_wrong = p_wrong[of_class].sum() * relative
        if np.mean(n_wrong >= n_flagged / 2) < LARGE_SHARE_CERTAINTY:
            is_flagged &= ~of_class
            silenced.append((int(c), n_flagged))
    return is_flagged, silenced


def _levels(belief: NoiseBelief, n_labeled: int) -> Floats:
    """Return the equally likely rates; half a wrong label at least keeps the order of suspects."""
    return np.maximum(belief.levels, 0.5 / n_labeled)


def _undo(given: Floats, channel: Floats) -> Floats:
    """Return P(true class) from P(given label)."""
    undo = np.asarray(np.linalg.inv(channel), dtype=np.float64)
    corrected = np.maximum(seen_through(given, undo), 0.0)
    corrected /= corrected.sum(axis=1, keepdims=True)
    return np.asarray((1.0 - BLEND) * corrected + BLEND * given)


def _wrong_label_probability(true: Floats, codes: Ints, channel: Floats) -> Floats:
    """Return the probability that each given label is wrong (Bayes' rule)."""
    joint = true * channel[:, codes].T
    total = joint.sum(axis=1)
    joint[np.arange(codes.size), codes] = 0.0
    # Summed without the right class: a difference from 1 would lose the order of small probabilities.
    return np.asarray(joint.sum(axis=1) / np.maximum(total, 1e-300))
