"""DataSet -> Task: which rows keep a label, and which of those labels are wrong.

One seed decides everything. The split depends on the data set, the test share and the seed; the flips on
the same three and the kind of noise. So a run can be repeated alone, methods meet the same rows and the same
wrong labels, and the wrong labels at 20 % are among those at 30 % (but for a bad group, which grows).
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from labelcut.experiments.data import Codes, DataSet, Matrix
from labelcut.experiments.loading import load
from labelcut.experiments.noise_kinds import KINDS, UNIFORM, Truth

UNLABELED = -1
FEWEST_LABELS = 5
"""Rows of each class that keep their label, however few are labeled."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Task:
    """What a method gets (`X`, `given`) and what it is measured by (`truth`, `is_wrong`)."""

    name: str
    X: Matrix
    """Every column with mean 0 and standard deviation 1 over all rows, labeled or not."""
    given: Codes
    """The given label, 0, 1, ..., possibly wrong; -1 in unlabeled rows."""
    truth: Codes
    is_wrong: Mask
    """Labeled rows whose given label is not the true one."""
    noise: tuple[float, float]
    """Share of flipped labels among the true negatives and among the true positives."""
    n_classes: int = 2

    @property
    def is_labeled(self) -> Mask:
        """Rows that carry a label; the others are the test rows."""
        return np.not_equal(self.given, UNLABELED)


def seed_of(*parts: object) -> int:
    """Turn words and numbers into one seed, the same on every machine."""
    return zlib.crc32("|".join(map(str, parts)).encode())


def split_rows(n_rows: int, test_share: float, seed: int) -> Mask:
    """Mark the labeled rows; ceil(test_share * n_rows) rows are left out, as in the printed tables."""
    n_test = math.ceil(round(test_share * n_rows, 9))
    if not 0 < n_test < n_rows:
        raise ValueError(f"test_share={test_share} of {n_rows} rows leaves no labeled or no test row.")
    is_labeled = np.ones(n_rows, dtype=bool)
    is_labeled[np.random.default_rng(seed).permutation(n_rows)[:n_test]] = False
    return is_labeled


def label_few(is_labeled: Mask, y: Codes, seed: int) -> Mask:
    """Label further rows of each class that has fewer than five labeled ones, as far as it has rows."""
    completed = is_labeled.copy()
    for code in np.unique(y):
        missing = FEWEST_LABELS - int((is_labeled & (y == code)).sum())
        if missing > 0:
            others = np.flatnonzero(~is_labeled & (y == code))
            completed[np.random.default_rng([seed, code]).permutation(others)[:missing]] = True
    return completed


def standardize(X: Matrix) -> Matrix:
    """Bring every column to mean 0 and standard deviation 1; constant columns become 0."""
    deviation = X.std(axis=0)
    scaled: Matrix = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    return scaled


def make_task(
    data: str | DataSet,
    *,
    noise: float | tuple[float, float],
    test_share: float = 0.3,
    seed: int = 0,
    kind: str = UNIFORM,
) -> Task:
    """Hide the labels of the test rows and make some of the others wrong.

    Parameters
    ----------
    data : str or DataSet
        A name that `labelcut.experiments.loading.load` understands, or the data set itself.
    noise : float or (float, float)
        Share of wrong labels; a pair gives the negatives' and the positives' share (of more classes: the even
        and the odd ones').
    test_share : float, default=0.3
        Share of unlabeled rows. The paper says 0.2, its printed numbers say 0.3.
    seed : int, default=0
        Decides split and flips.
    kind : str, default="uniform"
        Which labels are wrong, one of `KINDS`.
    """
    data = load(data, seed) if isinstance(data, str) else data
    shares = (noise, noise) if isinstance(noise, int | float) else (noise[0], noise[1])
    if not all(0 <= share <= 1 for share in shares):
        raise ValueError(f"noise={noise}; both shares must lie between 0 and 1.")
    if kind not in KINDS:
        raise ValueError(f"no kind of noise {kind!r}; choose one of {', '.join(KINDS)}.")
    split_seed = seed_of("split", data.name, test_share, seed)
    is_labeled = label_few(split_rows(len(data.y), test_share, split_seed), data.y, split_seed)
    X, labeled = standardize(data.X), np.flatnonzero(is_labeled)
    which = () if kind == UNIFORM else (kind,)
    flip_seed = seed_of("flip", data.name, test_share, seed, *which)
    given = np.full(len(data.y), UNLABELED, dtype=np.int64)
    given[labeled] = KINDS[kind](Truth(X, data.y, labeled, data.n_classes), shares, flip_seed)
    is_wrong = is_labeled & (given != data.y)
    return Task(data.name, X, given, data.y, is_wrong, shares, data.n_classes)
