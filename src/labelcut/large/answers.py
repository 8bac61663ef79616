"""What the panel says about every row, computed some rows at a time: classes, probabilities, flags.

The same steps as in :mod:`labelcut.hnc.concluding`, with the one number that needs all rows (how many labels
are wrong in all) taken between two passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcut.arrays import Floats, Ints, Mask
from labelcut.graph import SimilarityGraph
from labelcut.hnc.concluding import warn_of_class, warn_of_silence
from labelcut.hnc.conclusion import rows_with_evidence
from labelcut.hnc.evidence import UNPROVEN_P_WRONG
from labelcut.hnc.flags import flag_labels
from labelcut.hnc.judgement import expect_wrong, guard_classes, match_total
from labelcut.hnc.labels import UNLABELED
from labelcut.hnc.panel import Panel

__all__ = ["STATUS", "Answers", "conclude_all"]

#: Rows taken at a time.
CHUNK_ROWS = 1 << 17

#: What is known about a row; answers hold the position in this list.
STATUS = ("labeled", "reviewed", "unlabeled", "no evidence")


@dataclass(frozen=True, eq=False)
class Answers:
    """What is said about every node.

    Attributes
    ----------
    codes : ndarray of int64
        The labels, decided ones in the place of those that were given; -1 without one.
    predicted : ndarray of int16
        The class number of each node.
    p_wrong, probability, confidence : ndarray of float32
        Probability that the label is wrong and of the predicted class, and confidence in the label; NaN
        without one.
    is_issue, is_worth_a_look : ndarray of bool
    status : ndarray of int8
        Positions in `STATUS`.
    opinions : dict of str to ndarray of shape (n_rows, n_classes)
        What each expert says about every node.
    panel : Panel
        How far they are believed.
    """

    codes: Ints
    predicted: NDArray[np.int16]
    p_wrong: NDArray[np.float32]
    probability: NDArray[np.float32]
    confidence: NDArray[np.float32]
    is_issue: Mask
    is_worth_a_look: Mask
    status: NDArray[np.int8]
    opinions: Mapping[str, NDArray[Any]] = field(repr=False)
    panel: Panel = field(repr=False)

    def distribution(self, nodes: Ints) -> Floats:
        """Return the probability of each class of some nodes."""
        panel = self.panel
        found = panel.distribution(panel.pool.scores(_some(self.opinions, nodes)))
        codes, n_classes = self.codes[nodes], panel.shares.size
        found[self.status[nodes] == STATUS.index("no evidence")] = 1.0 / n_classes
        is_held = self.status[nodes] == STATUS.index("reviewed")
        found[is_held] = np.eye(n_classes)[codes[is_held]]
        if panel.is_silent:
            is_open = (self.status[nodes] == STATUS.index("labeled")) & (codes >= 0)
            found[is_open] = _by_label(panel.shares, codes[is_open], self.p_wrong[nodes][is_open])
        return found


def conclude_all(
    panel: Panel,
    opinions: Mapping[str, NDArray[Any]],
    graph: SimilarityGraph,
    codes: Ints,
    trust: Floats,
    confidence: Floats,
    classes: tuple[str, ...],
    rule: str,
) -> Answers:
    """Return what the panel says about all rows.

    Parameters
    ----------
    panel : Panel
        Weighed by the sample.
    opinions : mapping of str to ndarray of shape (n_rows, n_classes)
        Of everybody, the cut with all labels in use.
    graph : SimilarityGraph
    codes, trust, confidence : ndarray of shape (n_rows,)
        Labels, trust in them, and what the cut makes of that.
    classes : tuple of str
        For messages.
    rule : str
        Which labels are flagged, as in the settings.
    """
    is_labeled, is_held = codes != UNLABELED, (codes != UNLABELED) & np.isinf(trust)
    is_open = is_labeled & ~is_held
    has_evidence = rows_with_evidence(graph, is_labeled)
    status = np.where(is_labeled, np.where(is_held, 1, 0), 2).astype(np.int8)
    status[~has_evidence] = STATUS.index("no evidence")
    predicted = np.zeros(codes.size, dtype=np.int16)
    p_wrong = np.full(codes.size, np.nan)
    probability = np.empty(codes.size, dtype=np.float32)
    total = 0.0
    for start in range(0, codes.size, CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        scores = panel.pool.scores(_some(opinions, rows))
        found = panel.distribution(scores)
        found[~has_evidence[rows]] = 1.0 / len(classes)
        found[is_held[rows]] = np.eye(len(classes))[codes[rows][is_held[rows]]]
        guess = np.asarray(opinions["forest"][rows]).argmax(axis=1)
        predicted[rows] = np.where(np.ptp(found, axis=1) == 0, guess, found.argmax(axis=1))
        probability[rows] = found.max(axis=1)
        own = is_labeled[rows]
        if panel.sight is not None:
            p_wrong[rows][own] = panel.p_wrong(scores[own], codes[rows][own], trust[rows][own])
            continue
        p_wrong[rows][own], wrong = expect_wrong(
            scores[own], codes[rows][own], is_open[rows][own], panel.belief_of_labels, int(is_labeled.sum())
        )
        total += wrong
    p_wrong[is_held] = 0.0
    if panel.sight is None:
        p_wrong[is_open] = match_total(p_wrong[is_open], total)
    is_contrary = is_open & (predicted != codes)
    is_issue = flag_labels(p_wrong, is_contrary, rule)
    labeled = np.flatnonzero(is_labeled)
    if panel.sight is None and rule != "side":
        is_issue[labeled], silenced = guard_classes(
            is_issue[labeled], codes[labeled], p_wrong[labeled], panel.belief_of_labels
        )
        for c, n_flagged in silenced:
            warn_of_class(classes[c], n_flagged, int((codes == c).sum()))
    if panel.is_silent:
        warn_of_silence(panel)
        p_wrong[is_open] = match_total(p_wrong[is_open], UNPROVEN_P_WRONG * is_open.sum())
        predicted[is_open] = codes[is_open]
        probability[is_open] = 1.0 - p_wrong[is_open]
        is_issue[:] = is_contrary[:] = False
    return Answers(
        codes=codes,
        predicted=predicted,
        p_wrong=p_wrong.astype(np.float32),
        probability=probability,
        confidence=confidence.astype(np.float32),
        is_issue=is_issue,
        is_worth_a_look=is_contrary & ~is_issue,
        status=status,
        opinions=opinions,
        panel=panel,
    )


def _by_label(shares: Floats, given: Ints, p_wrong: NDArray[Any]) -> Floats:
    """Return the classes of rows of which nothing but the label is known."""
    found = shares * (p_wrong / (1.0 - shares[given]))[:, None]
    found[np.arange(given.size), given] = 1.0 - p_wrong
    return np.asarray(found)


def _some(opinions: Mapping[str, NDArray[Any]], rows: Any) -> dict[str, Floats]:
    return {name: np.asarray(opinion[rows], dtype=np.float64) for name, opinion in opinions.items()}
