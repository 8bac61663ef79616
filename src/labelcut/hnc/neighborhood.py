"""Who is whose neighbour, where a user says so: by an embedding, or by distances found elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from labelcut.arrays import Floats
from labelcut.graph import SimilarityGraph, graph_from_distances

__all__ = [
    "check_same_parts",
    "columns_instead",
    "count_rows",
    "distance_traits",
    "join_by_distances",
    "read_distances",
    "read_embedding",
]

#: No opinion counts as surer than this where opinions stand for columns: its logarithm would drown the rest.
LEAST_SHARE = 1e-4


def read_embedding(embedding: Any, n_rows: int | None) -> Floats | None:
    """Return an embedding as a matrix of finite numbers, one line per row; None if there is none.

    Parameters
    ----------
    embedding : array-like of shape (n_rows, n_dimensions), or None
    n_rows : int or None
        The number of rows it has to have; None if any will do.
    """
    if embedding is None:
        return None
    values = np.asarray(embedding, dtype=np.float64)
    if values.ndim != 2 or 0 in values.shape or (n_rows is not None and len(values) != n_rows):
        wanted = "one line" if n_rows is None else f"{n_rows} lines, one"
        raise ValueError(
            f"embedding has shape {values.shape}; give {wanted} per row, and one column per dimension."
        )
    if not np.isfinite(values).all():
        i, h = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"embedding[{i}, {h}] is {values[i, h]}; every row needs finite numbers.")
    return values


def read_distances(graph: Any, n_rows: int) -> sparse.csr_array[Any, Any] | None:
    """Return given distances as sorted CSR without self-loops; None if there are none.

    Parameters
    ----------
    graph : sparse matrix or array of shape (n_rows, n_rows), or None
        As made by ``KNeighborsTransformer`` with ``mode="distance"`` or as Datalab's ``knn_graph``.
    n_rows : int
    """
    if graph is None:
        return None
    if not sparse.issparse(graph):
        raise TypeError(
            f"graph is a {type(graph).__name__}; give a scipy sparse matrix of distances, such as "
            "sklearn.neighbors.kneighbors_graph(X, 15, mode='distance')."
        )
    given: Any = graph
    edges = sparse.csr_array(given).tocoo()
    if edges.shape != (n_rows, n_rows):
        raise ValueError(f"graph has shape {edges.shape}; give one row and one column per row: {n_rows}.")
    bad = np.flatnonzero(~(np.isfinite(edges.data) & (edges.data >= 0)))
    if bad.size:
        i, j, value = edges.row[bad[0]], edges.col[bad[0]], edges.data[bad[0]]
        raise ValueError(f"graph[{i}, {j}] is {value}; distances are finite numbers >= 0.")
    is_other = edges.row != edges.col
    if not is_other.any():
        raise ValueError("graph joins no row to another one; give the distances to some nearest rows.")
    kept: Any = (edges.data[is_other].astype(np.float64), (edges.row[is_other], edges.col[is_other]))
    found = sparse.csr_array(kept, shape=(n_rows, n_rows))
    found.sort_indices()
    return found


def distance_traits(distances: sparse.csr_array[Any, Any]) -> list[Floats]:
    """Return numbers by which rows differ in a graph, whatever order its rows came in: count, least, sum."""
    lines = np.split(distances.data, distances.indptr[1:-1])
    least = [line.min() if line.size else -1.0 for line in lines]
    total = [np.sort(line).sum() for line in lines]
    return [np.diff(distances.indptr).astype(np.float64), np.array(least), np.array(total)]


def join_by_distances(
    distances: sparse.csr_array[Any, Any], *, n_neighbors: int | None, **how: Any
) -> SimilarityGraph:
    """Return the similarity graph of given distances, which are measured in their median.

    What distances mean is not known, so the median one counts as 1: the bandwidth is a share of it.

    Parameters
    ----------
    distances : csr_array of shape (n_rows, n_rows)
    n_neighbors : int or None
        Keep so many nearest of each row; None keeps all that are given.
    **how
        ``bandwidth``, ``kernel``, ``one_sided`` of :func:`labelcut.graph.graph_from_distances`.
    """
    usual = float(np.median(distances.data)) or 1.0
    measured = sparse.csr_array((distances.data / usual, distances.indices, distances.indptr))
    measured.resize(distances.shape)
    return graph_from_distances(measured, n_neighbors=n_neighbors, **how)


def columns_instead(embedding: Floats | None, opinions: Mapping[str, Floats]) -> Floats:
    """Return what stands for the columns where there is no X.

    That is the embedding or, without one, the opinions as centred log-probabilities: then rows are alike if
    the same is said about them.
    """
    if embedding is not None:
        return embedding
    if not opinions:
        raise ValueError(
            "X is None, so nothing is known about the rows; give X, embedding=E (one line per row), or "
            "opinions={'mine': probabilities}."
        )
    logs = [np.log(np.maximum(opinion, LEAST_SHARE)) for opinion in opinions.values()]
    return np.hstack([values - values.mean(axis=1, keepdims=True) for values in logs])


def check_same_parts(had_X: bool, had_embedding: Floats | None, X: Any, embedding: Any) -> None:
    """Refuse to judge new rows by other parts than those that ``fit`` was given."""
    if had_X and X is None:
        raise ValueError("X is None, but fit was given an X; pass that of the new rows, too.")
    if X is not None and not had_X:
        raise ValueError("fit had X=None; pass None for the new rows, too.")
    if had_embedding is None and embedding is not None:
        raise ValueError("fit was given no embedding; leave it out, or fit with one.")
    if had_embedding is not None and embedding is None:
        raise ValueError("fit was given an embedding; pass that of the new rows, too: embedding=...")
    if had_embedding is not None and np.ndim(embedding) == 2:
        n_new, n_old = np.shape(embedding)[1], had_embedding.shape[1]
        if n_new != n_old:
            raise ValueError(f"embedding has {n_new} columns, but that of fit had {n_old}.")


def count_rows(opinions: Any) -> int:
    """Return of how many rows the first opinion speaks; 0 if there is none."""
    is_some = isinstance(opinions, Mapping) and len(opinions) > 0
    return len(next(iter(opinions.values()))) if is_some else 0
