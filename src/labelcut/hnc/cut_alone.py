"""The cut decides alone, as in the paper: folds, one class against the rest, and what follows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labelcut.arrays import Floats, Ints
from labelcut.graph import SimilarityGraph
from labelcut.hnc.clock import StageClock
from labelcut.hnc.conclusion import Conclusion
from labelcut.hnc.evidence import Evidence, measure_evidence
from labelcut.hnc.folds import hidden_folds
from labelcut.hnc.one_vs_rest import OneVsRest, separate_classes
from labelcut.hnc.opinion import NoOpinion, Opinion
from labelcut.hnc.rows import NewRows, Rows
from labelcut.hnc.separation import Separation
from labelcut.hnc.settings import Settings

__all__ = ["CutAlone", "cut_alone"]


@dataclass(frozen=True, eq=False)
class CutAlone:
    """What a fit leaves behind in which the cut decides alone, as in the paper.

    Attributes
    ----------
    one_vs_rest : OneVsRest
    opinion : Opinion
        Who was asked for a prior and for the weights of the columns.
    codes : ndarray of int of shape (n_rows,)
        The given labels.
    weights, log_loss : dict
        Empty: there is nobody to weigh.
    """

    one_vs_rest: OneVsRest
    opinion: Opinion
    codes: Ints
    weights: dict[str, float] = field(default_factory=dict)
    log_loss: dict[str, float] = field(default_factory=dict)

    @property
    def evidence(self) -> Evidence | None:
        """How well the columns predict the label; only told, never used. None if nobody can tell."""
        is_silent = isinstance(self.opinion, NoOpinion)
        return None if is_silent else measure_evidence(self.opinion.probability, self.codes)

    @property
    def cuts(self) -> tuple[Separation, ...]:
        """The cut of each class."""
        return self.one_vs_rest.separations

    @property
    def noise_rates(self) -> Floats:
        """The share of rows of each class that carry another label."""
        return self.one_vs_rest.noise_rates

    def judge(self, new: NewRows, n_jobs: int | None) -> tuple[Floats, Ints]:
        """Return the probabilities of new rows, and a guess for those that are like no row of the table."""
        if new.weights is None:
            raise ValueError(
                "fit was given a graph, in which new rows have no neighbours, and the cut decides alone "
                "here, so nobody can judge them; fit with X or embedding=E instead, or take preset='default'."
            )
        opinion = self.opinion.of(new.X, n_jobs=n_jobs)
        return self.one_vs_rest.judge(new.weights, opinion), np.asarray(opinion.argmax(axis=1))


def cut_alone(
    rows: Rows,
    graph: SimilarityGraph,
    opinion: Opinion,
    settings: Settings,
    clock: StageClock,
    random_state: Any,
    n_jobs: int | None,
) -> tuple[CutAlone, Conclusion]:
    """Deal the folds, cut each class off from the rest, and conclude.

    Parameters
    ----------
    rows : Rows
    graph : SimilarityGraph
        The rows joined by likeness.
    opinion : Opinion
        A prior for every row, never from its own label.
    settings : Settings
    clock : StageClock
    random_state : int, RandomState or None
        For the folds.
    n_jobs : int or None
    """
    folds = hidden_folds(rows.codes, settings, random_state)
    given = (graph, rows.codes, rows.trust, opinion.probability, folds, settings)
    verdict = CutAlone(separate_classes(*given, clock, n_jobs), opinion, rows.codes)
    with clock.stage("probabilities"):
        guess = opinion.probability.argmax(axis=1)
        found = verdict.one_vs_rest.conclude(graph, rows.codes, rows.trust, guess, settings)
    verdict.one_vs_rest.warn_if_degenerate()
    return verdict, found
