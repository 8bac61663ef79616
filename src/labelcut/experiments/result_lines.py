"""Result lines: one finished run each, as JSON, in ``results/<study>/<method>.jsonl``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from labelcut.errors import BadTable

Record = dict[str, Any]
KEY = ("method", "data", "noise", "test_share", "seed", "settings")
"""What makes two runs the same run."""


def key_of(record: Record) -> str:
    """Give the key of the run a result line came from; the kind of noise is part of it where it is named."""
    kind = [record["kind"]] if "kind" in record else []
    return json.dumps([record[name] for name in KEY] + kind, sort_keys=True)


def append_line(path: Path, record: Record) -> None:
    """Add one line in one write; a line cut off by a crash before it is closed off first."""
    line = json.dumps(record, sort_keys=True) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.read_bytes()[-1:] not in (b"", b"\n"):
        line = "\n" + line
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_lines(results: Path, study: str) -> list[Record]:
    """Read a study's lines, the last one of each run; a line cut off by a crash is passed over."""
    latest: dict[str, Record] = {}
    for path in sorted((results / study).glob("*.jsonl")):
        for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
            record, fault = _parse(line)
            if fault is not None:
                shown = ascii(line[:40].decode("utf-8", "replace"))[1:-1]
                raise BadTable(
                    f"{path}, line {number}: {fault} ({shown}); delete this line, its run will be done again."
                )
            if record is not None:
                latest[key_of(record)] = record
    return list(latest.values())


class Arrivals:
    """Tells which runs another runner has finished in the meantime.

    Parameters
    ----------
    folder : Path
        A study's folder of result lines. What is in it now counts as known.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known = {path: path.stat().st_size for path in folder.glob("*.jsonl")}

    def since(self) -> list[str]:
        """Give the keys of the runs whose lines were added since the last call."""
        found = []
        for path in self._folder.glob("*.jsonl"):
            start = self._known.get(path, 0)
            with path.open("rb") as file:
                file.seek(start)
                whole, end, _ = file.read().rpartition(b"\n")
            self._known[path] = start + len(whole) + len(end)
            # What was there may have ended in the midst of a line; its rest is not a fault.
            records = (_parse(line)[0] for line in whole.split(b"\n"))
            found += [key_of(record) for record in records if record is not None]
        return found


def _parse(line: bytes) -> tuple[Record | None, str | None]:
    """Give a line's record or its fault; neither for the beginning of a line, as a crash leaves it."""
    try:
        record = json.loads(line)
    except ValueError:
        is_cut_off = line.isascii() and line.strip()[:1] in (b"", b"{")
        return None, None if is_cut_off else "not the JSON of a run"
    fault = _fault(record)
    return (record, None) if fault is None else (None, fault)


def _fault(record: object) -> str | None:
    if not isinstance(record, dict):
        return "not the record of a run"
    missing = [name for name in (*KEY, "seconds") if name not in record]
    if missing:
        return f"no {missing[0]!r} in it"
    if isinstance(record.get("error"), str):
        return None
    scores = record.get("scores")
    if not isinstance(scores, dict) or not isinstance(scores.get("accuracy"), int | float):
        return "neither an accuracy among its 'scores' nor an 'error' in it"
    return None
