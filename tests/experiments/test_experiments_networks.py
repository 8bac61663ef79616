"""The networks trained side by side against plain PyTorch, and one step of each deep method."""

from functools import partial

import numpy as np
import pytest
import torch
from plain_resnet import (
    build_plain,
    gradients_of,
    parameters_of,
    plain_gradients,
    plain_parameters,
    set_masks,
    twin_of,
)
from torch.nn import functional as F

from labelcut.experiments.methods import coteaching, dividemix, networks, resnet

close = partial(torch.testing.assert_close, rtol=1e-4, atol=1e-5)

N_FEATURES, N_ROWS = 3, 9


@pytest.fixture(autouse=True)
def seeded():
    with resnet.one_seeded_thread(0):
        yield


@pytest.fixture
def masks(monkeypatch):
    """Hand out masks that can be drawn again: call the result with the number of networks and rows."""
    real, known = networks.draw_masks, {}

    def known_masks(n_networks, n_rows):
        shape = (2, 10, n_networks, 2 * N_FEATURES, n_rows)
        if shape not in known:
            known[shape] = real(np.random.default_rng(5), shape)
        return known[shape]

    monkeypatch.setattr(networks, "draw_masks", lambda rng, shape: known_masks(shape[2], shape[4]).clone())
    return known_masks


def make_rows(n_rows=N_ROWS):
    return torch.randn(n_rows, N_FEATURES), torch.randint(0, 2, (n_rows,))


def make_networks(n_networks):
    """Networks that have learnt a little, so that no BatchNorm is the identity."""
    made = networks.Networks(n_networks, N_FEATURES, np.random.default_rng(1))
    made.values.add_(0.1 * torch.randn_like(made.values))
    return made


def moved_together(ours, plain, gradients, tolerance=1e-5):
    """Hold parameters after an Adam step together where the gradient was more than rounding.

    Adam divides by the gradient's size: the first layer's bias, whose gradient BatchNorm makes 0, moves by
    the sign of a rounding error.
    """
    real = gradients.abs() > 1e-6
    assert real.float().mean() > 0.3
    torch.testing.assert_close(ours[real], plain[real], rtol=0, atol=tolerance)


def test_the_network_has_the_layers_and_the_size_of_the_paper():
    plain = build_plain(16)
    assert networks.n_parameters(16) == sum(p.numel() for p in plain.parameters())
    weights = [p.numel() for n, p in plain.named_parameters() if n.endswith("weight") and p.ndim == 2]
    assert sum(weights) == 16 * 32 + 20 * 32 * 32 + 32 * 2
    block = plain[1].path
    assert [type(layer).__name__ for layer in block] == [
        "BatchNorm1d",
        "Linear",
        "ReLU",
        "Dropout",
        "Linear",
        "Dropout",
    ]
    assert block[3].p == block[5].p == networks.DROPOUT == 0.2


@pytest.mark.parametrize("n_networks", [1, 2, 3])
def test_networks_side_by_side_are_plain_networks(n_networks, masks):
    ours = make_networks(n_networks)
    twins = [twin_of(ours, k) for k in range(n_networks)]
    for n_rows in (N_ROWS, 5):
        x, y = make_rows(n_rows)
        logits = ours.forward(x)
        losses = [F.cross_entropy(logits[k], y) for k in range(n_networks)]
        ours.backward(torch.autograd.grad(sum(losses), logits)[0])
        for k, twin in enumerate(twins):
            set_masks(twin, masks(n_networks, n_rows), k)
            twin.zero_grad()
            expected = twin(x)
            F.cross_entropy(expected, y).backward()
            close(logits[k].detach(), expected.detach())
            close(gradients_of(ours, k), plain_gradients(twin))
    x, _ = make_rows()
    for k, twin in enumerate(twins):
        norms = [layer for layer in twin.modules() if isinstance(layer, torch.nn.BatchNorm1d)]
        mean, variance = (
            running.view(11, n_networks, -1)[:, k] for running in (ours.running_mean, ours.running_variance)
        )
        close(mean, torch.stack([norm.running_mean for norm in norms]))
        close(variance, torch.stack([norm.running_var for norm in norms]))
        close(ours.evaluate(x)[k], twin.eval()(x).detach())


def test_evaluation_in_pieces_is_the_same(monkeypatch):
    ours, (x, _) = make_networks(2), make_rows()
    ours.forward(x)
    whole = ours.evaluate(x)
    monkeypatch.setattr(networks, "EVALUATED_AT_ONCE", 4)
    close(ours.evaluate(x), whole)


def test_a_network_starts_as_pytorch_starts_it():
    ours = networks.Networks(2, 50, np.random.default_rng(0))
    for weight, bias in (ours.layers.first, ours.layers.inner[0], ours.layers.last):
        bound = weight.shape[2] ** -0.5
        for part in (weight, bias):
            assert part.abs().max() <= bound
        assert weight.std() == pytest.approx(bound / 3**0.5, rel=0.1)
    assert not torch.equal(parameters_of(ours, 0), parameters_of(ours, 1))
    x = torch.randn(4, 50)
    close(ours.evaluate(x)[1], twin_of(ours, 1).eval()(x).detach())


def test_a_fifth_of_the_values_is_dropped_and_the_rest_scaled_up():
    masks = networks.draw_masks(np.random.default_rng(0), (3, 7, 4999))
    assert masks.shape == (3, 7, 4999)
    assert masks.dtype == torch.float32
    assert masks.unique().tolist() == [0, 1.25]
    assert masks.mean().item() == pytest.approx(1, abs=0.01)


def test_a_loss_without_slope_has_no_gradient():
    ours, (x, _) = make_networks(2), make_rows()
    ours.values.grad.fill_(1)
    ours.backward(torch.zeros_like(ours.forward(x)))
    assert not ours.values.grad.any()


def test_a_batch_of_one_row_is_refused():
    with pytest.raises(ValueError, match="1 row in the batch; BatchNorm needs at least two to train"):
        make_networks(1).forward(torch.zeros(1, N_FEATURES))


def test_a_state_can_be_restored():
    ours, (x, _) = make_networks(1), make_rows()
    before, answer = ours.state(), ours.evaluate(x)
    ours.forward(x)
    ours.values.add_(1)
    ours.restore(before)
    assert torch.equal(ours.evaluate(x), answer)


# One step of each method, against its definition with plain networks


def test_a_step_of_plain_training(masks):
    ours, (x, y) = make_networks(1), make_rows()
    twin = twin_of(ours, 0)
    set_masks(twin, masks(1, N_ROWS), 0)
    F.cross_entropy(twin(x), y).backward()
    torch.optim.Adam(twin.parameters(), lr=1e-3).step()
    adam = torch.optim.Adam([ours.values], lr=1e-3, fused=True)
    resnet.train_epoch(ours, adam, x, y, [torch.arange(N_ROWS)])
    moved_together(parameters_of(ours, 0), plain_parameters(twin), plain_gradients(twin))


def plain_losses(one, two, y, rate, mode):
    """Co-teaching+ on a batch with disagreement, network by network."""
    disagree = one.argmax(1) != two.argmax(1)
    assert 2 <= disagree.sum() < len(y)
    one, two, y = one[disagree], two[disagree], y[disagree]
    if mode == "reference":
        one, two = one.softmax(1), two.softmax(1)
    keep = coteaching.n_remembered(len(y), rate)
    easy_for_one = F.cross_entropy(one, y, reduction="none").argsort()[:keep]
    easy_for_two = F.cross_entropy(two, y, reduction="none").argsort()[:keep]
    divisor = keep if mode == "reference" else 1
    return (
        F.cross_entropy(one[easy_for_two], y[easy_for_two]) / divisor,
        F.cross_entropy(two[easy_for_one], y[easy_for_one]) / divisor,
    )


@pytest.mark.parametrize("mode", ["reference", "clean"])
def test_a_step_of_coteaching(mode, masks):
    ours, (x, y) = make_networks(2), make_rows(40)
    twins = [twin_of(ours, k) for k in range(2)]
    for k, twin in enumerate(twins):
        set_masks(twin, masks(2, 40), k)
    for loss in plain_losses(twins[0](x), twins[1](x), y, 0.3, mode):
        loss.backward()
    for twin in twins:
        torch.optim.Adam(twin.parameters(), lr=1e-3).step()
    adam = torch.optim.Adam([ours.values], lr=1e-3, fused=True)
    coteaching._train_epoch(ours, adam, x, y, [torch.arange(40)], 0.3, 1, mode)
    for k, twin in enumerate(twins):
        close(gradients_of(ours, k), plain_gradients(twin))
        moved_together(parameters_of(ours, k), plain_parameters(twin), plain_gradients(twin))


@pytest.mark.parametrize("n_unlabeled", [4, 0])
def test_a_step_of_dividemix(n_unlabeled, masks):
    X, y = make_rows(20)
    settings = dividemix.Settings(learning_rate=0.1)
    student = dividemix.Student(X, y, settings, np.random.default_rng(2))
    twin = twin_of(student.network, 0)
    sgd = torch.optim.SGD(twin.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
    trust, theirs = torch.rand(20, dtype=torch.float64), torch.rand(20, 2).softmax(1)
    for labeled in (torch.arange(5), torch.arange(5, 10)):  # two steps, so that momentum counts
        unlabeled = torch.arange(10, 10 + n_unlabeled)
        x, u = X[labeled], X[unlabeled]
        rng = np.random.default_rng(3)
        student.rng = np.random.default_rng(3)
        refined, guessed = student._targets(labeled, unlabeled, trust[labeled], theirs[unlabeled])
        student._step(labeled, unlabeled, refined, guessed, 8.0)

        set_masks(twin, masks(1, 5 + n_unlabeled), 0)
        with torch.no_grad():
            own = (twin(torch.cat([x, u])).softmax(1) + twin(torch.cat([x, u])).softmax(1)) / 2
        w = trust[labeled, None].float()
        p = (w * F.one_hot(y[labeled], 2) + (1 - w) * own[:5]) ** 2
        q = ((own[5:] + theirs[unlabeled]) / 2) ** 2
        targets = [p / p.sum(1, keepdim=True)] * 2 + [q / q.sum(1, keepdim=True)] * 2
        share = rng.beta(4, 4)
        share = max(share, 1 - share)
        order = rng.permutation(2 * (5 + n_unlabeled))
        stack, target = torch.cat([x, x, u, u]), torch.cat(targets)
        stack = share * stack + (1 - share) * stack[order]
        target = share * target + (1 - share) * target[order]
        set_masks(twin, masks(1, len(stack)), 0)
        sgd.zero_grad()
        # Half way up the ramp of 16 epochs: lambda_u is 12.5.
        dividemix.mixed_loss(twin(stack), target, 10, 12.5).backward()
        sgd.step()
        close(gradients_of(student.network, 0), plain_gradients(twin))
    close(parameters_of(student.network, 0), plain_parameters(twin))
