"""Decided labels into a table's own file, which is read again: nothing else may have changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from labelcut.errors import BadTable
from labelcut.table.reading import read_frame
from labelcut.table.row_keys import row_keys
from labelcut.table.source import Source
from labelcut.table.table import Table, label_texts
from labelcut.table.writing import write_corrected, write_with_columns

_NOT_WRITTEN = "so nothing was written; save the table as csv in UTF-8 and apply the decisions to that."


def write_decided(table: Table, out: Path, changes: Mapping[int, str]) -> None:
    """Write the table's file with other labels, and read it again: exactly those labels may differ.

    Parameters
    ----------
    table : Table
        A whole table, read from a file.
    out : Path
        Where to write, in the table's own format.
    changes : mapping of int to str
        Row number in the file, counted from 0, to the new label.
    """
    source = table.source
    assert source is not None, "only a table from a file can be written in its own format"
    given = label_texts(table.frame[table.label], blank="")
    write_corrected(source, out, table.label, changes, given)
    as_text = [name for name in (table.label, table.id, table.group) if name is not None]
    again = read_frame(replace(source, path=out), as_text=as_text)
    wanted = [changes.get(row, label) for row, label in enumerate(given)]
    found = label_texts(again[table.label], blank="")
    if len(found) != len(wanted):
        what = f"the corrected table would have {len(found)} rows instead of {len(wanted)}"
        raise BadTable(f"{table.name}: {what}, {_NOT_WRITTEN}")
    same_rest = row_keys(again, table.label) == table.keys
    for row, (want, label, is_same) in enumerate(zip(wanted, found, same_rest, strict=True)):
        if label != want or not is_same:
            what = f"the label {want!r} would read as {label!r}" if is_same else "other cells would change"
            raise BadTable(f"{table.name}: in row {row + 1} {what}, {_NOT_WRITTEN}")


def write_column(source: Source, out: Path, name: str, labels: Sequence[str]) -> int:
    """Write the file with these labels in a column of that name, behind the others or in its place.

    The result is read again: the column holds the labels, and every other cell is as it was.

    Parameters
    ----------
    source : Source
    out : Path
        Where to write, in the file's own format.
    name : str
        The column; where the file has it, only cells that differ are rewritten.
    labels : sequence of str
        One per line of the file, empty for none.

    Returns
    -------
    int
        The number of cells that were written.
    """
    before = read_frame(source, as_text=[name])
    changes: Mapping[int, str] = {i: label for i, label in enumerate(labels) if label}
    if name in before:
        given = label_texts(before[name], blank="")
        changes = {i: label for i, label in enumerate(labels) if label != given[i]}
        write_corrected(source, out, name, changes, given)
    else:
        write_with_columns(source, out, {name: [label or None for label in labels]}, guard=str)
    again = read_frame(replace(source, path=out), as_text=[name])
    if len(again) != len(before):
        what = f"the table would have {len(again)} rows instead of {len(before)}"
        raise BadTable(f"{source.name}: {what}, {_NOT_WRITTEN}")
    found = label_texts(again[name], blank="")
    same_rest = row_keys(again, name) == row_keys(before, name)
    for row, (want, label, is_same) in enumerate(zip(labels, found, same_rest, strict=True)):
        if label != want or not is_same:
            what = f"the label {want!r} would read as {label!r}" if is_same else "other cells would change"
            raise BadTable(f"{source.name}: in row {row + 1} {what}, {_NOT_WRITTEN}")
    return len(changes)
