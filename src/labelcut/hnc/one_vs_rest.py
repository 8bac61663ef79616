"""One answer from all separations: classes, probabilities, confidences and flags of the rows of a table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labelcut.arrays import Floats, Ints, Mask
from labelcut.graph import SimilarityGraph
from labelcut.hnc.calibration import flag_by_expected_f1
from labelcut.hnc.labels import UNLABELED
from labelcut.hnc.separation import Separation

__all__ = ["Conclusion", "class_distribution", "conclude", "warn_if_degenerate"]


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


def conclude(
    separations: Sequence[Separation],
    graph: SimilarityGraph,
    codes: Ints,
    trust: Floats,
    guess: Ints,
    *,
    decision: str,
    flags: str,
) -> Conclusion:
    """Bring the separations together.

    Parameters
    ----------
    separations : sequence of Separation
        One for two classes (the second against the first), else one per class.
    graph : SimilarityGraph
        Rows and their similarity.
    codes : ndarray of int of shape (n_rows,)
        The given class numbers, -1 for unlabeled rows.
    trust : ndarray of shape (n_rows,)
        Trust in each label; ``inf`` is never flagged.
    guess : ndarray of int of shape (n_rows,)
        Class numbers for rows without evidence.
    decision : {"probability", "cut"}
        Take the most probable class, or the one whose side of the cut the row is on.
    flags : {"expected_f1", "side"}
        Flag the labels with the largest expected F1, or all that the prediction contradicts.
    """
    is_labeled = codes != UNLABELED
    distribution = class_distribution([found.probability for found in separations])
    predicted = _decide(separations, distribution, decision)
    has_evidence = _has_evidence(separations, graph, is_labeled)
    predicted = np.where(has_evidence, predicted, guess)
    distribution[~has_evidence] = 1.0 / distribution.shape[1]

    # Every label is judged by the separation of its own class.
    rows = np.arange(codes.size)
    own = np.maximum(codes, 0) if len(separations) > 1 else np.zeros(codes.size, dtype=np.intp)
    confidence = np.stack([found.confidence for found in separations])[own, rows]
    p_wrong = np.stack([found.p_wrong for found in separations])[own, rows]

    is_contrary = is_labeled & (predicted != codes) & ~np.isinf(trust)
    is_issue = is_contrary
    if flags == "expected_f1":
        is_issue = np.zeros(codes.size, dtype=bool)
        is_issue[is_labeled] = flag_by_expected_f1(p_wrong[is_labeled])
        is_issue &= is_contrary
    return Conclusion(predicted, distribution, confidence, p_wrong, is_issue, has_evidence)


def class_distribution(positive: Sequence[Floats]) -> Floats:
    """Return one probability per row and class, each row with sum 1, from those of the separations."""
    if len(positive) == 1:
        return np.column_stack([1.0 - positive[0], positive[0]])
    together = np.column_stack(positive)
    total = together.sum(axis=1, keepdims=True)
    even = np.full_like(together, 1.0 / len(positive))
    return np.asarray(np.divide(together, total, out=even, where=total > 0))


def _decide(separations: Sequence[Separation], distribution: Floats, decision: str) -> Ints:
    if decision == "cut":
        if len(separations) == 1:
            return separations[0].is_positive_side.astype(np.int64)
        # Several classes may claim a row, or none: then the probability decides among those, or among all.
        claims = np.column_stack([found.is_positive_side for found in separations])
        claims |= ~claims.any(axis=1, keepdims=True)
        distribution = np.where(claims, distribution, -1.0)
    return np.asarray(distribution.argmax(axis=1))


def _has_evidence(separations: Sequence[Separation], graph: SimilarityGraph, is_labeled: Mask) -> Mask:
    has_label = np.zeros(graph.n_components, dtype=bool)
    has_label[graph.component[is_labeled]] = True
    is_tied = np.all([np.abs(found.score) <= TIED for found in separations], axis=0)
    has_evidence = is_labeled | (has_label[graph.component] & ~is_tied)
    n_without = int((~has_evidence).sum())
    if n_without:
        warnings.warn(
            f"no label reaches {n_without} of the {int((~is_labeled).sum())} unlabeled rows, or their "
            "evidence is tied; their status_ is 'no evidence' and all classes are equally probable. Label "
            "some rows like them, or raise n_neighbors or bandwidth.",
            UserWarning,
            stacklevel=5,
        )
    return np.asarray(has_evidence)


def warn_if_degenerate(separations: Sequence[Separation]) -> None:
    """Warn if nearly all unlabeled rows fell to one side although both classes have trusted labels."""
    for found in separations:
        unlabeled = found.is_positive_side[found.sign == 0]
        trusted = found.sign[np.nan_to_num(found.confidence) > 0.5]
        if unlabeled.size < DEGENERATE_ROWS or trusted.size < DEGENERATE_ROWS:
            continue
        expected = min(np.mean(trusted > 0), np.mean(trusted < 0))
        smaller = min(unlabeled.mean(), 1 - unlabeled.mean())
        if smaller < DEGENERATE_SHARE * expected:
            warnings.warn(
                f"degenerate cut: {1 - smaller:.1%} of the {unlabeled.size} unlabeled rows are on one side, "
                f"although {expected:.0%} of the trusted labels are on the other. Labels weigh too little "
                "against the graph: raise confidence_strength, use fewer n_neighbors or a smaller bandwidth, "
                "or take preset='default'.",
                UserWarning,
                stacklevel=4,
            )
            return
