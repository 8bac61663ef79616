"""What a fit holds at a time: of a large table every copy of the columns counts."""

from __future__ import annotations

import mmap
import sys
import tracemalloc

import numpy as np
import pytest

from labelcut import ConfidenceHNC
from labelcut.hnc import classifier, tasks, views
from labelcut.hnc.columns import scale_columns
from labelcut.hnc.labels import Labels
from labelcut.hnc.rows import line_up
from labelcut.hnc.tasks import share_threads
from labelcut.memory import give_back


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(50_000, 20))


def most_held(work):
    """Return the most bytes that work holds at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_scaling_holds_one_copy(X):
    assert most_held(lambda: scale_columns(X, kind="robust")) < 1.3 * X.nbytes


def test_lining_up_holds_one_copy_and_what_is_compared(X):
    labels = Labels(np.array([0, 1]), np.arange(len(X)) % 2)
    trust = np.ones(len(X))

    def work():
        rows = line_up(X, labels, trust, {}, None, None, clip=True)
        assert rows.raw is rows.X  # nothing was clipped

    assert most_held(work) < 1.6 * X.nbytes


def test_absurd_values_are_clipped_in_a_copy(X):
    spoiled = X.copy()
    spoiled[7, 3] = 1e9
    labels = Labels(np.array([0, 1]), np.arange(len(X)) % 2)
    rows = line_up(spoiled, labels, np.ones(len(X)), {}, None, None, clip=True)
    assert rows.raw.max() == spoiled.max() == 1e9
    assert rows.X.max() < 100


def test_a_fitted_model_keeps_no_cell_of_the_table(X):
    y = (X[:400, 0] > 0).astype(int)
    rows = ConfidenceHNC().fit(X[:400], y)._answer.rows
    assert rows.X.shape == rows.raw.shape == (0, 20)
    assert rows.X.base is None


def test_threads_go_inside_the_cuts_of_a_large_graph():
    assert share_threads(1000, 3, 2) == (2, 1)
    assert share_threads(1000, 2, 8) == (8, 4)
    assert share_threads(tasks.IN_TURN_FROM, 3, 2) == (1, 2)


def test_cuts_made_in_turn_give_the_same_bytes(X, monkeypatch):
    y = np.where(np.arange(600) % 3, (X[:600, 0] > 0).astype(int), -1)
    found = []
    for least in (tasks.IN_TURN_FROM, 1):
        monkeypatch.setattr(tasks, "IN_TURN_FROM", least)
        model = ConfidenceHNC(n_jobs=2).fit(X[:600], y)
        found.append(model.label_distributions_.tobytes() + model.p_wrong_.tobytes())
    assert found[0] == found[1]


@pytest.mark.parametrize(("preset", "kind"), [("default", np.float32), ("paper", np.float64)])
def test_many_rows_are_kept_in_half_of_the_bytes_but_not_in_the_paper(X, monkeypatch, preset, kind):
    monkeypatch.setattr(views, "NARROW_FROM", 300)
    seen = []

    def look_at(*given, **how):
        seen.append(views.look_at(*given, **how)[1])
        return views.look_at(*given, **how)

    monkeypatch.setattr(classifier, "look_at", look_at)
    model = ConfidenceHNC(preset).fit(X[:300], (X[:300, 0] > 0).astype(int))
    assert seen[0].trees.dtype == kind
    assert (model.transduction_ == (X[:300, 0] > 0)).mean() > 0.9


@pytest.mark.skipif(sys.platform != "linux", reason="other systems are not asked")
def test_what_was_freed_is_given_back():
    blocks = [bytearray(100_000) for _ in range(500)]  # too small to be given back one by one
    kept = blocks[-1]
    before = resident()
    del blocks
    give_back()
    assert len(kept) == 100_000
    assert resident() < before - 30_000_000


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE
