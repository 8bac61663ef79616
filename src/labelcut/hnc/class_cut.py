"""One class cut off from the rest: what labels are worth in the cut, and how neighbours vote after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from labelcut.arrays import Floats, Ints, Mask
from labelcut.graph import SimilarityGraph
from labelcut.hnc.calibration import NoiseRates
from labelcut.hnc.confidence import label_confidence
from labelcut.hnc.settings import Settings
from labelcut.hnc.tradeoff import Choice

__all__ = [
    "ClassCut",
    "cut_of_class",
    "hard_sides",
    "label_worth",
    "neighbor_vote",
    "price_labels",
    "trust_labels",
]


#: Noise rates used in the ratio of label terms are at least this, because a rate of 0 would make a label
#: certain.
LOWEST_RATE_IN_RATIO = 0.02


@dataclass(frozen=True, eq=False)
class ClassCut:
    """The positive rows cut off from the others.

    Attributes
    ----------
    sign : ndarray of shape (n_rows,)
        1 for a positive, -1 for a negative label, 0 for unlabeled rows.
    confidence : ndarray of shape (n_rows,)
        Confidence in each label; NaN for unlabeled rows.
    label_term, prior_term : ndarray of shape (n_rows,)
        The g and u of the cut (see :mod:`labelcut.hnc.objective`).
    label_price : ndarray of shape (n_rows,)
        What the label term would be at a trust of 1.
    choice : Choice
        Trade-off and prior strength, and what the folds said.
    join_at : ndarray of shape (n_rows,)
        The trade-off above which each row is on the positive side, all labels in use.
    is_positive_side : ndarray of bool of shape (n_rows,)
        The cut at the chosen trade-off.
    """

    sign: Ints
    confidence: Floats
    label_term: Floats
    prior_term: Floats
    label_price: Floats
    choice: Choice
    join_at: Floats
    is_positive_side: Mask


def cut_of_class(cuts: Sequence[ClassCut], code: int) -> tuple[ClassCut, bool]:
    """Return the cut that a class is a side of, and whether that is its negative side.

    Two classes share one cut, of the second against the first.
    """
    return (cuts[0], code == 0) if len(cuts) == 1 else (cuts[code], False)


def hard_sides(is_positive_side: Mask) -> Floats:
    """Return 1 for the positive side and -1 for the other."""
    return np.where(is_positive_side, 1.0, -1.0)


def neighbor_vote(weights: sparse.csr_array[Any, Any], degree: Floats, side: Floats) -> Floats:
    """Return the weighted mean of the neighbours' sides, from -1 to 1; 0 without neighbours.

    Parameters
    ----------
    weights : csr_array of shape (n_queries, n_rows)
        The similarity of each row in question to the rows whose sides are known.
    degree : ndarray of shape (n_queries,)
        Their sum per line.
    side : ndarray of shape (n_rows,)
        The sides, from -1 to 1.
    """
    pulled = np.asarray(weights @ side)
    return np.asarray(np.divide(pulled, degree, out=np.zeros_like(pulled), where=degree > 0))


def trust_labels(
    graph: SimilarityGraph, sign: Ints, trust: Floats, settings: Settings, n_jobs: int | None
) -> Floats:
    """Return the confidence in every label as the settings ask for it; NaN for unlabeled rows."""
    if np.isinf(trust[sign != 0]).all():  # HNC: every label is held, whatever its confidence
        return np.where(sign != 0, 1.0, np.nan)
    return label_confidence(
        graph,
        sign,
        symmetric=settings.confidence_symmetric,
        counts=settings.confidence_counts,
        grid=settings.grid,
        n_jobs=n_jobs,
    )


def label_worth(graph: SimilarityGraph, kind: str) -> float:
    """Return what a confidence of 1 is worth in units of similarity (theta).

    The mean degree is k times the mean weight that a row gives to its own k nearest rows.
    """
    if kind == "degree":
        return float(graph.degree.mean())
    return float(graph.weights.data.mean()) if graph.weights.nnz else 0.0


def price_labels(
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
