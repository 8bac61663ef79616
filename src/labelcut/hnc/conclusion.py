"""What is said about every row."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from labelcut.arrays import Floats, Ints, Mask
from labelcut.graph import SimilarityGraph

__all__ = ["Conclusion", "rows_with_evidence"]


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
    is_worth_a_look : ndarray of bool of shape (n_rows,)
        Labels that are contradicted and not flagged: overlap of classes explains them as well.
    has_evidence : ndarray of bool of shape (n_rows,)
        False for unlabeled rows that no label reaches, or that are pulled both ways equally.
    """

    predicted: Ints
    distribution: Floats
    confidence: Floats
    p_wrong: Floats
    is_issue: Mask
    is_worth_a_look: Mask
    has_evidence: Mask


def rows_with_evidence(graph: SimilarityGraph, is_labeled: Mask, is_tied: Mask | None = None) -> Mask:
    """Return the rows that a label reaches, with a warning about the others.

    Parameters
    ----------
    graph : SimilarityGraph
    is_labeled : ndarray of bool of shape (n_rows,)
    is_tied : ndarray of bool of shape (n_rows,), optional
        Rows that are pulled both ways equally.
    """
    has_label = np.zeros(graph.n_components, dtype=bool)
    has_label[graph.component[is_labeled]] = True
    is_reached = has_label[graph.component]
    if is_tied is not None:
        is_reached &= ~is_tied
    has_evidence = is_labeled | is_reached
    n_without = int((~has_evidence).sum())
    if n_without:
        warnings.warn(
            f"no label reaches {n_without} of the {int((~is_labeled).sum())} unlabeled rows, or their "
            "evidence is tied; their status_ is 'no evidence' and all classes are equally probable. "
            "Label some rows like them, or raise n_neighbors or bandwidth.",
            UserWarning,
            stacklevel=6,
        )
    return np.asarray(has_evidence)
