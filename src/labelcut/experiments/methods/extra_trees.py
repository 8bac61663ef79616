"""Extremely randomised trees alone: what Confident Learning adds to them is the difference."""

from __future__ import annotations

from functools import partial

from sklearn.ensemble import ExtraTreesClassifier

from labelcut.experiments.methods.base import (
    Inputs,
    Outcome,
    Stopwatch,
    class_probability,
    from_probability,
    out_of_fold,
    spread,
)


def fit(inputs: Inputs, n_trees: int = 100, min_samples_leaf: float = 1) -> Outcome:
    """Predict by all trees; flag and rank by five held-out folds."""
    make = partial(
        ExtraTreesClassifier,
        n_trees,
        min_samples_leaf=min_samples_leaf,
        random_state=inputs.seed,
        n_jobs=inputs.n_jobs,
    )
    watch = Stopwatch()
    X, codes = inputs.X[inputs.is_labeled], inputs.given[inputs.is_labeled]
    with watch.stage("fit"):
        probability = class_probability(make().fit(X, codes), inputs.X, inputs.n_classes)
    with watch.stage("folds"):
        held_out = out_of_fold(make, X, codes, inputs.seed, inputs.n_classes)
    return from_probability(inputs, probability, spread(inputs, held_out, probability), seconds=watch.seconds)
