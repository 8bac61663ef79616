"""Opinions: whoever has a probability for every row without having seen its label.

The forest is one. A classifier becomes one by cross-fitting, a fitted one by being asked, probabilities from
elsewhere are one as they are, and knowing nothing is one, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from labelcut.arrays import Floats, Ints
from labelcut.hnc.hiding import Hiding
from labelcut.hnc.labels import UNLABELED, plain

__all__ = ["Asked", "CrossFitted", "Given", "NoOpinion", "Opinion", "cross_fit", "form_opinion"]


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
        return np.tile(self.shares, (X.shape[0], 1))


@dataclass(frozen=True, eq=False)
class Given:
    """Probabilities that somebody else found, out of sample."""

    probability: Floats
    importances: None = None

    def of(self, X: Floats, n_jobs: int | None = None) -> Floats:
        """Refuse: what was given for the rows of the table says nothing about new ones."""
        raise ValueError(
            f"the model was fitted with given probabilities of its {len(self.probability)} rows, which say "
            f"nothing about {X.shape[0]} new ones; pass those of the new rows as opinions, too."
        )


@dataclass(frozen=True, eq=False)
class Asked:
    """A classifier that was fitted elsewhere, on other rows, and is only asked."""

    model: Any
    classes: NDArray[Any]
    probability: Floats
    importances: None = None

    def of(self, X: Floats, n_jobs: int | None = None) -> Floats:
        """Return what it thinks of new rows."""
        return _in_order(self.model, X, self.classes)


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """A classifier that was fitted once per fold, each time without that fold."""

    models: tuple[Any, ...]
    probability: Floats
    importances: None = None

    def of(self, X: Floats, n_jobs: int | None = None) -> Floats:
        """Return the mean opinion of the folds' models."""
        return _mean_opinion(self.models, X, self.probability.shape[1])


def form_opinion(
    classifier: Any, X: Floats, codes: Ints, hiding: Hiding, classes: NDArray[Any]
) -> Asked | CrossFitted:
    """Return what a user's classifier thinks of every row: a frozen one is asked, others are cross-fitted."""
    if isinstance(classifier, FrozenEstimator):
        return Asked(classifier, classes, _in_order(classifier, X, classes))
    return cross_fit(classifier, X, codes, hiding)


def cross_fit(classifier: Any, X: Floats, codes: Ints, hiding: Hiding) -> CrossFitted:
    """Return the opinion of a classifier on every row: out of fold if judged, else the mean of all folds.

    Parameters
    ----------
    classifier : scikit-learn classifier with ``predict_proba``
        It is cloned, never fitted itself.
    X : ndarray of shape (n_rows, n_features)
    codes : ndarray of int of shape (n_rows,)
        Class 0, 1, ..., or -1 for an unlabeled row.
    hiding : Hiding
        What each clone must not see; only its first deal is used.
    """
    hiding = hiding.first_deal
    n_classes = int(codes.max()) + 1
    rest = ~hiding.is_judged
    by_task = np.zeros((len(hiding.masks), X.shape[0], n_classes))
    models = []
    for m, hidden in enumerate(hiding.masks):
        seen = (codes != UNLABELED) & ~hidden
        models.append(clone(classifier).fit(X[seen], codes[seen]))
        asked = hidden | rest
        by_task[m, asked] = _mean_opinion(models[-1:], X[asked], n_classes)
    return CrossFitted(tuple(models), hiding.mean(by_task))


def _in_order(model: Any, X: Floats, classes: NDArray[Any]) -> Floats:
    """Return the probabilities of a fitted model in the order of our classes."""
    known = [plain(c) for c in model.classes_]
    unknown = [c for c in known if c not in [plain(own) for own in classes]]
    if unknown:
        raise ValueError(
            f"{model!r} knows the class {unknown[0]!r}, which no label here has; its classes have to be "
            f"among {[plain(c) for c in classes]}."
        )
    probability = np.zeros((X.shape[0], classes.size))
    probability[:, [[plain(own) for own in classes].index(c) for c in known]] = model.predict_proba(X)
    return probability


def _mean_opinion(models: Any, X: Floats, n_classes: int) -> Floats:
    """Return the mean probabilities; a class that a model never saw gets none from it."""
    total = np.zeros((X.shape[0], n_classes))
    for model in models:
        total[:, model.classes_] += model.predict_proba(X)
    return total / len(models)
