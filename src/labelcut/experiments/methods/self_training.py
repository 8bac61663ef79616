"""scikit-learn's SelfTrainingClassifier around the tuned forest: its sure predictions become labels."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.semi_supervised import SelfTrainingClassifier

from labelcut.experiments.methods.base import (
    Inputs,
    Outcome,
    Stopwatch,
    class_probability,
    from_probability,
    spread,
)
from labelcut.experiments.methods.forest import N_TREES, tune_forest


def fit(inputs: Inputs) -> Outcome:
    """Label rows of which the forest is sure (P of 0.75, the library's default), at most ten times over.

    The given labels stay as they are; flags and ranking are the last forest's, out of bag.
    """
    watch = Stopwatch()
    leaf = tune_forest(inputs, watch).leaf_share
    with watch.stage("fit"):
        forest = RandomForestClassifier(
            N_TREES, min_samples_leaf=leaf, oob_score=True, random_state=inputs.seed, n_jobs=inputs.n_jobs
        )
        with warnings.catch_warnings():
            # Without unlabeled rows there is nothing to train on itself; it is the forest then.
            warnings.filterwarnings("ignore", "y contains no unlabeled samples", UserWarning)
            # A row in the bag of every tree has no vote; its classes become equal below.
            warnings.filterwarnings("ignore", "Some inputs do not have OOB scores", UserWarning)
            warnings.filterwarnings("ignore", "invalid value encountered", RuntimeWarning)
            model = SelfTrainingClassifier(forest).fit(inputs.X, inputs.given)
        probability = class_probability(model.estimator_, inputs.X, inputs.n_classes)
    held_out = probability.copy()
    # The last forest was fitted to these rows, in their order.
    fitted = np.flatnonzero(model.labeled_iter_ >= 0)
    out_of_bag = np.asarray(model.estimator_.oob_decision_function_)
    if len(model.classes_) > 1:
        columns = np.zeros((len(fitted), inputs.n_classes))
        columns[:, np.asarray(model.classes_, dtype=np.intp)] = out_of_bag
        columns[np.isnan(columns).any(axis=1)] = 1 / inputs.n_classes
        held_out[fitted] = columns
    return from_probability(
        inputs,
        probability,
        spread(inputs, held_out[inputs.is_labeled], probability),
        seconds=watch.seconds,
        notes={
            "leaf_share": leaf,
            "rounds": int(model.n_iter_),
            "added": int((model.labeled_iter_ > 0).sum()),
        },
    )
