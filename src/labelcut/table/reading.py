"""A file with a table in it -> a data frame, and an account of how it was read.

Only the text formats need guessing: the delimiter, the encoding and the marks for missing values. What was
guessed is kept in `Source`, shown in the report and can be overruled. The label, the id and the group are
always read as text, so that ``007`` stays ``007``.
"""

from __future__ import annotations

import io
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, cast

from labelcut.errors import BadChoice, BadTable, Option
from labelcut.table.csv_cells import LINE_ENDS, is_blank, iterate_records, split_cells
from labelcut.table.source import BLOCK_BYTES, BYTE_ORDER_MARK, Source

if TYPE_CHECKING:
    import pandas as pd


def read_frame(
    source: Source, *, as_text: Iterable[str] = (), keep_marks_of: Iterable[str] = ()
) -> pd.DataFrame:
    """Read the whole table; the columns named in `as_text` keep their characters as they are.

    Marks such as ``NA`` become missing cells, but not in the columns `keep_marks_of`, some of `as_text`.
    """
    as_text, kept = tuple(as_text), tuple(keep_marks_of)
    text = {"csv": _read_csv, "arff": _read_csv, "jsonl": _read_jsonl, "json": _read_json}
    readers = {**text, "xlsx": _read_xlsx}
    try:
        return readers.get(source.format, _read_arrow)(source, as_text, kept)
    except (BadTable, BadChoice):
        raise
    except ImportError as error:
        extra = "labelcut[excel]" if source.format == "xlsx" else "labelcut[parquet]"
        raise BadChoice(
            f"{source.name}: reading {source.format} needs another package; pip install '{extra}'."
        ) from error
    except UnicodeError as error:
        raise BadTable(
            f"{source.name}: is not {source.encoding} ({error}); name the right one with ",
            Option("encoding"),
            ".",
        ) from error
    except MemoryError:
        raise
    # The readers raise many kinds; all of them mean that the file is not what it says.
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise BadTable(
            f"{source.name}: cannot be read as {source.format} ({reason}); check the file."
        ) from error


def column_names(source: Source) -> list[str]:
    """Return the names in the header of a csv or arff file, made unique and never empty."""
    return unique_names(_names(source))


def unique_names(names: Iterable[Any]) -> list[str]:
    """Give every column a name of its own: the second ``x`` becomes ``x (2)``, an empty one ``column 3``."""
    seen: set[str] = set()
    result = []
    for position, raw in enumerate(names, start=1):
        name = str(raw).strip() or f"column {position}"
        unique, count = name, 1
        while unique in seen:
            count += 1
            unique = f"{name} ({count})"
        seen.add(unique)
        result.append(unique)
    return result


def text_lines(source: Source, *, to_read: bool = False) -> Iterator[str]:
    """Return the lines of a text file; a byte-order mark comes first, as if it were a line."""
    with source.open_text(to_read=to_read) as lines:
        first = next(lines, "")
        if first.startswith(BYTE_ORDER_MARK):
            yield BYTE_ORDER_MARK
            first = first.removeprefix(BYTE_ORDER_MARK)
        yield first
        yield from lines


def numbered_records(source: Source, *, to_read: bool = False) -> Iterator[tuple[int | None, str]]:
    """Return the records of a csv or arff file with their row numbers.

    The header of a csv has the number -1; what is no row (blank lines, comments, the header of an arff file
    line by line, a byte-order mark) has None. Joined, the records are the file's text.
    """
    lines = text_lines(source, to_read=to_read)
    number = -1 if source.format == "csv" and source.has_header else 0
    if source.format == "arff":
        for line in lines:
            yield None, line
            if is_data_line(line):
                break
    for position, record in enumerate(iterate_records(lines, source.delimiter, source.quote)):
        is_mark = position == 0 and record == BYTE_ORDER_MARK
        is_comment = source.format == "arff" and record.lstrip().startswith("%")
        if is_mark or is_comment or is_blank(record, source.delimiter):
            yield None, record
        else:
            yield number, record
            number += 1


def is_data_line(line: str) -> bool:
    """Say whether the rows of an arff file begin behind this line."""
    return line.strip().lower().startswith("@data")


def _names(source: Source) -> list[str]:
    """Return the names of the columns as they stand in a csv or arff file."""
    attributes = []
    for number, record in numbered_records(source, to_read=True):
        if source.format == "arff":
            if match := re.match(r"""\s*@attribute\s+('[^']*'|"[^"]*"|\S+)""", record, re.IGNORECASE):
                attributes.append(match[1].strip("'\""))
            if is_data_line(record):
                return attributes
        elif number is not None:
            cells = split_cells(record, source.delimiter, source.quote)
            return cells if source.has_header else [f"column {i}" for i in range(1, len(cells) + 1)]
    what = "no @data line" if source.format == "arff" else "only blank lines"
    raise BadTable(f"{source.name}: holds {what}; a header and at least two rows are needed.")


def _read_csv(source: Source, as_text: tuple[str, ...], kept: tuple[str, ...]) -> pd.DataFrame:
    import pandas as pd

    names = column_names(source)
    options = csv_options(source, names, kept)
    options["header"] = 0 if source.has_header and source.format == "csv" else None

    def read(dtypes: dict[str, Any]) -> pd.DataFrame:
        with warnings.catch_warnings(), _data_stream(source) as stream:
            warnings.simplefilter("error", pd.errors.ParserWarning)  # A record longer than the header.
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)
            return cast(pd.DataFrame, pd.read_csv(cast(Any, stream), dtype=dtypes, **options))

    texts: dict[str, Any] = {name: "str" for name in as_text if name in names}
    try:
        frame = read(texts)
        # A column read as numbers in one block and as text in the next would depend on the order of the rows.
        mixed = {str(name): "str" for name in frame.columns if frame[name].dtype == object}
        return read(texts | mixed) if mixed else frame
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        what = f"line {found[2]} has {found[3]} cells" if found else "a record has more cells"
        raise BadTable(
            f"{source.name}: {what} where the header has {len(names)} (delimiter {source.delimiter!r}); "
            "quote the cells that hold the delimiter, or name another one with ",
            Option("delimiter"),
            ".",
        ) from error


def csv_options(source: Source, names: Sequence[str], kept: tuple[str, ...]) -> dict[str, Any]:
    """Return how pandas reads the rows of a csv file, whose header is known; marks in `kept` stay."""
    return {
        "names": names,
        "header": None,
        "sep": source.delimiter,
        "quotechar": source.quote,
        "index_col": False,
        "na_values": _marks_by_column(source, names, kept),
        "keep_default_na": False,
        "skipinitialspace": True,
    }


def _marks_by_column(source: Source, names: Iterable[Any], kept: tuple[str, ...]) -> Any:
    """Return the marks as pandas takes them: for all columns, or for all but some."""
    marks = list(source.missing)
    return {name: marks for name in names if name not in kept} if kept else marks


def _data_stream(source: Source) -> IO[str]:
    """Return the text that pandas reads: all of a csv, the rows of an arff file.

    Of a csv with lone CRs also the rows alone, ended by LF: behind a CR pandas takes some delimiters wrongly
    (it loses one that follows a blank line, and counts a space that it skips everywhere else).
    """
    if source.format == "csv" and not _has_lone_cr(source):
        return source.open_text(to_read=True)
    records = numbered_records(source, to_read=True)
    rows = "".join(record.rstrip(LINE_ENDS) + "\n" for number, record in records if number is not None)
    if source.format == "arff" and rows.lstrip().startswith("{"):
        raise BadTable(f"{source.name}: sparse arff is not read; write it in the dense form.")
    return io.StringIO(rows, newline="")


def _has_lone_cr(source: Source) -> bool:
    with source.open_text(to_read=True) as text:
        while text.read(BLOCK_BYTES):
            pass
        seen = text.newlines
    return "\r" in ((seen,) if isinstance(seen, str) else seen or ())


def _read_jsonl(source: Source, as_text: tuple[str, ...], kept: tuple[str, ...]) -> pd.DataFrame:
    lines = (line for line in text_lines(source, to_read=True) if line != BYTE_ORDER_MARK)
    rows = [
        _object(source, _parsed(source, line, f"line {number}"), f"line {number}")
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    return _frame_of_objects(rows, source, as_text, kept)


def _read_json(source: Source, as_text: tuple[str, ...], kept: tuple[str, ...]) -> pd.DataFrame:
    text = "".join(text_lines(source, to_read=True)).removeprefix(BYTE_ORDER_MARK)
    found = _parsed(source, text, "the file")
    rows = [_object(source, row, f"entry {number}") for number, row in enumerate(found, start=1)]
    return _frame_of_objects(rows, source, as_text, kept)


def _parsed(source: Source, text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise BadTable(
            f"{source.name}: {where} is not JSON ({error}); give one object per line, or one list of them."
        ) from error


def _object(source: Source, row: Any, where: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise BadTable(f"{source.name}: {where} holds no object; write one {{...}} per row.")
    return {key: _plain(value) for key, value in row.items()}


def _frame_of_objects(
    rows: list[dict[str, Any]], source: Source, as_text: tuple[str, ...], kept: tuple[str, ...]
) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(rows)
    for name in frame.columns:
        if name in as_text:
            frame[name] = frame[name].map(as_label, na_action="ignore")
    marks = set(source.missing)
    cells = frame.map(lambda cell: None if isinstance(cell, str) and cell in marks else cell)
    for name in kept:
        if name in cells:
            cells[name] = frame[name]
    return cells.infer_objects()


def _plain(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def as_label(value: object) -> str:
    """Return a value's text: whole numbers without ``.0``, everything else as Python writes it."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _read_xlsx(source: Source, as_text: tuple[str, ...], kept: tuple[str, ...]) -> pd.DataFrame:
    import pandas as pd

    with pd.ExcelFile(source.path, engine="openpyxl") as book:
        given = pd.read_excel(book, sheet_name=source.sheet, nrows=0).columns
        names = unique_names("" if str(name).startswith("Unnamed: ") else name for name in given)
        called = dict(zip(names, given, strict=True))
        texts: dict[Any, Any] = {called[name]: "str" for name in as_text if name in called}
        marks = _marks_by_column(source, given, tuple(called[name] for name in kept if name in called))
        read = {"sheet_name": source.sheet, "na_values": marks, "keep_default_na": False, "dtype": texts}
        frame = cast(pd.DataFrame, pd.read_excel(book, **cast(Any, read)))
    frame.columns = pd.Index(names)
    return frame


def _read_arrow(source: Source, as_text: tuple[str, ...], kept: tuple[str, ...]) -> pd.DataFrame:
    import pandas as pd

    frame = pd.read_parquet(source.path) if source.format == "parquet" else pd.read_feather(source.path)
    frame = frame.reset_index() if frame.index.name is not None else frame.reset_index(drop=True)
    frame.columns = unique_names(frame.columns)
    return frame
