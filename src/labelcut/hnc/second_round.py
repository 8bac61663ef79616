"""Fully grown or boosted trees on the labels that the first round does not call wrong.

This is how cleaning pays: trees with small leaves learn far more, once wrong labels are gone. For each task
labels are cleaned by those who have not seen the labels it hides, and the trees then judge these. (Cleaning
by somebody who has is a trap: the pool believes it, and the ranking suffers.)

Who learned from cleaned labels speaks of the true class. The pool of two classes is about given labels, so
there what they say is seen through the noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import ExtraTreeClassifier

from labelcut.arrays import Floats, Ints
from labelcut.hnc.channel import seen_through
from labelcut.hnc.clock import StageClock
from labelcut.hnc.columns import as_float32
from labelcut.hnc.hiding import Hiding, task_seed
from labelcut.hnc.labels import UNLABELED
from labelcut.hnc.opinion import Opinion
from labelcut.hnc.tasks import run_tasks
from labelcut.hnc.trees import Trees, ask_trees, grow_trees

__all__ = ["SecondRound", "ThroughNoise", "grow_on_cleaned", "labels_to_learn"]

#: Trees per task; from so many labels on fewer will do.
N_TREES, THIN_TREES, THIN_FROM = 30, 10, 5000


@dataclass(frozen=True, eq=False)
class SecondRound:
    """One group of fully grown trees per task.

    Attributes
    ----------
    probability : ndarray of shape (n_rows, n_classes)
        By the trees that did not see the row's label.
    groups : tuple of Trees
    """

    probability: Floats
    groups: tuple[Trees, ...] = field(repr=False)
    importances: None = None

    def of(self, X: Floats, n_jobs: int | None = None) -> Floats:
        """Return the mean probability of each class for new rows."""
        X32 = as_float32(X)
        n_classes = self.probability.shape[1]
        said = [ask_trees(group.trees, group.classes, X32, n_classes, n_jobs) for group in self.groups]
        return np.asarray(np.mean(said, axis=0))


@dataclass(frozen=True, eq=False)
class ThroughNoise:
    """What an opinion on the true class says about the label that a row would be given.

    Attributes
    ----------
    opinion : Opinion
    channel : ndarray of shape (n_classes, n_classes)
        P(label j | true class k) at row k, column j.
    """

    opinion: Opinion
    channel: Floats
    importances: None = None

    @property
    def probability(self) -> Floats:
        """The probability of each label, never from the row's own."""
        return seen_through(self.opinion.probability, self.channel)

    def of(self, X: Floats, n_jobs: int | None = None) -> Floats:
        """Return the probability of each label for new rows."""
        return seen_through(self.opinion.of(X, n_jobs), self.channel)


def labels_to_learn(codes: Ints, hiding: Hiding, trust: Floats, p_wrong: Iterable[Floats]) -> list[Ints]:
    """Return, for each task, the rows whose labels are learned from: not hidden, and rather right than wrong.

    Labels of trust inf always are, and of every class the better half, so that none is cleaned away.

    Parameters
    ----------
    codes : ndarray of int of shape (n_rows,)
        Class 0, 1, ..., or -1 for an unlabeled row.
    hiding : Hiding
        What each task must not see.
    trust : ndarray of shape (n_rows,)
    p_wrong : iterable of ndarray of shape (n_rows,)
        For each task, how likely each label is wrong by those who have not seen the labels of the task.
    """
    learned = []
    for hidden, p in zip(hiding.masks, p_wrong, strict=True):
        seen = np.where(hidden, UNLABELED, codes)
        is_kept = (seen != UNLABELED) & (np.isinf(trust) | (p <= 0.5))
        for c in range(int(seen.max()) + 1):
            rows = np.flatnonzero(seen == c)
            is_kept[rows[np.argsort(p[rows], kind="stable")[: -(-rows.size // 2)]]] = True
        learned.append(np.flatnonzero(is_kept))
    return learned


def grow_on_cleaned(
    X: Floats,
    codes: Ints,
    hiding: Hiding,
    learned: Sequence[Ints],
    seed: int,
    n_jobs: int | None,
    clock: StageClock | None = None,
) -> SecondRound:
    """Grow trees without the labels of each task and without those that seem wrong.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    codes : ndarray of int of shape (n_rows,)
        Class 0, 1, ..., or -1 for an unlabeled row.
    hiding : Hiding
        What each group must not see.
    learned : sequence of ndarray of int
        For each task, the rows to learn from; see `labels_to_learn`.
    seed : int
    n_jobs : int or None
        Tasks that run at the same time; the result has the same bytes for any number.
    clock : StageClock, optional
        Hears how far it is.
    """
    X32 = as_float32(X)

    def grow(m: int) -> tuple[Trees, tuple[Ints, Floats]]:
        return _grow(X32, codes, learned[m], hiding.asked(m), task_seed(seed, m))

    grown = run_tasks(grow, len(hiding.masks), n_jobs, clock)
    probability = hiding.mean_of([opinion for _, opinion in grown])
    return SecondRound(probability, tuple(group for group, _ in grown))


def _grow(
    X: NDArray[np.float32], codes: Ints, rows: Ints, asked: Ints, seed: int
) -> tuple[Trees, tuple[Ints, Floats]]:
    """Return trees grown from some rows, the rows they are asked about, and what they say."""
    n_labeled = int(np.sum(codes != UNLABELED))
    n_trees = N_TREES if n_labeled < THIN_FROM else THIN_TREES
    group = grow_trees(ExtraTreeClassifier, X[rows], codes[rows], n_trees, seed)
    return group, (asked, ask_trees(group.trees, group.classes, X[asked], int(codes.max()) + 1, 1))
