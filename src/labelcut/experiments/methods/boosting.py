"""Gradient boosting that stops when a held-out tenth of the (noisy) labels no longer improves."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from labelcut.experiments.methods.base import (
    Inputs,
    Outcome,
    Stopwatch,
    class_probability,
    from_probability,
    out_of_fold,
    spread,
)


def fit(inputs: Inputs, learning_rate: float = 0.1) -> Outcome:
    """Predict by one boosted model; flag and rank by five held-out folds."""
    X, codes = inputs.X[inputs.is_labeled], inputs.given[inputs.is_labeled]
    # The stopping set is stratified, which needs a few rows of each class.
    can_stop = np.unique(codes, return_counts=True)[1].min() >= 20
    make = partial(
        HistGradientBoostingClassifier,
        learning_rate=learning_rate,
        max_iter=500 if can_stop else 50,
        early_stopping=bool(can_stop),
        random_state=inputs.seed,
    )
    watch = Stopwatch()
    with threadpool_limits(inputs.n_jobs, "openmp"):
        with watch.stage("fit"):
            if len(np.unique(codes)) == 1:
                probability = np.eye(inputs.n_classes)[np.full(len(inputs.given), codes[0])]
                return from_probability(inputs, probability, seconds=watch.seconds)
            model = make().fit(X, codes)
            probability = class_probability(model, inputs.X, inputs.n_classes)
        with watch.stage("folds"):
            held_out = out_of_fold(make, X, codes, inputs.seed, inputs.n_classes)
    return from_probability(
        inputs,
        probability,
        spread(inputs, held_out, probability),
        seconds=watch.seconds,
        notes={"n_iter": int(model.n_iter_)},
    )
