"""From scores to probabilities: how likely each class is, how noisy the labels are, which of them are wrong.

The cut gives sides, not probabilities. A logistic curve fitted to the *given* labels turns a score into the
probability of a given positive label; knowing how often labels are wrong, that becomes the probability of the
true class, and by Bayes' rule the probability that a given label is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from labelcut.arrays import Floats, Mask

__all__ = [
    "Logistic",
    "NoiseRates",
    "asymmetric_rates",
    "estimate_noise",
    "fit_logistic",
    "true_class_probability",
    "wrong_label_probability",
]


#: The corrected probability is blended with this much of the uncorrected one, so that clipping keeps the
#: order.
BLEND = 0.02

#: Noise is looked for in this share of the labeled rows of each side, the surest ones, ...
SUREST_SHARE, SUREST_AT_LEAST = 0.2, 80

#: ... says nothing about fewer rows than this, ...
FEWEST_SUREST = 20

#: ... and a difference between the sides is believed in above this size and this many standard errors. The
#: first number keeps overlapping classes of unequal size (Adult) from being taken for one-sided noise.
ASYMMETRY_SIZE, ASYMMETRY_ERRORS = 0.1, 3.0

#: Rates are kept below this, since labels that are wrong half of the time say nothing.
HIGHEST_RATE = 0.45


@dataclass(frozen=True)
class Logistic:
    """The curve ``1 / (1 + exp(-(intercept + slope * x)))``."""

    intercept: float
    slope: float

    def __call__(self, x: Floats) -> Floats:
        """Return the height of the curve at x."""
        return np.asarray(expit(self.intercept + self.slope * x))


def fit_logistic(x: Floats, is_positive: Mask, *, through_half: bool = False) -> Logistic:
    """Return the logistic curve of a label on one variable.

    A penalty of half the squared slope, negligible for more than a few rows, keeps the curve finite when x
    separates the labels without error.

    Parameters
    ----------
    x : ndarray of shape (n_rows,)
        The variable.
    is_positive : ndarray of bool of shape (n_rows,)
        The label.
    through_half : bool, default=False
        Fix the height at x = 0 to 1/2 and fit the slope alone.
    """
    design = np.column_stack([np.ones_like(x), x])
    penalty = np.array([1e-6, 1.0])
    is_free = np.array([not through_half, True])
    beta = np.zeros(2)
    target = is_positive.astype(float)

    def loss(beta: Floats) -> float:
        eta = design @ beta
        return float(np.logaddexp(0.0, eta).sum() - target @ eta + 0.5 * penalty @ beta**2)

    current = loss(beta)
    for _ in range(100):
        height = expit(design @ beta)
        gradient = design.T @ (height - target) + penalty * beta
        hessian = (design.T * (height * (1 - height))) @ design + np.diag(penalty)
        step = np.zeros(2)
        step[is_free] = np.linalg.solve(hessian[np.ix_(is_free, is_free)], gradient[is_free])
        while loss(beta - step) > current and np.abs(step).max() > 1e-12:
            step /= 2
        beta = beta - step
        current = loss(beta)
        if np.abs(step).max() <= 1e-10 * (1.0 + np.abs(beta).max()):
            break
    return Logistic(float(beta[0]), float(beta[1]))


@dataclass(frozen=True)
class NoiseRates:
    """How often labels are wrong.

    Attributes
    ----------
    positive : float
        Share of truly positive rows that are labeled negative.
    negative : float
        Share of truly negative rows that are labeled positive.
    """

    positive: float
    negative: float

    @property
    def border(self) -> float:
        """Probability of a given positive label at which both true classes are equally likely."""
        return (1.0 + self.negative - self.positive) / 2.0

    def bounded(self, lowest: float) -> NoiseRates:
        """Return the rates, none below ``lowest`` or above what labels can bear."""
        low, high = min(lowest, HIGHEST_RATE), HIGHEST_RATE
        return NoiseRates(float(np.clip(self.positive, low, high)), float(np.clip(self.negative, low, high)))


def estimate_noise(
    score: Floats, is_positive_side: Mask, is_positive_label: Mask, *, kind: str = "auto"
) -> NoiseRates:
    """Return how often labels are wrong, from labeled rows and the sides they are on.

    Parameters
    ----------
    score : ndarray of shape (n_labeled,)
        How strongly each row speaks for the positive side.
    is_positive_side, is_positive_label : ndarray of bool of shape (n_labeled,)
        The side of each row, and its given label.
    kind : {"auto", "symmetric", "by_side"}, default="auto"
        "symmetric": one rate, the share of contrary labels; but at most their share among the surest rows of
        both sides, because near a blurred border rows are on the wrong side with a right label. "auto": the
        same, unless :func:`asymmetric_rates` finds two. "by_side": the share of contrary labels on each side.
    """
    rates = asymmetric_rates(score, is_positive_side, is_positive_label) if kind == "auto" else None
    if rates is None and kind == "by_side":
        rates = _rates_by_side(is_positive_side, is_positive_label)
    if rates is None:
        rate = float(np.mean(is_positive_side != is_positive_label))
        surest = _surest_contrary(score, is_positive_side, is_positive_label)
        if surest is not None:
            rate = min(rate, sum(n_contrary for n_contrary, _ in surest) / sum(n for _, n in surest))
        rates = NoiseRates(rate, rate)
    # Half a wrong label keeps the order of suspects on a table that seems clean.
    return rates.bounded(lowest=0.5 / score.size)


def asymmetric_rates(score: Floats, is_positive_side: Mask, is_positive_label: Mask) -> NoiseRates | None:
    """Return the noise rate of each class if they clearly differ, else None.

    Among the surest rows of a side nearly all truly belong to it, so contrary labels there are noise.
    """
    surest = _surest_contrary(score, is_positive_side, is_positive_label)
    if surest is None:
        return None
    # One label of each kind is added, or a share of 0 would seem to be known without error.
    smoothed = [((n_contrary + 1.0) / (n + 2.0), n) for n_contrary, n in surest]
    error = np.sqrt(sum(share * (1.0 - share) / n for share, n in smoothed))
    shares = [n_contrary / n for n_contrary, n in surest]
    difference = abs(shares[0] - shares[1])
    if difference <= ASYMMETRY_SIZE or difference <= ASYMMETRY_ERRORS * error:
        return None
    return NoiseRates(*shares)


def _surest_contrary(
    score: Floats, is_positive_side: Mask, is_positive_label: Mask
) -> list[tuple[int, int]] | None:
    """Return how many of the surest rows of each side have a contrary label, and how many rows these are.

    The positive side comes first. None if a side has too few rows.
    """
    counts = []
    for side, direction in ((True, -1.0), (False, 1.0)):
        rows = np.flatnonzero(is_positive_side == side)
        n_surest = int(min(max(SUREST_SHARE * rows.size, SUREST_AT_LEAST), rows.size / 2))
        if n_surest < FEWEST_SUREST:
            return None
        surest = rows[np.argsort(direction * score[rows], kind="stable")[:n_surest]]
        counts.append((int(np.sum(is_positive_label[surest] != side)), n_surest))
    return counts


def _rates_by_side(is_positive_side: Mask, is_positive_label: Mask) -> NoiseRates:
    """Return the share of contrary labels on each side, 0 on a side without rows."""
    rates = []
    for side in (True, False):
        on_side = is_positive_side == side
        rates.append(float(np.mean(is_positive_label[on_side] != side)) if on_side.any() else 0.0)
    return NoiseRates(*rates)


def true_class_probability(given: Floats, rates: NoiseRates) -> Floats:
    """Return P(truly positive) from P(given label is positive): the mixing by noise undone."""
    corrected = np.clip((given - rates.negative) / (1.0 - rates.positive - rates.negative), 0.0, 1.0)
    return np.asarray((1.0 - BLEND) * corrected + BLEND * given)


def wrong_label_probability(probability: Floats, is_positive_label: Mask, rates: NoiseRates) -> Floats:
    """Return, for labeled rows, the probability that the given label is wrong (Bayes' rule).

    Parameters
    ----------
    probability : ndarray
        P(truly positive) of each row.
    is_positive_label : ndarray of bool
        The given labels.
    rates : NoiseRates
        How often labels of each class are wrong.
    """
    of_label = np.where(is_positive_label, probability, 1.0 - probability)
    into_label = np.where(is_positive_label, rates.negative, rates.positive)
    out_of_label = np.where(is_positive_label, rates.positive, rates.negative)
    wrong = (1.0 - of_label) * into_label
    total = wrong + of_label * (1.0 - out_of_label)
    return np.divide(wrong, total, out=np.zeros_like(wrong), where=total > 0)
