"""What is known about the rows of a table in parts beside their cells: probabilities and vectors.

They stand in columns of the table or in an .npy file with a line for every row, in the order of the files.
Each part reads its own lines, as a table in memory reads all of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labelcut.auditing.beside import opinion_on
from labelcut.errors import BadChoice, BadTable
from labelcut.hnc.neighborhood import read_embedding
from labelcut.hnc.own_experts import read_opinion, refuse_known_names
from labelcut.hnc.settings import EXPERTS
from labelcut.large.parts import Part
from labelcut.table.beside import Beside, find_beside, load_embedding, load_opinion
from labelcut.table.label_column import in_natural_order
from labelcut.table.row_keys import row_keys
from labelcut.table.side_files import load_npy

__all__ = ["Sides", "find_sides"]


@dataclass(frozen=True)
class Sides:
    """Where probabilities and vectors stand.

    Attributes
    ----------
    opinions : mapping of str to str
        For each model ``"PREFIX*"``, or an .npy file.
    embedding : str or None
        A column of lists, ``"PREFIX*"``, or an .npy file.
    notes : mapping of str to str
        The columns of the table that they stand in, and what becomes of these.
    classes : tuple of str
        In the order in which the table has them, once they are known.
    """

    opinions: Mapping[str, str] = field(default_factory=dict)
    embedding: str | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    classes: tuple[str, ...] = ()

    @property
    def is_something(self) -> bool:
        """Whether there are any."""
        return bool(self.opinions) or self.embedding is not None

    def of(self, frame: pd.DataFrame, rows: Any, where: str) -> Beside:
        """Return what is known about some rows, checked; its opinions are about the classes of the table.

        Parameters
        ----------
        frame : DataFrame
            Their cells in the columns of `notes`, or in all.
        rows : slice or ndarray of int
            Their numbers in the table.
        where : str
            What to call them in messages.
        """
        if not self.is_something:
            return Beside()
        given = {name: self._lines(said, rows) for name, said in self.opinions.items()}
        vectors = None if self.embedding is None else self._lines(self.embedding, rows)
        classes = in_natural_order(self.classes)
        found = find_beside(
            frame, opinions=given, embedding=vectors, graph=None, classes=classes, id=None, where=where
        )
        opinions = {}
        for name, said in found.opinions.items():
            origin = said.origin if isinstance(given[name], str) else f"{where}: {self.opinions[name]}"
            try:
                names = np.array(said.values.columns, dtype=object)
                values = read_opinion(origin, said.values, len(frame), names)
            except ValueError as error:
                raise BadTable(str(error)) from error
            asked = opinion_on(self.classes, pd.DataFrame(values, columns=names))
            opinions[name] = replace(said, values=asked.astype(np.float32), origin=origin)
        try:
            embedding = read_embedding(found.embedding, len(frame))
        except ValueError as error:
            raise BadTable(f"{where}: {error}") from error
        typed = {"opinions": self.opinions, "embedding": self.embedding}
        if embedding is not None:
            found = replace(found, embedding=embedding.astype(np.float32))
        return replace(found, opinions=opinions, given=typed)

    def of_part(self, frame: pd.DataFrame, part: Part) -> Beside:
        """Return what is known about the rows of a part."""
        return self.of(frame, slice(part.first_row, part.first_row + part.n_rows), part.name)

    def salt(self, beside: Beside) -> NDArray[np.uint64]:
        """Return a number for each row from what stands in files: rows of equal cells may differ in it."""
        lines = [said.values for name, said in beside.opinions.items() if _is_file(self.opinions[name])]
        if self.embedding is not None and _is_file(self.embedding) and beside.embedding is not None:
            lines.append(pd.DataFrame(beside.embedding))
        if not lines:
            return np.zeros(1, dtype=np.uint64)
        whole = pd.concat(lines, axis=1)
        whole.columns = pd.Index([str(i) for i in range(whole.shape[1])])
        return row_keys(whole, ())

    def check_files(self, n_rows: int) -> None:
        """Refuse files that have not one line for every row."""
        for path in (*self.opinions.values(), self.embedding):
            if path is not None and _is_file(path):
                n_lines = len(np.atleast_1d(load_npy(Path(path), is_mapped=True)))
                if n_lines != n_rows:
                    raise BadTable(
                        f"{path}: has {n_lines} lines, but the table has {n_rows} rows; give one line per "
                        "row, in the order of the files and of the rows in them."
                    )

    def _lines(self, given: str, rows: Any) -> Any:
        return np.array(load_npy(Path(given), is_mapped=True)[rows]) if _is_file(given) else given


def find_sides(
    opinions: Mapping[str, Any] | None, embedding: Any, names: tuple[str, ...], where: str
) -> Sides:
    """Return where probabilities and vectors of a table with such columns stand.

    Parameters
    ----------
    opinions : mapping of str to path-like or "PREFIX*", or None
    embedding : path-like, column name or "PREFIX*", or None
    names : tuple of str
        The columns of the table.
    where : str
        What to call it in messages.
    """
    empty = pd.DataFrame(columns=pd.Index(names))
    said: dict[str, str] = {}
    notes: dict[str, str] = {}
    for name, given in (opinions or {}).items():
        said[str(name)] = _typed(given, f"opinions[{name!r}]")
        if not os.path.isfile(said[str(name)]):
            loaded = load_opinion(str(name), said[str(name)], empty, None, where)
            notes |= dict.fromkeys(loaded.columns, f"probabilities of {name}: no feature")
    try:
        refuse_known_names(said, EXPERTS)
    except ValueError as error:
        raise BadChoice(str(error)) from error
    if embedding is None:
        return Sides(said, None, notes)
    is_column = isinstance(embedding, str) and embedding in names
    vectors = str(embedding) if is_column else _typed(embedding, "embedding")
    if is_column or not os.path.isfile(vectors):
        columns = (vectors,) if is_column else load_embedding(vectors, empty, None, where).columns
        notes |= dict.fromkeys(columns, "makes the neighbours: no feature")
    return Sides(said, vectors, notes)


def _is_file(given: str) -> bool:
    return os.path.isabs(given) and given.endswith(".npy")


def _typed(given: Any, what: str) -> str:
    """Return columns as they were named, or the path of a file that can be read in parts."""
    if not isinstance(given, str | os.PathLike):
        raise BadChoice(
            f"a {type(given).__name__} as {what} is for a table in memory; leave it out, or name columns of "
            "the table by what they begin with, as in 'bert_*', or an .npy file with one line per row."
        )
    text = os.fspath(given)
    if os.path.isfile(text) and not _is_file(text):
        raise BadChoice(
            f"{what}: {text} cannot be read in parts; put its columns into the table, or save an .npy file "
            "with one line per row, in the order of the files."
        )
    return os.path.abspath(text) if os.path.isfile(text) else text
