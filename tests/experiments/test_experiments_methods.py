"""Every method behind the one interface, and the worked-out parts of DivideMix and Co-teaching+."""

import math
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from labelcut.experiments import methods
from labelcut.experiments.kept import Kept
from labelcut.experiments.methods import (
    base,
    chnc,
    confident_learning,
    coteaching,
    dividemix,
    forest,
    neighbors,
    resnet,
    spreading,
)
from labelcut.experiments.noise import make_task

EASY = "synthetic:n160:f5:p50:c1:s3:hypercube:0"

# Few epochs with larger steps, and few trees: enough for an easy problem, and quick.
QUICK = {
    "paper": {"n_trees": 15, "leaf_sizes": (0.01,)},
    "default": {"n_trees": 15},
    "extra_trees": {"n_trees": 15},
    "dividemix": {"n_epochs": 14, "warm_up": 8},
    "dividemix_0": {"n_epochs": 14, "warm_up": 8},
    "coteaching": {"n_epochs": 60, "first_rate": 5e-3},
    "coteaching_clean": {"n_epochs": 60, "first_rate": 5e-3},
    "resnet": {"n_epochs": 40, "patience": 40, "learning_rate": 5e-3},
}

pytestmark = [
    # cleanlab's Datalab calls pandas in a way pandas 3.1 warns about (cleanlab 2.9).
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
    # cleanlab on a dozen rows.
    pytest.mark.filterwarnings("ignore:May not flag all label issues"),
]

ALL = [name for name, method in methods.METHODS.items() if not (method.of_crowds or method.of_pictures)]


@pytest.fixture(autouse=True)
def small_forests(monkeypatch):
    """Forests of a few trees: enough for an easy problem, and quick."""
    monkeypatch.setattr(forest, "N_TREES", 15)
    monkeypatch.setattr(confident_learning, "N_TREES", 15)
    monkeypatch.setattr(chnc, "fit_forest", partial(chnc.fit_forest, n_trees=15, leaf_sizes=(0.01,)))


def fit(name, X, given, seed=0):
    inputs = base.Inputs(X, given, seed=seed, told_noise=0.2)
    return methods.get_method(name).fit(inputs, **QUICK.get(name, {}))


@pytest.mark.parametrize("name", ALL)
def test_an_easy_problem_is_learnt_and_its_wrong_labels_are_found(name):
    task = make_task(EASY, noise=0.1, test_share=0.3, seed=0)
    outcome = fit(name, task.X, task.given)
    test = ~task.is_labeled
    assert np.mean(outcome.predicted[test] == task.truth[test]) >= 0.85
    assert not outcome.is_flagged[test].any()
    found = (outcome.is_flagged & task.is_wrong).sum()
    if name not in ("hnc", "literal"):  # HNC never doubts a label; the literal reading is known to collapse
        assert found >= 0.6 * task.is_wrong.sum()
        wrong, right = outcome.suspicion[task.is_wrong], outcome.suspicion[task.is_labeled & ~task.is_wrong]
        assert np.mean(wrong) > np.mean(right)


@pytest.mark.parametrize("name", ALL)
def test_a_seed_repeats_every_answer(name):
    task = make_task("synthetic:n60:f3:p50:c1:s1:hypercube:1", noise=0.1, seed=1)
    first, again = (fit(name, task.X, task.given, seed=7) for _ in range(2))
    assert first.predicted.tolist() == again.predicted.tolist()
    assert first.is_flagged.tolist() == again.is_flagged.tolist()
    assert np.array_equal(first.suspicion, again.suspicion, equal_nan=True)


@pytest.mark.parametrize("name", ALL)
def test_a_table_of_a_dozen_rows_gets_an_answer_for_each(name):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-2, 1, (8, 2)), rng.normal(2, 1, (8, 2))])
    given = np.array([0] * 6 + [-1] * 2 + [1] * 6 + [-1] * 2)
    outcome = fit(name, X, given)
    assert set(outcome.predicted) <= {0, 1}
    assert outcome.predicted.shape == outcome.is_flagged.shape == outcome.suspicion.shape == (16,)
    assert np.isfinite(outcome.suspicion[given != -1]).all()
    if outcome.probability is not None:
        assert ((outcome.probability >= 0) & (outcome.probability <= 1)).all()


def test_an_unknown_method_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="no method 'svm'; choose one of paper, default"):
        methods.get_method("svm")


def test_the_kept_forest_is_charged_to_every_method_that_uses_it():
    task = make_task(EASY, noise=0.1)
    inputs = base.Inputs(task.X, task.given, seed=3)
    first, second = base.Stopwatch(), base.Stopwatch()
    found = forest.tune_forest(inputs, first)
    assert forest.tune_forest(replace(inputs), second) is found
    assert second.seconds["forest"] == second.seconds["reused"] == found.seconds


@pytest.mark.parametrize("change", [{"seed": 4}, {"n_jobs": 2}, {"kept": Kept()}, "X", "given"])
def test_another_table_seed_or_study_gets_a_forest_of_its_own(change):
    task = make_task(EASY, noise=0.1)
    inputs = base.Inputs(task.X, task.given, seed=3)
    if isinstance(change, str):
        other = getattr(inputs, change).copy()
        other[0] = 1 - other[0]
        change = {change: other}
    found = forest.tune_forest(inputs, base.Stopwatch())
    assert forest.tune_forest(replace(inputs, **change), base.Stopwatch()) is not found


@pytest.mark.parametrize("what", sorted({method.shares for method in methods.METHODS.values()} - {""}))
def test_every_method_said_to_share_takes_what_the_one_before_it_found(what):
    task = make_task("synthetic:n60:f3:p50:c1:s1:hypercube:1", noise=0.1, seed=1)
    inputs = base.Inputs(task.X, task.given, seed=5)
    sharing = [method for method in methods.METHODS.values() if method.shares == what]
    seconds = [method.fit(inputs).seconds for method in sharing]
    assert len(sharing) > 2
    assert ["reused" in one for one in seconds] == [False] + [True] * (len(sharing) - 1)


def test_the_shared_importances_are_those_the_paper_preset_finds():
    task = make_task("synthetic:n60:f3:p50:c1:s1:hypercube:1", noise=0.1, seed=1)
    inputs = base.Inputs(task.X, task.given, seed=5)
    settings = {"n_trees": 15, "leaf_sizes": (0.01,)}
    own = chnc.fit(inputs, "paper", **settings)
    shared = chnc.fit(inputs, "paper", share_forest=True)
    again = chnc.fit(inputs, "paper", share_forest=True)
    assert own.predicted.tolist() == shared.predicted.tolist() == again.predicted.tolist()
    assert np.array_equal(own.suspicion, shared.suspicion, equal_nan=True)
    assert "reused" not in shared.seconds
    assert again.seconds["reused"] == shared.seconds["forest"]


def test_hnc_flags_nothing(monkeypatch):
    task = make_task(EASY, noise=0.1)
    assert not fit("hnc", task.X, task.given).is_flagged.any()


def test_a_failure_that_datalab_only_prints_is_in_the_error(monkeypatch):
    import cleanlab

    def give_up(lab, **_):
        sys.stdout.write("Error in label: values must be between 0 and 1.")

    monkeypatch.setattr(cleanlab.Datalab, "find_issues", give_up)
    task = make_task(EASY, noise=0.1)
    with pytest.raises(ValueError, match="gave up: Error in label: values must be between 0 and 1"):
        fit("datalab", task.X, task.given)


def test_votes_leave_the_row_itself_out():
    X = np.array([[0.0], [1.0], [2.1], [10.0]])
    votes = neighbors.neighbor_votes(X, np.array([1.0, 0.0, 1.0, 1.0]), None, 1, 2)
    assert votes.tolist() == [[0, 0.5], [1, 1], [0, 0.5], [1, 0.5]]


def test_spreading_gives_one_half_to_a_row_no_label_reaches():
    from scipy import sparse

    weights = sparse.csr_matrix(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0.0]]))
    share = spreading.spread_labels(weights, np.array([1, -1, -1]), 0.5)[:, 1]
    assert share[0] == share[1] == 1
    weights = sparse.csr_matrix(
        np.array([[0, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 1, 0, 0], [0.0, 0, 0, 0, 0]])
    )
    share = spreading.spread_labels(weights, np.array([1, -1, 0, -1, -1]), 0.5)[:, 1]
    assert share.tolist() == [1, 1, 0, 0, 0.5]


def test_spreading_of_three_classes_has_a_column_for_each():
    from scipy import sparse

    weights = sparse.csr_matrix(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0.0]]))
    share = spreading.spread_labels(weights, np.array([2, -1, -1]), 0.5, 3)
    assert share.argmax(axis=1)[:2].tolist() == [2, 2]
    share = spreading.spread_labels(weights, np.array([2, -1, 0]), 0.5, 3)
    assert share.tolist() == [[0, 0, 1], [0, 0, 1], [1, 0, 0]]


# More than two classes

MANY = ["default", "forest", "contradiction", "forest_layer", "extra_trees", "boosting", "spreading"]
MANY += ["self_training", "cl", "cl_forest"]


def three_blobs():
    """Three groups of fifty rows; a third is unlabeled, one label in ten is another class."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 50)
    X = np.array([[0, 0], [5, 0], [0, 5.0]])[truth] + rng.normal(size=(150, 2))
    given = np.where(np.arange(150) % 10 == 0, (truth + 1) % 3, truth)
    given[np.arange(150) % 3 == 1] = -1
    return X, given, truth


@pytest.mark.parametrize("name", MANY)
def test_three_classes_are_told_apart_and_their_wrong_labels_found(name):
    X, given, truth = three_blobs()
    inputs = base.Inputs(X, given, n_classes=3)
    outcome = methods.get_method(name).fit(inputs, **QUICK.get(name, {}))
    unlabeled, is_wrong = given == -1, (given != -1) & (given != truth)
    assert np.mean(outcome.predicted[unlabeled] == truth[unlabeled]) >= 0.9
    assert outcome.probability.shape == (150, 3)
    assert outcome.probability.sum(axis=1) == pytest.approx(np.ones(150))
    assert (outcome.is_flagged & is_wrong).sum() >= 0.6 * is_wrong.sum()
    assert outcome.is_flagged.sum() <= 2 * is_wrong.sum()
    assert not outcome.is_flagged[unlabeled].any()


@pytest.mark.parametrize("name", ["forest", "contradiction", "extra_trees", "boosting"])
def test_a_label_is_called_wrong_by_one_minus_its_held_out_probability(name):
    task = make_task(EASY, noise=0.1)
    outcome = fit(name, task.X, task.given)
    assert np.array_equal(outcome.p_wrong, outcome.suspicion, equal_nan=True)
    labeled = outcome.p_wrong[task.is_labeled]
    assert np.array_equal(outcome.is_flagged[task.is_labeled], labeled > 0.5) or (labeled == 0.5).any()


def test_the_plain_forest_is_grown_to_the_last_row():
    task = make_task(EASY, noise=0.2)
    plain, tuned = fit("contradiction", task.X, task.given), fit("forest", task.X, task.given)
    labeled = task.is_labeled
    # Full trees have learnt the given labels of the rows they were grown on by heart.
    assert np.mean(plain.predicted[labeled] == task.given[labeled]) > 0.95
    assert np.mean(tuned.predicted[labeled] == task.given[labeled]) < 0.95


def test_self_training_labels_rows_it_is_sure_of_and_keeps_given_labels_out_of_its_judgement():
    task = make_task(EASY, noise=0.1, test_share=0.8)
    outcome = fit("self_training", task.X, task.given)
    assert 0 < outcome.notes["added"] <= (~task.is_labeled).sum()
    assert np.mean(outcome.is_flagged[task.is_wrong]) >= 0.5


def test_confident_learning_expects_what_its_library_lists():
    task = make_task(EASY, noise=0.1)
    outcome = fit("cl", task.X, task.given)
    assert outcome.expected_wrong == outcome.other_flags["library_mask"].sum()
    assert outcome.p_wrong is None


def test_folds_shrink_with_the_smallest_class():
    assert len(base.folds(np.array([0] * 9 + [1] * 3), 0)) == 3
    assert base.folds(np.array([0] * 9 + [1]), 0) == []


# What the deep methods share


def test_a_last_batch_of_one_row_joins_the_one_before():
    rng = np.random.default_rng(0)
    assert [len(b) for b in resnet.shuffled_batches(np.arange(9), 4, rng)] == [4, 5]
    assert [len(b) for b in resnet.shuffled_batches(np.arange(10), 4, rng)] == [4, 4, 2]
    assert [len(b) for b in resnet.shuffled_batches(np.arange(10), 4, rng, drop_last=True)] == [4, 4]
    assert [len(b) for b in resnet.shuffled_batches(np.arange(3), 4, rng, drop_last=True)] == [3]
    assert sorted(np.concatenate(resnet.shuffled_batches(np.arange(9), 4, rng))) == list(range(9))


def test_batches_grow_with_the_table():
    assert resnet.batch_size(9999) == 32
    assert resnet.batch_size(10000) == 128


def test_threads_and_random_numbers_are_put_back():
    torch.manual_seed(1)
    expected = torch.rand(1).item()
    torch.manual_seed(1)
    before = torch.get_num_threads()
    with resnet.one_seeded_thread(5):
        torch.rand(3)
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
    assert torch.rand(1).item() == expected


def test_a_single_labeled_row_is_refused():
    with pytest.raises(ValueError, match="1 labeled row; the network's BatchNorm needs at least two"):
        fit("resnet", np.zeros((3, 2)), np.array([1, -1, -1]))


@pytest.mark.parametrize("name", ["dividemix", "coteaching", "coteaching_clean", "resnet"])
def test_batches_with_one_class_only_are_survived(name):
    X = np.random.default_rng(0).normal(size=(40, 3))
    outcome = fit(name, X, np.array([1] * 33 + [-1] * 7))
    assert outcome.predicted[-7:].tolist() == [1] * 7


# DivideMix, parts worked by hand


def test_sharpening_at_one_half_squares():
    q = dividemix.sharpen(torch.tensor([[0.8, 0.2]]), 0.5)
    assert q.tolist()[0] == pytest.approx([0.64 / 0.68, 0.04 / 0.68])


def test_refinement_weighs_the_given_label_by_its_trust():
    # 0.5 * (0, 1) + 0.5 * (0.6, 0.4) = (0.3, 0.7); squares 0.09 and 0.49.
    q = dividemix.refine_labels(
        torch.tensor([1, 0]), torch.tensor([0.5, 1.0]), torch.tensor([[0.6, 0.4], [0.1, 0.9]]), 0.5
    )
    assert q.tolist()[0] == pytest.approx([0.09 / 0.58, 0.49 / 0.58])
    assert q.tolist()[1] == pytest.approx([1.0, 0.0])


def test_guessing_takes_the_mean_before_it_sharpens():
    views = [torch.tensor([[p, 1 - p]]) for p in (0.9, 0.7, 0.8, 0.8)]
    assert dividemix.guess_labels(views, 0.5).tolist()[0] == pytest.approx([0.64 / 0.68, 0.04 / 0.68])


def test_the_mixture_trusts_the_low_losses():
    losses = np.array([0.10, 0.12, 0.11, 0.13, 2.0, 2.1, 2.05, 1.95])
    clean = dividemix.clean_probability(losses, seed=0)
    assert (clean[:4] > 0.99).all()
    assert (clean[4:] < 0.01).all()


def test_equal_losses_are_all_clean():
    assert dividemix.clean_probability(np.full(5, 0.3), seed=0).tolist() == [1] * 5


def test_a_division_without_clean_rows_keeps_every_label():
    keeps, loses, trust = dividemix.divide_rows(np.array([0.5, 0.1, 0.9]), 0.5)
    assert (keeps.tolist(), loses.tolist(), trust.tolist()) == ([0, 1, 2], [], [1, 1, 1])
    keeps, loses, trust = dividemix.divide_rows(np.array([0.6, 0.5, 0.9]), 0.5)
    assert (keeps.tolist(), loses.tolist(), trust.tolist()) == ([0, 2], [1], [0.6, 0.5, 0.9])


def test_mixing_takes_rows_and_targets_in_the_same_shares():
    x, t = dividemix.mix_rows(torch.tensor([[0.0], [4.0]]), torch.eye(2), 0.75, torch.tensor([1, 0]))
    assert x.tolist() == [[1.0], [3.0]]
    assert t.tolist() == [[0.75, 0.25], [0.25, 0.75]]


def test_the_unlabeled_weight_rises_over_sixteen_epochs():
    weights = [dividemix.unlabeled_weight(25, after, 16) for after in (-1, 0, 4, 16, 40)]
    assert weights == [0, 0, 6.25, 25, 25]


def test_the_mixed_loss_adds_its_three_parts():
    # One labeled row with even odds: log 2. One unlabeled row, 0.75 against target (1, 0): squares of 1/4.
    logits = torch.tensor([[0.0, 0.0], [math.log(3), 0.0]])
    targets = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    mean = (0.5 + 0.75) / 2
    pull = 0.5 * math.log(0.5 / mean) + 0.5 * math.log(0.5 / (1 - mean))
    loss = dividemix.mixed_loss(logits, targets, 1, 10.0)
    assert loss.item() == pytest.approx(math.log(2) + 10 * 0.0625 + pull, rel=1e-5)
    alone = dividemix.mixed_loss(logits[:1], targets[:1], 1, 10.0)
    assert alone.item() == pytest.approx(math.log(2), rel=1e-5)


def test_the_paper_slows_dividemix_down_on_two_sets(monkeypatch):
    seen = []
    monkeypatch.setattr(dividemix, "Settings", lambda **changes: seen.append(changes) or 1 / 0)
    for name in ("vote", "adult"):
        with pytest.raises(ZeroDivisionError):
            dividemix.fit(base.Inputs(np.zeros((4, 1)), np.array([0, 1, 0, 1]), name=name))
    assert seen == [{}, {"learning_rate": 0.002}]


# Co-teaching+, parts worked by hand


def test_forgetting_rises_over_ten_epochs():
    rates = coteaching.forget_rates(0.18, 12)
    assert rates.tolist() == pytest.approx([0.02 * e for e in range(10)] + [0.18, 0.18])


def test_a_share_of_the_rows_is_remembered_but_never_none():
    assert coteaching.n_remembered(10, 0.3) == 7
    assert coteaching.n_remembered(3, 0.3) == 2
    assert coteaching.n_remembered(1, 0.3) == 1


def test_the_learning_rate_falls_from_epoch_eighty():
    rates = [coteaching.learning_rate(epoch, 200, 1e-3) for epoch in (1, 79, 80, 140, 199)]
    assert rates == pytest.approx([1e-3, 1e-3, 1e-3, 5e-4, 1e-3 / 120])


def test_each_network_learns_from_the_rows_easy_for_the_other():
    y = torch.tensor([1, 1])
    one = torch.tensor([[0.0, 2.0], [0.0, -1.0]])  # row 0 is easy for one
    two = torch.tensor([[0.0, -3.0], [0.0, 1.0]])  # row 1 is easy for two
    loss_one, loss_two = coteaching.exchange_losses(torch.stack([one, two]), y, 0.5, divide_again=False)
    assert loss_one.item() == pytest.approx(math.log(1 + math.e))  # its own loss on row 1
    assert loss_two.item() == pytest.approx(math.log(1 + math.exp(3)))  # its own loss on row 0


def test_only_rows_of_disagreement_count():
    y = torch.tensor([1, 0])
    one = torch.tensor([[0.0, 1.0], [0.0, 5.0]])
    two = torch.tensor([[0.0, -1.0], [0.0, 5.0]])
    loss_one, loss_two = coteaching.step_losses(torch.stack([one, two]), y, 0.0, step=9000, mode="clean")
    assert loss_one.item() == pytest.approx(math.log(1 + math.exp(-1)))
    assert loss_two.item() == pytest.approx(math.log(1 + math.e))


def test_the_reference_applies_softmax_twice_and_divides_twice():
    # Two rows of disagreement, labels right for network one: p_y is s and 1 - s with s = sigmoid(1).
    y = torch.tensor([1, 1])
    one = torch.tensor([[0.0, 1.0], [0.0, 1.0]])
    two = -one
    s = 1 / (1 + math.exp(-1))
    loss_one, loss_two = coteaching.step_losses(torch.stack([one, two]), y, 0.0, step=0, mode="reference")
    assert loss_one.item() == pytest.approx(math.log(1 + math.exp(1 - 2 * s)) / 2, rel=1e-5)
    assert loss_two.item() == pytest.approx(math.log(1 + math.exp(2 * s - 1)) / 2, rel=1e-5)


def test_agreement_is_plain_training_early_and_nothing_late():
    y = torch.tensor([1])
    logits = torch.tensor([[[0.0, 1.0]], [[0.0, 1.0]]])
    s = 1 / (1 + math.exp(-1))
    early = coteaching.step_losses(logits, y, 0.2, step=4999, mode="reference")
    late = coteaching.step_losses(logits, y, 0.2, step=5000, mode="reference")
    assert early[0].item() == pytest.approx(math.log(1 + math.exp(1 - 2 * s)), rel=1e-5)
    assert late[0].item() == 0
    assert coteaching.step_losses(logits, y, 0.2, step=0, mode="clean") is None


def test_coteaching_must_be_told_the_noise_and_a_known_mode():
    inputs = base.Inputs(np.zeros((4, 1)), np.array([0, 1, 0, 1]))
    with pytest.raises(ValueError, match="must be told the share of wrong labels"):
        coteaching.fit(inputs)
    with pytest.raises(ValueError, match="mode='x'; choose 'reference' or 'clean'"):
        coteaching.fit(inputs, mode="x")
