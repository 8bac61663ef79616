"""How often labels of each class are wrong, read off the contrary labels of the surest rows.

The rows surest to be of a class carry contrary labels at the rate at which labels of that class are wrong. As
long as their share is still falling with sureness, it may as well be overlap, and gets the benefit of the
doubt. The answer is no number but a belief: the probability of every rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit, logsumexp, ndtri, softmax
from scipy.stats import power_divergence, rankdata

from labelcut.arrays import Floats, Ints, Mask

__all__ = ["NoiseBelief", "believe_rates"]

#: Rates are looked for at this many values, from 0 to nearly the rate at which labels say nothing; the steps
#: grow with the rate, as its standard error does.
N_RATES, HIGHEST_SHARE = 65, 0.96

#: Prior probability that no label is wrong; the rest is spread evenly over all rates.
CLEAN_SHARE = 0.2

#: Overlap has one of two shapes. Its log-odds fall linearly in the normal score of the rank (a logistic
#: truth), or its share falls as a power of the rank and ends at 0 (classes that are apart). The slope of 0 is
#: a side that is none: its labels are drawn by lot everywhere, as in a group of rows labeled carelessly.
POWER_SHARE = 0.3
SLOPES: Floats = np.concatenate([[0.0], np.geomspace(0.05, 30.0, 24)])
POWERS: Floats = np.geomspace(0.25, 60.0, 24)

#: The slope is the strength of the columns: 1.4 is an AUC of 0.8, 2.5 one of 0.9. Columns by which people
#: audit labels are expected to be about as good; much weaker ones are as likely good ones under noise.
USUAL_SLOPE, SLOPE_SPREAD = 2.5, 0.5

#: Rows of a side are counted in at most this many bins of equal size.
N_BINS = 50

#: A side's border is read off this share of its rows, the least sure ones.
BORDER_SHARE = 0.02

#: Rates of classes differ if the floors say so at these odds and the surest rows by so many standard errors.
DIFFERENCE_ODDS, DIFFERENCE_ERRORS = 5.0, 3.0

#: Wrong labels of a class are believed to prefer some classes if chance would hardly ever look like that.
CHANCE_OF_DIRECTION = 1e-4

#: The surest rows of a side: this share of it, at least so many, at most half.
SUREST_SHARE, SUREST_AT_LEAST = 0.2, 80

#: A belief is looked at in so many equally likely steps.
N_LEVELS = 15


@dataclass(frozen=True, eq=False)
class NoiseBelief:
    """What the labels leave possible about the rates at which they are wrong.

    Attributes
    ----------
    grid : ndarray of shape (n_rates,)
        The rates.
    posterior : ndarray of shape (n_classes, n_rates)
        The probability of each, for every class.
    is_own : ndarray of bool of shape (n_classes,)
        Classes whose rate clearly differs from that of the others.
    direction : ndarray of shape (n_classes, n_classes)
        The labels that wrong labels of a class carry; rows add up to 1.
    """

    grid: Floats
    posterior: Floats
    is_own: Mask
    direction: Floats

    @property
    def mean(self) -> Floats:
        """Expected rate of each class."""
        return np.asarray(self.posterior @ self.grid)

    @property
    def error(self) -> Floats:
        """Standard deviation of each class's rate."""
        return np.sqrt(np.maximum(self.posterior @ self.grid**2 - self.mean**2, 0.0))

    @property
    def levels(self) -> Floats:
        """Equally likely rates of all classes, shape (n_levels, n_classes), from low to high."""
        steps = (np.arange(N_LEVELS) + 0.5) / N_LEVELS
        # A value of the grid stands for the middle of its own probability.
        reached = np.cumsum(self.posterior, axis=1) - self.posterior / 2
        return np.column_stack([np.interp(steps, values, self.grid) for values in reached])

    def without_errors(self) -> NoiseBelief:
        """Return the belief that no label is wrong."""
        return replace(self, posterior=np.where(np.arange(self.grid.size) == 0, 1.0, 0.0 * self.posterior))

    def channel(self, rates: Floats) -> Floats:
        """Return P(label j | true class k) at row k, column j, for given rates of the classes."""
        return np.asarray(np.diag(1.0 - rates) + rates[:, None] * self.direction)


def believe_rates(scores: Floats, codes: Ints, trust: Floats, noise: str = "auto") -> NoiseBelief:
    """Return what may be believed about how often labels of each class are wrong.

    Every class has the same rate, unless it clearly differs: a rate of its own that is not called for would
    put the labels of one class before those of the other in the ranking. Labels alone often cannot tell a
    class that is mislabeled from one that no column is ever sure of; who knows better may say so.

    Parameters
    ----------
    scores : ndarray of shape (n_labeled, n_classes)
        Log-probabilities of the given label by experts who did not see it.
    codes : ndarray of int of shape (n_labeled,)
        The given labels.
    trust : ndarray of shape (n_labeled,)
        Reviewed labels (inf) are right: they tell overlap alone. Others count as much as they are trusted.
    noise : {"auto", "symmetric", "by_side"}
        Whether a class that clearly differs has a rate of its own, none has, or each has.
    """
    n_classes = scores.shape[1]
    grid = HIGHEST_SHARE * (1.0 - 1.0 / n_classes) * np.linspace(0.0, 1.0, N_RATES) ** 2
    prior = (1.0 - CLEAN_SHARE) * np.gradient(grid) / np.gradient(grid).sum()
    prior[0] += CLEAN_SHARE
    log_prior = np.log(prior)
    sides = [_side(scores, codes, c) for c in range(n_classes)]
    by_shape = np.array([_likelihood_by_shape(side, trust, grid, n_classes) for side in sides])
    is_open = np.isfinite(trust)
    is_own = np.full(n_classes, noise == "by_side")
    if noise == "auto":
        is_own = _differing_classes(sides, by_shape, log_prior, is_open)
    posterior = _posterior(by_shape, is_own, log_prior)
    return NoiseBelief(grid, posterior, is_own, _wrong_directions(sides, codes, is_open))


@dataclass(frozen=True, eq=False)
class _Side:
    """Rows that are likelier of one class than of any other, from the least to the surest."""

    rows: Ints
    depth: Floats
    """Distance from the border in normal scores of the rank among all rows."""
    tie: Ints
    """Rows with the same number are equally sure."""
    is_contrary: Mask
    border: float
    """Share of contrary labels at the border, as the scores have it."""

    @property
    def surest(self) -> slice:
        """The rows far from the border."""
        n = self.rows.size
        return slice(n - int(min(max(SUREST_SHARE * n, SUREST_AT_LEAST), n / 2)), n)

    def spread(self, values: Floats) -> Floats:
        """Return the mean of each row's tie: which of equally sure rows comes first must not matter."""
        if not self.tie.size:
            return values
        return np.asarray((np.bincount(self.tie, values) / np.bincount(self.tie))[self.tie])


def _side(scores: Floats, codes: Ints, c: int) -> _Side:
    """Return the side of one class."""
    n_rows, n_classes = scores.shape
    others = np.where(np.arange(n_classes) == c, -np.inf, scores).max(axis=1)
    margin = scores[:, c] - others
    rows = np.flatnonzero(np.argmax(scores, axis=1) == c)
    if not rows.size:
        none = np.zeros(0)
        return _Side(rows, none, rows, none > 0, 1.0 - 1.0 / n_classes)
    normal = ndtri((rankdata(margin) - 0.5) / n_rows)
    rows = rows[np.argsort(margin[rows], kind="stable")]
    least = rows[: max(1, int(BORDER_SHARE * rows.size))]
    border = float(np.mean(1.0 - np.exp(scores[least, c])))
    tie = np.unique(margin[rows], return_inverse=True)[1]
    return _Side(rows, normal[rows] - normal[least].mean(), tie, codes[rows] != c, border)


def _likelihood_by_shape(side: _Side, trust: Floats, grid: Floats, n_classes: int) -> Floats:
    """Return the log-likelihood of each rate and each shape of overlap, given one side's contrary labels.

    At sureness u a label is contrary with probability ``e + (1 - e - e') p(u)``: e is the rate, e' = e /
    (n_classes - 1) the chance that a wrong label falls on this class, p the overlap, which starts at the
    border and dies away. A reviewed label is contrary with probability p.
    """
    n = side.rows.size
    if n == 0:
        return np.zeros((grid.size, _LOG_SHAPES.size))
    bins = np.arange(n) * min(N_BINS, n) // n
    size = np.bincount(bins)
    depth = np.bincount(bins, side.depth) / size
    rank = np.bincount(bins, (np.arange(n) + 0.5) / n) / size
    keep = (1.0 - grid - grid / (n_classes - 1))[:, None, None]
    start = np.clip((side.border - grid[:, None, None]) / keep, 1e-6, 1.0 - 1.0 / n_classes)
    falling = expit(logit(start) - SLOPES[:, None] * depth)
    overlap = np.concatenate([falling, start * (1.0 - rank) ** POWERS[:, None]], axis=1)
    is_reviewed = np.isinf(trust[side.rows])
    weight = np.where(is_reviewed, 1.0, trust[side.rows])
    total = np.zeros(overlap.shape[:2])
    for is_counted, contrary in (
        (~is_reviewed, grid[:, None, None] + keep * overlap),
        (is_reviewed, overlap),
    ):
        if is_counted.any():
            counted = np.where(is_counted, weight, 0.0)
            hits = np.bincount(bins, side.spread(counted * side.is_contrary))
            misses = np.bincount(bins, side.spread(counted)) - hits
            contrary = np.clip(contrary, 1e-9, 1.0 - 1e-9)
            total += np.log(contrary) @ hits + np.log1p(-contrary) @ misses
    return total


def _log_shapes() -> Floats:
    """Return the prior of every slope and every power."""
    with np.errstate(divide="ignore"):
        slopes = -0.5 * (np.log(SLOPES / USUAL_SLOPE) / SLOPE_SPREAD) ** 2
    slopes += np.log(1.0 - POWER_SHARE) - logsumexp(slopes)
    return np.concatenate([slopes, np.full(POWERS.size, np.log(POWER_SHARE / POWERS.size))])


def _log_any_shape() -> Floats:
    """Return the prior of a side of which nothing is expected: as likely none at all as any other shape."""
    n_others = SLOPES.size - 1 + POWERS.size
    return np.log(np.where(np.arange(n_others + 1) == 0, 0.5, 0.5 / n_others))


_LOG_SHAPES, _LOG_ANY_SHAPE = _log_shapes(), _log_any_shape()


def _differing_classes(sides: list[_Side], by_shape: Floats, log_prior: Floats, is_open: Mask) -> Mask:
    """Return the classes whose rate clearly differs from that of all others.

    Two things have to say so: the plain share of contrary labels among the surest rows, by three standard
    errors; and the floors, at odds of five to one both against a common rate and against a common rate with
    one side that falls in a way of its own, or not at all. They are asked under one shape of overlap for all
    sides, since a logistic truth has one slope: a side cannot explain by slow overlap what the others deny.
    """
    n_classes = len(sides)
    together = logsumexp(_over_rates(by_shape.sum(axis=0), log_prior) + _LOG_SHAPES)
    counts = np.array([_surest_counts(side, is_open) for side in sides])
    least_odds = np.log(DIFFERENCE_ODDS * n_classes / 2)
    differs = np.zeros(n_classes, dtype=bool)
    for c in range(n_classes):
        is_c = np.arange(n_classes) == c
        apart = _over_rates(by_shape[c], log_prior) + _over_rates(by_shape[~is_c].sum(axis=0), log_prior)
        evidence = logsumexp(apart + _LOG_SHAPES)
        # One label of each kind is added, or a share of 0 would seem to be known without error.
        hits, size = np.array([counts[c], counts[~is_c].sum(axis=0)]).T
        share = (hits + 1.0) / (size + 2.0)
        error = np.sqrt((share * (1.0 - share) / np.maximum(size, 1.0)).sum())
        differs[c] = (
            abs(share[0] - share[1]) > DIFFERENCE_ERRORS * error
            and evidence - max(together, _odd_side(by_shape, log_prior, is_c)) > least_odds
        )
    # Of two classes each is all that the other differs from.
    return differs if n_classes > 2 else np.full(2, differs.all())


def _surest_counts(side: _Side, is_open: Mask) -> tuple[float, float]:
    """Return how many of the surest labels of a side are contrary, and how many these labels are."""
    counted = is_open[side.rows].astype(float)
    contrary, every = (
        side.spread(values)[side.surest].sum() for values in (counted * side.is_contrary, counted)
    )
    return float(contrary), float(every)


def _odd_side(by_shape: Floats, log_prior: Floats, is_odd: Mask) -> float:
    """Return the log-probability of the labels if all share one rate, and one side may fall in any way.

    In a group of rows labeled by lot the side of a rare class is none: half of its labels are contrary, from
    the border to the surest row. Read as a rate of that class it would turn the ranking upside down.
    """
    odd = logsumexp(by_shape[is_odd][0] + _LOG_ANY_SHAPE, axis=1)
    return float(
        logsumexp(_over_rates(by_shape[~is_odd].sum(axis=0) + odd[:, None], log_prior) + _LOG_SHAPES)
    )


def _over_rates(by_shape: Floats, log_prior: Floats) -> Floats:
    """Return the log-probability of the labels for every shape, averaged over the rates."""
    return np.asarray(logsumexp(by_shape + log_prior[:, None], axis=0))


def _posterior(by_shape: Floats, is_own: Mask, log_prior: Floats) -> Floats:
    """Return the probability of each rate, for every class.

    A common rate is read off all sides, each of which may fall in its own way. Where classes have rates of
    their own, one shape of overlap holds for all sides.
    """
    if not is_own.any():
        each = logsumexp(by_shape + _LOG_SHAPES, axis=2)
        return np.tile(softmax(log_prior + each.sum(axis=0)), (is_own.size, 1))
    groups = [np.flatnonzero(is_own)[[i]] for i in range(int(is_own.sum()))]
    if not is_own.all():
        groups.append(np.flatnonzero(~is_own))
    joint = [by_shape[group].sum(axis=0) for group in groups]
    evidence = np.array([_over_rates(likelihood, log_prior) for likelihood in joint])
    posterior = np.empty((is_own.size, log_prior.size))
    for i, group in enumerate(groups):
        others = evidence.sum(axis=0) - evidence[i] + _LOG_SHAPES
        posterior[group] = softmax(log_prior + logsumexp(joint[i] + others, axis=1))
    return posterior


def _wrong_directions(sides: list[_Side], codes: Ints, is_open: Mask) -> Floats:
    """Return which labels wrong labels of each class carry, from the contrary labels of its surest rows.

    All others alike, unless these labels clearly prefer some: with many classes a few labels would draw
    directions by chance, and undoing noise that is not there costs the ranking.
    """
    n_classes = len(sides)
    directions = np.full((n_classes, n_classes), 1.0 / (n_classes - 1))
    for c, side in enumerate(sides):
        others = np.arange(n_classes) != c
        counted = is_open[side.rows].astype(float)
        contrary = (
            side.spread(counted * (codes[side.rows] == k))[side.surest].sum() for k in range(n_classes)
        )
        counts = np.fromiter(contrary, dtype=np.float64)[others]
        if counts.sum() > 0 and power_divergence(counts, lambda_=0).pvalue < CHANCE_OF_DIRECTION:
            directions[c, others] = (counts + 1.0) / (counts + 1.0).sum()
    np.fill_diagonal(directions, 0.0)
    return directions
