"""The records of a csv as bytes: found, cut into cells and changed without touching anything else.

A quote counts only at the start of a cell (blanks before it are allowed), as the readers of csv agree; inside
such a cell a doubled quote is a quote, and line breaks belong to the cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

BLANKS = b" \t"


def cell_spans(
    record: bytes, delimiter: bytes, quote: bytes, *, is_open: bool = False
) -> tuple[list[tuple[int, int]], bool]:
    """Return where each cell begins and ends, and whether the last one is still inside quotes."""
    end = len(record.rstrip(b"\r\n")) if not is_open else len(record)
    spans: list[tuple[int, int]] = []
    start = 0
    while True:
        inside = is_open or record[start:end].lstrip(BLANKS.replace(delimiter, b"")).startswith(quote)
        at = start if is_open else record.find(quote, start) + 1
        is_open = False
        if inside:
            at, is_open = _after_quotes(record, at, quote)
            if is_open:
                return [*spans, (start, len(record))], True
            end = len(record.rstrip(b"\r\n"))
        else:
            at = start
        stop = record.find(delimiter, at, end)
        if stop < 0:
            return [*spans, (start, end)], False
        spans.append((start, stop))
        start = stop + 1


def _after_quotes(record: bytes, at: int, quote: bytes) -> tuple[int, bool]:
    """Return the position behind the closing quote, or the end and True when there is none."""
    while (close := record.find(quote, at)) >= 0:
        if record[close + 1 : close + 2] != quote:
            return close + 1, False
        at = close + 2
    return len(record), True


def iterate_records(lines: Iterable[bytes], delimiter: bytes, quote: bytes) -> Iterator[bytes]:
    """Join the lines that belong to one record; every byte comes out again, blank lines included."""
    pending: list[bytes] = []
    for line in lines:
        if not pending and quote not in line:
            yield line
            continue
        is_open = cell_spans(line, delimiter, quote, is_open=bool(pending))[1] if quote in line else True
        pending.append(line)
        if not is_open:
            yield b"".join(pending)
            pending = []
    if pending:
        yield b"".join(pending)


def is_blank(record: bytes, delimiter: bytes) -> bool:
    """Say whether a reader skips this record."""
    return not record.strip(b"\r\n" + BLANKS.replace(delimiter, b""))


def split_cells(record: bytes, delimiter: bytes, quote: bytes) -> list[bytes]:
    """Return the cells' contents, without quotes and the blanks around them."""
    if quote not in record:
        return [cell.strip() for cell in record.rstrip(b"\r\n").split(delimiter)]
    spans, _ = cell_spans(record, delimiter, quote)
    return [unquote(record[start:stop].strip(), quote) for start, stop in spans]


def unquote(cell: bytes, quote: bytes) -> bytes:
    """Return what a cell says."""
    if len(cell) >= 2 and cell.startswith(quote) and cell.endswith(quote):
        return cell[1:-1].replace(quote + quote, quote)
    return cell


def quoted(text: bytes, delimiter: bytes, quote: bytes, *, like: bytes = b"") -> bytes:
    """Return a cell that says `text`, in quotes where needed or where the cell it replaces had them."""
    needs = delimiter in text or quote in text or b"\n" in text or b"\r" in text or text != text.strip()
    if needs or like.strip().startswith(quote):
        return quote + text.replace(quote, quote + quote) + quote
    return text


def replace_cell(record: bytes, column: int, text: bytes, delimiter: bytes, quote: bytes) -> bytes:
    """Return the record with one cell rewritten; blanks around it stay, and so does every other byte."""
    spans, _ = cell_spans(record, delimiter, quote)
    if column >= len(spans):  # A short record: the missing cells are added.
        end = spans[-1][1]
        return (
            record[:end]
            + delimiter * (column - len(spans) + 1)
            + quoted(text, delimiter, quote)
            + record[end:]
        )
    start, stop = spans[column]
    cell = record[start:stop]
    before = len(cell) - len(cell.lstrip(BLANKS))
    after = len(cell.rstrip(BLANKS)) if cell.strip(BLANKS) else before
    return record[: start + before] + quoted(text, delimiter, quote, like=cell) + record[start + after :]


def append_cells(record: bytes, cells: list[bytes], n_columns: int, delimiter: bytes, quote: bytes) -> bytes:
    """Return the record with cells added at its end, short records filled up to `n_columns` first."""
    body = record.rstrip(b"\r\n")
    n_cells = body.count(delimiter) + 1 if quote not in body else len(cell_spans(record, delimiter, quote)[0])
    fill = [b""] * (n_columns - n_cells)
    return delimiter.join([body, *fill, *cells]) + record[len(body) :]
