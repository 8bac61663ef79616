"""A key for each row, from its cells without the label, so that decisions find their rows again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd

from labelcut.table.names import OUR_PREFIX

BATCH_CELLS = 1_000_000  # Cells looked at in one call: many short columns, or one long one.


def row_keys(frame: pd.DataFrame, label: str | Collection[str], words: Collection[str] = ()) -> np.ndarray:
    """Return a 64-bit key per row from its content: the same wherever the row stands in the file.

    The label or labels and our own columns do not count, so a key survives a correction, and one more
    annotator. Equal rows have equal keys. A column of text counts as numbers if every cell is one; `words`
    names those that are not elsewhere, where the frame is a part of a table.
    """
    labels = (label,) if isinstance(label, str) else label
    names = [name for name in frame.columns if name not in labels and not str(name).startswith(OUR_PREFIX)]
    total = np.zeros(len(frame), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for part in in_batches(names, len(frame)):
            salts = pd.util.hash_array(np.array(part, dtype=object))
            total += mixed(_cell_hashes(frame[part], words) ^ salts).sum(axis=1, dtype=np.uint64)
        return mixed(total)


def in_batches(names: Sequence[str], n_rows: int) -> Iterator[list[str]]:
    """Yield the columns some at a time: pandas takes a millisecond per call, however short a column is."""
    size = max(1, BATCH_CELLS // max(n_rows, 1))
    for start in range(0, len(names), size):
        yield list(names[start : start + size])


def _cell_hashes(frame: pd.DataFrame, words: Collection[str] = ()) -> np.ndarray:
    """Return a 64-bit number per cell."""
    hashed = np.empty(frame.shape, dtype=np.uint64)
    is_number = np.array([pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes], dtype=bool)
    is_word = _hold_words(frame, ~is_number) | np.array([name in words for name in frame.columns], dtype=bool)
    is_number &= ~is_word
    if is_number.any():
        numbers = frame.loc[:, is_number].astype("float64").to_numpy()
        hashed[:, is_number] = pd.util.hash_array(numbers.ravel()).reshape(numbers.shape)
    if is_word.any():
        texts = frame.loc[:, is_word]
        cells = np.where(texts.isna(), "", texts.to_numpy(dtype=object))
        written = np.array([str(cell) for cell in cells.ravel()], dtype=object)
        hashed[:, is_word] = pd.util.hash_array(written).reshape(cells.shape)
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
    """Return numbers as floats, also those read as text, and times in microseconds.

    How a column was read, and by which pandas, must not change the key.
    """
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values.astype("float64")
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return cast("pd.Series[Any]", values.dt.as_unit("us"))
    texts = values.astype("object").where(values.notna(), "").map(_written)
    if pd.to_numeric(values.dropna().head(50), errors="coerce").notna().all():
        numbers = pd.to_numeric(values, errors="coerce").astype("float64")
        return numbers if bool((numbers.notna() == values.notna()).all()) else texts
    return texts


def _written(cell: Any) -> str | bytes:
    """Return what tells a cell from others; of a vector its bytes, since its text may leave numbers out."""
    if isinstance(cell, np.ndarray) and cell.dtype.kind in "biuf":
        return cell.astype("float64").tobytes()
    return str(cell)


def mixed(values: np.ndarray) -> np.ndarray:
    """Scatter the bits of 64-bit numbers (the finaliser of splitmix64), so that their sum loses nothing."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return cast(np.ndarray, values ^ (values >> np.uint64(31)))
