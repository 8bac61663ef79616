"""A data frame -> a Table: what each column is, which rows are labeled, and with what.

Every column gets a kind. Numbers, categories, dates and free text become features; identifiers and constants
say nothing about a class and are left out by name. Nothing is dropped in silence: each column carries a note.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, cast

import numpy as np
import pandas as pd

from labelcut.reading import BadChoice, BadTable, Option, Source, as_label, unique_names

KINDS = ("numeric", "category", "date", "text", "identifier", "constant")
FEATURE_KINDS = ("numeric", "category", "date", "text")
OUR_PREFIX = "labelcut_"
ALL_ROWS = slice(None)
TYPING_SAMPLE = 500  # Different values looked at when a kind is chosen; enough for shares of a few percent.
BATCH_CELLS = 1_000_000  # Cells looked at in one call: many short columns, or one long one.
MANY_CATEGORIES = 40  # From here on a category is described by its letters instead of one column per value.

_DATE = re.compile(
    r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([ T]\d{1,2}:\d{2}.*)?\s*$"
)
_DATE_FORMATS = (
    "ISO8601",
    *(day + time for time in ("", " %H:%M", " %H:%M:%S") for day in ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")),
    *("%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d"),
)
_NUMBER = re.compile(r"\s*[-+]?(0|[1-9]\d*)([.,]\d+)?\s*$")  # 007 is a name, not a number.
_ID_NAME = re.compile(r"(^|[\s_.-])(id|uuid|guid|index|key|nr|row)$|(?<=[a-z])I[dD]$", re.IGNORECASE)


@dataclass(frozen=True)
class Column:
    """One column of the table: its kind, its role, and what becomes of it."""

    name: str
    kind: str
    role: str  # feature, label, id, group or ignored
    n_missing: int
    n_distinct: int
    note: str = ""
    is_hidden: bool = False  # Left out by the user: its cells are in nothing that we write but the table.


@dataclass(frozen=True)
class Table:
    """Rows with features and, for some of them, a label.

    `frame` is as it was read, `converted` has the columns that are numbers or dates written as text, and
    `index` is what the caller called the rows.
    `codes` holds the position of each row's label in `classes`, -1 for an unlabeled row.
    `rows` gives each row's number in the file, counted from 0: with ``max_rows`` the table is a sample.
    `keys` names each row by its content.
    """

    frame: pd.DataFrame
    converted: Mapping[str, pd.Series[Any]]
    index: pd.Index[Any]
    columns: tuple[Column, ...]
    label: str
    classes: tuple[str, ...]
    codes: np.ndarray
    rows: np.ndarray
    keys: np.ndarray
    n_rows_in_file: int
    id: str | None = None
    group: str | None = None
    name: str = "data frame"
    source: Source | None = None
    notes: tuple[str, ...] = ()

    @property
    def features(self) -> list[Column]:
        """The columns a class is judged by."""
        return [column for column in self.columns if column.role == "feature"]

    @property
    def shown(self) -> list[Column]:
        """The columns whose cells may be shown."""
        return [column for column in self.columns if not column.is_hidden]

    def typed(self, name: str) -> pd.Series[Any]:
        """Return a column as what it is: numbers and dates as such, however they were written."""
        return self.converted[name] if name in self.converted else self.frame[name]

    @property
    def is_labeled(self) -> np.ndarray:
        """Which rows carry a label."""
        return cast(np.ndarray, self.codes >= 0)

    def key_texts(self, rows: np.ndarray | slice = ALL_ROWS) -> list[str]:
        """Return the rows' keys as text."""
        return [f"{key:016x}" for key in self.keys[rows].tolist()]

    def ids(self, rows: np.ndarray | slice = ALL_ROWS) -> list[str]:
        """Return the rows' ids as text; without an id column the row number, counted from 1."""
        if self.id is None:
            return [str(row + 1) for row in self.rows[rows].tolist()]
        return label_texts(self.frame[self.id].iloc[rows], blank="")


def make_table(
    frame: pd.DataFrame,
    *,
    label: str,
    id: str | None = None,
    group: str | None = None,
    ignore: Iterable[str] = (),
    unlabeled: Iterable[str] = (),
    positive: str | None = None,
    kinds: Mapping[str, str] | None = None,
    max_rows: int | None = None,
    name: str = "data frame",
    source: Source | None = None,
) -> Table:
    """Say what each column is and read the labels.

    Parameters
    ----------
    frame : DataFrame
        As read; not modified.
    label, id, group : str
        Columns with a role of their own; `id` and `group` are optional and no features.
    ignore : iterable of str
        Columns to leave out.
    unlabeled : iterable of str
        Label values that mean "not labeled", besides missing ones.
    positive : str, optional
        Of two classes, the one to list second, as scikit-learn does with the positive one.
    kinds : mapping of str to str, optional
        Column name to kind (numeric, category, date, text, identifier, constant), where the guess is wrong.
    max_rows : int, optional
        Look at a sample of so many rows, drawn with a fixed seed.
    name : str
        What to call the table in messages.
    source : Source, optional
        The file it was read from.

    Returns
    -------
    Table
    """
    if list(frame.columns) != (names := unique_names(frame.columns)):
        frame = frame.set_axis(names, axis=1)
    ignore, kinds = tuple(ignore), dict(kinds or {})
    for wanted in (label, id, group, *ignore, *kinds):
        if wanted is not None:
            check_name(wanted, names, name)
    for column, kind in kinds.items():
        if kind not in KINDS:
            raise BadChoice(f"column {column!r}: no kind is called {kind!r}; choose from {', '.join(KINDS)}.")
    if label in (id, group, *ignore):
        raise BadChoice(f"column {label!r} is the label and cannot be the id, the group or ignored as well.")
    for role, named in (("id", id), ("group", group)):
        if named in ignore:
            raise BadChoice(f"column {named!r} is ignored and cannot be the {role}, whose values are shown.")
    if len(frame) < 2:
        raise BadTable(
            f"{name}: {len(frame)} rows; at least two labeled rows of different classes are needed."
        )
    n_rows_in_file, rows = len(frame), np.arange(len(frame))
    if max_rows is not None and max_rows < len(frame):
        rows = np.sort(np.random.default_rng(0).choice(len(frame), max_rows, replace=False))
        frame = frame.iloc[rows]
    index, frame = frame.index, frame.reset_index(drop=True)
    texts = label_texts(frame[label], blank="")
    classes, codes = _classes(texts, {"", *unlabeled}, positive, label, name)
    roles = {label: "label"} | dict.fromkeys(ignore, "ignored")
    roles |= {column: role for column, role in ((id, "id"), (group, "group")) if column is not None}
    keys = row_keys(frame, label)
    columns: list[Column] = []
    converted: dict[str, pd.Series[Any]] = {}
    for column in names:
        described, values = describe_column(frame[column], roles.get(column), kinds.get(column))
        columns.append(described)
        if values is not None:
            converted[column] = values
    known = (label, classes, codes, rows, keys, n_rows_in_file, id, group, name, source)
    table = Table(frame, converted, index, tuple(columns), *known)
    if not table.features:
        kinds_found = ", ".join(f"{c.name} ({c.kind})" for c in columns if c.name != label) or "none"
        raise BadTable(
            f"{name}: no column to judge the labels by (found: {kinds_found}); "
            "name the kind of a useful one with ",
            Option("kinds", {"COLUMN": "category"}),
            ".",
        )
    return table


def check_name(wanted: str, names: Sequence[str], where: str) -> None:
    """Refuse a column that is not there, with the likeliest one that is."""
    if wanted in names:
        return
    lower = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(wanted.lower(), list(lower), n=1, cutoff=0.6)
    hint = f"did you mean {lower[close[0]]!r}?" if close else f"there are {_listed(names)}."
    raise BadChoice(f"{where}: no column {wanted!r}; {hint}")


def _listed(names: Sequence[str], limit: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")


def label_texts(values: pd.Series[Any], *, blank: str) -> list[str]:
    """Return a column's values as text, stripped, with `blank` where they are missing."""
    missing = values.isna().to_numpy()
    return [blank if gone else as_label(value).strip() for value, gone in zip(values, missing, strict=True)]


def _classes(
    texts: list[str], unlabeled: set[str], positive: str | None, label: str, name: str
) -> tuple[tuple[str, ...], np.ndarray]:
    unlabeled = {mark.strip() for mark in unlabeled}
    found = sorted({text for text in texts if text not in unlabeled}, key=_natural)
    n_labeled = sum(text not in unlabeled for text in texts)
    if n_labeled == 0:
        raise BadTable(
            f"{name}: column {label!r} holds no label at all; label at least one row of each class."
        )
    if len(found) == 1:
        raise BadTable(
            f"{name}: all {n_labeled} labeled rows are {found[0]!r}; "
            "at least one row of a second class is needed."
        )
    if len(found) > 20 and len(found) > n_labeled / 3:
        raise BadTable(
            f"{name}: column {label!r} has {len(found)} different values in {n_labeled} rows: this looks "
            "like a number to predict, not a class; put the values into a few bins first."
        )
    if positive is not None:
        if len(found) != 2:
            raise BadChoice(
                Option("positive", positive),
                f" is for two classes, but {label!r} has {len(found)}; leave it out.",
            )
        if positive not in found:
            raise BadChoice(
                f"no row is labeled {positive!r}; ",
                Option("positive"),
                f" can be {found[0]!r} or {found[1]!r}.",
            )
        found.sort(key=lambda text: text == positive)
    position = {text: code for code, text in enumerate(found)}
    return tuple(found), np.array([position.get(text, -1) for text in texts], dtype=np.int64)


def _natural(text: str) -> tuple[int, float, str]:
    """Order numbers by value and before words."""
    try:
        return (0, float(text), text)
    except ValueError:
        return (1, 0.0, text)


def describe_column(
    values: pd.Series[Any], role: str | None, kind: str | None
) -> tuple[Column, pd.Series[Any] | None]:
    """Return the column's description, and its values if they had to be converted (dates, decimal commas)."""
    name = str(values.name)
    if pd.api.types.is_complex_dtype(values.dtype):
        values = values.astype("str")
    n_missing = int(values.isna().sum())
    try:
        n_distinct = int(values.nunique())
    except TypeError:  # Lists and the like in an object column.
        values = values.astype("str")
        n_distinct = int(values.nunique())
    guessed, converted = _kind_of(values, n_missing, n_distinct)
    is_hidden = role == "ignored"
    if role is not None:
        converted = None
    chosen = kind or guessed
    if kind is not None and kind != guessed:
        converted = _as_kind(values, kind)
    if role is None and name.startswith(OUR_PREFIX) and kind is None:
        role, note = "ignored", "written by an earlier audit"
    elif role is None and chosen in FEATURE_KINDS:
        role, note = "feature", _encoding_note(chosen, n_distinct, n_missing)
    elif role is None:
        role = "ignored"
        note = (
            "the same in every row"
            if chosen == "constant"
            else "differs in every row, says nothing of a class"
        )
    else:
        note = "left out, as asked" if role == "ignored" else ""
    return Column(name, chosen, role, n_missing, n_distinct, note, is_hidden), converted


def _encoding_note(kind: str, n_distinct: int, n_missing: int) -> str:
    how = {
        "numeric": "as it is",
        "date": "as year, month, day, hour and time since the first",
        "text": "as the letter sequences in it",
        "category": "one column per value"
        if n_distinct <= MANY_CATEGORIES
        else "as the letter sequences in it",
    }[kind]
    return how + ("; missing is a value of its own" if n_missing else "")


def _kind_of(values: pd.Series[Any], n_missing: int, n_distinct: int) -> tuple[str, pd.Series[Any] | None]:
    n_present = len(values) - n_missing
    if n_distinct == 0 or (n_distinct == 1 and n_missing == 0):
        return "constant", None
    is_unique = n_present >= 20 and n_distinct == n_present
    kind = values.dtype
    if pd.api.types.is_bool_dtype(kind) or isinstance(kind, pd.CategoricalDtype):
        return "category", None
    if pd.api.types.is_datetime64_any_dtype(kind):
        return "date", None
    if pd.api.types.is_timedelta64_dtype(kind):
        return "numeric", values.dt.total_seconds()
    if pd.api.types.is_numeric_dtype(kind):
        whole = pd.api.types.is_integer_dtype(kind)
        return ("identifier" if whole and is_unique and _counts_rows(values) else "numeric"), None
    distinct = list(dict.fromkeys(map(str, values.dropna().unique())))
    sample = distinct[:: max(1, len(distinct) // TYPING_SAMPLE)]
    if _share(sample, _DATE) >= 0.95 and (dates := _as_dates(values)) is not None:
        return "date", dates
    if _share(sample, _NUMBER) >= 0.95 and (numbers := _as_numbers(values)) is not None:
        return "numeric", numbers
    length, words = fmean(map(len, sample)), fmean(len(text.split()) for text in sample)
    if is_unique and words < 2 and length <= 64:
        return "identifier", None
    if n_distinct > max(MANY_CATEGORIES, 0.2 * n_present) and (words >= 3 or length > 40):
        return "text", None
    return "category", None


def _counts_rows(values: pd.Series[Any]) -> bool:
    """Whole numbers that never repeat are an identifier when they are named so, or simply count."""
    numbers = values.dropna().to_numpy()
    is_dense = int(numbers.max()) - int(numbers.min()) == len(numbers) - 1
    return is_dense or bool(_ID_NAME.search(str(values.name)))


def _share(sample: Sequence[str], pattern: re.Pattern[str]) -> float:
    return float(np.mean([pattern.match(text) is not None for text in sample])) if len(sample) else 0.0


def _as_dates(values: pd.Series[Any]) -> pd.Series[Any] | None:
    """Return the values as dates by the format that fits most; the few that do not fit become missing."""
    best, n_best = None, int(0.95 * values.notna().sum())
    for form in _DATE_FORMATS:
        dates = pd.to_datetime(values, format=form, errors="coerce", utc=True)
        if int(dates.notna().sum()) > n_best:
            best, n_best = dates, int(dates.notna().sum())
        if n_best == int(values.notna().sum()):
            break
    return best


def _as_numbers(values: pd.Series[Any]) -> pd.Series[Any] | None:
    """Return the values as numbers, decimal commas read as points; None when too many are not numbers."""
    numbers = pd.to_numeric(values.astype("str").str.strip().str.replace(",", "."), errors="coerce")
    return numbers if int(numbers.notna().sum()) >= 0.95 * int(values.notna().sum()) else None


def _as_kind(values: pd.Series[Any], kind: str) -> pd.Series[Any] | None:
    """Convert a column to the kind the user named, or refuse."""
    if kind == "numeric" and not pd.api.types.is_numeric_dtype(values.dtype):
        numbers = _as_numbers(values)
        if numbers is None:
            raise BadChoice(
                f"column {values.name!r} holds text that is no number; its kind cannot be numeric."
            )
        return numbers
    if kind == "date" and not pd.api.types.is_datetime64_any_dtype(values.dtype):
        dates = _as_dates(values.astype("str").where(values.notna()))
        if dates is None:
            raise BadChoice(
                f"column {values.name!r} holds no dates that can be read; its kind cannot be date."
            )
        return dates
    return None


def row_keys(frame: pd.DataFrame, label: str) -> np.ndarray:
    """Return a 64-bit key per row from its content: the same wherever the row stands in the file.

    The label and our own columns do not count, so a key survives a correction. Equal rows have equal keys.
    """
    names = [name for name in frame.columns if name != label and not str(name).startswith(OUR_PREFIX)]
    total = np.zeros(len(frame), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for part in in_batches(names, len(frame)):
            salts = pd.util.hash_array(np.array(part, dtype=object))
            total += _mixed(_cell_hashes(frame[part]) ^ salts).sum(axis=1, dtype=np.uint64)
        return _mixed(total)


def in_batches(names: Sequence[str], n_rows: int) -> Iterator[list[str]]:
    """Yield the columns some at a time: pandas takes a millisecond per call, however short a column is."""
    size = max(1, BATCH_CELLS // max(n_rows, 1))
    for start in range(0, len(names), size):
        yield list(names[start : start + size])


def _cell_hashes(frame: pd.DataFrame) -> np.ndarray:
    """Return a 64-bit number per cell."""
    hashed = np.empty(frame.shape, dtype=np.uint64)
    is_number = np.array([pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes], dtype=bool)
    is_word = _hold_words(frame, ~is_number)
    if is_number.any():
        numbers = frame.loc[:, is_number].astype("float64").to_numpy()
        hashed[:, is_number] = pd.util.hash_array(numbers.ravel()).reshape(numbers.shape)
    if is_word.any():
        words = frame.loc[:, is_word]
        cells = np.where(words.isna(), "", words.to_numpy(dtype=object))
        texts = np.array([str(cell) for cell in cells.ravel()], dtype=object)
        hashed[:, is_word] = pd.util.hash_array(texts).reshape(cells.shape)
    for j in np.flatnonzero(~(is_number | is_word)):
        hashed[:, j] = pd.util.hash_pandas_object(_hashable(frame[frame.columns[int(j)]]), index=False)
    return hashed


def _hold_words(frame: pd.DataFrame, is_open: np.ndarray) -> np.ndarray:
    """Mark the columns of text whose first cell already shows that they are no numbers."""
    is_word = np.zeros(frame.shape[1], dtype=bool)
    first: dict[int, str] = {}
    for j in np.flatnonzero(is_open):
        present = frame[frame.columns[int(j)]].dropna()
        if len(present) and isinstance(present.iloc[0], str):
            first[int(j)] = str(present.iloc[0])
    numbers = pd.to_numeric(np.array([*first.values()], dtype=object), errors="coerce")
    is_word[list(first)] = np.isnan(numbers)
    return is_word


def _hashable(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return numbers as floats, also those read as text: how a column was read must not change the key."""
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values.astype("float64")
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return values
    texts = values.astype("object").where(values.notna(), "").map(str)
    if pd.to_numeric(values.dropna().head(50), errors="coerce").notna().all():
        numbers = pd.to_numeric(values, errors="coerce").astype("float64")
        return numbers if bool((numbers.notna() == values.notna()).all()) else texts
    return texts


def _mixed(values: np.ndarray) -> np.ndarray:
    """Scatter the bits of 64-bit numbers (the finaliser of splitmix64), so that their sum loses nothing."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return cast(np.ndarray, values ^ (values >> np.uint64(31)))
