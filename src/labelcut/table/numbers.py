"""A Table -> a matrix of numbers without gaps.

Numbers go in as they are, with the median and a 0/1 column "was missing" for the gaps; a category becomes one
column per value. Dates, texts and categories of many values pass through skrub's TableVectorizer: parts of a
date, and the letter sequences of a text in a few columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

from labelcut.table.kinds import MANY_CATEGORIES, Column
from labelcut.table.row_keys import in_batches
from labelcut.table.table import Table

TEXT_LENGTH = 2000  # Letters of a text that are looked at; a page of it tells its class as well as a book.
TEXT_COLUMNS = 12  # Columns a text becomes: enough to tell topics apart without drowning the other features.


@dataclass(frozen=True)
class Encoded:
    """The matrix, and for each of its columns the table's column it comes from."""

    X: np.ndarray
    names: tuple[str, ...]
    origin: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Encoder:
    """How the columns of a table become numbers, to treat other rows of the same columns alike.

    Attributes
    ----------
    numeric : tuple of str
        Columns of numbers.
    medians : dict of str to float
        What fills the gaps of those that have some.
    texts_of : dict of str to tuple of str
        The sorted values of each category with few of them.
    others : tuple of str
        Dates, texts and categories of many values.
    vectorizer : TableVectorizer or None
        What turns the others into columns, and
    imputer : SimpleImputer or None
        what fills gaps among these.
    names, origin : tuple of str
        The columns that come out, and the column that each of them comes from.
    """

    numeric: tuple[str, ...]
    medians: dict[str, float]
    texts_of: dict[str, tuple[str, ...]]
    others: tuple[str, ...]
    vectorizer: Any
    imputer: Any
    names: tuple[str, ...]
    origin: tuple[str, ...]

    def apply(self, typed: Callable[[str], pd.Series[Any]], n_rows: int) -> np.ndarray:
        """Return the numbers of rows whose columns are looked up, each as what it is."""
        X = np.zeros((n_rows, len(self.names)))
        end = len(self.numeric)
        for j, name in enumerate(self.numeric):
            X[:, j] = _as_floats(typed(name))
            if name in self.medians:
                is_gap = ~np.isfinite(X[:, j])
                X[is_gap, j] = self.medians[name]
                X[:, end] = is_gap
                end += 1
        for name, texts in self.texts_of.items():
            codes, found = coded_texts(typed(name))
            place = np.array([texts.index(text) if text in texts else -1 for text in found], dtype=np.intp)
            for code in range(len(texts) == 2, len(texts)):
                X[:, end] = place[codes] == code
                end += 1
        if self.others:
            prepared = pd.DataFrame({str(i): _prepared(typed(name)) for i, name in enumerate(self.others)})
            block = self.vectorizer.transform(prepared).to_numpy(dtype="float64")
            block = np.where(np.isfinite(block), block, np.nan)
            block = block if self.imputer is None else self.imputer.transform(block)
            X[:, end:] = np.where(np.isfinite(block), block, 0.0)
        return X


def fit_encoder(table: Table, levels: Mapping[str, Iterable[str]] | None = None) -> Encoder:
    """Learn from some rows how columns become numbers; `encode` does it for all rows at once.

    Parameters
    ----------
    table : Table
        The rows to learn from.
    levels : mapping of str to iterable of str, optional
        All values of a category, where other rows may have more of them; "(missing)" is one, too.
    """
    levels = levels or {}
    numeric = _names(table, lambda c: c.kind == "numeric")
    medians = {}
    for name in numeric:
        values = _floats(table, name)
        is_number = np.isfinite(values)
        if not is_number.all() or _may_miss(table, name):
            medians[name] = float(np.median(values[is_number])) if is_number.any() else 0.0
    few = _names(table, lambda c: c.kind == "category" and c.n_distinct <= MANY_CATEGORIES)
    texts_of = {
        name: tuple(sorted({*levels.get(name, ()), *coded_texts(table.typed(name))[1]})) for name in few
    }
    others = _names(table, lambda c: c.kind in ("date", "text") or _has_many_values(c))
    block, vectorizer, imputer = _learn_texts_and_dates(table, others)
    shown = [(name, text) for name, texts in texts_of.items() for text in texts[len(texts) == 2 :]]
    gaps = [(name, f"{name}: was missing") for name in medians]
    outputs = [*((name, name) for name in numeric), *gaps, *((n, f"{n}: {text}") for n, text in shown)]
    outputs += zip(block.origin, block.names, strict=True)
    names, origin = tuple(name for _, name in outputs), tuple(of for of, _ in outputs)
    return Encoder(tuple(numeric), medians, texts_of, tuple(others), vectorizer, imputer, names, origin)


def _may_miss(table: Table, name: str) -> bool:
    return any(column.name == name and column.n_missing > 0 for column in table.columns)


def encode(table: Table) -> Encoded:
    """Turn the table's features into numbers.

    Parameters
    ----------
    table : Table

    Returns
    -------
    Encoded
        `X` has one row per row of the table and is finite: float64, or float32 where that holds every number
        as it is.
    """
    numeric = _names(table, lambda c: c.kind == "numeric")
    gappy = [name for name in numeric if not np.isfinite(_floats(table, name)).all()]
    blocks = [
        _categories(table, _names(table, lambda c: c.kind == "category" and c.n_distinct <= MANY_CATEGORIES)),
        _texts_and_dates(table, _names(table, lambda c: c.kind in ("date", "text") or _has_many_values(c))),
    ]
    # Numbers go straight to their place: a second copy of them would be the largest thing held.
    n_numbers = len(numeric) + len(gappy)
    is_narrow = not gappy and not blocks[-1].names and all(_is_narrow(table.typed(name)) for name in numeric)
    X = np.empty(
        (len(table.frame), n_numbers + sum(block.X.shape[1] for block in blocks)),
        dtype=np.float32 if is_narrow else np.float64,
    )
    place = {name: j for j, name in enumerate(numeric)}
    for name, j in place.items():
        X[:, j] = _floats(table, name)
    end = len(numeric)
    for part in in_batches(gappy, len(X)):
        at = [place[name] for name in part]
        X[:, [*at, *range(end, end + len(part))]] = _filled(Encoded(X[:, at], tuple(part), tuple(part))).X
        end += len(part)
    for block in blocks:
        X[:, end : end + block.X.shape[1]] = block.X
        end += block.X.shape[1]
    return Encoded(
        X,
        (
            *numeric,
            *(f"{name}: was missing" for name in gappy),
            *(n for block in blocks for n in block.names),
        ),
        (*numeric, *gappy, *(name for block in blocks for name in block.origin)),
    )


def _floats(table: Table, name: str) -> np.ndarray:
    return _as_floats(table.typed(name))


def _as_floats(values: pd.Series[Any]) -> np.ndarray:
    return values.to_numpy(dtype="float64", na_value=np.nan)


def _is_narrow(values: pd.Series[Any]) -> bool:
    """Whether float32 holds every such number as it is."""
    dtype = getattr(values.dtype, "numpy_dtype", values.dtype)
    return isinstance(dtype, np.dtype) and np.can_cast(dtype, np.float32)


def _has_many_values(column: Column) -> bool:
    return column.kind == "category" and column.n_distinct > MANY_CATEGORIES


def _names(table: Table, wanted: Callable[[Column], bool]) -> list[str]:
    return [column.name for column in table.features if wanted(column)]


def _categories(table: Table, names: list[str]) -> Encoded:
    """One 0/1 column per value, a single one where there are two; missing counts as a value."""
    coded = [coded_texts(table.typed(name)) for name in names]
    outputs = [
        (name, codes, code, text)
        for name, (codes, texts) in zip(names, coded, strict=True)
        for code, text in list(enumerate(texts))[len(texts) == 2 :]
    ]
    X = np.empty((len(table.frame), len(outputs)))
    for j, (_, codes, code, _) in enumerate(outputs):
        X[:, j] = codes == code
    return Encoded(
        X, tuple(f"{name}: {text}" for name, _, _, text in outputs), tuple(name for name, *_ in outputs)
    )


def coded_texts(values: pd.Series[Any]) -> tuple[np.ndarray, list[str]]:
    """Return a number per row, and the sorted texts that the numbers stand for; missing is a text, too."""
    if values.dtype == object:  # True, 1 and 1.0 are equal, but not written alike.
        codes, found = pd.factorize(_as_texts(values), sort=True)
        return codes, [str(text) for text in found]
    codes, found = pd.factorize(values)
    texts = [str(value)[:TEXT_LENGTH] for value in found] + ["(missing)"] * bool((codes < 0).any())
    place, shown = pd.factorize(np.array(texts, dtype=object), sort=True)
    return place[codes], list(shown)


def _texts_and_dates(table: Table, names: list[str]) -> Encoded:
    return _learn_texts_and_dates(table, names)[0]


def _learn_texts_and_dates(table: Table, names: list[str]) -> tuple[Encoded, Any, Any]:
    """Return dates and texts as numbers, and what has learned to make and to fill them."""
    if not names:
        return Encoded(np.empty((len(table.frame), 0)), (), ()), None, None
    from skrub import StringEncoder, TableVectorizer

    # Numbers for names: a column name may hold anything, and the outputs are told apart by it.
    prepared = pd.DataFrame({str(i): _prepared(table.typed(name)) for i, name in enumerate(names)})
    text_encoder = StringEncoder(n_components=TEXT_COLUMNS, random_state=0)
    vectorizer = TableVectorizer(
        cardinality_threshold=1, high_cardinality=text_encoder, drop_null_fraction=None
    )
    encoded = vectorizer.fit_transform(prepared)
    parts = [str(output).partition("_") for output in encoded.columns]
    origin = tuple(names[int(number)] for number, _, _ in parts)
    labels = tuple(f"{name}: {part or 'value'}" for name, (_, _, part) in zip(origin, parts, strict=True))
    block, imputer = _fill(Encoded(encoded.to_numpy(dtype="float64"), labels, origin))
    return block, vectorizer, imputer


def _as_texts(values: pd.Series[Any]) -> pd.Series[Any]:
    texts = values.astype("object").where(values.notna(), "(missing)").map(str)
    return texts.str.slice(0, TEXT_LENGTH)


def _prepared(values: pd.Series[Any]) -> pd.Series[Any]:
    return values if pd.api.types.is_datetime64_any_dtype(values.dtype) else _as_texts(values).astype("str")


def _filled(block: Encoded) -> Encoded:
    """Fill gaps with the median and add a 0/1 column for each column that had some."""
    return _fill(block)[0]


def _fill(block: Encoded) -> tuple[Encoded, Any]:
    """Return a block without gaps, and the imputer that has filled them; None if there were none."""
    from sklearn.impute import SimpleImputer

    X = block.X
    if np.isfinite(X).all():
        return block, None
    X = np.where(np.isfinite(X), X, np.nan)
    gaps = np.flatnonzero(np.isnan(X).any(axis=0))
    imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    filled = Encoded(
        cast(np.ndarray, imputer.fit_transform(X)),
        (*block.names, *(f"{block.origin[j]}: was missing" for j in gaps)),
        (*block.origin, *(block.origin[j] for j in gaps)),
    )
    return filled, imputer
