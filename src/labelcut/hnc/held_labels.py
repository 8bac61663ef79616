"""HNC: the same estimator with every label held."""

from __future__ import annotations

from typing import ClassVar

from labelcut.hnc.classifier import ConfidenceHNC

__all__ = ["HNC"]


class HNC(ConfidenceHNC):
    """Hochbaum's Normalized Cut: the same cut with every label held.

    Labels are seeds that never change sides, so no label is flagged; unlabeled rows are classified. It is
    :class:`ConfidenceHNC` with ``sample_weight=inf`` for every label, and the right choice when labels are
    few and certain. The parameters of the confidences have no effect.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from labelcut import HNC
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> hidden = y.copy()
    >>> hidden[20:] = -1
    >>> float((HNC().fit(X, hidden).transduction_ == y).mean()) > 0.95
    True
    """

    _holds_labels: ClassVar[bool] = True
