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
    **choices: Any,
) -> Table:
    """Read a table from a file.

    Parameters
    ----------
    path : path-like
        The file; ``-`` is the standard input.
    label : str
        The column with the labels.
    delimiter, encoding, missing, has_header
        How the file is read, where the guess is wrong; as in `find_source`.
    **choices
        As in `make_table`.

    Returns
    -------
    Table
    """
    source = find_source(path, delimiter=delimiter, encoding=encoding, missing=missing, has_header=has_header)
    return read_source(source, label=label, **choices)


def read_source(
    source: Source, *, label: str, id: str | None = None, group: str | None = None, **choices: Any
) -> Table:
    """Read the table of a file that `find_source` has looked at; the choices are those of `make_table`."""
    frame = read_frame(source, as_text=[name for name in (label, id, group) if name is not None])
    return make_table(frame, label=label, id=id, group=group, name=source.name, source=source, **choices)


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
    classes, codes = _classes(texts, {"", *unlabeled}, positive, label, name)
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
        classes=classes,
        codes=codes,
        rows=rows,
        keys=keys,
        n_rows_in_file=n_rows_in_file,
        id=id,
        group=group,
        name=name,
        source=source,
    )
    _check_features(table)
    return table


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
