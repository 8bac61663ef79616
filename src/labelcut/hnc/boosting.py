"""Boosted trees, each time without the labels they are asked about.

Twice: once on all labels, as long as that helps with hidden ones; and once on cleaned labels, where larger
trees and a set length pay, because what there is left to learn is mostly true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import ThreadpoolController

from labelcut.arrays import Floats, Ints
from labelcut.hnc.bundles import Bundles, find_bundles
from labelcut.hnc.clock import StageClock
from labelcut.hnc.hiding import Hiding
from labelcut.hnc.labels import UNLABELED
from labelcut.hnc.tasks import run_tasks
from labelcut.threads import thread_count

__all__ = ["Boosting", "boost", "boost_cleaned"]

#: The longest boosting, at twice the usual rate; where it stops is chosen by all hidden labels together.
MOST_ROUNDS, RATE = 50, 0.2

#: Leaves of a tree; more of them pay from so many labels on.
FEW_LEAVES, MANY_LEAVES, MANY_FROM = 8, 31, 10_000

#: On cleaned labels: so many rounds at such a rate; more and smaller ones pay from so many labels on.
CLEANED_ROUNDS, CLEANED_RATE, LONGER_FROM = (40, 75), (0.3, 0.2), 20_000

#: And a leaf for every so many labels, within limits.
LABELS_PER_LEAF, LEAST_LEAVES, MOST_LEAVES = 128, 31, 127

#: Rows that a booster is asked about at a time, since their columns are copied.
ASKED_AT_ONCE = 1 << 16


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
    bundles: Bundles = field(repr=False)
    importances: None = None

    def of(self, X: Floats, n_jobs: int | None = None) -> Floats:
        """Return the mean probability of each class for new rows."""
        n_classes = self.probability.shape[1]
        told = self.bundles.apply(X)
        total = np.zeros((len(X), n_classes))
        with _threads(thread_count(n_jobs)):
            for model in self.models:
                total += _ask(model, told, n_classes)
        return total / len(self.models)


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
    bundles = find_bundles(X)
    told = bundles.apply(X)

    def fit(m: int) -> tuple[HistGradientBoostingClassifier, Floats]:
        hidden = hiding.masks[m]
        seen = np.flatnonzero((codes != UNLABELED) & ~hidden)
        n_leaves = FEW_LEAVES if seen.size < MANY_FROM else MANY_LEAVES
        model = _booster(bundles, n_leaves, MOST_ROUNDS, RATE, seed)
        with _threads(1):  # a limit holds for the thread that sets it
            model.fit(told[seen], codes[seen])
            return model, _staged_loss(model, told[hidden], codes[hidden])

    fitted = run_tasks(fit, len(hiding.masks), n_jobs, clock)
    with _threads(1):
        n_rounds = int(np.argmin(np.sum([losses for _, losses in fitted], axis=0))) + 1
        models = tuple(_shortened(model, n_rounds) for model, _ in fitted)
        asked = [_ask_task(model, told, codes, hiding, m) for m, model in enumerate(models)]
    return Boosting(hiding.mean_of(asked), n_rounds, models, bundles)


def boost_cleaned(
    X: Floats,
    codes: Ints,
    hiding: Hiding,
    learned: Sequence[Ints],
    seed: int,
    n_jobs: int | None,
    clock: StageClock | None = None,
) -> Boosting:
    """Fit one booster per task to labels that were cleaned without a look at those the task hides.

    Parameters
    ----------
    X, codes, hiding, seed, n_jobs, clock
        As in :func:`boost`.
    learned : sequence of ndarray of int
        For each task, the rows to learn from.
    """
    bundles = find_bundles(X)
    told = bundles.apply(X)
    is_large = min(rows.size for rows in learned) >= LONGER_FROM
    n_rounds, rate = CLEANED_ROUNDS[is_large], CLEANED_RATE[is_large]

    def fit(m: int) -> tuple[HistGradientBoostingClassifier, tuple[Ints, Floats]]:
        rows = learned[m]
        n_leaves = int(np.clip(rows.size // LABELS_PER_LEAF, LEAST_LEAVES, MOST_LEAVES))
        model = _booster(bundles, n_leaves, n_rounds, rate, seed)
        with _threads(1):
            model.fit(told[rows], codes[rows])
            return model, _ask_task(model, told, codes, hiding, m)

    fitted = run_tasks(fit, len(hiding.masks), n_jobs, clock)
    models = tuple(model for model, _ in fitted)
    return Boosting(hiding.mean_of([asked for _, asked in fitted]), n_rounds, models, bundles)


@cache
def _controller() -> ThreadpoolController:
    """Return who knows the libraries with threads; looking for them takes as long as judging many rows."""
    return ThreadpoolController()


def _threads(n_threads: int) -> Any:
    """Return a context in which boosting starts so many threads; answers do not depend on it."""
    return _controller().limit(limits=n_threads, user_api="openmp")


def _booster(
    bundles: Bundles, n_leaves: int, n_rounds: int, rate: float, seed: int
) -> HistGradientBoostingClassifier:
    """Return an unfitted booster."""
    return HistGradientBoostingClassifier(
        max_iter=n_rounds,
        learning_rate=rate,
        max_leaf_nodes=n_leaves,
        categorical_features=bundles.categories or None,
        early_stopping=False,
        random_state=seed,
    )


def _staged_loss(model: HistGradientBoostingClassifier, X: Floats, codes: Ints) -> Floats:
    """Return the log-loss of labels after each round, summed up; a class it never saw is a surprise."""
    own = np.searchsorted(model.classes_, codes).clip(max=model.classes_.size - 1)
    is_known = model.classes_[own] == codes
    losses = []
    for probability in model.staged_predict_proba(X):
        right = np.where(is_known, probability[np.arange(own.size), own], 0.0)
        losses.append(-np.log(np.maximum(right, 1e-6)).sum())
    return np.array(losses)


def _shortened(model: HistGradientBoostingClassifier, n_rounds: int) -> HistGradientBoostingClassifier:
    """Return a booster that ends after so many rounds."""
    # scikit-learn has no door for this; going through the stages at every question takes ten times as long.
    model._predictors = model._predictors[:n_rounds]
    return model


def _ask_task(
    model: HistGradientBoostingClassifier, told: Floats, codes: Ints, hiding: Hiding, m: int
) -> tuple[Ints, Floats]:
    """Return the rows that the booster of a task is asked about, and what it says."""
    rows = hiding.asked(m)
    probability = np.empty((rows.size, int(codes.max()) + 1))
    for start in range(0, rows.size, ASKED_AT_ONCE):
        part = slice(start, start + ASKED_AT_ONCE)
        probability[part] = _ask(model, told[rows[part]], probability.shape[1])
    return rows, probability


def _ask(model: HistGradientBoostingClassifier, told: Floats, n_classes: int) -> Floats:
    """Return the probabilities of a booster; a class it never saw gets none."""
    probability = np.zeros((len(told), n_classes))
    if len(told):
        probability[:, model.classes_] = model.predict_proba(told)
    return probability
