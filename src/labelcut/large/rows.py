"""Some rows of the table, fetched from their parts by their nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labelcut.arrays import Ints
from labelcut.large.cluster import Crew
from labelcut.large.nodes import Nodes
from labelcut.large.parts import Part, Shape, read_part
from labelcut.large.scan import texts_of
from labelcut.table.row_keys import row_keys

__all__ = ["Fetcher", "Names"]

Tell = Callable[[int, int], object]


def _no_report(n_done: int, n_all: int) -> None:
    pass


@dataclass(frozen=True, eq=False)
class Names:
    """How rows are named in lists: the key of their content, and their id if there is one."""

    keys: NDArray[np.uint64]
    ids: list[str] | None


@dataclass(frozen=True, eq=False)
class Fetcher:
    """Who knows in which part every node is."""

    crew: Crew
    parts: Sequence[Part]
    shape: Shape
    nodes: Nodes

    def frame(self, wanted: Ints, tell: Tell = _no_report) -> pd.DataFrame:
        """Return the cells of some nodes, in their order."""
        items, at = self._places(wanted)
        frames: dict[int, pd.DataFrame] = {}
        for i, frame in self.crew.each(_fetch, items, self.shape, n_items=len(items), tell=tell):
            frames[i] = frame
        whole = pd.concat([frames[i] for i in range(len(items))], ignore_index=True)
        return whole.iloc[np.argsort(at, kind="stable")].reset_index(drop=True)

    def names(self, wanted: Ints, label: str, id: str | None, words: frozenset[str]) -> Names:
        """Return keys and ids of some nodes, in their order."""
        items, at = self._places(wanted)
        found: dict[int, tuple[NDArray[np.uint64], list[str]]] = {}
        for i, names in self.crew.each(_name, items, self.shape, label, id, words):
            found[i] = names
        order = np.argsort(at, kind="stable")
        nothing = np.zeros(0, dtype=np.uint64)
        keys = np.concatenate([nothing, *(found[i][0] for i in range(len(items)))])[order]
        if id is None:
            return Names(keys, None)
        ids = [text for i in range(len(items)) for text in found[i][1]]
        return Names(keys, [ids[i] for i in order.tolist()])

    def _places(self, wanted: Ints) -> tuple[list[tuple[Part, Ints]], Ints]:
        """Return the rows of each part that are wanted, and the place of each among those wanted."""
        place = np.full(self.nodes.n_rows, -1, dtype=np.int32)
        place[wanted] = np.arange(len(wanted), dtype=np.int32)
        items, at = [], []
        for part in self.parts:
            own = place[self.nodes.of_part(part)]
            rows = np.flatnonzero(own >= 0)
            if rows.size:
                items.append((part, rows))
                at.append(own[rows])
        return items, np.concatenate(at).astype(np.int64) if at else np.zeros(0, dtype=np.int64)


def _fetch(part: Part, rows: Ints, shape: Shape) -> pd.DataFrame:
    return read_part(part, shape).iloc[rows].reset_index(drop=True)


def _name(
    part: Part, rows: Ints, shape: Shape, label: str, id: str | None, words: frozenset[str]
) -> tuple[NDArray[np.uint64], list[str]]:
    frame = read_part(part, shape).iloc[rows]
    keys = row_keys(frame, label, words)
    if id is None:
        return keys, []
    number, texts = texts_of(frame[id], "")
    return keys, [texts[i] for i in number.tolist()]
