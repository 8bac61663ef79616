"""Which way an audit takes: how much memory a table would need, and how much is free."""

from __future__ import annotations

import glob
import os
import zlib
from collections.abc import Sequence
from pathlib import Path

__all__ = [
    "files_of",
    "free_memory",
    "is_in_parts",
    "memory_needed",
    "rows_and_columns",
    "too_large",
]

#: Bytes of an audit in memory: of every row (graph, cuts, opinions) and of every cell (the table, its
#: numbers, and those scaled and sorted). A million rows of 20 columns make 2.2 GB; 2.25 were measured.
BYTES_PER_ROW, BYTES_PER_CELL = 1400, 40

#: More than this share of the free memory is not risked.
MOST_USED = 0.7

#: Bytes of a csv by which its rows are estimated.
HEAD_BYTES = 1 << 18


def memory_needed(n_rows: int, n_columns: int) -> int:
    """Return about how many bytes an audit in memory takes: ``rows * (1400 + 40 * columns)``."""
    return n_rows * (BYTES_PER_ROW + BYTES_PER_CELL * n_columns)


def is_in_parts(addresses: Sequence[str]) -> bool:
    """Tell whether addresses name several files, or a file that only fsspec can open."""
    if len(addresses) != 1:
        return True
    one = addresses[0]
    if "://" in one or os.path.isdir(one):
        return True
    return not os.path.exists(one) and any(mark in one for mark in "*?[")


def files_of(addresses: Sequence[str]) -> list[str]:
    """Return the files of this machine that addresses stand for."""
    found: list[str] = []
    for address in addresses:
        if "://" in address:
            continue
        if os.path.isdir(address):
            found += sorted(str(path) for path in Path(address).iterdir() if path.is_file())
        else:
            found += [address] if os.path.exists(address) else sorted(glob.glob(address))
    return found


def too_large(address: str) -> str | None:
    """Return a sentence if a file would need more than 70 % of the free memory; None if not, or unknown."""
    found = rows_and_columns(address)
    free = free_memory()
    if found is None or memory_needed(*found) <= MOST_USED * free:
        return None
    needed, free_gb = memory_needed(*found) / 1e9, free / 1e9
    return (
        f"about {found[0]} rows of {found[1]} columns would take {needed:.1f} GB in memory, where "
        f"{free_gb:.1f} GB are free; the table is read in parts."
    )


def rows_and_columns(path: str) -> tuple[int, int] | None:
    """Return about how many rows and columns a file has, by its footer or first lines; None if unknown."""
    try:
        ending = Path(path.removesuffix(".gz")).suffix.lower()
        if ending in (".parquet", ".pq"):
            from pyarrow.parquet import read_metadata

            about = read_metadata(path)
            return int(about.num_rows), int(about.num_columns)
        if ending not in (".csv", ".tsv"):
            return None
        with open(path, "rb") as file:
            head = file.read(HEAD_BYTES)
        if path.endswith(".gz"):
            head = zlib.decompressobj(31).decompress(head, HEAD_BYTES)
        n_lines = max(1, head.count(b"\n"))
        n_bytes = os.path.getsize(path) * (4 if path.endswith(".gz") else 1)  # text shrinks to a quarter
        first = head.split(b"\n", 1)[0]
        n_columns = 1 + max(first.count(mark) for mark in (b",", b";", b"\t", b"|"))
        return int(n_bytes / len(head) * n_lines), n_columns
    # Whatever is wrong with the file, it is told by who reads it.
    except Exception:
        return None


def free_memory() -> int:
    """Return the bytes that are free, also by the limit of a container."""
    free = _available()
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            free = min(free, int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # no such limit
            continue
    return max(free, 0)


def _available() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        pass
    try:
        import psutil
    except ImportError:  # not on Linux, and without the extra: half of what there is, if that can be told
        pages = os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
        return pages * os.sysconf("SC_PAGE_SIZE") // 2 if pages else 1 << 33
    return int(psutil.virtual_memory().available)
