"""Columns that are never on together, told as one.

A column of words comes as one indicator per word, and of the indicators of a column at most one is on.
Boosting looks at every column in every leaf: told as one column of codes they say the same in a fraction of
the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labelcut.arrays import Floats, Ints, Mask

__all__ = ["Bundles", "find_bundles"]

#: Codes of one column: as many as scikit-learn's boosting tells apart, without the one for "none is on".
MOST_IN_BUNDLE = 254


@dataclass(frozen=True, eq=False)
class Bundles:
    """Which columns are told as one.

    Attributes
    ----------
    alone : ndarray of int
        Columns that stay as they are.
    groups : tuple of ndarray of int
        Columns of two values each, of which at most one is on in any row of the table.
    half : ndarray of shape (n_features,)
        A column is on above this.
    """

    alone: Ints
    groups: tuple[Ints, ...]
    half: Floats

    @property
    def categories(self) -> list[int]:
        """The columns of codes in what `apply` returns."""
        return list(range(self.alone.size, self.alone.size + len(self.groups)))

    def apply(self, X: Floats) -> Floats:
        """Return the columns that stay, then one column of codes per group: 0 if none is on.

        In a new row several may be on, and the first one counts.
        """
        if not self.groups:
            return X
        told = np.zeros((len(X), self.alone.size + len(self.groups)))
        told[:, : self.alone.size] = X[:, self.alone]
        for place, group in zip(self.categories, self.groups, strict=True):
            for code in range(group.size, 0, -1):
                column = group[code - 1]
                told[X[:, column] > self.half[column], place] = code
        return told


def find_bundles(X: Floats) -> Bundles:
    """Return the columns of a table that are never on together; the larger of two values is "on".

    Each joins the first group that it does not meet in any row, so columns of other kinds in between do not
    matter, and pairs are told as one, too.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    """
    low, high = X.min(axis=0), X.max(axis=0)
    groups: list[list[int]] = []
    is_on: list[Mask] = []
    for h in range(X.shape[1]):
        column = X[:, h]
        on = column == high[h]
        if low[h] == high[h] or not np.all(on | (column == low[h])):
            continue
        for g, taken in enumerate(is_on):
            if len(groups[g]) < MOST_IN_BUNDLE and not np.any(taken & on):
                groups[g].append(h)
                taken |= on
                break
        else:
            groups.append([h])
            is_on.append(on)
    bundled = tuple(np.array(group) for group in groups if len(group) > 1)
    alone = np.setdiff1d(np.arange(X.shape[1]), np.concatenate(bundled)) if bundled else np.arange(X.shape[1])
    return Bundles(alone, bundled, (low + high) / 2)
