"""Lists of nearest rows -> the similarity graph, in the very files of the spill folder that hold them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

import labelcut.graph.compiled as compiled
from labelcut.graph import SimilarityGraph
from labelcut.graph.bounds import in_chunks
from labelcut.graph.similarity import KERNELS
from labelcut.large.neighbors import NearestLists
from labelcut.large.spill import Spill

__all__ = ["join"]


def join(lists: NearestLists, spill: Spill, n_features: int, how: dict[str, Any]) -> SimilarityGraph:
    """Weigh the lists and make them symmetric.

    Parameters
    ----------
    lists : NearestLists
        In the arrays ``columns`` and ``weights`` of the spill folder; they are used up.
    spill : Spill
    n_features : int
        Columns in which distances were measured.
    how : dict
        ``n_neighbors``, ``bandwidth``, ``kernel`` and ``one_sided`` of `labelcut.graph.similarity_graph`.
    """
    weigh = KERNELS[how["kernel"]]
    n_rows, k = lists.index.shape
    for chunk in in_chunks(n_rows):
        away = lists.distance[chunk].astype(np.float64)
        lists.distance[chunk] = weigh(away, how["bandwidth"], n_features)
    counts = (lists.index >= 0).sum(axis=1)
    starts = np.append(0, np.cumsum(counts))
    column, weight = lists.index.reshape(-1), lists.distance.reshape(-1)
    if starts[-1] < column.size:
        _close_up(column, weight, k)
    new_starts = np.empty_like(starts)
    core = compiled.in_use
    core.prepare_symmetry(starts, column[: starts[-1]], weight[: starts[-1]], new_starts)
    room = max(int(new_starts[-1]), column.size)
    column, weight = spill.grown("columns", np.int32, (room,)), spill.grown("weights", np.float32, (room,))
    core.symmetrise(starts, column, weight, how["one_sided"] == "half", new_starts)
    end = int(new_starts[-1])
    weights = sparse.csr_array((n_rows, n_rows), dtype=np.float32)
    # Set one by one: the constructor would copy the columns into the type of the starts.
    kind = np.int32 if end <= np.iinfo(np.int32).max else np.int64
    weights.data, weights.indices, weights.indptr = weight[:end], column[:end], new_starts.astype(kind)
    return SimilarityGraph(weights, how["n_neighbors"], float(how["bandwidth"]), how["kernel"], lists.recall)


def _close_up(column: np.ndarray, weight: np.ndarray, k: int) -> None:
    """Move lists together where some are shorter than k."""
    to = 0
    for chunk in in_chunks(column.size // k):
        part = slice(chunk.start * k, min(chunk.stop * k, column.size))
        is_there = column[part] >= 0
        kept, heavy = column[part][is_there], weight[part][is_there]
        column[to : to + kept.size], weight[to : to + kept.size] = kept, heavy
        to += kept.size
