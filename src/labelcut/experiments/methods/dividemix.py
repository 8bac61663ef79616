"""DivideMix (Li, Socher and Hoi, ICLR 2020) on the tabular ResNet, written from its description.

Two networks. After a warm-up each divides the rows by its losses into probably clean ones (labels kept) and
the rest (labels dropped) for the *other* network, which then learns from both by MixMatch. The two views of
a row, image augmentations in the original, are the row itself twice: dropout is the only difference.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from labelcut.experiments.methods.base import Inputs, Outcome, Stopwatch, Values, from_probability
from labelcut.experiments.methods.resnet import (
    Rows,
    as_tensors,
    batch_size,
    build_network,
    logits_of,
    one_seeded_thread,
    positive_share,
    shuffled_batches,
    train_epoch,
)

SLOW_SETS = {"phishing", "adult"}
"""The paper lowers the learning rate to a tenth here."""


@dataclass(frozen=True)
class Settings:
    """Defaults of the public script, with the paper's stopping rule."""

    learning_rate: float = 0.02
    momentum: float = 0.9
    weight_decay: float = 5e-4
    n_epochs: int = 300
    slower_from: int = 150
    warm_up: int = 10
    patience: int = 5
    clean_threshold: float = 0.5
    temperature: float = 0.5
    alpha: float = 4.0
    lambda_u: float = 25.0
    ramp_epochs: int = 16


def clean_probability(losses: Values, seed: int) -> Values:
    """Posterior of the low-loss part of a two-part Gaussian mixture of the losses scaled to [0, 1]."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    low, high = losses.min(), losses.max()
    if high <= low:
        return np.ones(len(losses))
    scaled = ((losses - low) / (high - low)).reshape(-1, 1)
    mixture = GaussianMixture(2, max_iter=10, tol=1e-2, reg_covar=5e-4, random_state=seed)
    with warnings.catch_warnings():
        # Ten steps are the method's own limit; losses of two distinct values make equal starts.
        warnings.simplefilter("ignore", ConvergenceWarning)
        mixture.fit(scaled)
    posterior: Values = mixture.predict_proba(scaled)[:, int(mixture.means_.argmin())]
    return posterior


def sharpen(q: torch.Tensor, temperature: float) -> torch.Tensor:
    """q^(1/T), scaled to sum to 1 again."""
    raised = q ** (1 / temperature)
    return raised / raised.sum(dim=1, keepdim=True)


def refine_labels(
    y: torch.Tensor, clean: torch.Tensor, guess: torch.Tensor, temperature: float
) -> torch.Tensor:
    """Co-refinement: the given label as far as it is probably clean, the network's guess for the rest."""
    given = F.one_hot(y, 2).to(guess.dtype)
    clean = clean.to(guess.dtype).unsqueeze(1)
    return sharpen(clean * given + (1 - clean) * guess, temperature)


def guess_labels(views: list[torch.Tensor], temperature: float) -> torch.Tensor:
    """Co-guessing: the sharpened mean of both networks' answers to both views."""
    return sharpen(torch.stack(views).mean(dim=0), temperature)


def mix_rows(
    x: torch.Tensor, targets: torch.Tensor, share: float, order: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """MixUp: `share` of each row and 1 - `share` of the row that `order` puts beside it."""
    return share * x + (1 - share) * x[order], share * targets + (1 - share) * targets[order]


def unlabeled_weight(lambda_u: float, epochs_after_warm_up: float, ramp_epochs: int) -> float:
    """Weight of the unlabeled loss, rising linearly to `lambda_u`."""
    return lambda_u * min(max(epochs_after_warm_up / ramp_epochs, 0.0), 1.0)


def mixed_loss(logits: torch.Tensor, targets: torch.Tensor, n_labeled: int, weight: float) -> torch.Tensor:
    """Soft cross-entropy on the first rows, squared error on the rest, and a pull to equal classes."""
    labeled = -(targets[:n_labeled] * F.log_softmax(logits[:n_labeled], dim=1)).sum(dim=1).mean()
    mean_share = logits.softmax(dim=1).mean(dim=0)
    prior = torch.full_like(mean_share, 0.5)
    total = labeled + (prior * (prior / mean_share).log()).sum()
    if len(logits) > n_labeled:
        unlabeled = ((logits[n_labeled:].softmax(dim=1) - targets[n_labeled:]) ** 2).mean()
        total = total + weight * unlabeled
    return total


def divide_rows(clean: Values, threshold: float) -> tuple[Rows, Rows, Values]:
    """Rows that keep their label, rows that lose it, and each row's trust.

    With fewer than two rows on the clean side there is nothing to learn from: then all keep theirs.
    """
    keeps = clean > threshold
    if keeps.sum() < 2:
        return np.arange(len(clean)), np.arange(0), np.ones(len(clean))
    return np.flatnonzero(keeps), np.flatnonzero(~keeps), clean


def _train_on_division(
    network: Any,
    other: Any,
    optimizer: Any,
    X: torch.Tensor,
    y: torch.Tensor,
    clean: Values,
    epoch: int,
    size: int,
    settings: Settings,
    rng: np.random.Generator,
) -> None:
    """Do one pass of MixMatch over the rows the other network calls clean."""
    keeps, loses, trust = divide_rows(clean, settings.clean_threshold)
    weights = torch.from_numpy(trust)
    batches = shuffled_batches(keeps, size, rng)
    waiting: list[Rows] = []
    other.eval()
    for step, batch in enumerate(batches):
        if not waiting and len(loses):
            waiting = shuffled_batches(loses, size, rng)
        x, u = X[batch], X[waiting.pop()] if len(loses) else X[:0]
        # Identical views: the dropout of training mode is what makes them differ.
        network.train()
        with torch.no_grad():
            both = torch.cat([x, u])
            own = [network(both).softmax(dim=1) for _ in range(2)]
            refined = refine_labels(
                y[batch], weights[batch], (own[0][: len(x)] + own[1][: len(x)]) / 2, settings.temperature
            )
            guessed = refined[:0]
            if len(u):
                theirs = other(u).softmax(dim=1)
                guessed = guess_labels(
                    [own[0][len(x) :], own[1][len(x) :], theirs, theirs], settings.temperature
                )
        share = float(rng.beta(settings.alpha, settings.alpha))
        stack = torch.cat([x, x, u, u])
        targets = torch.cat([refined, refined, guessed, guessed])
        order = torch.from_numpy(rng.permutation(len(stack)))
        mixed, mixed_targets = mix_rows(stack, targets, max(share, 1 - share), order)
        weight = unlabeled_weight(
            settings.lambda_u, epoch + step / len(batches) - settings.warm_up, settings.ramp_epochs
        )
        optimizer.zero_grad()
        mixed_loss(network(mixed), mixed_targets, 2 * len(x), weight).backward()
        optimizer.step()


def fit(inputs: Inputs, **changes: Any) -> Outcome:
    """Train both networks; predict, flag and rank by the mean of their logits.

    Training ends when the accuracy of both together against the given labels has set no new high for five
    epochs, at the earliest five epochs after the warm-up; the last weights are kept.
    """
    if inputs.name in SLOW_SETS:
        changes = {"learning_rate": 0.002} | changes
    settings = Settings(**changes)
    watch = Stopwatch()
    everything, X, y = as_tensors(inputs)
    size = batch_size(len(inputs.given))
    all_rows = np.arange(len(y))
    best, best_epoch = -1.0, 0
    with watch.stage("fit"), one_seeded_thread(inputs.seed) as rng:
        networks = [build_network(X.shape[1]) for _ in range(2)]
        optimizers = [
            torch.optim.SGD(
                network.parameters(),
                lr=settings.learning_rate,
                momentum=settings.momentum,
                weight_decay=settings.weight_decay,
            )
            for network in networks
        ]
        for epoch in range(settings.n_epochs):
            if epoch == settings.slower_from:
                for optimizer in optimizers:
                    optimizer.param_groups[0]["lr"] /= 10
            if epoch < settings.warm_up:
                for network, optimizer in zip(networks, optimizers, strict=True):
                    train_epoch(network, optimizer, X, y, shuffled_batches(all_rows, 2 * size, rng))
            else:
                losses = [F.cross_entropy(logits_of(net, X), y, reduction="none") for net in networks]
                clean = [clean_probability(loss.double().numpy(), inputs.seed % 2**32) for loss in losses]
                for one, two in ((0, 1), (1, 0)):
                    _train_on_division(
                        networks[one],
                        networks[two],
                        optimizers[one],
                        X,
                        y,
                        clean[two],
                        epoch,
                        size,
                        settings,
                        rng,
                    )
            answer = sum(logits_of(network, X) for network in networks)
            accuracy = float((torch.as_tensor(answer).argmax(1) == y).float().mean())
            if accuracy > best:
                best, best_epoch = accuracy, epoch
            elif epoch - best_epoch >= settings.patience and epoch >= settings.warm_up + settings.patience:
                break
        logits = torch.stack([logits_of(network, everything) for network in networks]).mean(dim=0)
    notes = {"epochs": epoch + 1, "best_epoch": best_epoch + 1}
    return from_probability(inputs, positive_share(logits), seconds=watch.seconds, notes=notes)
