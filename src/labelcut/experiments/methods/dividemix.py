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
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from torch.nn import functional as F

from labelcut.experiments.methods.base import Inputs, Outcome, Stopwatch, Values, from_probability
from labelcut.experiments.methods.networks import Networks, descend
from labelcut.experiments.methods.resnet import (
    Rows,
    as_tensors,
    batch_size,
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


class Student:
    """One of the two networks, its optimiser, and its answers to the labeled rows as they stand."""

    def __init__(
        self, X: torch.Tensor, y: torch.Tensor, settings: Settings, rng: np.random.Generator
    ) -> None:
        self.X, self.y, self.settings, self.rng = X, y, settings, rng
        self.network = Networks(1, X.shape[1], rng)
        self.optimizer = torch.optim.SGD(
            [self.network.values],
            lr=settings.learning_rate,
            momentum=settings.momentum,
            weight_decay=settings.weight_decay,
            fused=True,
        )
        self.answer()

    def answer(self) -> None:
        """Look at all labeled rows again, in evaluation mode."""
        self.logits = self.network.evaluate(self.X)[0]

    def clean_probability(self, seed: int) -> Values:
        """P(clean) of each label, by this network's losses."""
        losses = F.cross_entropy(self.logits, self.y, reduction="none")
        return clean_probability(losses.double().numpy(), seed)

    def warm_up(self, size: int) -> None:
        """Do one epoch of plain cross-entropy, in batches of twice the size."""
        batches = shuffled_batches(np.arange(len(self.y)), 2 * size, self.rng)
        train_epoch(self.network, self.optimizer, self.X, self.y, batches)
        self.answer()

    def learn(self, clean: Values, theirs: torch.Tensor, epoch: int, size: int) -> None:
        """Do one epoch of MixMatch on the rows that the other network calls clean, and the rest.

        ``theirs`` are the other network's probabilities; it does not move meanwhile.
        """
        keeps, loses, trust = divide_rows(clean, self.settings.clean_threshold)
        weights = torch.from_numpy(trust)
        batches = shuffled_batches(keeps, size, self.rng)
        waiting: list[torch.Tensor] = []
        none = torch.arange(0)
        for step, labeled in enumerate(batches):
            if not waiting and len(loses):
                waiting = shuffled_batches(loses, size, self.rng)
            unlabeled = waiting.pop() if len(loses) else none
            refined, guessed = self._targets(labeled, unlabeled, weights[labeled], theirs[unlabeled])
            progress = epoch + step / len(batches) - self.settings.warm_up
            self._step(labeled, unlabeled, refined, guessed, progress)
        self.answer()

    def _targets(
        self, labeled: torch.Tensor, unlabeled: torch.Tensor, trust: torch.Tensor, theirs: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Refined labels of the labeled rows, guessed ones of the unlabeled."""
        both = self.X[torch.cat([labeled, unlabeled])]
        # Identical views: the dropout of training mode is what makes them differ.
        own = [self.network.forward(both)[0].detach().softmax(dim=1) for _ in range(2)]
        n, temperature = len(labeled), self.settings.temperature
        refined = refine_labels(self.y[labeled], trust, (own[0][:n] + own[1][:n]) / 2, temperature)
        return refined, guess_labels([own[0][n:], own[1][n:], theirs, theirs], temperature)

    def _step(
        self,
        labeled: torch.Tensor,
        unlabeled: torch.Tensor,
        refined: torch.Tensor,
        guessed: torch.Tensor,
        epochs_after_warm_up: float,
    ) -> None:
        """Mix both views of all rows and take one step."""
        settings = self.settings
        x = self.X[torch.cat([labeled, labeled, unlabeled, unlabeled])]
        targets = torch.cat([refined, refined, guessed, guessed])
        share = float(self.rng.beta(settings.alpha, settings.alpha))
        order = torch.from_numpy(self.rng.permutation(len(x)))
        mixed, mixed_targets = mix_rows(x, targets, max(share, 1 - share), order)
        weight = unlabeled_weight(settings.lambda_u, epochs_after_warm_up, settings.ramp_epochs)
        logits = self.network.forward(mixed)
        loss = mixed_loss(logits[0], mixed_targets, 2 * len(labeled), weight)
        descend(self.network, self.optimizer, loss, logits)


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
    best, best_epoch = -1.0, 0
    with watch.stage("fit"), one_seeded_thread(inputs.seed) as rng:
        one, two = students = [Student(X, y, settings, rng) for _ in range(2)]
        for epoch in range(settings.n_epochs):
            if epoch == settings.slower_from:
                for student in students:
                    student.optimizer.param_groups[0]["lr"] /= 10
            if epoch < settings.warm_up:
                for student in students:
                    student.warm_up(size)
            else:
                # Both divide before either moves; the first has moved when it guesses for the second.
                clean_by_one, clean_by_two = (s.clean_probability(inputs.seed % 2**32) for s in students)
                one.learn(clean_by_two, two.logits.softmax(dim=1), epoch, size)
                two.learn(clean_by_one, one.logits.softmax(dim=1), epoch, size)
            accuracy = float(((one.logits + two.logits).argmax(1) == y).float().mean())
            if accuracy > best:
                best, best_epoch = accuracy, epoch
            elif epoch - best_epoch >= settings.patience and epoch >= settings.warm_up + settings.patience:
                break
        logits = torch.stack([student.network.evaluate(everything)[0] for student in students]).mean(dim=0)
    notes = {"epochs": epoch + 1, "best_epoch": best_epoch + 1}
    return from_probability(inputs, positive_share(logits), seconds=watch.seconds, notes=notes)
