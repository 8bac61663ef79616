"""Pictures with labels by people and opinions by networks: the tasks, and how answers are measured.

``pictures-worst-swin`` has the labels `worst` and the probabilities of the network swin; ``both`` instead of
a network has both. With ``+embedding`` the other network's centred log-probabilities make the neighbours;
with both networks, those of both. ``@odd`` keeps the pictures of odd number: the method was developed on the
others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labelcut.experiments.data import Codes, Matrix
from labelcut.experiments.methods.base import Outcome
from labelcut.experiments.noise import Mask
from labelcut.experiments.people import LABEL_SETS, N_PEOPLE_CLASSES, N_PEOPLE_ROWS, NETWORKS, read_people
from labelcut.experiments.scores import CLIP, noise_scores, ranking_auc

PICTURES, BOTH, EMBEDDING, ODD = "pictures", "both", "+embedding", "@odd"
LEAST_SHARE = 1e-4
"""Probabilities below this count as this in an embedding."""


@dataclass(frozen=True)
class PictureName:
    """A data set's name in its parts."""

    label_set: str
    who: str
    """A network, or both."""
    has_embedding: bool
    is_odd: bool

    @classmethod
    def read(cls, name: str) -> PictureName:
        """Take a name apart, or say what there is."""
        rest = name.removesuffix(ODD)
        whole = rest.removesuffix(EMBEDDING)
        parts = whole.split("-")
        is_known = len(parts) == 3 and parts[0] == PICTURES
        if not is_known or parts[1] not in LABEL_SETS or parts[2] not in (*NETWORKS, BOTH):
            raise ValueError(
                f"no data set {name!r}; it is {PICTURES}-LABELS-WHO with LABELS one of "
                f"{', '.join(LABEL_SETS)}, WHO one of {', '.join((*NETWORKS, BOTH))}, and then perhaps "
                f"{EMBEDDING} and {ODD}."
            )
        return cls(parts[1], parts[2], whole != rest, rest != name)

    @property
    def networks(self) -> tuple[str, ...]:
        """Whose opinions are given."""
        return NETWORKS if self.who == BOTH else (self.who,)


@dataclass(frozen=True)
class PictureTask:
    """What is known (`given`, `opinions`, `embedding`) and what an answer is measured by (`truth`)."""

    given: Codes
    truth: Codes
    opinions: dict[str, Matrix]
    embedding: Matrix | None
    n_classes: int = N_PEOPLE_CLASSES

    @property
    def is_wrong(self) -> Mask:
        """Labels that are wrong."""
        return np.asarray(self.given != self.truth)

    @property
    def mean_opinion(self) -> Matrix:
        """The plain mean of the networks, for methods that take one opinion."""
        return np.asarray(np.mean(list(self.opinions.values()), axis=0))


def is_pictures(name: str) -> bool:
    """Tell whether a data set is one of these."""
    return name.split("-")[0] == PICTURES


def picture_rows(name: str) -> int:
    """Give the number of rows, or about that."""
    return N_PEOPLE_ROWS // (2 if PictureName.read(name).is_odd else 1)


def make_pictures(name: str) -> PictureTask:
    """Read labels, opinions and embedding."""
    parts, people = PictureName.read(name), read_people()
    kept = people.image % 2 == 1 if parts.is_odd else np.ones(N_PEOPLE_ROWS, dtype=bool)
    by_network = {network: people.network(parts.label_set, network)[kept] for network in NETWORKS}
    embedding = None
    if parts.has_embedding:
        others = [n for n in NETWORKS if n not in parts.networks] or NETWORKS
        embedding = np.hstack([centred_logs(by_network[network]) for network in others])
    return PictureTask(
        given=people.labels(parts.label_set)[kept],
        truth=people.truth[kept],
        opinions={network: by_network[network] for network in parts.networks},
        embedding=embedding,
    )


def centred_logs(probability: Matrix) -> Matrix:
    """Give log-probabilities whose mean is 0 in every row."""
    logs = np.log(np.maximum(probability, LEAST_SHARE))
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def score_pictures(task: PictureTask, outcome: Outcome) -> dict[str, float | None]:
    """Measure ranking, flags, the expected number of wrong labels, and the predicted classes."""
    from sklearn.metrics import average_precision_score

    expected = outcome.expected_wrong
    if expected is None and outcome.p_wrong is not None:
        expected = float(outcome.p_wrong.sum())
    values: dict[str, float | None] = {
        "average_precision": float(average_precision_score(task.is_wrong, outcome.suspicion)),
        "noise_auc": ranking_auc(task.is_wrong, outcome.suspicion),
        **noise_scores(task.is_wrong, outcome.is_flagged),
        "wrong_share": float(task.is_wrong.mean()),
        "flagged_share": float(outcome.is_flagged.mean()),
        "expected_share": None if expected is None else expected / task.given.size,
        "accuracy": float(np.mean(outcome.predicted == task.truth)),
        "log_loss": None,
    }
    if outcome.probability is not None:
        hit = outcome.probability[np.arange(task.truth.size), task.truth]
        values["log_loss"] = float(-np.mean(np.log(np.clip(hit, CLIP, 1 - CLIP))))
    return values
