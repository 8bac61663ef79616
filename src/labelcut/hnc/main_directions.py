"""Sparse columns, such as the words of texts: trees take them as they are, neighbours their main directions.

A distance over ten thousand words that hardly two rows share says little. So neighbours see a row as its
shares in the hundred main directions (truncated singular values), of length one: what counts is what a row is
about, not how long it is. That is the cosine, found by the Euclidean search that all others use.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD

from labelcut.arrays import Floats

__all__ = ["MOST_DIRECTIONS", "MainDirections", "find_directions", "plain_rows", "row_numbers"]

#: Main directions that neighbours see. A sparse matrix with no more columns is simply made dense.
MOST_DIRECTIONS = 100


@dataclass(frozen=True, eq=False)
class MainDirections:
    """The main directions of sparse columns, to treat new rows like the old ones.

    Attributes
    ----------
    svd : TruncatedSVD
    unit : float
        The length of a row, chosen so that the directions have mean variance 1, as scaled columns have: then
        one bandwidth suits both.
    """

    svd: TruncatedSVD = field(repr=False)
    unit: float

    def of(self, X: Any) -> Floats:
        """Return the rows in the main directions, all of one length; what has no word in common is 0."""
        return self.unit * _of_length_one(self.svd.transform(X))


def find_directions(X: Any) -> MainDirections:
    """Return the main directions of a sparse matrix; its rows stand in an order of their own content."""
    n_directions = min(MOST_DIRECTIONS, *(size - 1 for size in X.shape))
    svd = TruncatedSVD(max(1, n_directions), random_state=0).fit(X)
    variance = float(_of_length_one(svd.transform(X)).var(axis=0).mean())
    return MainDirections(svd, 1.0 / np.sqrt(variance) if variance > 0 else 1.0)


def row_numbers(X: Any) -> Floats:
    """Return a column in which equal rows have equal numbers, in an order that depends on content only.

    Parameters
    ----------
    X : csr_array of shape (n_rows, n_features)
        Sorted, without stored zeros.
    """
    ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    keys = [X.indices[a:b].astype(np.int64).tobytes() + X.data[a:b].tobytes() for a, b in ends]
    number = {key: i for i, key in enumerate(sorted(set(keys)))}
    return np.array([number[key] for key in keys], dtype=np.float64)[:, None]


def _of_length_one(Z: Floats) -> Floats:
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.asarray(Z / np.where(length > 0, length, 1.0))


def plain_rows(X: Any) -> Any:
    """Return a sparse matrix as csr with sorted columns and no stored zeros; a copy."""
    rows = sparse.csr_array(X, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    rows.sort_indices()
    # Trees want 32-bit places.
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return rows
