"""Addresses of files -> the parts of a table, each small enough to be read at once.

Parquet is read by row groups, csv between line ends that stand outside quotes; both from any address that
fsspec knows. A part is read again whenever it is needed, so that nobody has to hold it.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from labelcut.errors import BadChoice, BadTable
from labelcut.table.reading import as_label, column_names, csv_options, unique_names
from labelcut.table.source import SAMPLE_BYTES, Source, find_source

__all__ = ["Part", "Shape", "find_parts", "read_part", "with_first_rows"]

ENDINGS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv"}

#: Bytes of a csv looked at in one go while its lines are counted out.
BLOCK_BYTES = 1 << 24


@dataclass(frozen=True)
class Part:
    """Some rows of one file that stand together.

    `begin` and `end` count rows of a parquet file and bytes of a csv file. `first_row` is the number of its
    first row in the whole table, known of csv files once all parts were read.
    """

    path: str
    format: str
    begin: int
    end: int
    file: int = 0
    first_row: int = 0
    n_rows: int = -1

    @property
    def name(self) -> str:
        """The file and where in it, for messages."""
        what = "rows" if self.format == "parquet" else "bytes"
        return f"{self.path.rsplit('/', 1)[-1]}, {what} {self.begin} to {self.end}"


@dataclass(frozen=True)
class Shape:
    """What all files have in common: the columns and, of csv files, how they are written.

    `as_text` are columns that hold text in some part, so they are text in all; the label keeps its marks.
    """

    names: tuple[str, ...]
    format: str
    label: str
    source: Source | None = None
    as_text: frozenset[str] = frozenset()


def find_parts(
    addresses: Sequence[str], *, label: str, rows_per_part: int, bytes_per_part: int, **reading: Any
) -> tuple[list[Part], Shape]:
    """Return the parts of all files, in the order in which they are named, and what the files have in common.

    Parameters
    ----------
    addresses : sequence of str
        Files, folders or patterns such as ``big/*.parquet``, with or without a protocol.
    label : str
        The label column.
    rows_per_part, bytes_per_part : int
        How large a part may be: rows of a parquet file, bytes of any file before it was compressed.
    **reading
        How csv files are written, as in :func:`labelcut.table.source.find_source`.
    """
    files = list(_files(addresses))
    kinds = {_format(path) for path in files}
    if len(kinds) > 1:
        raise BadChoice("the files are of different kinds (parquet and csv); give those of one kind.")
    if kinds == {"parquet"}:
        return _parquet_parts(files, label, rows_per_part, bytes_per_part)
    return _csv_parts(files, label, bytes_per_part, reading)


def with_first_rows(parts: Iterable[Part], n_rows: Sequence[int]) -> list[Part]:
    """Return the parts with the number of their first row, once it is known how many rows each has."""
    first = np.concatenate([[0], np.cumsum(n_rows)]).tolist()
    return [replace(part, first_row=first[p], n_rows=int(n_rows[p])) for p, part in enumerate(parts)]


def read_part(part: Part, shape: Shape, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Read the rows of a part, or only some of their columns; text is text in every part."""
    try:
        read = _read_parquet if part.format == "parquet" else _read_csv
        frame = read(part, shape, columns)
    except (BadTable, BadChoice, MemoryError):
        raise
    # The readers raise many kinds; all of them mean that the file is not what it says.
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise BadTable(f"{part.name}: cannot be read ({reason}); check the file.") from error
    for name in shape.as_text & set(frame.columns):
        if frame[name].dtype != "str":
            frame[name] = frame[name].map(as_label, na_action="ignore").astype("str")
    return frame


def _files(addresses: Sequence[str]) -> Iterator[str]:
    """Yield the files that addresses stand for, patterns and folders in the order of their names."""
    from fsspec.core import url_to_fs

    for address in addresses:
        fs, path = url_to_fs(address)
        prefix = address[: address.index("://") + 3] if "://" in address else ""
        if any(mark in path for mark in "*?["):
            found = sorted(fs.glob(path))
            what = "no file fits this pattern"
        elif fs.isdir(path):
            found = sorted(name for name in fs.ls(path, detail=False) if _ending(name) in ENDINGS)
            what = "is a folder without parquet or csv files"
        else:
            found = [path] if fs.exists(path) else []
            what = "is not there"
        if not found:
            raise BadChoice(f"{address}: {what}; check the path.")
        for name in found:
            yield prefix + name.removeprefix(prefix).lstrip("/") if prefix else name


def _ending(path: str) -> str:
    return Path(path.removesuffix(".gz")).suffix.lower()


def _format(path: str) -> str:
    if _ending(path) not in ENDINGS:
        raise BadChoice(f"{path}: is read in parts only as parquet or csv; save it as one of these.")
    return ENDINGS[_ending(path)]


def _open(path: str) -> Any:
    import fsspec

    return fsspec.open(path, "rb")


def _parquet_parts(
    files: Sequence[str], label: str, rows_per_part: int, bytes_per_part: int
) -> tuple[list[Part], Shape]:
    from pyarrow.parquet import ParquetFile

    parts: list[Part] = []
    names: tuple[str, ...] = ()
    for number, path in enumerate(files):
        try:
            with _open(path) as stream, ParquetFile(stream) as file:
                columns = tuple(unique_names(n for n in file.schema_arrow.names if n != "__index_level_0__"))
                groups = [file.metadata.row_group(g) for g in range(file.metadata.num_row_groups)]
                sizes, n_bytes = [g.num_rows for g in groups], sum(g.total_byte_size for g in groups)
        except OSError as error:
            raise BadChoice(f"{path}: cannot be read ({_why(error)}); check the path.") from error
        except Exception as error:
            raise BadTable(f"{path}: is no parquet file ({_why(error)}); check the file.") from error
        names = names or columns
        _check_columns(path, columns, files[0], names)
        fitting = bytes_per_part * sum(sizes) // max(n_bytes, 1)
        borders = _borders(sizes, max(1, min(rows_per_part, fitting)))
        parts += [
            Part(path, "parquet", a, b, number) for a, b in zip(borders, borders[1:], strict=False) if b > a
        ]
    n_rows = [part.end - part.begin for part in parts]
    return with_first_rows(parts, n_rows), Shape(names, "parquet", label)


def _why(error: Exception) -> str:
    return " ".join(str(getattr(error, "strerror", None) or error).split())[:200].lower()


def _check_columns(path: str, columns: Sequence[str], first: str, names: Sequence[str]) -> None:
    if set(columns) != set(names):
        odd = sorted(set(columns) ^ set(names))[0]
        raise BadTable(
            f"{path}: the column {odd!r} is in this file or in {first}, but not in both; give files of the "
            "same columns."
        )


def _borders(sizes: Sequence[int], wanted: int) -> list[int]:
    """Return row numbers at which parts end: between row groups, and inside those that are too large."""
    borders, at = [0], 0
    for size in sizes:
        if at + size - borders[-1] > wanted and at > borders[-1]:
            borders.append(at)
        n_pieces = -(-size // wanted)
        borders += [at + size * i // n_pieces for i in range(1, n_pieces)]
        at += size
    return [*borders, at] if at > borders[-1] else borders


def _read_parquet(part: Part, shape: Shape, columns: Sequence[str] | None) -> pd.DataFrame:
    from pyarrow.parquet import ParquetFile

    with _open(part.path) as stream, ParquetFile(stream) as file:
        given = [name for name in file.schema_arrow.names if name != "__index_level_0__"]
        called = dict(zip(unique_names(given), given, strict=True))
        wanted = list(shape.names if columns is None else columns)
        starts = np.cumsum([0, *(file.metadata.row_group(g).num_rows for g in range(file.num_row_groups))])
        groups = [
            g for g in range(file.num_row_groups) if starts[g] < part.end and starts[g + 1] > part.begin
        ]
        read = file.read_row_groups(groups, columns=[called[name] for name in wanted], use_threads=False)
        skipped = part.begin - int(starts[groups[0]])
        frame = read.slice(skipped, part.end - part.begin).to_pandas(ignore_metadata=True)
    frame = frame[[called[name] for name in wanted]]
    frame.columns = pd.Index(wanted)
    return cast(pd.DataFrame, frame)


def _csv_parts(
    files: Sequence[str], label: str, bytes_per_part: int, reading: dict[str, Any]
) -> tuple[list[Part], Shape]:
    parts: list[Part] = []
    source: Source | None = None
    names: tuple[str, ...] = ()
    for number, path in enumerate(files):
        own, columns, n_header = _look_at_csv(path, reading)
        source, names = source or own, names or columns
        _check_columns(path, columns, files[0], names)
        borders = [n_header] if path.endswith(".gz") else _line_ends(path, n_header, bytes_per_part)
        ends = [*borders[1:], -1] if len(borders) == 1 else borders[1:]
        parts += [Part(path, "csv", a, b, number) for a, b in zip(borders, ends, strict=False)]
    return parts, Shape(names, "csv", label, source)


def _look_at_csv(path: str, reading: dict[str, Any]) -> tuple[Source, tuple[str, ...], int]:
    """Return how a csv file is written, its columns, and how many bytes its header takes."""
    try:
        with _open(path) as stream:
            head = _unzipped(path, stream.read(SAMPLE_BYTES))
    except OSError as error:
        raise BadChoice(f"{path}: cannot be read ({_why(error)}); check the path.") from error
    if len(head) >= SAMPLE_BYTES // 2:
        head = head[: head.rfind(b"\n") + 1]  # A letter of several bytes must not be cut.
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / Path(path.removesuffix(".gz")).name
        copy.write_bytes(head)
        source = find_source(copy, **reading)
        names = tuple(column_names(source))
    if source.encoding.startswith(("utf-16", "utf-32")):
        raise BadTable(f"{path}: {source.encoding} cannot be read in parts; save it as UTF-8.")
    n_header = 0
    if source.has_header:
        ends = _ends_outside_quotes(np.frombuffer(head, np.uint8), source.quote, 0)
        n_header = int(ends[0]) + 1 if ends.size else len(head)
    return replace(source, path=Path(path), name=os.path.basename(path)), names, n_header


def _unzipped(path: str, head: bytes) -> bytes:
    import zlib

    return zlib.decompressobj(31).decompress(head, SAMPLE_BYTES) if path.endswith(".gz") else head


def _ends_outside_quotes(block: np.ndarray, quote: str, n_before: int) -> np.ndarray:
    """Return where lines end in a block, but not those inside quotes, of which `n_before` stood before it."""
    at = np.flatnonzero(block == 10)
    n_quotes = np.searchsorted(np.flatnonzero(block == ord(quote)), at) + n_before
    return np.asarray(at[n_quotes % 2 == 0])


def _line_ends(path: str, n_header: int, bytes_per_part: int) -> list[int]:
    """Return where parts begin, and where the last one ends: at the first line end behind so many bytes."""
    borders, offset, n_quotes = [n_header], 0, 0
    with _open(path) as stream:
        while block := stream.read(BLOCK_BYTES):
            letters = np.frombuffer(block, np.uint8)
            for end in _ends_outside_quotes(letters, '"', n_quotes).tolist():
                if offset + end + 1 - borders[-1] >= bytes_per_part:
                    borders.append(offset + end + 1)
            n_quotes += int(np.count_nonzero(letters == 34))
            offset += len(block)
    return [*borders, offset] if offset > borders[-1] else borders


def _read_csv(part: Part, shape: Shape, columns: Sequence[str] | None) -> pd.DataFrame:
    source = shape.source
    assert source is not None
    with _open(part.path) as stream:
        if part.path.endswith(".gz"):
            import gzip

            data = gzip.decompress(stream.read())[part.begin :]
        else:
            stream.seek(part.begin)
            data = stream.read(part.end - part.begin if part.end >= 0 else -1)
    texts: dict[str, Any] = {name: "str" for name in {*shape.as_text, shape.label}}
    options = csv_options(source, shape.names, (shape.label,))
    errors = "replace" if source.keeps_bad_bytes else "strict"
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # A record longer than the header.
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)
        frame = pd.read_csv(
            BytesIO(data),
            dtype=texts,
            encoding=source.encoding,
            encoding_errors=errors,
            low_memory=False,
            **options,
        )
    return cast(pd.DataFrame, frame if columns is None else frame[list(columns)])
