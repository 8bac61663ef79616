"""Decisions on a table in parts -> its files with the decided labels, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from labelcut.errors import BadChoice
from labelcut.large.deciding import decided_names, lay_on
from labelcut.large.nodes import Known, key_part, number_rows
from labelcut.large.parts import Part, Shape, find_parts, read_part, with_first_rows
from labelcut.large.scan import Wanted, add_up, scan_part, texts_of
from labelcut.large.settings import Sizes
from labelcut.table.decisions import Decision
from labelcut.table.label_column import Choices, find_classes, without_marks
from labelcut.table.saving import staged_folder
from labelcut.table.source import find_source
from labelcut.table.writing import in_their_type, write_corrected

__all__ = ["Applied", "apply_parts"]


@dataclass(frozen=True)
class Applied:
    """How many labels were changed, kept and left unsure, and the decisions that do not fit."""

    n_changed: int
    n_kept: int
    n_unsure: int
    conflicts: tuple[str, ...]


def apply_parts(
    addresses: Sequence[str],
    decisions: Sequence[Decision],
    out: Path,
    *,
    label: str,
    id: str | None = None,
    unlabeled: Sequence[str] = (),
    inputs: Mapping[str, Path] | None = None,
    sizes: Sizes | None = None,
    **reading: Any,
) -> Applied:
    """Write the files of a table with other labels into a folder, under their names, all of them or none.

    Parameters
    ----------
    addresses : sequence of str
        As in `labelcut.large.parts.find_parts`.
    decisions : sequence of Decision
    out : Path
        The folder.
    label, id : str
        The columns of the labels and of the rows' names.
    unlabeled : sequence of str
        Label values that mean "not labeled".
    inputs : mapping of str to Path, optional
        Files that are never written over.
    sizes : Sizes, optional
    **reading
        How csv files are written.
    """
    wanted, sizes = Wanted(label, id), sizes or Sizes()
    parts, shape = find_parts(
        addresses,
        label=label,
        rows_per_part=sizes.rows_per_part,
        bytes_per_part=sizes.bytes_per_part,
        **reading,
    )
    texts = frozenset(name for name in (label, id) if name) if shape.format == "csv" else frozenset()
    scan = add_up(
        [scan_part(part, replace(shape, as_text=texts), wanted) for part in parts], shape, addresses[0]
    )
    shape = scan.shape
    parts = with_first_rows(parts, scan.n_rows)
    # Whatever the labels are, they were taken for classes when they were decided.
    choices = Choices(tuple(unlabeled), are_classes=True)
    counts = scan.counts
    classes = find_classes(counts.labels, label=label, name=addresses[0], choices=choices, marks=counts.marks)
    known = Known(wanted, classes.position, {}, scan.words, decided_names(decisions, id))
    keyed = [key_part(part, shape, known) for part in parts]
    nodes = number_rows(keyed, counts.n_rows)
    matched, _ = lay_on(decisions, [one.chosen for one in keyed], nodes, classes, wanted, addresses[0])
    codes = nodes.codes[nodes.node]
    changes = {
        row: text
        for row, text in matched.labels.items()
        if codes[row] < 0 or classes.classes[codes[row]] != text
    }
    with staged_folder(out, inputs=inputs or {}) as stage:
        for number in sorted({part.file for part in parts}):
            own = [part for part in parts if part.file == number]
            _write(own, shape, changes, stage / own[0].path.rsplit("/", 1)[-1], reading)
    n_kept = len(matched.labels) - len(changes)
    return Applied(len(changes), n_kept, len(matched.unsure), matched.conflicts)


def _write(
    parts: Sequence[Part], shape: Shape, changes: Mapping[int, str], out: Path, reading: Mapping[str, Any]
) -> None:
    """Write one file with its own changes."""
    first, last = parts[0].first_row, parts[-1].first_row + parts[-1].n_rows
    own = {row - first: text for row, text in changes.items() if first <= row < last}
    write = _write_parquet if shape.format == "parquet" else _write_csv
    write(parts, shape, own, out, reading)


def _write_csv(
    parts: Sequence[Part], shape: Shape, changes: Mapping[int, str], out: Path, reading: Mapping[str, Any]
) -> None:
    """Write a csv file with other cells in some records; all other bytes stay."""
    given: list[str] = []
    for part in parts:
        values, _ = without_marks(read_part(part, shape)[shape.label], _marks(shape))
        number, texts = texts_of(values, "")
        given += [texts[i] for i in number.tolist()]
    path = parts[0].path
    if "://" in path:
        raise BadChoice(f"{path}: csv files are corrected on this machine only; copy them here first.")
    write_corrected(find_source(path, **reading), out, shape.label, changes, given)


def _marks(shape: Shape) -> tuple[str, ...]:
    return shape.source.missing if shape.source is not None else ()


def _write_parquet(
    parts: Sequence[Part], shape: Shape, changes: Mapping[int, str], out: Path, reading: Mapping[str, Any]
) -> None:
    """Write a parquet file with another label column, row group by row group; other columns are copied."""
    import fsspec
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile, ParquetWriter

    with (
        fsspec.open(parts[0].path, "rb") as stream,
        ParquetFile(stream) as file,
        ParquetWriter(out, file.schema_arrow) as writer,
    ):
        first = 0
        for group in range(file.num_row_groups):
            table = file.read_row_group(group)
            own = {row - first: t for row, t in changes.items() if first <= row < first + table.num_rows}
            first += table.num_rows
            if own:
                at = table.schema.get_field_index(shape.label)
                values = table.column(at).to_pylist()
                for row, value in in_their_type(own, values).items():
                    values[row] = value
                column = pa.array(values, type=table.schema.field(at).type)
                table = table.set_column(at, table.schema.field(at), column)
            writer.write_table(table, row_group_size=max(table.num_rows, 1))
