"""What kind of column a column is, and its values in that kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, cast

import numpy as np
import pandas as pd

from labelcut.errors import BadChoice
from labelcut.table.names import OUR_PREFIX

FEATURE_KINDS = ("numeric", "category", "date", "text")
TYPING_SAMPLE = 500  # Different values looked at when a kind is chosen; enough for shares of a few percent.
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
_ID = re.compile(r"(^|[\s_.-])(?i:id|uuid|guid)$|(?<=[a-z])I[dD]$")
_COUNTER = re.compile(
    r"(^|[\s_.-])(?i:index|key|nr|no|num|number|row)\.?$|(?<=[a-z])(No|Nr|Num|Number|Index|Key)$"
)
MOSTLY = (
    0.5  # Share of different values from which a column called ``id`` names things, though some come twice.
)
RUNNING = 0.9  # Share of steps by one, in sorted order, from which whole numbers count, in one block or some.


@dataclass(frozen=True)
class Column:
    """One column of the table: its kind, its role, and what becomes of it."""

    name: str
    kind: str
    role: str  # feature, label, id, group, beside or ignored
    n_missing: int
    n_distinct: int
    note: str = ""
    is_hidden: bool = False  # Left out by the user: its cells are in nothing that we write but the table.


def describe_column(
    values: pd.Series[Any], role: str | None, kind: str | None, about: str = ""
) -> tuple[Column, pd.Series[Any] | None]:
    """Return the column's description, and its values if they had to be converted (dates, decimal commas).

    `about` is the note of a column that serves beside the table.
    """
    name = str(values.name)
    if pd.api.types.is_complex_dtype(values.dtype):
        values = values.astype("str")
    n_missing = int(values.isna().sum())
    if role == "beside" and values.map(lambda cell: isinstance(cell, np.ndarray)).all():
        # Vectors: their text would take longer than all else that is done with them.
        n_distinct = len({cell.tobytes() for cell in values})
        return Column(name, kind or "text", role, n_missing, n_distinct, about, is_hidden=True), None
    try:
        n_distinct = int(values.nunique())
    except TypeError:  # Lists and the like in an object column.
        values = values.astype("str")
        n_distinct = int(values.nunique())
    guessed, converted = _kind_of(values, n_missing, n_distinct)
    is_hidden = role in ("ignored", "beside")
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
            else _why_identifier(n_distinct, len(values), n_missing)
        )
    else:
        note = "left out, as asked" if role == "ignored" else about
    return Column(name, chosen, role, n_missing, n_distinct, note, is_hidden), converted


def _why_identifier(n_distinct: int, n_rows: int, n_missing: int) -> str:
    if n_distinct == n_rows - n_missing:
        return "differs in every row, says nothing of a class"
    return "named like an identifier, mostly different, says nothing of a class"


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
    is_called_id = n_distinct >= max(20, MOSTLY * n_present) and _ID.search(str(values.name)) is not None
    kind = values.dtype
    if pd.api.types.is_bool_dtype(kind) or isinstance(kind, pd.CategoricalDtype):
        return "category", None
    if pd.api.types.is_datetime64_any_dtype(kind):
        return "date", None
    if pd.api.types.is_timedelta64_dtype(kind):
        return "numeric", values.dt.total_seconds()
    if pd.api.types.is_numeric_dtype(kind):
        return ("identifier" if _name_rows(values, is_unique, is_called_id) else "numeric"), None
    distinct = list(dict.fromkeys(map(str, values.dropna().unique())))
    sample = distinct[:: max(1, len(distinct) // TYPING_SAMPLE)]
    if _share(sample, _DATE) >= 0.95 and (dates := _as_dates(values)) is not None:
        return "date", dates
    if _share(sample, _NUMBER) >= 0.95 and (numbers := _as_numbers(values)) is not None:
        is_name = _name_rows(numbers, is_unique, is_called_id)
        return ("identifier", None) if is_name else ("numeric", numbers)
    length, words = fmean(map(len, sample)), fmean(len(text.split()) for text in sample)
    if (is_unique or is_called_id) and words < 2 and length <= 64:
        return "identifier", None
    if n_distinct > max(MANY_CATEGORIES, 0.2 * n_present) and (words >= 3 or length > 40):
        return "text", None
    return "category", None


def _name_rows(values: pd.Series[Any], is_unique: bool, is_called_id: bool) -> bool:
    """Say whether whole numbers name the rows: called ``id``, or a counter by its name or its steps."""
    numbers = np.sort(values.dropna().to_numpy(dtype="float64"))
    if not np.isfinite(numbers).all() or (numbers != np.floor(numbers)).any():
        return False
    if is_called_id or not is_unique:
        return is_called_id
    name = str(values.name)
    is_counter = _ID.search(name) is not None or _COUNTER.search(name) is not None
    return is_counter or bool(np.mean(np.diff(numbers) == 1) >= RUNNING)


def _share(sample: Sequence[str], pattern: re.Pattern[str]) -> float:
    return float(np.mean([pattern.match(text) is not None for text in sample])) if len(sample) else 0.0


def _as_dates(values: pd.Series[Any]) -> pd.Series[Any] | None:
    """Return the values as dates by the format that fits most; the few that do not fit become missing."""
    form = date_format(values)
    return None if form is None else _dates_by(values, form)


def date_format(values: pd.Series[Any]) -> str | None:
    """Return the format of dates that fits most values, if it fits nearly all."""
    best, n_best = None, int(0.95 * values.notna().sum())
    for form in _DATE_FORMATS:
        n_fit = int(_dates_by(values, form).notna().sum())
        if n_fit > n_best:
            best, n_best = form, n_fit
        if n_best == int(values.notna().sum()):
            break
    return best


def _dates_by(values: pd.Series[Any], form: str) -> pd.Series[Any]:
    return cast("pd.Series[Any]", pd.to_datetime(values, format=form, errors="coerce", utc=True))


def convert(values: pd.Series[Any], kind: str, form: str | None) -> pd.Series[Any]:
    """Return a column as what it is known to be, cell by cell: the same whatever other rows there are.

    Parameters
    ----------
    values : Series
    kind : str
        What `describe_column` found in some rows, or what the user named.
    form : str or None
        The `date_format` of dates that are written as text.
    """
    dtype = values.dtype
    if kind == "date" and not pd.api.types.is_datetime64_any_dtype(dtype):
        return _dates_by(values.astype("str").where(values.notna()), form or "ISO8601")
    if kind == "numeric" and pd.api.types.is_timedelta64_dtype(dtype):
        return cast("pd.Series[Any]", values.dt.total_seconds())
    if kind == "numeric" and not pd.api.types.is_numeric_dtype(dtype):
        return _to_numbers(values)
    if pd.api.types.is_complex_dtype(dtype):
        return values.astype("str")
    return values


def _as_numbers(values: pd.Series[Any]) -> pd.Series[Any] | None:
    """Return the values as numbers, decimal commas read as points; None when too many are not numbers."""
    numbers = _to_numbers(values)
    return numbers if int(numbers.notna().sum()) >= 0.95 * int(values.notna().sum()) else None


def _to_numbers(values: pd.Series[Any]) -> pd.Series[Any]:
    texts = values.astype("str").str.strip().str.replace(",", ".")
    return pd.to_numeric(texts, errors="coerce")


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
