"""The labels of several annotators: a column for each, or a line for each label, into one row per thing.

In the long form several lines of the file are about one thing, which its id names. What they say about the
thing itself has to be the same in all of them; a column that changes from line to line in most things tells
something about the label, such as when it was given, and is left out and told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from labelcut.errors import BadChoice, BadTable, Option
from labelcut.table.names import OUR_PREFIX
from labelcut.table.reading import as_label

#: What the one label of a row with several annotators is called, in decisions and in the table we write.
CONSENSUS = f"{OUR_PREFIX}consensus"

#: An annotator with so many labels should share a class with somebody.
FEWEST_TO_COMPARE = 5


@dataclass(frozen=True)
class Annotators:
    """Who said what about the rows of a table.

    `names` are the annotators, `codes` the positions of their labels in the table's classes (a row per row, a
    column per annotator, -1 for none). `columns` are the columns they stand in: one per annotator, or in the
    long form that of the labels and that of the annotators. `lines` holds for each line of the file the row
    of the table it belongs to, -1 for none; it is None where each line is a row.
    """

    names: tuple[str, ...]
    codes: np.ndarray
    columns: tuple[str, ...]
    lines: np.ndarray | None = None

    @property
    def is_long(self) -> bool:
        """Whether the file has a line per label."""
        return self.lines is not None

    def facts(self) -> dict[str, Any]:
        """Return where the labels stand, as plain lists."""
        if self.is_long:
            return {"form": "long", "label": self.columns[0], "annotator": self.columns[1]}
        return {"form": "wide", "labels": list(self.columns)}


@dataclass(frozen=True)
class Gathered:
    """One row per thing, and what each annotator said about it.

    `said` holds the labels as text, a column per annotator, empty for none; `first` is the number of the line
    each row begins at, and `about_labels` are columns that describe a label, not a thing.
    """

    frame: pd.DataFrame
    said: np.ndarray
    names: tuple[str, ...]
    columns: tuple[str, ...]
    first: np.ndarray
    lines: np.ndarray | None = None
    about_labels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What to call the label columns in messages."""
        return self.columns[0] if self.lines is not None else ", ".join(self.columns)

    def at(self, rows: np.ndarray) -> Gathered:
        """Return some of the rows."""
        lines = self.lines
        if lines is not None:
            place = np.full(len(self.frame), -1)
            place[rows] = np.arange(rows.size)
            lines = place[lines]
        return replace(
            self,
            frame=self.frame.iloc[rows],
            said=self.said[rows],
            first=self.first[rows],
            lines=lines,
        )

    def read(self, codes: np.ndarray) -> Annotators:
        """Return who said what, with the labels as positions in the table's classes."""
        codes = codes.reshape(self.said.shape)
        _refuse_strangers(codes, self.said, self.names)
        return Annotators(self.names, codes, self.columns, self.lines)


def label_columns(label: str | Sequence[str]) -> tuple[str, ...]:
    """Return the label columns that were named, one or several, each once."""
    columns = (label,) if isinstance(label, str) else tuple(label)
    if not columns:
        raise BadChoice(Option("label"), " names no column; name the column with the labels.")
    for name in columns:
        if not isinstance(name, str):
            raise TypeError(f"label={label!r}: {name!r} is no text; give a column's name, or a list of them.")
        if columns.count(name) > 1:
            raise BadChoice(f"column {name!r} is named twice as a label; name each annotator's column once.")
    return columns


def gather_columns(frame: pd.DataFrame, columns: Sequence[str], where: str) -> Gathered:
    """Return what a column per annotator says about each row."""
    said = np.column_stack([_texts(frame[name]) for name in columns])
    is_given = said != ""
    heard = np.flatnonzero(is_given.any(axis=0))
    if heard.size == 1:
        raise BadTable(
            f"{where}: of the label columns only {columns[heard[0]]!r} holds labels; name it alone with ",
            Option("label", columns[heard[0]]),
            ".",
        )
    return Gathered(frame, said, tuple(columns), tuple(columns), np.arange(len(frame)))


def gather_lines(
    frame: pd.DataFrame, *, label: str, annotator: str, id: str, ignore: Sequence[str], where: str
) -> Gathered:
    """Return one row per id, in the order in which they first appear, and what each annotator said about it.

    Columns to ignore may differ from line to line.
    """
    who, what, labels = _texts(frame[annotator]), _texts(frame[id]), _texts(frame[label])
    _refuse_nameless(who, what, labels, annotator, id, where)
    item, first = _numbered(what)
    names = sorted(set(who[labels != ""]))
    if len(names) == 1:
        raise BadTable(
            f"{where}: all labels are by {names[0]!r}; two annotators are needed to compare them. Leave ",
            Option("annotator"),
            " out to audit the labels of one.",
        )
    position = {name: j for j, name in enumerate(names)}
    said = np.full((first.size, len(names)), "", dtype=object)
    for line in np.flatnonzero(labels != "").tolist():
        i, j = item[line], position[who[line]]
        if said[i, j]:
            raise BadTable(
                f"{where}: {who[line]!r} gave two labels to {what[line]!r}, {said[i, j]!r} and "
                f"{labels[line]!r} in row {line + 1}; keep one of them."
            )
        said[i, j] = labels[line]
    others = [name for name in frame.columns if name not in (label, annotator, id, *ignore)]
    others = [name for name in others if not str(name).startswith(OUR_PREFIX)]
    about_labels, notes = _columns_about_labels(frame, others, item, first, where, id)
    return Gathered(
        frame=frame.iloc[first],
        said=said,
        names=tuple(names),
        columns=(label, annotator),
        first=first,
        lines=item,
        about_labels=about_labels,
        notes=notes,
    )


def check_long(annotator: str, id: str | None, group: str | None, labels: Sequence[str]) -> None:
    """Refuse choices that leave open which lines are about one thing."""
    if len(labels) > 1:
        raise BadChoice(
            Option("annotator", annotator),
            f" is for one label per line, but {len(labels)} label columns are named; name one, or leave ",
            Option("annotator"),
            " out if each label column is an annotator.",
        )
    if id is None:
        raise BadChoice(
            Option("annotator", annotator),
            " is for several lines per thing; name the column that says which lines belong together with ",
            Option("id"),
            ".",
        )
    for role, column in (("label", labels[0]), ("id", id), ("group", group)):
        if column == annotator:
            raise BadChoice(
                f"column {annotator!r} names the annotators and cannot be the {role} as well; their "
                "labels are compared in any case."
            )


def _texts(values: pd.Series[Any]) -> np.ndarray:
    """Return cells as text without blanks around it, empty where they are missing."""
    missing = values.isna().to_numpy()
    cells = ["" if gone else as_label(cell).strip() for cell, gone in zip(values, missing, strict=True)]
    return np.array(cells, dtype=object)


def _numbered(what: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each line's thing, counted as they first appear, and the first line of each."""
    item, _ = pd.factorize(what)
    first = np.unique(item, return_index=True)[1]
    return np.asarray(item), first


def _refuse_nameless(
    who: np.ndarray, what: np.ndarray, labels: np.ndarray, annotator: str, id: str, where: str
) -> None:
    for names, column, kind in ((what, id, "what it is about"), (who, annotator, "whose label it holds")):
        is_blank = (names == "") if column == id else (names == "") & (labels != "")
        if is_blank.any():
            raise BadTable(
                f"{where}: {int(is_blank.sum())} rows do not say {kind} (column {column!r}, first in row "
                f"{int(np.argmax(is_blank)) + 1}); fill these cells or remove the rows."
            )


def _columns_about_labels(
    frame: pd.DataFrame, columns: Sequence[str], item: np.ndarray, first: np.ndarray, where: str, id: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns that differ inside most ids, and a note about them; refuse one that does in few."""
    has_more = np.bincount(item) > 1
    found = []
    for name in columns:
        values = pd.factorize(_texts(frame[name]))[0]
        differs = np.zeros(first.size, dtype=bool)
        differs[item[values != values[first][item]]] = True
        n_differs = int(differs.sum())
        if 2 * n_differs > int(has_more.sum()):
            found.append(name)
        elif n_differs:
            line = int(np.argmax(values != values[first][item]))
            raise BadTable(
                f"{where}: the rows of {id} {_texts(frame[id].iloc[[line]])[0]!r} differ in the column "
                f"{name!r} (rows {int(first[item[line]]) + 1} and {line + 1}), and so do those of "
                f"{n_differs - 1} others; make them agree, or leave the column out with ",
                Option("ignore"),
                ".",
            )
    if not found:
        return (), ()
    names = ", ".join(map(repr, found))
    return tuple(found), (
        f"Columns that differ inside most ids tell of the label and are left out: {names}.",
    )


def _refuse_strangers(codes: np.ndarray, said: np.ndarray, names: Sequence[str]) -> None:
    """Refuse an annotator whose labels are those of another question."""
    for j, name in enumerate(names):
        own = codes[:, j][codes[:, j] >= 0]
        others = np.delete(codes, j, axis=1)
        if own.size >= FEWEST_TO_COMPARE and not np.isin(own, others[others >= 0]).any():
            row = int(np.argmax(codes[:, j] >= 0))
            raise BadTable(
                f"no label of the annotator {name!r} was ever given by another one (they say such as "
                f"{said[row, j]!r}); give labels of one question in one spelling, or leave the annotator out."
            )
