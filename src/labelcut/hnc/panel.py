"""All experts together: who is asked, and how far each is believed.

An expert has a probability for every row and has not seen the row's own label. They are asked in this order::

    forest           groups of trees; also tells which columns count in the graph
    boosting         of two classes, from a thousand labels on; dear, so asked about every label only once
    cut              the minimum cut on the graph, with the forest as its prior
    second_round     fully grown trees on what forest and cut leave of the labels
    second_boosting  boosting on the same labels; of two classes it takes over from five thousand labels on
    and whoever a user brings: classifiers and given probabilities

One pool weighs them by labels that were hidden from all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from labelcut.arrays import Floats, Ints
from labelcut.graph import SimilarityGraph
from labelcut.hnc.boosting import Boosting, boost, boost_cleaned
from labelcut.hnc.by_sight import Sight, look_at_labels
from labelcut.hnc.cleaning import clean_labels
from labelcut.hnc.clock import StageClock
from labelcut.hnc.evidence import UNPROVEN_P_WRONG, Evidence, measure_evidence
from labelcut.hnc.grouped_forest import GroupedForest
from labelcut.hnc.hiding import task_seed
from labelcut.hnc.honest_cut import HonestCut, HonestCuts, cut_honestly
from labelcut.hnc.judgement import judge_labels, true_class_probability
from labelcut.hnc.labels import UNLABELED
from labelcut.hnc.noise_floor import NoiseBelief
from labelcut.hnc.opinion import Given, Opinion, form_opinion
from labelcut.hnc.pool import Pool, label_log_loss
from labelcut.hnc.question import Question, Weighed, narrow
from labelcut.hnc.rows import NewRows
from labelcut.hnc.second_round import ThroughNoise, grow_on_cleaned
from labelcut.hnc.seen_labels import warn_of_seen_labels
from labelcut.hnc.settings import EXPERTS
from labelcut.memory import give_back

__all__ = ["Panel", "ask_panel", "kept_difference", "learn_again", "seat"]

#: Where labels seem to say nearly nothing, sides are not sharpened any further than by this share.
LEAST_KEPT = 0.1


@dataclass(frozen=True, eq=False)
class Panel:
    """The experts, and what they say together.

    Attributes
    ----------
    experts : dict of str to Opinion
        Everybody but the cut.
    cut : HonestCuts
    pool : Pool
        How far each is believed.
    pool_of_new : Pool
        How far on new rows; where these have no neighbours, everybody but the cut is.
    belief : NoiseBelief
        How often labels are wrong, by the surest rows, if the columns know anything.
    sight : Sight or None
        How often they are at every sureness, where classes do not overlap; else None.
    evidence : Evidence or None
        How well the columns predict the label; None if labels are too few to tell.
    opinions : dict of str to ndarray of shape (n_rows, n_classes)
        What each expert thinks of every row; the cut with all labels in use.
    log_loss : dict of str to float
        How well each predicts labels that it has not seen.
    shares : ndarray of shape (n_classes,)
        The shares of the classes among the labels.
    n_labeled : int
    is_cut_unseen : bool
        Whether every label that is judged was hidden from the cut once; of very many only some are.
    """

    experts: dict[str, Opinion]
    cut: HonestCuts
    pool: Pool
    pool_of_new: Pool
    belief: NoiseBelief
    sight: Sight | None
    evidence: Evidence | None
    opinions: dict[str, Floats] = field(repr=False)
    log_loss: dict[str, float]
    shares: Floats
    n_labeled: int
    is_cut_unseen: bool = True

    @property
    def cuts(self) -> tuple[HonestCut, ...]:
        """The cut of each class."""
        return self.cut.cuts

    @property
    def weights(self) -> dict[str, float]:
        """How far each expert is believed."""
        return self.pool.weights

    @property
    def unseen(self) -> dict[str, Floats]:
        """What each expert thinks of every row without the row's own label; the cut too, if it can tell."""
        others = {name: opinion for name, opinion in self.opinions.items() if name != "cut"}
        has_cut = "cut" in self.opinions and self.is_cut_unseen
        return others | ({"cut": self.cut.probability} if has_cut else {})

    @property
    def noise_rates(self) -> Floats:
        """The expected share of rows of each class that carry another label."""
        if self.is_silent:
            return np.full(self.shares.size, UNPROVEN_P_WRONG)
        return self.belief.mean if self.sight is None else self.sight.rates

    @property
    def is_silent(self) -> bool:
        """Whether the columns know nothing about the label, so that none is called wrong."""
        return self.evidence is not None and not self.evidence.is_there

    @property
    def belief_of_labels(self) -> NoiseBelief:
        """How often labels are held to be wrong: never, if the columns know nothing about them."""
        return self.belief.without_errors() if self.is_silent else self.belief

    @property
    def signal(self) -> float:
        """How likely the columns know anything: as far as they may not, no noise is undone."""
        return 1.0 if self.evidence is None else self.evidence.signal

    def judge(self, new: NewRows, n_jobs: int | None) -> tuple[Floats, Ints]:
        """Return the probabilities of new rows, and a guess for those that are like no row of the table."""
        opinions = dict(new.opinions)
        for name, expert in self.experts.items():
            if name not in opinions and (name in self.pool_of_new.weights or name == "forest"):
                opinions[name] = expert.of(new.X if name in EXPERTS else new.raw, n_jobs=n_jobs)
        if new.weights is None:
            distribution = self.distribution(self.pool_of_new.scores(opinions))
        else:
            opinions["cut"] = self.cut.of(new.weights)
            distribution = self.distribution(self.pool_of_new.scores(opinions))
            is_like_none = np.asarray(new.weights.sum(axis=1)).ravel() == 0
            distribution[is_like_none] = 1.0 / self.shares.size
        return distribution, np.asarray(opinions["forest"].argmax(axis=1))

    def distribution(self, scores: Floats) -> Floats:
        """Return the probability of each true class of rows from the log-probabilities of their label."""
        if self.sight is not None:
            return self.sight.distribution(scores)
        true = true_class_probability(scores, self.belief, self.n_labeled)
        return self.signal * true + (1.0 - self.signal) * np.exp(scores)

    def p_wrong(self, scores: Floats, codes: Ints, trust: Floats) -> Floats:
        """Return the probability that each label is wrong, from the log-probabilities of the labels."""
        if self.sight is not None:
            return self.sight.judge(scores, codes, trust)
        return judge_labels(scores, codes, trust, self.belief_of_labels)


def ask_panel(
    question: Question,
    graph: SimilarityGraph,
    forest: GroupedForest,
    own: Mapping[str, Any],
    clock: StageClock,
) -> Panel:
    """Ask everybody, and weigh them by what they say about hidden labels.

    Parameters
    ----------
    question : Question
    graph : SimilarityGraph
        The rows joined by likeness.
    forest : GroupedForest
        The first expert, who also weighed the columns of the graph.
    own : mapping of str to classifier
        Whoever a user brought.
    clock : StageClock
    """
    rows, hiding, names = question.rows, question.hiding, question.settings.experts
    experts: dict[str, Opinion] = {"forest": forest}
    if "boosting" in names and question.may_boost:
        with clock.stage("boosting"):
            experts["boosting"] = boost(
                question.X, rows.codes, hiding.first_deal, task_seed(question.seed, 2), question.n_jobs, clock
            )
    boosting = experts.get("boosting")
    assert boosting is None or isinstance(boosting, Boosting)
    # Without a booster nobody else could clean the labels of a task that is not cut.
    hidden = hiding if boosting is None else hiding.enough
    with clock.stage("cut"):
        kept = kept_difference(question.believe(np.log(np.maximum(forest.probability, 1e-6))))
        cut = cut_honestly(
            graph, rows.codes, rows.trust, forest, hidden, kept, question.settings, question.n_jobs, clock
        )

    def weighed() -> Weighed:  # a copy of much that is not held while others learn
        return Weighed(question, cut, slice(None)) if hidden is hiding else narrow(question, cut, hidden)

    if question.second_round:
        with clock.stage("second round"):
            learned, channel = clean_labels(question, weighed(), cut, forest, boosting)
            give_back()
            experts |= learn_again(question, learned, channel, clock)
    for name, model in own.items():
        with clock.stage(name):
            experts[name] = form_opinion(model, rows.raw, rows.codes, hiding, rows.classes)
    experts |= {name: Given(opinion) for name, opinion in rows.opinions.items()}
    with clock.stage("probabilities"):
        if hidden is hiding:
            return seat(question, experts, cut)
        return _seat_all(question, weighed(), experts, cut)


def learn_again(
    question: Question, learned: Sequence[Ints], channel: Floats, clock: StageClock
) -> dict[str, Opinion]:
    """Return those who learn from what the first round leaves of the labels.

    Parameters
    ----------
    question : Question
    learned : sequence of ndarray of int
        For each task, the rows to learn from.
    channel : ndarray of shape (n_classes, n_classes)
        The noise through which labels are seen.
    clock : StageClock
    """
    rows, hiding = question.rows, question.hiding
    experts: dict[str, Opinion] = {}
    if "second_round" in question.second_round:
        seed = task_seed(question.seed, 3)
        experts["second_round"] = grow_on_cleaned(
            question.X, rows.codes, hiding, learned, seed, question.n_jobs, clock
        )
    if "second_boosting" in question.second_round:
        seed, once = task_seed(question.seed, 4), hiding.first_deal
        experts["second_boosting"] = boost_cleaned(
            question.X, rows.codes, once, learned[: once.n_folds], seed, question.n_jobs, clock
        )
    if rows.classes.size > 2:  # their pool is fitted through the noise itself
        return experts
    return {name: ThroughNoise(expert, channel) for name, expert in experts.items()}


def seat(question: Question, experts: dict[str, Opinion], cut: HonestCuts) -> Panel:
    """Return the panel: everybody weighed by labels that they have not seen."""
    rows = question.rows
    honest = {name: expert.probability for name, expert in experts.items()} | {"cut": cut.probability}
    asked = [name for name in _heard(question) if name in honest]
    asked += [name for name in experts if name not in EXPERTS]
    opinions = {name: honest[name] for name in asked}
    pool, _ = question.weigh(opinions)
    pool_of_new = pool if rows.distances is None else _pool_without_cut(question, opinions, honest["forest"])
    scores = pool.scores(opinions)
    belief = question.believe(scores)
    labeled, judged = rows.labeled, question.hiding.is_judged
    if rows.opinions:
        _, honest_belief = question.weigh({"forest": honest["forest"], "cut": honest["cut"]})
        for name, opinion in rows.opinions.items():
            warn_of_seen_labels(name, opinion[judged], rows.codes[judged], honest_belief)
    codes = rows.codes[labeled]
    plain = np.mean(list(opinions.values()), axis=0)
    # Reviewed labels are hidden from nobody, so agreeing with them proves nothing.
    evidence = measure_evidence(np.exp(scores), np.where(judged, rows.codes, UNLABELED), plain)
    panel = Panel(
        experts=experts,
        cut=cut,
        pool=pool,
        pool_of_new=pool_of_new,
        belief=belief,
        sight=_look(question, scores, belief),
        evidence=evidence,
        opinions=opinions | ({"cut": cut.final} if "cut" in opinions else {}),
        log_loss={name: label_log_loss(p[judged], rows.codes[judged]) for name, p in opinions.items()},
        shares=np.bincount(codes, minlength=rows.classes.size) / codes.size,
        n_labeled=labeled.size,
    )
    return replace(panel, sight=None) if panel.is_silent else panel


def _seat_all(question: Question, weighed: Weighed, experts: dict[str, Opinion], cut: HonestCuts) -> Panel:
    """Return the panel of all rows, weighed by some of them."""
    some: dict[str, Opinion] = {
        name: Given(expert.probability[weighed.places]) for name, expert in experts.items()
    }
    panel = seat(weighed.question, some, weighed.cut)
    opinions = {name: cut.final if name == "cut" else experts[name].probability for name in panel.opinions}
    codes = question.rows.codes[question.rows.labeled]
    return replace(
        panel,
        experts=experts,
        cut=cut,
        opinions=opinions,
        shares=np.bincount(codes, minlength=panel.shares.size) / codes.size,
        n_labeled=codes.size,
        is_cut_unseen=False,
    )


def _heard(question: Question) -> list[str]:
    """Return our own experts that have something to say.

    Where rows are judged by sight and there are no columns, trees could only repeat the opinions, more
    coarsely; the cut speaks if an embedding or given distances make the neighbours.
    """
    settings, rows = question.settings, question.rows
    heard = [name for name in EXPERTS if name in settings.experts]
    if settings.overlap != "none" or rows.has_columns:
        return heard
    has_neighbors = rows.embedding is not None or rows.distances is not None
    return [name for name in heard if name == "cut" and has_neighbors]


def _look(question: Question, scores: Floats, belief: NoiseBelief) -> Sight | None:
    """Return how often labels are wrong at every sureness, if classes do not overlap."""
    if question.settings.overlap != "none":
        return None
    judged = question.hiding.is_judged
    return look_at_labels(scores[judged], question.rows.codes[judged], belief)


def _pool_without_cut(question: Question, opinions: Mapping[str, Floats], forest: Floats) -> Pool:
    """Return how far experts are believed about rows without neighbours; the forest speaks if nobody else."""
    others = {name: opinion for name, opinion in opinions.items() if name != "cut"}
    return question.weigh(others or {"forest": forest})[0]


def kept_difference(belief: NoiseBelief) -> float:
    """Return what noise leaves of the difference between two classes."""
    rate = float(belief.mean.mean())
    return max(1.0 - rate - rate / (belief.mean.size - 1), LEAST_KEPT)
