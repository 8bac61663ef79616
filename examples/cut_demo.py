"""Two moons, half of them labeled
===============================

Find the wrong labels among two moons of points, half of them labeled and one label in five wrong.

Run ``python examples/cut_demo.py``, with a file name as argument for a picture.
"""

import sys

import numpy as np
from sklearn.datasets import make_moons

from labelcut.cut import CutPath, parametric_cut
from labelcut.graph import similarity_graph


def mislabeled_moons() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return points, the moon of each, the label given to each, and which points have a label at all."""
    X, moon = make_moons(400, noise=0.15, random_state=0)
    rng = np.random.default_rng(0)
    given = np.where(rng.random(400) < 0.2, 1 - moon, moon)
    return X, moon, given, rng.random(400) < 0.5


def separate(X: np.ndarray, given: np.ndarray, is_labeled: np.ndarray) -> CutPath:
    """Return the cuts that put like points, and points with the same label, on the same side."""
    graph = similarity_graph(X)
    cost = 4.0 * np.where(is_labeled, np.where(given == 0, -1, 1), 0)  # of a point on the side of moon 0
    return parametric_cut(graph.weights, cost, graph.degree)


def main() -> None:
    """Print what the cut at trade-off 0 found."""
    X, moon, given, is_labeled = mislabeled_moons()
    path = separate(X, given, is_labeled)
    found = np.where(path.source_side(0.0), 0, 1)
    is_wrong, is_flagged = is_labeled & (given != moon), is_labeled & (given != found)
    print(path)
    print(f"{np.mean(found == moon):.1%} of all points are on the side of their own moon")
    print(
        f"{(is_wrong & is_flagged).sum()} of {is_wrong.sum()} wrong labels found, {is_flagged.sum()} flagged"
    )
    if len(sys.argv) > 1:
        draw(X, given, is_labeled, found, sys.argv[1])


def draw(X: np.ndarray, given: np.ndarray, is_labeled: np.ndarray, found: np.ndarray, file: str) -> None:
    """Save the labels as given next to what was found."""
    import matplotlib.pyplot as plt

    color = np.array(["tab:blue", "tab:red"])
    figure, (before, after) = plt.subplots(1, 2, figsize=(7.2, 2.8), layout="constrained")
    before.scatter(*X[~is_labeled].T, color="0.8", s=10)
    before.scatter(*X[is_labeled].T, color=color[given[is_labeled]], s=14)
    before.set_title("given: half without a label, some wrong", fontsize=9)
    after.scatter(*X.T, color=color[found], s=10)
    is_flagged = is_labeled & (given != found)
    after.scatter(*X[is_flagged].T, facecolors="none", edgecolors="black", s=55)
    after.set_title("found: two sides, and the wrong labels (circles)", fontsize=9)
    for axis in (before, after):
        axis.set_xticks([])
        axis.set_yticks([])
    figure.savefig(file, dpi=90)


if __name__ == "__main__":
    main()
