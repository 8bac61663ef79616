"""A number for every row that depends on its content alone: the node of the graph, and the order of all work.

Rows are numbered by a hash of their cells, label included; equal rows, which nothing tells apart, by how many
of them came before. So the first nodes are a random sample of the table, whatever order or parts it came in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labelcut.arrays import Ints
from labelcut.large.beside import Sides
from labelcut.large.parts import Part, Shape, read_part
from labelcut.large.scan import Wanted, texts_of
from labelcut.table.label_column import without_marks
from labelcut.table.row_keys import mixed, row_keys

__all__ = ["Known", "Nodes", "PartKeys", "key_part", "number_rows"]

#: An odd number by which copies of a row are told apart.
COPY = np.uint64(0x9E3779B97F4A7C15)

#: A class that would have fewer sampled rows than this is sampled whole.
FEWEST_SAMPLED = 50


@dataclass(frozen=True)
class Known:
    """What the scan found that a row's key and codes need."""

    wanted: Wanted
    class_of: Mapping[str, int]
    groups: Mapping[str, int]
    words: frozenset[str]
    decided: frozenset[str] = frozenset()
    sides: Sides = Sides()


@dataclass(frozen=True, eq=False)
class PartKeys:
    """The rows of one part: key with label, class and group number; and rows that decisions may be about.

    `n_dimensions` is how long the vectors of its rows are, 0 without any.
    """

    keys: NDArray[np.uint64]
    codes: NDArray[np.int16]
    groups: NDArray[np.int32]
    chosen: pd.DataFrame | None
    n_dimensions: int = 0


@dataclass(frozen=True, eq=False)
class Nodes:
    """The rows of the table as nodes.

    Attributes
    ----------
    node : ndarray of int32 of shape (n_rows,)
        The node of each row of the table.
    codes : ndarray of int64 of shape (n_rows,)
        The class number of each node, -1 without a label.
    groups : ndarray of int32 of shape (n_rows,)
        Its group; empty without groups.
    place : ndarray of int32 of shape (n_rows,)
        The first node that is equal to each node: it reports for all of them.
    """

    node: NDArray[np.int32]
    codes: Ints
    groups: NDArray[np.int32]
    place: NDArray[np.int32] = field(repr=False)

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return int(self.node.size)

    @property
    def rows(self) -> Ints:
        """The row of the table that each node is."""
        rows = np.empty(self.n_rows, dtype=np.int64)
        rows[self.node] = np.arange(self.n_rows)
        return rows

    def of_part(self, part: Part) -> NDArray[np.int32]:
        """Return the nodes of the rows of a part."""
        return self.node[part.first_row : part.first_row + part.n_rows]


def key_part(part: Part, shape: Shape, known: Known) -> PartKeys:
    """Return keys and codes of the rows of a part; what is known beside them is checked."""
    frame = read_part(part, shape)
    wanted = known.wanted
    labels = frame[wanted.label]
    if shape.source is not None and shape.source.has_marks:
        labels, _ = without_marks(labels, shape.source.missing)
    number, texts = texts_of(labels, "")
    codes = np.array([known.class_of.get(text, -1) for text in texts], dtype=np.int16)[number]
    content = row_keys(frame, wanted.label, known.words)
    salts = pd.util.hash_array(np.array(texts, dtype=object))
    beside = known.sides.of_part(frame, part)
    with np.errstate(over="ignore"):
        keys = mixed(content + salts[number] * COPY + known.sides.salt(beside))
    groups = np.zeros(0, dtype=np.int32)
    if wanted.group is not None:
        number, texts = texts_of(frame[wanted.group], "(missing)")
        groups = np.array([known.groups[text] for text in texts], dtype=np.int32)[number]
    n_dimensions = 0 if beside.embedding is None else beside.embedding.shape[1]
    return PartKeys(keys, codes, groups, _chosen(frame, part, content, known), n_dimensions)


def number_rows(parts: Sequence[PartKeys], n_sampled: int) -> Nodes:
    """Return a number for every row; rows of classes that such a sample would hardly hold come first."""
    codes_by_row = np.concatenate([part.codes for part in parts])
    counts = np.bincount(codes_by_row[codes_by_row >= 0])
    is_rare = np.append(
        counts * n_sampled < FEWEST_SAMPLED * codes_by_row.size, False
    )  # the last is -1: no label
    keys = np.concatenate([part.keys for part in parts])
    order = np.argsort(keys, kind="stable")
    in_order = keys[order]
    is_new = np.ones(keys.size, dtype=bool)
    is_new[1:] = in_order[1:] != in_order[:-1]
    first = np.maximum.accumulate(np.where(is_new, np.arange(keys.size), 0))
    if not is_new.all():
        with np.errstate(over="ignore"):
            copies = (np.arange(keys.size) - first).astype(np.uint64)
            in_order = np.where(copies > 0, mixed(in_order + copies * COPY), in_order)
    by_copy = np.argsort(in_order, kind="stable")
    if n_sampled < keys.size and is_rare.any():
        is_later = ~is_rare[codes_by_row[order][by_copy]]
        by_copy = by_copy[np.argsort(is_later, kind="stable")]
    rank = np.empty(keys.size, dtype=np.int32)
    rank[by_copy] = np.arange(keys.size, dtype=np.int32)
    node = np.empty(keys.size, dtype=np.int32)
    node[order] = rank
    place = np.empty(keys.size, dtype=np.int32)
    # The lowest node of equal rows stands for all of them.
    lowest = np.minimum.reduceat(rank, np.flatnonzero(is_new)) if keys.size else rank
    place[rank] = lowest[np.cumsum(is_new) - 1]
    codes = np.empty(keys.size, dtype=np.int64)
    codes[node] = codes_by_row
    groups = np.concatenate([part.groups for part in parts])
    if groups.size:
        by_node = np.empty_like(groups)
        by_node[node] = groups
        groups = by_node
    return Nodes(node, codes, groups, place)


def _chosen(frame: pd.DataFrame, part: Part, content: np.ndarray, known: Known) -> pd.DataFrame | None:
    """Return the rows that decisions name by id or by key, with their number and key."""
    if not known.decided:
        return None
    is_named = np.isin(content, np.array([int(k, 16) for k in _keys(known.decided)], dtype=np.uint64))
    names = [known.wanted.label]
    if known.wanted.id is not None:
        number, texts = texts_of(frame[known.wanted.id], "")
        is_named |= np.array([f"id {text}" in known.decided for text in texts])[number]
        names.append(known.wanted.id)
    rows = np.flatnonzero(is_named)
    found = frame[names].iloc[rows].reset_index(drop=True)
    return found.assign(**{"\0row": part.first_row + rows, "\0key": content[rows]})


def _keys(decided: frozenset[str]) -> list[str]:
    return [name for name in decided if not name.startswith("id ")]
