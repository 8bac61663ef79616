"""One class against the rest: all steps of Confidence HNC after the graph, in the order of the paper.

Two classes need this once; more classes need it once per class, on the same graph and with the same opinion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from labelcut.arrays import Floats, Ints, Mask
from labelcut.graph import SimilarityGraph
from labelcut.hnc.calibration import (
    Logistic,
    NoiseRates,
    estimate_noise,
    fit_logistic,
    true_class_probability,
    wrong_label_probability,
)
from labelcut.hnc.class_cut import (
    ClassCut,
    hard_sides,
    label_worth,
    neighbor_vote,
    price_labels,
    trust_labels,
)
from labelcut.hnc.clock import StageClock
from labelcut.hnc.objective import confidence_cut
from labelcut.hnc.prior import Prior
from labelcut.hnc.settings import Settings
from labelcut.hnc.tradeoff import choose_tradeoff

__all__ = ["Separation", "separate"]


@dataclass(frozen=True, eq=False)
class Separation(ClassCut):
    """A cut, and what it says by itself about every row.

    Attributes
    ----------
    prior : Prior
        How an opinion on a new row becomes its pull.
    score : ndarray of shape (n_rows,)
        How strongly neighbours and prior speak for the positive side, the own label left out.
    offset : float
        What the trade-off adds to a score: itself if the cut decides, else nothing.
    curve : Logistic
        From scores to the probability of a given positive label.
    rates : NoiseRates
        How often labels are wrong.
    probability : ndarray of shape (n_rows,)
        P(truly positive).
    p_wrong : ndarray of shape (n_rows,)
        P(given label is wrong); NaN for unlabeled rows.
    """

    prior: Prior
    score: Floats
    offset: float
    curve: Logistic
    rates: NoiseRates
    probability: Floats
    p_wrong: Floats

    def probability_of(self, vote: Floats, opinion: Floats) -> Floats:
        """Return P(truly positive) of new rows from the sides of their neighbours and an opinion on them."""
        score = vote + self.offset + self.choice.strength * self.prior.of(opinion)
        return true_class_probability(self.curve(score), self.rates)


def separate(
    graph: SimilarityGraph,
    sign: Ints,
    trust: Floats,
    opinion: Floats,
    folds: Sequence[Mask],
    settings: Settings,
    clock: StageClock,
    n_jobs: int | None = None,
) -> Separation:
    """Return the positive rows cut off from the others.

    Parameters
    ----------
    graph : SimilarityGraph
        Rows and their similarity.
    sign : ndarray of shape (n_rows,)
        1 for a positive, -1 for a negative label, 0 for unlabeled rows.
    trust : ndarray of shape (n_rows,)
        Factor on the confidence of each label; ``inf`` holds a label.
    opinion : ndarray of shape (n_rows,)
        Probability of the positive class, never from the row's own label.
    folds : sequence of ndarray of bool
        Labeled rows to hide in each fold.
    settings : Settings
        How each step is done.
    clock : StageClock
        Keeps the time of each step.
    n_jobs : int, optional
        Threads; the result has the same bytes for any number.
    """
    prior = Prior.fit(opinion, sign, settings.noise) if settings.prior_strengths else Prior(0.0, None)
    pull, noise = prior.of(opinion), prior.rates
    scale = label_worth(graph, settings.confidence_scale)
    worth = scale * settings.confidence_strength

    def trust_and_price(seen: Ints) -> tuple[Floats, Floats]:
        confidence = trust_labels(graph, seen, trust, settings, n_jobs)
        return confidence, price_labels(confidence, seen, trust, worth, noise)

    with clock.stage("confidence cuts"):
        confidence, label_term = trust_and_price(sign)

    with clock.stage("fold cuts"):
        label_terms = [label_term] * len(folds)
        if settings.confidence_in_folds == "each":
            label_terms = [trust_and_price(np.where(hidden, 0, sign))[1] for hidden in folds]
        choice = choose_tradeoff(
            graph,
            sign,
            label_terms,
            scale * pull,
            folds,
            strengths=settings.prior_strengths or (0.0,),
            rule=settings.tradeoff,
            level=noise.border if noise else 0.5,
            grid=settings.grid,
            n_jobs=n_jobs,
        )

    with clock.stage("final cut"):
        prior_term = choice.strength * scale * pull
        path = confidence_cut(graph, sign, label_term, prior_term, n_jobs=n_jobs, on_progress=clock.part_done)
        is_positive_side = path.source_side(choice.tradeoff)

    with clock.stage("probabilities"):
        # A lone row is on the border of the cut where its neighbours' vote plus the trade-off is 0.
        offset = choice.tradeoff if settings.decision == "cut" else 0.0
        vote = neighbor_vote(graph.weights, graph.degree, hard_sides(is_positive_side))
        score = vote + offset + choice.strength * pull
        curve, rates = _calibrate(score, is_positive_side, sign, settings)
        probability, p_wrong = _judge_labels(curve(score), sign, trust, rates)
    return Separation(
        sign=sign,
        confidence=confidence,
        label_term=label_term,
        prior_term=prior_term,
        label_price=price_labels(confidence, sign, np.ones_like(trust), worth, noise),
        prior=prior,
        choice=choice,
        join_at=path.join_at,
        is_positive_side=is_positive_side,
        score=score,
        offset=offset,
        curve=curve,
        rates=rates,
        probability=probability,
        p_wrong=p_wrong,
    )


def _calibrate(
    score: Floats, is_positive_side: Mask, sign: Ints, settings: Settings
) -> tuple[Logistic, NoiseRates]:
    """Return the curve from scores to given labels, and how often these are wrong."""
    is_labeled = sign != 0
    is_positive = sign[is_labeled] > 0
    by_cut = settings.decision == "cut"
    curve = fit_logistic(score[is_labeled], is_positive, through_half=by_cut)
    if curve.slope < 0:  # the cut contradicts the labels; then only their frequency is known
        curve = Logistic(0.0 if by_cut else float(logit(np.clip(is_positive.mean(), 0.01, 0.99))), 0.0)
    rates = estimate_noise(score[is_labeled], is_positive_side[is_labeled], is_positive, kind=settings.noise)
    return curve, rates


def _judge_labels(given: Floats, sign: Ints, trust: Floats, rates: NoiseRates) -> tuple[Floats, Floats]:
    """Return P(truly positive) of every row and P(label is wrong); held labels are taken for certain."""
    is_labeled = sign != 0
    probability = true_class_probability(given, rates)
    p_wrong = np.full(sign.size, np.nan)
    p_wrong[is_labeled] = wrong_label_probability(probability[is_labeled], sign[is_labeled] > 0, rates)
    is_held = is_labeled & np.isinf(trust)
    probability[is_held] = sign[is_held] > 0
    p_wrong[is_held] = 0.0
    return probability, p_wrong
