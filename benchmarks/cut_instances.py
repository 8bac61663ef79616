"""The graphs the cut is timed on: neighbour graphs of tables, with labels of which one in five is wrong.

Two kinds of problem come from each graph. Kind P yields the confidence of the positive labels: rows labeled
negative are sink seeds, everything else is free, and the slope is the degree. Kind C yields the classes: all
rows are free, a labeled row pays a finite penalty on the other side than its label, and only unlabeled rows
have a slope.
"""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import make_classification

from labelcut.cut import parametric_cut

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "labelcut-bench"
DATA = Path(os.environ.get("LABELCUT_DATA", Path(__file__).parents[2] / "shared/data/raw"))

SYNTHETIC = {"10k": 10_000, "100k": 100_000, "1M": 1_000_000}
NAMES = ("Letter", "Adult", *SYNTHETIC)

N_NEIGHBORS = 10
BANDWIDTH = 0.5  # the paper's value from 10 000 rows on
SHARE_LABELED, SHARE_WRONG = 0.7, 0.2
EXACT_UP_TO = 150_000  # rows; above it an inverted file finds the neighbours


@dataclass(frozen=True)
class Instance:
    """A parametric cut problem as plain arrays, seeds already folded into the costs."""

    name: str
    kind: str
    capacities: sparse.csr_array
    cost: np.ndarray
    slope: np.ndarray

    @property
    def tradeoff(self) -> float:
        """The trade-off of the one cut that serves as yardstick."""
        return float(self.cost.sum() / self.slope.sum())

    def save(self, path: Path) -> None:
        """Write the arrays; a half-written file never has the final name."""
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished.npz")
        np.savez(
            unfinished,
            indptr=self.capacities.indptr,
            indices=self.capacities.indices,
            data=self.capacities.data,
            cost=self.cost,
            slope=self.slope,
        )
        unfinished.rename(path)


def is_available(name: str) -> bool:
    """Tell whether the raw table of an instance is at hand; synthetic ones always are."""
    return name in SYNTHETIC or (DATA / name.lower()).is_dir()


def instance_path(name: str, kind: str) -> Path:
    return CACHE / f"{name.lower()}_{kind}.npz"


def instance(name: str, kind: str) -> Instance:
    """Return an instance, built on the first call and read from the cache afterwards."""
    path = instance_path(name, kind)
    if not path.exists():
        X, y = _table(name)
        weights, given = _neighbor_graph(X), _given_labels(y)
        for built in (_kind_p(name, weights, given), _kind_c(name, weights, given)):
            built.save(instance_path(name, built.kind))
    with np.load(path) as saved:
        n = saved["cost"].size
        capacities = sparse.csr_array((saved["data"], saved["indices"], saved["indptr"]), shape=(n, n))
        return Instance(name, kind, capacities, saved["cost"], saved["slope"])


def _kind_p(name: str, weights: sparse.csr_array, given: np.ndarray, label: int = 1) -> Instance:
    is_free = given != 1 - label
    to_seeds = weights @ (~is_free).astype(float)
    return Instance(name, "P", weights[is_free][:, is_free], to_seeds[is_free], _degree(weights)[is_free])


def _kind_c(name: str, weights: sparse.csr_array, given: np.ndarray) -> Instance:
    penalty = N_NEIGHBORS * weights.data.mean() * _confidence(weights, given)
    cost = np.choose(given + 1, [np.zeros(given.size), penalty, -penalty])
    return Instance(name, "C", weights, cost, np.where(given == -1, _degree(weights), 0.0))


def _confidence(weights: sparse.csr_array, given: np.ndarray) -> np.ndarray:
    """Return, per labeled row, the share of rows that leave the other class's seeds no later than it does."""
    confidence = np.zeros(given.size)
    for label in (0, 1):
        free = _kind_p("", weights, given, label)
        join_at = parametric_cut(free.capacities, free.cost, free.slope, n_jobs=-1).join_at
        n_earlier = np.searchsorted(np.sort(join_at), join_at, side="left")
        is_own = given == label
        confidence[is_own] = (1 - n_earlier / join_at.size)[is_own[given != 1 - label]]
    return confidence


def _given_labels(y: np.ndarray) -> np.ndarray:
    """Return 0 or 1 for labeled rows, some of them wrong, and -1 for unlabeled ones."""
    rng = np.random.default_rng(1)
    is_labeled, is_wrong = rng.random(y.size) < SHARE_LABELED, rng.random(y.size) < SHARE_WRONG
    return np.where(is_labeled, np.where(is_wrong, 1 - y, y), -1)


def _degree(weights: sparse.csr_array) -> np.ndarray:
    return np.asarray(weights.sum(axis=1)).ravel()


def _neighbor_graph(X: np.ndarray) -> sparse.csr_array:
    """Join rows to their nearest rows by a Gaussian weight; a one-sided choice counts half."""
    import faiss

    sd = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    n_rows, n_features = X.shape
    X32 = np.ascontiguousarray(X, dtype=np.float32)
    if n_rows <= EXACT_UP_TO:
        index = faiss.IndexFlatL2(n_features)
    else:
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(n_features), n_features, int(4 * n_rows**0.5))
        index.nprobe = 16
        index.train(X32[:: max(1, n_rows // 200_000)])
    index.add(X32)
    _, nearest = index.search(X32, N_NEIGHBORS + 1)

    row = np.arange(n_rows)[:, None]
    is_self = nearest == row
    is_self[~is_self.any(axis=1), -1] = True  # crowded out by equal rows: the last one makes room
    nearest = nearest[~is_self].reshape(n_rows, N_NEIGHBORS)
    squared = np.empty(nearest.shape)
    for k in range(N_NEIGHBORS):
        squared[:, k] = ((X - X[nearest[:, k]]) ** 2).sum(axis=1)
    weight = np.exp(-squared / (2 * BANDWIDTH**2 * n_features))
    one_way = sparse.coo_array(
        (weight.ravel(), (np.repeat(row, N_NEIGHBORS), nearest.ravel())), shape=(n_rows, n_rows)
    ).tocsr()
    both = ((one_way + one_way.T) / 2).tocsr()
    both.sort_indices()
    return both


def _table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features and true classes."""
    if name == "Letter":
        letters = np.loadtxt(DATA / "letter/letter-recognition.data", delimiter=",", dtype=str)
        return letters[:, 1:].astype(float), (letters[:, 0] <= "M").astype(int)
    if name == "Adult":
        return _adult()
    return make_classification(SYNTHETIC[name], n_features=20, random_state=0)


def _adult() -> tuple[np.ndarray, np.ndarray]:
    """Return the 45 222 complete rows: six numbers and 76 dummies; income above 50K is positive."""
    lines: list[str] = []
    for part in ("adult.data.gz", "adult.test.gz"):
        with gzip.open(DATA / "adult" / part, "rt") as file:
            lines += [line for line in file if line.count(",") == 14]
    cells = np.array([[cell.strip(" .\n") for cell in line.split(",")] for line in lines])
    numbers = [0, 2, 4, 10, 11, 12]
    words = [1, 5, 6, 7, 8, 9, 13]  # education (3) repeats education-num (4)
    dummies = [
        (cells[:, [column]] == np.setdiff1d(cells[:, column], ["?"])[1:]).astype(float) for column in words
    ]
    X = np.hstack([cells[:, numbers].astype(float), *dummies])
    is_complete = ~(cells == "?").any(axis=1)
    return X[is_complete], (cells[is_complete, 14] == ">50K").astype(int)
