"""Missing values: trees see that there is none, neighbours see the usual value and a mark.

A tree sends rows without a value to the side that suits them. A distance needs a number: the median of the
column stands for it, and a 0/1 column says that it does. That mark counts as much as its column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labelcut.arrays import Floats, Ints
from labelcut.hnc.columns import lower_median

__all__ = ["Gaps", "find_gaps", "no_gaps"]


@dataclass(frozen=True, eq=False)
class Gaps:
    """Where values were missing in ``fit``, and what stands for them.

    Attributes
    ----------
    usual : ndarray of shape (n_features,)
        The median of each column, which stands for missing values; 0 if a column has none at all.
    marked : ndarray of int of shape (n_marks,)
        The columns that have a mark, since values of them were missing.
    """

    usual: Floats
    marked: Ints

    def spread(self, X: Floats) -> Floats:
        """Return the columns without gaps, then the marks; the same matrix where nothing was ever missing."""
        is_missing = np.isnan(X)
        if not (self.marked.size or is_missing.any()):
            return X
        return np.hstack([np.where(is_missing, self.usual, X), is_missing[:, self.marked]])

    def reopen(self, spread: Floats, X: Floats) -> Floats:
        """Return scaled columns without their marks, and with the gaps that X has."""
        is_missing = np.isnan(X)
        if not (self.marked.size or is_missing.any()):
            return spread
        return np.where(is_missing, np.nan, spread[:, : X.shape[1]])

    def with_marks(self, importances: Floats) -> Floats:
        """Return how much each column counts and, after that, each mark: as much as its column."""
        return np.concatenate([importances, importances[self.marked]]) if self.marked.size else importances


def find_gaps(X: Floats) -> Gaps:
    """Return where values are missing, and the lower median of each column.

    That is one of its values, so it does not depend on the order of the rows; and values that stand for
    missing ones do not move it.
    """
    present = [column[~np.isnan(column)] for column in X.T]
    usual = [lower_median(values) if values.size else 0.0 for values in present]
    marked = [h for h, values in enumerate(present) if values.size < len(X)]
    return Gaps(np.array(usual), np.array(marked, dtype=np.intp))


def no_gaps() -> Gaps:
    """Return that nothing is missing, and nothing may be."""
    return Gaps(np.zeros(0), np.zeros(0, dtype=np.intp))
