"""The densest part of a network
=============================

The densest subgraph: the group of nodes with the most edges per node, and all the layers around it.

For a price p per node, the best group maximises (edges inside) - p * (nodes). The edges inside a group are
half of its degrees minus half of the edges that leave it, so the best group is a minimum cut with cost
-degree / 2 + p per node and half of each edge's weight as capacity. With t = -p every price is covered by
one parametric cut: the nodes that join first are the densest subgraph, and -join_at is the density of the
layer that each node lies in.

Run ``python examples/densest_subgraph.py``, with a file name as argument for a picture.
"""

import sys

import numpy as np
from scipy import sparse

from labelcut.cut import parametric_cut


def layer_density(edges: sparse.sparray) -> np.ndarray:
    """Return, per node of a symmetric graph, the edges per node of the layer in which it lies."""
    degree = np.asarray(edges.sum(axis=1)).ravel()
    return -parametric_cut(edges / 2, -degree / 2, np.ones(degree.size)).join_at


def graph_with_a_club(n_nodes: int = 60, n_members: int = 12, seed: int = 1) -> sparse.csr_array:
    """Return a random graph in which the first nodes know each other better than the rest do."""
    rng = np.random.default_rng(seed)
    chance = np.full((n_nodes, n_nodes), 0.06)
    chance[:n_members, :n_members] = 0.8
    upper = np.triu(rng.random(chance.shape) < chance, 1)
    return sparse.csr_array((upper | upper.T).astype(float))


def main() -> None:
    """Find the club and print it."""
    edges = graph_with_a_club()
    density = layer_density(edges)
    is_densest = np.isclose(density, density.max())
    n_inside = edges[is_densest][:, is_densest].sum() / 2
    print(f"whole graph: {edges.sum() / 2 / density.size:.3f} edges per node")
    print(f"densest:     {density.max():.3f} edges per node ({n_inside:.0f} edges, {is_densest.sum()} nodes)")
    print("its nodes:  ", *np.flatnonzero(is_densest))
    if len(sys.argv) > 1:
        draw(edges, density, sys.argv[1])


def draw(edges: sparse.csr_array, density: np.ndarray, file: str) -> None:
    """Save a picture with the nodes on circles, denser layers farther in."""
    import matplotlib.pyplot as plt

    order = np.argsort(-density, kind="stable")
    radius, angle = np.empty(density.size), np.empty(density.size)
    radius[order] = np.sqrt((np.arange(density.size) + 1) / density.size)
    angle[order] = np.arange(density.size) * np.pi * (3 - 5**0.5)
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    figure, axis = plt.subplots(figsize=(4.6, 3.6), layout="constrained")
    upper = sparse.triu(edges).tocoo()
    axis.plot(x[[upper.row, upper.col]], y[[upper.row, upper.col]], color="0.8", linewidth=0.6, zorder=1)
    nodes = axis.scatter(x, y, c=density, cmap="viridis", s=40, zorder=2)
    figure.colorbar(nodes, label="edges per node of its layer")
    axis.set_aspect("equal")
    axis.axis("off")
    figure.savefig(file, dpi=100)


if __name__ == "__main__":
    main()
