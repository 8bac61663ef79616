"""All classes together, each cut off from the rest; of two classes only the second.

Every place where two classes are another case than more of them is in this file.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from labelcut.arrays import Floats, Ints, Mask
from labelcut.graph import SimilarityGraph
from labelcut.hnc.clock import StageClock
from labelcut.hnc.evidence import UNPROVEN_P_WRONG
from labelcut.hnc.flags import flag_labels
from labelcut.hnc.labels import UNLABELED
from labelcut.hnc.separation import Separation, neighbor_vote, separate
from labelcut.hnc.settings import Settings

__all__ = ["Conclusion", "OneVsRest", "separate_classes", "shrink"]

#: A cut is called degenerate if its smaller side has less than this share of what the trusted labels let
#: expect. Fewer rows than the second number prove nothing.
DEGENERATE_SHARE, DEGENERATE_ROWS = 0.05, 20

#: Differences between both sides below this are rounding: the evidence is tied.
TIED = 1e-12


@dataclass(frozen=True, eq=False)
class Conclusion:
    """What is said about every row; class numbers count the sorted classes.

    Attributes
    ----------
    predicted : ndarray of int of shape (n_rows,)
        The class number of each row.
    distribution : ndarray of shape (n_rows, n_classes)
        The probability of each class.
    confidence, p_wrong : ndarray of shape (n_rows,)
        Confidence in the given label and probability that it is wrong; NaN for unlabeled rows.
    is_issue : ndarray of bool of shape (n_rows,)
        Labels flagged as wrong.
    has_evidence : ndarray of bool of shape (n_rows,)
        False for unlabeled rows that no label reaches, or that are pulled both ways equally.
    """

    predicted: Ints
    distribution: Floats
    confidence: Floats
    p_wrong: Floats
    is_issue: Mask
    has_evidence: Mask

    def without_evidence(
        self, codes: Ints, trust: Floats, guess: Ints, shares: Floats, weight: float
    ) -> Conclusion:
        """Return what is left to say if the columns do not tell the classes apart.

        No label is flagged. Each keeps its class, since nothing but the label itself speaks for one, and its
        P(wrong) is a small constant; held labels keep their 0. The probabilities of unlabeled rows go to the
        shares of the classes, which is all that is known without columns: the farther, the less there is in
        them. Among equal classes that leaves the likelier one the likelier.

        Parameters
        ----------
        codes, trust, guess
            As in :meth:`OneVsRest.conclude`; the guess is for all rows whose classes are equally probable.
        shares : ndarray of shape (n_classes,)
            The shares of the classes among the labels.
        weight : float
            How far the probabilities are believed, from 0 to 1.
        """
        is_labeled = codes != UNLABELED
        distribution = shrink(self.distribution, shares, weight)
        likeliest = np.where(np.ptp(distribution, axis=1) == 0, guess, distribution.argmax(axis=1))
        given = codes[is_labeled]
        p_wrong = np.where(np.isinf(trust[is_labeled]), 0.0, UNPROVEN_P_WRONG)
        # What is left by the label goes to the other classes, by their shares.
        distribution[is_labeled] = shares * (p_wrong / (1.0 - shares[given]))[:, None]
        distribution[is_labeled, given] = 1.0 - p_wrong
        every_p_wrong = np.full(codes.size, np.nan)
        every_p_wrong[is_labeled] = p_wrong
        return replace(
            self,
            predicted=np.where(is_labeled, codes, likeliest),
            distribution=distribution,
            p_wrong=every_p_wrong,
            is_issue=np.zeros(codes.size, dtype=bool),
        )


def shrink(distribution: Floats, shares: Floats, weight: float) -> Floats:
    """Return probabilities drawn to the shares of the classes; rows without evidence stay equal."""
    is_open = np.ptp(distribution, axis=1, keepdims=True) == 0
    return np.asarray(np.where(is_open, distribution, weight * distribution + (1.0 - weight) * shares))


@dataclass(frozen=True, eq=False)
class OneVsRest:
    """One separation for two classes (the second against the first), else one per class."""

    separations: tuple[Separation, ...]
    n_classes: int

    def conclude(
        self, graph: SimilarityGraph, codes: Ints, trust: Floats, guess: Ints, settings: Settings
    ) -> Conclusion:
        """Bring the separations together.

        Parameters
        ----------
        graph : SimilarityGraph
            Rows and their similarity.
        codes : ndarray of int of shape (n_rows,)
            The given class numbers, -1 for unlabeled rows.
        trust : ndarray of shape (n_rows,)
            Trust in each label; ``inf`` is never flagged.
        guess : ndarray of int of shape (n_rows,)
            Class numbers for rows without evidence.
        settings : Settings
            How classes are decided and labels flagged.
        """
        is_labeled = codes != UNLABELED
        distribution = self._distribution([found.probability for found in self.separations])
        has_evidence = self._has_evidence(graph, is_labeled)
        predicted = np.where(has_evidence, self._decide(distribution, settings.decision), guess)
        distribution[~has_evidence] = 1.0 / self.n_classes
        p_wrong = self._own([found.p_wrong for found in self.separations], codes)
        is_contrary = is_labeled & (predicted != codes) & ~np.isinf(trust)
        return Conclusion(
            predicted=predicted,
            distribution=distribution,
            confidence=self._own([found.confidence for found in self.separations], codes),
            p_wrong=p_wrong,
            is_issue=flag_labels(p_wrong, is_contrary, settings.flags),
            has_evidence=has_evidence,
        )

    def judge(self, weights: sparse.csr_array[Any, Any], opinion: Floats) -> Floats:
        """Return the class probabilities of new rows, equal where they are like no row at all.

        Parameters
        ----------
        weights : csr_array of shape (n_new, n_rows)
            The similarity of each new row to rows that have evidence.
        opinion : ndarray of shape (n_new, n_classes)
            An opinion on the new rows.
        """
        degree: Floats = np.asarray(weights.sum(axis=1), dtype=np.float64).ravel()
        positive = [
            found.probability_of(neighbor_vote(weights, degree, found.is_positive_side), opinion[:, c])
            for c, found in zip(_cut_classes(self.n_classes), self.separations, strict=True)
        ]
        distribution = self._distribution(positive)
        distribution[degree == 0] = 1.0 / self.n_classes
        return distribution

    def warn_if_degenerate(self) -> None:
        """Warn if nearly all unlabeled rows fell to one side although both classes have trusted labels."""
        for found in self.separations:
            unlabeled = found.is_positive_side[found.sign == 0]
            trusted = found.sign[np.nan_to_num(found.confidence) > 0.5]
            if unlabeled.size < DEGENERATE_ROWS or trusted.size < DEGENERATE_ROWS:
                continue
            expected = min(np.mean(trusted > 0), np.mean(trusted < 0))
            smaller = min(unlabeled.mean(), 1 - unlabeled.mean())
            if smaller < DEGENERATE_SHARE * expected:
                warnings.warn(
                    f"degenerate cut: {1 - smaller:.1%} of the {unlabeled.size} unlabeled rows are on one "
                    f"side, although {expected:.0%} of the trusted labels are on the other. Labels weigh too "
                    "little against the graph: raise confidence_strength, use fewer n_neighbors or a smaller "
                    "bandwidth, or take preset='default'.",
                    UserWarning,
                    stacklevel=3,
                )
                return

    def of_class(self, code: int) -> tuple[Separation, bool]:
        """Return the separation that a class is a side of, and whether that is its negative side."""
        if self.n_classes == 2:
            return self.separations[0], code == 0
        return self.separations[code], False

    @property
    def noise_rates(self) -> Floats:
        """The share of rows of each class that carry another label."""
        if self.n_classes == 2:
            rates = self.separations[0].rates
            return np.array([rates.negative, rates.positive])
        return np.array([found.rates.positive for found in self.separations])

    @property
    def tradeoff(self) -> Any:
        """What the folds chose: a number, or one per class."""
        return self._chosen([found.choice.tradeoff for found in self.separations])

    @property
    def prior_strength(self) -> Any:
        """What the folds chose: a number, or one per class."""
        return self._chosen([found.choice.strength for found in self.separations])

    def _chosen(self, values: list[float]) -> Any:
        return values[0] if self.n_classes == 2 else np.array(values)

    def _own(self, values: Sequence[Floats], codes: Ints) -> Floats:
        """Return the number of each label by the separation of its own class."""
        if self.n_classes == 2:
            return values[0]
        return np.stack(values)[np.maximum(codes, 0), np.arange(codes.size)]

    def _distribution(self, positive: Sequence[Floats]) -> Floats:
        """Return one probability per row and class, each row with sum 1."""
        if self.n_classes == 2:
            return np.column_stack([1.0 - positive[0], positive[0]])
        together = np.column_stack(positive)
        total = together.sum(axis=1, keepdims=True)
        even = np.full_like(together, 1.0 / self.n_classes)
        return np.asarray(np.divide(together, total, out=even, where=total > 0))

    def _decide(self, distribution: Floats, decision: str) -> Ints:
        if decision == "cut":
            if self.n_classes == 2:
                return self.separations[0].is_positive_side.astype(np.intp)
            # Several classes may claim a row, or none; the probability decides among those, or among all.
            claims = np.column_stack([found.is_positive_side for found in self.separations])
            claims |= ~claims.any(axis=1, keepdims=True)
            distribution = np.where(claims, distribution, -1.0)
        return np.asarray(distribution.argmax(axis=1))

    def _has_evidence(self, graph: SimilarityGraph, is_labeled: Mask) -> Mask:
        has_label = np.zeros(graph.n_components, dtype=bool)
        has_label[graph.component[is_labeled]] = True
        is_tied = np.all([np.abs(found.score) <= TIED for found in self.separations], axis=0)
        has_evidence = is_labeled | (has_label[graph.component] & ~is_tied)
        n_without = int((~has_evidence).sum())
        if n_without:
            warnings.warn(
                f"no label reaches {n_without} of the {int((~is_labeled).sum())} unlabeled rows, or their "
                "evidence is tied; their status_ is 'no evidence' and all classes are equally probable. "
                "Label some rows like them, or raise n_neighbors or bandwidth.",
                UserWarning,
                stacklevel=5,
            )
        return np.asarray(has_evidence)


def separate_classes(
    graph: SimilarityGraph,
    codes: Ints,
    trust: Floats,
    opinion: Floats,
    folds: Sequence[Mask],
    settings: Settings,
    clock: StageClock,
    n_jobs: int | None = None,
) -> OneVsRest:
    """Cut each class off from the rest.

    Parameters
    ----------
    codes : ndarray of int of shape (n_rows,)
        Class 0, 1, ..., or -1 for an unlabeled row.
    opinion : ndarray of shape (n_rows, n_classes)
        An opinion on every row, never from its own label.
    graph, trust, folds, settings, clock, n_jobs
        As in :func:`~labelcut.hnc.separation.separate`.
    """
    n_classes = opinion.shape[1]
    separations = []
    for c in _cut_classes(n_classes):
        sign = np.where(codes == UNLABELED, 0, np.where(codes == c, 1, -1))
        separations.append(separate(graph, sign, trust, opinion[:, c], folds, settings, clock, n_jobs))
    return OneVsRest(tuple(separations), n_classes)


def _cut_classes(n_classes: int) -> Sequence[int]:
    """Return the class numbers that are cut off from the rest."""
    return [1] if n_classes == 2 else range(n_classes)
