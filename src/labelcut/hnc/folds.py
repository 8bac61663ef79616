"""Labeled rows dealt into folds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from labelcut.arrays import Ints, Mask
from labelcut.hnc.labels import UNLABELED
from labelcut.hnc.settings import Settings

__all__ = ["deal_folds", "hidden_folds"]


def deal_folds(codes: ArrayLike, n_folds: int, random_state: int | np.random.RandomState | None) -> Ints:
    """Return the fold of each labeled row (-1 for unlabeled ones), every class dealt out evenly.

    Unlike scikit-learn's splitter it accepts classes with fewer rows than folds.
    """
    rng = check_random_state(random_state)
    codes = np.asarray(codes)
    fold = np.full(codes.shape, -1, dtype=np.intp)
    rows = np.concatenate([rng.permutation(np.flatnonzero(codes == c)) for c in range(int(codes.max()) + 1)])
    # One deck for all classes: where one class ends in the round of folds, the next goes on.
    fold[rows] = np.arange(rows.size) % n_folds
    return fold


def hidden_folds(
    codes: Ints, settings: Settings, random_state: int | np.random.RandomState | None
) -> list[Mask]:
    """Return the rows to hide in each fold that is worth running; none if a class has a single label."""
    counts = np.bincount(codes[codes != UNLABELED])
    n_folds = min(settings.n_folds, int(counts.min()))
    if n_folds < 2:
        return []
    fold = deal_folds(codes, n_folds, random_state)
    n_enough = np.ceil(settings.enough_hidden * settings.n_folds / counts.sum())
    return [fold == k for k in range(int(np.clip(n_enough, 1, n_folds)))]
