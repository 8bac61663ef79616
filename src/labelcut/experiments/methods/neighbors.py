"""k nearest neighbours on CHNC's metric (forest importances), k chosen by leaving one out."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from labelcut.experiments.data import Matrix
from labelcut.experiments.methods.base import Inputs, Outcome, Stopwatch, Values, from_probability, spread
from labelcut.experiments.methods.forest import tune_forest
from labelcut.hnc.columns import weight_columns

NEIGHBOR_COUNTS = (5, 15, 31, 51)


def weigh_columns(inputs: Inputs, watch: Stopwatch) -> Matrix:
    """Stretch each column by the root of its forest importance, the importances scaled to sum to H."""
    forest = tune_forest(inputs, watch)
    return weight_columns(inputs.X, forest.importances)


def neighbor_votes(X: Matrix, targets: Values, queries: Matrix | None, n_jobs: int, most: int) -> Values:
    """Give the positive share of the nearest 1, 2, ..., `most` rows; ``queries=None`` leaves each row out."""
    index = NearestNeighbors(n_neighbors=most, algorithm="brute", n_jobs=n_jobs).fit(X)
    nearest = index.kneighbors(queries, return_distance=False)
    votes: Values = np.cumsum(targets[nearest], axis=1) / np.arange(1, most + 1)
    return votes


def fit(inputs: Inputs) -> Outcome:
    """Predict, flag and rank by the share of positive labels among the k nearest labeled rows."""
    watch = Stopwatch()
    labeled = inputs.is_labeled
    X = weigh_columns(inputs, watch)
    targets = (inputs.given[labeled] == 1).astype(float)
    most = min(NEIGHBOR_COUNTS[-1], len(targets) - 1)
    with watch.stage("neighbors"):
        held_out = neighbor_votes(X[labeled], targets, None, inputs.n_jobs, most)
        counts = [k for k in NEIGHBOR_COUNTS if k <= most] or [most]
        accuracy = [np.mean((held_out[:, k - 1] > 0.5) == (targets == 1)) for k in counts]
        k = counts[int(np.argmax(accuracy))]
        probability = np.empty(len(X))
        probability[labeled] = held_out[:, k - 1]
        if (~labeled).any():
            probability[~labeled] = neighbor_votes(X[labeled], targets, X[~labeled], inputs.n_jobs, k)[:, -1]
    return from_probability(
        inputs,
        probability,
        spread(inputs, held_out[:, k - 1], probability),
        seconds=watch.seconds,
        notes={"k": k},
    )
