"""Cross-validation of tables in which some rows have no label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcut.hnc.folds import deal_folds
from labelcut.hnc.labels import read_labels

__all__ = ["PartlyLabeledKFold"]


class PartlyLabeledKFold:
    """Split labeled rows into folds, each class evenly; unlabeled rows are always in training.

    A plain splitter would take -1 for a class and score predictions against it.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    random_state : int, RandomState or None, default=0
        Decides which row goes into which fold.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcut.model_selection import PartlyLabeledKFold
    >>> y = np.array([0, 1, -1, 0, 1, -1])
    >>> for train, test in PartlyLabeledKFold(2).split(np.zeros((6, 1)), y):
    ...     print(y[train], y[test])
    [ 0 -1  1 -1] [1 0]
    [ 1 -1  0 -1] [0 1]
    """

    def __init__(self, n_splits: int = 5, *, random_state: Any = 0) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def split(
        self, X: Any, y: Any, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the row numbers for training and for testing of each fold."""
        labels = read_labels(y, len(y))
        if not 2 <= self.n_splits <= labels.n_labeled:
            raise ValueError(
                f"n_splits={self.n_splits}, but {labels.n_labeled} rows are labeled; choose from 2 to that "
                "number."
            )
        fold = deal_folds(labels.codes, self.n_splits, self.random_state)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)
