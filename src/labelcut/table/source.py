"""A file with a table in it -> how it is to be read: format, encoding, delimiter, quotes."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import stat
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, cast

from labelcut.errors import BadChoice, BadTable, Option

MISSING_MARKS = (
    *(
        "",
        "NA",
        "N/A",
        "n/a",
        "na",
        "#N/A",
        "<NA>",
        "NaN",
        "nan",
        "NAN",
        "-NaN",
        "-nan",
        "null",
        "NULL",
        "Null",
    ),
    *("None", "none", "NONE", "?", "-", "--", "."),
)
DELIMITERS = (",", ";", "\t", "|")
STANDARD_INPUT = "standard input"
SAMPLE_BYTES = 1 << 18
BLOCK_BYTES = 1 << 20
TEXT_FORMATS = ("csv", "arff", "jsonl", "json")
_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".arff": "arff",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".xlsx": "xlsx",
}
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
BYTE_ORDER_MARK = "\ufeff"
_ENCODING_HINT = "name the one the table was saved in, such as utf-8, cp1252, shift_jis or utf-16"
_PROBE = "a,b;c|d\t\"e\"'-'\r\n1..5\n" + 100 * "x"  # idna allows no empty and no long parts between its dots.
_ZIP = b"PK\x03\x04"
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SIGNATURES = ((b"PAR1", "parquet"), (b"ARROW1", "feather"), (_ZIP, "xlsx"))


@dataclass(frozen=True)
class Source:
    """A table's file and how it is read: enough to read it again, or to rewrite single cells of it."""

    path: Path
    name: str
    format: str
    is_gzipped: bool = False
    delimiter: str = ","
    quote: str = '"'
    encoding: str = "utf-8"
    has_header: bool = True
    missing: tuple[str, ...] = MISSING_MARKS
    sheet: str = ""
    other_sheets: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def open(self) -> IO[bytes]:
        """Return the file's bytes, decompressed."""
        return cast(IO[bytes], gzip.open(self.path, "rb")) if self.is_gzipped else open(self.path, "rb")

    @property
    def keeps_bad_bytes(self) -> bool:
        """Whether bytes that are no characters are passed over: in UTF-8 only, where they can be kept."""
        return self.encoding in ("utf-8", "utf-8-sig")

    def open_text(self, *, to_read: bool = False) -> io.TextIOWrapper:
        """Return the text with its line ends as they are.

        Bytes that are not UTF-8 come as surrogates, which can be written back, or `to_read` as U+FFFD.
        """
        errors = ("replace" if to_read else "surrogateescape") if self.keeps_bad_bytes else "strict"
        line_ends = "\n" if self.format == "jsonl" else ""  # Where lines are cut: at LF only, or also at CR.
        stream = cast(Any, self.open())
        return io.TextIOWrapper(stream, encoding=self.encoding, errors=errors, newline=line_ends)

    @property
    def has_marks(self) -> bool:
        """Whether missing cells may be written as marks; binary formats have missing cells of their own."""
        return self.format not in ("parquet", "feather")

    def label_in(self, cells: Sequence[str], column: int) -> str:
        """Return the label that a record of a csv or arff file holds, empty where it is missing."""
        text = cells[column] if column < len(cells) else ""
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return "" if text in self.missing else text.strip()

    @property
    def suffix(self) -> str:
        """The file ending that fits the format, for the tables we write."""
        ending = "tsv" if self.format == "csv" and self.delimiter == "\t" else self.format
        return f".{ending}.gz" if self.is_gzipped else f".{ending}"


def find_source(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    missing: Iterable[str] | None = None,
    has_header: bool = True,
    sheet: str | None = None,
) -> Source:
    """Look at a file and say how it has to be read.

    Parameters
    ----------
    path : path-like
        The table; ``-`` is the standard input.
    delimiter, encoding, missing
        Overrule what would be detected.
    has_header : bool, default=True
        Whether the first line of a csv holds the names of the columns.
    sheet : str, optional
        The sheet of an Excel workbook, by name or by number, counted from 1; the first one if not said.

    Returns
    -------
    Source
    """
    name = os.fspath(path)
    file = _spooled(sys.stdin.buffer, name) if name == "-" else _checked_path(Path(name), name)
    shown = STANDARD_INPUT if name == "-" else os.fsencode(Path(name).name).decode("utf-8", "replace")
    source = Source(file, shown, "csv", has_header=has_header, missing=tuple(missing or MISSING_MARKS))
    with open(file, "rb") as stream:
        source = replace(source, is_gzipped=stream.read(2) == b"\x1f\x8b")
    try:
        with source.open() as stream:
            head = stream.read(SAMPLE_BYTES)
    except (OSError, EOFError) as error:
        raise BadTable(f"{shown}: the gzip data are damaged ({error}); compress the table again.") from error
    if not head:
        raise BadTable(f"{shown}: the file is empty; a table with a header and at least two rows is needed.")
    _refuse_other_spreadsheets(file, shown, head)
    source = replace(source, format=_format_of(file if name != "-" else Path("-"), head, source.is_gzipped))
    if source.is_gzipped and source.format not in TEXT_FORMATS:
        raise BadTable(f"{shown}: gzip around {source.format} is not read; unpack it first.")
    if source.format in TEXT_FORMATS:
        source = _with_encoding(source, encoding)
    if source.format in ("csv", "arff"):
        source = _with_delimiter(source, delimiter)
    if source.format == "xlsx":
        return _with_sheet(source, sheet)
    if sheet is not None:
        raise BadChoice(
            Option("sheet", sheet), f" is for Excel, but {shown} is {source.format}; leave it out."
        )
    return source


def _checked_path(path: Path, name: str) -> Path:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise BadChoice(f"{name}: cannot be read ({_why(error)}); check the path.") from error
    if stat.S_ISDIR(mode):
        raise BadChoice(f"{name}: is a folder; give the table inside it.")
    if stat.S_ISFIFO(mode):
        with open(path, "rb") as stream:
            return _spooled(stream, name)
    if not stat.S_ISREG(mode):
        raise BadChoice(f"{name}: is a device, not a file; give a file, or - for the standard input.")
    if not os.access(path, os.R_OK):
        raise BadChoice(f"{name}: may not be read by you; change its permissions.")
    return path


def _why(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def _spooled(stream: IO[bytes], name: str) -> Path:
    """Copy a stream to a temporary file that goes away with the process: a table is read more than once."""
    import atexit
    import shutil

    handle, path = tempfile.mkstemp(prefix="labelcut-input-")
    atexit.register(Path(path).unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as copy:
        shutil.copyfileobj(stream, copy)
    return Path(path)


def _format_of(path: Path, head: bytes, is_gzipped: bool) -> str:
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    name = path.with_suffix("").name if is_gzipped and path.suffix == ".gz" else path.name
    by_ending = _ENDINGS.get(Path(name).suffix.lower())
    start = head.lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")
    if by_ending in ("jsonl", None) and re.match(rb"\[[\s\0]*\{", start):
        return "json"
    if by_ending in TEXT_FORMATS:
        return by_ending
    if by_ending is not None:
        raise BadTable(
            f"{path.name}: the content is not {by_ending}; give the file the ending of its format."
        )
    if start.startswith(b"{"):
        return "jsonl"
    if re.match(rb"(%.*\s+)*@relation", start, re.IGNORECASE):
        return "arff"
    return "csv"


def _refuse_other_spreadsheets(file: Path, name: str, head: bytes) -> None:
    """Refuse workbooks and archives that only look like a table, with what to do about each."""
    what = None
    if head.startswith(_OLD_OFFICE):
        what = "an old Excel file (.xls) or one with a password"
    elif head.startswith(_ZIP) and zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            parts = archive.namelist()
        if b"application/vnd.oasis.opendocument" in head[:200]:
            what = "an OpenDocument file (.ods)"
        elif "xl/workbook.bin" in parts:
            what = "a binary Excel file (.xlsb)"
        elif not any(part.startswith("xl/") for part in parts):
            raise BadTable(f"{name}: is a zip archive, which is not read; unpack it first.")
    if what is not None:
        raise BadTable(
            f"{name}: is {what}, which is not read; open it in Excel or LibreOffice and save it as "
            ".xlsx or .csv."
        )


def _with_sheet(source: Source, sheet: str | None) -> Source:
    """Settle the sheet of a workbook; one of several that was not named is named in a note."""
    names = _sheet_names(source)
    by_number = {str(number): name for number, name in enumerate(names, start=1)}
    chosen = names[0] if sheet is None else sheet if sheet in names else by_number.get(sheet)
    if chosen is None:
        there = ", ".join(map(repr, names))
        raise BadChoice(
            f"{source.name}: no sheet {sheet!r}; there {'is' if len(names) == 1 else 'are'} {there}."
        )
    source = replace(source, sheet=chosen, other_sheets=tuple(name for name in names if name != chosen))
    if sheet is None and len(names) > 1:
        note = f"The workbook has {len(names)} sheets; the first one, {chosen!r}, was read."
        return replace(source, notes=(*source.notes, note))
    return source


def _sheet_names(source: Source) -> list[str]:
    try:
        import openpyxl

        book = openpyxl.load_workbook(source.path, read_only=True)
        names = [sheet.title for sheet in book.worksheets]
        book.close()
    except ImportError as error:
        raise BadChoice(
            f"{source.name}: reading xlsx needs another package; pip install 'labelcut[excel]'."
        ) from error
    # A damaged workbook fails in many ways; all of them mean that it is not what it says.
    except Exception as error:
        raise BadTable(f"{source.name}: cannot be read as xlsx ({error}); check the file.") from error
    if not names:
        raise BadTable(f"{source.name}: holds no sheet with cells; check the file.")
    return names


def _with_encoding(source: Source, encoding: str | None) -> Source:
    """Settle the encoding: as named, by the byte-order mark, UTF-8 if the whole file agrees, else cp1252."""
    if encoding is not None:
        return _with_named_encoding(source, encoding)
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    n_wrong = n_beyond_ascii = position = 0
    with source.open() as stream:
        while block := stream.read(BLOCK_BYTES):
            if position == 0 and (marked := _marked_encoding(block)) is not None:
                source = replace(source, encoding=marked)
                if not source.keeps_bad_bytes:
                    return source
            if (zero := block.find(b"\0")) >= 0:
                raise BadTable(
                    f"{source.name}: a NUL byte at position {position + zero}, so this is not plain text; "
                    "remove it (tr -d '\\000'), or say ",
                    Option("encoding", "utf-16"),
                    " if the file is UTF-16.",
                )
            position += len(block)
            if block.isascii():
                continue
            text = decoder.decode(block)
            wrong = len(re.findall("[\udc80-\udcff]", text))
            n_wrong += wrong
            n_beyond_ascii += len(text) - len(text.encode("ascii", "ignore")) - wrong
    if n_wrong == 0:
        return source
    if n_beyond_ascii > n_wrong:
        note = f"{n_wrong} bytes are not UTF-8 and are shown as \ufffd; the tables we write keep them."
        return replace(source, notes=(*source.notes, note))
    note = "The file is not UTF-8 and was read as cp1252 (Western European); if it is not, name its encoding."
    return replace(source, encoding="cp1252", notes=(*source.notes, note))


def _with_named_encoding(source: Source, encoding: str) -> Source:
    """Take the encoding the user names, if there is such a one and the whole file is written in it."""
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError) as error:
        raise BadChoice(f"no encoding is called {encoding!r}; {_ENCODING_HINT}.") from error
    if not _can_hold_tables(name):
        raise BadChoice(f"encoding {encoding!r} is not one that tables are saved in; {_ENCODING_HINT}.")
    with source.open() as stream:
        marked = _marked_encoding(stream.read(4))
    if name in ("utf-16", "utf-32"):  # The byte order is settled here, so that we write it as it was.
        name = marked if marked is not None and marked.startswith(name) else name + "-le"
    source = replace(source, encoding=name)
    try:
        with source.open_text() as text:
            has_zero = any("\0" in block for block in iter(lambda: text.read(BLOCK_BYTES), ""))
    except UnicodeError as error:
        raise BadChoice(
            f"{source.name}: is not {encoding} ({error}); {_ENCODING_HINT}, or leave it to be found."
        ) from error
    if has_zero:
        raise BadTable(f"{source.name}: holds NUL characters when read as {encoding}; {_ENCODING_HINT}.")
    return source


def _can_hold_tables(encoding: str) -> bool:
    """Say whether lines come back from an encoding, letter by letter; idna, rot13 or zlib are none such."""
    try:
        encoder = codecs.getincrementalencoder(encoding)()
        written = b"".join([*map(encoder.encode, _PROBE.splitlines(keepends=True)), encoder.encode("", True)])
        letters = codecs.getincrementalencoder(encoding)().encode("x" * len(_PROBE), True)
        read = codecs.getincrementaldecoder(encoding)().decode(written, True)
        return read == _PROBE and len(written) == len(letters)
    # Codecs that are no encodings of text fail in many ways.
    except Exception:
        return False


def _marked_encoding(head: bytes) -> str | None:
    """Return the encoding that a byte-order mark stands for."""
    # UTF-32 before UTF-16: the mark of the one begins with the mark of the other.
    return next((name for mark, name in _MARKS if head.startswith(mark)), None)


def _with_delimiter(source: Source, delimiter: str | None) -> Source:
    if delimiter is not None:
        delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1:
            raise BadChoice(
                Option("delimiter", delimiter), f" has {len(delimiter)} characters; it has to be one."
            )
    text = _sample_text(source)
    if source.format == "arff":
        data = re.split(r"^\s*@data\b.*$", text, maxsplit=1, flags=re.MULTILINE | re.IGNORECASE)[-1]
        return replace(
            source, delimiter=delimiter or ",", quote='"' if data.count('"') > data.count("'") else "'"
        )
    return replace(source, delimiter=delimiter or _guess_delimiter(text, source.path))


def _sample_text(source: Source) -> str:
    with source.open_text(to_read=True) as text:
        return text.read(SAMPLE_BYTES).removeprefix(BYTE_ORDER_MARK)


def _guess_delimiter(text: str, path: Path) -> str:
    """Return the delimiter that cuts the first lines into the same number of cells, and into most."""
    lines = [line for line in text.splitlines()[:51] if line.strip()]
    lines = lines[:-1] if len(lines) > 2 else lines  # The sample may end inside the last one.
    best, best_score = "\t" if path.suffix in (".tsv", ".tab") else ",", (0.0, 0)
    for delimiter in DELIMITERS:
        counts = [_count_outside_quotes(line, delimiter) for line in lines]
        usual = max(set(counts), key=lambda count: (counts.count(count), count)) if counts else 0
        score = (counts.count(usual) / len(counts), usual) if usual else (0.0, 0)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _count_outside_quotes(line: str, delimiter: str) -> int:
    return re.sub(r'"[^"]*"', "", line).count(delimiter)
