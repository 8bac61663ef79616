"""A random forest in groups of trees: no tree of a group has seen the labels that one task hides.

Its opinion on a row is the mean over the trees that did not draw the row. The opinion of one group knows
nothing of the labels hidden from it, *for every row*: a neighbour's opinion cannot betray a hidden label.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from labelcut.arrays import Floats, Ints, Mask
from labelcut.hnc.clock import StageClock
from labelcut.hnc.columns import as_float32
from labelcut.hnc.forest import WORTH_THREADS
from labelcut.hnc.hiding import Hiding, task_seed
from labelcut.hnc.labels import UNLABELED
from labelcut.hnc.tasks import run_tasks
from labelcut.hnc.trees import Trees, add_up_votes, ask_trees, grow_trees, rows_to_judge

__all__ = ["GroupedForest", "grow_groups"]

#: A tree draws this share of the labeled rows, with repetition: with half of them the forest is clearly
#: worse where few labels are wrong.
DRAWN_SHARE = 0.8

#: More rows than this make a tree dearer, hardly better.
MOST_DRAWN = 20_000

#: Trees of a group. Small tables have many groups.
GROUP_TREES = 20


@dataclass(frozen=True, eq=False)
class GroupedForest:
    """Groups of trees, and their opinion on every row.

    Attributes
    ----------
    importances : ndarray of shape (n_features,)
        Share of each column in the decrease of impurity; sums to 1. Equal when no tree found a split.
    probability : ndarray of shape (n_rows, n_classes)
        The mean over all trees that did not draw the row; the shares of the classes if all did.
    by_task : ndarray of shape (n_tasks, n_rows, n_classes)
        The mean over the trees of one group that did not draw the row.
    groups : tuple of Trees
        One per task.
    """

    importances: Floats
    probability: Floats
    by_task: Floats = field(repr=False)
    groups: tuple[Trees, ...] = field(repr=False)

    def of(self, X: Floats, n_jobs: int | None = None) -> Floats:
        """Return the probability of each class for new rows, the same bytes for any ``n_jobs``."""
        X32 = as_float32(X)
        n_classes = self.probability.shape[1]
        n_jobs = 1 if X32.shape[0] < WORTH_THREADS else n_jobs
        total = np.zeros((X32.shape[0], n_classes))
        for group in self.groups:
            total += ask_trees(group.trees, group.classes, X32, n_classes, n_jobs)
        return total / len(self.groups)


def grow_groups(
    X: Floats,
    codes: Ints,
    hiding: Hiding,
    leaf: float,
    seed: int,
    n_jobs: int | None,
    clock: StageClock | None = None,
) -> GroupedForest:
    """Grow one group of trees per task.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    codes : ndarray of int of shape (n_rows,)
        Class 0, 1, ..., or -1 for an unlabeled row.
    hiding : Hiding
        What each group must not see.
    leaf : float
        The smallest leaf, as a share of the rows a tree draws.
    seed : int
    n_jobs : int or None
        Groups that grow at the same time; the result has the same bytes for any number.
    clock : StageClock, optional
        Hears how far it is.
    """
    X32 = as_float32(X)
    n_classes = int(codes.max()) + 1

    def grow(m: int) -> tuple[Trees, Floats, Ints]:
        return _grow_group(X32, codes, hiding.masks[m], leaf, task_seed(seed, m))

    grown = run_tasks(grow, len(hiding.masks), n_jobs, clock)
    groups = tuple(group for group, _, _ in grown)
    by_task, n_votes = np.array([votes for _, votes, _ in grown]), [n[:, None] for _, _, n in grown]
    del grown
    shares = np.bincount(codes[codes != UNLABELED], minlength=n_classes) / np.sum(codes != UNLABELED)
    total, n_total = by_task.sum(axis=0), np.sum(n_votes, axis=0)
    probability = np.where(n_total > 0, total / np.maximum(n_total, 1), shares)
    for own, n in zip(by_task, n_votes, strict=True):
        own[...] = np.where(n > 0, own / np.maximum(n, 1), probability)
    importances = np.mean([group.importances for group in groups], axis=0)
    if not importances.any():  # no tree found a split
        importances = np.ones(X.shape[1])
    return GroupedForest(importances / importances.sum(), probability, by_task, groups)


def _grow_group(
    X: NDArray[np.float32], codes: Ints, hidden: Mask, leaf: float, seed: int
) -> tuple[Trees, Floats, Ints]:
    """Return a group, its summed votes on every row and the number of its trees that did not draw the row."""
    is_seen = (codes != UNLABELED) & ~hidden
    seen, n_labeled = np.flatnonzero(is_seen), int(np.sum(codes != UNLABELED))
    n_drawn = max(1, min(round(DRAWN_SHARE * n_labeled), MOST_DRAWN, seen.size))
    group = grow_trees(
        DecisionTreeClassifier,
        X[seen],
        codes[seen],
        GROUP_TREES,
        seed,
        n_drawn=n_drawn,
        leaf=max(1, int(np.ceil(leaf * n_drawn))),
    )
    judged = rows_to_judge(group.drawn, seen, np.flatnonzero(~is_seen), X.shape[0])
    votes, n_votes = add_up_votes(group.trees, group.classes, judged, X, int(codes.max()) + 1, 1)
    return group, votes, n_votes
