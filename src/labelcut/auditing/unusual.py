"""What is unusual about a row for its class: the share of the class that is as far out, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from labelcut.auditing.words import cell_texts, shortened
from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.table.kinds import Column
from labelcut.table.numbers import Encoded
from labelcut.table.table import Table

MOST_COLUMNS = 1000  # Compared for each row, those that weigh most in the distance.
MOST_FAR_OUT = 5  # Columns named in the note on values that were clipped.
MOST_UNUSUAL = 12  # Kept for each row.


@dataclass(frozen=True)
class Comparison:
    """Rows held against two classes each.

    `unusual` has for each row a list of ``[column number, share of its own class that is as far out, the same
    of the other class, text of the cell]``, most unusual first. `typical` has for each column a
    value per class.
    """

    unusual: list[list[list[Any]]]
    typical: list[list[str] | None]


def compare_with_classes(
    table: Table, shown: np.ndarray, own: np.ndarray, other: np.ndarray, weights: dict[str, float]
) -> Comparison:
    """Hold the rows `shown` against two classes each.

    Parameters
    ----------
    table : Table
    shown : ndarray of int
        Row positions.
    own, other : ndarray of int
        For each of them the class it is held against first, and the one it could be instead.
    weights : dict of str to float
        Column weights; of two equally odd columns the one that matters more is named first.

    Returns
    -------
    Comparison
    """
    involved = np.union1d(own, other)
    number = {column.name: j for j, column in enumerate(table.columns)}
    typical: list[list[str] | None] = [None] * len(table.columns)
    columns = sorted(table.features, key=lambda column: -weights[column.name])[:MOST_COLUMNS]
    columns = [column for column in columns if column.kind != "text"]
    share = np.ones((2, len(columns), len(shown)), dtype=np.float32)
    for c, column in enumerate(columns):
        values, codes = comparable(table.typed(column.name), column), table.codes
        usual = typical[number[column.name]] = [""] * len(table.classes)
        for code in involved:
            members = values[codes == code]
            usual[code] = _typical(table.typed(column.name), column, codes == code)
            for k, of in enumerate((own, other)):
                asked = of == code
                share[k, c, asked] = _tail_share(members, values[shown[asked]], column.kind == "category")
    importance = np.array([weights[column.name] for column in columns])
    # A column counts by how rare the value is and by its weight: noise is rare now and then, too.
    relative = importance / max(importance.max(initial=0.0), 1e-12)
    score = -np.log(share[0] + 1e-3) * np.sqrt(relative + 0.02)[:, None]
    best = np.argsort(-score, axis=0, kind="stable")[:MOST_UNUSUAL]
    unusual = _listed(table, columns, number, best, share, shown)
    return Comparison(unusual, typical)


def far_out_notes(encoded: Encoded, model: ConfidenceHNC) -> list[str]:
    """Return a note that names the columns of numbers with values so far out that they were clipped."""
    if model.column_scale_ is None or not encoded.names:
        return []
    outside = model.column_scale_.is_outside(encoded.X)
    is_number = [name == origin for name, origin in zip(encoded.names, encoded.origin, strict=True)]
    found = [h for h in np.flatnonzero(outside.any(axis=0)) if is_number[h]]
    told = []
    for h in found[:MOST_FAR_OUT]:
        values = encoded.X[outside[:, h], h]
        told.append(f"{encoded.names[h]} ({values.size} rows, up to {values[np.abs(values).argmax()]:g})")
    more = f" and {len(found) - len(told)} more columns" if len(found) > len(told) else ""
    note = "Values far from all others are drawn nearer before rows are compared: "
    return [note + ", ".join(told) + more + "; check whether they are right."] if told else []


def comparable(values: pd.Series[Any], column: Column) -> np.ndarray:
    """Return a column as floats: categories as numbers of their values, missing as NaN."""
    if column.kind == "category":
        codes = pd.factorize(values.astype("object").map(str, na_action="ignore"))[0].astype("float64")
        codes[codes < 0] = np.nan
        return codes
    if column.kind == "date":
        stamps = values.to_numpy(dtype="datetime64[s]").astype("float64")
        stamps[values.isna().to_numpy()] = np.nan
        return stamps
    return values.to_numpy(dtype="float64", na_value=np.nan)


def _tail_share(members: np.ndarray, asked: np.ndarray, is_category: bool) -> np.ndarray:
    """Return the share of `members` at least as unusual as each asked value."""
    if not members.size or not asked.size:
        return np.ones(asked.size)
    missing = np.isnan(members)
    present = np.sort(members[~missing])
    if is_category or not present.size:
        values, counts = np.unique(present, return_counts=True)
        values, counts = np.append(values, np.inf), np.append(counts, missing.sum())  # inf stands for missing
        at = np.searchsorted(values[:-1], np.where(np.isnan(asked), np.inf, asked))
        known = values[np.minimum(at, values.size - 1)] == np.where(np.isnan(asked), np.inf, asked)
        own = np.where(known, counts[np.minimum(at, values.size - 1)], 0)
        rarest_first = np.sort(counts)
        up_to = np.concatenate([[0], np.cumsum(rarest_first)])
        return up_to[np.searchsorted(rarest_first, own, side="right")] / members.size
    below = np.searchsorted(present, asked, side="right") / present.size
    above = 1.0 - np.searchsorted(present, asked, side="left") / present.size
    share = np.minimum(1.0, 2.0 * np.minimum(below, above))
    return np.where(np.isnan(asked), missing.mean(), share)


def _typical(values: pd.Series[Any], column: Column, members: np.ndarray) -> str:
    """Return the median, or the most frequent value of a category."""
    present = values[members].dropna()
    if present.empty:
        return "missing"
    if column.kind == "numeric":
        return f"{float(present.astype('float64').median()):.4g}"
    if column.kind == "date":
        return str(present.sort_values().iloc[len(present) // 2])[:10]
    return str(present.astype("object").map(str).mode().iloc[0])[:60]


def _listed(
    table: Table,
    columns: list[Column],
    number: dict[str, int],
    best: np.ndarray,
    share: np.ndarray,
    shown: np.ndarray,
) -> list[list[list[Any]]]:
    result: list[list[list[Any]]] = [[] for _ in shown]
    for c in np.unique(best) if best.size else []:
        column = columns[c]
        users = np.flatnonzero((best == c).any(axis=0))
        texts = [shortened(text) for text in cell_texts(table.frame[column.name].iloc[shown[users]])]
        for s, text in zip(users.tolist(), texts, strict=True):
            pair = [round(float(share[k, c, s]), 3) for k in (0, 1)]
            result[s].append([number[column.name], *pair, text])
    places = [{number[columns[c].name]: rank for rank, c in enumerate(best[:, s])} for s in range(len(shown))]
    for found, place in zip(result, places, strict=True):
        found.sort(key=lambda entry: place[entry[0]])
    return result
