"""Tabular ResNets (Gorishniy and others, 2021), trained side by side, with their gradients written out.

Each network is Linear(f, 2f), ten blocks ``h + Dropout(Linear(Dropout(ReLU(Linear(BatchNorm(h))))))``, then
BatchNorm, ReLU and Linear(2f, 2), initialised as PyTorch does. Networks as narrow as these spend nine tenths
of a step on the bookkeeping of PyTorch's modules. Hence:

- One operation serves all networks: tensors are (n_networks, width, n_rows). With the rows last, BatchNorm is
  PyTorch's fast ``group_norm`` with every column a group of its own.
- ``forward`` keeps what ``backward`` needs; autograd sees the loss alone.
- All parameters lie in one vector, their gradients in another, so an optimiser has one thing to step.

``tests/plain_resnet.py`` is the same network in plain PyTorch; a test holds the two together.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
import torch._dynamo  # the first optimiser imports it otherwise, in the midst of a timed run

N_BLOCKS = 10
DROPOUT = 0.2
"""The paper states the first dropout's rate; the second's is taken to be the same."""
MOMENTUM = 0.1
EPSILON = 1e-5
"""Both as in PyTorch's BatchNorm1d."""

EVALUATED_AT_ONCE = 1024
"""Rows whose values in a layer fit the cache."""

_group_norm_backward = torch.ops.aten.native_group_norm_backward.default
_relu_backward = torch.ops.aten.threshold_backward.default


class Linear(NamedTuple):
    """A linear layer's parameters, or their gradients."""

    weight: torch.Tensor  # n_networks, n_outputs, n_inputs
    bias: torch.Tensor  # n_networks, n_outputs, 1


class Norm(NamedTuple):
    """A BatchNorm's parameters, or their gradients; the columns of all networks in one row."""

    scale: torch.Tensor
    shift: torch.Tensor


class Layers(NamedTuple):
    """All that is learnt: block i is norms[i], inner[i], outer[i]; norms[-1] belongs to the head."""

    first: Linear
    norms: list[Norm]
    inner: list[Linear]
    outer: list[Linear]
    last: Linear


class Normed(NamedTuple):
    """What BatchNorm makes of a batch, with the batch's mean and 1 / deviation per column."""

    values: torch.Tensor
    mean: torch.Tensor
    inverse: torch.Tensor


def n_parameters(n_features: int) -> int:
    """Count the parameters of one network."""
    f, width = n_features, 2 * n_features
    return width * (f + 1) + (N_BLOCKS + 1) * 2 * width + 2 * N_BLOCKS * width * (width + 1) + 2 * (width + 1)


def split_layers(flat: torch.Tensor, n_networks: int, n_features: int) -> Layers:
    """Name the parts of one vector, layer after layer; they are views."""
    width, start = 2 * n_features, 0

    def take(*shape: int) -> torch.Tensor:
        nonlocal start
        start += math.prod(shape)
        return flat[start - math.prod(shape) : start].view(shape)

    def linear(n_inputs: int, n_outputs: int) -> Linear:
        return Linear(take(n_networks, n_outputs, n_inputs), take(n_networks, n_outputs, 1))

    return Layers(
        first=linear(n_features, width),
        norms=[Norm(take(n_networks * width), take(n_networks * width)) for _ in range(N_BLOCKS + 1)],
        inner=[linear(width, width) for _ in range(N_BLOCKS)],
        outer=[linear(width, width) for _ in range(N_BLOCKS)],
        last=linear(width, 2),
    )


def initialise(layers: Layers) -> None:
    """PyTorch's defaults: weights and biases uniform up to 1 / sqrt(inputs), BatchNorm the identity."""
    for weight, bias in (layers.first, *layers.inner, *layers.outer, layers.last):
        bound = weight.shape[2] ** -0.5
        weight.uniform_(-bound, bound)
        bias.uniform_(-bound, bound)
    for scale, shift in layers.norms:
        scale.fill_(1)
        shift.fill_(0)


def draw_masks(rng: np.random.Generator, shape: tuple[int, ...]) -> torch.Tensor:
    """Dropout: 0 with probability 0.2 (to the 16 bits spent on each), else 1 / 0.8."""
    size = math.prod(shape)
    bits = rng.bit_generator.random_raw(-(-size // 4)).view(np.uint16)[:size]
    kept = bits >= round(DROPOUT * 2**16)
    return torch.from_numpy(np.multiply(kept, np.float32(1 / (1 - DROPOUT))).reshape(shape))


def apply_linear(layer: Linear, x: torch.Tensor) -> torch.Tensor:
    """Give weight @ x + bias."""
    return torch.baddbmm(layer.bias, layer.weight, x)


def fill_linear(slopes: Linear, d: torch.Tensor, x: torch.Tensor) -> None:
    """Write the gradients of a linear layer with input `x`, from the gradient `d` of its output."""
    torch.bmm(d, x.transpose(1, 2), out=slopes.weight)
    torch.sum(d, -1, keepdim=True, out=slopes.bias)


def back_linear(layer: Linear, d: torch.Tensor) -> torch.Tensor:
    """Give the gradient of a linear layer's input, from the gradient `d` of its output."""
    return torch.bmm(layer.weight.transpose(1, 2), d)


def apply_norm(norm: Norm, h: torch.Tensor) -> Normed:
    """BatchNorm by the batch's own statistics."""
    (n_columns,), n_rows = norm.scale.shape, h.shape[2]
    return Normed(
        *torch.native_group_norm(h, norm.scale, norm.shift, 1, n_columns, n_rows, n_columns, EPSILON)
    )


def back_norm(norm: Norm, slopes: Norm, d: torch.Tensor, h: torch.Tensor, normed: Normed) -> torch.Tensor:
    """Write the gradients of a BatchNorm with input `h`; give that of `h`."""
    (n_columns,), n_rows = norm.scale.shape, h.shape[2]
    dh, scale, shift = _group_norm_backward(
        d, h, normed.mean, normed.inverse, norm.scale, 1, n_columns, n_rows, n_columns, [True, True, True]
    )
    slopes.scale.copy_(scale)
    slopes.shift.copy_(shift)
    return dh


class Networks:
    """Some networks of one shape with different starts.

    ``values`` holds all parameters and carries the gradients as its ``grad``; give it to an optimiser.
    """

    def __init__(self, n_networks: int, n_features: int, rng: np.random.Generator) -> None:
        self.n_networks, self.width, self.rng = n_networks, 2 * n_features, rng
        self.values = torch.empty(n_networks * n_parameters(n_features))
        self.values.grad = torch.zeros_like(self.values)
        self.layers = split_layers(self.values, n_networks, n_features)
        self.slopes = split_layers(self.values.grad, n_networks, n_features)
        self.running_mean = torch.zeros(N_BLOCKS + 1, n_networks * self.width)
        self.running_variance = torch.ones(N_BLOCKS + 1, n_networks * self.width)
        initialise(self.layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits (n_networks, n_rows, 2) in training mode; the same rows go to every network.

        Autograd starts at these logits: take the loss's gradient by them and give it to ``backward``.
        """
        n_rows = len(x)
        if n_rows < 2:
            raise ValueError(f"{n_rows} row in the batch; BatchNorm needs at least two to train.")
        layers, n = self.layers, self.n_networks
        masks = draw_masks(self.rng, (2, N_BLOCKS, n, self.width, n_rows))
        inner_masks, outer_masks = masks[0].unbind(), masks[1].unbind()
        columns = x.mT.expand(n, -1, -1)
        h = apply_linear(layers.first, columns)
        inputs, normed, hidden = [], [], []
        for i in range(N_BLOCKS):
            inputs.append(h)
            normed.append(apply_norm(layers.norms[i], h))
            hidden.append(apply_linear(layers.inner[i], normed[i].values).relu_().mul_(inner_masks[i]))
            h = apply_linear(layers.outer[i], hidden[i]).mul_(outer_masks[i]).add_(h)
        inputs.append(h)
        normed.append(apply_norm(layers.norms[-1], h))
        hidden.append(normed[-1].values.relu_())
        self._tape = columns, inner_masks, outer_masks, inputs, normed, hidden
        self._follow_statistics(normed, n_rows)
        return apply_linear(layers.last, hidden[-1]).mT.requires_grad_()

    def _follow_statistics(self, normed: list[Normed], n_rows: int) -> None:
        """Move the running means and unbiased variances a tenth of the way to the batch's."""
        mean = torch.cat([norm.mean for norm in normed])
        variance = torch.cat([norm.inverse for norm in normed]).pow_(-2).sub_(EPSILON)
        self.running_mean.lerp_(mean, MOMENTUM)
        self.running_variance.lerp_(variance.mul_(n_rows / (n_rows - 1)), MOMENTUM)

    def backward(self, d: torch.Tensor) -> None:
        """Fill the gradients from `d`, the loss's gradient by the logits of the last ``forward``."""
        if not d.any():
            self.values.grad.zero_()
            return
        layers, slopes, d = self.layers, self.slopes, d.mT
        columns, inner_masks, outer_masks, inputs, normed, hidden = self._tape
        fill_linear(slopes.last, d, hidden[-1])
        d = _relu_backward(back_linear(layers.last, d), hidden[-1], 0)
        dh = back_norm(layers.norms[-1], slopes.norms[-1], d, inputs[-1], normed[-1])
        for i in reversed(range(N_BLOCKS)):
            d = dh * outer_masks[i]
            fill_linear(slopes.outer[i], d, hidden[i])
            d = back_linear(layers.outer[i], d).mul_(inner_masks[i])
            d = _relu_backward(d, hidden[i], 0)
            fill_linear(slopes.inner[i], d, normed[i].values)
            d = back_linear(layers.inner[i], d)
            dh += back_norm(layers.norms[i], slopes.norms[i], d, inputs[i], normed[i])
        fill_linear(slopes.first, dh, columns)

    def evaluate(self, X: torch.Tensor) -> torch.Tensor:
        """Logits (n_networks, n_rows, 2) in evaluation mode: running statistics, no dropout."""
        scales, shifts = self._running_norms()
        # A BatchNorm that only scales and shifts is part of the linear layer behind it.
        inner = [
            Linear(layer.weight * scale.mT, torch.baddbmm(layer.bias, layer.weight, shift))
            for layer, scale, shift in zip(self.layers.inner, scales[:-1], shifts[:-1], strict=True)
        ]
        answers = []
        for piece in X.split(EVALUATED_AT_ONCE):
            h = apply_linear(self.layers.first, piece.mT.expand(self.n_networks, -1, -1))
            for one, two in zip(inner, self.layers.outer, strict=True):
                hidden = apply_linear(one, h).relu_()
                h.add_(two.bias).baddbmm_(two.weight, hidden)
            h = torch.addcmul(shifts[-1], h, scales[-1]).relu_()
            answers.append(apply_linear(self.layers.last, h).mT)
        return torch.cat(answers, dim=1)

    def _running_norms(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Scale and shift of every BatchNorm by its running statistics: (norms, networks, width, 1) each."""
        learnt_scale, learnt_shift = (torch.stack(part) for part in zip(*self.layers.norms, strict=True))
        scale = learnt_scale * (self.running_variance + EPSILON).rsqrt()
        shift = learnt_shift - self.running_mean * scale
        shape = N_BLOCKS + 1, self.n_networks, self.width, 1
        return scale.view(shape), shift.view(shape)

    def state(self) -> list[torch.Tensor]:
        """Give a copy of everything that training changes."""
        return [part.clone() for part in (self.values, self.running_mean, self.running_variance)]

    def restore(self, state: list[torch.Tensor]) -> None:
        """Go back to a `state`."""
        for part, kept in zip((self.values, self.running_mean, self.running_variance), state, strict=True):
            part.copy_(kept)


def descend(networks: Networks, optimizer: Any, loss: torch.Tensor, logits: torch.Tensor) -> None:
    """Take one step of the optimiser, from the loss of the last ``forward``'s logits."""
    networks.backward(torch.autograd.grad(loss, logits)[0])
    optimizer.step()
