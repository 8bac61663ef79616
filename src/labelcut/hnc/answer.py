"""What a fit leaves behind: rows in canonical order, their graph, the cuts and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcut.arrays import Ints, Mask
from labelcut.graph import SimilarityGraph
from labelcut.hnc.labels import Labels
from labelcut.hnc.one_vs_rest import Conclusion, OneVsRest

__all__ = ["Answer", "status_of"]


@dataclass(frozen=True, eq=False)
class Answer:
    """Everything that is said about the rows of a table; node p of the graph is row ``order[p]``.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The classes, sorted.
    codes : ndarray of int of shape (n_rows,)
        The class number of each node's label, -1 for none.
    order : ndarray of int of shape (n_rows,)
        The row of each node.
    place : ndarray of int of shape (n_rows,)
        The node that stands for each row: the first of those that are equal in everything.
    graph : SimilarityGraph
    cuts : OneVsRest
    found : Conclusion
        By node.
    status : ndarray of str of shape (n_rows,)
        What is known about each row, in a word or two.
    """

    classes: NDArray[Any]
    codes: Ints
    order: Ints
    place: Ints
    graph: SimilarityGraph
    cuts: OneVsRest
    found: Conclusion
    status: NDArray[np.str_]


def status_of(given: Labels, used: Labels, is_reviewed: Mask, has_evidence: Mask) -> NDArray[np.str_]:
    """Return what is known about each row: labeled, reviewed, ignored, unlabeled or without evidence."""
    labeled = np.where(is_reviewed, "reviewed", "labeled")
    unlabeled = np.where(given.is_labeled, "ignored", "unlabeled")
    status = np.where(used.is_labeled, labeled, unlabeled)
    return np.asarray(np.where(has_evidence, status, "no evidence"))
