"""Random forest, leaf size chosen by out-of-bag log-loss: the model CHNC trains for its weights anyway."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss

from labelcut.experiments.data import Codes, Matrix
from labelcut.experiments.methods.base import (
    Inputs,
    Outcome,
    Stopwatch,
    Values,
    from_probability,
    positive_probability,
    spread,
)

LEAF_SHARES = (0.001, 0.003, 0.01, 0.03)
N_TREES = 150


@dataclass(frozen=True)
class TunedForest:
    """The chosen forest and its out-of-bag P(positive) of the rows it was fitted on."""

    model: Any
    leaf_share: float
    out_of_bag: Values
    seconds: float

    @property
    def importances(self) -> Values:
        """Share of each column; equal where no tree found a split."""
        found: Values = self.model.feature_importances_
        return found if found.any() else np.ones(len(found)) / len(found)


def tune_forest(inputs: Inputs, watch: Stopwatch) -> TunedForest:
    """Fit one forest per leaf size to the labeled rows; choose the one with the smallest out-of-bag log-loss.

    Several methods need the same forest, and a study asks them in turn: it is kept, and its time charged to
    each of them.
    """
    kept: TunedForest | None = inputs.kept.find("tuned forest", inputs.fingerprint)
    if kept is not None:
        watch.charge("forest", kept.seconds)
        return kept
    X, codes = inputs.X[inputs.is_labeled], inputs.given[inputs.is_labeled]
    with watch.stage("forest"):
        forest = _tune_forest(X, codes, seed=inputs.seed, n_jobs=inputs.n_jobs)
    return inputs.kept.keep("tuned forest", inputs.fingerprint, forest)


def _tune_forest(X: Matrix, codes: Codes, *, seed: int, n_jobs: int) -> TunedForest:
    start = time.perf_counter()
    chosen: tuple[Any, float, Values] | None = None
    best_loss = np.inf
    for share in LEAF_SHARES:
        model = RandomForestClassifier(
            N_TREES, min_samples_leaf=share, oob_score=True, random_state=seed, n_jobs=n_jobs
        ).fit(X, codes)
        if len(model.classes_) == 1:
            return TunedForest(model, share, positive_probability(model, X), time.perf_counter() - start)
        held_out = np.nan_to_num(model.oob_decision_function_[:, 1], nan=0.5)
        loss = log_loss(codes, np.clip(held_out, 1e-3, 1 - 1e-3))
        if loss < best_loss:
            chosen, best_loss = (model, share, held_out), loss
    assert chosen is not None
    return TunedForest(*chosen, time.perf_counter() - start)


def fit(inputs: Inputs) -> Outcome:
    """Predict by the forest; flag and rank by its out-of-bag probabilities."""
    watch = Stopwatch()
    forest = tune_forest(inputs, watch)
    with watch.stage("predict"):
        probability = positive_probability(forest.model, inputs.X)
    return from_probability(
        inputs,
        probability,
        spread(inputs, forest.out_of_bag, probability),
        seconds=watch.seconds,
        notes={"leaf_share": forest.leaf_share},
    )
