"""Which blocks of a mine are worth digging
========================================

Open-pit mining: which blocks are worth digging out, for every price of the metal at once.

Digging out block i costs b_i and yields m_i units of metal; before it, the three blocks right above it have
to go. At price t the best pit minimises ``sum of b_i - t * m_i`` over the blocks it takes, without leaving
a block above any of them. An arc of large capacity from each block to those above it forbids just that: a
cut that pays for one costs more than all digging together. One parametric cut then gives the price at which
each block becomes worth digging, and the pits for rising prices lie inside each other like bowls.

Run ``python examples/open_pit.py``, with a file name as argument for a picture.
"""

import sys

import numpy as np
from scipy import sparse

from labelcut.cut import CutPath, parametric_cut


def blocks_above(n_levels: int, n_columns: int) -> np.ndarray:
    """Return all pairs (block, block above it that has to go first), numbered row by row from the top."""
    number = np.arange(n_levels * n_columns).reshape(n_levels, n_columns)
    pairs = []
    for shift in (-1, 0, 1):
        columns = np.arange(max(0, -shift), n_columns - max(0, shift))
        pairs.append(np.stack([number[1:, columns].ravel(), number[:-1, columns + shift].ravel()]))
    return np.concatenate(pairs, axis=1)


def nested_pits(cost: np.ndarray, metal: np.ndarray) -> CutPath:
    """Return the price from which on each block belongs to the best pit, as a path of cuts."""
    pairs = blocks_above(*cost.shape)
    forbidden = np.full(pairs.shape[1], 2 * cost.sum())
    above = sparse.coo_array((forbidden, pairs), shape=(cost.size, cost.size))
    return parametric_cut(above, cost.ravel(), metal.ravel(), t_min=0.0)


def ore_body(n_levels: int = 24, n_columns: int = 72, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return the cost and the metal of each block: deeper is dearer, and the ore lies in two lenses."""
    level, column = np.mgrid[:n_levels, :n_columns]
    cost = 1.0 + 0.05 * level
    near = np.exp(-(((level - 7) / 3) ** 2) - ((column - 20) / 7) ** 2)
    deep = np.exp(-(((level - 15) / 4) ** 2) - ((column - 48) / 9) ** 2)
    luck = np.random.default_rng(seed).gamma(2.0, 0.5, size=cost.shape)
    return cost, 1.5 * luck * (near + 1.4 * deep)


def main() -> None:
    """Print the best pit for a few prices."""
    cost, metal = ore_body()
    path = nested_pits(cost, metal)
    print(f"{path.breakpoints.size} different pits; the first pays from price {path.breakpoints[0]:.2f} on")
    for price in (3.0, 4.0, 6.0, 10.0):
        pit = path.source_side(price)
        print(f"price {price:4.1f}: {pit.sum():5d} blocks, profit {-path.value(price):8.1f}")
    if len(sys.argv) > 1:
        draw(path.join_at.reshape(cost.shape), metal, sys.argv[1])


def draw(price: np.ndarray, metal: np.ndarray, file: str) -> None:
    """Save a picture of the ore and the outlines of the pits."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
    axis.imshow(metal, cmap="Greys")
    lines = axis.contour(np.minimum(price, 1e3), levels=[3, 4, 6, 10], cmap="viridis", linewidths=1.5)
    axis.clabel(lines, fmt="price %g", fontsize=7)
    axis.set_xticks([])
    axis.set_ylabel("depth")
    axis.set_title("metal per block (grey) and the best pit at four prices", fontsize=9)
    figure.savefig(file, dpi=100)


if __name__ == "__main__":
    main()
