"""Tasks with several annotators, the ways to combine their labels, and how these are measured.

A name such as ``crowd-3-vote`` is a table of the paper labeled by a simulated crowd, three labels a row;
``people-2-resnet18`` are the pictures of CIFAR-10N with two labels a row by people and a network's
out-of-sample probabilities (:mod:`labelcut.experiments.people`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from labelcut.experiments.data import REAL, Codes, Matrix
from labelcut.experiments.loading import load, rows_of
from labelcut.experiments.noise import seed_of
from labelcut.experiments.people import N_PEOPLE_CLASSES, N_PEOPLE_ROWS, read_people

CROWD, PEOPLE = "crowd", "people"
N_ANNOTATORS = 20
BEST, WORST = 0.95, 0.5
"""Accuracies of a simulated crowd are spread evenly between these; a wrong label is any other class."""


@dataclass(frozen=True)
class CrowdTask:
    """What is known (`said`, `X`, `opinion`) and what an answer is measured by (`truth`)."""

    said: Codes
    """Rows by annotators, -1 where there is no label."""
    truth: Codes
    n_classes: int
    X: Matrix | None = None
    network: Matrix | None = None

    @cached_property
    def opinion(self) -> Matrix:
        """Probabilities of every row by a model that has not seen its labels: the network's or a forest's."""
        if self.network is not None:
            return self.network
        assert self.X is not None
        return _forest(self.X, majority_of(self.said, self.n_classes))


@dataclass(frozen=True)
class CrowdOutcome:
    """The class of each row, the worth of each annotator, the suspicion of each label (NaN at gaps)."""

    consensus: Codes
    quality: npt.NDArray[np.float64]
    suspicion: npt.NDArray[np.float64]


def is_crowd(name: str) -> bool:
    """Tell whether a data set has several annotators."""
    return name.split("-")[0] in (CROWD, PEOPLE)


def crowd_rows(name: str) -> int:
    """Give the number of rows."""
    kind, _, source = name.split("-")
    return N_PEOPLE_ROWS if kind == PEOPLE else rows_of(source)


def crowd_title(name: str) -> str:
    """How tables call the data set."""
    kind, _, source = name.split("-")
    return f"People, {source}" if kind == PEOPLE else f"Crowd, {REAL[source].title}"


def labels_per_row(name: str) -> int:
    """Give the number of labels of each row."""
    return int(name.split("-")[1])


def make_crowd(name: str, seed: int) -> CrowdTask:
    """Draw the labels; those of more labels a row begin with those of fewer."""
    kind, _, source = name.split("-")
    return _people(source, labels_per_row(name), seed) if kind == PEOPLE else _crowd(source, name, seed)


def _crowd(source: str, name: str, seed: int) -> CrowdTask:
    data = load(source)
    rng = np.random.default_rng(seed_of(CROWD, source, seed))
    n, k = len(data.y), data.n_classes
    accuracy = np.linspace(WORST, BEST, N_ANNOTATORS)
    wrong = (data.y[:, None] + rng.integers(1, k, size=(n, N_ANNOTATORS))) % k
    said = np.where(rng.random((n, N_ANNOTATORS)) < accuracy, data.y[:, None], wrong)
    turn = rng.permuted(np.tile(np.arange(N_ANNOTATORS), (n, 1)), axis=1)
    X, said = data.X.astype(np.float64), np.where(turn < labels_per_row(name), said, -1)
    return CrowdTask(said, data.y, k, X)


def votes(said: Codes, n_classes: int) -> npt.NDArray[np.float64]:
    """Count how many annotators name each class of each row."""
    return np.stack([(said == c).sum(axis=1) for c in range(n_classes)], axis=1).astype(np.float64)


def majority_of(said: Codes, n_classes: int) -> Codes:
    """Give the most frequent label of each row; a tie is drawn."""
    counts = votes(said, n_classes)
    drawn = np.random.default_rng(0).random(counts.shape)
    return np.asarray(np.argmax(counts + 0.5 * drawn, axis=1), dtype=np.int64)


def _forest(X: Matrix, majority: Codes) -> Matrix:
    """Give a forest's out-of-fold probabilities, learned from the majority of each row."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import cross_val_predict

    model = RandomForestClassifier(100, min_samples_leaf=5, random_state=0)
    return np.asarray(cross_val_predict(model, X, majority, cv=5, method="predict_proba"))


def _people(network: str, n_labels: int, seed: int) -> CrowdTask:
    people = read_people()
    turn = np.random.default_rng(seed_of(PEOPLE, seed)).permuted(
        np.tile(np.arange(people.said.shape[1]), (len(people.said), 1)), axis=1
    )
    opinion = people.network("aggregate", network)
    return CrowdTask(
        np.where(turn < n_labels, people.said, -1), people.truth, N_PEOPLE_CLASSES, network=opinion
    )


def score_crowd(task: CrowdTask, outcome: CrowdOutcome) -> dict[str, float | None]:
    """Give the accuracy of the answers, the rank correlation of annotators, the AP of wrong labels."""
    from scipy.stats import spearmanr
    from sklearn.metrics import average_precision_score

    is_given = task.said != -1
    hits = (task.said == task.truth[:, None]) & is_given
    real = hits.sum(axis=0) / is_given.sum(axis=0)
    rank = float(spearmanr(real, outcome.quality).statistic) if np.ptp(outcome.quality) > 0 else None
    return {
        "accuracy": float((outcome.consensus == task.truth).mean()),
        "annotator_rank": rank,
        "average_precision": float(average_precision_score(~hits[is_given], outcome.suspicion[is_given])),
    }
