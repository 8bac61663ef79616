"""Tables as files, with columns added or labels changed, and the user's own cells as they were.

Text formats are copied record by record, so a cell that nobody changed keeps its bytes.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from labelcut.reading import BadTable, Source, as_label, column_names, text_records, unique_names
from labelcut.records import append_cells, is_blank, quoted, replace_cell

if TYPE_CHECKING:
    import numpy as np

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def guarded(text: str) -> str:
    """Return a cell that a spreadsheet does not run: an apostrophe before what would start a formula."""
    if text.startswith(FORMULA_STARTS) and not _is_number(text):
        return "'" + text
    return text


def unguarded(text: str) -> str:
    """Undo `guarded`."""
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA_STARTS) else text


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


def write_with_columns(source: Source, out: Path, columns: Mapping[str, Sequence[Any] | np.ndarray]) -> None:
    """Copy the table with columns added at its end; None is an empty cell.

    Parameters
    ----------
    source : Source
        The table.
    out : Path
        Where to write, in the table's own format.
    columns : mapping of str to sequence
        One value per row of the file.
    """
    if source.format in ("csv", "arff"):
        _rewrite_text(source, out, _appending(source, columns))
    elif source.format == "jsonl":
        _rewrite_text(source, out, _extending_objects(source, columns))
    elif source.format == "xlsx":
        with _workbook(source, out) as sheet:
            start = sheet.max_column + 1
            for j, (name, values) in enumerate(columns.items()):
                for i, value in enumerate([name, *map(plain_value, values)], start=1):
                    sheet.cell(i, start + j, guarded(value) if isinstance(value, str) else value)
    else:
        import pyarrow as pa

        table = _arrow(source)
        for name, values in columns.items():
            table = table.append_column(name, pa.array([plain_value(value) for value in values]))
        _write_arrow(source, table, out)


def write_corrected(source: Source, out: Path, label: str, changes: Mapping[int, str]) -> None:
    """Copy the table with other labels in some rows; every other cell stays as it is.

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
    """
    if source.format in ("csv", "arff"):
        _rewrite_text(source, out, _replacing(source, label, changes))
    elif source.format == "jsonl":
        _rewrite_text(source, out, _replacing_in_objects(source, label, changes))
    elif source.format == "xlsx":
        with _workbook(source, out) as sheet:
            names = unique_names("" if cell.value is None else cell.value for cell in sheet[1])
            column = names.index(label) + 1
            values = [sheet.cell(row, column).value for row in range(2, sheet.max_row + 1)]
            for row, value in _in_their_type(changes, values).items():
                sheet.cell(row + 2, column).value = value
    else:
        import pyarrow as pa

        table = _arrow(source)
        position = unique_names(table.column_names).index(label)
        values = table.column(position).to_pylist()
        for row, value in _in_their_type(changes, values).items():
            values[row] = value
        field = table.schema.field(position)
        column = pa.array(values, type=_plain_type(field.type)).cast(field.type)
        _write_arrow(source, table.set_column(position, field, column), out)


def _in_their_type(changes: Mapping[int, str], values: Sequence[Any]) -> dict[int, Any]:
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


def _rewrite_text(source: Source, out: Path, records: Iterable[bytes]) -> None:
    with _text_file(source, out) as file:
        for record in records:
            file.write(record)


@contextlib.contextmanager
def _text_file(source: Source, out: Path) -> Iterator[IO[bytes]]:
    with contextlib.ExitStack() as stack:
        file = cast(IO[bytes], stack.enter_context(open(out, "wb")))
        if source.is_gzipped:  # Without a time stamp: same input, same bytes.
            file = cast(IO[bytes], stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0)))
        if not source.encoding.startswith("utf-16"):
            yield file
            return
        text = io.BytesIO()
        yield text
        file.write(text.getvalue().decode().encode(source.encoding))


def _cell(source: Source, value: object) -> bytes:
    encoding = "utf-8" if source.encoding.startswith(("utf-8", "utf-16")) else source.encoding
    return ("" if value is None else str(value)).encode(encoding, "replace")


def _rows_of(source: Source) -> Iterator[tuple[int | None, bytes]]:
    """Return each record with its row number: -1 for the header, None for blank lines and comments."""
    delimiter = source.delimiter.encode()
    number = -1 if source.format == "csv" and source.has_header else 0
    is_data = source.format == "csv"
    for record in text_records(source):
        is_comment = source.format == "arff" and record.lstrip().startswith(b"%")
        if not is_data or is_comment or is_blank(record, delimiter):
            is_data = is_data or record.strip().lower().startswith(b"@data")
            yield None, record
        else:
            yield number, record
            number += 1


def _appending(source: Source, columns: Mapping[str, Sequence[Any] | np.ndarray]) -> Iterator[bytes]:
    delimiter, quote = source.delimiter.encode(), source.quote.encode()
    n_columns, n_rows = len(column_names(source)), len(next(iter(columns.values())))
    last = -1
    for number, record in _rows_of(source):
        if number is None:
            if source.format == "arff" and record.strip().lower().startswith(b"@data"):
                for name, values in columns.items():
                    is_number = all(isinstance(plain_value(value), float | None) for value in values)
                    yield f"@attribute {name} {'numeric' if is_number else 'string'}\n".encode()
            yield record
            continue
        if number >= n_rows:
            raise BadTable(f"{source.name}: changed while it was read; run the audit again.")
        blank = "?" if source.format == "arff" else None
        raw = list(columns) if number < 0 else [plain_value(values[number]) for values in columns.values()]
        texts = [blank if cell is None else guarded(cell) if isinstance(cell, str) else cell for cell in raw]
        cells = [quoted(_cell(source, cell), delimiter, quote) for cell in texts]
        yield append_cells(record, cells, n_columns, delimiter, quote)
        last = number
    if last != n_rows - 1:
        raise BadTable(
            f"{source.name}: {n_rows} rows were read but {last + 1} found when writing; report this file."
        )


def _replacing(source: Source, label: str, changes: Mapping[int, str]) -> Iterator[bytes]:
    delimiter, quote = source.delimiter.encode(), source.quote.encode()
    column = column_names(source).index(label)
    for number, record in _rows_of(source):
        if number is not None and number in changes:
            yield replace_cell(record, column, _cell(source, changes[number]), delimiter, quote)
        else:
            yield record


def _objects(source: Source) -> Iterator[tuple[int | None, bytes]]:
    number = 0
    with source.open_text() as lines:
        for line in lines:
            yield (number if line.strip() else None), line
            number += bool(line.strip())


def _extending_objects(source: Source, columns: Mapping[str, Sequence[Any] | np.ndarray]) -> Iterator[bytes]:
    for number, line in _objects(source):
        if number is None:
            yield line
            continue
        row = {name: plain_value(values[number]) for name, values in columns.items()}
        ours = json.dumps(row, ensure_ascii=False)
        close = line.rindex(b"}")
        comma = b"" if line[:close].strip().endswith(b"{") else b", "
        yield line[:close] + comma + ours[1:].encode() + line[close + 1 :]


def _replacing_in_objects(source: Source, label: str, changes: Mapping[int, str]) -> Iterator[bytes]:
    values = [_parsed(line).get(label) for number, line in _objects(source) if number is not None]
    labels = _in_their_type(changes, values)
    for number, line in _objects(source):
        if number is None or number not in changes:
            yield line
            continue
        row = _parsed(line) | {label: labels[number]}
        end = line[len(line.rstrip(b"\r\n")) :]
        yield json.dumps(row, ensure_ascii=False).encode() + end


def _parsed(line: bytes) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(line.decode("utf-8-sig"))
    return row


@contextlib.contextmanager
def _workbook(source: Source, out: Path) -> Iterator[Any]:
    import openpyxl

    book = openpyxl.load_workbook(source.path)
    yield book.worksheets[0]
    book.save(out)


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
