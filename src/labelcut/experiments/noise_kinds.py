"""Which labels are wrong, and how: four kinds of noise, for any number of classes.

Each kind gives the labels of the labeled rows, seeded. All but the annotator make exactly the asked share of
them wrong, to one row (per class, where the share is one of each class).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from labelcut.experiments.data import Codes, Matrix

Shares = tuple[float, float]
Rows = npt.NDArray[np.intp]

N_NEIGHBORS = 31
"""Rows around a row that say how ambiguous it is."""
LEAST_AMBIGUITY = 0.02
"""What a row in the midst of its own class counts, so that any share can be reached."""
TREE_DEPTH = 3
"""The weak annotator asks at most this many questions."""
BAD_SHARE = 0.5
"""Share of wrong labels in the bad group."""


@dataclass(frozen=True)
class Truth:
    """The rows to be labeled, among all rows with their true classes."""

    X: Matrix
    """Standardized columns of all rows."""
    y: Codes
    """True classes of all rows."""
    rows: Rows
    """The rows that get a label."""
    n_classes: int


def uniform(truth: Truth, noise: Shares, seed: int) -> Codes:
    """Give exactly the asked share of each class as another class, all others equally likely.

    A pair of different shares is one-sided noise: the second share of the rows of every odd class is given as
    the class before it (of two classes: positive rows as negative), the first of every even one as the class
    after it; the last class, if even, stays as it is.
    """
    given = truth.y.copy()
    of_labels = truth.y[truth.rows]
    for code in range(truth.n_classes):
        members = truth.rows[of_labels == code]
        order = np.random.default_rng([seed, code]).permutation(len(members))
        wrong = members[order[: round(noise[code % 2] * len(members))]]
        if noise[0] == noise[1]:
            given[wrong] = _another(truth.y[wrong], truth.n_classes, np.random.default_rng([seed, code, 1]))
        elif (code ^ 1) < truth.n_classes:
            given[wrong] = code ^ 1
    return given[truth.rows]


def border(truth: Truth, noise: Shares, seed: int) -> Codes:
    """Give exactly the asked share as the nearest other class, rows the likelier the more ambiguous they are.

    A row's ambiguity is 1 - |own share - largest other share| of the classes among its 31 nearest rows.
    """
    from sklearn.neighbors import NearestNeighbors

    k = min(N_NEIGHBORS, len(truth.y) - 1)
    nearest = NearestNeighbors(n_neighbors=k).fit(truth.X).kneighbors(return_distance=False)[truth.rows]
    shares = np.stack([np.mean(truth.y[nearest] == code, axis=1) for code in range(truth.n_classes)], axis=1)
    given, each = truth.y[truth.rows].copy(), np.arange(len(truth.rows))
    own = shares[each, given]
    shares[each, given] = -1.0
    ambiguity = 1 - np.abs(own - shares.max(axis=1))
    rng = np.random.default_rng(seed)
    # Rows drawn one after another in proportion to their weight: the largest of these keys.
    keys = np.log(ambiguity + LEAST_AMBIGUITY) + rng.gumbel(size=len(each))
    wrong = np.argsort(-keys, kind="stable")[: round(noise[0] * len(each))]
    by_chance = _another(given, truth.n_classes, rng)
    given[wrong] = np.where(shares.max(axis=1) > 0, shares.argmax(axis=1), by_chance)[wrong]
    return given


def annotator(truth: Truth, noise: Shares, seed: int) -> Codes:
    """Let a tree of depth 3 on half of the columns, fitted to the truth, label the asked share of the rows.

    Which rows, is drawn evenly. So many labels are wrong as the tree errs in its rows: fewer than asked, and
    told in the result line.
    """
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(seed)
    n_columns = truth.X.shape[1]
    columns = rng.permutation(n_columns)[: max(1, n_columns // 2)]
    tree = DecisionTreeClassifier(max_depth=TREE_DEPTH, random_state=seed % 2**32)
    tree.fit(truth.X[:, columns], truth.y)
    given = truth.y[truth.rows].copy()
    told = rng.permutation(len(given))[: round(noise[0] * len(given))]
    given[told] = tree.predict(truth.X[truth.rows[told]][:, columns])
    return given


def group(truth: Truth, noise: Shares, seed: int) -> Codes:
    """Put all wrong labels, exactly the asked share, into the rows at one end of a random direction.

    Half of the labels of that group are wrong, given as another class at random.
    """
    rng = np.random.default_rng(seed)
    along = truth.X[truth.rows] @ rng.normal(size=truth.X.shape[1])
    given = truth.y[truth.rows].copy()
    n_wrong = round(noise[0] * len(given))
    members = np.argsort(along, kind="stable")[: min(round(n_wrong / BAD_SHARE), len(given))]
    chance, another = rng.random(len(given)), _another(given, truth.n_classes, rng)
    wrong = members[np.argsort(chance[members], kind="stable")[:n_wrong]]
    given[wrong] = another[wrong]
    return given


def _another(codes: Codes, n_classes: int, rng: np.random.Generator) -> Codes:
    """Draw for each code one of the others."""
    shifted: Codes = (codes + rng.integers(1, n_classes, size=len(codes))) % n_classes
    return shifted


UNIFORM = "uniform"
KINDS: dict[str, Callable[[Truth, Shares, int], Codes]] = {
    UNIFORM: uniform,
    "border": border,
    "annotator": annotator,
    "group": group,
}
