"""Labels as people write them -> one class number per row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

__all__ = [
    "UNLABELED",
    "Labels",
    "check_classes",
    "check_trust",
    "count_folds",
    "hold_only_labels",
    "plain",
    "read_labels",
    "with_gaps",
]

#: The class number of a row without a label; the same mark is read in ``y``, as in scikit-learn.
UNLABELED = -1

#: Each class beyond two is a cut of its own, and a y with this many classes is nearly always the wrong
#: column.
MAX_CLASSES = 100


@dataclass(frozen=True, eq=False)
class Labels:
    """The classes in sorted order and, per row, the number of its class (-1: unlabeled)."""

    classes: NDArray[Any]
    codes: NDArray[np.int64]

    @classmethod
    def of_codes(cls, names: Sequence[Any], codes: NDArray[np.int64]) -> Labels:
        """Return labels that were read before: code ``c`` stands for ``names[c]``, -1 for no label.

        Nothing is guessed, so a -1 is never a class. Names that no row carries are left out.
        """
        is_labeled = codes != UNLABELED
        _check_any(is_labeled)
        carried, found = np.unique(codes[is_labeled], return_inverse=True)
        kept = np.full(codes.size, UNLABELED, dtype=np.int64)
        kept[is_labeled] = found
        return cls(np.array(names, dtype=object)[carried], kept)

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.codes.size)

    @property
    def is_labeled(self) -> NDArray[np.bool_]:
        """True for rows that carry a label."""
        return np.asarray(self.codes != UNLABELED)

    @property
    def n_labeled(self) -> int:
        """Number of rows that carry a label."""
        return int(self.is_labeled.sum())


def read_labels(y: Any, n_rows: int) -> Labels:
    """Return the classes found in y and the class number of every row.

    ``-1``, ``None``, ``NaN`` and pandas' ``NA`` mark unlabeled rows. The one exception: if -1 and 1 are the
    only values, both are classes and every row is labeled, since one class alone could not be learned.

    Parameters
    ----------
    y : array-like of shape (n_rows,), or Labels
        Text, booleans, integers, whole floats or objects; numpy, pandas, polars or a list. Labels that were
        read before are taken as they are.
    n_rows : int
        The number of rows that y has to have.
    """
    if isinstance(y, Labels):
        _check_length(y.codes.size, n_rows)
        return y
    values, is_missing = _values_and_missing(y)
    _check_length(values.size, n_rows)
    is_minus_one = _equals(values, UNLABELED) & ~is_missing
    if is_minus_one.any():
        present = values[~is_missing]
        if np.all(_equals(present, -1) | _equals(present, 1)) and _equals(present, 1).any():
            if is_missing.any():
                raise ValueError(
                    f"y holds {int(is_minus_one.sum())} times -1, {int(_equals(values, 1).sum())} times 1 "
                    f"and {int(is_missing.sum())} missing values, so it is not clear whether -1 is a class "
                    "or marks unlabeled rows; write the classes as 0 and 1 and unlabeled rows as -1."
                )
            is_minus_one[:] = False
    is_labeled = ~(is_missing | is_minus_one)
    _check_any(is_labeled)
    labeled = _one_kind(values[is_labeled])
    if labeled.dtype.kind == "f" and not np.isfinite(labeled).all():
        raise ValueError("y contains infinity; labels are text, booleans or whole numbers.")
    check_classification_targets(labeled)
    classes, found = np.unique(labeled, return_inverse=True)
    codes = np.full(n_rows, UNLABELED, dtype=np.int64)
    codes[is_labeled] = found
    return Labels(classes, codes)


def plain(label: Any) -> Any:
    """Return a label as a Python object, which is shown without its numpy type."""
    return label.item() if isinstance(label, np.generic) else label


def with_gaps(classes: NDArray[Any], codes: NDArray[np.int64]) -> NDArray[Any]:
    """Return the classes of rows, None for unlabeled ones; an object array only if there are any."""
    if (codes != UNLABELED).all():
        return np.asarray(classes[codes])
    values = classes.astype(object)[codes]
    values[codes == UNLABELED] = None
    return np.asarray(values)


def check_classes(labels: Labels) -> None:
    """Refuse one class, and more classes than can be meant."""
    n_classes = labels.classes.size
    if n_classes == 1:
        raise ValueError(
            f"all {labels.n_labeled} labeled rows are {plain(labels.classes[0])!r}; at least one row of "
            "each class is needed, and at least two classes."
        )
    if n_classes > MAX_CLASSES:
        raise ValueError(
            f"y has {n_classes} classes among {labels.n_labeled} labeled rows; at most {MAX_CLASSES} are "
            "supported, since each is a cut of its own. If y is an identifier or a number, choose another "
            "column; else merge rare classes."
        )


def check_trust(sample_weight: Any, labels: Labels) -> tuple[Labels, NDArray[np.float64]]:
    """Return the labels that are trusted at all, and the trust in each (1 where nothing was said).

    A weight of 0 makes a row unlabeled; ``inf`` marks a label that must never be flipped.
    """
    n_rows = labels.codes.size
    if sample_weight is None:
        return labels, np.ones(n_rows)
    trust = np.asarray(sample_weight, dtype=np.float64)
    if trust.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {trust.shape}, but X has {n_rows} rows; give one number per row."
        )
    if np.isnan(trust).any() or (trust < 0).any():
        i = int(np.argmax(np.isnan(trust) | (trust < 0)))
        raise ValueError(
            f"sample_weight[{i}] is {trust[i]}; it is the trust in a label, from 0 (ignore the label) over 1 "
            "(as usual) to inf (never flip it)."
        )
    is_kept = labels.is_labeled & (trust > 0)
    if not is_kept.any():
        raise ValueError(
            "sample_weight is zero for every labeled row, so no label is left; give the labels to learn from "
            "a positive weight."
        )
    codes = np.where(is_kept, labels.codes, UNLABELED)
    lost = np.setdiff1d(np.arange(labels.classes.size), codes)
    if lost.size:
        raise ValueError(
            f"sample_weight is zero for every row of class {str(labels.classes[lost[0]])!r}; give at least "
            "one row of each class a positive weight, or drop that class from y."
        )
    return Labels(labels.classes, codes), trust


def hold_only_labels(labels: Labels, trust: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the trust with ``inf`` for labels that are the only one of their class.

    Were such a label overruled, its class would be gone.
    """
    counts = np.bincount(labels.codes[labels.is_labeled], minlength=labels.classes.size)
    is_only = labels.is_labeled & (counts[labels.codes] == 1)
    return np.where(is_only, np.inf, trust)


def _check_length(n_labels: int, n_rows: int) -> None:
    if n_labels != n_rows:
        raise ValueError(
            f"y has {n_labels} labels, but X has {n_rows} rows; give one label per row (-1 for unlabeled)."
        )


def _check_any(is_labeled: NDArray[np.bool_]) -> None:
    if not is_labeled.any():
        raise ValueError(
            f"none of the {is_labeled.size} rows has a label; at least one row of each class is needed (in "
            "y, -1, None and NaN mean unlabeled)."
        )


def _values_and_missing(y: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return y as a flat array and the mask of its missing entries."""
    if hasattr(y, "to_numpy"):  # pandas, polars
        values = y.to_numpy()
    elif isinstance(y, list | tuple) and _has_missing_beside_text(y):
        values = np.empty(len(y), dtype=object)
        values[:] = y
    else:
        values = np.asarray(y)
    values = column_or_1d(values, warn=True)
    if values.dtype.kind == "f":
        return values, np.isnan(values)
    if values.dtype.kind == "O":
        return values, np.fromiter((_is_missing(v) for v in values), dtype=bool, count=values.size)
    return values, np.zeros(values.size, dtype=bool)


def _has_missing_beside_text(y: list[Any] | tuple[Any, ...]) -> bool:
    """Tell whether numpy would turn a missing entry or a -1 of this list into text."""
    return any(isinstance(v, str) for v in y) and not all(isinstance(v, str) for v in y)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _equals(values: NDArray[Any], number: int) -> NDArray[np.bool_]:
    """Mark entries equal to a number; text and booleans never are."""
    if values.dtype.kind in "iuf":
        return np.asarray(values == number)
    if values.dtype.kind == "O":
        return np.fromiter((_is_number(v) and v == number for v in values), dtype=bool, count=values.size)
    return np.zeros(values.size, dtype=bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _one_kind(labeled: NDArray[Any]) -> NDArray[Any]:
    """Return labels in an array type that sorts; text stays an object array if it was one."""
    if labeled.dtype.kind != "O":
        return labeled
    kinds = {"number" if _is_number(v) else type(v).__name__ for v in labeled}
    if len(kinds) > 1:
        raise TypeError(
            f"y mixes labels of the types {', '.join(sorted(kinds))}; convert them to one, for example with "
            "[str(label) for label in y]."
        )
    if kinds <= {"number", "bool", "bool_"}:
        return np.array(labeled.tolist())
    return labeled


def count_folds(codes: NDArray[np.int64], trust: NDArray[np.float64], n_folds: int) -> int:
    """Return into how many folds labels that may be wrong can be dealt, each fold leaving two classes.

    Held labels (trust inf) are not dealt. A class smaller than the second largest may be missing in a fold.
    """
    judged = codes[(codes != UNLABELED) & np.isfinite(trust)]
    return min(n_folds, int(np.sort(np.bincount(judged, minlength=2))[-2]))
