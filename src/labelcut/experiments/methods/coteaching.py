"""Co-teaching+ (Yu and others, ICML 2019) on the tabular ResNet, written from its description.

Two networks look at the rows of a batch on which they disagree; each learns from those the *other* finds
easiest. It is the only method here that is told the share of wrong labels.

``mode="reference"`` keeps two habits of the authors' public code, with which the paper's numbers were made:
softmax before the cross-entropy (which applies another one), and the mean loss divided by the number of
rows once more. ``mode="clean"`` has neither, and does not learn from batches without disagreement.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from labelcut.experiments.methods.base import Inputs, Outcome, Stopwatch, Values, from_probability
from labelcut.experiments.methods.networks import Networks, descend
from labelcut.experiments.methods.resnet import (
    as_tensors,
    batch_size,
    one_seeded_thread,
    positive_share,
    shuffled_batches,
)

N_GRADUAL = 10
"""Epochs in which the share of forgotten rows rises to its end."""
DECAY_FROM = 80
LAST_AGREEING_STEP = 5000
"""Batches without disagreement are learnt from while epoch * batch number is below this."""


def forget_rates(share: float, n_epochs: int) -> Values:
    """Share of rows to leave out, per epoch: from 0 to `share` over the first ten."""
    rates = np.full(n_epochs, share)
    start = np.linspace(0, share, N_GRADUAL)[:n_epochs]
    rates[: len(start)] = start
    return rates


def n_remembered(n_rows: int, rate: float) -> int:
    """Give floor((1 - rate) * n_rows), or all rows where that is none."""
    return math.floor(round((1 - rate) * n_rows, 9)) or n_rows


def learning_rate(epoch: int, n_epochs: int, first: float) -> float:
    """Constant until epoch 80, then falling linearly to 0 at `n_epochs`."""
    if epoch < DECAY_FROM:
        return first
    return first * (n_epochs - epoch) / (n_epochs - DECAY_FROM)


def row_losses(scores: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Cross-entropy per network and row, (2, n_rows)."""
    return F.cross_entropy(scores.mT, y.expand(2, -1), reduction="none")


def exchange_losses(
    scores: torch.Tensor, y: torch.Tensor, rate: float, *, divide_again: bool
) -> torch.Tensor:
    """Each network's mean loss on the rows that are easiest for the other."""
    losses = row_losses(scores, y)
    keep = n_remembered(len(y), rate)
    easiest = losses.argsort(dim=1, stable=True)[:, :keep]
    means = losses.gather(1, easiest.flip(0)).mean(dim=1)
    return means / keep if divide_again else means


def step_losses(
    logits: torch.Tensor, y: torch.Tensor, rate: float, step: int, mode: str
) -> torch.Tensor | None:
    """Both networks' losses in one Co-teaching+ step, from their logits (2, n_rows, 2); None for no step.

    ``step`` is epoch * batch number, as in the public code.
    """
    predicted = logits.argmax(dim=2)
    disagree = (predicted[0] != predicted[1]).nonzero().squeeze(1)
    reference = mode == "reference"
    scores = logits.softmax(dim=2) if reference else logits
    if len(disagree):
        return exchange_losses(scores[:, disagree], y[disagree], rate, divide_again=reference)
    if not reference:
        return None
    # Beyond the limit the loss is 0, but the optimiser's momentum still moves the weights.
    factor = 1.0 if step < LAST_AGREEING_STEP else 0.0
    return factor * row_losses(scores, y).mean(dim=1)


def fit(
    inputs: Inputs,
    mode: str = "reference",
    n_epochs: int = 200,
    first_rate: float = 1e-3,
    told: float | None = None,
) -> Outcome:
    """Train both networks for ``n_epochs - 1`` epochs; predict, flag and rank by their mean probability."""
    if mode not in ("reference", "clean"):
        raise ValueError(f"mode={mode!r}; choose 'reference' or 'clean'.")
    share = told if told is not None else inputs.told_noise
    if share is None:
        raise ValueError("Co-teaching+ must be told the share of wrong labels; give told_noise.")
    watch = Stopwatch()
    everything, X, y = as_tensors(inputs)
    size = batch_size(len(inputs.given))
    rates = forget_rates(share, n_epochs)
    all_rows = np.arange(len(y))
    with watch.stage("fit"), one_seeded_thread(inputs.seed) as rng:
        networks = Networks(2, X.shape[1], rng)
        optimizer = torch.optim.Adam([networks.values], lr=first_rate, fused=True)
        for epoch in range(1, n_epochs):
            group = optimizer.param_groups[0]
            group["lr"] = learning_rate(epoch, n_epochs, first_rate)
            group["betas"] = (0.9 if epoch < DECAY_FROM else 0.1, 0.999)
            batches = shuffled_batches(all_rows, size, rng, drop_last=True)
            _train_epoch(networks, optimizer, X, y, batches, rates[epoch], epoch, mode)
        probability = positive_share(networks.evaluate(everything)).mean(axis=0)
    return from_probability(inputs, probability, seconds=watch.seconds, notes={"told_noise": share})


def _train_epoch(
    networks: Networks,
    optimizer: Any,
    X: torch.Tensor,
    y: torch.Tensor,
    batches: list[torch.Tensor],
    rate: float,
    epoch: int,
    mode: str,
) -> None:
    for number, rows in enumerate(batches):
        logits = networks.forward(X[rows])
        losses = step_losses(logits, y[rows], rate, epoch * number, mode)
        if losses is not None:
            # No parameter is shared, so the gradient of the sum is each network's own.
            descend(networks, optimizer, losses.sum(), logits)
