"""Which labels are hidden from whom."""

import numpy as np
import pytest

from labelcut.hnc.hiding import MOST_DEALS, deal_tasks, task_seed
from labelcut.hnc.labels import count_folds


def test_every_label_is_hidden_once_a_deal_and_others_never():
    codes = np.r_[np.zeros(40), np.ones(30), np.full(10, -1)].astype(int)
    trust = np.ones(80)
    trust[:5] = np.inf
    hiding = deal_tasks(codes, trust, 5, 0)
    assert hiding.masks.shape == (5 * MOST_DEALS, 80)
    times = hiding.masks.sum(axis=0)
    assert times[5:70].tolist() == [MOST_DEALS] * 65
    assert not times[:5].any(), "held labels need not be hidden"
    assert not times[70:].any()
    assert hiding.first_deal.masks.sum(axis=0).max() == 1


def test_larger_tables_are_dealt_once():
    codes = np.arange(4000) % 2
    assert len(deal_tasks(codes, np.ones(4000), 5, 0).masks) == 5


def test_many_classes_are_dealt_less_often():
    trust = np.ones(1200)
    assert len(deal_tasks(np.arange(1200) % 2, trust, 5, 0).masks) == 5 * 4
    assert len(deal_tasks(np.arange(1200) % 10, trust, 5, 0).masks) == 5


def test_two_thirds_of_many_labels_teach_enough():
    codes = np.arange(60_000) % 2
    assert len(deal_tasks(codes, np.ones(codes.size), 5, 0).masks) == 3
    assert len(deal_tasks(codes, np.ones(codes.size), 2, 0).masks) == 2, "who asks for fewer gets fewer"


def test_the_mean_is_taken_over_those_who_did_not_see_the_label():
    codes = np.array([0, 1, 0, 1, -1])
    hiding = deal_tasks(codes, np.ones(5), 2, 0)
    by_task = np.arange(len(hiding.masks) * 5, dtype=float).reshape(-1, 5)
    found = hiding.mean(by_task)
    for row in range(4):
        assert found[row] == pytest.approx(by_task[hiding.masks[:, row], row].mean())
    assert found[4] == pytest.approx(by_task[:, 4].mean())


def test_answers_on_the_rows_that_were_asked_about_have_the_same_mean():
    codes = np.random.default_rng(0).integers(-1, 3, 200)
    trust = np.where(np.arange(200) < 30, np.inf, 1.0)
    hiding = deal_tasks(codes, trust, 5, 0)
    by_task = np.random.default_rng(1).random((len(hiding.masks), 200, 3))
    found = [(hiding.asked(m), by_task[m, hiding.asked(m)]) for m in range(len(hiding.masks))]
    assert hiding.mean_of(found) == pytest.approx(hiding.mean(by_task))


def test_folds_leave_two_classes_each():
    assert count_folds(np.array([0, 0, 0, 1, 1, 1, 2]), np.ones(7), 5) == 3
    assert count_folds(np.array([0, 0, 0, 1]), np.ones(4), 5) == 1
    assert count_folds(np.array([0, 0, 1, 1]), np.array([np.inf, 1, 1, 1]), 5) == 1


def test_pieces_of_work_have_seeds_of_their_own():
    assert len({task_seed(0, i, j) for i in range(10) for j in range(10)}) == 100
    assert task_seed(7, 3) == task_seed(7, 3)
