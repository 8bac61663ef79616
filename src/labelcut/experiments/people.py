"""The labels of people: CIFAR-10N with two networks' out-of-sample probabilities, read from a local folder.

The labels are published for non-commercial use (CC BY-NC 4.0), so the file is no part of the project and is
never downloaded. It is ``real-errors/cifar10n.npz`` in the folder named by ``LABELCUT_DATA``.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from labelcut.experiments.data import DATA_VARIABLE, Codes, DataError, Matrix

N_PEOPLE_ROWS, N_PEOPLE_CLASSES = 15_000, 10
LABEL_SETS = ("aggregate", "worst")
"""The majority of three people, and a wrong answer of the three if there is one."""
NETWORKS = ("resnet18", "swin")
SHA256 = "a35f2dafe7b66eb27dc74b2b3dcb3322e4b52815895af28f0f1c4b50097979e2"


class People:
    """The arrays of the file; each is read when it is asked for."""

    def __init__(self, arrays: dict[str, npt.NDArray[np.generic]]) -> None:
        self._arrays = arrays

    @property
    def image(self) -> Codes:
        """The number of each picture."""
        return self._arrays["image"].astype(np.int64)

    @property
    def truth(self) -> Codes:
        """The class of each picture."""
        return self._arrays["true"].astype(np.int64)

    @property
    def said(self) -> Codes:
        """What three people said, a column each."""
        return self._arrays["annotators"].astype(np.int64)

    def labels(self, label_set: str) -> Codes:
        """One label a picture, by one of the `LABEL_SETS`."""
        return self._arrays[label_set].astype(np.int64)

    def network(self, label_set: str, network: str) -> Matrix:
        """Probabilities by one of the `NETWORKS`, trained on these labels in other folds."""
        p = self._arrays[f"{label_set}_{network}"].astype(np.float64)
        return np.asarray(p / p.sum(axis=1, keepdims=True))


def read_people() -> People:
    """Read the file and hold it against its SHA-256."""
    path = Path(os.environ.get(DATA_VARIABLE) or ".") / "real-errors" / "cifar10n.npz"
    if not path.is_file():
        raise DataError(f"{path} is not there; put CIFAR-10N there as docs/reproduce.md says.")
    if hashlib.sha256(path.read_bytes()).hexdigest() != SHA256:
        raise DataError(f"{path} is not the file the studies were made with; its SHA-256 must be {SHA256}.")
    with np.load(path) as arrays:
        return People(dict(arrays))
