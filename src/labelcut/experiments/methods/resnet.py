"""The tabular ResNet under DivideMix and Co-teaching+, and the same network with plain cross-entropy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from labelcut.experiments.methods.base import Inputs, Outcome, Stopwatch, Values, from_probability

Rows = npt.NDArray[np.intp]

N_BLOCKS = 10
DROPOUT = 0.2
"""The paper states the first dropout's rate; the second's is taken to be the same."""
LARGE = 10000
"""From this many rows on, labeled or not, batches have 128 rows instead of 32."""


class Block(nn.Module):
    """x + Dropout(Linear(Dropout(ReLU(Linear(BatchNorm(x))))))."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.path = nn.Sequential(
            nn.BatchNorm1d(width),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Dropout(DROPOUT),
            nn.Linear(width, width),
            nn.Dropout(DROPOUT),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add the path to its input."""
        return x + self.path(x)


def build_network(n_features: int) -> Any:
    """Linear to twice the width, ten blocks, BatchNorm, ReLU, Linear to two logits."""
    width = 2 * n_features
    return nn.Sequential(
        nn.Linear(n_features, width),
        *(Block(width) for _ in range(N_BLOCKS)),
        nn.BatchNorm1d(width),
        nn.ReLU(),
        nn.Linear(width, 2),
    )


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
) -> list[Rows]:
    """Cut a shuffled copy of `rows` into batches; a last batch of one row joins the one before.

    BatchNorm cannot train on a single row. ``drop_last`` leaves out an incomplete last batch, unless it is
    the only one.
    """
    shuffled = rng.permutation(rows)
    cut = [shuffled[start : start + size] for start in range(0, len(shuffled), size)]
    if drop_last and len(cut) > 1 and len(cut[-1]) < size:
        cut.pop()
    if len(cut) > 1 and len(cut[-1]) == 1:
        cut[-2:] = [np.concatenate(cut[-2:])]
    return cut


def as_tensors(inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Give all rows, the labeled rows and their labels; two labeled rows are the least."""
    labeled = inputs.is_labeled
    if labeled.sum() < 2:
        raise ValueError(f"{labeled.sum()} labeled row; the network's BatchNorm needs at least two.")
    everything = torch.from_numpy(inputs.X.astype(np.float32))
    return everything, everything[torch.from_numpy(labeled)], torch.from_numpy(inputs.given[labeled])


def logits_of(network: Any, X: torch.Tensor) -> torch.Tensor:
    """Answer in evaluation mode, in pieces that fit the cache."""
    network.eval()
    with torch.no_grad():
        return torch.cat([network(piece) for piece in X.split(4096)])


def positive_share(logits: torch.Tensor) -> Values:
    """P(positive) by softmax."""
    share: Values = logits.double().softmax(dim=1)[:, 1].numpy()
    return share


def train_epoch(network: Any, optimizer: Any, X: torch.Tensor, y: torch.Tensor, batches: list[Rows]) -> None:
    """Do one pass of plain cross-entropy."""
    network.train()
    for batch in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(X[batch]), y[batch]).backward()
        optimizer.step()


def fit(inputs: Inputs, n_epochs: int = 100, patience: int = 10, learning_rate: float = 1e-3) -> Outcome:
    """Train until a held-out tenth of the given labels has set no new high for `patience` epochs."""
    watch = Stopwatch()
    everything, X, y = as_tensors(inputs)
    size = batch_size(len(inputs.given))
    with watch.stage("fit"), one_seeded_thread(inputs.seed) as rng:
        order = rng.permutation(len(y))
        n_held = len(y) // 10
        held, train = order[:n_held], order[n_held:]
        network = build_network(X.shape[1])
        optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
        best, best_epoch, kept = -1.0, 0, network.state_dict()
        for epoch in range(n_epochs):
            train_epoch(network, optimizer, X, y, shuffled_batches(train, size, rng))
            judged = held if n_held else train
            accuracy = float((logits_of(network, X[judged]).argmax(1) == y[judged]).float().mean())
            if accuracy > best:
                best, best_epoch = accuracy, epoch
                kept = {name: value.clone() for name, value in network.state_dict().items()}
            elif epoch - best_epoch >= patience:
                break
        network.load_state_dict(kept)
        probability = positive_share(logits_of(network, everything))
    return from_probability(inputs, probability, seconds=watch.seconds, notes={"epochs": epoch + 1})
