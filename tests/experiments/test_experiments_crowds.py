"""Tasks with several annotators: what is drawn, how answers are measured, and their tables."""

import numpy as np
import pytest

from labelcut.experiments import crowds
from labelcut.experiments.data import DataSet
from labelcut.experiments.methods import METHODS, get_method
from labelcut.experiments.run import Run, execute, load_study
from labelcut.experiments.tables.annotators import annotator_tables


@pytest.fixture
def small(monkeypatch):
    """Put a small table in the place of every data set."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    X = np.column_stack([y + rng.normal(0, 0.5, 200), rng.normal(size=200)])
    monkeypatch.setattr(crowds, "load", lambda name: DataSet(name, name, X, y))


def test_more_labels_a_row_begin_with_those_of_fewer(small):
    two, three = (crowds.make_crowd(f"crowd-{n}-vote", 0).said for n in (2, 3))
    assert ((two != -1).sum(axis=1) == 2).all()
    assert ((three != -1).sum(axis=1) == 3).all()
    assert np.array_equal(two[two != -1], three[two != -1])


def test_scores_of_a_perfect_answer_are_perfect(small):
    task = crowds.make_crowd("crowd-5-vote", 0)
    is_given = task.said != -1
    hits = (task.said == task.truth[:, None]) & is_given
    suspicion = np.where(is_given, ~hits, np.nan).astype(float)
    perfect = crowds.CrowdOutcome(task.truth, hits.sum(axis=0) / is_given.sum(axis=0), suspicion)
    scores = crowds.score_crowd(task, perfect)
    assert scores["accuracy"] == scores["average_precision"] == 1
    assert scores["annotator_rank"] == pytest.approx(1)


def test_runs_become_lines_and_lines_become_tables(small):
    runs = [Run(name, "crowd-5-vote", (0.0, 0.0), 0.3, 0) for name in ("majority", "combined")]
    records = [execute(run) for run in runs]
    majority, ours = (record["scores"] for record in records)
    assert ours["accuracy"] >= majority["accuracy"]
    assert ours["average_precision"] > majority["average_precision"]
    tables = annotator_tables(records)
    assert [table.name for table in tables] == [
        *("annotators-accuracy", "annotators-annotator_rank", "annotators-average_precision"),
    ]
    assert tables[0].rows == (
        ("Crowd, Vote", "5", f"{100 * majority['accuracy']:.1f}", f"{100 * ours['accuracy']:.1f}"),
    )


def test_the_study_asks_only_those_who_take_annotators():
    study = load_study("annotators")
    assert all(get_method(run.method).of_crowds and crowds.is_crowd(run.data) for run in study.runs)
    assert {run.method for run in study.runs} == {name for name, m in METHODS.items() if m.of_crowds}


def test_labels_of_people_that_are_not_there_are_told_with_the_place(monkeypatch, tmp_path):
    monkeypatch.setenv("LABELCUT_DATA", str(tmp_path))
    with pytest.raises(OSError, match=r"cifar10n\.npz is not there; put"):
        crowds.make_crowd("people-1-swin", 0)
