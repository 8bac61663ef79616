"""Labels of rows that others have seen: a curve of errors over sureness instead of a constant rate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import expit, log_softmax

from labelcut import DEFAULT, ConfidenceHNC
from labelcut.arrays import Floats, Ints
from labelcut.hnc.by_sight import (
    STEEPEST,
    Sight,
    border_shift,
    border_slope,
    look_at_labels,
    pair_error,
    slope_of_truth,
)
from labelcut.hnc.noise_floor import believe_rates
from labelcut.hnc.pool import fit_pool

SCORES = hnp.arrays(np.float64, (6, 3), elements=st.floats(-6, 6))


def make_sight(n_classes: int = 3, **changes: Any) -> Sight:
    floor = np.full((n_classes, n_classes), 0.01 / (n_classes - 1))
    np.fill_diagonal(floor, 0.99)
    sight = Sight(np.zeros(n_classes), 1.0, 2.0, floor, np.full(n_classes, 0.01))
    return replace(sight, **changes)


def pictures(n: int = 3000, seed: int = 0) -> tuple[Floats, Ints, Ints]:
    """Return what a model says about pictures, the labels people gave them, and the truth.

    The model is right as often as twice its log-odds say. People see the same likeness, and err where the
    picture is hard.
    """
    rng = np.random.default_rng(seed)
    logits = rng.gumbel(scale=3.0, size=(n, 4))
    said = log_softmax(logits, axis=1)
    draw = rng.gumbel(size=(2, n, 4))
    truth = (2.0 * said + draw[0]).argmax(axis=1)
    lure = np.where(np.arange(4) == truth[:, None], -np.inf, said + draw[1]).argmax(axis=1)
    lead = np.sort(said, axis=1)
    is_wrong = rng.random(n) < expit(-0.8 - 0.6 * (lead[:, -1] - lead[:, -2]))
    return np.exp(said), np.where(is_wrong, lure, truth), truth


@given(st.floats(-8, 8), st.floats(0.1, 3), st.floats(1, 3))
def test_the_exchange_of_two_labels_turns_the_truth_into_what_labels_show(
    apart: float, label_slope: float, faster: float
) -> None:
    truth_slope = label_slope * faster
    e = pair_error(np.array([apart]), label_slope, truth_slope)[0]
    p, f = expit(truth_slope * apart), expit(label_slope * apart)
    assert p * (1 - e) + (1 - p) * e == pytest.approx(f, abs=1e-7)


def test_at_the_border_the_exchange_is_what_the_slopes_leave() -> None:
    near = pair_error(np.array([0.0, 1e-6]), 1.0, 2.0)
    np.testing.assert_allclose(near, [0.25, 0.25], rtol=1e-6)


@given(SCORES, hnp.arrays(np.intp, 6, elements=st.integers(0, 2)))
def test_p_wrong_is_bayes_rule_over_every_other_class(scores: Floats, codes: Ints) -> None:
    sight = make_sight()
    found = sight.judge(scores, codes, np.ones(6))
    for i, y in enumerate(codes):
        odds = 0.0
        for k in set(range(3)) - {int(y)}:
            apart = scores[i, k] - scores[i, y]
            e = float(pair_error(np.array([apart]), 1.0, 2.0)[0])
            odds += np.exp(2.0 * apart) * max(e / (1 - e), sight.floor[k, y] / sight.floor[y, y])
        assert found[i] == pytest.approx(odds / (1 + odds), rel=1e-9)


@given(SCORES, st.permutations(range(3)))
def test_the_names_of_the_classes_do_not_matter(scores: Floats, order: list[int]) -> None:
    codes = np.arange(6) % 3
    sight = make_sight(shift=np.array([0.3, -0.1, 0.0]))
    other = replace(sight, shift=sight.shift[order], floor=sight.floor[np.ix_(order, order)])
    renamed = np.argsort(order)[codes]
    found = sight.judge(scores, codes, np.ones(6))
    np.testing.assert_allclose(found, other.judge(scores[:, order], renamed, np.ones(6)), rtol=1e-9)


@settings(max_examples=30)
@given(st.floats(-3, 3), st.floats(0.05, 3))
def test_a_label_that_is_said_less_of_is_wrong_more_likely(first: float, less: float) -> None:
    scores = np.array([[first, 0.0, -1.0], [first - less, 0.0, -1.0]])
    low, high = make_sight().judge(scores, np.zeros(2, dtype=np.intp), np.ones(2))
    assert high > low


def test_a_held_label_is_right() -> None:
    scores = np.array([[-4.0, 0.0, -4.0]] * 2)
    found = make_sight().judge(scores, np.zeros(2, dtype=np.intp), np.array([1.0, np.inf]))
    assert found[0] > 0.9
    assert found[1] == 0.0


def test_the_border_lies_midway_between_two_classes() -> None:
    # One class is said of its rows with log-odds 1, the other one with 3: midway lies at -1 of the first.
    scores = np.repeat([[1.0, 0.0], [0.0, 3.0]], 30, axis=0)
    shift = border_shift(scores)
    assert shift[0] - shift[1] == pytest.approx(1.0)


@given(st.lists(st.floats(-0.05, 0.05), min_size=3, max_size=3))
def test_what_is_added_to_a_class_is_taken_from_its_shift(added: list[float]) -> None:
    rng = np.random.default_rng(0)
    codes = np.arange(120) % 3
    scores = rng.normal(scale=0.2, size=(120, 3)) + 4.0 * np.eye(3)[codes]
    change = np.array(added) - np.mean(added)
    np.testing.assert_allclose(border_shift(scores + change), border_shift(scores) - change, atol=1e-9)


def test_a_rare_class_and_a_class_that_nobody_names_keep_their_border() -> None:
    scores = np.repeat([[1.0, 0.0, -3.0], [0.0, 3.0, -3.0], [0.0, 0.0, 1.0]], [100, 100, 10], axis=0)
    assert border_shift(scores)[2] == 0.0
    assert border_shift(scores[:100]).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("slope", [0.5, 1.0, 2.0])
def test_the_slope_of_labels_is_found_at_the_border(slope: float) -> None:
    rng = np.random.default_rng(1)
    scores = np.column_stack([rng.uniform(-3, 3, 20_000), np.zeros(20_000), np.full(20_000, -9.0)])
    codes = np.where(rng.random(20_000) < expit(slope * scores[:, 0]), 0, 1)
    assert border_slope(scores, codes) == pytest.approx(slope, abs=0.1)


def test_without_rows_at_a_border_labels_turn_as_everywhere() -> None:
    assert border_slope(np.array([[9.0, 0.0]] * 5), np.zeros(5, dtype=np.intp)) == pytest.approx(
        1.0, abs=1e-4
    )


def test_the_truth_turns_faster_the_more_labels_are_wrong() -> None:
    slopes = [slope_of_truth(rate) for rate in (0.0, 0.01, 0.1, 0.3, 0.49)]
    assert slopes[0] == 1.0
    assert np.all(np.diff(slopes) > 0)
    # Odds of 1 : 9 on average are 1 : 3 at the border, a quarter.
    assert slope_of_truth(0.1) == pytest.approx(2.0)
    assert slope_of_truth(0.5) == np.inf


def test_errors_that_follow_hardness_are_counted_where_the_floor_misses_them() -> None:
    said, y, truth = pictures()
    is_wrong = y != truth
    scores = fit_pool({"model": said}, y, is_smooth=True).scores({"model": said})
    belief = believe_rates(scores, y, np.ones(y.size))
    sight = look_at_labels(scores, y, belief)
    assert belief.mean.mean() < 0.6 * is_wrong.mean()
    p_wrong = sight.judge(scores, y, np.ones(y.size))
    assert p_wrong.mean() == pytest.approx(is_wrong.mean(), rel=0.25)
    assert sight.rates @ np.bincount(truth) == pytest.approx(p_wrong.sum(), rel=0.05)
    assert 1.0 < sight.truth_slope <= STEEPEST


def test_a_constant_rate_is_counted_too() -> None:
    rng = np.random.default_rng(2)
    said, _, truth = pictures(seed=2)
    y = np.where(rng.random(truth.size) < 0.2, (truth + rng.integers(1, 4, truth.size)) % 4, truth)
    scores = fit_pool({"model": said}, y, is_smooth=True).scores({"model": said})
    sight = look_at_labels(scores, y, believe_rates(scores, y, np.ones(y.size)))
    total = sight.judge(scores, y, np.ones(y.size)).sum()
    assert total == pytest.approx((y != truth).sum(), rel=0.35)


def test_opinions_without_columns_are_read_by_sight_and_with_columns_as_before() -> None:
    said, y, _ = pictures(600)
    seen = ConfidenceHNC().fit(None, y, opinions={"model": said})
    assert list(seen.expert_weights_) == ["model"]
    assert seen._answer.verdict.sight is not None
    columns = ConfidenceHNC().fit(np.log(said), y, opinions={"model": said})
    assert {"forest", "cut", "model"} <= set(columns.expert_weights_)
    assert columns._answer.verdict.sight is None
    by_word = ConfidenceHNC(preset=replace(DEFAULT, overlap="possible")).fit(
        None, y, opinions={"model": said}
    )
    assert by_word._answer.verdict.sight is None
    assert np.nansum(seen.p_wrong_) > np.nansum(by_word.p_wrong_)


def test_an_embedding_has_an_opinion_of_its_own_and_alone_is_read_as_columns() -> None:
    said, y, _ = pictures(600)
    rng = np.random.default_rng(0)
    E = np.log(said) + rng.normal(size=said.shape)
    both = ConfidenceHNC().fit(None, y, opinions={"model": said}, embedding=E)
    assert set(both.expert_weights_) == {"cut", "model"}
    assert both._answer.verdict.sight is not None
    alone = ConfidenceHNC().fit(None, y, embedding=E)
    assert alone._answer.verdict.sight is None


def test_new_rows_are_judged_by_the_same_curve() -> None:
    said, y, truth = pictures(800)
    clf = ConfidenceHNC().fit(None, y[:600], opinions={"model": said[:600]})
    p = clf.predict_proba(None, opinions={"model": said[600:]})
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.mean(clf.classes_[p.argmax(axis=1)] == truth[600:]) > 0.85
    old = clf.predict_proba(None, opinions={"model": said[:600]})
    np.testing.assert_allclose(old, clf.label_distributions_, atol=1e-12)


def test_unlabeled_held_and_ignored_rows_go_together_with_opinions_alone() -> None:
    said, y, _ = pictures(600)
    labels = y.copy()
    labels[:100] = -1
    weight = np.ones(600)
    weight[100:120], weight[120:140] = np.inf, 0.0
    clf = ConfidenceHNC().fit(None, labels, opinions={"model": said}, sample_weight=weight)
    assert np.isnan(clf.p_wrong_[:100]).all()
    assert np.isnan(clf.p_wrong_[120:140]).all()
    assert (clf.p_wrong_[100:120] == 0).all()
    assert clf.is_label_issue_[140:].any()
    assert not clf.is_label_issue_[:140].any()
    again = ConfidenceHNC().fit(None, labels, opinions={"model": said}, sample_weight=weight)
    np.testing.assert_array_equal(clf.p_wrong_, again.p_wrong_)


def test_two_classes_and_one_column_of_probabilities_are_enough() -> None:
    rng = np.random.default_rng(3)
    lead = rng.normal(scale=4.0, size=1000)
    truth = (rng.random(1000) < expit(2 * lead)).astype(int)
    y = np.where(rng.random(1000) < expit(-1.0 - 0.5 * np.abs(lead)), 1 - truth, truth)
    clf = ConfidenceHNC().fit(None, y, opinions={"model": expit(lead)})
    flagged = clf.is_label_issue_
    assert np.mean((y != truth)[flagged]) > 0.7


def test_the_surest_opinions_keep_their_order_in_a_smooth_pool() -> None:
    sure = np.array([1e-9, 1e-4, 1e-3, 1e-2])
    said = np.repeat(np.column_stack([1 - 2 * sure, sure, sure]), 5, axis=0)
    said[-5:] = [0.2, 0.7, 0.1]
    codes = np.repeat([0, 0, 0, 1], 5)
    smooth = fit_pool({"model": said}, codes, is_smooth=True).scores({"model": said})[::5, 1]
    assert np.all(np.diff(smooth) > 0)
