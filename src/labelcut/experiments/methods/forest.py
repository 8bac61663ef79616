"""Random forest, leaf size chosen by out-of-bag log-loss: the model CHNC trains for its weights anyway."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from labelcut.experiments.data import Codes, Matrix
from labelcut.experiments.methods.base import (
    Inputs,
    Outcome,
    Stopwatch,
    Values,
    class_probability,
    from_probability,
    spread,
)

LEAF_SHARES = (0.001, 0.003, 0.01, 0.03)
N_TREES = 150
CLIP = 1e-3
"""Probabilities are kept this far from 0 and 1 in the log-loss that chooses a leaf size."""


@dataclass(frozen=True)
class TunedForest:
    """The chosen forest and its out-of-bag P of each class for the rows it was fitted on."""

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
        forest = _tune_forest(X, codes, inputs)
    return inputs.kept.keep("tuned forest", inputs.fingerprint, forest)


def _tune_forest(X: Matrix, codes: Codes, inputs: Inputs) -> TunedForest:
    start = time.perf_counter()
    chosen: tuple[Any, float, Values] | None = None
    best_loss = np.inf
    for share in LEAF_SHARES:
        model, held_out = grow_forest(X, codes, inputs, share)
        if len(model.classes_) == 1:
            return TunedForest(model, share, held_out, time.perf_counter() - start)
        loss = -float(np.mean(np.log(np.clip(held_out[np.arange(len(codes)), codes], CLIP, 1 - CLIP))))
        if loss < best_loss:
            chosen, best_loss = (model, share, held_out), loss
    assert chosen is not None
    return TunedForest(*chosen, time.perf_counter() - start)


def grow_forest(X: Matrix, codes: Codes, inputs: Inputs, leaf: float) -> tuple[Any, Values]:
    """Fit one forest, leaves of at least that share (or number) of rows; give it and its out-of-bag P."""
    model = RandomForestClassifier(
        N_TREES, min_samples_leaf=leaf, oob_score=True, random_state=inputs.seed, n_jobs=inputs.n_jobs
    ).fit(X, codes)
    if len(model.classes_) == 1:
        return model, class_probability(model, X, inputs.n_classes)
    held_out = np.zeros((len(codes), inputs.n_classes))
    held_out[:, np.asarray(model.classes_, dtype=np.intp)] = model.oob_decision_function_
    held_out[np.isnan(held_out).any(axis=1)] = 1 / inputs.n_classes  # in every tree's bag
    return model, held_out


def fit(inputs: Inputs) -> Outcome:
    """Predict by the forest; flag and rank by its out-of-bag probabilities."""
    watch = Stopwatch()
    forest = tune_forest(inputs, watch)
    with watch.stage("predict"):
        probability = class_probability(forest.model, inputs.X, inputs.n_classes)
    return from_probability(
        inputs,
        probability,
        spread(inputs, forest.out_of_bag, probability),
        seconds=watch.seconds,
        notes={"leaf_share": forest.leaf_share},
    )


def fit_plain(inputs: Inputs) -> Outcome:
    """Rank by the out-of-bag contradiction of one fully grown forest, flag where its prediction differs."""
    watch = Stopwatch()
    X, codes = inputs.X[inputs.is_labeled], inputs.given[inputs.is_labeled]
    with watch.stage("forest"):
        model, held_out = grow_forest(X, codes, inputs, 1)
        probability = class_probability(model, inputs.X, inputs.n_classes)
    return from_probability(inputs, probability, spread(inputs, held_out, probability), seconds=watch.seconds)
