"""An order of the rows by their content, so that no answer depends on the order they came in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelcut.arrays import Ints
from labelcut.graph.distinct import row_bytes
from labelcut.hnc.columns import as_matrix

__all__ = ["canonical_order", "stand_ins"]


def canonical_order(X: ArrayLike, *per_row: ArrayLike) -> Ints:
    """Return an order of the rows that depends on their content only, not on the order they came in.

    A bootstrap draws rows by position, sums round by position, and ties between neighbors are broken by row
    number. So an estimator whose answer must not depend on the order of the rows does this first, on the raw
    matrix::

        order = canonical_order(X, codes, sample_weight)
        X, codes = X[order], codes[order]
        ...                                      # scale, forest, graph, cuts
        answer = np.empty_like(sorted_answer)
        answer[order] = sorted_answer

    Rows that are equal in everything passed here keep their order, which is harmless: they are
    interchangeable.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    *per_row : array-like of shape (n_rows,)
        Whatever else tells two rows apart, such as label codes and sample weights.

    Returns
    -------
    ndarray of shape (n_rows,)
        Row numbers, as from ``numpy.argsort``.
    """
    X = as_matrix(X)
    columns = [X, *(np.asarray(values, dtype=np.float64).reshape(len(X), 1) for values in per_row)]
    content = np.hstack(columns)
    content += 0.0  # -0.0 equals 0.0 but has other bytes
    # One comparison of bytes per pair of rows; the order has no meaning, it only has to be the same every
    # time.
    return np.argsort(row_bytes(content), kind="stable")


def stand_ins(X: NDArray[np.float64], *per_row: NDArray[Any]) -> NDArray[np.intp]:
    """Return, for rows in canonical order, the first row with the same features, label and all else.

    Rows that are equal in everything can still end up different where a tie was broken by row number. All of
    them report the results of the first, so that an answer does not depend on the order of the table.
    """
    is_new = np.ones(len(X), dtype=bool)
    is_new[1:] = (X[1:] != X[:-1]).any(axis=1)
    for values in per_row:
        is_new[1:] |= values[1:] != values[:-1]
    return np.maximum.accumulate(np.where(is_new, np.arange(len(X)), 0))
