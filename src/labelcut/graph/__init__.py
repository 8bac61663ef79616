"""A matrix -> the weighted graph that joins each row to its nearest rows."""

from labelcut.graph.nearest import Neighbors, neighbors
from labelcut.graph.similarity import (
    SimilarityGraph,
    graph_from_distances,
    kernel_weights,
    similarity_graph,
)

__all__ = [
    "Neighbors",
    "SimilarityGraph",
    "graph_from_distances",
    "kernel_weights",
    "neighbors",
    "similarity_graph",
]
