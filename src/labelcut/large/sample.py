"""The sampled rows as a Table -> kinds, encoder and scale: how every part becomes numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labelcut.errors import BadTable, Option
from labelcut.hnc.columns import ColumnScale, scale_columns
from labelcut.large.parts import Part, Shape, read_part
from labelcut.large.scan import Scan, Wanted
from labelcut.table.kinds import Column, convert, date_format, describe_column
from labelcut.table.numbers import Encoder, fit_encoder
from labelcut.table.row_keys import row_keys
from labelcut.table.table import Table

__all__ = ["Preparation", "as_table", "fetch_rows", "prepare", "put_together"]


@dataclass(frozen=True, eq=False)
class Preparation:
    """How the rows of a part become scaled numbers.

    `kinds` has for each feature its kind and, of dates that are written as text, their format.
    """

    shape: Shape
    kinds: dict[str, tuple[str, str | None]]
    encoder: Encoder
    scale: ColumnScale

    def numbers(self, frame: pd.DataFrame) -> NDArray[np.float32]:
        """Return the scaled columns of some rows."""

        def typed(name: str) -> pd.Series[Any]:
            return convert(frame[name], *self.kinds[name])

        X = self.encoder.apply(typed, len(frame))
        return self.scale.apply(X).astype(np.float32) if len(X) else X.astype(np.float32)

    def of_part(self, part: Part) -> NDArray[np.float32]:
        """Read a part and return its scaled columns."""
        return self.numbers(read_part(part, self.shape, list(self.kinds)))


def fetch_rows(part: Part, shape: Shape, rows: NDArray[np.intp]) -> pd.DataFrame:
    """Return some rows of a part with all their cells."""
    return read_part(part, shape).iloc[rows].reset_index(drop=True)


def put_together(frames: Sequence[pd.DataFrame], nodes: Sequence[NDArray[np.int32]]) -> pd.DataFrame:
    """Return rows from several parts in the order of their nodes."""
    frame = pd.concat(frames, ignore_index=True)
    return frame.iloc[np.argsort(np.concatenate(nodes), kind="stable")].reset_index(drop=True)


def as_table(
    frame: pd.DataFrame,
    scan: Scan,
    wanted: Wanted,
    columns: Sequence[Column],
    *,
    classes: tuple[str, ...],
    codes: np.ndarray,
    rows: np.ndarray,
    name: str,
    notes: tuple[str, ...] = (),
    forms: Mapping[str, str | None] | None = None,
) -> Table:
    """Return some rows of the table as a Table of their own; columns are described already."""
    forms = forms or {}
    converted = {}
    for column in columns:
        if column.role == "feature":
            values = convert(frame[column.name], column.kind, forms.get(column.name))
            if values is not frame[column.name] and values.dtype != frame[column.name].dtype:
                converted[column.name] = values
    return Table(
        frame=frame,
        converted=converted,
        index=frame.index,
        columns=tuple(columns),
        label=wanted.label,
        classes=classes,
        codes=codes,
        rows=rows,
        keys=row_keys(frame, wanted.label, scan.words),
        n_rows_in_file=len(rows),
        id=wanted.id,
        group=wanted.group,
        name=name,
        notes=notes,
    )


def describe(
    frame: pd.DataFrame, scan: Scan, wanted: Wanted, ignore: Iterable[str], name: str
) -> tuple[list[Column], dict[str, str | None]]:
    """Return what each column is, and the format of dates that are written as text, from the sampled rows."""
    roles = {wanted.label: "label"} | dict.fromkeys(ignore, "ignored")
    roles |= {column: role for column, role in ((wanted.id, "id"), (wanted.group, "group")) if column}
    columns, forms = [], {}
    for column_name in scan.shape.names:
        values = frame[column_name]
        column, _ = describe_column(values, roles.get(column_name), wanted.kinds.get(column_name))
        if column_name in scan.counts.columns:
            count = scan.counts.columns[column_name]
            n_levels = len(count.levels - {"(missing)"}) if count.levels is not None else 0
            n_distinct = max(column.n_distinct, n_levels)
            column = replace(column, n_missing=count.n_missing, n_distinct=n_distinct)
        if column.kind == "date" and not pd.api.types.is_datetime64_any_dtype(values.dtype):
            forms[column_name] = date_format(values.astype("str").where(values.notna()))
        columns.append(column)
    if not any(column.role == "feature" for column in columns):
        found = ", ".join(f"{column.name} ({column.kind})" for column in columns if column.role != "label")
        raise BadTable(
            f"{name}: no column to judge the labels by (found: {found or 'none'}); name the kind of a useful "
            "one with ",
            Option("kinds", {"COLUMN": "category"}),
            ".",
        )
    return columns, forms


def prepare(
    table: Table, scan: Scan, forms: Mapping[str, str | None]
) -> tuple[Preparation, NDArray[np.float32]]:
    """Learn from the sampled rows how all rows become numbers; return that, and those of the sample."""
    levels = {name: count.levels for name, count in scan.counts.columns.items() if count.levels is not None}
    encoder = fit_encoder(table, levels)
    kinds = {column.name: (column.kind, forms.get(column.name)) for column in table.features}
    X = encoder.apply(table.typed, len(table.frame))
    scale = scale_columns(X, kind="robust")[1]
    return Preparation(scan.shape, kinds, encoder, scale), scale.apply(X).astype(np.float32)
