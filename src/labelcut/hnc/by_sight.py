"""Labels of rows that models and people have seen and we have not: pictures and texts with opinions on them.

In a table rows alike in every column may be of different classes, so a contrary label may be overlap. A
picture has one class, which who sees it can tell. There a contrary label is the label's error or the model's
ignorance, and both are likeliest where the model is least sure: people err on hard pictures, too. So the rate
of wrong labels is no constant. It is a curve over sureness, and three statements fix it.

1. The border between two classes lies midway between what is said of the rows of the one and of the other. A
   class whose rows are often called something else is said less of, even of its surest rows.
2. Across a border the label turns as fast as it is seen to turn, the truth faster. The gap is label error.
3. How much faster: at the border the log-odds of a wrong label are half as far from those of a coin as they
   are on average. A rate of 9 % on average is one of 24 % there; without wrong labels there is no gap.

The constant rate that the surest rows show is a floor under the curve (:mod:`labelcut.hnc.noise_floor`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logsumexp, softmax

from labelcut.arrays import Floats, Ints
from labelcut.hnc.noise_floor import NoiseBelief

__all__ = ["Sight", "border_shift", "border_slope", "look_at_labels", "pair_error", "slope_of_truth"]

#: The border is where the first two classes are less than this apart in log-odds.
NEAR = 1.0

#: With few rows at a border labels are believed to turn as fast there as everywhere, a slope of 1.
PENALTY = 1.0

#: The truth turns at most this fast, five labels' worth: where labels are wrong as often as right they would
#: ask for a jump, and no model is right as soon as it leans.
STEEPEST = 5.0

#: A class has a centre from so many rows on, and from this share of the usual number: where a rare class ends
#: depends on its share, too.
FEWEST, FEWEST_SHARE = 20, 0.5

#: The rate and the slope that it asks for are found in turn, in at most so many rounds.
N_ROUNDS, CLOSE = 200, 1e-7


@dataclass(frozen=True, eq=False)
class Sight:
    """How labels and truth change with what the experts say.

    Attributes
    ----------
    shift : ndarray of shape (n_classes,)
        Added to the scores, it puts every border at equal scores.
    label_slope, truth_slope : float
        How fast the log-odds of the label and of the true class change there, in units of the scores.
    floor : ndarray of shape (n_classes, n_classes)
        P(label j | true class k) at row k, column j, as if all rows were as sure as the surest.
    rates : ndarray of shape (n_classes,)
        The expected share of rows of each class that carry another label.
    """

    shift: Floats
    label_slope: float
    truth_slope: float
    floor: Floats
    rates: Floats

    def distribution(self, scores: Floats) -> Floats:
        """Return P(true class) of rows from the log-probabilities of their label."""
        return np.asarray(softmax(self.truth_slope * (scores + self.shift), axis=1))

    def judge(self, scores: Floats, codes: Ints, trust: Floats) -> Floats:
        """Return the probability that each label is wrong; a label of trust inf is right."""
        p_wrong = expit(logsumexp(self.log_odds(scores, codes), axis=1))
        return np.asarray(np.where(np.isinf(trust), 0.0, p_wrong))

    def log_odds(self, scores: Floats, codes: Ints) -> Floats:
        """Return the log-odds that a row is of each class rather than of that of its label; -inf for its own.

        Those of the opinion alone, and those of getting this label when the truth is the other class rather
        than this one.
        """
        rows = np.arange(codes.size)
        said = scores + self.shift
        apart = said - said[rows, codes][:, None]
        error = pair_error(apart, self.label_slope, self.truth_slope)
        floor = (self.floor / np.diag(self.floor))[:, codes].T
        odds = self.truth_slope * apart + np.log(np.maximum(error / (1.0 - error), floor))
        odds[rows, codes] = -np.inf
        return np.asarray(odds)


def look_at_labels(scores: Floats, codes: Ints, belief: NoiseBelief) -> Sight:
    """Return how labels and truth change with what is said of rows.

    Parameters
    ----------
    scores : ndarray of shape (n_judged, n_classes)
        Log-probabilities of the given label by experts who did not see it.
    codes : ndarray of int of shape (n_judged,)
        The given labels.
    belief : NoiseBelief
        What the surest rows leave possible about how often labels are wrong.
    """
    shift = border_shift(scores)
    said = scores + shift
    slope = border_slope(said, codes)
    rates = belief.mean
    steepest = max(STEEPEST, slope)
    # A constant rate flattens the labels at the border as everywhere.
    other = float(rates.mean()) / (rates.size - 1)
    kept = (1.0 - rates.mean() - other) / (1.0 - rates.mean() + other)
    least = min(slope / max(kept, slope / steepest), steepest)
    sight = Sight(shift, slope, least, belief.channel(rates), rates)
    rate = float(np.mean(said.argmax(axis=1) != codes))
    for _ in range(N_ROUNDS):
        sight = replace(sight, truth_slope=min(max(slope_of_truth(rate), least), steepest))
        before, rate = rate, float(expit(logsumexp(sight.log_odds(scores, codes), axis=1)).mean())
        if abs(rate - before) < CLOSE:
            break
    return replace(sight, rates=_rates(sight.log_odds(scores, codes), codes))


def border_shift(scores: Floats) -> Floats:
    """Return what to add to the scores so that borders lie midway between the classes.

    The centre of a class is the mean of the scores of the rows that are likeliest of it. The border between
    classes k and j then lies where their scores differ by the mean of what they differ by at both centres;
    one number per class fits all these borders best. Classes that are too small stay as they are.
    """
    n_rows, n_classes = scores.shape
    likeliest = scores.argmax(axis=1)
    counts = np.bincount(likeliest, minlength=n_classes)
    has_centre = counts >= max(FEWEST, FEWEST_SHARE * n_rows / n_classes)
    shift = np.zeros(n_classes)
    kept = np.flatnonzero(has_centre)
    if kept.size > 1:
        centres = np.array([scores[likeliest == c][:, kept].mean(axis=0) for c in kept])
        lead = np.diag(centres)[:, None] - centres
        shift[kept] = -((lead - lead.T) / 2.0).mean(axis=1)
    return shift


def border_slope(scores: Floats, codes: Ints) -> float:
    """Return how fast labels turn from one class to the other where these two are nearly equally likely."""
    first_two = np.argsort(-scores, axis=1, kind="stable")[:, :2]
    said = np.take_along_axis(scores, first_two, axis=1)
    lead = said[:, 0] - said[:, 1]
    is_asked = (lead < NEAR) & (codes[:, None] == first_two).any(axis=1)
    toward = np.where(codes == first_two[:, 0], lead, -lead)[is_asked]

    def loss(slope: float) -> float:
        return float(np.logaddexp(0.0, -slope * toward).sum() + PENALTY * (slope - 1.0) ** 2 / 2.0)

    return float(minimize_scalar(loss, bounds=(0.0, STEEPEST), method="bounded").x)


def slope_of_truth(rate: float) -> float:
    """Return how fast the truth turns at a border where labels are wrong at a rate on average.

    At the border the log-odds of a wrong label are half of the average's, and a label that is wrong with
    probability e turns ``1 - 2 e`` times as fast as the truth.
    """
    if rate >= 0.5:
        return np.inf
    root = np.sqrt(max(rate, 0.0) / (1.0 - rate))
    return float((1.0 + root) / (1.0 - root))


def pair_error(apart: Floats, label_slope: float, truth_slope: float) -> Floats:
    """Return how often labels of two classes are exchanged where their scores are so far apart.

    With f the share of labels of the first class and p the probability that it is the true one, an error in
    both directions at rate e gives ``f = p (1 - e) + (1 - p) e``, which is solved for e. At 1/2 labels say
    nothing.
    """
    p, f = expit(truth_slope * apart), expit(label_slope * apart)
    at_border = (1.0 - label_slope / truth_slope) / 2.0
    gap = 2.0 * p - 1.0
    error = np.where(np.abs(gap) < 1e-9, at_border, (p - f) / np.where(np.abs(gap) < 1e-9, 1.0, gap))
    return np.clip(error, 1e-12, 0.5)


def _rates(log_odds: Floats, codes: Ints) -> Floats:
    """Return the share of rows of each class that carry another label."""
    rows = np.arange(codes.size)
    log_odds[rows, codes] = 0.0
    true = softmax(log_odds, axis=1)
    total = true.sum(axis=0)
    right = np.bincount(codes, true[rows, codes], minlength=total.size)
    return np.asarray(1.0 - right / np.maximum(total, 1e-300))
