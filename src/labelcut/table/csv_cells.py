"""The records of a csv as text: found, cut into cells and changed without touching anything else.

The rules are those of pandas' parser, so that both see the same cells: a row ends at LF, CR LF or a lone CR;
a quote counts only at the start of a cell (spaces before it are allowed); inside such a cell a doubled quote
is a quote, and delimiters and line breaks belong to it; what follows the closing quote is taken as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

BLANKS = " \t"
LINE_ENDS = "\r\n"


def cell_spans(
    record: str, delimiter: str, quote: str, *, is_open: bool = False
) -> tuple[list[tuple[int, int]], bool]:
    """Return where each cell begins and ends, and whether the last one is still inside quotes."""
    end = len(record.rstrip(LINE_ENDS))
    spans: list[tuple[int, int]] = []
    start = at = 0
    while True:
        if not is_open:
            at = _after_spaces(record, start)
            is_open = record.startswith(quote, at)
            at += is_open
        if is_open:
            at = _after_quotes(record, at, quote)
            if at < 0:
                return [*spans, (start, len(record))], True
            is_open = False
        stop = record.find(delimiter, at, end)
        if stop < 0:
            return [*spans, (start, end)], False
        spans.append((start, stop))
        start = stop + 1


def _after_spaces(record: str, at: int) -> int:
    while record.startswith(" ", at):
        at += 1
    return at


def _after_quotes(record: str, at: int, quote: str) -> int:
    """Return the position behind the closing quote, -1 when there is none."""
    while (close := record.find(quote, at)) >= 0:
        if not record.startswith(quote, close + 1):
            return close + 1
        at = close + 2
    return -1


def iterate_records(lines: Iterable[str], delimiter: str, quote: str) -> Iterator[str]:
    """Join the lines that belong to one record; every character comes out again, blank lines included."""
    pending: list[str] = []
    for line in lines:
        if not pending and quote not in line:
            yield line
            continue
        is_open = cell_spans(line, delimiter, quote, is_open=bool(pending))[1] if quote in line else True
        pending.append(line)
        if not is_open:
            yield "".join(pending)
            pending = []
    if pending:
        yield "".join(pending)


def is_blank(record: str, delimiter: str) -> bool:
    """Say whether a reader skips this record."""
    return not record.strip(LINE_ENDS + BLANKS.replace(delimiter, ""))


def split_cells(record: str, delimiter: str, quote: str) -> list[str]:
    """Return what the cells say, without the blanks around it."""
    if quote not in record and delimiter != " ":
        return [cell.strip() for cell in record.rstrip(LINE_ENDS).split(delimiter)]
    spans, _ = cell_spans(record, delimiter, quote)
    return [unquoted(record[start:stop], quote).strip() for start, stop in spans]


def unquoted(cell: str, quote: str) -> str:
    """Return what a cell says: without the spaces before it, and without its quotes."""
    text = cell.lstrip(" ")
    if not text.startswith(quote):
        return text
    close = _after_quotes(text, 1, quote)
    return text[1 : close - 1].replace(quote + quote, quote) + text[close:]


def quoted(text: str, delimiter: str, quote: str, *, like: str = "") -> str:
    """Return a cell that says `text`, in quotes where needed or where the cell it replaces had them."""
    needs = delimiter in text or quote in text or "\n" in text or "\r" in text or text != text.strip()
    needs |= not text and delimiter == " "  # Spaces in a row are one delimiter.
    if needs or like.lstrip(" ").startswith(quote):
        return quote + text.replace(quote, quote + quote) + quote
    return text


def replace_cell(record: str, column: int, text: str, delimiter: str, quote: str) -> str:
    """Return the record with one cell rewritten; blanks around it stay, and so does everything else."""
    spans, _ = cell_spans(record, delimiter, quote)
    if column >= len(spans):
        return append_cells(record, [quoted(text, delimiter, quote)], column, delimiter, quote)
    start, stop = spans[column]
    cell = record[start:stop]
    before = len(cell) - len(cell.lstrip(" "))  # Only spaces: a quote behind a tab would not count.
    after = max(before, len(cell.rstrip(BLANKS)))
    return record[: start + before] + quoted(text, delimiter, quote, like=cell) + record[start + after :]


def append_cells(record: str, cells: list[str], n_columns: int, delimiter: str, quote: str) -> str:
    """Return the record with cells added behind its `n_columns`, whatever delimiters too few or too many."""
    body = record.rstrip(LINE_ENDS)
    end = record[len(body) :]
    if quote not in body and delimiter != " " and body.count(delimiter) + 1 == n_columns:
        return delimiter.join([body, *cells]) + end
    spans = cell_spans(record, delimiter, quote)[0][:n_columns]
    empty = quoted("", delimiter, quote)
    last = "" if record[slice(*spans[-1])].strip(" ") else empty
    fill = [empty] * (n_columns - len(spans))
    return delimiter.join([body[: spans[-1][1]] + last, *fill, *cells]) + end
