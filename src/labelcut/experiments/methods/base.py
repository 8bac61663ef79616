"""What every method gets and gives back."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from labelcut.experiments.data import Codes, Matrix
from labelcut.experiments.kept import Kept
from labelcut.experiments.noise import UNLABELED, Mask

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Inputs:
    """A table whose rows are labeled (perhaps wrongly) or not, and the run's seed."""

    X: Matrix
    given: Codes
    """0, 1, ..., or -1 for rows without a label."""
    seed: int = 0
    n_jobs: int = 1
    name: str = ""
    """The data set; the paper gives DivideMix another learning rate on two of them."""
    told_noise: float | None = None
    """The injected share of wrong labels. Only Co-teaching+ looks at it, as its authors do."""
    n_classes: int = 2
    kept: Kept = field(default_factory=Kept, repr=False, compare=False)
    """What earlier runs on the same table have found and this one may use; its time is charged again."""

    @cached_property
    def fingerprint(self) -> bytes:
        """What a forest depends on, the rows, their labels and the seed, and what its time does."""
        parts = [self.X.tobytes(), self.given.tobytes(), f"{self.seed},{self.n_jobs}".encode()]
        return hashlib.sha256(b"".join(parts)).digest()

    @property
    def is_labeled(self) -> Mask:
        """Rows that carry a label."""
        return np.not_equal(self.given, UNLABELED)


@dataclass(frozen=True)
class Outcome:
    """A method's answers, one entry per row of the table."""

    predicted: Codes
    """A class for every row; the unlabeled ones count for accuracy."""
    is_flagged: Mask
    """Labels called wrong; False in unlabeled rows."""
    suspicion: Values
    """Ranks the labels: larger means more probably wrong; NaN in unlabeled rows."""
    probability: Values | None = None
    """P(positive) for every row, or one column per class."""
    p_wrong: Values | None = None
    """P(the given label is wrong), from methods that say it; NaN in unlabeled rows."""
    expected_wrong: float | None = None
    """How many labels the method holds to be wrong, where that is not the sum of its P(wrong)."""
    has_evidence: bool | None = None
    """Whether the method says that the columns tell the classes apart; None if it has no view on that."""
    confidence: Values | None = None
    """Trust in each label, in [0, 1]; NaN in unlabeled rows."""
    other_flags: dict[str, Mask] = field(default_factory=dict)
    """Flags by the method's second rule, where it has two."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall time per stage."""
    notes: dict[str, Any] = field(default_factory=dict)
    """What the method chose by itself (tuned parameters, epochs) and anything worth a warning."""


class Stopwatch:
    """Wall time per named stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def charge(self, name: str, seconds: float) -> None:
        """Count work that was done before and is used again as if it had been done now."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self.seconds["reused"] = self.seconds.get("reused", 0.0) + seconds

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the block to that stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def from_probability(
    inputs: Inputs, probability: Values, out_of_sample: Values | None = None, **more: Any
) -> Outcome:
    """Predict the likeliest class, flag the labels that an out-of-sample P contradicts, rank by that P.

    A P that has not seen the label is also read as the chance that the label is wrong: 1 - P(given label).

    Parameters
    ----------
    inputs : Inputs
        The problem.
    probability : ndarray
        P(positive) of the final model for every row, or one column per class.
    out_of_sample : ndarray, optional
        The same of models that have not seen the row's label (out-of-bag, held-out fold). Where it is
        given, the paper's rule - the final model's own prediction differs from the label - is kept as the
        second one.
    **more
        Further fields of `Outcome`.
    """
    columns = by_class(probability)
    predicted = most_likely(columns)
    judged = columns if out_of_sample is None else by_class(out_of_sample)
    contradicts = inputs.is_labeled & (most_likely(judged) != inputs.given)
    suspicion = np.where(inputs.is_labeled, 1 - of_label(inputs, judged), np.nan)
    if out_of_sample is not None:
        by_prediction = inputs.is_labeled & (predicted != inputs.given)
        more["other_flags"] = {"by_prediction": by_prediction} | more.get("other_flags", {})
        more["p_wrong"] = suspicion
    return Outcome(
        predicted=predicted,
        is_flagged=contradicts,
        suspicion=suspicion,
        probability=probability,
        **more,
    )


def by_class(probability: Values) -> Values:
    """Give one column per class; a single P(positive) becomes two."""
    if probability.ndim == 2:
        return probability
    return np.column_stack([1 - probability, probability])


def most_likely(columns: Values) -> Codes:
    """Give the likeliest class of each row; of equal ones the first, so positive means P > 1/2."""
    return np.asarray(columns.argmax(axis=1), dtype=np.int64)


def of_label(inputs: Inputs, columns: Values) -> Values:
    """Give each row's probability of its given label; unlabeled rows get that of class 0."""
    found: Values = columns[np.arange(len(inputs.given)), np.maximum(inputs.given, 0)]
    return found


def folds(
    codes: Codes, seed: int, n_splits: int = 5
) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Shuffled stratified folds, fewer when a class has fewer rows; [] when a class has a single row."""
    from sklearn.model_selection import StratifiedKFold

    n_splits = min(n_splits, int(np.unique(codes, return_counts=True)[1].min()))
    if n_splits < 2:
        return []
    return list(StratifiedKFold(n_splits, shuffle=True, random_state=seed).split(codes, codes))


def out_of_fold(make_model: Any, X: Matrix, codes: Codes, seed: int, n_classes: int = 2) -> Values:
    """P of each class by a model fitted without the row's fold; all equal where no folds can be made."""
    held_out = np.full((len(codes), n_classes), 1 / n_classes)
    for train, test in folds(codes, seed):
        model = make_model().fit(X[train], codes[train])
        held_out[test] = class_probability(model, X[test], n_classes)
    return held_out


def class_probability(model: Any, X: Matrix, n_classes: int) -> Values:
    """Give ``predict_proba`` with one column for each class, 0 for classes the model has not seen."""
    columns = np.zeros((len(X), n_classes))
    columns[:, np.asarray(model.classes_, dtype=np.intp)] = model.predict_proba(X)
    return columns


def positive_probability(model: Any, X: Matrix) -> Values:
    """Give the column of class 1 of ``predict_proba``; a model that saw one class only gives 0 or 1."""
    columns = list(model.classes_)
    if 1 not in columns:
        return np.zeros(len(X))
    return np.asarray(model.predict_proba(X)[:, columns.index(1)], dtype=np.float64)


def spread(inputs: Inputs, labeled_values: Values, other: Values | None = None) -> Values:
    """Put what labeled rows have into an array of all rows; the rest from `other`, or NaN."""
    column = np.full(len(inputs.given), np.nan) if other is None else other.copy()
    column[inputs.is_labeled] = labeled_values
    return column
