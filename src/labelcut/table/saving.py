"""Files onto the disk: a set of them all together or not at all, and never over what was read.

Several files cannot be renamed at once, but one link can. The new files are written into a hidden stage
beside their places. Then every name becomes a link that passes through ``stage/current``, which first leads
to the files that stood there: the content of the folder is still the old one. Renaming ``current``, so that
it leads to the new files, is the switch. Last, real files take the place of the links. Whoever looks into the
folder, also after a kill at any moment, finds the old set or the new one; nothing else in it is touched.

Runs that write into one folder take turns by a lock on it. Who holds the lock knows that any other stage was
abandoned, and settles it: on the set that its ``current`` leads to.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import threading
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

from labelcut.errors import BadChoice

try:
    import fcntl
except ImportError:  # Not on Windows: there only the threads of one process take turns.
    fcntl = None  # type: ignore[assignment]

#: What a file was read as, in the message that refuses to write over it.
TABLE_READ, DECISIONS_READ, BASELINE_READ = "the table itself", "the decisions file", "the baseline"
LOCK_NAME = ".labelcut-lock"
CURRENT, OLD, NEW = "current", "old", "new"

_STAGE = re.compile(r"\.labelcut-[0-9a-f]{32}")
_TURNS: dict[Path, threading.Lock] = {}


@contextlib.contextmanager
def staged_folder(folder: Path, *, inputs: Mapping[str, Path], replaced: str | None = None) -> Iterator[Path]:
    """Give a hidden folder to write into; when all went well its files appear in `folder`, all at once.

    Parameters
    ----------
    folder : Path
        Made when it is not there.
    inputs : mapping of str to Path
        What the files were made from, by what it is ("the table itself"): none of it is written over.
    replaced : str, optional
        A pattern: files of such names that are not written again go away in the same moment.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _turn(folder) as is_ours:
        if is_ours:
            _settle_abandoned(folder)
        stage = folder / f".labelcut-{uuid.uuid4().hex}"
        try:
            for part in (stage, stage / NEW, stage / OLD):
                part.mkdir()
            yield stage / NEW
            new = {file.name for file in (stage / NEW).iterdir()}
            gone = {file.name for file in folder.glob(replaced)} - new if replaced else set()
            _check_places([folder / name for name in sorted(new | gone)], inputs)
            _switch(folder, stage, gone)
        finally:
            _settle(folder, stage)


@contextlib.contextmanager
def whole_file(path: Path, *, inputs: Mapping[str, Path]) -> Iterator[Path]:
    """Give a temporary path beside `path`; it takes its place only when the block ends well."""
    with staged_folder(path.parent, inputs=inputs) as stage:
        yield stage / path.name


def refuse_inputs(places: Iterable[Path], inputs: Mapping[str, Path]) -> None:
    """Refuse to write to a file that was read, whatever it is called there: a link to it is the same file."""
    for place in places:
        for what, path in inputs.items():
            if place.exists() and path.exists() and place.samefile(path):
                raise BadChoice(
                    f"{place}: is {what}, and nothing that was read is written over; write somewhere else."
                )


def _check_places(places: Iterable[Path], inputs: Mapping[str, Path]) -> None:
    places = list(places)
    refuse_inputs(places, inputs)
    for place in places:
        if place.is_dir():
            raise BadChoice(f"{place}: is a folder where a file has to be written; move it away.")


@contextlib.contextmanager
def _turn(folder: Path) -> Iterator[bool]:
    """Wait until nobody else writes into `folder`; False where the file system knows no locks."""
    path = folder / LOCK_NAME
    # On network file systems a lock belongs to the process, so its threads need one of their own.
    with _TURNS.setdefault(folder.resolve(), threading.Lock()), contextlib.ExitStack() as stack:
        while True:
            file = stack.enter_context(open(path, "ab"))
            is_locked = _lock(file)
            if not is_locked or _is_at(file, path):
                break
            file.close()  # Its last holder has removed it, and the next one may hold another.
        stack.callback(path.unlink, missing_ok=True)
        yield is_locked


def _lock(file: IO[bytes]) -> bool:
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError:
        return False
    return True


def _is_at(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _switch(folder: Path, stage: Path, gone: Collection[str] = ()) -> None:
    """Let the new files take their places in one step, in which those that are gone lose theirs."""
    names = sorted({*gone, *(file.name for file in (stage / NEW).iterdir())})
    if len(names) > 1:
        for name in names:
            _keep(folder / name, stage / OLD / name)
        try:
            os.symlink(OLD, stage / CURRENT)
        except (OSError, NotImplementedError):
            _replace_each(folder, stage, names)
            return
        for name in names:
            os.symlink(f"{stage.name}/{CURRENT}/{name}", stage / name)
            os.replace(stage / name, folder / name)
        os.symlink(NEW, stage / "next")
        os.replace(stage / "next", stage / CURRENT)
    else:
        _replace_each(folder, stage, names)


def _keep(place: Path, copy: Path) -> None:
    """Make `copy` hold what stands at `place`, as cheaply as the file system can."""
    if place.is_symlink():
        copy.symlink_to(place.resolve())
    elif place.exists():
        try:
            os.link(place, copy)
        except OSError:
            shutil.copy2(place, copy)


def _replace_each(folder: Path, stage: Path, names: list[str]) -> None:
    """Rename the files one by one, and back if one fails: the most that is possible without links."""
    done: list[str] = []
    try:
        for name in names:
            _put(stage / NEW / name, folder / name)
            done.append(name)
    except BaseException:
        for name in done:
            _put(stage / OLD / name, folder / name)
        raise


def _settle_abandoned(folder: Path) -> None:
    """Finish or undo what a killed run left behind; only for the holder of the lock, so nobody is at work."""
    for stage in list(folder.iterdir()):
        if _STAGE.fullmatch(stage.name) and stage.is_dir():
            _settle(folder, stage)


def _settle(folder: Path, stage: Path) -> None:
    """Put real files where links through the stage stand, then remove the stage."""
    if (stage / CURRENT).is_symlink():
        chosen = stage / os.readlink(stage / CURRENT)
        for place in list(folder.iterdir()):
            if place.is_symlink() and os.readlink(place) == f"{stage.name}/{CURRENT}/{place.name}":
                _put(chosen / place.name, place)
    shutil.rmtree(stage, ignore_errors=True)


def _put(file: Path, place: Path) -> None:
    """Move `file` to `place`; where there is none, there is to be none."""
    if file.is_symlink() or file.exists():
        os.replace(file, place)
    else:
        place.unlink()
