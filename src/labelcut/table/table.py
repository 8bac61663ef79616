"""A file or a data frame -> a Table: what each column is, which rows are labeled, and with what.

Every column gets a kind. Numbers, categories, dates and free text become features; identifiers and constants
say nothing about a class and are left out by name. Nothing is dropped in silence: each column carries a note.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

from labelcut.errors import BadChoice, BadTable, Option
from labelcut.table.kinds import Column, describe_column
from labelcut.table.label_column import Choices, listed, read_label_column, without_marks
from labelcut.table.reading import as_label, read_frame, unique_names
from labelcut.table.row_keys import row_keys
from labelcut.table.source import Source, find_source

KINDS = ("numeric", "category", "date", "text", "identifier", "constant")
ALL_ROWS = slice(None)


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


def read_table(
    path: str | os.PathLike[str],
    *,
    label: str,
    delimiter: str | None = None,
    encoding: str | None = None,
    missing: Iterable[str] | None = None,
    has_header: bool = True,
    sheet: str | None = None,
    **choices: Any,
) -> Table:
    """Read a table from a file.

    Parameters
    ----------
    path : path-like
        The file; ``-`` is the standard input.
    label : str
        The column with the labels.
    delimiter, encoding, missing, has_header, sheet
        How the file is read, where the guess is wrong; as in `find_source`.
    **choices
        As in `make_table`.

    Returns
    -------
    Table
    """
    reading = {"delimiter": delimiter, "encoding": encoding, "missing": missing, "sheet": sheet}
    source = find_source(path, has_header=has_header, **cast(Any, reading))
    return read_source(source, label=label, **choices)


def read_source(
    source: Source, *, label: str, id: str | None = None, group: str | None = None, **choices: Any
) -> Table:
    """Read the table of a file that `find_source` has looked at; the choices are those of `make_table`."""
    as_text = [name for name in (label, id, group) if name is not None]
    frame = read_frame(source, as_text=as_text, keep_marks_of=label)
    if source.other_sheets and label not in frame:
        raise BadChoice(
            f"{source.name}: no column {label!r} on the sheet {source.sheet!r}; if it is on "
            f"{' or '.join(map(repr, source.other_sheets))}, name that one with ",
            Option("sheet"),
            ".",
        )
    marks: Mapping[str, int] = {}
    if label in frame and source.has_marks:
        labels, marks = without_marks(frame[label], source.missing)
        frame = frame.assign(**{label: labels})
    choices |= {"name": source.name, "source": source, "marks": marks}
    return make_table(frame, label=label, id=id, group=group, **choices)


def make_table(
    frame: pd.DataFrame,
    *,
    label: str,
    id: str | None = None,
    group: str | None = None,
    ignore: Iterable[str] = (),
    unlabeled: Iterable[str] = (),
    positive: str | None = None,
    merge_labels: bool = False,
    ordered: Iterable[str] = (),
    kinds: Mapping[str, str] | None = None,
    max_rows: int | None = None,
    name: str = "data frame",
    source: Source | None = None,
    marks: Mapping[str, int] | None = None,
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
    merge_labels : bool, default=False
        Take labels that differ only in case or blanks for one class, called by the most frequent of them.
    ordered : iterable of str
        Every class, in the order in which they are shown.
    kinds : mapping of str to str, optional
        Column name to kind (numeric, category, date, text, identifier, constant), where the guess is wrong.
        Labels that look like a number to predict are classes if their kind is "category".
    max_rows : int, optional
        Look at a sample of so many rows, drawn with a fixed seed.
    name : str
        What to call the table in messages.
    source : Source, optional
        The file it was read from.
    marks : mapping of str to int, optional
        Cells of the label column that were taken for missing ones, such as "None", and how many there are.

    Returns
    -------
    Table
    """
    if list(frame.columns) != (names := unique_names(frame.columns)):
        frame = frame.set_axis(names, axis=1)
    ignore, kinds = tuple(ignore), dict(kinds or {})
    _check_choices(names, label, id, group, ignore, kinds, name)
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
    are_classes = kinds.get(label) == "category"
    choices = Choices(tuple(unlabeled), positive, merge_labels, tuple(ordered), are_classes)
    read = read_label_column(texts, label=label, name=name, choices=choices, marks=marks or {})
    roles = {label: "label"} | dict.fromkeys(ignore, "ignored")
    roles |= {column: role for column, role in ((id, "id"), (group, "group")) if column is not None}
    keys = row_keys(frame, label)
    described = {
        column: describe_column(frame[column], roles.get(column), kinds.get(column)) for column in names
    }
    table = Table(
        frame=frame,
        converted={column: values for column, (_, values) in described.items() if values is not None},
        index=index,
        columns=tuple(column for column, _ in described.values()),
        label=label,
        classes=read.classes,
        codes=read.codes,
        rows=rows,
        keys=keys,
        n_rows_in_file=n_rows_in_file,
        id=id,
        group=group,
        name=name,
        source=source,
        notes=read.notes,
    )
    _check_features(table)
    return table


def as_pandas(table: Any) -> pd.DataFrame:
    """Return a data frame of pandas; of polars frames and the like a copy."""
    if isinstance(table, pd.DataFrame):
        return table
    if not hasattr(table, "to_pandas"):
        raise TypeError(
            f"table is a {type(table).__name__}; give a data frame (pandas, or polars) or a path."
        )
    return cast(pd.DataFrame, table.to_pandas())


def _check_choices(
    names: Sequence[str],
    label: str,
    id: str | None,
    group: str | None,
    ignore: Sequence[str],
    kinds: Mapping[str, str],
    where: str,
) -> None:
    """Refuse columns that are not there, kinds that are none, and a column with two roles."""
    for wanted in (label, id, group, *ignore, *kinds):
        if wanted is not None:
            check_name(wanted, names, where)
    for column, kind in kinds.items():
        if kind not in KINDS:
            raise BadChoice(f"column {column!r}: no kind is called {kind!r}; choose from {', '.join(KINDS)}.")
    if label in (id, group, *ignore):
        raise BadChoice(f"column {label!r} is the label and cannot be the id, the group or ignored as well.")
    for role, named in (("id", id), ("group", group)):
        if named in ignore:
            raise BadChoice(f"column {named!r} is ignored and cannot be the {role}, whose values are shown.")


def _check_features(table: Table) -> None:
    """Refuse a table without any column to judge the labels by."""
    if not table.features:
        others = [column for column in table.columns if column.name != table.label]
        found = ", ".join(f"{column.name} ({column.kind})" for column in others) or "none"
        raise BadTable(
            f"{table.name}: no column to judge the labels by (found: {found}); "
            "name the kind of a useful one with ",
            Option("kinds", {"COLUMN": "category"}),
            ".",
        )


def check_name(wanted: str, names: Sequence[str], where: str) -> None:
    """Refuse a column that is not there, with the likeliest one that is."""
    if wanted in names:
        return
    lower = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(wanted.lower(), list(lower), n=1, cutoff=0.6)
    hint = f"did you mean {lower[close[0]]!r}?" if close else f"there are {listed(names)}."
    raise BadChoice(f"{where}: no column {wanted!r}; {hint}")


def label_texts(values: pd.Series[Any], *, blank: str) -> list[str]:
    """Return a column's values as text, stripped, with `blank` where they are missing."""
    missing = values.isna().to_numpy()
    return [blank if gone else as_label(value).strip() for value, gone in zip(values, missing, strict=True)]
