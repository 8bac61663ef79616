"""The cut as an expert: what it says about a row while the row's label is hidden.

For each task the labels it hides are hidden *before* confidences are computed, and the prior comes from the
group of trees that did not see them. So neither the row itself nor its neighbours have heard of the label.
A row's neighbours then vote with the sides they are on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from scipy import sparse

from labelcut.arrays import Floats, Ints, Mask
from labelcut.graph import SimilarityGraph
from labelcut.hnc.calibration import Logistic, fit_logistic
from labelcut.hnc.class_cut import ClassCut, label_worth, neighbor_vote, price_labels, trust_labels
from labelcut.hnc.clock import StageClock
from labelcut.hnc.grouped_forest import GroupedForest
from labelcut.hnc.hiding import Hiding
from labelcut.hnc.labels import UNLABELED
from labelcut.hnc.objective import confidence_cut
from labelcut.hnc.one_vs_rest import cut_classes
from labelcut.hnc.prior import Prior
from labelcut.hnc.settings import Settings
from labelcut.hnc.tasks import run_tasks, share_threads
from labelcut.hnc.tradeoff import TRADEOFF_RANGE, Choice, tradeoff_by

__all__ = ["HonestCut", "HonestCuts", "cut_honestly"]

#: How strongly the forest pulls in the cut, of two classes and of more. Strengths from 0 to 1 are equally
#: good in the pool; without any, one-sided noise is seen less well.
STRENGTH, STRENGTH_OF_MANY = 0.5, 1.0

#: The curve of the labels over where rows join falls at least this steeply: flatter it says nothing, but the
#: order of the rows is kept.
LEAST_SLOPE = 0.5


@dataclass(frozen=True, eq=False)
class HonestCut(ClassCut):
    """One class cut off from the rest, with all labels and without those of each task.

    Attributes
    ----------
    side : ndarray of shape (n_rows,)
        The side of each row with all labels in use, from -1 to 1: how sure it is to be there. No row's side
        jumps when the trade-off moves a little.
    votes : ndarray of shape (n_tasks, n_rows)
        What the neighbours said while the labels of each task were hidden.
    final_vote : ndarray of shape (n_rows,)
        What they say with all labels in use.
    """

    side: Floats
    votes: Floats = field(repr=False)
    final_vote: Floats


@dataclass(frozen=True, eq=False)
class HonestCuts:
    """The cut as an expert on all classes: one class against the rest, for two classes only the second.

    Attributes
    ----------
    cuts : tuple of HonestCut
    curves : tuple of Logistic
        From the vote on each class to its probability.
    n_classes : int
    probability : ndarray of shape (n_rows, n_classes)
        Of a row that is judged by the votes while its label was hidden; of others by the final ones.
    final : ndarray of shape (n_rows, n_classes)
        By the final votes: one label in five more was in use.
    """

    cuts: tuple[HonestCut, ...]
    curves: tuple[Logistic, ...]
    n_classes: int
    probability: Floats
    final: Floats

    def of_task(self, m: int, rows: Ints | slice = slice(None)) -> Floats:
        """Return the probabilities of rows, by default of all, while the labels of one task were hidden."""
        return self._from_votes([cut.votes[m][rows] for cut in self.cuts])

    def at(self, places: Ints) -> HonestCuts:
        """Return what the cuts say about some of the rows."""

        def some(cut: HonestCut) -> HonestCut:
            kept: dict[str, Any] = {}
            for part in fields(HonestCut):
                value = getattr(cut, part.name)
                if isinstance(value, np.ndarray):
                    kept[part.name] = value[..., places]
            return replace(cut, **kept)

        cuts = tuple(some(cut) for cut in self.cuts)
        return replace(self, cuts=cuts, probability=self.probability[places], final=self.final[places])

    def of(self, weights: sparse.csr_array[Any, Any]) -> Floats:
        """Return the probabilities of new rows from their similarity to the rows of the table."""
        degree: Floats = np.asarray(weights.sum(axis=1), dtype=np.float64).ravel()
        return self._from_votes([neighbor_vote(weights, degree, cut.side) for cut in self.cuts])

    def _from_votes(self, votes: Sequence[Floats]) -> Floats:
        return _distribution(votes, self.curves)


def cut_honestly(
    graph: SimilarityGraph,
    codes: Ints,
    trust: Floats,
    forest: GroupedForest,
    hiding: Hiding,
    kept: float,
    settings: Settings,
    n_jobs: int | None,
    clock: StageClock | None = None,
) -> HonestCuts:
    """Return the cuts of all classes and what they say about every row.

    Parameters
    ----------
    graph : SimilarityGraph
    codes : ndarray of int of shape (n_rows,)
        Class 0, 1, ..., or -1 for an unlabeled row.
    trust : ndarray of shape (n_rows,)
        Factor on the confidence of each label; ``inf`` holds a label.
    forest : GroupedForest
        The prior.
    hiding : Hiding
        The labels that each task hides.
    kept : float
        What noise leaves of the difference between two classes: 1 without noise, 0 where labels say nothing.
    settings : Settings
    n_jobs : int or None
    clock : StageClock, optional
        Hears how far it is.
    """
    n_classes = forest.probability.shape[1]
    cuts: list[HonestCut] = []
    classes = cut_classes(n_classes)
    for c in classes:
        sign = np.where(codes == UNLABELED, 0, np.where(codes == c, 1, -1))
        task = _Task(graph, sign, trust, forest, c, hiding, kept, settings, n_jobs)
        cuts.append(task.solve(clock, len(cuts), len(classes)))
    is_judged = hiding.is_judged
    honest = [np.where(is_judged, hiding.mean(cut.votes), cut.final_vote) for cut in cuts]
    curves = tuple(
        _rising(fit_logistic(vote[is_judged], cut.sign[is_judged] > 0))
        for vote, cut in zip(honest, cuts, strict=True)
    )
    final = _distribution([cut.final_vote for cut in cuts], curves)
    return HonestCuts(tuple(cuts), curves, n_classes, _distribution(honest, curves), final)


@dataclass(frozen=True, eq=False)
class _Task:
    """One class against the rest, all that its solves need."""

    graph: SimilarityGraph
    sign: Ints
    trust: Floats
    forest: GroupedForest
    c: int
    hiding: Hiding
    kept: float
    settings: Settings
    n_jobs: int | None

    def solve(self, clock: StageClock | None, n_before: int, n_cuts: int) -> HonestCut:
        """Solve without the labels of each task, choose the trade-off, solve with all labels."""
        settings, graph, sign = self.settings, self.graph, self.sign
        is_binary = self.forest.probability.shape[1] == 2
        prior = Prior.fit(
            self.forest.probability[:, self.c], sign, settings.noise if is_binary else "symmetric"
        )
        worth = label_worth(graph, settings.confidence_scale)
        strength = (STRENGTH if is_binary else STRENGTH_OF_MANY) if settings.prior_strengths else 0.0
        price = worth * settings.confidence_strength

        def term_of(confidence: Floats, seen: Ints) -> Floats:
            return price_labels(confidence, seen, self.trust, price, prior.rates)

        confidence = trust_labels(graph, sign, self.trust, settings, self.n_jobs)
        label_term = term_of(confidence, sign)

        n_tasks = len(self.hiding.masks)
        n_at_once, n_inside = share_threads(sign.size, n_tasks, self.n_jobs)

        def solve_task(m: int) -> Floats:
            hidden, term = self.hiding.masks[m], label_term
            if is_binary:  # with more classes it changes next to nothing and takes half of the time
                seen = np.where(hidden, 0, sign)
                term = price_labels(
                    trust_labels(graph, seen, self.trust, settings, n_inside),
                    seen,
                    self.trust,
                    price,
                    prior.rates,
                )
            pull = strength * worth * prior.of(self.forest.by_task[m, :, self.c])
            return _join(graph, sign, term, pull, hidden, n_inside)

        joins = run_tasks(
            solve_task, n_tasks, n_at_once, clock, n_before=n_before * n_tasks, n_all=n_cuts * n_tasks
        )
        level = prior.rates.border if prior.rates else 0.5
        choice, slope = self._choose(joins, strength, level)
        votes = np.array([self._vote(_soft_sides(join_at, choice.tradeoff, slope)) for join_at in joins])
        prior_term = strength * worth * prior.of(self.forest.probability[:, self.c])
        path = confidence_cut(graph, sign, label_term, prior_term, n_jobs=self.n_jobs)
        side = _soft_sides(path.join_at, choice.tradeoff, slope)
        return HonestCut(
            sign=sign,
            confidence=confidence,
            label_term=label_term,
            prior_term=prior_term,
            label_price=price_labels(confidence, sign, np.ones_like(self.trust), price, prior.rates),
            choice=choice,
            join_at=path.join_at,
            is_positive_side=path.source_side(choice.tradeoff),
            side=side,
            votes=votes.astype(np.float32),
            final_vote=self._vote(side),
        )

    def _choose(self, joins: Sequence[Floats], strength: float, level: float) -> tuple[Choice, float]:
        """Return the trade-off, and how fast the true class changes with where a hidden row joins.

        Noise flattens the curve of the labels; without undoing that every side would be lukewarm.
        """
        join_at = np.concatenate(
            [values[hidden] for values, hidden in zip(joins, self.hiding.masks, strict=True)]
        )
        sign = np.concatenate([self.sign[hidden] for hidden in self.hiding.masks])
        t = tradeoff_by(self.settings.tradeoff, join_at, sign, level, self.settings.grid)
        slope = min(fit_logistic(join_at, sign > 0).slope, -LEAST_SLOPE) / self.kept
        honest = np.where(self.hiding.is_judged, self.hiding.mean(np.array(joins)), np.nan)
        accuracy = float(np.mean((join_at < t) == (sign > 0)))
        return Choice(t, strength, accuracy, honest), slope

    def _vote(self, side: Floats) -> Floats:
        return neighbor_vote(self.graph.weights, self.graph.degree, side)


def _join(
    graph: SimilarityGraph, sign: Ints, label_term: Floats, pull: Floats, hidden: Mask, n_jobs: int
) -> Floats:
    """Return where every row joins while some labels are hidden, within the range of trade-offs."""
    path = confidence_cut(graph, sign, label_term, pull, hidden=hidden, t_range=TRADEOFF_RANGE, n_jobs=n_jobs)
    return np.clip(path.join_at, -TRADEOFF_RANGE, TRADEOFF_RANGE)


def _soft_sides(join_at: Floats, tradeoff: float, slope: float) -> Floats:
    """Return what joining there says about the class, between -1 and 1."""
    return np.tanh(slope * (np.clip(join_at, -TRADEOFF_RANGE, TRADEOFF_RANGE) - tradeoff) / 2.0)


def _rising(curve: Logistic) -> Logistic:
    """Return the curve, flat where it would fall: more votes for a class never make it less likely."""
    return Logistic(curve.intercept, max(curve.slope, 0.0))


def _distribution(votes: Sequence[Floats], curves: Sequence[Logistic]) -> Floats:
    """Return one probability per row and class from the votes on the classes that were cut off."""
    positive = [curve(np.asarray(vote, dtype=np.float64)) for vote, curve in zip(votes, curves, strict=True)]
    if len(positive) == 1:
        return np.column_stack([1.0 - positive[0], positive[0]])
    together = np.column_stack(positive)
    return np.asarray(together / together.sum(axis=1, keepdims=True))
