"""Opinions: whoever has a probability for every row without having seen its label.

The forest is one. A classifier becomes one by cross-fitting, probabilities from elsewhere are one as they
are, and knowing nothing is one, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone

from labelcut.arrays import Floats, Ints
from labelcut.hnc.labels import UNLABELED

__all__ = ["CrossFitted", "Given", "NoOpinion", "Opinion", "cross_fit"]


class Opinion(Protocol):
    """What a step of the method may ask."""

    @property
    def importances(self) -> Floats | None:
        """How much each column tells, with sum 1; None if that cannot be said."""
        ...

    @property
    def probability(self) -> Floats:
        """The probability of each class for every row, never from its own label."""
        ...

    def of(self, X: Floats, n_jobs: int | None = None) -> Floats:
        """Return the probability of each class for new rows."""
        ...


@dataclass(frozen=True, eq=False)
class NoOpinion:
    """The shares of the classes among the labels, the same for every row."""

    shares: Floats
    n_rows: int
    importances: None = None

    @classmethod
    def on(cls, codes: Ints) -> NoOpinion:
        """Count the labels."""
        counts = np.bincount(codes[codes != UNLABELED])
        return cls(counts / counts.sum(), codes.size)

    @property
    def probability(self) -> Floats:
        """The shares, once per row."""
        return np.tile(self.shares, (self.n_rows, 1))

    def of(self, X: Floats, n_jobs: int | None = None) -> Floats:
        """Return the shares, once per new row."""
        return np.tile(self.shares, (len(X), 1))


@dataclass(frozen=True, eq=False)
class Given:
    """Probabilities that somebody else found, out of sample."""

    probability: Floats
    importances: None = None

    def of(self, X: Floats, n_jobs: int | None = None) -> Floats:
        """Refuse: what was given for the rows of the table says nothing about new ones."""
        raise ValueError(
            f"the model was fitted with given probabilities of its {len(self.probability)} rows, which say "
            f"nothing about {len(X)} new ones; give a classifier instead, which can be asked again."
        )


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """A classifier that was fitted once per fold, each time without that fold."""

    models: tuple[Any, ...]
    probability: Floats
    importances: None = None

    def of(self, X: Floats, n_jobs: int | None = None) -> Floats:
        """Return the mean opinion of the folds' models."""
        return _mean_opinion(self.models, X, self.probability.shape[1])


def cross_fit(classifier: Any, X: Floats, codes: Ints, fold: Ints) -> CrossFitted:
    """Return the opinion of a classifier on every row: out of fold if labeled, else the mean of all folds.

    Parameters
    ----------
    classifier : scikit-learn classifier with ``predict_proba``
        It is cloned, never fitted itself.
    X : ndarray of shape (n_rows, n_features)
    codes : ndarray of int of shape (n_rows,)
        Class 0, 1, ..., or -1 for an unlabeled row.
    fold : ndarray of int of shape (n_rows,)
        The fold of each labeled row, as from :func:`~labelcut.hnc.folds.deal_folds`.
    """
    is_labeled = codes != UNLABELED
    n_classes = int(codes.max()) + 1
    probability = np.empty((len(X), n_classes))
    models = []
    for k in range(int(fold.max()) + 1):
        seen = is_labeled & (fold != k)
        models.append(clone(classifier).fit(X[seen], codes[seen]))
        hidden = is_labeled & (fold == k)
        if hidden.any():
            probability[hidden] = _mean_opinion(models[-1:], X[hidden], n_classes)
    if not is_labeled.all():
        probability[~is_labeled] = _mean_opinion(models, X[~is_labeled], n_classes)
    return CrossFitted(tuple(models), probability)


def _mean_opinion(models: Any, X: Floats, n_classes: int) -> Floats:
    """Return the mean probabilities; a class that a model never saw gets none from it."""
    total = np.zeros((len(X), n_classes))
    for model in models:
        total[:, model.classes_] += model.predict_proba(X)
    return total / len(models)
