"""Probabilities of classes, seen through the noise of the labels."""

from __future__ import annotations

import numpy as np

from labelcut.arrays import Floats

__all__ = ["seen_through"]


def seen_through(probability: Floats, channel: Floats) -> Floats:
    """Return ``probability @ channel``, where each row gets the same digits alone as among others.

    A library's product adds in an order that hangs on the number of rows. This one takes about as long.

    Parameters
    ----------
    probability : ndarray of shape (n_rows, n_classes)
    channel : ndarray of shape (n_classes, n_classes)
        P(label j | true class k) at row k, column j; or its inverse, to undo the noise.
    """
    by_class = np.ascontiguousarray(probability.T)
    seen = np.empty_like(probability)
    for j, into in enumerate(channel.T):
        total = by_class[0] * into[0]
        for share, factor in zip(by_class[1:], into[1:], strict=True):
            total += share * factor
        seen[:, j] = total
    return seen
