"""All classes together, each cut off from the rest; of two classes only the second.

Every place where two classes are another case than more of them is in this file.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from labelcut.arrays import Floats, Ints, Mask
from labelcut.graph import SimilarityGraph
from labelcut.hnc.class_cut import hard_sides, neighbor_vote
from labelcut.hnc.clock import StageClock
from labelcut.hnc.conclusion import Conclusion, rows_with_evidence
from labelcut.hnc.flags import flag_labels
from labelcut.hnc.labels import UNLABELED
from labelcut.hnc.separation import Separation, separate
from labelcut.hnc.settings import Settings

__all__ = ["OneVsRest", "cut_classes", "separate_classes"]

#: A cut is called degenerate if its smaller side has less than this share of what the trusted labels let
#: expect. Fewer rows than the second number prove nothing.
DEGENERATE_SHARE, DEGENERATE_ROWS = 0.05, 20

#: Differences between both sides below this are rounding: the evidence is tied.
TIED = 1e-12


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
        is_tied = np.all([np.abs(found.score) <= TIED for found in self.separations], axis=0)
        has_evidence = rows_with_evidence(graph, is_labeled, is_tied)
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
            is_worth_a_look=np.zeros(codes.size, dtype=bool),
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
            found.probability_of(
                neighbor_vote(weights, degree, hard_sides(found.is_positive_side)), opinion[:, c]
            )
            for c, found in zip(cut_classes(self.n_classes), self.separations, strict=True)
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

    @property
    def noise_rates(self) -> Floats:
        """The share of rows of each class that carry another label."""
        if self.n_classes == 2:
            rates = self.separations[0].rates
            return np.array([rates.negative, rates.positive])
        return np.array([found.rates.positive for found in self.separations])

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
    for c in cut_classes(n_classes):
        sign = np.where(codes == UNLABELED, 0, np.where(codes == c, 1, -1))
        separations.append(separate(graph, sign, trust, opinion[:, c], folds, settings, clock, n_jobs))
    return OneVsRest(tuple(separations), n_classes)


def cut_classes(n_classes: int) -> Sequence[int]:
    """Return the class numbers that are cut off from the rest."""
    return [1] if n_classes == 2 else range(n_classes)
