"""One class against the rest: all steps of Confidence HNC after the graph, in the order of the paper.

Two classes need this once; more classes need it once per class, on the same graph and with the same forest.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from scipy.special import logit

from labelcut.arrays import Floats, Ints, Mask
from labelcut.graph import SimilarityGraph
from labelcut.hnc.calibration import (
    Logistic,
    NoiseRates,
    asymmetric_rates,
    estimate_noise,
    fit_logistic,
    true_class_probability,
    wrong_label_probability,
)
from labelcut.hnc.confidence import PAPER_GRID, label_confidence
from labelcut.hnc.tradeoff import Choice, choose_tradeoff, confidence_cut

__all__ = ["Prior", "Separation", "Settings", "StageClock", "separate"]


#: The forest's probabilities are kept this far from 0 and 1 before their log-odds are taken.
PRIOR_CLIP = 0.02

#: Noise rates used in the ratio of label terms are at least this, because a rate of 0 would make a label
#: certain.
LOWEST_RATE_IN_RATIO = 0.02


@dataclass(frozen=True)
class Settings:
    """The choices of :class:`~labelcut.ConfidenceHNC` that this module needs, none of them open."""

    breakpoints: str = "exact"
    confidence_symmetric: bool = True
    confidence_counts: str = "free"
    confidence_scale: str = "degree"
    confidence_strength: float = 1.0
    confidence_in_folds: str = "once"
    prior_strengths: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0)
    tradeoff: str | float = "crossing"
    decision: str = "probability"
    noise: str = "auto"

    @property
    def grid(self) -> Floats | None:
        """The trade-offs to look at, or None for all of them."""
        return PAPER_GRID if self.breakpoints == "grid" else None


@dataclass
class StageClock:
    """Seconds per stage; tells each stage to the user as it begins if asked to."""

    is_talking: bool = False
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside, added to earlier times of the same stage."""
        if self.is_talking:
            sys.stderr.write(f"[labelcut] {name} ...\n")
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


@dataclass(frozen=True)
class Prior:
    """The forest's opinion as log-odds in units of their standard deviation over the labeled rows.

    The unit makes a strength near 1 right whatever the noise. Under one-sided noise it is undone first.
    """

    sd: float
    rates: NoiseRates | None

    @classmethod
    def fit(cls, probability: Floats, sign: Ints, noise: str) -> Prior:
        """Learn the unit, and whether the noise is one-sided, from the labeled rows."""
        p, is_positive = probability[sign != 0], sign[sign != 0] > 0
        rates = asymmetric_rates(p, p > 0.5, is_positive) if noise != "symmetric" else None
        rates = None if rates is None else rates.bounded(0.0)
        return cls(float(np.std(_log_odds(p, rates))), rates)

    def of(self, probability: Floats) -> Floats:
        """Return the prior of rows from the forest's probability of the positive class."""
        log_odds = _log_odds(probability, self.rates)
        return log_odds / self.sd if self.sd > 0 else np.zeros_like(log_odds)


def _log_odds(probability: Floats, rates: NoiseRates | None) -> Floats:
    if rates is not None:
        probability = true_class_probability(probability, rates)
    return np.asarray(logit(np.clip(probability, PRIOR_CLIP, 1.0 - PRIOR_CLIP)))


@dataclass(frozen=True, eq=False)
class Separation:
    """The positive rows cut off from the others, with every number that led there.

    Attributes
    ----------
    sign : ndarray of shape (n_rows,)
        1 for a positive, -1 for a negative label, 0 for unlabeled rows.
    confidence : ndarray of shape (n_rows,)
        Confidence in each label; NaN for unlabeled rows.
    label_term, prior_term : ndarray of shape (n_rows,)
        The g and u of the cut (see :mod:`labelcut.hnc.tradeoff`).
    label_price : ndarray of shape (n_rows,)
        What the label term would be at a trust of 1.
    prior : Prior or None
        How the forest's probability of a new row becomes its prior; None if no prior is used.
    choice : Choice
        Trade-off and prior strength, and what the folds said.
    join_at : ndarray of shape (n_rows,)
        The trade-off above which each row is on the positive side, all labels in use.
    is_positive_side : ndarray of bool of shape (n_rows,)
        The cut at the chosen trade-off.
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

    sign: Ints
    confidence: Floats
    label_term: Floats
    prior_term: Floats
    label_price: Floats
    prior: Prior | None
    choice: Choice
    join_at: Floats
    is_positive_side: Mask
    score: Floats
    offset: float
    curve: Logistic
    rates: NoiseRates
    probability: Floats
    p_wrong: Floats

    def probability_of(self, vote: Floats, forest_probability: Floats | None) -> Floats:
        """Return P(truly positive) of new rows from the sides of their neighbours and the forest."""
        score = vote + self.offset
        if self.prior is not None and forest_probability is not None:
            score = score + self.choice.strength * self.prior.of(forest_probability)
        return true_class_probability(self.curve(score), self.rates)


def separate(
    graph: SimilarityGraph,
    sign: Ints,
    trust: Floats,
    forest_probability: Floats | None,
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
    forest_probability : ndarray of shape (n_rows,) or None
        The forest's probability of the positive class, out-of-bag for labeled rows.
    folds : sequence of ndarray of bool
        Labeled rows to hide in each fold.
    settings : Settings
        How each step is done.
    clock : StageClock
        Keeps the time of each step.
    n_jobs : int, optional
        Threads; the result has the same bytes for any number.
    """
    prior, pull = None, np.zeros(sign.size)
    if settings.prior_strengths and forest_probability is not None:
        prior = Prior.fit(forest_probability, sign, settings.noise)
        pull = prior.of(forest_probability)
    noise = prior.rates if prior else None
    scale = _label_scale(graph, settings.confidence_scale)

    with clock.stage("confidence cuts"):
        confidence = _confidence(graph, sign, trust, settings, n_jobs)
    worth = scale * settings.confidence_strength
    label_term = _label_term(confidence, sign, trust, worth, noise)

    with clock.stage("fold cuts"):
        label_terms = [label_term] * len(folds)
        if settings.confidence_in_folds == "each":
            for k, hidden in enumerate(folds):
                seen = np.where(hidden, 0, sign)
                in_fold = _confidence(graph, seen, trust, settings, n_jobs)
                label_terms[k] = _label_term(in_fold, seen, trust, worth, noise)
        choice = choose_tradeoff(
            graph,
            sign,
            label_terms,
            scale * pull,
            folds,
            strengths=settings.prior_strengths if prior else (0.0,),
            rule=settings.tradeoff,
            level=noise.border if noise else 0.5,
            grid=settings.grid,
            n_jobs=n_jobs,
        )

    with clock.stage("final cut"):
        prior_term = choice.strength * scale * pull
        path = confidence_cut(graph, sign, label_term, prior_term, n_jobs=n_jobs)
        is_positive_side = path.source_side(choice.tradeoff)

    with clock.stage("probabilities"):
        # A lone row is on the border of the cut where its neighbours' vote plus the trade-off is 0.
        offset = choice.tradeoff if settings.decision == "cut" else 0.0
        score = neighbor_vote(graph, is_positive_side) + offset + choice.strength * pull
        curve, rates = _calibrate(score, is_positive_side, sign, settings)
        probability, p_wrong = _judge_labels(curve(score), sign, trust, rates)
    return Separation(
        sign=sign,
        confidence=confidence,
        label_term=label_term,
        prior_term=prior_term,
        label_price=_label_term(confidence, sign, np.ones_like(trust), worth, noise),
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


def neighbor_vote(graph: SimilarityGraph, is_positive_side: Mask) -> Floats:
    """Return the weighted mean of the neighbours' sides, from -1 to 1; 0 without neighbours."""
    side = np.where(is_positive_side, 1.0, -1.0)
    pulled = np.asarray(graph.weights @ side)
    return np.asarray(np.divide(pulled, graph.degree, out=np.zeros_like(pulled), where=graph.degree > 0))


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


def _confidence(
    graph: SimilarityGraph, sign: Ints, trust: Floats, settings: Settings, n_jobs: int | None
) -> Floats:
    if np.isinf(trust[sign != 0]).all():  # HNC: every label is held, whatever its confidence
        return np.where(sign != 0, 1.0, np.nan)
    return label_confidence(
        graph,
        sign,
        symmetric=settings.confidence_symmetric,
        counts="with_seeds" if settings.confidence_counts == "with_seeds" else "free",
        grid=settings.grid,
        n_jobs=n_jobs,
    )


def _label_scale(graph: SimilarityGraph, kind: str) -> float:
    """Return what a confidence of 1 is worth in units of similarity (theta).

    The mean degree is k times the mean weight that a row gives to its own k nearest rows.
    """
    if kind == "degree":
        return float(graph.degree.mean())
    return float(graph.weights.data.mean()) if graph.weights.nnz else 0.0


def _label_term(
    confidence: Floats, sign: Ints, trust: Floats, scale: float, noise: NoiseRates | None
) -> Floats:
    """Return the price of contradicting each label; under one-sided noise the safer class costs more."""
    is_held = (sign != 0) & np.isinf(trust)
    term = np.zeros(sign.size)
    is_priced = (sign != 0) & ~is_held
    term[is_priced] = scale * confidence[is_priced] * trust[is_priced]
    term[is_held] = np.inf
    if noise is not None:
        rates = noise.bounded(LOWEST_RATE_IN_RATIO)
        for_positive = np.log((1.0 - rates.positive) / rates.negative)
        for_negative = np.log((1.0 - rates.negative) / rates.positive)
        mean = (for_positive + for_negative) / 2
        term *= np.where(sign > 0, for_positive, for_negative) / mean
    return term
