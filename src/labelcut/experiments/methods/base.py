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
    """0, 1, or -1 for rows without a label."""
    seed: int = 0
    n_jobs: int = 1
    name: str = ""
    """The data set; the paper gives DivideMix another learning rate on two of them."""
    told_noise: float | None = None
    """The injected share of wrong labels. Only Co-teaching+ looks at it, as its authors do."""
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
    """P(positive) for every row."""
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
    """Predict by P > 1/2, flag the labels that an out-of-sample P contradicts, rank by that P.

    Parameters
    ----------
    inputs : Inputs
        The problem.
    probability : ndarray
        P(positive) of the final model for every row.
    out_of_sample : ndarray, optional
        P(positive) of models that have not seen the row's label (out-of-bag, held-out fold). Where it is
        given, the paper's rule - the final model's own prediction differs from the label - is kept as the
        second one.
    **more
        Further fields of `Outcome`.
    """
    judged = probability if out_of_sample is None else out_of_sample
    contradicts = inputs.is_labeled & ((judged > 0.5) != (inputs.given == 1))
    suspicion = np.where(inputs.given == 1, 1 - judged, judged)
    if out_of_sample is not None:
        by_prediction = inputs.is_labeled & ((probability > 0.5) != (inputs.given == 1))
        more["other_flags"] = {"by_prediction": by_prediction} | more.get("other_flags", {})
    return Outcome(
        predicted=(probability > 0.5).astype(np.int64),
        is_flagged=contradicts,
        suspicion=np.where(inputs.is_labeled, suspicion, np.nan),
        probability=probability,
        **more,
    )


def folds(
    codes: Codes, seed: int, n_splits: int = 5
) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Shuffled stratified folds, fewer when a class has fewer rows; [] when a class has a single row."""
    from sklearn.model_selection import StratifiedKFold

    n_splits = min(n_splits, int(np.unique(codes, return_counts=True)[1].min()))
    if n_splits < 2:
        return []
    return list(StratifiedKFold(n_splits, shuffle=True, random_state=seed).split(codes, codes))


def out_of_fold(make_model: Any, X: Matrix, codes: Codes, seed: int) -> Values:
    """P(positive) of each row by a model fitted without its fold; 1/2 where no folds can be made."""
    held_out = np.full(len(codes), 0.5)
    for train, test in folds(codes, seed):
        held_out[test] = positive_probability(make_model().fit(X[train], codes[train]), X[test])
    return held_out


def positive_probability(model: Any, X: Matrix) -> Values:
    """Give the column of class 1 of ``predict_proba``; a model that saw one class only gives 0 or 1."""
    columns = list(model.classes_)
    if 1 not in columns:
        return np.zeros(len(X))
    return np.asarray(model.predict_proba(X)[:, columns.index(1)], dtype=np.float64)


def spread(inputs: Inputs, labeled_values: Values, other: Values | None = None) -> Values:
    """Put one value per labeled row into a column of all rows; the rest from `other`, or NaN."""
    column = np.full(len(inputs.given), np.nan) if other is None else other.copy()
    column[inputs.is_labeled] = labeled_values
    return column
