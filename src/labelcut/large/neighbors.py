"""The nearest rows of all rows: each travels to its nearest cells, is looked up there, and lists are merged.

Cells are placed by the sample. A row goes to the cell whose center is nearest and, unless that is clearly
farther, to the next one as well; two rows find each other where they share a cell.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import labelcut.graph.compiled as compiled
from labelcut.arrays import Floats
from labelcut.graph import build_index
from labelcut.graph.nearest import share_found
from labelcut.hnc.columns import weight_columns
from labelcut.large.cluster import Crew
from labelcut.large.nodes import Nodes
from labelcut.large.parts import Part
from labelcut.large.sample import Preparation
from labelcut.large.spill import Spill

__all__ = ["Coarse", "NearestLists", "find_neighbors", "place_cells", "search_cell", "split_part"]

#: A row goes to the second nearest cell if its center is at most this many times as far away as the nearest.
SECOND_CELL = 1.2

#: Sampled rows whose true neighbours are looked for in all parts.
MEASURED_ROWS = 1000

#: Rounds in which the centers of the cells are placed, and sampled rows for each of them.
ROUNDS, ROWS_PER_CENTER = 8, 2000

Rows32 = NDArray[np.float32]
Ints32 = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Coarse:
    """The centers of the cells, the weights of the columns, and rows whose true neighbours are wanted.

    Distances are measured in the columns from `first` on.
    """

    centers: Floats
    importances: Floats
    measured: Rows32
    first: int = 0

    def near(self, X: Rows32) -> Rows32:
        """Return rows in the columns in which distances are measured."""
        return weight_columns(X[:, self.first :].astype(np.float64), self.importances).astype(np.float32)

    def cells_of(self, near: Rows32) -> Ints32:
        """Return the two cells of each row; the second is -1 where the nearest is clearly enough."""
        if len(self.centers) == 1:
            return np.tile(np.array([0, -1], dtype=np.int32), (len(near), 1))
        found = build_index(self.centers, method="exact").of(near, 2, 1)
        cells = found.index.copy()
        cells[found.distance[:, 1] > SECOND_CELL * found.distance[:, 0], 1] = -1
        return cells


@dataclass(frozen=True, eq=False)
class NearestLists:
    """The nearest rows of every node, -1 where there are fewer; and how many of the true ones were found."""

    index: Ints32
    distance: Rows32
    recall: float


def place_cells(X: Rows32, importances: Floats, n_rows: int, cell_rows: int, first: int = 0) -> Coarse:
    """Place the cells by the sampled rows: so many that each holds about `cell_rows`."""
    n_cells = max(1, round(n_rows / cell_rows))
    some = weight_columns(X[: n_cells * ROWS_PER_CENTER, first:].astype(np.float64), importances)
    n_cells = min(n_cells, len(np.unique(some, axis=0))) if len(some) < 1000 else n_cells
    centers = some[:n_cells].copy()
    for _ in range(ROUNDS if n_cells > 1 else 0):
        centers = np.unique(centers, axis=0)
        number = build_index(centers, method="exact").of(some, 1, 1).index[:, 0]
        count = np.bincount(number, minlength=len(centers))
        used = count > 0
        for h in range(centers.shape[1]):
            centers[used, h] = np.bincount(number, some[:, h], len(centers))[used] / count[used]
    coarse = Coarse(np.unique(centers, axis=0), importances, X[:0], first)
    return replace(coarse, measured=coarse.near(X[:MEASURED_ROWS]))


def split_part(
    part: Part, nodes: Ints32, preparation: Preparation, coarse: Coarse, k: int
) -> list[tuple[NDArray[np.generic], Rows32]]:
    """Return the rows of a part for each cell, and last the nearest of them to the measured rows."""
    near = coarse.near(preparation.of_part(part))
    cells = coarse.cells_of(near)
    pieces: list[tuple[NDArray[np.generic], Rows32]] = []
    for c in range(len(coarse.centers)):
        rows = np.flatnonzero((cells == c).any(axis=1))
        pieces.append((nodes[rows], near[rows]))
    n_found = min(k + 1, len(near))
    index = np.full((len(coarse.measured), k + 1), -1, dtype=np.int32)
    distance = np.full(index.shape, np.inf, dtype=np.float32)
    order = np.argsort(nodes)
    found = build_index(near[order], method="exact").of(coarse.measured, n_found, 1)
    index[:, :n_found], distance[:, :n_found] = nodes[order][found.index], found.distance
    return [*pieces, (index, distance)]


def search_cell(k: int, pieces: Sequence[tuple[Ints32, Rows32]]) -> tuple[Ints32, Ints32, Rows32]:
    """Return the nodes of a cell, and the nearest others of each of them inside it."""
    nodes = np.concatenate([nodes for nodes, _ in pieces])
    order = np.argsort(nodes, kind="stable")
    nodes = nodes[order]
    index = np.full((nodes.size, k), -1, dtype=np.int32)
    distance = np.full((nodes.size, k), np.inf, dtype=np.float32)
    n_found = min(k, nodes.size - 1)
    if n_found > 0:
        near = np.concatenate([rows for _, rows in pieces])[order]
        found = build_index(near, method="approximate").of_own_rows(n_found, 1)
        index[:, :n_found], distance[:, :n_found] = nodes[found.index], found.distance
    return nodes, index, distance


def find_neighbors(
    crew: Crew,
    parts: Sequence[Part],
    nodes: Nodes,
    preparation: Any,
    coarse: Coarse,
    k: int,
    spill: Spill,
    tell: Callable[[int, int], object],
) -> NearestLists:
    """Find the k nearest rows of every row, in arrays of the spill folder; `preparation` is shared."""
    core = compiled.in_use
    index = spill.array("columns", np.int32, (nodes.n_rows, k))
    distance = spill.array("weights", np.float32, (nodes.n_rows, k))
    index[:] = -1
    distance[:] = np.inf
    n_cells = len(coarse.centers)
    n_steps = len(parts) + 2 * n_cells
    items = [(part, nodes.of_part(part)) for part in parts]
    shared = (preparation, crew.share(coarse), k)
    held = crew.hold(split_part, items, *shared, tell=lambda done, _: tell(done, n_steps))
    truth = _merged(crew, held, n_cells, len(coarse.measured), k + 1)
    # Cells are taken one after the other, so that what is done with can be forgotten.
    cells = deque((k, crew.pick(held, c)) for c in range(n_cells))
    del held
    for _, (at, near, away) in crew.each(
        search_cell, _taken(cells), tell=lambda done, _: tell(len(parts) + 2 * done, n_steps)
    ):
        core.merge_nearest(at, near, away, index, distance)
    return NearestLists(index, distance, _recall(truth, index))


def _taken(items: deque[Any]) -> Iterator[Any]:
    """Yield items and forget them."""
    while items:
        yield items.popleft()


def _merged(crew: Crew, held: Sequence[object], which: int, n_lists: int, k: int) -> Ints32:
    """Return the nearest rows of the measured rows in all parts."""
    best = np.full((n_lists, k), -1, dtype=np.int32), np.full((n_lists, k), np.inf, dtype=np.float32)
    at = np.arange(n_lists, dtype=np.int32)
    for _, (index, distance) in crew.each(_as_found, [(piece,) for piece in crew.pick(held, which)]):
        compiled.in_use.merge_nearest(at, index, distance, *best)
    return best[0]


def _as_found(found: tuple[Ints32, Rows32]) -> tuple[Ints32, Rows32]:
    return found


def _recall(truth: Ints32, index: Ints32) -> float:
    """Return the share of the true neighbours that were found; the measured rows are the first nodes."""
    wanted = [line[line != i][: index.shape[1]] for i, line in enumerate(truth)]
    wanted = [line[line >= 0] for line in wanted]
    full = [i for i, line in enumerate(wanted) if line.size == index.shape[1]]
    if not full:
        return 1.0
    return share_found(np.array([wanted[i] for i in full]), index[full])
