"""The pictures that a column names: which are there, and small copies for the rows that the page shows.

Names are paths, absolute or from the folder of the table (or the one that was named). Addresses on the web
are not fetched: an audit calls nobody.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from labelcut.auditing.thumbnails import NoPicture, make_thumbnail, require_pillow
from labelcut.auditing.words import counted, grouped, shortened
from labelcut.auditing.worth_knowing import Finding, name_rows
from labelcut.errors import BadChoice, Option
from labelcut.table.source import STANDARD_INPUT
from labelcut.table.table import Table

LARGE = 448  # Pixels along the longer side of the picture of a row to decide about.
SMALL = 144  # The same of a row that only stands beside such a row.
MOST_BYTES = 32_000_000  # Of all pictures in a page: it opens in a second and still goes by mail.
#: Share of them that suspects leave to unlabeled rows, if there are any.
FOR_UNLABELED = 0.25
NO_NAME, NOT_THERE, NOT_FETCHED = (
    "no picture is named",
    "the file is not there",
    "web addresses are not fetched",
)
LEFT_OUT = "not in this page, which is full"
_ADDRESS = re.compile(r"(?i)[a-z][a-z0-9+.-]+://|data:")


@dataclass(frozen=True)
class PictureFiles:
    """The files that the column `column` names, one per row of the table.

    Where `files` has none (an empty text), `lacks` says why; `root` is the folder that was named, or "".
    """

    column: str
    root: str
    files: tuple[str, ...]
    lacks: tuple[str, ...]

    def without(self, *reasons: str) -> np.ndarray:
        """Return the positions of the rows that have no file for one of the reasons."""
        return np.flatnonzero([lack in reasons for lack in self.lacks])


def find_pictures(table: Table, root: str | os.PathLike[str] | None = None) -> PictureFiles | None:
    """Find the files that the table's column of pictures names.

    Parameters
    ----------
    table : Table
    root : path-like, optional
        The folder that names start from; by default that of the table's file, or the working directory.

    Returns
    -------
    PictureFiles or None
        None if no column holds pictures. If not one file is there, the folder is wrong, and that is an error.
    """
    if table.image is None:
        if root is not None:
            message = " says where pictures are, but no column of them is named; name it with "
            raise BadChoice(Option("image_root", str(root)), message, Option("image"), ".")
        return None
    require_pillow()
    start = _folder(table, root)
    cells = table.frame[table.image]
    names = ["" if gone else str(cell) for cell, gone in zip(cells, cells.isna(), strict=True)]
    looked_up = {name: _look_up(name, start) for name in dict.fromkeys(names)}
    found = [looked_up[name] for name in names]
    result = PictureFiles(
        table.image, "" if root is None else str(root), *(tuple(part) for part in zip(*found, strict=True))
    )
    if not any(result.files):
        first = next((name for name in names if name), "")
        raise BadChoice(
            f"{table.name}: none of the {grouped(len(names))} pictures in {table.image!r} is in {start} "
            f"(the first: {shortened(first, 80)!r}); say where they are with ",
            Option("image_root", "DIR"),
            ".",
        )
    return result


def _folder(table: Table, root: str | os.PathLike[str] | None) -> Path:
    if root is not None:
        if not Path(root).is_dir():
            raise BadChoice(Option("image_root", str(root)), " is no folder; check the path.")
        return Path(root)
    source = table.source
    return Path() if source is None or source.name == STANDARD_INPUT else source.path.parent


def _look_up(name: str, start: Path) -> tuple[str, str]:
    """Return the file of a name, or why there is none."""
    if not name.strip():
        return "", NO_NAME
    if _ADDRESS.match(name):
        return "", NOT_FETCHED
    for spelled in (name, name.strip(), name.replace("\\", "/")):
        try:
            if (start / spelled).is_file():
                return str(start / spelled), ""
        except (OSError, ValueError):  # A name may be too long, or hold what no name may.
            continue
    return "", NOT_THERE


@dataclass(frozen=True)
class Drawn:
    """The pictures of a page.

    `counts` says how many pictures there are and are shown, for ``summary.json``, too. `album` has `data`,
    one address per picture; `of`, for each row of the page the number of its picture, or -1; `lacks`, by row,
    why there is none. `broken` holds the positions of the rows whose file is no use.
    """

    counts: dict[str, Any]
    album: dict[str, Any]
    broken: np.ndarray


@dataclass
class Album:
    """Small copies of pictures, each once, and which row of the page has which."""

    most_bytes: int
    n_bytes: int = 0
    copies: list[str] = field(default_factory=list)
    place: dict[tuple[str, int], int] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)

    def add(self, wanted: Iterable[tuple[str, int]]) -> bool:
        """Add pictures, given as file and side: all of them, or none if that would be too many bytes."""
        made: dict[tuple[str, int], str] = {}
        for file, side in dict.fromkeys(wanted):
            if (file, side) in self.place or file in self.broken:
                continue
            try:
                made[file, side] = make_thumbnail(Path(file), side)
            except NoPicture as reason:
                self.broken[file] = str(reason)
        size = sum(map(len, made.values()))
        if self.n_bytes + size > self.most_bytes:
            return False
        self.n_bytes += size
        for key, copy in made.items():
            self.place[key] = len(self.copies)
            self.copies.append(copy)
        return True


def draw_pictures(
    files: PictureFiles,
    rows: np.ndarray,
    near: Sequence[Sequence[int]],
    n_suspects: int,
    most_bytes: int = MOST_BYTES,
) -> Drawn:
    """Draw the pictures of the cases and of the rows beside them, as far as they fit into a page.

    Parameters
    ----------
    files : PictureFiles
    rows : ndarray of int
        Positions in the table of the rows of the page: suspects, unlabeled rows, rows beside them.
    near : sequence of sequence of int
        For each suspect and unlabeled row the places in `rows` of those beside it.
    n_suspects : int
    most_bytes : int
        Of all pictures together, as they stand in the page.

    Returns
    -------
    Drawn
    """
    n_cases = len(near)
    name = [files.files[row] for row in rows.tolist()]
    sides = [LARGE if at < n_cases else SMALL for at in range(len(rows))]
    album = Album(int(most_bytes * (1 - FOR_UNLABELED)) if n_suspects < n_cases else most_bytes)
    n_drawn = []
    for first, end in ((0, n_suspects), (n_suspects, n_cases)):
        done = first
        while done < end:
            wanted = [(name[at], sides[at]) for at in (done, *near[done]) if name[at]]
            if not album.add(wanted):
                break
            done += 1
        n_drawn.append(done - first)
        album.most_bytes = most_bytes
    of = [album.place.get((name[at], sides[at]), -1) for at in range(len(rows))]
    lacks = {
        str(at): files.lacks[row] or album.broken.get(name[at], LEFT_OUT)
        for at, row in enumerate(rows.tolist())
        if of[at] < 0
    }
    broken = np.flatnonzero([file in album.broken for file in files.files])
    counts = {
        "column": files.column,
        "root": files.root,
        "files": sum(map(bool, files.files)),
        "missing": int(files.without(NO_NAME, NOT_THERE).size),
        "not_fetched": int(files.without(NOT_FETCHED).size),
        "unreadable": int(broken.size),
        "suspects_shown": n_drawn[0],
        "unlabeled_shown": n_drawn[1],
        "bytes": album.n_bytes,
    }
    return Drawn(counts, {"data": album.copies, "of": of, "lacks": lacks}, broken)


def tell_limit(counts: dict[str, Any], n_suspects: int, n_unlabeled: int) -> str:
    """Return which rows' pictures are shown, if not all of them are."""
    suspects, unlabeled = counts["suspects_shown"], counts["unlabeled_shown"]
    if suspects == n_suspects and unlabeled == n_unlabeled:
        return ""
    parts = [f"the {grouped(suspects)} most suspect rows"] if n_suspects else []
    parts += [f"the {grouped(unlabeled)} least sure unlabeled ones"] if n_unlabeled else []
    megabytes = max(1, round(counts["bytes"] / 1e6))
    return f"Pictures of {' and '.join(parts)} are shown: {megabytes} MB, more would make the page slow."


def find_lost_pictures(table: Table, files: PictureFiles, drawn: Drawn) -> list[dict[str, Any]]:
    """Return what is worth knowing about pictures that cannot be shown."""
    lost = (
        ("missing pictures", files.without(NO_NAME, NOT_THERE), "no picture, or one whose file is not there"),
        ("pictures not fetched", files.without(NOT_FETCHED), "a web address for a picture; none is fetched"),
        ("unreadable pictures", drawn.broken, "a picture that cannot be shown: broken, too large, or none"),
    )
    findings = []
    for kind, rows, text in lost:
        if rows.size:
            told = f"{counted(rows.size, 'row')} {'has' if rows.size == 1 else 'have'} {text}."
            named = name_rows(table, [rows[i : i + 1] for i in range(rows.size)])
            findings.append(Finding(kind, int(rows.size), told, named).facts())
    return findings
