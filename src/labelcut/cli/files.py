"""The files that a command reads and writes: found, checked before an hour of work, never written over."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelcut.table.decisions import Decision
    from labelcut.table.source import Source

__all__ = [
    "check_readable",
    "check_writable",
    "default_folder",
    "find_input",
    "inputs_of",
    "read_decided",
    "writing",
]


def find_input(table: str, options: dict[str, Any]) -> Source:
    """Return the table as the reading options want it read."""
    from labelcut.table.source import find_source

    return find_source(
        table,
        delimiter=options["delimiter"],
        encoding=options["encoding"],
        missing=options["missing"] or None,
        has_header=not options["no_header"],
        sheet=options["sheet"],
    )


def read_decided(path: str | None) -> list[Decision]:
    """Return the decisions of a file; none if there is no file."""
    from labelcut.table.decisions import read_decisions

    return read_decisions(Path(path)) if path else []


def check_readable(path: str | None) -> None:
    """Find out before an hour of work that a file cannot be read."""
    from labelcut.errors import BadChoice

    if path is not None and not Path(path).is_file():
        raise BadChoice(f"{path}: is not there or no file; check the path.")


def inputs_of(table: str, decisions: str | None, baseline: str | None = None) -> dict[str, Path]:
    """Return the files that are read, by what they are; none of them may be written over."""
    from labelcut.table.saving import BASELINE_READ, DECISIONS_READ, TABLE_READ

    read = {TABLE_READ: "/dev/stdin" if table == "-" else table, DECISIONS_READ: decisions}
    read |= {BASELINE_READ: baseline}
    return {what: Path(path) for what, path in read.items() if path}


def default_folder(table: str) -> str:
    """Return the folder of a report that was given none."""
    if table == "-":
        return "labelcut-report"
    name = Path(table).name
    return str(Path(name.split(".", 1)[0] or name)) + "-labelcut"


def check_writable(folder: Path) -> None:
    """Find out before an hour of work that its result cannot be written."""
    from labelcut.errors import BadChoice

    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise BadChoice(f"{existing}: is a file, so no folder can be made there; give another --out.")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise BadChoice(f"{existing}: cannot be written to; give another folder with --out.")


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn a failed write into a message; nothing half-written stays behind."""
    from labelcut.errors import BadChoice

    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadChoice(
            f"{folder}: cannot be written ({reason}); what was there is as it was, free some space "
            "or give another --out."
        ) from error
