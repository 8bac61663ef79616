"""Edited nearest neighbours (ENN, or repeated: RENN) by imbalanced-learn, then k-NN on what is left."""

from __future__ import annotations

import numpy as np
from imblearn.under_sampling import EditedNearestNeighbours, RepeatedEditedNearestNeighbours
from sklearn.neighbors import KNeighborsClassifier

from labelcut.experiments.methods.base import (
    Inputs,
    Outcome,
    Stopwatch,
    positive_probability,
    spread,
)
from labelcut.experiments.methods.neighbors import neighbor_votes, weigh_columns


def fit(inputs: Inputs, repeated: bool = False, n_neighbors: int = 15) -> Outcome:
    """Remove labels their neighbours outvote; they are the flags, ranked by that vote."""
    watch = Stopwatch()
    labeled = inputs.is_labeled
    X = weigh_columns(inputs, watch)
    codes = inputs.given[labeled]
    k = min(n_neighbors, len(codes) - 1)
    sampler = RepeatedEditedNearestNeighbours if repeated else EditedNearestNeighbours
    with watch.stage("edit"):
        # The library's default cleans the majority class only.
        editor = sampler(sampling_strategy="all", n_neighbors=k, kind_sel="mode", n_jobs=inputs.n_jobs)
        kept = np.zeros(len(codes), dtype=bool)
        if len(np.unique(codes)) > 1:
            editor.fit_resample(X[labeled], codes)
            kept[editor.sample_indices_] = True
        if not kept.any():  # one class only, or every label outvoted
            kept[:] = True
    with watch.stage("predict"):
        voter = KNeighborsClassifier(min(k, int(kept.sum())), algorithm="brute", n_jobs=inputs.n_jobs)
        probability = positive_probability(voter.fit(X[labeled][kept], codes[kept]), X)
        vote = neighbor_votes(X[labeled], (codes == 1).astype(float), None, inputs.n_jobs, k)[:, -1]
    flagged = np.zeros(len(inputs.given), dtype=bool)
    flagged[labeled] = ~kept
    return Outcome(
        predicted=(probability > 0.5).astype(np.int64),
        is_flagged=flagged,
        suspicion=spread(inputs, np.where(codes == 1, 1 - vote, vote)),
        probability=probability,
        seconds=watch.seconds,
    )
