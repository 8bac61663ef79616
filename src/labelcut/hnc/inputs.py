"""What ``fit`` and ``predict`` are given, read and checked once: columns, labels, opinions, neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from labelcut.arrays import Floats, Mask
from labelcut.hnc.labels import Labels, check_classes, check_trust, hold_only_labels, read_labels
from labelcut.hnc.main_directions import MOST_DIRECTIONS, plain_rows
from labelcut.hnc.neighborhood import (
    check_same_parts,
    columns_instead,
    count_rows,
    read_distances,
    read_embedding,
)
from labelcut.hnc.own_experts import check_order, check_same_names, read_opinions, refuse_known_names
from labelcut.hnc.rows import Rows
from labelcut.hnc.settings import EXPERTS

__all__ = ["FIT_METADATA", "Inputs", "NewInputs", "check_metadata", "read_inputs", "read_new"]

#: What ``fit`` takes beside X and y, by keyword only.
FIT_METADATA = ("sample_weight", "opinions", "embedding", "graph")


@dataclass(frozen=True, eq=False)
class Inputs:
    """What ``fit`` was given, in the order of the table.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        The columns with NaN where a value is missing, or what stands for them.
    has_X : bool
        Whether columns were given at all.
    row_names : Index or None
        What the user calls the rows.
    given : Labels
        The labels as they came.
    labels : Labels
        Those that are used: a label of weight 0 is none.
    trust : ndarray of shape (n_rows,)
        Trust in each label; inf holds it.
    is_reviewed : ndarray of bool of shape (n_rows,)
        The labels that the user holds.
    opinions : dict of str to ndarray of shape (n_rows, n_classes)
    embedding : ndarray of shape (n_rows, n_dimensions) or None
    distances : csr_array of shape (n_rows, n_rows) or None
    """

    X: Floats
    has_X: bool
    row_names: Any
    given: Labels
    labels: Labels
    trust: Floats
    is_reviewed: Mask
    opinions: dict[str, Floats] = field(repr=False)
    embedding: Floats | None = field(repr=False)
    distances: sparse.csr_array[Any, Any] | None = field(repr=False)


@dataclass(frozen=True, eq=False)
class NewInputs:
    """What ``predict`` was given: columns or what stands for them, embedding, opinions."""

    X: Floats
    embedding: Floats | None
    opinions: dict[str, Floats]


def check_metadata(metadata: Mapping[str, Any]) -> None:
    """Refuse what ``fit`` does not know."""
    unknown = set(metadata) - set(FIT_METADATA)
    if unknown:
        raise TypeError(
            f"fit() got {', '.join(sorted(unknown))}; beside X and y it takes {', '.join(FIT_METADATA)}."
        )


def read_inputs(estimator: Any, X: Any, y: Any, metadata: Mapping[str, Any], *, holds_labels: bool) -> Inputs:
    """Return what ``fit`` was given, checked.

    Parameters
    ----------
    estimator : ConfidenceHNC
        Learns the number and the names of the columns.
    X, y, metadata
        As in :meth:`ConfidenceHNC.fit`.
    holds_labels : bool
        Whether every label is held.
    """
    _refuse_parts(X=X, y=y)
    row_names, has_X = getattr(X, "index", None), X is not None
    if has_X:
        X = _as_numbers(estimator, X, ensure_min_samples=2)
    embedding = read_embedding(metadata.get("embedding"), X.shape[0] if has_X else None)
    n_rows = next((part.shape[0] for part in (X, embedding) if part is not None), None)
    given = read_labels(y, len(y) if n_rows is None else n_rows)
    n_rows = given.codes.size
    distances = read_distances(metadata.get("graph"), n_rows)
    if embedding is not None and distances is not None:
        raise ValueError("embedding and graph were given, and both make the neighbours; leave out one.")
    check_classes(given)
    labels, trust = check_trust(metadata.get("sample_weight"), given)
    opinions = read_opinions(metadata.get("opinions"), n_rows, labels.classes)
    refuse_known_names(opinions, EXPERTS)
    for name, said in (metadata.get("opinions") or {}).items():
        if not hasattr(said, "columns"):
            check_order(f"opinions[{str(name)!r}]", opinions[str(name)], labels.codes, labels.classes)
    if not has_X:
        X = columns_instead(embedding, opinions)
        X = _as_numbers(estimator, X, ensure_min_samples=2)
    return Inputs(
        X=X,
        has_X=has_X,
        row_names=row_names,
        given=given,
        labels=labels,
        trust=np.full(n_rows, np.inf) if holds_labels else hold_only_labels(labels, trust),
        is_reviewed=np.isinf(trust),
        opinions=opinions,
        embedding=embedding,
        distances=distances,
    )


def read_new(estimator: Any, rows: Rows, has_X: bool, X: Any, opinions: Any, embedding: Any) -> NewInputs:
    """Return what ``predict`` was given, checked: the same parts that ``fit`` had.

    Parameters
    ----------
    estimator : ConfidenceHNC
    rows : Rows
        Those of ``fit``.
    has_X : bool
        Whether ``fit`` had an X.
    X, opinions, embedding
        As in :meth:`ConfidenceHNC.predict_proba`.
    """
    check_same_parts(has_X, rows.embedding, X, embedding)
    if has_X:
        X = _as_numbers(estimator, X, reset=False)
    near = read_embedding(embedding, X.shape[0] if has_X else None)
    n_new = next((part.shape[0] for part in (X, near) if part is not None), count_rows(opinions))
    given = read_opinions(opinions, n_new, rows.classes)
    check_same_names(tuple(rows.opinions), given)
    return NewInputs(X if has_X else columns_instead(near, given), near, given)


def _refuse_parts(**given: Any) -> None:
    """Refuse what lies on a cluster in parts: a fit needs all rows at once."""
    for name, values in given.items():
        if hasattr(values, "__dask_graph__"):
            raise TypeError(
                f"{name} is a Dask {type(values).__name__}, and a fit needs all rows at once; pass "
                f"{name}.compute() if they fit into memory, or labelcut.audit(files, label=..., cluster=...)."
            )


def _as_numbers(estimator: Any, X: Any, **how: Any) -> Any:
    """Return the columns as scikit-learn checks them; NaN stands for a missing value, which no sparse X has.

    Whether they are sparse is decided by their number alone, so that new rows are taken as those of ``fit``.
    """
    finite: Any = True if sparse.issparse(X) else "allow-nan"
    checked: Any = validate_data(
        estimator, X, dtype=np.float64, accept_sparse="csr", ensure_all_finite=finite, **how
    )
    if how.get("reset", True):
        estimator._is_sparse = sparse.issparse(checked) and estimator.n_features_in_ > MOST_DIRECTIONS
    if estimator._is_sparse:
        return plain_rows(checked)
    is_sparse: bool = sparse.issparse(checked)
    return checked.toarray() if is_sparse else np.asarray(checked)
