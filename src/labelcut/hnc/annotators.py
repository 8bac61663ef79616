"""What each annotator is worth and what the right answers are, estimated in turn until they agree.

Row i has a true class z and labels y[i, j] of some annotators j. Annotator j says l where k is true with
probability ``M[j, k, l]``, whatever the others say. Before anybody speaks, class k has the prior o[i, k]: the
opinion of somebody who has not seen the row's labels, or else the shares of the classes. Then

    answers    q[i, k]  ~  o[i, k] * product over the row's labels of M[j, k, y[i, j]]
    counts     N[j, k, l]  =  sum of q[i, k] over the rows i that j called l

and from the counts, each step drawn to the one before it as if so many labels had spoken for that:

    the crowd's accuracy         a        drawn to ``start_accuracy``             by ``WORTH_LABELS``
    the crowd's confusion        C[k]     drawn to a, wrong labels evenly spread  by ``WORTH_LABELS``
    an annotator's accuracy      a[j]     drawn to a                              by ``WORTH_LABELS``
    an annotator's confusion     M[j, k]  drawn to C[k] at j's accuracy           by ``CONFUSION_LABELS``

"C[k] at j's accuracy" has the log-odds of C[k, k] shifted by logit a[j] - logit a; what is left goes to the
wrong labels as in C. So an annotator with few labels is one of the crowd, one with some is better or worse
than it, and only one with many has habits of their own. Without opinions a row's only label tells nothing of
its annotator, and is left out of the counts. Where the answer is known, because somebody has looked, q is 1
for it whatever was said, and the labels of such a row tell most of all about their annotators. It is Dawid
and Skene's method (1979) with a prior on every number and, where there is one, an opinion on every row.

Everything that is summed over rows or annotators is first rounded to a multiple of 2**-30. Such sums are
exact, so no answer depends on the order of rows or annotators.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit, softmax, xlogy

from labelcut.arrays import Floats, Ints, Mask
from labelcut.hnc.labels import UNLABELED

__all__ = [
    "Answers",
    "CrowdLabels",
    "Worth",
    "answer",
    "information",
    "log_likelihood",
    "p_wrong",
    "settle",
    "weigh",
]

#: So many labels the crowd is worth when an annotator's accuracy is estimated: five labels say little.
WORTH_LABELS = 5.0

#: So many labels of one class the usual confusions are worth: a row of a matrix has many cells.
CONFUSION_LABELS = 20.0

#: Before a label is seen, an annotator is this far from guessing (0) to being always right (1).
START_SKILL = 0.6

#: Answers and worth agree when no probability moves by more than this; so many turns are enough.
AGREEMENT, MAX_TURNS = 1e-6, 500

#: No opinion excludes a class: annotators saw the thing itself.
LEAST_OPINION = 1e-4

_GRAIN = 2.0**30


@dataclass(frozen=True, eq=False)
class CrowdLabels:
    """Labels of several annotators, one entry per label that was given.

    Attributes
    ----------
    row, annotator, code : ndarray of int of shape (n_labels,)
        Which row, who, and the class number that was said.
    n_rows, n_annotators, n_classes : int
    known : ndarray of int of shape (n_rows,)
        The class number of rows whose answer is known, -1 elsewhere.
    """

    row: Ints
    annotator: Ints
    code: Ints
    n_rows: int
    n_annotators: int
    n_classes: int
    known: NDArray[np.int64]

    @classmethod
    def of(
        cls, codes: NDArray[np.int64], n_classes: int, known: NDArray[np.int64] | None = None
    ) -> CrowdLabels:
        """Return the labels of a matrix with a row per row and a column per annotator; -1 is a gap."""
        row, annotator = np.nonzero(codes != UNLABELED)
        n_rows, n_annotators = codes.shape
        said = codes[row, annotator].astype(np.intp)
        if known is None:
            known = np.full(n_rows, UNLABELED, dtype=np.int64)
        return cls(row, annotator, said, n_rows, n_annotators, n_classes, known)

    @property
    def is_open(self) -> Mask:
        """Rows that nobody labeled and whose answer is not known."""
        return np.asarray((self.count_by_row() == 0) & (self.known == UNLABELED))

    def count_by_row(self) -> Ints:
        """Return the number of labels of each row."""
        return np.bincount(self.row, minlength=self.n_rows)

    def with_company(self) -> CrowdLabels:
        """Return the labels of rows that have more than one, or whose answer is known."""
        is_kept = (self.count_by_row()[self.row] > 1) | (self.known[self.row] != UNLABELED)
        return replace(
            self, row=self.row[is_kept], annotator=self.annotator[is_kept], code=self.code[is_kept]
        )

    def sum_by_row(self, values: Floats) -> Floats:
        """Return the sum of the values of each row's labels, exactly."""
        return self._sums(self.row, self.n_rows, values)

    def sum_by_annotator_and_label(self, values: Floats) -> Floats:
        """Return the sum of values by annotator and by the label that was said, exactly."""
        which = self.annotator * self.n_classes + self.code
        sums = self._sums(which, self.n_annotators * self.n_classes, values)
        return sums.reshape(self.n_annotators, self.n_classes, *values.shape[1:])

    def _sums(self, group: Ints, n_groups: int, values: Floats) -> Floats:
        n = group.size
        into = sparse.csr_array((np.ones(n), (group, np.arange(n))), shape=(n_groups, n))
        return np.asarray(into @ _rounded(values))


@dataclass(frozen=True, eq=False)
class Worth:
    """What annotators are worth.

    Attributes
    ----------
    confusion : ndarray of shape (n_annotators, n_classes, n_classes)
        P(annotator j says l | k is true) at j, k, l.
    crowd : ndarray of shape (n_classes, n_classes)
        The same of an annotator of whom nothing is known.
    quality, error : ndarray of shape (n_annotators,)
        The share of an annotator's labels that is right, and its standard error.
    shares : ndarray of shape (n_classes,)
        How frequent each class is among the answers of the rows that were counted.
    """

    confusion: Floats
    crowd: Floats
    quality: Floats
    error: Floats
    shares: Floats


@dataclass(frozen=True, eq=False)
class Answers:
    """Worth and answers that agree.

    Attributes
    ----------
    probability : ndarray of shape (n_rows, n_classes)
        P(true class) by all labels of the row and the opinion on it.
    worth : Worth
    """

    probability: Floats
    worth: Worth


def settle(labels: CrowdLabels, opinion: Floats | None = None, worth: Worth | None = None) -> Answers:
    """Return answers and worth, each estimated from the other until they agree.

    Parameters
    ----------
    labels : CrowdLabels
    opinion : ndarray of shape (n_rows, n_classes), optional
        P(true class) by somebody who has not seen the row's labels; by default the shares of the classes.
    worth : Worth, optional
        What to begin with; by default all annotators are alike.
    """
    worth = start(labels) if worth is None else worth
    probability = answer(labels, worth, opinion)
    telling = labels.with_company() if opinion is None else labels
    for _ in range(MAX_TURNS):
        before = probability
        worth = weigh(telling, probability)
        probability = answer(labels, worth, opinion)
        if np.abs(probability - before).max() <= AGREEMENT:
            break
    return Answers(probability, worth)


def start_accuracy(n_classes: int) -> float:
    """Return the accuracy that is expected of an annotator before a label is seen."""
    return START_SKILL + (1.0 - START_SKILL) / n_classes


def start(labels: CrowdLabels) -> Worth:
    """Return the worth before a label is seen: all annotators and classes are alike."""
    m, k = labels.n_annotators, labels.n_classes
    accuracy = start_accuracy(k)
    crowd = _even(accuracy, k)
    return Worth(
        confusion=np.broadcast_to(crowd, (m, k, k)),
        crowd=crowd,
        quality=np.full(m, accuracy),
        error=np.full(m, np.sqrt(accuracy * (1.0 - accuracy) / (WORTH_LABELS + 1.0))),
        shares=np.full(k, 1.0 / k),
    )


def answer(labels: CrowdLabels, worth: Worth, opinion: Floats | None = None) -> Floats:
    """Return P(true class) of every row by its labels, each worth what its annotator is worth."""
    if opinion is None:
        prior = np.broadcast_to(np.log(worth.shares), (labels.n_rows, labels.n_classes))
    else:
        prior = np.log(np.maximum(opinion, LEAST_OPINION))
    return np.asarray(softmax(prior + log_likelihood(labels, worth), axis=1))


def log_likelihood(labels: CrowdLabels, worth: Worth) -> Floats:
    """Return log P(the labels of each row | its class), shape (n_rows, n_classes).

    Where the answer is known, every other class is excluded.
    """
    found = labels.sum_by_row(np.log(worth.confusion)[labels.annotator, :, labels.code])
    is_known = labels.known != UNLABELED
    is_other = labels.known[:, None] != np.arange(labels.n_classes)
    found[is_known[:, None] & is_other] = -np.inf
    return found


def weigh(labels: CrowdLabels, probability: Floats) -> Worth:
    """Return what annotators are worth if the answers have these probabilities."""
    counts = labels.sum_by_annotator_and_label(probability[labels.row]).transpose(0, 2, 1)
    n_classes = labels.n_classes
    of_annotator, hits = counts.sum(axis=(1, 2)), np.trace(counts, axis1=1, axis2=2)
    together = counts.sum(axis=0)

    accuracy = _drawn(np.trace(together), together.sum(), start_accuracy(n_classes), WORTH_LABELS)
    even = _even(float(accuracy), n_classes)
    crowd = _drawn(together, together.sum(axis=1, keepdims=True), even, WORTH_LABELS)
    quality = _drawn(hits, of_annotator, accuracy, WORTH_LABELS)
    usual = _at_accuracy(crowd, logit(quality) - logit(accuracy))
    confusion = _drawn(counts, counts.sum(axis=2, keepdims=True), usual, CONFUSION_LABELS)

    # A share of n labels varies as in a draw of n; that it is not known which of them are right adds to it.
    own = probability[labels.row, labels.code]
    doubt = labels.sum_by_annotator_and_label(own * (1.0 - own)).sum(axis=1)
    n = of_annotator + WORTH_LABELS
    error = np.sqrt(quality * (1.0 - quality) / (n + 1.0) + doubt / n**2)
    rows = np.unique(labels.row)
    shares = (_rounded(probability[rows]).sum(axis=0) + 1.0) / (rows.size + n_classes)
    return Worth(confusion, crowd, quality, error, shares)


def p_wrong(labels: CrowdLabels, probability: Floats) -> Floats:
    """Return the probability that each label is wrong, shape (n_rows, n_annotators), NaN where there is none.

    It is summed over the other classes: a difference from 1 would lose the order of small probabilities.
    """
    others = probability[labels.row].copy()
    others[np.arange(labels.row.size), labels.code] = 0.0
    found = np.full((labels.n_rows, labels.n_annotators), np.nan)
    found[labels.row, labels.annotator] = np.minimum(others.sum(axis=1), 1.0)
    return found


def information(probability: Floats, confusion: Floats) -> Floats:
    """Return how many bits one more label is expected to tell about the class of each row.

    With answers q and an annotator who says l where k is true with probability M[k, l], it is the mutual
    information H(q M) - sum over k of q[k] H(M[k]).
    """
    said = np.einsum("ik,kl->il", probability, confusion)
    noise = -xlogy(confusion, confusion).sum(axis=1)
    bits = (-xlogy(said, said).sum(axis=1) - probability @ noise) / np.log(2.0)
    return np.asarray(np.maximum(bits, 0.0))


def _drawn(hits: Any, n: Any, to: Any, by: float) -> Any:
    """Return a share of hits, drawn to another one as if so many had spoken for it."""
    return (hits + by * to) / (n + by)


def _even(accuracy: float, n_classes: int) -> Floats:
    """Return the confusion in which all classes have one accuracy and wrong labels are evenly spread."""
    wrong = (1.0 - accuracy) / (n_classes - 1)
    return np.asarray(np.where(np.eye(n_classes, dtype=bool), accuracy, wrong))


def _at_accuracy(crowd: Floats, shift: Floats) -> Floats:
    """Return the crowd's confusion for annotators whose log-odds of being right differ from it by so much."""
    right = np.diag(crowd)
    own = expit(logit(right) + shift[:, None])
    usual = crowd * ((1.0 - own) / (1.0 - right))[:, :, None]
    diagonal = np.arange(right.size)
    usual[:, diagonal, diagonal] = own
    return np.asarray(usual)


def _rounded(values: Floats) -> Floats:
    """Return the values as multiples of 2**-30; sums of up to eight million of them are exact."""
    return np.asarray(np.round(values * _GRAIN) / _GRAIN)
