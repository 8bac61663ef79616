"""From honest scores to evidence, noise rates, P(wrong), flags and warnings.

Honest scores are log-probabilities of the *given* label, by experts that never saw the row's own label.
All that is known about wrong labels is in them. Three sentences are the whole method:

- If the scores do not rank the given labels better than shuffled ones, nothing is said about any label.
- The rows surest to be of a class carry contrary labels at the rate at which labels of that class are wrong;
  as long as their share is still falling with sureness, it may as well be overlap.
- A rate is never taken as known: P(wrong) is averaged over the rates that the labels leave possible.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, log_expit, logit, logsumexp, ndtri, softmax
from scipy.stats import rankdata

__all__ = [
    "Evidence",
    "Judgement",
    "NoiseRates",
    "class_scores",
    "estimate_rates",
    "expected_finds",
    "judge_labels",
    "measure_evidence",
    "shuffle_test",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int_]
Mask = NDArray[np.bool_]

#: Scores that beat shuffled labels by fewer standard errors than this are no evidence.
EVIDENCE_ERRORS = 3.0

#: Rates are looked for at this many values, from 0 to nearly the rate at which labels say nothing; the steps
#: grow with the rate, as its standard error does.
N_RATES, HIGHEST_RATE = 65, 0.96

#: Prior probability that no label is wrong; the rest is spread evenly over all rates. What overlap explains
#: as well as noise is thereby given the benefit of the doubt.
CLEAN_SHARE = 0.3

#: Two shapes of overlap. Its log-odds fall linearly in the normal score of the rank (a logistic truth), or
#: its share falls as a power of the rank and ends at 0 (classes that are apart). The first is expected.
POWER_SHARE = 0.1
SLOPES: Floats = np.geomspace(0.05, 30.0, 24)
POWERS: Floats = np.geomspace(0.25, 60.0, 24)

#: Rows of a side are counted in at most this many bins of equal size.
N_BINS = 50

#: A side's border is read off this share of its rows, the least sure ones.
BORDER_SHARE = 0.02

#: Rates of classes differ if the floors say so at these odds and the surest rows by so many standard errors.
DIFFERENCE_ODDS, DIFFERENCE_ERRORS = 2.0, 3.0

#: The surest rows of a side: this share of it, at least so many, at most half.
SUREST_SHARE, SUREST_AT_LEAST = 0.2, 80

#: P(wrong) is averaged over the rates at this many levels of their posterior.
N_LEVELS = 15

#: The corrected probability is blended with this much of the uncorrected one: clipping keeps the order.
BLEND = 0.02

#: Flagging more than this share of a class needs evidence that at least half as many of its labels are wrong.
LARGE_SHARE, LARGE_SHARE_CERTAINTY = 0.1, 0.75


@dataclass(frozen=True)
class Evidence:
    """How well the columns predict the given labels of rows that were not looked at."""

    auc: float
    auc_error: float
    balanced_accuracy: float
    balanced_accuracy_error: float
    z: float
    """Standard errors by which the scores of the given labels exceed those of shuffled labels."""

    @property
    def is_enough(self) -> bool:
        """Whether labels can be judged at all."""
        return self.z >= EVIDENCE_ERRORS


@dataclass(frozen=True)
class NoiseRates:
    """How often labels of each true class are wrong, as far as the labels tell."""

    grid: Floats
    posterior: Floats
    """Shape (n_classes, n_rates): the probability of each rate of the grid."""
    is_own: Mask
    """Classes whose rate clearly differs from that of the others."""
    direction: Floats
    """Shape (n_classes, n_classes): the labels that wrong labels of a class carry; rows add up to 1."""

    @property
    def mean(self) -> Floats:
        """Expected rate of each class."""
        return np.asarray(self.posterior @ self.grid)

    @property
    def error(self) -> Floats:
        """Posterior standard deviation of each class's rate."""
        return np.sqrt(self.posterior @ self.grid**2 - self.mean**2)

    def levels(self, n_levels: int = N_LEVELS) -> Floats:
        """Return rates of all classes, shape (n_levels, n_classes), at equal steps of their posterior."""
        steps = (np.arange(n_levels) + 0.5) / n_levels
        # A value of the grid stands for the middle of its own probability.
        reached = np.cumsum(self.posterior, axis=1) - self.posterior / 2
        return np.column_stack([np.interp(steps, c, self.grid) for c in reached])

    def without_errors(self) -> NoiseRates:
        """Return rates that are 0 for certain."""
        return replace(self, posterior=np.where(np.arange(self.grid.size) == 0, 1.0, 0.0 * self.posterior))

    def channel(self, rates: Floats) -> Floats:
        """Return P(label j | true class k) at row k, column j, for given rates of the classes."""
        return np.asarray(np.diag(1.0 - rates) + rates[:, None] * self.direction)


@dataclass(frozen=True)
class Judgement:
    """What is said about each given label."""

    evidence: Evidence
    rates: NoiseRates
    probability: Floats
    """P(true class), shape (n_rows, n_classes)."""
    p_wrong: Floats
    is_flagged: Mask
    """More likely wrong than right."""
    is_worth_a_look: Mask
    """Not flagged, but in the list with the best expected F1."""
    warnings: tuple[str, ...]


# ---------------------------------------------------------------------------------------------- evidence


def class_scores(log_odds: Floats) -> Floats:
    """Return the log-probabilities of both classes, one column each, from the log-odds of the second."""
    return np.column_stack([log_expit(-log_odds), log_expit(log_odds)])


def shuffle_test(scores: Floats, codes: Ints) -> float:
    """Return by how many standard errors the scores of the given labels exceed those of shuffled labels.

    The scores of each class are replaced by their ranks. Mean and variance over all permutations of the
    labels are known in closed form (Hoeffding 1951); for two classes this is the Mann-Whitney test with ties.
    """
    n_rows, n_classes = scores.shape
    share = np.bincount(codes, minlength=n_classes) / n_rows
    ranks = np.column_stack([rankdata(column) for column in scores.T]) / n_rows
    centered = ranks - ranks.mean(axis=0)
    centered -= (centered @ share)[:, None]
    variance = n_rows / (n_rows - 1) * (np.square(centered) @ share).sum()
    total = centered[np.arange(n_rows), codes].sum()
    return float(total / np.sqrt(variance)) if variance > 1e-12 else 0.0


def area_under_curve(score: Floats, is_positive: Mask) -> tuple[float, float]:
    """Return the AUC and its standard error (DeLong 1988)."""
    n_pos, n_neg = int(is_positive.sum()), int((~is_positive).sum())
    rank = rankdata(score)
    beaten = (rank[is_positive] - rankdata(score[is_positive])) / n_neg
    beating = 1.0 - (rank[~is_positive] - rankdata(score[~is_positive])) / n_pos
    variance = beaten.var(ddof=1) / n_pos + beating.var(ddof=1) / n_neg if min(n_pos, n_neg) > 1 else 0.25
    return float(beaten.mean()), float(np.sqrt(variance))


def measure_evidence(
    scores: Floats, codes: Ints, trust: Floats | None = None, *, plain_scores: Floats | None = None
) -> Evidence:
    """Return how well honest scores predict the given labels.

    Parameters
    ----------
    scores : ndarray of shape (n_labeled, n_classes)
        Honest log-probabilities of the given label.
    codes : ndarray of shape (n_labeled,)
        The given labels.
    trust : ndarray of shape (n_labeled,), optional
        Rows of trust 0 are left out.
    plain_scores : ndarray of shape (n_labeled, n_classes), optional
        Scores for the test alone, such as the mean rank of all experts, in which not even a weight was
        fitted to the labels. A fitted stack finds a little in pure noise.
    """
    plain = scores if plain_scores is None else plain_scores
    if trust is not None:
        scores, plain, codes = scores[trust > 0], plain[trust > 0], codes[trust > 0]
    counts = np.bincount(codes, minlength=scores.shape[1])
    present = np.flatnonzero(counts)
    if present.size < 2:
        return Evidence(0.5, 0.5, 1.0 / scores.shape[1], 0.5, 0.0)
    curves = [area_under_curve(scores[:, c], codes == c) for c in present]
    # The class that gains most over its share: with a rare class the likeliest one would always be the other.
    chosen = present[np.argmax(scores[:, present] - np.log(counts[present]), axis=1)]
    hits = np.array([np.mean(chosen[codes == c] == c) for c in present])
    error = np.sqrt((hits * (1 - hits) / counts[present]).sum()) / present.size
    auc, auc_error = np.mean(curves, axis=0)
    return Evidence(
        float(auc), float(auc_error), float(hits.mean()), float(error), shuffle_test(plain, codes)
    )


# ------------------------------------------------------------------------------------------------- rates


@dataclass(frozen=True)
class Side:
    """Rows that are likelier of one class than of any other, from the least to the surest."""

    rows: Ints
    depth: Floats
    """Distance from where `border` is read off, in normal scores of the rank among all rows."""
    tie: Ints
    """Rows with the same number are equally sure."""
    is_contrary: Mask
    border: float
    """Share of contrary labels at the border."""


def sides_of(scores: Floats, codes: Ints) -> list[Side]:
    """Return the side of each class."""
    n_rows, n_classes = scores.shape
    at = np.arange(n_rows)
    chosen = np.argmax(scores, axis=1)
    sides = []
    for c in range(n_classes):
        others = np.where(np.arange(n_classes) == c, -np.inf, scores).max(axis=1)
        margin = scores[:, c] - others
        normal = ndtri((rankdata(margin) - 0.5) / n_rows)
        rows = at[chosen == c]
        rows = rows[np.argsort(margin[rows], kind="stable")]
        least = rows[: max(1, int(BORDER_SHARE * rows.size))]
        border = float(np.mean(1.0 - np.exp(scores[least, c]))) if rows.size else 1.0 - 1.0 / n_classes
        depth = normal[rows] - normal[least].mean() if rows.size else np.zeros(0)
        tie = np.unique(margin[rows], return_inverse=True)[1]
        sides.append(Side(rows, depth, tie, codes[rows] != c, border))
    return sides


def spread_over_ties(values: Floats, tie: Ints) -> Floats:
    """Return the mean of each row's tie: which of equally sure rows comes first must not matter."""
    return np.asarray((np.bincount(tie, values) / np.bincount(tie))[tie]) if tie.size else values


def floor_likelihood(side: Side, trust: Floats, grid: Floats, n_classes: int) -> Floats:
    """Return the log-likelihood of each rate of the grid, given the contrary labels of one side.

    At sureness u a label is contrary with probability ``e + (1 - e - e') p(u)``: e is the rate, e' = e /
    (n_classes - 1) the chance that a wrong label falls on this class, p the overlap, which starts at the
    border and dies away; how fast is averaged over. A reviewed label (trust inf) is contrary with probability
    p: it tells overlap alone.
    """
    n = side.rows.size
    if n == 0:
        return np.zeros(grid.size)
    bins = np.arange(n) * min(N_BINS, n) // n
    size = np.bincount(bins)
    depth = np.bincount(bins, side.depth) / size
    rank = np.bincount(bins, (np.arange(n) + 0.5) / n) / size
    weight = trust[side.rows]
    is_reviewed = np.isinf(weight)
    keep = 1.0 - grid - grid / (n_classes - 1)
    start = np.clip((side.border - grid) / keep, 1e-6, 1.0 - 1.0 / n_classes)[:, None, None]
    normal = expit(logit(start) - SLOPES[:, None] * depth)
    power = start * (1.0 - rank) ** POWERS[:, None]
    parts = []
    for overlap, share in ((normal, 1.0 - POWER_SHARE), (power, POWER_SHARE)):
        total = np.zeros(overlap.shape[:2])
        for rows, contrary in (
            (~is_reviewed, grid[:, None, None] + keep[:, None, None] * overlap),
            (is_reviewed, overlap),
        ):
            if rows.any():
                w = np.where(rows, np.where(is_reviewed, 1.0, weight), 0.0)
                hits, all_ = (
                    np.bincount(bins, spread_over_ties(v, side.tie)) for v in (w * side.is_contrary, w)
                )
                contrary = np.clip(contrary, 1e-9, 1.0 - 1e-9)
                total += np.log(contrary) @ hits + np.log1p(-contrary) @ (all_ - hits)
        parts.append(logsumexp(total, axis=1) + np.log(share / overlap.shape[1]))
    return np.asarray(np.logaddexp(*parts))


def surest_rows(side: Side) -> slice:
    """Return which rows of a side are its surest."""
    n = side.rows.size
    return slice(n - int(min(max(SUREST_SHARE * n, SUREST_AT_LEAST), n / 2)), n)


def differing_classes(sides: list[Side], likelihood: Floats, log_prior: Floats, is_counted: Mask) -> Mask:
    """Return the classes whose rate clearly differs from that of all others.

    Two things have to say so: the floors, at odds of two to one, and the plain share of contrary labels among
    the surest rows, by three standard errors. The first alone is moved by the shape of the overlap, the
    second by its size.
    """
    n_classes = len(sides)
    counts = np.zeros((n_classes, 2))
    for c, side in enumerate(sides):
        counted = is_counted[side.rows].astype(float)
        for i, values in enumerate((counted * side.is_contrary, counted)):
            counts[c, i] = spread_over_ties(values, side.tie)[surest_rows(side)].sum()
    differs = np.zeros(n_classes, dtype=bool)
    for c in range(n_classes):
        rest = np.arange(n_classes) != c
        own, other = likelihood[c], likelihood[rest].sum(axis=0)
        odds = logsumexp(log_prior + own) + logsumexp(log_prior + other) - logsumexp(log_prior + own + other)
        # One label of each kind is added, or a share of 0 would seem to be known without error.
        hits, size = np.array([counts[c], counts[rest].sum(axis=0)]).T
        share = (hits + 1.0) / (size + 2.0)
        error = np.sqrt((share * (1.0 - share) / np.maximum(size, 1.0)).sum())
        is_far = abs(share[0] - share[1]) > DIFFERENCE_ERRORS * error
        differs[c] = is_far and odds > np.log(DIFFERENCE_ODDS * n_classes / 2)
    return differs


def wrong_directions(sides: list[Side], codes: Ints, is_counted: Mask) -> Floats:
    """Return which labels wrong labels of each class carry, from the contrary labels of its surest rows.

    One contrary label of every kind is added: without data all directions are alike.
    """
    n_classes = len(sides)
    counts = np.ones((n_classes, n_classes))
    for c, side in enumerate(sides):
        counted = is_counted[side.rows].astype(float)
        for label in range(n_classes):
            of_label = counted * (codes[side.rows] == label)
            counts[c, label] += spread_over_ties(of_label, side.tie)[surest_rows(side)].sum()
    np.fill_diagonal(counts, 0.0)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def estimate_rates(scores: Floats, codes: Ints, trust: Floats) -> NoiseRates:
    """Return how often labels of each class are wrong.

    Every class has the same rate, unless it clearly differs: a rate of its own that is not called for would
    put the labels of one class before those of the other in the ranking.
    """
    n_classes = scores.shape[1]
    grid = HIGHEST_RATE * (1.0 - 1.0 / n_classes) * np.linspace(0.0, 1.0, N_RATES) ** 2
    counted = np.flatnonzero(trust > 0)
    scores, codes, trust = scores[counted], codes[counted], trust[counted]
    prior = (1.0 - CLEAN_SHARE) * np.gradient(grid) / np.gradient(grid).sum()
    prior[0] += CLEAN_SHARE
    log_prior = np.log(prior)
    sides = sides_of(scores, codes)
    likelihood = np.array([floor_likelihood(side, trust, grid, n_classes) for side in sides])
    is_unreviewed = np.isfinite(trust)
    is_own = differing_classes(sides, likelihood, log_prior, is_unreviewed)
    common = likelihood[~is_own].sum(axis=0)
    log_posterior = log_prior + np.where(is_own[:, None], likelihood, common)
    posterior = softmax(log_posterior, axis=1)
    return NoiseRates(grid, posterior, is_own, wrong_directions(sides, codes, is_unreviewed))


# --------------------------------------------------------------------------------------------- judgement


def true_class_probability(given: Floats, channel: Floats) -> Floats:
    """Return P(true class) from P(given label): the mixing by noise undone."""
    corrected = np.clip(given @ np.linalg.inv(channel), 0.0, None)
    corrected /= corrected.sum(axis=1, keepdims=True)
    return np.asarray((1.0 - BLEND) * corrected + BLEND * given)


def wrong_label_probability(probability: Floats, codes: Ints, channel: Floats) -> Floats:
    """Return the probability that each given label is wrong (Bayes' rule)."""
    joint = probability * channel[:, codes].T
    total = joint.sum(axis=1)
    joint[np.arange(codes.size), codes] = 0.0
    # Summed without the right class: a difference from 1 would lose the order of small probabilities.
    return np.asarray(joint.sum(axis=1) / np.maximum(total, 1e-300))


def match_total(p_wrong: Floats, total: float) -> Floats:
    """Return P(wrong), all log-odds shifted by one constant so that they add up to the expected number."""
    odds = logit(np.clip(p_wrong, 1e-12, 1.0 - 1e-12))
    if not odds.size:
        return p_wrong
    low, high = -30.0 - odds.max(), 30.0 - odds.min()
    total = float(np.clip(total, 1e-9, odds.size - 1e-9))
    return np.asarray(expit(odds + brentq(lambda shift: expit(odds + shift).sum() - total, low, high)))


def best_expected_f1(p_wrong: Floats) -> Mask:
    """Return the rows with the largest P(wrong), as many as make the expected F1 largest."""
    p = np.sort(p_wrong)[::-1]
    f1 = 2.0 * np.cumsum(p) / (np.arange(1, p.size + 1) + max(p.sum(), 1e-300))
    return np.asarray(p_wrong >= p[int(np.argmax(f1))])


def expected_finds(p_wrong: Floats) -> Floats:
    """Return how many wrong labels a review of the first 1, 2, ... suspects should find."""
    return np.cumsum(np.sort(p_wrong)[::-1])


def judge_labels(
    scores: Floats,
    codes: Ints,
    trust: Floats | None = None,
    *,
    final_scores: Floats | None = None,
    plain_scores: Floats | None = None,
) -> Judgement:
    """Return what can be said about every given label.

    Parameters
    ----------
    scores : ndarray of shape (n_labeled, n_classes)
        Honest log-probabilities of the given label; evidence and rates come from these alone.
    codes : ndarray of shape (n_labeled,)
        The given labels, 0 to n_classes - 1.
    trust : ndarray of shape (n_labeled,), optional
        0: the label is ignored by evidence and rates. inf: reviewed; its P(wrong) is 0, it counts as right.
    final_scores : ndarray of shape (n_labeled, n_classes), optional
        Scores with which labels are judged, if better ones than the honest are at hand.
    plain_scores : ndarray of shape (n_labeled, n_classes), optional
        See `measure_evidence`.
    """
    trust = np.ones(codes.size) if trust is None else trust
    evidence = measure_evidence(scores, codes, trust, plain_scores=plain_scores)
    rates = estimate_rates(scores, codes, trust)
    rates = rates if evidence.is_enough else rates.without_errors()
    given = softmax(scores if final_scores is None else final_scores, axis=1)
    is_open = np.isfinite(trust)
    probability, wrong_by_level, total = average_over_rates(given, codes, rates, is_open)
    p_wrong = wrong_by_level.mean(axis=0)
    p_wrong[is_open] = match_total(p_wrong[is_open], total)
    is_contrary = (np.argmax(probability, axis=1) != codes) & is_open
    is_flagged, warnings = guard_classes((p_wrong > 0.5) & is_contrary, codes, wrong_by_level)
    is_worth_a_look = best_expected_f1(p_wrong) & is_contrary & ~is_flagged
    if not evidence.is_enough:
        is_worth_a_look[:] = False
        warnings = (NO_EVIDENCE.format(auc=evidence.auc, error=evidence.auc_error), *warnings)
    return Judgement(evidence, rates, probability, p_wrong, is_flagged, is_worth_a_look, warnings)


def average_over_rates(
    given: Floats, codes: Ints, rates: NoiseRates, is_open: Mask
) -> tuple[Floats, Floats, float]:
    """Return P(true class), P(wrong) at every level of the rates, and the expected number of wrong labels.

    Labels that are not open are right.
    """
    # Half a wrong label at least keeps the order of suspects on a table that seems clean.
    levels = np.maximum(rates.levels(), 0.5 / codes.size)
    probability, wrong_by_level, total = np.zeros_like(given), [], 0.0
    for level in levels:
        channel = rates.channel(level)
        true = true_class_probability(given, channel)
        probability += true / len(levels)
        wrong_by_level.append(np.where(is_open, wrong_label_probability(true, codes, channel), 0.0))
        total += float((true[is_open] @ level).sum()) / len(levels)
    return probability, np.array(wrong_by_level), total


NO_EVIDENCE = (
    "the columns do not predict the label (AUC {auc:.2f} +- {error:.2f} on rows not looked at); "
    "no label can be called wrong. Add columns that have to do with the label, or label more rows."
)
LARGE_CLASS = (
    "{n} of {size} labels of class {c} contradict the columns, but it cannot be told whether they are wrong "
    "or the classes overlap; none is flagged. Review some of them by hand."
)


def guard_classes(is_flagged: Mask, codes: Ints, wrong_by_level: Floats) -> tuple[Mask, tuple[str, ...]]:
    """Return the flags that may stand, and a warning for every class that lost its flags.

    A large share of a class is flagged only if at least half as many are wrong at odds of three to one.
    """
    is_flagged = is_flagged.copy()
    warnings = []
    for c in np.unique(codes):
        of_class = codes == c
        n, size = int((is_flagged & of_class).sum()), int(of_class.sum())
        odds_hold = np.mean(wrong_by_level[:, of_class].sum(axis=1) >= n / 2) >= LARGE_SHARE_CERTAINTY
        if n > LARGE_SHARE * size and not odds_hold:
            is_flagged &= ~of_class
            warnings.append(LARGE_CLASS.format(n=n, size=size, c=c))
    return is_flagged, tuple(warnings)
