"""What a panel of experts says about every row: its class, how likely it is, whether its label is wrong."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from labelcut.arrays import Floats, Ints
from labelcut.graph import SimilarityGraph
from labelcut.hnc.conclusion import Conclusion, rows_with_evidence
from labelcut.hnc.evidence import UNPROVEN_P_WRONG
from labelcut.hnc.flags import flag_labels
from labelcut.hnc.honest_cut import HonestCuts
from labelcut.hnc.judgement import guard_classes, match_total
from labelcut.hnc.labels import plain
from labelcut.hnc.panel import Panel
from labelcut.hnc.question import Question
from labelcut.hnc.rows import Rows

__all__ = ["conclude", "own_confidence", "warn_of_class", "warn_of_silence"]


def conclude(question: Question, panel: Panel, graph: SimilarityGraph) -> Conclusion:
    """Return what is said about every row."""
    rows, settings = question.rows, question.settings
    codes, labeled, is_held = rows.codes, rows.labeled, rows.is_labeled & np.isinf(rows.trust)
    has_evidence = rows_with_evidence(graph, rows.is_labeled)
    distribution = panel.distribution(panel.pool.scores(panel.opinions))
    distribution[~has_evidence] = 1.0 / rows.classes.size
    distribution[is_held] = np.eye(rows.classes.size)[codes[is_held]]
    guess = panel.experts["forest"].probability.argmax(axis=1)
    predicted = np.where(np.ptp(distribution, axis=1) == 0, guess, distribution.argmax(axis=1))
    scores = panel.pool.scores({name: opinion[labeled] for name, opinion in panel.opinions.items()})
    p_wrong = np.full(codes.size, np.nan)
    p_wrong[labeled] = panel.p_wrong(scores, codes[labeled], rows.trust[labeled])
    is_contrary = rows.is_labeled & (predicted != codes) & ~is_held
    is_issue = flag_labels(p_wrong, is_contrary, settings.flags)
    if panel.sight is None and settings.flags != "side":  # who asks for all of them gets them
        is_issue[labeled], silenced = guard_classes(
            is_issue[labeled], codes[labeled], p_wrong[labeled], panel.belief_of_labels
        )
        for c, n_flagged in silenced:
            warn_of_class(plain(rows.classes[c]), n_flagged, int((codes == c).sum()))
    found = Conclusion(
        predicted=predicted,
        distribution=distribution,
        confidence=own_confidence(panel.cut, codes),
        p_wrong=p_wrong,
        is_issue=is_issue,
        is_worth_a_look=is_contrary & ~is_issue,
        has_evidence=has_evidence,
    )
    return _silenced(found, rows, panel) if panel.is_silent else found


def _silenced(found: Conclusion, rows: Rows, panel: Panel) -> Conclusion:
    """Return what is left to say if the columns do not tell the classes apart, with a warning.

    No label is flagged. Each keeps its class, since nothing but the label itself speaks for one; P(wrong)
    keeps its order and adds up to a small constant share. Unlabeled rows keep what the pool says: where
    experts know nothing, it does not believe them either.
    """
    warn_of_silence(panel)
    is_open = rows.is_labeled & np.isfinite(rows.trust)
    p_wrong = found.p_wrong.copy()
    p_wrong[is_open] = match_total(p_wrong[is_open], UNPROVEN_P_WRONG * is_open.sum())
    given = rows.codes[is_open]
    distribution = found.distribution.copy()
    # What is left by the label goes to the other classes, by their shares.
    distribution[is_open] = panel.shares * (p_wrong[is_open] / (1.0 - panel.shares[given]))[:, None]
    distribution[is_open, given] = 1.0 - p_wrong[is_open]
    nothing = np.zeros(rows.codes.size, dtype=bool)
    return replace(
        found,
        predicted=np.where(is_open, rows.codes, found.predicted),
        distribution=distribution,
        p_wrong=p_wrong,
        is_issue=nothing,
        is_worth_a_look=nothing,
    )


def own_confidence(cut: HonestCuts, codes: Ints) -> Floats:
    """Return the confidence in each label by the cut of its own class."""
    if cut.n_classes == 2:
        return cut.cuts[0].confidence
    confidence = np.full(codes.size, np.nan)
    for c, found in enumerate(cut.cuts):
        confidence[codes == c] = found.confidence[codes == c]
    return confidence


def warn_of_silence(panel: Panel) -> None:
    """Say that no label is flagged because the columns know nothing about them."""
    assert panel.evidence is not None
    warnings.warn(
        f"the columns do not tell the classes apart better than chance (AUC {panel.evidence.auc:.2f} +- "
        f"{panel.evidence.auc_error:.2f}), so no label can be called wrong by them and none is flagged. "
        "Add columns that have to do with the label, or label more rows.",
        UserWarning,
        stacklevel=7,
    )


def warn_of_class(name: Any, n_flagged: int, n_labels: int) -> None:
    """Say that a class lost its flags, and what to do."""
    warnings.warn(
        f"{n_flagged} of {n_labels} labels {name!r} contradict the "
        "columns, but it cannot be told whether they are wrong or the classes overlap; none of them is "
        "flagged. Review some of them by hand.",
        UserWarning,
        stacklevel=6,
    )
