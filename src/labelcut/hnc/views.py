"""What trees and what neighbours see of a row.

Trees see all that is known about it: its columns and, if there is one, its embedding, so that they know
something even where the columns say nothing. Neighbours are found by the embedding or, without one, by the
columns, each as far as it counts; by the main directions of sparse ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from labelcut.arrays import Floats
from labelcut.hnc.columns import ColumnScale, scale_columns, weight_columns
from labelcut.hnc.gaps import Gaps
from labelcut.hnc.main_directions import MainDirections, find_directions, plain_rows
from labelcut.hnc.rows import Rows

__all__ = ["Seen", "Views", "look_at"]

#: From so many rows on scaled columns may be kept as float32: trees see no more of them anyway.
NARROW_FROM = 500_000


@dataclass(frozen=True, eq=False)
class Seen:
    """Some rows as they are seen.

    Attributes
    ----------
    trees : ndarray or csr_array of shape (n_rows, n_seen)
        Sparse columns as they are, or scaled columns with NaN where a value is missing; then the scaled
        embedding.
    columns : ndarray of shape (n_rows, n_features + n_marks)
        Scaled columns without gaps, then the marks of gaps; of sparse columns their main directions.
    embedding : ndarray of shape (n_rows, n_dimensions) or None
        Scaled.
    """

    trees: Floats = field(repr=False)
    columns: Floats = field(repr=False)
    embedding: Floats | None = field(repr=False)


@dataclass(frozen=True, eq=False)
class Views:
    """How rows are made ready, to treat new ones like the old ones.

    Attributes
    ----------
    n_features : int
        Columns that were given, or that stand for them.
    gaps : Gaps
    scale, embedding_scale : ColumnScale or None
        None where nothing is scaled.
    directions : MainDirections or None
        Of sparse columns.
    is_apart : bool
        Whether the embedding comes beside columns; otherwise it stands for them.
    """

    n_features: int
    gaps: Gaps
    scale: ColumnScale | None
    embedding_scale: ColumnScale | None
    is_apart: bool
    directions: MainDirections | None = None

    def of(self, X: Floats, embedding: Floats | None) -> Seen:
        """Return rows as they are seen, from their columns and embedding as they came."""
        if self.directions is not None:
            columns = self.directions.of(X)
        else:
            spread = self.gaps.spread(X)
            columns = spread if self.scale is None else self.scale.apply(spread)
        near = embedding
        if embedding is not None and self.embedding_scale is not None:
            near = self.embedding_scale.apply(embedding)
        return self._seen(columns, X, near)

    def near(self, seen: Seen, importances: Floats) -> Floats:
        """Return what the distance between rows is measured by."""
        if seen.embedding is not None:
            return seen.embedding
        if self.directions is not None:
            return seen.columns
        return weight_columns(seen.columns, self.gaps.with_marks(importances))

    def of_columns(self, importances: Floats) -> Floats:
        """Return how much each column tells, of what trees say about all that they see; sums to 1."""
        if importances.size == self.n_features:
            return importances
        own = importances[: self.n_features]
        total = own.sum()
        return own / total if total > 0 else np.full(own.size, 1.0 / own.size)

    def _seen(self, columns: Floats, X: Floats, near: Floats | None) -> Seen:
        if self.directions is not None:
            parts: list[Any] = [X] if near is None or not self.is_apart else [X, sparse.csr_array(near)]
            return Seen(plain_rows(sparse.hstack(parts)), columns, near)
        trees = self.gaps.reopen(columns, X)
        return Seen(np.hstack([trees, near]) if self.is_apart and near is not None else trees, columns, near)


def look_at(rows: Rows, scale: str, *, has_X: bool, may_narrow: bool = False) -> tuple[Views, Seen]:
    """Return how the rows of ``fit`` are seen, and how new ones will be.

    Parameters
    ----------
    rows : Rows
    scale : {"robust", "standard", "none"}
    has_X : bool
        Whether columns were given; otherwise the embedding or the opinions stand for them.
    may_narrow : bool, default=False
        Keep the scaled columns of a very large table as float32, as those of a table that is read in parts.
    """
    narrow = may_narrow and rows.codes.size >= NARROW_FROM
    directions = find_directions(rows.raw) if sparse.issparse(rows.raw) else None
    columns, column_scale = (directions.of(rows.raw), None) if directions else _scaled(rows.X, scale, narrow)
    near, embedding_scale = None, None
    if rows.embedding is not None:
        near, embedding_scale = _scaled(rows.embedding, scale, narrow)
    views = Views(rows.raw.shape[1], rows.gaps, column_scale, embedding_scale, has_X, directions)
    return views, views._seen(columns, rows.raw, near)


def _scaled(X: Floats, scale: str, is_narrow: bool) -> tuple[Any, ColumnScale | None]:
    if scale == "none":  # nor does anybody know whether such numbers fit into float32
        return X, None
    scaled, found = scale_columns(X, kind=scale)
    return scaled.astype(np.float32) if is_narrow else scaled, found
