"""Boosted trees, each time without the labels they are asked about."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from labelcut.arrays import Floats, Ints, Mask
from labelcut.hnc.clock import StageClock
from labelcut.hnc.hiding import Hiding
from labelcut.hnc.labels import UNLABELED
from labelcut.hnc.tasks import run_tasks
from labelcut.threads import thread_count

__all__ = ["Boosting", "boost"]

#: The longest boosting; where it stops is chosen by all hidden labels together.
MOST_ROUNDS = 100

#: Leaves of a tree; more of them pay from so many labels on.
FEW_LEAVES, MANY_LEAVES, MANY_FROM = 8, 31, 10_000


@dataclass(frozen=True, eq=False)
class Boosting:
    """One boosted classifier per task, all of the same length.

    Attributes
    ----------
    probability : ndarray of shape (n_rows, n_classes)
        By the models that did not see the row's label.
    n_rounds : int
        The length.
    models : tuple of HistGradientBoostingClassifier
    """

    probability: Floats
    n_rounds: int
    models: tuple[HistGradientBoostingClassifier, ...] = field(repr=False)
    importances: None = None

    def of(self, X: Floats, n_jobs: int | None = None) -> Floats:
        """Return the mean probability of each class for new rows."""
        n_classes = self.probability.shape[1]
        with threadpool_limits(thread_count(n_jobs), "openmp"):
            asked = [_after(model, X, self.n_rounds, n_classes) for model in self.models]
        return np.asarray(np.mean(asked, axis=0))


def boost(
    X: Floats,
    codes: Ints,
    hiding: Hiding,
    seed: int,
    n_jobs: int | None,
    clock: StageClock | None = None,
) -> Boosting:
    """Fit one booster per task; the length is the one with the lowest log-loss of all hidden labels.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    codes : ndarray of int of shape (n_rows,)
        Class 0, 1, ..., or -1 for an unlabeled row.
    hiding : Hiding
        What each booster must not see.
    seed : int
    n_jobs : int or None
        Boosters that are fitted at the same time; the result has the same bytes for any number.
    clock : StageClock, optional
        Hears how far it is.
    """
    n_classes = int(codes.max()) + 1
    with threadpool_limits(1, "openmp"):
        fitted = run_tasks(
            lambda m: _boost_task(X, codes, hiding.masks[m], seed), len(hiding.masks), n_jobs, clock
        )
        n_rounds = int(np.argmin(np.sum([losses for _, losses in fitted], axis=0))) + 1
        models = tuple(model for model, _ in fitted)
        rest = ~hiding.is_judged
        by_task = np.zeros((len(models), len(X), n_classes))
        for m, model in enumerate(models):
            rows = hiding.masks[m] | rest
            by_task[m, rows] = _after(model, X[rows], n_rounds, n_classes)
    return Boosting(hiding.mean(by_task), n_rounds, models)


def _boost_task(
    X: Floats, codes: Ints, hidden: Mask, seed: int
) -> tuple[HistGradientBoostingClassifier, Floats]:
    """Return a booster that did not see the hidden labels, and its log-loss on them after each round."""
    seen = (codes != UNLABELED) & ~hidden
    model = HistGradientBoostingClassifier(
        max_iter=MOST_ROUNDS,
        max_leaf_nodes=FEW_LEAVES if seen.sum() < MANY_FROM else MANY_LEAVES,
        early_stopping=False,
        random_state=seed,
    ).fit(X[seen], codes[seen])
    own = np.searchsorted(model.classes_, codes[hidden]).clip(max=model.classes_.size - 1)
    is_known = model.classes_[own] == codes[hidden]
    losses = []
    for probability in model.staged_predict_proba(X[hidden]):
        right = np.where(is_known, probability[np.arange(own.size), own], 0.0)
        losses.append(-np.log(np.maximum(right, 1e-6)).sum())
    return model, np.array(losses)


def _after(model: Any, X: Floats, n_rounds: int, n_classes: int) -> Floats:
    """Return the probabilities of a booster after so many rounds; a class it never saw gets none."""
    probability = np.zeros((len(X), n_classes))
    if len(X):
        last = next(islice(model.staged_predict_proba(X), n_rounds - 1, None))
        probability[:, model.classes_] = last
    return probability
