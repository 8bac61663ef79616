"""DataSet -> Task: which rows keep a label, and which of those labels are wrong.

One seed decides everything. The split depends on the data set, the test share and the seed; the flips on
the same three. So a run can be repeated alone, methods meet the same rows and the same wrong labels, and
the wrong labels at 20 % are among those at 30 %.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from labelcut.experiments.data import Codes, DataSet, Matrix, load

UNLABELED = -1

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Task:
    """What a method gets (`X`, `given`) and what it is measured by (`truth`, `is_wrong`)."""

    name: str
    X: Matrix
    """Every column with mean 0 and standard deviation 1 over all rows, labeled or not."""
    given: Codes
    """The given label, 0 or 1, possibly wrong; -1 in unlabeled rows."""
    truth: Codes
    is_wrong: Mask
    """Labeled rows whose given label is not the true one."""
    noise: tuple[float, float]
    """Share of flipped labels among the true negatives and among the true positives."""

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


def flip_labels(truth: Codes, is_labeled: Mask, noise: tuple[float, float], seed: int) -> Mask:
    """Choose exactly the share ``noise[c]`` of the labeled rows of each class c, rounded to whole rows."""
    if not all(0 <= share <= 1 for share in noise):
        raise ValueError(f"noise={noise}; both shares must lie between 0 and 1.")
    is_wrong = np.zeros(len(truth), dtype=bool)
    for code, share in enumerate(noise):
        rows = np.flatnonzero(is_labeled & (truth == code))
        order = np.random.default_rng([seed, code]).permutation(len(rows))
        is_wrong[rows[order[: round(share * len(rows))]]] = True
    return is_wrong


def standardize(X: Matrix) -> Matrix:
    """Bring every column to mean 0 and standard deviation 1; constant columns become 0."""
    deviation = X.std(axis=0)
    scaled: Matrix = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    return scaled


def make_task(
    data: str | DataSet, *, noise: float | tuple[float, float], test_share: float = 0.3, seed: int = 0
) -> Task:
    """Hide the labels of the test rows and flip some of the others.

    Parameters
    ----------
    data : str or DataSet
        A name that `labelcut.experiments.data.load` understands, or the data set itself.
    noise : float or (float, float)
        Share of wrong labels in each class; a pair gives the negatives' and the positives' share.
    test_share : float, default=0.3
        Share of unlabeled rows. The paper says 0.2, its printed numbers say 0.3.
    seed : int, default=0
        Decides split and flips.
    """
    data = load(data) if isinstance(data, str) else data
    shares = (noise, noise) if isinstance(noise, int | float) else (noise[0], noise[1])
    is_labeled = split_rows(len(data.y), test_share, seed_of("split", data.name, test_share, seed))
    is_wrong = flip_labels(data.y, is_labeled, shares, seed_of("flip", data.name, test_share, seed))
    given = np.where(is_wrong, 1 - data.y, data.y)
    given[~is_labeled] = UNLABELED
    return Task(data.name, standardize(data.X), given, data.y, is_wrong, shares)
