"""Tables as files, with columns added or labels changed, and the user's own cells as they were.

Text formats are copied record by record as text; a label is changed only if every other byte comes back.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from labelcut.errors import BadTable
from labelcut.table.csv_cells import append_cells, cell_spans, quoted, replace_cell, unquoted
from labelcut.table.json_cells import array_pieces, with_more, with_value
from labelcut.table.reading import (
    as_label,
    column_names,
    is_data_line,
    numbered_records,
    text_lines,
    unique_names,
)
from labelcut.table.source import BYTE_ORDER_MARK, Source

if TYPE_CHECKING:
    import numpy as np

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NOT_WRITTEN = "so nothing was written; was it changed meanwhile? Else save it as UTF-8 with LF line ends."


def guarded(text: str) -> str:
    """Return a cell that a spreadsheet does not run: an apostrophe before what would start a formula.

    Text that has apostrophes there already gets one more, so that `unguarded` gives every text back.
    """
    return "'" + text if _starts_formula(text) and not _is_number(text) else text


def unguarded(text: str) -> str:
    """Undo `guarded`."""
    return text[1:] if text.startswith("'") and _starts_formula(text) else text


def _starts_formula(text: str) -> bool:
    return text.lstrip("'").startswith(FORMULA_STARTS)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip() == text


def plain_value(value: Any) -> Any:
    """Return a value of ours as files hold it: no NaN, six digits, no numpy types."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float):
        return None if math.isnan(value) else round(value, 6)
    return value


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a csv of ours, its cells guarded against being run as formulas."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([guarded(name) for name in header])
    for row in rows:
        writer.writerow(["" if cell is None else guarded(str(cell)) for cell in row])
    return out.getvalue()


def write_with_columns(
    source: Source,
    out: Path,
    columns: Mapping[str, Sequence[Any] | np.ndarray],
    *,
    guard: Callable[[str], str] | None = None,
) -> None:
    """Copy the table with columns added at its end; None is an empty cell.

    Parameters
    ----------
    source : Source
        The table.
    out : Path
        Where to write, in the table's own format.
    columns : mapping of str to sequence
        One value per row of the file.
    guard : callable, optional
        What keeps a text from being run as a formula, by default `guarded`; labels of the table itself need
        none.
    """
    guard = guarded if guard is None else guard
    if source.format in ("csv", "arff"):
        _rewrite_text(source, out, _appending(source, columns, guard))
    elif source.format in ("jsonl", "json"):
        _rewrite_text(source, out, _extending_objects(source, columns))
    elif source.format == "xlsx":
        with _workbook(source, out, as_values=True) as sheet:
            start = sheet.max_column + 1
            for j, (name, values) in enumerate(columns.items()):
                for i, value in enumerate([name, *map(plain_value, values)], start=1):
                    sheet.cell(i, start + j, guard(value) if isinstance(value, str) else value)
    else:
        import pyarrow as pa

        table = _arrow(source)
        for name, values in columns.items():
            table = table.append_column(name, pa.array([plain_value(value) for value in values]))
        _write_arrow(source, table, out)


def write_corrected(
    source: Source, out: Path, label: str, changes: Mapping[int, str], given: Sequence[str]
) -> None:
    """Copy the table with other labels in some rows; every other cell stays as it is.

    A cell is rewritten only if it holds the label that was read from it, a file only if it has as many rows.

    Parameters
    ----------
    source : Source
        The table.
    out : Path
        Where to write, in the table's own format.
    label : str
        The column to change.
    changes : mapping of int to str
        Row number in the file, counted from 0, to the new label.
    given : sequence of str
        The labels as they were read, one per row of the file, empty where there is none.
    """
    if source.format in ("csv", "arff"):
        _check_bytes_come_back(source)
        _rewrite_text(source, out, _replacing(source, label, changes, given))
    elif source.format in ("jsonl", "json"):
        _check_bytes_come_back(source)
        _rewrite_text(source, out, _replacing_in_objects(source, label, changes, given))
    elif source.format == "xlsx":
        _check_no_formulas(source)
        with _workbook(source, out) as sheet:
            names = unique_names("" if cell.value is None else cell.value for cell in sheet[1])
            column = names.index(label) + 1
            values = [sheet.cell(row, column).value for row in range(2, sheet.max_row + 1)]
            for row, value in in_their_type(changes, values).items():
                sheet.cell(row + 2, column).value = value
    else:
        import pyarrow as pa

        table = _arrow(source)
        position = unique_names(table.column_names).index(label)
        values = table.column(position).to_pylist()
        for row, value in in_their_type(changes, values).items():
            values[row] = value
        field = table.schema.field(position)
        column = pa.array(values, type=_plain_type(field.type)).cast(field.type)
        _write_arrow(source, table.set_column(position, field, column), out)


def in_their_type(changes: Mapping[int, str], values: Sequence[Any]) -> dict[int, Any]:
    """Return labels in the type of their column: as the value that reads the same, else by its type."""
    known = {as_label(value): value for value in values if value is not None}
    kind = type(next(iter(known.values()), ""))
    return {row: known[text] if text in known else _converted(text, kind) for row, text in changes.items()}


def _converted(text: str, kind: type) -> Any:
    try:
        return {"true": True, "false": False}[text.lower()] if kind is bool else kind(text)
    except (TypeError, ValueError, KeyError):
        return text


def _plain_type(kind: Any) -> Any:
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _rewrite_text(source: Source, out: Path, records: Iterable[str]) -> None:
    """Write text in the table's encoding.

    All that stood in the table can be written in it; a label of ours that cannot is spelled in ASCII.
    """
    with contextlib.ExitStack() as stack:
        file = cast(IO[bytes], stack.enter_context(open(out, "wb")))
        if source.is_gzipped:  # Without a time stamp: same input, same bytes.
            file = cast(IO[bytes], stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0)))
        for block in _encoded(source, records, "backslashreplace"):
            file.write(block)


def _encoded(source: Source, texts: Iterable[str], errors: str) -> Iterator[bytes]:
    """Return the bytes of texts in turn; some encodings carry a state from one to the next and to the end."""
    errors = "surrogateescape" if source.keeps_bad_bytes else errors
    encoder = codecs.getincrementalencoder(source.encoding)(errors)
    yield from map(encoder.encode, texts)
    yield encoder.encode("", True)


def _check_bytes_come_back(source: Source) -> None:
    """Refuse a text that its encoding can write in more than one way, if it is not written in our way."""
    with source.open() as stream:
        blocks = _encoded(source, text_lines(source), "strict")
        if not all(stream.read(len(block)) == block for block in blocks) or stream.read(1):
            raise BadTable(
                f"{source.name}: holds characters that {source.encoding} can write in more than one way, so "
                "untouched cells would not keep their bytes and nothing was written; convert it first: "
                f"iconv -f {source.encoding} -t utf-8."
            )


def _check_number_of_rows(source: Source, expected: int, found: int) -> None:
    if expected != found:
        raise BadTable(
            f"{source.name}: {expected} rows were read but {found} found when writing, {_NOT_WRITTEN}"
        )


def _check_label(source: Source, row: int, expected: str, found: str) -> None:
    if expected != found:
        raise BadTable(
            f"{source.name}: row {row + 1} should be {expected!r} but is {found!r} now, {_NOT_WRITTEN}"
        )


def _check_can_be_written(source: Source, row: int, label: str) -> None:
    try:
        label.encode(source.encoding)
    except UnicodeError as error:
        raise BadTable(
            f"{source.name}: the label {label!r} of row {row + 1} cannot be written in {source.encoding}; "
            "save the table as UTF-8 first."
        ) from error


def _appending(
    source: Source, columns: Mapping[str, Sequence[Any] | np.ndarray], guard: Callable[[str], str]
) -> Iterator[str]:
    delimiter, quote = source.delimiter, source.quote
    n_columns, n_rows = len(column_names(source)), len(next(iter(columns.values())))
    blank = "?" if source.format == "arff" else ""
    n_found = 0
    for number, record in numbered_records(source):
        if number is None:
            if source.format == "arff" and is_data_line(record):
                yield from _attributes(columns)
            yield record
            continue
        n_found = number + 1
        if n_found > n_rows:
            continue  # Counted to the end, then refused.
        raw = list(columns) if number < 0 else [plain_value(values[number]) for values in columns.values()]
        cells = [quoted(_cell(value, blank, guard), delimiter, quote) for value in raw]
        yield append_cells(record, cells, n_columns, delimiter, quote)
    _check_number_of_rows(source, n_rows, n_found)


def _cell(value: object, blank: str, guard: Callable[[str], str]) -> str:
    """Return a value of ours as the text of a cell."""
    if value is None:
        return blank
    return guard(value) if isinstance(value, str) else str(value)


def _attributes(columns: Mapping[str, Sequence[Any] | np.ndarray]) -> Iterator[str]:
    """Return the lines that declare our columns in an arff file."""
    for name, values in columns.items():
        is_number = all(isinstance(plain_value(value), float | None) for value in values)
        yield f"@attribute {name} {'numeric' if is_number else 'string'}\n"


def _replacing(source: Source, label: str, changes: Mapping[int, str], given: Sequence[str]) -> Iterator[str]:
    delimiter, quote = source.delimiter, source.quote
    column = column_names(source).index(label)
    n_found = 0
    for number, record in numbered_records(source):
        if number is not None and number in changes:
            spans, _ = cell_spans(record, delimiter, quote)
            cells = [unquoted(record[start:stop], quote) for start, stop in spans]
            _check_label(source, number, given[number], source.label_in(cells, column))
            _check_can_be_written(source, number, changes[number])
            yield replace_cell(record, column, changes[number], delimiter, quote)
        else:
            yield record
        n_found = n_found if number is None else number + 1
    _check_number_of_rows(source, len(given), n_found)


def _objects(source: Source) -> Iterator[tuple[int | None, str]]:
    """Return the objects of a JSON file with their row numbers, and what is between them with None."""
    number = 0
    for is_row, text in _object_texts(source):
        yield (number if is_row else None), text
        number += is_row


def _object_texts(source: Source) -> Iterable[tuple[bool, str]]:
    lines = text_lines(source)
    if source.format == "jsonl":
        return ((line != BYTE_ORDER_MARK and bool(line.strip()), line) for line in lines)
    text = "".join(lines)
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    return [(False, mark), *array_pieces(text.removeprefix(mark))]


def _extending_objects(source: Source, columns: Mapping[str, Sequence[Any] | np.ndarray]) -> Iterator[str]:
    for number, text in _objects(source):
        if number is None:
            yield text
        else:
            yield with_more(text, {name: plain_value(values[number]) for name, values in columns.items()})


def _replacing_in_objects(
    source: Source, label: str, changes: Mapping[int, str], given: Sequence[str]
) -> Iterator[str]:
    values = [json.loads(text).get(label) for number, text in _objects(source) if number is not None]
    _check_number_of_rows(source, len(given), len(values))
    labels = in_their_type(changes, values)
    for number, text in _objects(source):
        if number is None or number not in changes:
            yield text
            continue
        _check_can_be_written(source, number, changes[number])
        yield with_value(text, label, labels[number])


@contextlib.contextmanager
def _workbook(source: Source, out: Path, *, as_values: bool = False) -> Iterator[Any]:
    """Give the sheet to change; `as_values` puts the values that were shown in place of formulas."""
    import openpyxl

    book = openpyxl.load_workbook(source.path, data_only=as_values)
    yield book[source.sheet]
    book.save(out)


def _check_no_formulas(source: Source) -> None:
    """Refuse formulas: they would be written without their values, and readers would find nothing."""
    import openpyxl

    book = openpyxl.load_workbook(source.path)
    for sheet in book.worksheets:
        for cell in (cell for row in sheet.iter_rows() for cell in row):
            if cell.data_type == "f":
                raise BadTable(
                    f"{source.name}: cell {cell.coordinate} of sheet {sheet.title!r} is a formula, whose "
                    "value would be lost, so nothing was written; paste the formulas as values, or save "
                    "the table as csv."
                )


def _arrow(source: Source) -> Any:
    if source.format == "parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(source.path)
    import pyarrow.feather

    return pyarrow.feather.read_table(source.path)


def _write_arrow(source: Source, table: Any, out: Path) -> None:
    if source.format == "parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, out)
        return
    import pyarrow.feather

    pyarrow.feather.write_feather(table, str(out))
