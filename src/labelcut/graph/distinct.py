"""The different rows of a matrix, and the plain measuring of distances that every search ends with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcut.arrays import Floats, Ints

__all__ = ["DistinctRows", "farthest", "row_bytes", "squared_distances"]


#: Numbers of float64 gathered at once to measure pairs (32 MB).
PAIR_NUMBERS = 1 << 22


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The different rows of a matrix, and which rows are equal to each of them.

    Equal rows are at equal distance from everything, so they are looked for only once.
    """

    rows: Floats
    number: Ints  # the distinct row each row is equal to
    members: Ints  # all rows, those equal to distinct row 0 first, ascending
    starts: Ints  # where the members of each distinct row begin; one more at the end

    @classmethod
    def of(cls, X: Floats) -> DistinctRows:
        """Find the different rows of a matrix."""
        _, first, number, counts = np.unique(
            row_bytes(X), return_index=True, return_inverse=True, return_counts=True
        )
        return cls(X[first], number, np.argsort(number, kind="stable"), np.append(0, np.cumsum(counts)))

    def nearest_of(self, queries: Floats, query: Ints, candidate: Ints, k: int) -> tuple[Ints, Floats]:
        """Return row numbers and distances of the k nearest among the candidates of each query.

        Parameters
        ----------
        queries : ndarray of shape (n_queries, n_features)
        query, candidate : ndarray of int of shape (n_pairs,)
            Pairs of a query and a distinct row; each query has candidates for at least k rows.
        k : int
        """
        squared = squared_distances(queries, query, self.rows, candidate)
        # Of more than k equal rows only the first k can be wanted.
        begin = self.starts[candidate]
        counts = np.minimum(self.starts[candidate + 1] - begin, k)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        row = self.members[np.repeat(begin, counts) + within]
        query, squared = np.repeat(query, counts), np.repeat(squared, counts)
        order = np.lexsort((row, squared, query))
        per_query = np.bincount(query, minlength=len(queries))
        wanted = order[(np.cumsum(per_query) - per_query)[:, None] + np.arange(k)]
        return row[wanted], np.sqrt(squared[wanted])


def row_bytes(X: NDArray[Any]) -> NDArray[np.void]:
    """Return each row as one opaque value, equal exactly when the rows are the same bytes."""
    X = np.ascontiguousarray(X)
    return X.view(np.dtype((np.void, X.itemsize * X.shape[1]))).reshape(len(X))


def squared_distances(A: Floats, i: Ints, B: Floats, j: Ints) -> Floats:
    """Return ``|A[i] - B[j]|**2`` for pairs of rows; a pair gives the same bytes wherever it stands."""
    squared = np.empty(len(i))
    step = max(1, PAIR_NUMBERS // A.shape[1])
    for start in range(0, len(i), step):
        chunk = slice(start, start + step)
        difference = A.take(i[chunk], axis=0) - B.take(j[chunk], axis=0)
        np.square(difference, out=difference).sum(axis=1, out=squared[chunk])
    return squared


def farthest(rows: Floats, queries: Floats, some: Ints) -> Floats:
    """Return the largest squared distance of each query from some rows, given by number in one line each."""
    query = np.repeat(np.arange(len(queries)), some.shape[1])
    squared = squared_distances(queries, query, rows, some.ravel())
    return np.asarray(squared.reshape(some.shape).max(axis=1))
