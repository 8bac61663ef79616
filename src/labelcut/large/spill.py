"""Large arrays in files of one folder: the system keeps in memory what is in use, and no more."""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from labelcut.errors import BadChoice, Option

__all__ = ["Spill", "spill_folder"]


class Spill:
    """A folder of arrays. Space is taken when an array is made, so a full disk is an error and no crash."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def array(self, name: str, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return a new array of zeros."""
        return self.grown(name, dtype, shape)

    def grown(self, name: str, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return the array of that name with more room; what it held stands at its beginning."""
        n_bytes = int(np.dtype(dtype).itemsize * np.prod(shape, dtype=np.int64))
        path = self.folder / name
        with open(path, "a+b") as file:
            try:
                _take_space(file.fileno(), max(n_bytes, 1))
            except OSError as error:
                raise _no_space(self.folder, n_bytes, error) from error
            whole = mmap.mmap(file.fileno(), max(n_bytes, 1))
        return np.frombuffer(whole, dtype=dtype, count=n_bytes // np.dtype(dtype).itemsize).reshape(shape)


def _take_space(file: int, n_bytes: int) -> None:
    """Make a file so long, with room on the disk for every byte."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, n_bytes)
    else:  # Not on macOS and Windows: written, so that the room is there.
        have = os.fstat(file).st_size
        block = bytes(1 << 20)
        os.lseek(file, have, os.SEEK_SET)
        while have < n_bytes:
            have += os.write(file, block[: min(len(block), n_bytes - have)])


def _no_space(folder: Path, n_bytes: int, error: OSError) -> BadChoice:
    what = (
        "the disk is full"
        if error.errno in (errno.ENOSPC, errno.EDQUOT)
        else str(error.strerror or error).lower()
    )
    return BadChoice(
        f"{folder}: no room for {n_bytes / 1e9:.2f} GB ({what}); free some space, or name another folder "
        "with ",
        Option("spill"),
        ".",
    )


@contextmanager
def spill_folder(folder: str | os.PathLike[str] | None) -> Iterator[Spill]:
    """Give a folder of its own to spill into, inside the one that is named; it goes away with its files."""
    try:
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
        own = Path(tempfile.mkdtemp(prefix="labelcut-spill-", dir=folder))
    except OSError as error:
        where = folder if folder is not None else tempfile.gettempdir()
        reason = (error.strerror or str(error)).lower()
        raise BadChoice(
            f"{where}: cannot be written ({reason}); name another folder with ", Option("spill"), "."
        ) from error
    try:
        yield Spill(own)
    finally:
        shutil.rmtree(own, ignore_errors=True)
