"""Whether the columns tell the classes apart at all: a test on an opinion that saw no row's own label.

A label can only be called wrong by columns that know something about it. Where they do not rank the given
labels better than shuffled ones, a label is contradicted by chance alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, rankdata

from labelcut.arrays import Floats, Ints, Mask
from labelcut.hnc.labels import UNLABELED

__all__ = ["EVIDENCE_ERRORS", "UNPROVEN_P_WRONG", "Evidence", "hit_test", "measure_evidence", "shuffle_test"]

#: Probabilities that beat shuffled labels by fewer standard errors than this are no evidence. Tables without
#: any signal reached 2.7 in 29 runs (ranks 3.1); small real tables with 30 % wrong labels had at least 4.7.
EVIDENCE_ERRORS = 3.0

#: Before the labels are looked at, columns are taken to be twice as likely to know something as not: people
#: audit labels by columns that were collected for them.
SIGNAL_ODDS = 2.0

#: Standard error of z where nothing is known. Each row is judged by those that learned from the others, so
#: each pair of rows speaks twice and the variance is doubled.
NULL_ERROR = np.sqrt(2.0)

#: The test is made only where perfect columns would pass it twice over: with fewer labels silence would tell
#: how few they are, not what the columns know. For two equal classes that is from 48 labels on.
FEWEST_ERRORS = 2 * EVIDENCE_ERRORS

#: P(wrong) of a label that nothing speaks for or against. Some labels of any table are wrong, so it is not 0,
#: which is kept for reviewed labels; and it is no estimate, so that it has to stay far below what a review
#: would be worth: one label in 200.
UNPROVEN_P_WRONG = 0.005


@dataclass(frozen=True)
class Evidence:
    """How well the columns predict the given labels of rows whose own label was not looked at.

    Attributes
    ----------
    auc, auc_error : float
        Area under the curve and its standard error; with more than two classes the mean over each class
        against the rest. It is held against given labels, so that wrong ones bring it down, too.
    balanced_accuracy, balanced_accuracy_error : float
        Mean over the classes of how often their labels are hit, and its standard error. A row is given to the
        class whose probability exceeds its share most, so that a rare class can be hit at all.
    z : float
        By how many standard errors the labels are ranked better than shuffled ones.
    perfect_z : float
        The z of columns that rank every row of each class before all others.
    """

    auc: float
    auc_error: float
    balanced_accuracy: float
    balanced_accuracy_error: float
    z: float
    perfect_z: float

    @property
    def signal(self) -> float:
        """How likely the columns know anything about the label.

        If they do, any z up to the perfect one may come. Before a label is called wrong a z of 3 is asked
        for; a probability need not wait.
        """
        by_signal = SIGNAL_ODDS / self.perfect_z
        by_chance = float(norm.pdf(max(self.z, 0.0), scale=NULL_ERROR))
        return by_signal / (by_signal + by_chance)

    @property
    def is_there(self) -> bool:
        """Whether labels can be judged at all."""
        return self.z >= EVIDENCE_ERRORS

    def __str__(self) -> str:
        """Tell it in a sentence."""
        auc = f"{self.auc:.2f} +- {self.auc_error:.2f}"
        if self.is_there:
            return f"The columns tell the classes apart with an AUC of {auc}."
        return f"No evidence: the columns do not tell the classes apart better than chance (AUC {auc})."


def measure_evidence(probability: Floats, codes: Ints, plain: Floats | None = None) -> Evidence | None:
    """Return how well an opinion predicts the given labels, or None if they are too few for a test.

    Every label counts alike, whatever trust there is in it. Ignored labels are unlabeled, and so are those
    that the opinion has seen.

    Parameters
    ----------
    probability : ndarray of shape (n_rows, n_classes)
        The probability of each class, never from the row's own label.
    codes : ndarray of int of shape (n_rows,)
        Class 0, 1, ..., or -1 for an unlabeled row; each class at least once.
    plain : ndarray of shape (n_rows, n_classes), optional
        Probabilities for the test alone in which not even a weight was fitted to the labels, such as the mean
        of all experts: fitted weights find a little in pure noise. Without them ranks are tested.
    """
    is_labeled = codes != UNLABELED
    probability, codes = probability[is_labeled], codes[is_labeled]
    counts = np.bincount(codes, minlength=probability.shape[1])
    if not counts.all():  # a class with a single label, say, which is hidden from nobody
        kept = np.flatnonzero(counts)
        probability, plain = probability[:, kept], None if plain is None else plain[:, kept]
        codes, counts = np.searchsorted(kept, codes), counts[kept]
    perfect_z = _most_errors(counts)
    if perfect_z < FEWEST_ERRORS:
        return None
    curves = [_area_under_curve(probability[:, c], codes == c) for c in range(counts.size)]
    auc, auc_error = np.mean(curves, axis=0)
    chosen = np.argmax(probability / counts, axis=1)
    hits = np.bincount(codes, chosen == codes) / counts
    error = np.sqrt((hits * (1.0 - hits) / counts).sum()) / counts.size
    z = shuffle_test(probability, codes) if plain is None else hit_test(plain[is_labeled], codes)
    return Evidence(float(auc), float(auc_error), float(hits.mean()), float(error), z, perfect_z)


def shuffle_test(scores: Floats, codes: Ints) -> float:
    """Return by how many standard errors the scores of the given labels exceed those of shuffled labels.

    The scores of each class are replaced by their ranks. Mean and variance over all permutations of the
    labels are known in closed form (Hoeffding 1951); for two classes this is the Mann-Whitney test with ties.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
    codes : ndarray of int of shape (n_rows,)
        The given classes.
    """
    return _beyond_chance(rankdata(scores, axis=0) / len(scores), codes)[0]


def hit_test(probability: Floats, codes: Ints) -> float:
    """Return by how many standard errors the probabilities of the given labels exceed those of shuffled ones.

    Ranks count every row alike: a rare class of which a few rows are known for sure goes unseen among many
    rows of which nothing is known. Probabilities count by how far they are from the shares of the classes.
    With a rare class shuffled labels then exceed three standard errors up to twenty times too often, so the
    sum is brought to the scale of a normal variable by its skewness (Wilson and Hilferty 1931).

    Parameters
    ----------
    probability : ndarray of shape (n_rows, n_classes)
    codes : ndarray of int of shape (n_rows,)
        The given classes.
    """
    z, skewness = _beyond_chance(probability, codes)
    if skewness < 1e-3:
        return z
    return float(6.0 / skewness * (np.cbrt(skewness * z / 2.0 + 1.0) - 1.0) + skewness / 6.0)


def _beyond_chance(scores: Floats, codes: Ints) -> tuple[float, float]:
    """Return how far the scores of the given labels exceed those of shuffled ones, and the latter's skewness.

    The distance is in standard errors over all permutations; the skewness is that of labels drawn by share.
    """
    n_rows, n_classes = scores.shape
    share = np.bincount(codes, minlength=n_classes) / n_rows
    centered = scores - scores.mean(axis=0)
    centered -= (centered @ share)[:, None]
    variance = n_rows / (n_rows - 1) * (np.square(centered) @ share).sum()
    if variance <= 1e-12:
        return 0.0, 0.0
    total = centered[np.arange(n_rows), codes].sum()
    skewness = (centered**3 @ share).sum() / variance**1.5
    return float(total / np.sqrt(variance)), float(skewness)


def _most_errors(counts: Ints) -> float:
    """Return the z of columns that rank every row of each class before all others.

    The test of two classes counts pairs of rows in different classes; of more classes all such pairs count.
    """
    n = counts.sum()
    return float(np.sqrt(3.0 * (counts * (n - counts)).sum() / 2.0 / (n + 1)))


def _area_under_curve(score: Floats, is_positive: Mask) -> tuple[float, float]:
    """Return the area under the curve and its standard error (DeLong 1988)."""
    n_positive, n_negative = int(is_positive.sum()), int((~is_positive).sum())
    rank = rankdata(score)
    beaten = (rank[is_positive] - rankdata(score[is_positive])) / n_negative
    beating = 1.0 - (rank[~is_positive] - rankdata(score[~is_positive])) / n_positive
    variance = _variance_of_mean(beaten) + _variance_of_mean(beating)
    return float(beaten.mean()), float(np.sqrt(variance))


def _variance_of_mean(shares: Floats) -> float:
    """Return how far the mean of some shares may be off; of a single one as far as can be."""
    return float(shares.var(ddof=1) / shares.size) if shares.size > 1 else 0.25
