"""A matrix -> the weighted graph that joins each row to its nearest rows."""

from labelcut.graph.nearest import NeighborIndex, Neighbors, build_index, neighbors
from labelcut.graph.similarity import (
    SimilarityGraph,
    graph_from_distances,
    similarity_graph,
    similarity_to,
)

__all__ = [
    "NeighborIndex",
    "Neighbors",
    "SimilarityGraph",
    "build_index",
    "graph_from_distances",
    "neighbors",
    "similarity_graph",
    "similarity_to",
]
