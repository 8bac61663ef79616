"""The cut of all rows on the coordinator, and the experts weighed by sampled labels they have not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from labelcut.arrays import Floats, Ints
from labelcut.graph import SimilarityGraph
from labelcut.hnc.boosting import ASKED_AT_ONCE, Boosting
from labelcut.hnc.clock import StageClock
from labelcut.hnc.grouped_forest import GroupedForest
from labelcut.hnc.hiding import Hiding
from labelcut.hnc.honest_cut import HonestCut, HonestCuts, cut_honestly
from labelcut.hnc.judgement import judge_labels
from labelcut.hnc.opinion import Given, Opinion
from labelcut.hnc.panel import Panel, kept_difference, learn_again, seat
from labelcut.hnc.question import Question
from labelcut.hnc.rows import Rows
from labelcut.large.opinions import FirstExperts

__all__ = ["Weighed", "ask_booster", "clean_and_grow", "cut_all", "first_tasks", "weigh"]

#: Tasks are cut until so many labels were hidden: enough to weigh a handful of experts and to read off how
#: often labels are wrong. More of them would only take more cuts of the whole graph.
ENOUGH_HIDDEN = 100_000


def first_tasks(hiding: Hiding) -> int:
    """Return how many tasks are cut."""
    hidden = np.cumsum(hiding.masks.sum(axis=1))
    return min(len(hidden), 1 + int(np.searchsorted(hidden, ENOUGH_HIDDEN)))


def cut_all(
    question: Question,
    graph: SimilarityGraph,
    codes: Ints,
    trust: Floats,
    forest: GroupedForest,
    n_tasks: int,
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
    n_tasks : int
        How many tasks are cut.
    clock : StageClock
    """
    masks = np.zeros((n_tasks, codes.size), dtype=bool)
    n_sampled = question.rows.codes.size
    masks[:, :n_sampled] = question.hiding.masks[:n_tasks]
    hiding = Hiding(masks, n_tasks)
    seen = np.asarray(forest.probability[:n_sampled], dtype=np.float64)
    kept = kept_difference(question.believe(np.log(np.maximum(seen, 1e-6))))
    return cut_honestly(graph, codes, trust, forest, hiding, kept, question.settings, question.n_jobs, clock)


@dataclass(frozen=True, eq=False)
class Weighed:
    """The question about the sampled rows whose labels the cut has not seen, and the cut's answer on them."""

    question: Question
    cut: HonestCuts
    places: Ints


def weigh(question: Question, cut: HonestCuts, n_tasks: int) -> Weighed:
    """Return the part of the sample by which experts are weighed: hidden labels, held and missing ones."""
    masks = question.hiding.masks[:n_tasks]
    rows = question.rows
    is_open = rows.is_labeled & np.isfinite(rows.trust)
    places = np.flatnonzero(masks.any(axis=0) | ~is_open)
    some = _rows(rows, places)
    narrow = replace(question, rows=some, X=question.X[:0], hiding=Hiding(masks[:, places], n_tasks))
    return Weighed(narrow, _cuts(cut, places), places)


def clean_and_grow(
    question: Question,
    weighed: Weighed,
    experts: FirstExperts,
    cut: HonestCuts,
    n_rows: int,
    clock: StageClock,
) -> dict[str, Opinion]:
    """Let those of the second round learn from the first rows of the sample, cleaned by who did not see them.

    Where a task was not cut, its forest and, of two classes, its booster clean. A booster has learned from
    labels that it cleans here, but from far too many of them to know any by heart.

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
    rows, places = _rows(question.rows, np.arange(min(n_rows, question.rows.codes.size))), weighed.places
    first = {name: said.probability[places] for name, said in experts.named.items()}
    without_cut = weighed.question.weigh(first)
    with_cut = weighed.question.weigh({"forest": first["forest"], "cut": weighed.cut.probability})
    labeled, masks = rows.labeled, question.hiding.masks[:, : rows.codes.size]
    p_wrong = []
    for m in range(len(masks)):
        seen = {"forest": experts.forest.by_task[m, labeled]}
        is_cut = m < len(weighed.question.hiding.masks)
        if is_cut:
            seen["cut"] = cut.of_task(m, labeled)
        elif experts.boosting is not None:
            seen["boosting"] = ask_booster(experts.boosting, m, question.X, labeled, question.n_jobs)
        pool, belief = with_cut if is_cut else without_cut
        found = np.zeros(rows.codes.size)
        found[labeled] = judge_labels(pool.scores(seen), rows.codes[labeled], rows.trust[labeled], belief)
        p_wrong.append(found)
    hiding = Hiding(masks, question.hiding.n_folds)
    asked = replace(question, rows=rows, X=question.X[: rows.codes.size], hiding=hiding)
    return learn_again(asked, p_wrong, with_cut[1].channel(with_cut[1].mean), clock)


def ask_booster(boosting: Boosting, m: int, X: Floats, rows: Ints, n_jobs: int | None) -> Floats:
    """Return what one booster, which has not seen the labels that its task hides, says about some rows."""
    one = replace(boosting, models=boosting.models[m : m + 1])
    parts = np.array_split(rows, 1 + rows.size // ASKED_AT_ONCE)
    return np.concatenate([one.of(X[part], n_jobs) for part in parts])


def take_seats(weighed: Weighed, opinions: Mapping[str, Floats]) -> Panel:
    """Weigh all experts by what they say about the sample; `opinions` has those of all but the cut."""
    places = weighed.places
    experts: dict[str, Opinion] = {
        name: Given(np.asarray(opinion[places], dtype=np.float64)) for name, opinion in opinions.items()
    }
    return seat(weighed.question, experts, weighed.cut)


def _rows(rows: Rows, places: Ints) -> Rows:
    """Return some of the rows."""
    return replace(
        rows,
        X=rows.X[:0],
        raw=rows.raw[:0],
        codes=rows.codes[places],
        trust=rows.trust[places],
        opinions={name: opinion[places] for name, opinion in rows.opinions.items()},
        order=np.arange(places.size),
        place=np.arange(places.size),
    )


def _cuts(cuts: HonestCuts, places: Ints) -> HonestCuts:
    """Return what the cuts say about some of the rows."""

    def some(cut: HonestCut) -> HonestCut:
        kept: dict[str, Any] = {}
        for part in fields(HonestCut):
            value = getattr(cut, part.name)
            if isinstance(value, np.ndarray):
                kept[part.name] = value[..., places]
        return replace(cut, **kept)

    own = tuple(some(cut) for cut in cuts.cuts)
    return replace(cuts, cuts=own, probability=cuts.probability[places], final=cuts.final[places])
