"""The cut of all rows on the coordinator, and the experts weighed by sampled labels they have not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from labelcut.arrays import Floats, Ints
from labelcut.graph import SimilarityGraph
from labelcut.hnc.cleaning import clean_labels
from labelcut.hnc.clock import StageClock
from labelcut.hnc.grouped_forest import GroupedForest
from labelcut.hnc.hiding import Hiding
from labelcut.hnc.honest_cut import HonestCuts, cut_honestly
from labelcut.hnc.opinion import Given, Opinion
from labelcut.hnc.panel import Panel, kept_difference, learn_again, seat
from labelcut.hnc.question import Question, Weighed
from labelcut.large.opinions import FirstExperts

__all__ = ["clean_and_grow", "cut_all", "take_seats"]


def cut_all(
    question: Question,
    graph: SimilarityGraph,
    codes: Ints,
    trust: Floats,
    forest: GroupedForest,
    hiding: Hiding,
    clock: StageClock,
) -> HonestCuts:
    """Cut the graph of all rows; the labels that tasks hide are those of sampled rows, the first nodes.

    Parameters
    ----------
    question : Question
        About the sample.
    graph : SimilarityGraph
        Of all rows.
    codes, trust : ndarray of shape (n_rows,)
        Of all rows.
    forest : GroupedForest
        With its opinion on all rows.
    hiding : Hiding
        The tasks that are cut, in the sample.
    clock : StageClock
    """
    n_sampled = question.rows.codes.size
    masks = np.zeros((len(hiding.masks), codes.size), dtype=bool)
    masks[:, :n_sampled] = hiding.masks
    seen = np.asarray(forest.probability[:n_sampled], dtype=np.float64)
    kept = kept_difference(question.believe(np.log(np.maximum(seen, 1e-6))))
    everywhere = Hiding(masks, hiding.n_folds)
    return cut_honestly(
        graph, codes, trust, forest, everywhere, kept, question.settings, question.n_jobs, clock
    )


def clean_and_grow(
    question: Question,
    weighed: Weighed,
    experts: FirstExperts,
    cut: HonestCuts,
    n_rows: int,
    clock: StageClock,
) -> dict[str, Opinion]:
    """Let those of the second round learn from the first rows of the sample, cleaned by who did not see them.

    Parameters
    ----------
    question : Question
        About the sample.
    weighed : Weighed
        What the first experts are weighed by.
    experts : FirstExperts
        Asked about the sample.
    cut : HonestCuts
        Of all rows.
    n_rows : int
        How many rows to learn from.
    clock : StageClock
    """
    n_rows = min(n_rows, question.rows.codes.size)
    asked = replace(
        question,
        rows=question.rows.at(np.arange(n_rows)),
        X=question.X[:n_rows],
        hiding=Hiding(question.hiding.masks[:, :n_rows], question.hiding.n_folds),
    )
    learned, channel = clean_labels(asked, weighed, cut, experts.forest, experts.boosting)
    return learn_again(asked, learned, channel, clock)


def take_seats(weighed: Weighed, opinions: Mapping[str, Floats]) -> Panel:
    """Weigh all experts by what they say about the sample; `opinions` has those of all but the cut."""
    places = weighed.places
    experts: dict[str, Opinion] = {
        name: Given(np.asarray(opinion[places], dtype=np.float64)) for name, opinion in opinions.items()
    }
    return seat(weighed.question, experts, weighed.cut)
