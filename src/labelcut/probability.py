"""From scores to probabilities: how likely each class is, how noisy the labels are, which of them are wrong.

The cut gives sides, not probabilities. A logistic curve fitted to the *given* labels turns a score into the
probability of a given positive label; knowing how often labels are wrong, that becomes the probability of the
true class, and by Bayes' rule the probability that a given label is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

__all__ = [
    "Logistic",
    "NoiseRates",
    "asymmetric_rates",
    "fit_logistic",
    "flag_by_expected_f1",
    "noise_rates_by_side",
    "true_class_probability",
    "wrong_label_probability",
]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: The corrected probability is blended with this much of the uncorrected one, so that clipping keeps the
#: order.
BLEND = 0.02

#: The asymmetry test looks at this share of the labeled rows of each side, the surest ones, ...
SUREST_SHARE, SUREST_AT_LEAST = 0.2, 80

#: ... says nothing about fewer rows than this, ...
FEWEST_SUREST = 20

#: ... and believes in a difference above this size and above this many standard errors. The first number
#: keeps overlapping classes of unequal size (Adult) from being taken for one-sided noise.
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


def asymmetric_rates(score: Floats, is_positive_side: Mask, is_positive_label: Mask) -> NoiseRates | None:
    """Return the noise rate of each class if they clearly differ, else None.

    Among the surest rows of a side nearly all truly belong to it, so contrary labels there are noise.
    All arguments are for labeled rows only.
    """
    shares, errors = [], []
    for side, direction in ((True, -1.0), (False, 1.0)):
        rows = np.flatnonzero(is_positive_side == side)
        n_surest = int(min(max(SUREST_SHARE * rows.size, SUREST_AT_LEAST), rows.size / 2))
        if n_surest < FEWEST_SUREST:
            return None
        surest = rows[np.argsort(direction * score[rows], kind="stable")[:n_surest]]
        share = float(np.mean(is_positive_label[surest] != side))
        shares.append(share)
        # One label of each kind is added, or a share of 0 would seem to be known without error.
        smoothed = (share * n_surest + 1.0) / (n_surest + 2.0)
        errors.append(smoothed * (1.0 - smoothed) / n_surest)
    difference = abs(shares[0] - shares[1])
    if difference <= ASYMMETRY_SIZE or difference <= ASYMMETRY_ERRORS * np.sqrt(sum(errors)):
        return None
    return NoiseRates(*shares)


def noise_rates_by_side(is_positive_side: Mask, is_positive_label: Mask, *, common: bool) -> NoiseRates:
    """Return the share of labeled rows whose side contradicts their label, in common or for each side."""
    is_contrary = is_positive_side != is_positive_label
    if common:
        rate = float(is_contrary.mean())
        return NoiseRates(rate, rate)
    rates = [float(is_contrary[is_positive_side == side].mean()) if (is_positive_side == side).any() else 0.0
             for side in (True, False)]  # fmt: skip
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


def flag_by_expected_f1(p_wrong: Floats) -> Mask:
    """Return the mask of rows to flag: the set with the largest expected F1.

    With rows sorted by descending probability that is a prefix, and its expected F1 is close to ``2 * sum
    of p in the prefix / (its length + sum of all p)``. Flagging nothing is right when no label is wrong at
    all, so it is preferred when that is likelier than the best F1 is high.
    """
    if not p_wrong.size:
        return np.zeros(0, dtype=bool)
    p = np.sort(p_wrong)[::-1]
    total = p.sum()
    if total == 0.0:
        return np.zeros(p_wrong.size, dtype=bool)
    f1 = 2.0 * np.cumsum(p) / (np.arange(1, p.size + 1) + total)
    best = int(np.argmax(f1))
    with np.errstate(divide="ignore"):
        p_no_error = np.exp(np.log1p(-p).sum())
    if p_no_error >= f1[best]:
        return np.zeros(p_wrong.size, dtype=bool)
    return np.asarray(p_wrong >= p[best])
