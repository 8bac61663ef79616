"""The tabular ResNet with plain cross-entropy, and what it shares with DivideMix and Co-teaching+."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional as F

from labelcut.experiments.methods.base import Inputs, Outcome, Stopwatch, Values, from_probability
from labelcut.experiments.methods.networks import Networks, descend

Rows = npt.NDArray[np.intp]

LARGE = 10000
"""From this many rows on, labeled or not, batches have 128 rows instead of 32."""


@contextmanager
def one_seeded_thread(seed: int) -> Iterator[np.random.Generator]:
    """Fix torch's random numbers and use one thread, then put both back as they were."""
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield np.random.default_rng(seed)
        finally:
            torch.set_num_threads(threads)


def batch_size(n_rows: int) -> int:
    """Choose 32, or 128 from 10000 rows on, as the paper does."""
    return 128 if n_rows >= LARGE else 32


def shuffled_batches(
    rows: Rows, size: int, rng: np.random.Generator, *, drop_last: bool = False
) -> list[torch.Tensor]:
    """Cut a shuffled copy of `rows` into batches; a last batch of one row joins the one before.

    BatchNorm cannot train on a single row. ``drop_last`` leaves out an incomplete last batch, unless it is
    the only one.
    """
    cut = list(torch.from_numpy(rng.permutation(rows)).split(size))
    if drop_last and len(cut) > 1 and len(cut[-1]) < size:
        cut.pop()
    if len(cut) > 1 and len(cut[-1]) == 1:
        cut[-2:] = [torch.cat(cut[-2:])]
    return cut


def as_tensors(inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Give all rows, the labeled rows and their labels; two labeled rows are the least."""
    labeled = inputs.is_labeled
    if labeled.sum() < 2:
        raise ValueError(f"{labeled.sum()} labeled row; the network's BatchNorm needs at least two.")
    everything = torch.from_numpy(inputs.X.astype(np.float32))
    return everything, everything[torch.from_numpy(labeled)], torch.from_numpy(inputs.given[labeled])


def positive_share(logits: torch.Tensor) -> Values:
    """P(positive) by softmax."""
    share: Values = logits.double().softmax(dim=-1)[..., 1].numpy()
    return share


def train_epoch(
    network: Networks, optimizer: Any, X: torch.Tensor, y: torch.Tensor, batches: list[torch.Tensor]
) -> None:
    """Do one pass of plain cross-entropy with a single network."""
    for rows in batches:
        logits = network.forward(X[rows])
        descend(network, optimizer, F.cross_entropy(logits[0], y[rows]), logits)


def fit(inputs: Inputs, n_epochs: int = 100, patience: int = 10, learning_rate: float = 1e-3) -> Outcome:
    """Train until a held-out tenth of the given labels has set no new high for `patience` epochs."""
    watch = Stopwatch()
    everything, X, y = as_tensors(inputs)
    size = batch_size(len(inputs.given))
    with watch.stage("fit"), one_seeded_thread(inputs.seed) as rng:
        order = rng.permutation(len(y))
        n_held = len(y) // 10
        held, train = order[:n_held], order[n_held:]
        judged = held if n_held else train
        network = Networks(1, X.shape[1], rng)
        optimizer = torch.optim.Adam([network.values], lr=learning_rate, fused=True)
        best, best_epoch, kept = -1.0, 0, network.state()
        for epoch in range(n_epochs):
            train_epoch(network, optimizer, X, y, shuffled_batches(train, size, rng))
            accuracy = float((network.evaluate(X[judged])[0].argmax(1) == y[judged]).float().mean())
            if accuracy > best:
                best, best_epoch, kept = accuracy, epoch, network.state()
            elif epoch - best_epoch >= patience:
                break
        network.restore(kept)
        probability = positive_share(network.evaluate(everything)[0])
    return from_probability(inputs, probability, seconds=watch.seconds, notes={"epochs": epoch + 1})
