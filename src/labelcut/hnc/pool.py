"""One opinion out of many: a weighted product of what the experts say, weighed by labels they have not seen.

The probability of class c is ``exp(b[c] + sum over experts e of w[e] * log p[e, c])``, normalised. "Forest
alone" and "cut alone" are corners of it. Weights are never negative, and are drawn to equal ones as if ten
labels had spoken for that: a few hundred labels cannot tell good experts apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from labelcut.arrays import Floats, Ints
from labelcut.hnc.channel import seen_through

__all__ = ["Pool", "fit_pool", "fit_pool_through", "label_log_loss"]

#: Equal weights are worth so many labels.
PENALTY = 10.0

#: A class is given at least this share by an expert, divided by the number of classes: nobody is surer.
LEAST_SHARE = 0.02


@dataclass(frozen=True, eq=False)
class Pool:
    """How far each expert is believed.

    Attributes
    ----------
    weights : dict of str to float
        The weight of each expert.
    intercepts : ndarray of shape (n_classes,)
    channel : ndarray of shape (n_classes, n_classes)
        P(label j | true class k) at row k, column j, through which the labels were seen.
    is_smooth : bool
        Whether the surest opinions keep their order, see :func:`fit_pool`.
    """

    weights: dict[str, float]
    intercepts: Floats
    channel: Floats
    is_smooth: bool = False

    def scores(self, opinions: Mapping[str, Floats]) -> Floats:
        """Return the log-probability of each given label, from the probabilities of all experts."""
        together = self.intercepts + sum(
            w * _log_shares(opinions[name], self.is_smooth) for name, w in self.weights.items()
        )
        return np.log(seen_through(np.exp(log_softmax(together, axis=1)), self.channel))


def fit_pool(
    opinions: Mapping[str, Floats],
    codes: Ints,
    channel: Floats | None = None,
    *,
    is_smooth: bool = False,
) -> Pool:
    """Return the weights under which the experts together predict labels best that they have not seen.

    Parameters
    ----------
    opinions : mapping of str to ndarray of shape (n_judged, n_classes)
        The probabilities of each expert.
    codes : ndarray of int of shape (n_judged,)
        The given labels.
    channel : ndarray of shape (n_classes, n_classes), optional
        The noise through which labels are seen; by default none.
    is_smooth : bool, default=False
        Mix every opinion with a little of knowing nothing, instead of cutting it off there: then nobody is
        surer either, but of two rows that are surer the order is kept.
    """
    n_classes = next(iter(opinions.values())).shape[1]
    channel = np.eye(n_classes) if channel is None else channel
    return fit_pool_through(opinions, channel[:, codes].T, channel, is_smooth=is_smooth)


def fit_pool_through(
    opinions: Mapping[str, Floats], into_label: Floats, channel: Floats, *, is_smooth: bool = False
) -> Pool:
    """Return the weights under which what was said about each row is likeliest.

    Parameters
    ----------
    opinions : mapping of str to ndarray of shape (n_judged, n_classes)
        The probabilities of each expert.
    into_label : ndarray of shape (n_judged, n_classes)
        How likely a row's labels are for each true class, up to a factor per row.
    channel : ndarray of shape (n_classes, n_classes)
        What the pool's scores are seen through.
    is_smooth : bool, default=False
        As in :func:`fit_pool`.
    """
    logs = np.array([_log_shares(opinion, is_smooth) for opinion in opinions.values()])
    n_experts, _, n_classes = logs.shape
    equal = np.full(n_experts, 1.0 / n_experts)

    def loss(theta: Floats) -> tuple[float, Floats]:
        weights, intercepts = theta[:n_experts], theta[n_experts:]
        p = np.exp(log_softmax(np.tensordot(weights, logs, 1) + intercepts, axis=1))
        joint = p * into_label
        total = np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
        residual = p - joint / total
        off = weights - equal
        value = -np.log(total).sum() + PENALTY * (off @ off + intercepts @ intercepts) / 2.0
        by_weight = np.tensordot(logs, residual, ((1, 2), (0, 1))) + PENALTY * off
        return float(value), np.concatenate([by_weight, residual.sum(axis=0) + PENALTY * intercepts])

    bounds = [(0.0, None)] * n_experts + [(None, None)] * n_classes
    start = np.concatenate([equal, np.zeros(n_classes)])
    theta = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    weights = dict(zip(opinions, theta[:n_experts].tolist(), strict=True))
    return Pool(weights, theta[n_experts:], channel, is_smooth)


def label_log_loss(opinion: Floats, codes: Ints) -> float:
    """Return the mean log-loss of an expert on given labels."""
    return float(-_log_shares(opinion)[np.arange(codes.size), codes].mean())


def _log_shares(opinion: Floats, is_smooth: bool = False) -> Floats:
    """Return log-probabilities, none surer than the least share allows."""
    if is_smooth:
        p = (1.0 - LEAST_SHARE) * opinion + LEAST_SHARE / opinion.shape[1]
    else:
        p = np.maximum(opinion, LEAST_SHARE / opinion.shape[1])
    return np.asarray(np.log(p / p.sum(axis=1, keepdims=True)))
