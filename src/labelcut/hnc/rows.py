"""The rows of a table in canonical order: the same answer, whatever order they came in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcut.arrays import Floats, Ints, Mask
from labelcut.hnc.columns import clip_columns, column_borders
from labelcut.hnc.gaps import Gaps, find_gaps, no_gaps
from labelcut.hnc.labels import UNLABELED, Labels
from labelcut.hnc.main_directions import row_numbers
from labelcut.hnc.neighborhood import distance_traits
from labelcut.hnc.order import canonical_order, stand_ins

__all__ = ["NewRows", "Rows", "line_up"]


@dataclass(frozen=True, eq=False)
class Rows:
    """What is known about every row before anybody is asked.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features + n_marks)
        The columns that are worked on: gaps filled, absurd values clipped if that was asked for, not scaled;
        after them the marks of gaps.
    raw : ndarray or csr_array of shape (n_rows, n_features)
        The columns as they came. Sparse ones are not clipped and have no gaps: X is the same.
    codes : ndarray of int of shape (n_rows,)
        Class 0, 1, ..., or -1 for an unlabeled row.
    trust : ndarray of shape (n_rows,)
        Trust in each label; inf holds it.
    classes : ndarray of shape (n_classes,)
        What the class numbers stand for.
    opinions : dict of str to ndarray of shape (n_rows, n_classes)
        Probabilities that were given.
    embedding : ndarray of shape (n_rows, n_dimensions) or None
        What makes neighbours instead of the columns, absurd values clipped, not scaled.
    distances : csr_array of shape (n_rows, n_rows) or None
        Who is whose neighbour, if that was given.
    order : ndarray of int of shape (n_rows,)
        The row of the table that stands at each place here.
    place : ndarray of int of shape (n_rows,)
        For each row of the table, the place of the row that stands for it: the first of those that are equal
        in everything.
    gaps : Gaps
        Where values were missing; by default nowhere.
    has_columns : bool
        Whether the columns are any; else an embedding or the opinions stand for them.
    """

    X: Floats
    raw: Floats = field(repr=False)
    codes: Ints
    trust: Floats
    classes: NDArray[Any]
    opinions: dict[str, Floats]
    embedding: Floats | None = field(repr=False)
    distances: sparse.csr_array[Any, Any] | None = field(repr=False)
    order: Ints
    place: Ints
    gaps: Gaps = field(default_factory=no_gaps, repr=False)
    has_columns: bool = True

    @property
    def is_labeled(self) -> Mask:
        """True for rows that carry a label."""
        return np.asarray(self.codes != UNLABELED)

    @property
    def labeled(self) -> Ints:
        """The places of the rows that carry a label."""
        return np.flatnonzero(self.is_labeled)

    def at(self, places: Ints) -> Rows:
        """Return some of the rows, without their columns."""
        return replace(
            self.without_columns,
            codes=self.codes[places],
            trust=self.trust[places],
            opinions={name: opinion[places] for name, opinion in self.opinions.items()},
            order=np.arange(places.size),
            place=np.arange(places.size),
        )

    @property
    def without_columns(self) -> Rows:
        """The same rows once everybody has seen their columns: none of their cells is kept."""
        # Copies: a view of no rows would keep all of them.
        return replace(self, X=self.X[:0].copy(), raw=self.raw[:0].copy())


@dataclass(frozen=True, eq=False)
class NewRows:
    """Rows that were not in the table.

    Attributes
    ----------
    X, raw : ndarray of shape (n_new, n_features)
        The columns, scaled and as they came, both with gaps; users' classifiers see the latter.
    weights : csr_array of shape (n_new, n_rows) or None
        Their similarity to the rows of the table; None if that is not known.
    opinions : dict of str to ndarray of shape (n_new, n_classes)
        Probabilities that were given.
    """

    X: Floats
    raw: Floats
    weights: sparse.csr_array[Any, Any] | None
    opinions: dict[str, Floats]


def line_up(
    X: Floats,
    labels: Labels,
    trust: Floats,
    opinions: Mapping[str, Floats],
    embedding: Floats | None,
    distances: sparse.csr_array[Any, Any] | None,
    *,
    clip: bool,
    has_columns: bool = True,
) -> Rows:
    """Return the rows in an order that depends on their content only.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_rows, n_features)
    labels : Labels
    trust : ndarray of shape (n_rows,)
    opinions : mapping of str to ndarray of shape (n_rows, n_classes)
    embedding : ndarray of shape (n_rows, n_dimensions) or None
    distances : csr_array of shape (n_rows, n_rows) or None
    clip : bool
        Clip absurd values first, or the order would hang on how absurd they are.
    has_columns : bool, default=True
        Whether X was given at all.
    """
    raw, gaps = X, no_gaps() if sparse.issparse(X) else find_gaps(X)
    X = X if sparse.issparse(X) else gaps.spread(X)
    if clip:
        X = X if sparse.issparse(X) else _clipped(X)
        embedding = None if embedding is None else _clipped(embedding)
    said = [column for opinion in opinions.values() for column in opinion.T]
    said += [] if embedding is None else list(embedding.T)
    said += [] if distances is None else distance_traits(distances)
    kept = row_numbers(X) if sparse.issparse(X) else X
    order = canonical_order(kept, labels.codes, trust, *said)
    lined = X[order]
    first = stand_ins(
        kept[order] if sparse.issparse(X) else lined,
        labels.codes[order],
        trust[order],
        *(values[order] for values in said),
    )
    place = np.empty(order.size, dtype=np.intp)
    place[order] = first
    return Rows(
        X=lined,
        raw=lined if raw is X else raw[order],
        gaps=gaps,
        codes=labels.codes[order],
        trust=trust[order],
        classes=labels.classes,
        opinions={name: opinion[order] for name, opinion in opinions.items()},
        embedding=None if embedding is None else embedding[order],
        distances=None if distances is None else sparse.csr_array(distances[order][:, order]),
        order=order,
        place=place,
        has_columns=has_columns,
    )


def _clipped(X: Floats) -> Floats:
    """Return the columns with absurd values clipped; the same matrix where there are none."""
    low, high = column_borders(X)
    is_outside = any(
        column.min() < a or column.max() > b for column, a, b in zip(X.T, low, high, strict=True)
    )
    return clip_columns(X, low, high) if is_outside else X
