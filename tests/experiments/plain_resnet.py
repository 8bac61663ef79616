"""The tabular ResNet in plain PyTorch, the twin of `labelcut.experiments.methods.networks`."""

import torch
from torch import nn


class Dropout(nn.Dropout):
    """Dropout with a mask from outside: 0, or 1 / 0.8 where the value is kept."""

    mask = None

    def forward(self, x):
        return x * self.mask if self.training and self.mask is not None else super().forward(x)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.path = nn.Sequential(
            nn.BatchNorm1d(width),
            nn.Linear(width, width),
            nn.ReLU(),
            Dropout(0.2),
            nn.Linear(width, width),
            Dropout(0.2),
        )

    def forward(self, x):
        return x + self.path(x)


def build_plain(n_features):
    """Linear to twice the width, ten blocks, BatchNorm, ReLU, Linear to two logits."""
    width = 2 * n_features
    return nn.Sequential(
        nn.Linear(n_features, width),
        *(Block(width) for _ in range(10)),
        nn.BatchNorm1d(width),
        nn.ReLU(),
        nn.Linear(width, 2),
    )


def layer_pairs(layers, which, width):
    """Weight and bias of one network's layers in the order of the plain modules, as plain shapes."""

    def norm(pair):
        return [part.view(-1, width)[which] for part in pair]

    def linear(pair):
        return [pair.weight[which], pair.bias[which, :, 0]]

    yield linear(layers.first)
    for i in range(10):
        yield norm(layers.norms[i])
        yield linear(layers.inner[i])
        yield linear(layers.outer[i])
    yield norm(layers.norms[10])
    yield linear(layers.last)


def flatten(pairs):
    return torch.cat([part.reshape(-1) for pair in pairs for part in pair])


def parameters_of(networks, which):
    """Return one network's parameters in the order of ``build_plain(...).parameters()``."""
    return flatten(layer_pairs(networks.layers, which, networks.width))


def gradients_of(networks, which):
    return flatten(layer_pairs(networks.slopes, which, networks.width))


def twin_of(networks, which):
    """Return a plain network with the parameters of one of `networks`."""
    plain = build_plain(networks.width // 2)
    nn.utils.vector_to_parameters(parameters_of(networks, which).clone(), plain.parameters())
    return plain


def set_masks(plain, masks, which):
    """Give the plain network the masks (2, blocks, networks, width, rows) of one of the networks."""
    for i in range(10):
        path = plain[i + 1].path
        path[3].mask, path[5].mask = masks[0, i, which].T, masks[1, i, which].T


def plain_parameters(plain):
    return nn.utils.parameters_to_vector(plain.parameters()).detach()


def plain_gradients(plain):
    return nn.utils.parameters_to_vector([p.grad for p in plain.parameters()])
