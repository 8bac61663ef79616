"""A file or a data frame -> a Table: what each column is, which rows are labeled, and with what.

Every column gets a kind. Numbers, categories, dates and free text become features; identifiers and constants
say nothing about a class and are left out by name. Nothing is dropped in silence: each column carries a note.
"""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import pandas as pd

from labelcut.errors import BadChoice, BadTable, Option
from labelcut.table.annotators import (
    CONSENSUS,
    Annotators,
    Gathered,
    check_long,
    gather_columns,
    gather_lines,
    label_columns,
)
from labelcut.table.beside import Beside, find_beside
from labelcut.table.kinds import Column, describe_column
from labelcut.table.label_column import Choices, in_natural_order, listed, read_label_column, without_marks
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
    `image` is the column that names a picture for each row, and `text` the one that is read as a whole.
    `beside` is what is known about the rows beside their cells.
    With `annotators` a row has several labels. Its own, in the column `label` of the frame, is what they say
    together: nothing as read, and filled in by who weighs them.
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
    image: str | None = None
    text: str | None = None
    name: str = "data frame"
    source: Source | None = None
    notes: tuple[str, ...] = ()
    beside: Beside = field(default_factory=Beside)
    annotators: Annotators | None = None

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
    label: str | Sequence[str],
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
    label : str or sequence of str
        The column with the labels, or one for each annotator.
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
    source: Source,
    *,
    label: str | Sequence[str],
    id: str | None = None,
    group: str | None = None,
    image: str | None = None,
    annotator: str | None = None,
    **choices: Any,
) -> Table:
    """Read the table of a file that `find_source` has looked at; the choices are those of `make_table`."""
    labels = label_columns(label)
    as_text = [name for name in (*labels, id, group, image, annotator) if name is not None]
    frame = read_frame(source, as_text=as_text, keep_marks_of=labels)
    missing = [name for name in labels if name not in frame]
    if source.other_sheets and missing:
        raise BadChoice(
            f"{source.name}: no column {missing[0]!r} on the sheet {source.sheet!r}; if it is on "
            f"{' or '.join(map(repr, source.other_sheets))}, name that one with ",
            Option("sheet"),
            ".",
        )
    marks: Counter[str] = Counter()
    for name in labels:
        if name in frame and source.has_marks:
            values, found = without_marks(frame[name], source.missing)
            frame = frame.assign(**{name: values})
            marks += found
    choices |= {"name": source.name, "source": source, "marks": marks, "annotator": annotator}
    return make_table(frame, label=label, id=id, group=group, image=image, **choices)


def make_table(
    frame: pd.DataFrame,
    *,
    label: str | Sequence[str],
    id: str | None = None,
    group: str | None = None,
    image: str | None = None,
    text: str | None = None,
    annotator: str | None = None,
    ignore: Iterable[str] = (),
    unlabeled: Iterable[str] = (),
    positive: str | None = None,
    merge_labels: bool = False,
    ordered: Iterable[str] = (),
    kinds: Mapping[str, str] | None = None,
    max_rows: int | None = None,
    opinions: Any = None,
    embedding: Any = None,
    graph: Any = None,
    name: str = "data frame",
    source: Source | None = None,
    marks: Mapping[str, int] | None = None,
    has_to_judge: bool = True,
) -> Table:
    """Say what each column is and read the labels.

    Parameters
    ----------
    frame : DataFrame
        As read; not modified.
    label, id, group : str
        Columns with a role of their own; `id` and `group` are optional and no features. Several label columns
        are one for each annotator.
    image : str, optional
        The column with the names of pictures, which is no feature either.
    text : str, optional
        The column that a person reads to decide; whatever is in it, its kind is text.
    annotator : str, optional
        A column that says whose label a line holds; the lines of one id are then one row of the table.
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
    opinions, embedding, graph : optional
        What is known about the rows beside their cells, see `find_beside`.
    name : str
        What to call the table in messages.
    source : Source, optional
        The file it was read from.
    marks : mapping of str to int, optional
        Cells of the label column that were taken for missing ones, such as "None", and how many there are.
    has_to_judge : bool, default=True
        Whether labels are to be judged, for which something has to be known about the rows.

    Returns
    -------
    Table
    """
    if list(frame.columns) != (names := unique_names(frame.columns)):
        frame = frame.set_axis(names, axis=1)
    ignore, kinds, labels = tuple(ignore), dict(kinds or {}), label_columns(label)
    roles = {"id": id, "group": group, "image": image, "text": text}
    check_choices(names, labels, roles | {"annotator": annotator}, ignore, kinds, name)
    kinds |= {} if text is None else {text: "text"}
    gathered = _gather(frame, labels, id, group, annotator, ignore, name)
    frame = frame if gathered is None else gathered.frame
    if len(frame) < 2:
        raise BadTable(
            f"{name}: {len(frame)} rows; at least two labeled rows of different classes are needed."
        )
    n_rows_in_file, rows = len(frame), np.arange(len(frame))
    if max_rows is not None and max_rows < len(frame):
        rows = np.sort(np.random.default_rng(0).choice(len(frame), max_rows, replace=False))
    index, whole, all_gathered = frame.index[rows], frame, gathered
    # All rows as they are: pandas shares the cells with the frame that was given.
    frame = (frame if rows.size == len(frame) else frame.iloc[rows]).reset_index(drop=True)
    gathered = gathered and gathered.at(rows)
    are_classes = any(kinds.get(column) == "category" for column in labels)
    choices = Choices(tuple(unlabeled), positive, merge_labels, tuple(ordered), are_classes)
    title = labels[0] if gathered is None else gathered.title
    told: Any = {"label": title, "name": name, "choices": choices, "marks": marks or {}}
    read = read_label_column(_texts_of(frame, labels[0], gathered), **told)
    beside = Beside()
    if not (opinions is None and embedding is None and graph is None):
        # Probabilities are about all classes of the file, of which a sample may miss some.
        texts = _texts_of(whole, labels[0], all_gathered)
        every = in_natural_order(read_label_column(texts, **told).classes)
        given = {"opinions": opinions, "embedding": embedding, "graph": graph}
        beside = find_beside(whole, **given, classes=every, id=id, where=name).of_rows(rows)
    check_free(beside.notes, [("label", column) for column in labels] + list(roles.items()))
    shown = roles | {"text": None, "label": annotator}
    columns, converted = _describe(frame, labels, shown, ignore, kinds, gathered, beside)
    table = Table(
        frame=frame,
        converted=converted,
        index=index,
        columns=columns,
        label=labels[0],
        classes=read.classes,
        codes=read.codes,
        rows=rows,
        keys=row_keys(frame, labels),
        n_rows_in_file=n_rows_in_file,
        id=id,
        group=group,
        image=image,
        text=text,
        name=name,
        source=source,
        notes=read.notes,
        beside=beside,
    )
    if has_to_judge:
        _check_features(table, labels)
    return table if gathered is None else _with_annotators(table, gathered)


def _texts_of(frame: pd.DataFrame, label: str, gathered: Gathered | None) -> list[str]:
    """Return the labels of a table as text: a column, or those of all annotators one after the other."""
    return label_texts(frame[label], blank="") if gathered is None else gathered.said.ravel().tolist()


def _gather(
    frame: pd.DataFrame,
    labels: Sequence[str],
    id: str | None,
    group: str | None,
    annotator: str | None,
    ignore: Sequence[str],
    name: str,
) -> Gathered | None:
    """Return the rows with what several annotators said about them, None if there is one label column."""
    if annotator is not None:
        check_long(annotator, id, group, labels)
        assert id is not None
        return gather_lines(frame, label=labels[0], annotator=annotator, id=id, ignore=ignore, where=name)
    return gather_columns(frame, labels, name) if len(labels) > 1 else None


def _describe(
    frame: pd.DataFrame,
    labels: Sequence[str],
    roles: Mapping[str, str | None],
    ignore: Sequence[str],
    kinds: Mapping[str, str],
    gathered: Gathered | None,
    beside: Beside,
) -> tuple[tuple[Column, ...], dict[str, pd.Series[Any]]]:
    """Return what each column is, and those that had to be converted; the annotators' one is a label, too."""
    role_of = dict.fromkeys(beside.notes, "beside") | dict.fromkeys(labels, "label")
    role_of |= dict.fromkeys(ignore, "ignored")
    role_of |= {column: role for role, column in roles.items() if column is not None}
    described = {
        column: describe_column(
            frame[column], role_of.get(column), kinds.get(column), beside.notes.get(column, "")
        )
        for column in map(str, frame.columns)
    }
    columns = {name: column for name, (column, _) in described.items()}
    if gathered is not None:
        notes = dict.fromkeys(labels, "of one annotator") if gathered.lines is None else {}
        if (annotator := roles["label"]) is not None:
            notes |= {labels[0]: "of one annotator per line", annotator: "is whose it is"}
        columns |= {name: replace(columns[name], note=note) for name, note in notes.items()}
        aside = {"role": "ignored", "is_hidden": True, "note": "differs inside an id, tells of the label"}
        columns |= {name: replace(columns[name], **cast(Any, aside)) for name in gathered.about_labels}
    converted = {name: values for name, (_, values) in described.items() if values is not None}
    return tuple(columns.values()), converted


def _with_annotators(table: Table, gathered: Gathered) -> Table:
    """Return a table whose label is what the annotators say together, not known yet."""
    n_rows = len(table.frame)
    empty = pd.Series([None] * n_rows, dtype=object)
    return replace(
        table,
        frame=table.frame.assign(**{CONSENSUS: empty}),
        label=CONSENSUS,
        codes=np.full(n_rows, -1, dtype=np.int64),
        rows=gathered.first,
        keys=row_keys(table.frame, (*gathered.columns, *gathered.about_labels)),
        notes=(*table.notes, *gathered.notes),
        annotators=gathered.read(table.codes),
    )


def as_pandas(table: Any) -> pd.DataFrame:
    """Return a data frame of pandas; of polars frames and the like a copy."""
    if isinstance(table, pd.DataFrame):
        return table
    if not hasattr(table, "to_pandas"):
        raise TypeError(
            f"table is a {type(table).__name__}; give a data frame (pandas, or polars) or a path."
        )
    return cast(pd.DataFrame, table.to_pandas())


def check_choices(
    names: Sequence[str],
    labels: Sequence[str],
    roles: Mapping[str, str | None],
    ignore: Sequence[str],
    kinds: Mapping[str, str],
    where: str,
) -> None:
    """Refuse columns that are not there, kinds that are none, and a column with two roles."""
    for wanted in (*labels, *roles.values(), *ignore, *kinds):
        if wanted is not None:
            check_name(wanted, names, where)
    for column, kind in kinds.items():
        if kind not in KINDS:
            raise BadChoice(f"column {column!r}: no kind is called {kind!r}; choose from {', '.join(KINDS)}.")
    for label in labels:
        if label in (*roles.values(), *ignore):
            also = next((f"the {role}" for role, named in roles.items() if named == label), "ignored")
            raise BadChoice(f"column {label!r} is the label and cannot be {also} as well.")
    image, text, group = roles.get("image"), roles.get("text"), roles["group"]
    if image is not None and image in (group, text):
        raise BadChoice(f"column {image!r} names pictures and cannot be the group or the text as well.")
    if text is not None and (text in (roles["id"], group) or kinds.get(text, "text") != "text"):
        also = "the id, the group or of another kind"
        raise BadChoice(f"column {text!r} is the text and cannot be {also} as well.")
    for role, named in roles.items():
        if named in ignore:
            raise BadChoice(f"column {named!r} is ignored and cannot be the {role}, whose values are shown.")


def check_free(used: Mapping[str, str], roles: Iterable[tuple[str, str | None]]) -> None:
    """Refuse a column beside the table that has another role."""
    for role, column in roles:
        if column in used:
            raise BadChoice(f"column {column!r} is the {role} and cannot hold probabilities or vectors, too.")


def _check_features(table: Table, labels: Sequence[str]) -> None:
    """Refuse a table without any column to judge the labels by."""
    if not table.features and not table.beside.is_something:
        others = [column for column in table.columns if column.name not in labels]
        found = ", ".join(f"{column.name} ({column.kind})" for column in others) or "none"
        if table.image is not None:
            raise BadTable(
                f"{table.name}: no column to judge the labels by (found: {found}); pictures are shown, not "
                "looked at: give vectors that a network makes of them with ",
                Option("embedding"),
                ".",
            )
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
