"""Fully grown trees on the labels that the first round does not call wrong.

This is how cleaning pays: trees with leaves of one row learn far more, once wrong labels are gone. For each
task labels are cleaned by those who have not seen the labels it hides, and the trees then judge these.
(Cleaning by somebody who has is a trap: the pool believes it, and the ranking suffers.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier

from labelcut.arrays import Floats, Ints, Mask
from labelcut.hnc.clock import StageClock
from labelcut.hnc.forest import add_up_votes
from labelcut.hnc.hiding import Hiding, task_seed
from labelcut.hnc.labels import UNLABELED
from labelcut.hnc.tasks import run_tasks

__all__ = ["SecondRound", "grow_on_cleaned"]

#: Trees per task; from so many labels on fewer will do.
N_TREES, THIN_TREES, THIN_FROM = 30, 10, 5000


@dataclass(frozen=True, eq=False)
class SecondRound:
    """One group of fully grown trees per task.

    Attributes
    ----------
    probability : ndarray of shape (n_rows, n_classes)
        By the trees that did not see the row's label.
    models : tuple of ExtraTreesClassifier
    """

    probability: Floats
    models: tuple[ExtraTreesClassifier, ...] = field(repr=False)
    importances: None = None

    def of(self, X: Floats, n_jobs: int | None = None) -> Floats:
        """Return the mean probability of each class for new rows."""
        X32 = np.ascontiguousarray(X, dtype=np.float32)
        n_classes = self.probability.shape[1]
        return np.asarray(np.mean([_ask(model, X32, n_classes, n_jobs) for model in self.models], axis=0))


def grow_on_cleaned(
    X: Floats,
    codes: Ints,
    hiding: Hiding,
    trust: Floats,
    p_wrong: Sequence[Floats],
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
    trust : ndarray of shape (n_rows,)
        Labels of trust inf are always learned from.
    p_wrong : sequence of ndarray of shape (n_rows,)
        For each task, how likely each label is wrong by those who have not seen the labels of the task.
    seed : int
    n_jobs : int or None
        Tasks that run at the same time; the result has the same bytes for any number.
    clock : StageClock, optional
        Hears how far it is.
    """
    X32 = np.ascontiguousarray(X, dtype=np.float32)
    rest = ~hiding.is_judged

    def grow(m: int) -> tuple[ExtraTreesClassifier, Floats]:
        hidden = hiding.masks[m]
        seen = np.where(hidden, UNLABELED, codes)
        rows = np.flatnonzero(_keep(p_wrong[m], seen, trust))
        return _grow(X32, codes, rows, np.flatnonzero(hidden | rest), task_seed(seed, m))

    grown = run_tasks(grow, len(hiding.masks), n_jobs, clock)
    probability = hiding.mean(np.array([opinion for _, opinion in grown]))
    return SecondRound(probability, tuple(model for model, _ in grown))


def _keep(p_wrong: Floats, seen: Ints, trust: Floats) -> Mask:
    """Return the labels to learn from: not more likely wrong than right, and held ones always.

    Of every class at least the better half is kept, so that none is cleaned away.
    """
    is_kept = (seen != UNLABELED) & (np.isinf(trust) | (p_wrong <= 0.5))
    for c in range(int(seen.max()) + 1):
        rows = np.flatnonzero(seen == c)
        is_kept[rows[np.argsort(p_wrong[rows], kind="stable")[: -(-rows.size // 2)]]] = True
    return np.asarray(is_kept)


def _grow(
    X: NDArray[np.float32], codes: Ints, rows: Ints, asked: Ints, seed: int
) -> tuple[ExtraTreesClassifier, Floats]:
    """Return trees grown from some rows, and their opinion on others; nothing on the rest."""
    n_labeled = int(np.sum(codes != UNLABELED))
    n_trees = N_TREES if n_labeled < THIN_FROM else THIN_TREES
    model = ExtraTreesClassifier(n_trees, random_state=seed, n_jobs=1).fit(X[rows], codes[rows])
    opinion = np.zeros((len(X), int(codes.max()) + 1))
    opinion[asked] = _ask(model, X[asked], opinion.shape[1], 1)
    return model, opinion


def _ask(model: ExtraTreesClassifier, X: NDArray[np.float32], n_classes: int, n_jobs: int | None) -> Floats:
    """Return the mean over the trees; a class they never saw gets nothing."""
    every = [np.arange(len(X))] * len(model.estimators_)
    votes, n_votes = add_up_votes(model, every, X, n_classes, n_jobs)
    return np.asarray(votes / n_votes[:, None])
