"""What is known about the rows of a table beside its cells: other models' probabilities, vectors, a graph.

Each has one line per row of the table, in its order or matched by its ids. Columns of the table that serve
as one of them are no features.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from labelcut.errors import BadChoice, BadTable, Option
from labelcut.table.label_column import listed
from labelcut.table.reading import as_label
from labelcut.table.side_files import Loaded, columns_of_prefix, load_column, load_side, refuse_prefix

__all__ = ["Beside", "Opinion", "files_beside", "find_beside", "load_embedding", "load_opinion"]


@dataclass(frozen=True, eq=False)
class Opinion:
    """Probabilities of every row by one model.

    Attributes
    ----------
    values : DataFrame of shape (n_rows, n_classes)
        Its columns are called after the classes.
    origin : str
        Where they come from, for messages.
    has_names : bool
        Whether the columns were named; otherwise they are taken in the order of the sorted classes.
    """

    values: pd.DataFrame = field(repr=False)
    origin: str
    has_names: bool


@dataclass(frozen=True, eq=False)
class Beside:
    """What is known about the rows, in the order of the table.

    Attributes
    ----------
    opinions : dict of str to Opinion
    embedding : ndarray of shape (n_rows, n_dimensions) or None
    graph : sparse matrix of shape (n_rows, n_rows) or None
        Distances to nearest rows.
    notes : dict of str to str
        What becomes of the columns of the table that it is made of.
    given : dict of str to object
        What the user typed for each, as far as it is text.
    """

    opinions: dict[str, Opinion] = field(default_factory=dict)
    embedding: np.ndarray | None = field(default=None, repr=False)
    graph: Any = field(default=None, repr=False)
    notes: dict[str, str] = field(default_factory=dict)
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def is_something(self) -> bool:
        """Whether rows can be judged by it alone."""
        return bool(self.opinions) or self.embedding is not None

    def of_rows(self, rows: np.ndarray) -> Beside:
        """Return what is known about some of the rows."""
        return replace(
            self,
            opinions={
                name: replace(said, values=said.values.iloc[rows]) for name, said in self.opinions.items()
            },
            embedding=None if self.embedding is None else self.embedding[rows],
            graph=None if self.graph is None else self.graph[rows][:, rows],
        )


def find_beside(
    frame: pd.DataFrame,
    *,
    opinions: Any,
    embedding: Any,
    graph: Any,
    classes: tuple[str, ...],
    id: str | None,
    where: str,
) -> Beside:
    """Read what the user gives beside a table.

    Parameters
    ----------
    frame : DataFrame
        All rows of the table.
    opinions : mapping of str to array-like, DataFrame, path-like or "PREFIX*", or None
    embedding : array-like, DataFrame, path-like, column name or "PREFIX*", or None
    graph : sparse matrix or None
    classes : tuple of str
        All classes of the table, sorted.
    id : str or None
        The id column.
    where : str
        What to call the table in messages.
    """
    _check_named(opinions)
    ids = None if id is None else _texts(frame[id].tolist())
    found: dict[str, Opinion] = {}
    notes: dict[str, str] = {}
    for name, given in (opinions or {}).items():
        loaded = load_opinion(str(name), given, frame, id, where)
        notes |= dict.fromkeys(loaded.columns, f"probabilities of {name}: no feature")
        found[str(name)] = _opinion(_lined_up(loaded, len(frame), ids), classes)
    vectors = None
    if embedding is not None:
        loaded = load_embedding(embedding, frame, id, where)
        notes |= dict.fromkeys(loaded.columns, "makes the neighbours: no feature")
        vectors = np.asarray(_lined_up(loaded, len(frame), ids).values)
    given = {"opinions": opinions or {}, "embedding": embedding}
    return Beside(found, vectors, graph, notes, given)


def files_beside(opinions: Mapping[str, Any] | None, embedding: Any) -> dict[str, Path]:
    """Return the files among what is given beside a table, by what they are."""
    _check_named(opinions)
    named = {f"the probabilities of {name}": given for name, given in (opinions or {}).items()}
    named["the embedding"] = embedding
    return {
        what: Path(given)
        for what, given in named.items()
        if isinstance(given, str | os.PathLike) and Path(given).is_file()
    }


def _check_named(opinions: Any) -> None:
    if opinions is not None and not isinstance(opinions, Mapping):
        raise TypeError(
            f"opinions is a {type(opinions).__name__}; give a dict from a name to probabilities, such as "
            "opinions={'mine': P}."
        )


def load_opinion(name: str, given: Any, frame: pd.DataFrame, id: str | None, where: str) -> Loaded:
    """Return the probabilities of one model as they are kept; as in `find_beside`."""
    if isinstance(given, str) and given.endswith("*"):
        return columns_of_prefix(given, frame, where)
    if isinstance(given, str | os.PathLike) and not Path(given).exists():
        hint = f"{str(given)!r} is no file; name one, or the columns by what they begin with, as in "
        close = [str(column) for column in frame.columns if str(column).startswith(str(given))]
        raise BadChoice(
            f"the probabilities of {name!r}: {hint}{(str(given) if close else name + '_') + '*'!r}."
        )
    return load_side(given, f"opinions[{name!r}]", id)


def load_embedding(given: Any, frame: pd.DataFrame, id: str | None, where: str) -> Loaded:
    """Return vectors as they are kept; as in `find_beside`."""
    if isinstance(given, str):
        if given in frame.columns:
            return load_column(given, frame, where)
        if given.endswith("*"):
            return columns_of_prefix(given, frame, where)
    if isinstance(given, str | os.PathLike) and not Path(given).exists():
        if Path(given).suffix:
            raise BadChoice(f"the embedding: {str(given)!r} is no file; check the path.")
        names = [str(column) for column in frame.columns]
        if any(name.startswith(str(given)) for name in names):
            raise BadChoice(f"{where}: no column {given!r}; several begin with it: write {f'{given}*'!r}.")
        refuse_prefix(str(given), names, where)
    return load_side(given, "embedding", id)


def _lined_up(loaded: Loaded, n_rows: int, ids: list[str] | None) -> Loaded:
    """Return the lines in the order of the table: matched by ids if they have any, else as they stand."""
    origin, values = loaded.origin, loaded.values
    if values.ndim not in (1, 2):
        raise BadTable(f"{origin}: has {values.ndim} dimensions; give one line of numbers per row.")
    if not np.issubdtype(values.dtype, np.number) and values.dtype != bool:
        raise BadTable(f"{origin}: holds {values.dtype}, not numbers; give one line of numbers per row.")
    if loaded.ids is None:
        if len(values) != n_rows:
            raise BadTable(
                f"{origin}: has {len(values)} lines, but the table has {n_rows} rows; give one line per "
                "row, in the order in which rows first appear, or name the lines by the table's id."
            )
        return loaded
    if ids is None:
        raise BadChoice(
            f"{origin}: names its lines; say which column of the table holds these names with ",
            Option("id"),
            ".",
        )
    lines = _texts(loaded.ids)
    place = {line: i for i, line in enumerate(lines)}
    if len(place) < len(lines):
        twice = next(line for line in lines if lines.count(line) > 1)
        raise BadTable(f"{origin}: has two lines for the row {twice!r}; give each row one line.")
    missing = [line for line in ids if line not in place]
    if missing:
        raise BadTable(
            f"{origin}: has no line for {len(missing)} of {n_rows} rows, the first is {missing[0]!r}; give "
            "every row a line."
        )
    return replace(loaded, values=values[[place[line] for line in ids]])


def _texts(ids: Any) -> list[str]:
    return [as_label(value).strip() for value in ids]


def _opinion(loaded: Loaded, classes: tuple[str, ...]) -> Opinion:
    """Return probabilities with the classes as columns; of two classes one column is enough."""
    values, names = np.asarray(loaded.values, dtype=np.float64), loaded.names
    if values.ndim == 1:
        values = values[:, None]
    if values.shape[1] == 1 and len(classes) == 2:
        is_first = names is not None and names[0] == classes[0]
        values = np.hstack([values, 1.0 - values] if is_first else [1.0 - values, values])
        names = None
    if names is not None:
        names = tuple(as_label(name).strip() for name in names)
        if sorted(names) != sorted(classes):
            raise BadTable(
                f"{loaded.origin}: has the columns {listed(names)}, but the classes are {listed(classes)}; "
                "name one column after each class, and give no others."
            )
    elif values.shape[1] != len(classes):
        raise BadTable(
            f"{loaded.origin}: has {values.shape[1]} columns, but there are {len(classes)} classes; give one "
            f"column per class in the order {listed(classes)}, or name the columns."
        )
    frame = pd.DataFrame(values, columns=list(names or classes))
    return Opinion(frame, loaded.origin, loaded.names is not None)
