"""Which runs are under way, told by one runner to the others on the same results folder.

A run is one byte of the file ``.claims``, and who does the run holds a lock on that byte. The system frees
the locks of a process when it ends, also by ``kill -9``, so no claim outlives its runner and none is ever
cleaned up. The runner holds them, not its workers: it is the same for one process, joblib, Dask and Ray.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: runners there do not see each other.
    fcntl = None  # type: ignore[assignment]

PLACES = 2**31 - 1
"""Bytes to lock. Two runs on one byte are not done at the same time by two runners; nothing else happens."""


class Claims:
    """The claims of one runner, on the open file whose bytes stand for runs."""

    def __init__(self, descriptor: int) -> None:
        self._file = descriptor

    def take(self, key: str) -> bool:
        """Claim a run; False if another runner has it."""
        if fcntl is None:
            return True
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(key))
        except (BlockingIOError, PermissionError):  # which of them is up to the system
            return False
        return True

    def drop(self, key: str) -> None:
        """Give a run back."""
        if fcntl is not None:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _place(key))


@contextmanager
def open_claims(path: Path) -> Iterator[Claims]:
    """Give the claims kept in a file, which is made if needed and stays empty; the end gives all back."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        yield Claims(descriptor)
    finally:
        os.close(descriptor)


def _place(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % PLACES
