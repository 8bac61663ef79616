"""What stands beside a table, as people keep it: an array, a data frame, columns of the table, or a file.

Files are .npy, .npz, or any table that we read. Arrays of Python objects are never loaded, since loading them
would run whatever code they hold.
"""

from __future__ import annotations

import difflib
import json
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from labelcut.errors import BadChoice, BadTable
from labelcut.table.label_column import listed
from labelcut.table.reading import read_frame
from labelcut.table.source import find_source

__all__ = ["Loaded", "columns_of_prefix", "load_column", "load_npy", "load_side", "refuse_prefix"]

#: Arrays of an .npz that name its rows and its columns; of the others one holds the numbers.
ROW_NAMES, COLUMN_NAMES = ("id", "ids"), ("classes", "columns")
#: Which one that is, if there are several.
USUAL_NAMES = ("probs", "pred_probs", "probabilities", "embedding", "embeddings", "vectors", "arr_0")


@dataclass(frozen=True, eq=False)
class Loaded:
    """Numbers with one line per row of something.

    Attributes
    ----------
    values : ndarray of shape (n_lines,) or (n_lines, n_columns)
    origin : str
        Where they come from, for messages.
    names : tuple of str or None
        What the columns are called; None if they have no names.
    ids : sequence or None
        What the lines are called; None if they stand in the order of the table.
    columns : tuple of str
        The columns of the table that they were taken from.
    """

    values: np.ndarray
    origin: str
    names: tuple[str, ...] | None = None
    ids: Sequence[Any] | None = field(default=None, repr=False)
    columns: tuple[str, ...] = ()


def load_side(given: Any, origin: str, id: str | None) -> Loaded:
    """Return what a user gives for the rows of a table.

    Parameters
    ----------
    given : array-like, DataFrame or path-like
    origin : str
        What to call it in messages, unless it is a file.
    id : str or None
        The id column of the table; a data frame that has it is matched by it.
    """
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        origin = path.name
        if path.suffix == ".npy":
            return Loaded(load_npy(path), origin)
        if path.suffix == ".npz":
            return _load_npz(path, id)
        source = find_source(path)
        given = read_frame(source, as_text=[id] if id else [])
    elif hasattr(given, "to_pandas"):
        given = given.to_pandas()
    if isinstance(given, pd.DataFrame):
        return _of_frame(given, origin, id)
    if isinstance(given, pd.Series):
        given = given.to_numpy()
    try:
        return Loaded(np.asarray(given, dtype=np.float64), origin)
    except (TypeError, ValueError) as error:
        raise BadTable(f"{origin}: holds no numbers ({error}); give one line of numbers per row.") from error


def columns_of_prefix(pattern: str, frame: pd.DataFrame, where: str) -> Loaded:
    """Return the columns that begin as a pattern such as ``bert_*`` does; what follows names them."""
    prefix = pattern.removesuffix("*")
    found = tuple(str(name) for name in frame.columns if str(name).startswith(prefix))
    if not found or not prefix:
        refuse_prefix(pattern, [str(name) for name in frame.columns], where)
    loaded = _of_frame(frame[list(found)], f"{where}: {pattern}", None)
    return Loaded(loaded.values, loaded.origin, tuple(name[len(prefix) :] for name in found), None, found)


def refuse_prefix(pattern: str, names: Sequence[str], where: str) -> None:
    """Refuse a pattern that no column fits, with the likeliest that some do."""
    prefixes = {name[: i + 1] + "*" for name in names for i, letter in enumerate(name) if letter in "_.- :"}
    several = sorted(p for p in prefixes if sum(name.startswith(p[:-1]) for name in names) > 1)
    close = difflib.get_close_matches(pattern, several, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {listed(names)}."
    raise BadChoice(f"{where}: no column begins with {pattern.removesuffix('*')!r}; {hint}")


def load_column(name: str, frame: pd.DataFrame, where: str) -> Loaded:
    """Return a column whose cells are lists of numbers, all of one length, also those written as text."""
    cells = [_as_list(cell) for cell in frame[name]]
    empty = next((i for i, cell in enumerate(cells) if cell is None), None)
    if empty is not None:
        shown = str(frame[name].iloc[empty])[:40]
        raise BadTable(
            f"{where}: row {empty + 1} of {name!r} is {shown}, which is no list of numbers; give every row a "
            "vector, or name several columns by what they begin with, as in 'vector_*'."
        )
    widths = [len(cell) for cell in cells if cell is not None]
    usual = max(set(widths), key=widths.count)
    odd = next((i for i, width in enumerate(widths) if width != usual), None)
    if odd is not None:
        raise BadTable(
            f"{where}: row {odd + 1} of {name!r} has {widths[odd]} numbers, others have {usual}; give every "
            "row a vector of the same length."
        )
    try:
        values = np.array(cells, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadTable(f"{where}: {name!r} holds no numbers ({error}); check its cells.") from error
    return Loaded(values, f"{where}: {name}", None, None, (name,))


def _as_list(cell: Any) -> Sequence[Any] | np.ndarray | None:
    """Return the numbers of a cell, however they are kept; None if it is no list."""
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            cell = json.loads(cell)
        except ValueError:
            return None
    return cell if isinstance(cell, list | tuple | np.ndarray) and len(cell) else None


def load_npy(path: Path, *, is_mapped: bool = False) -> np.ndarray:
    """Return the array of a file; a mapped one is read where it is looked at."""
    try:
        if is_mapped:
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
        with open(path, "rb") as stream:
            return np.asarray(np.load(stream, allow_pickle=False))
    except OSError as error:
        raise BadChoice(f"{path}: cannot be read ({_why(error)}); check the path.") from error
    except ValueError as error:
        raise _object_array(path.name, error) from error
    except EOFError as error:
        raise BadTable(f"{path.name}: is empty; save the array again with np.save.") from error


def _load_npz(path: Path, id: str | None) -> Loaded:
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except OSError as error:
        raise BadChoice(f"{path}: cannot be read ({_why(error)}); check the path.") from error
    except ValueError as error:
        raise _object_array(path.name, error) from error
    except (zipfile.BadZipFile, EOFError) as error:
        raise BadTable(f"{path.name}: cannot be read as npz ({error}); save it again.") from error
    rows = next((name for name in (id, *ROW_NAMES) if name in arrays), None)
    columns = next((name for name in COLUMN_NAMES if name in arrays), None)
    rest = [name for name in arrays if name not in (rows, columns)]
    chosen = rest[0] if len(rest) == 1 else next((name for name in USUAL_NAMES if name in rest), None)
    if chosen is None:
        raise BadTable(
            f"{path.name}: holds the arrays {listed(list(arrays))}; call the one with the numbers 'probs' or "
            "'embedding'."
        )
    names = None if columns is None else tuple(str(name) for name in arrays[columns].tolist())
    ids = None if rows is None else arrays[rows].tolist()
    return Loaded(arrays[chosen], path.name, names, ids)


def _object_array(name: str, error: ValueError) -> BadTable:
    if "allow_pickle" in str(error) or "Object arrays" in str(error):
        return BadTable(
            f"{name}: holds Python objects, which are not loaded because they may run code; save plain "
            "numbers: np.save(path, array.astype(float))."
        )
    return BadTable(f"{name}: cannot be read as an array ({error}); save it again with np.save.")


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _of_frame(frame: pd.DataFrame, origin: str, id: str | None) -> Loaded:
    """Return the numbers of a data frame, without the column that names its rows."""
    ids = None
    if id is not None and id in frame:
        ids, frame = frame[id].tolist(), frame.drop(columns=id)
    if frame.shape[1] == 1 and isinstance(frame.iloc[0, 0] if len(frame) else None, list | np.ndarray):
        found = load_column(str(frame.columns[0]), frame, origin)
        return Loaded(found.values, origin, None, ids)
    try:
        values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        text = next((str(c) for c in frame if not pd.api.types.is_numeric_dtype(frame[c].dtype)), "")
        raise BadTable(
            f"{origin}: the column {text!r} holds no numbers; if it names the rows, call it as the table's "
            "id, else leave it out."
        ) from error
    return Loaded(values, origin, tuple(str(name) for name in frame.columns), ids)
