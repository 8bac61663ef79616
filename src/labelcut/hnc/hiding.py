"""Which labels are hidden from whom: nobody judges a label that it has seen.

Labels are dealt into folds, on small tables several times. Each fold is a *task*: its labels are hidden, and
every expert is asked about its rows. What an expert thinks of a label is its mean over the tasks that hid it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labelcut.arrays import Floats, Ints, Mask
from labelcut.hnc.folds import deal_folds
from labelcut.hnc.labels import UNLABELED, count_folds

__all__ = ["Hiding", "deal_tasks", "task_seed"]

#: Small tables are cheap and shaky: folds are dealt again until about so many labels were judged in all, of
#: more than two classes once for each, ...
ENOUGH_JUDGEMENTS = 5000

#: ... but not more often than this.
MOST_DEALS = 7

#: From so many labels on two thirds of them teach as much as four fifths, and three folds will do.
MANY_LABELS, FOLDS_OF_MANY = 50_000, 3

#: So many hidden labels are enough to weigh a handful of experts and to read off how often labels are wrong.
ENOUGH_HIDDEN = 100_000


@dataclass(frozen=True, eq=False)
class Hiding:
    """The labels that each task hides.

    Attributes
    ----------
    masks : ndarray of bool of shape (n_tasks, n_rows)
        The rows whose labels are hidden. Unlabeled and held rows never are.
    n_folds : int
        Tasks of one deal; each deal hides every label that is judged once.
    """

    masks: Mask
    n_folds: int

    @property
    def is_judged(self) -> Mask:
        """The rows whose labels are hidden at all."""
        return np.asarray(self.masks.any(axis=0))

    @property
    def first_deal(self) -> Hiding:
        """Every label hidden once, for those who are dear to ask."""
        return Hiding(self.masks[: self.n_folds], self.n_folds)

    @property
    def enough(self) -> Hiding:
        """The first tasks, until enough labels were hidden, for the cut: a task cuts the whole graph."""
        n_hidden = np.cumsum(self.masks.sum(axis=1))
        n_tasks = 1 + int(np.searchsorted(n_hidden, ENOUGH_HIDDEN))
        return self if n_tasks >= len(self.masks) else Hiding(self.masks[:n_tasks], n_tasks)

    def asked(self, m: int) -> Ints:
        """Return the rows that a task is asked about: those it hides, and those that no task hides."""
        return np.flatnonzero(self.masks[m] | ~self.is_judged)

    def mean_of(self, found: Sequence[tuple[Ints, Floats]]) -> Floats:
        """Return the mean over the tasks that were asked about a row, as `mean` does.

        Parameters
        ----------
        found : sequence of (ndarray of int, ndarray of shape (n_asked, n_classes))
            For each task, the rows it was asked about and what it says.
        """
        total = np.zeros((self.masks.shape[1], found[0][1].shape[1]))
        count = np.zeros(self.masks.shape[1])
        for rows, opinion in found:
            total[rows] += opinion
            count[rows] += 1.0
        return np.asarray(total / count[:, None])

    def mean(self, by_task: Floats) -> Floats:
        """Return the mean over the tasks that hid a row; for a row that none hid, over all of them.

        Parameters
        ----------
        by_task : ndarray of shape (n_tasks, n_rows, ...)
        """
        is_used = self.masks | ~self.is_judged
        shape = (*is_used.shape, *(1,) * (by_task.ndim - 2))
        used = is_used.reshape(shape)
        return np.asarray(np.where(used, by_task, 0.0).sum(axis=0) / used.sum(axis=0))


def deal_tasks(codes: Ints, trust: Floats, n_folds: int, seed: int) -> Hiding:
    """Return what is hidden when; every class is dealt out evenly.

    Parameters
    ----------
    codes : ndarray of int of shape (n_rows,)
        Class 0, 1, ..., or -1 for an unlabeled row.
    trust : ndarray of shape (n_rows,)
        A label of trust inf is held: it is not judged, so it need not be hidden.
    n_folds : int
        Folds of one deal; fewer if a class has fewer labels (see `count_folds`) or if there are many labels.
    seed : int
    """
    judged = np.where(np.isinf(trust), UNLABELED, codes)
    n_judged = int(np.sum(judged != UNLABELED))
    n_folds = count_folds(codes, trust, n_folds if n_judged < MANY_LABELS else min(n_folds, FOLDS_OF_MANY))
    n_classes = int(codes.max()) + 1
    n_cuts = 1 if n_classes == 2 else n_classes
    n_deals = int(np.clip(round(ENOUGH_JUDGEMENTS / (n_judged * n_cuts)), 1, MOST_DEALS))
    folds = [deal_folds(judged, n_folds, task_seed(seed, deal)) for deal in range(n_deals)]
    return Hiding(np.array([fold == k for fold in folds for k in range(n_folds)]), n_folds)


def task_seed(seed: int, *numbers: int) -> int:
    """Return a seed of its own for one piece of work, so that pieces may run in any order."""
    return int(np.random.SeedSequence([seed, *numbers]).generate_state(1)[0] >> 1)
