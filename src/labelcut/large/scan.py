"""What every part counts, so that all parts together know the columns and the classes of the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from labelcut.errors import BadTable
from labelcut.large.parts import Part, Shape, read_part
from labelcut.table.kinds import MANY_CATEGORIES
from labelcut.table.label_column import without_marks
from labelcut.table.numbers import coded_texts
from labelcut.table.table import label_texts

__all__ = ["ColumnCount", "PartScan", "Scan", "Wanted", "add_up", "scan_part", "texts_of"]

#: Values of a column of text are counted up to this number; more are described by their letters anyhow.
MOST_LEVELS = 4 * MANY_CATEGORIES


@dataclass(frozen=True)
class Wanted:
    """The columns that have a role, and the kinds that the user named."""

    label: str
    id: str | None = None
    group: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ColumnCount:
    """What is known of a column: gaps, whether it holds words, whether all are numbers, its values."""

    n_missing: int
    has_text: bool
    is_number: bool
    levels: frozenset[str] | None

    def __add__(self, other: ColumnCount) -> ColumnCount:
        """Count both together."""
        levels = None if self.levels is None or other.levels is None else self.levels | other.levels
        if levels is not None and len(levels) > MOST_LEVELS:
            levels = None
        return ColumnCount(
            self.n_missing + other.n_missing,
            self.has_text or other.has_text,
            self.is_number and other.is_number,
            levels,
        )


@dataclass(frozen=True)
class PartScan:
    """The counts of one part, or of several added up."""

    n_rows: int
    labels: Counter[str]
    marks: Counter[str]
    columns: dict[str, ColumnCount]
    groups: frozenset[str]

    def __add__(self, other: PartScan) -> PartScan:
        """Count both together."""
        return PartScan(
            self.n_rows + other.n_rows,
            self.labels + other.labels,
            self.marks + other.marks,
            {name: count + other.columns[name] for name, count in self.columns.items()},
            self.groups | other.groups,
        )


@dataclass(frozen=True)
class Scan:
    """All parts added up.

    `shape` now knows the columns that are text; `words` are those of which not every cell is a number.
    """

    counts: PartScan
    n_rows: tuple[int, ...]
    shape: Shape
    words: frozenset[str]

    @property
    def group_names(self) -> tuple[str, ...]:
        """The groups, sorted."""
        return tuple(sorted(self.counts.groups))


def scan_part(part: Part, shape: Shape, wanted: Wanted) -> PartScan:
    """Return what one part counts."""
    frame = read_part(part, shape)
    labels = frame[wanted.label]
    marks: Counter[str] = Counter()
    if shape.source is not None and shape.source.has_marks:
        labels, marks = without_marks(labels, shape.source.missing)
    codes, texts = texts_of(labels, "")
    counts = Counter(dict(zip(texts, np.bincount(codes, minlength=len(texts)).tolist(), strict=True)))
    groups = frozenset(texts_of(frame[wanted.group], "(missing)")[1]) if wanted.group else frozenset()
    columns = {
        name: _count(frame[name], wanted.kinds.get(name)) for name in shape.names if name != wanted.label
    }
    return PartScan(len(frame), counts, marks, columns, groups)


def add_up(scans: Sequence[PartScan], shape: Shape, name: str) -> Scan:
    """Return what all parts know together."""
    total = scans[0]
    for scan in scans[1:]:
        total = total + scan
    if total.n_rows < 2:
        raise BadTable(
            f"{name}: {total.n_rows} rows; at least two labeled rows of different classes are needed."
        )
    texts = frozenset(column for column, count in total.columns.items() if count.has_text)
    words = frozenset(column for column in texts if not total.columns[column].is_number)
    shape = replace(shape, as_text=shape.as_text | texts)
    return Scan(total, tuple(scan.n_rows for scan in scans), shape, words)


def texts_of(values: pd.Series[Any], blank: str) -> tuple[np.ndarray, list[str]]:
    """Return the position of each row's text among the different texts of a column, and these."""
    codes, found = pd.factorize(values, use_na_sentinel=True)
    texts = [*label_texts(pd.Series(found), blank=blank), blank]
    same, shown = pd.factorize(np.array(texts, dtype=object))
    return same[codes], [str(text) for text in shown]


def _count(values: pd.Series[Any], kind: str | None) -> ColumnCount:
    n_missing = int(values.isna().sum())
    dtype = values.dtype
    is_plain = (
        pd.api.types.is_numeric_dtype(dtype)
        or pd.api.types.is_datetime64_any_dtype(dtype)
        or pd.api.types.is_timedelta64_dtype(dtype)
    ) and not pd.api.types.is_bool_dtype(dtype)
    if is_plain:
        levels = _levels(values) if kind == "category" else None
        return ColumnCount(n_missing, False, True, levels)
    present = values.dropna()
    if len(present) and isinstance(present.iloc[0], np.ndarray | list):
        return ColumnCount(n_missing, False, False, None)
    is_bool = pd.api.types.is_bool_dtype(dtype)
    is_number = is_bool or not len(present) or bool(_all_numbers(present))
    return ColumnCount(n_missing, bool(len(present)) and not is_bool, is_number, _levels(values))


def _all_numbers(present: pd.Series[Any]) -> bool:
    some = pd.to_numeric(present.head(50), errors="coerce")
    return bool(some.notna().all()) and bool(pd.to_numeric(present, errors="coerce").notna().all())


def _levels(values: pd.Series[Any]) -> frozenset[str] | None:
    try:
        n_distinct = values.nunique()
    except TypeError:  # Lists and the like.
        return None
    return frozenset(_texts(values)) if n_distinct <= MOST_LEVELS else None


def _texts(values: pd.Series[Any]) -> Iterable[str]:
    return coded_texts(values)[1]
