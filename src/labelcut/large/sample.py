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
from labelcut.hnc.neighborhood import columns_instead
from labelcut.large.beside import Sides
from labelcut.large.parts import Part, Shape, read_part
from labelcut.large.scan import Scan, Wanted
from labelcut.table.beside import Beside
from labelcut.table.kinds import Column, convert, date_format, describe_column
from labelcut.table.numbers import Encoder, fit_encoder
from labelcut.table.row_keys import row_keys
from labelcut.table.table import Table

__all__ = ["Preparation", "as_table", "fetch_rows", "prepare", "put_together"]


@dataclass(frozen=True, eq=False)
class Preparation:
    """How the rows of a part become scaled numbers.

    `kinds` has for each feature its kind and, of dates that are written as text, their format. Behind the
    features stand vectors or, without any feature, the opinions; `scale` and `side_scale` are None where
    there is nothing to scale.
    """

    shape: Shape
    kinds: dict[str, tuple[str, str | None]]
    encoder: Encoder
    scale: ColumnScale | None
    side_scale: ColumnScale | None
    sides: Sides

    @property
    def first_near(self) -> int:
        """Where the columns begin by which rows are near each other."""
        return 0 if self.sides.embedding is None else len(self.encoder.names)

    def numbers(self, frame: pd.DataFrame, beside: Beside) -> NDArray[np.float32]:
        """Return the scaled columns of some rows, and behind them what is known beside these."""

        def typed(name: str) -> pd.Series[Any]:
            return convert(frame[name], *self.kinds[name])

        X = self.encoder.apply(typed, len(frame))
        return _scaled([(X, self.scale), (_instead(beside, X.shape[1]), self.side_scale)])

    def read(self, part: Part) -> tuple[NDArray[np.float32], Beside]:
        """Read a part; return its scaled columns, and what is known beside them."""
        names = [*self.kinds, *self.sides.notes] or [self.shape.label]
        frame = read_part(part, self.shape, names)
        beside = self.sides.of_part(frame, part)
        return self.numbers(frame, beside), beside

    def of_part(self, part: Part) -> NDArray[np.float32]:
        """Read a part and return its scaled columns."""
        return self.read(part)[0]


def _instead(beside: Beside, n_features: int) -> np.ndarray | None:
    """Return what is looked at beside the features, or instead of them."""
    if beside.embedding is None and n_features:
        return None
    said = {name: opinion.values.to_numpy(dtype=np.float64) for name, opinion in beside.opinions.items()}
    return columns_instead(beside.embedding, said)


def _scaled(blocks: Sequence[tuple[np.ndarray | None, ColumnScale | None]]) -> NDArray[np.float32]:
    """Return columns beside each other, each scaled in its own way."""
    found = [
        (scale.apply(X) if len(X) else X).astype(np.float32)
        for X, scale in blocks
        if X is not None and scale is not None
    ]
    return found[0] if len(found) == 1 else np.hstack(found)


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
    beside: Beside | None = None,
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
        beside=beside or Beside(),
    )


def describe(
    frame: pd.DataFrame,
    scan: Scan,
    wanted: Wanted,
    ignore: Iterable[str],
    name: str,
    sides: Sides,
) -> tuple[list[Column], dict[str, str | None]]:
    """Return what each column is, and the format of dates that are written as text, from the sampled rows."""
    roles = dict.fromkeys(sides.notes, "beside") | {wanted.label: "label"} | dict.fromkeys(ignore, "ignored")
    roles |= {column: role for column, role in ((wanted.id, "id"), (wanted.group, "group")) if column}
    columns, forms = [], {}
    for column_name in scan.shape.names:
        values = frame[column_name]
        role, kind, note = roles.get(column_name), wanted.kinds.get(column_name), sides.notes.get(column_name)
        column, _ = describe_column(values, role, kind, note or "")
        if column_name in scan.counts.columns:
            count = scan.counts.columns[column_name]
            n_levels = len(count.levels - {"(missing)"}) if count.levels is not None else 0
            n_distinct = max(column.n_distinct, n_levels)
            column = replace(column, n_missing=count.n_missing, n_distinct=n_distinct)
        if column.kind == "date" and not pd.api.types.is_datetime64_any_dtype(values.dtype):
            forms[column_name] = date_format(values.astype("str").where(values.notna()))
        columns.append(column)
    if not any(column.role == "feature" for column in columns) and not sides.is_something:
        found = ", ".join(f"{column.name} ({column.kind})" for column in columns if column.role != "label")
        raise BadTable(
            f"{name}: no column to judge the labels by (found: {found or 'none'}); name the kind of a useful "
            "one with ",
            Option("kinds", {"COLUMN": "category"}),
            ".",
        )
    return columns, forms


def prepare(
    table: Table, scan: Scan, forms: Mapping[str, str | None], sides: Sides
) -> tuple[Preparation, NDArray[np.float32]]:
    """Learn from the sampled rows how all rows become numbers; return that, and those of the sample."""
    levels = {name: count.levels for name, count in scan.counts.columns.items() if count.levels is not None}
    encoder = fit_encoder(table, levels)
    kinds = {column.name: (column.kind, forms.get(column.name)) for column in table.features}
    X = encoder.apply(table.typed, len(table.frame))
    side = _instead(table.beside, X.shape[1])
    scaled, scale = _learn_scale(X)
    side_scaled, side_scale = _learn_scale(side)
    made = Preparation(scan.shape, kinds, encoder, scale, side_scale, sides)
    found = [*scaled, *side_scaled]
    return made, found[0] if len(found) == 1 else np.hstack(found)


def _learn_scale(X: np.ndarray | None) -> tuple[list[NDArray[np.float32]], ColumnScale | None]:
    """Return columns scaled, and how; nothing of no columns."""
    if X is None or not X.shape[1]:
        return [], None
    scaled, scale = scale_columns(X, kind="robust")
    return [scaled.astype(np.float32)], scale
