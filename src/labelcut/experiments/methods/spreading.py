"""scikit-learn's LabelSpreading on the very graph that CHNC cuts; alpha chosen by five folds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.semi_supervised import LabelSpreading

from labelcut.experiments.data import Codes
from labelcut.experiments.methods.base import (
    Inputs,
    Outcome,
    Stopwatch,
    Values,
    folds,
    from_probability,
    spread,
)
from labelcut.experiments.methods.neighbors import weigh_columns
from labelcut.experiments.noise import UNLABELED
from labelcut.graph import similarity_graph

ALPHAS = (0.1, 0.5, 0.9, 0.99)
"""How much of each row's label comes from its neighbours."""
N_ITERATIONS = 200


def spread_labels(weights: Any, given: Codes, alpha: float, n_classes: int = 2) -> Values:
    """Run LabelSpreading and give P of each class for every row; all equal where no label can be reached."""
    model = LabelSpreading(kernel=lambda X, y: weights, alpha=alpha, max_iter=N_ITERATIONS)
    with warnings.catch_warnings():
        # 0.99 needs more steps than anyone waits for; the sides are settled long before.
        warnings.simplefilter("ignore", ConvergenceWarning)
        # A row that no label reaches is divided by 0 inside; its classes become equal below.
        warnings.filterwarnings("ignore", "invalid value", RuntimeWarning)
        model.fit(np.zeros((len(given), 1)), given)
    if len(model.classes_) == 1:
        return np.asarray(np.eye(n_classes)[np.full(len(given), model.classes_[0])])
    shares = np.zeros((len(given), n_classes))
    shares[:, model.classes_] = np.nan_to_num(model.label_distributions_)
    shares[shares.sum(axis=1) <= 0] = 1 / n_classes
    return shares


def fit(inputs: Inputs) -> Outcome:
    """Predict by the spread labels; flag and rank by spreads that did not know the row's label."""
    watch = Stopwatch()
    n_rows = len(inputs.given)
    X = weigh_columns(inputs, watch)
    with watch.stage("graph"):
        # k and sigma of the paper, section "Implementation Details".
        k, sigma = (15, 0.75) if n_rows < 10000 else (10, 0.5)
        graph = similarity_graph(X, n_neighbors=min(k, n_rows - 1), bandwidth=sigma, n_jobs=inputs.n_jobs)
        weights = sparse.csr_matrix(graph.weights)
    labeled = np.flatnonzero(inputs.is_labeled)
    codes = inputs.given[labeled]
    n_classes = inputs.n_classes
    held_out = np.full((len(ALPHAS), len(labeled), n_classes), 1 / n_classes)
    with watch.stage("folds"):
        for _, rows in folds(codes, inputs.seed):
            hidden = inputs.given.copy()
            hidden[labeled[rows]] = UNLABELED
            for position, alpha in enumerate(ALPHAS):
                held_out[position, rows] = spread_labels(weights, hidden, alpha, n_classes)[labeled[rows]]
    best = int(np.argmax(np.mean(held_out.argmax(axis=2) == codes, axis=1)))
    with watch.stage("spread"):
        probability = spread_labels(weights, inputs.given, ALPHAS[best], n_classes)
    return from_probability(
        inputs,
        probability,
        spread(inputs, held_out[best], probability),
        seconds=watch.seconds,
        notes={"alpha": ALPHAS[best], "unreached_rows": int((np.ptp(probability, axis=1) == 0).sum())},
    )
