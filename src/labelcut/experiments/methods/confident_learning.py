"""Confident Learning by cleanlab: CleanLearning around a classifier, or Datalab from the features alone."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
import torch  # noqa: F401 - cleanlab imports it at first use, in the midst of a timed run
from cleanlab import Datalab
from cleanlab.classification import CleanLearning
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

from labelcut.experiments.methods.base import (
    Inputs,
    Outcome,
    Stopwatch,
    class_probability,
    from_probability,
    positive_probability,
    spread,
)
from labelcut.experiments.methods.forest import N_TREES, tune_forest


def _base_model(inputs: Inputs, base: str, watch: Stopwatch) -> tuple[Any, dict[str, Any]]:
    if base == "extra_trees":
        return ExtraTreesClassifier(100, random_state=inputs.seed, n_jobs=inputs.n_jobs), {}
    leaf = tune_forest(inputs, watch).leaf_share
    forest = RandomForestClassifier(
        N_TREES, min_samples_leaf=leaf, random_state=inputs.seed, n_jobs=inputs.n_jobs
    )
    return forest, {"leaf_share": leaf}


def fit(inputs: Inputs, base: str = "extra_trees") -> Outcome:
    """Find label issues on held-out folds, prune them, refit; flag where the refitted model disagrees.

    The library's own mask of issues is kept as the second rule, and is what it expects to be wrong.
    """
    watch = Stopwatch()
    X, codes = inputs.X[inputs.is_labeled], inputs.given[inputs.is_labeled]
    n_folds = min(5, int(np.unique(codes, return_counts=True)[1].min()))
    model, notes = _base_model(inputs, base, watch)
    with watch.stage("fit"):
        learner = CleanLearning(
            model, seed=inputs.seed, cv_n_folds=n_folds, find_label_issues_kwargs={"n_jobs": 1}
        )
        learner.fit(X, codes)
        probability = class_probability(learner.clf, inputs.X, inputs.n_classes)
    issues = learner.get_label_issues()
    mask = np.zeros(len(inputs.given), dtype=bool)
    mask[inputs.is_labeled] = issues["is_label_issue"].to_numpy()
    outcome = from_probability(inputs, probability, seconds=watch.seconds, notes=notes)
    return Outcome(
        predicted=outcome.predicted,
        is_flagged=outcome.is_flagged,
        suspicion=spread(inputs, 1 - issues["label_quality"].to_numpy()),
        probability=probability,
        expected_wrong=float(mask.sum()),
        other_flags={"library_mask": mask},
        seconds=watch.seconds,
        notes=notes,
    )


def fit_datalab(inputs: Inputs) -> Outcome:
    """Let Datalab judge the labels from its own neighbour graph; predict by that graph's vote."""
    watch = Stopwatch()
    X, codes = inputs.X[inputs.is_labeled], inputs.given[inputs.is_labeled]
    # Datalab reports on standard output and measures its neighbours by cosine from four columns on. One run
    # is one process, so it is kept from starting workers.
    k = min(10, len(codes) // 2)
    alone = {"find_label_issues_kwargs": {"n_jobs": 1}}
    with watch.stage("fit"), contextlib.redirect_stdout(io.StringIO()) as printed:
        lab = Datalab({"label": codes.tolist()}, label_name="label", verbosity=0)
        lab.find_issues(features=X, issue_types={"label": {"k": k, "clean_learning_kwargs": alone}})
        try:
            issues = lab.get_issues("label")
        except ValueError as error:  # what went wrong before was only printed
            raise ValueError(f"Datalab gave up: {printed.getvalue().strip()}") from error
    kept = ~issues["is_label_issue"].to_numpy()
    with watch.stage("predict"):
        voter = KNeighborsClassifier(
            min(k, int(kept.sum())), metric="cosine" if X.shape[1] > 3 else "euclidean"
        )
        probability = positive_probability(voter.fit(X[kept], codes[kept]), inputs.X)
    flagged = np.zeros(len(inputs.given), dtype=bool)
    flagged[inputs.is_labeled] = ~kept
    return Outcome(
        predicted=(probability > 0.5).astype(np.int64),
        is_flagged=flagged,
        suspicion=spread(inputs, 1 - issues["label_score"].to_numpy()),
        probability=probability,
        seconds=watch.seconds,
    )
