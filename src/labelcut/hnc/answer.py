"""What a fit leaves behind: rows in canonical order, their graph, the cuts and what they say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelcut.arrays import Mask
from labelcut.graph import SimilarityGraph
from labelcut.hnc.conclusion import Conclusion
from labelcut.hnc.cut_alone import CutAlone
from labelcut.hnc.labels import Labels
from labelcut.hnc.panel import Panel
from labelcut.hnc.rows import Rows

__all__ = ["Answer", "status_of"]


@dataclass(frozen=True, eq=False)
class Answer:
    """Everything that is said about the rows of a table; node p of the graph is row ``rows.order[p]``.

    Attributes
    ----------
    rows : Rows
        In canonical order.
    graph : SimilarityGraph
    verdict : Panel or CutAlone
        Who decided, and what they think of new rows.
    found : Conclusion
        By node.
    status : ndarray of str of shape (n_rows,)
        What is known about each row, in a word or two.
    """

    rows: Rows
    graph: SimilarityGraph
    verdict: Panel | CutAlone
    found: Conclusion
    status: NDArray[np.str_]


def status_of(given: Labels, used: Labels, is_reviewed: Mask, has_evidence: Mask) -> NDArray[np.str_]:
    """Return what is known about each row: labeled, reviewed, ignored, unlabeled or without evidence."""
    labeled = np.where(is_reviewed, "reviewed", "labeled")
    unlabeled = np.where(given.is_labeled, "ignored", "unlabeled")
    status = np.where(used.is_labeled, labeled, unlabeled)
    return np.asarray(np.where(has_evidence, status, "no evidence"))
