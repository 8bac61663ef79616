"""The different rows of a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import labelcut.graph.compiled as compiled
from labelcut.arrays import Floats, Ints

__all__ = ["DistinctRows", "row_bytes"]


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The different rows of a matrix, and which rows are equal to each of them.

    Equal rows are at equal distance from everything, so they are looked for only once.
    """

    rows: NDArray[Any]  # float64, or float32 where memory is short
    members: NDArray[np.int32]  # all rows, those equal to distinct row 0 first, ascending
    starts: NDArray[np.int64]  # where the members of each distinct row begin; one more at the end

    @classmethod
    def of(cls, X: Floats) -> DistinctRows:
        """Find the different rows of a matrix, in the order in which they first occur."""
        number = np.empty(len(X), dtype=np.int32)
        n_distinct = compiled.in_use.number_equal_rows(X, number)
        members = np.argsort(number, kind="stable").astype(np.int32)
        starts = np.append(0, np.cumsum(np.bincount(number, minlength=n_distinct)))
        return cls(X if n_distinct == len(X) else X[members[starts[:-1]]], members, starts)

    def in_order(self, order: Ints) -> DistinctRows:
        """Return the same rows in another order, given by their numbers in this one."""
        counts = np.diff(self.starts)[order]
        starts = np.append(0, np.cumsum(counts))
        first = np.repeat(self.starts[:-1][order] - starts[:-1], counts)
        return DistinctRows(self.rows[order], self.members[first + np.arange(self.members.size)], starts)


def row_bytes(X: NDArray[Any]) -> NDArray[np.void]:
    """Return each row as one opaque value, equal exactly when the rows are the same bytes."""
    X = np.ascontiguousarray(X)
    return X.view(np.dtype((np.void, X.itemsize * X.shape[1]))).reshape(len(X))
