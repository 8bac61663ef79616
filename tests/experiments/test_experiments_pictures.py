"""Labels by people and opinions by networks: the file, the tasks, who judges them, and the tables."""

import hashlib
import re

import numpy as np
import pytest

from labelcut.experiments import people, pictures
from labelcut.experiments.chapters import CHAPTERS
from labelcut.experiments.data import DataError
from labelcut.experiments.methods import FILTERS, METHODS, get_method
from labelcut.experiments.pictures import PictureName
from labelcut.experiments.run import Run, execute, load_study
from labelcut.experiments.tables.real_errors import read_real_errors, real_error_tables

N = 400


def arrays() -> dict[str, np.ndarray]:
    """Return a small file: four classes told well by one network and badly by the other."""
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=N)
    is_wrong = rng.random(N) < 0.2
    y = np.where(is_wrong, (truth + 1) % 4, truth)
    found = {"image": np.arange(N), "true": truth, "annotators": np.column_stack([y] * 3)}
    for label_set in people.LABEL_SETS:
        found[label_set] = y
        for network, strength in zip(people.NETWORKS, (2.0, 4.0), strict=True):
            logits = strength * np.eye(4)[truth] + rng.normal(size=(N, 4))
            p = np.exp(logits)
            found[f"{label_set}_{network}"] = (p / p.sum(axis=1, keepdims=True)).astype(np.float32)
    return found


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """Put a small file in the place of the real one."""
    path = tmp_path / "real-errors" / "cifar10n.npz"
    path.parent.mkdir()
    np.savez(path, **arrays())
    monkeypatch.setenv("LABELCUT_DATA", str(tmp_path))
    monkeypatch.setattr(people, "SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
    monkeypatch.setattr(pictures, "N_PEOPLE_ROWS", N)
    return path


def test_a_file_that_is_not_there_or_another_one_is_told_with_the_place(folder):
    folder.write_bytes(folder.read_bytes() + b" ")
    with pytest.raises(DataError, match=r"cifar10n\.npz is not the file the studies were made with"):
        people.read_people()
    folder.unlink()
    with pytest.raises(DataError, match=r"cifar10n\.npz is not there; put CIFAR-10N there"):
        people.read_people()


@pytest.mark.parametrize(
    "name", ["pictures", "pictures-best-swin", "pictures-worst-vgg", "pictures-worst-swin+embedding@even"]
)
def test_a_name_that_is_none_is_told_with_those_there_are(name):
    said = re.escape(f"no data set '{name}'; it is pictures-LABELS-WHO")
    with pytest.raises(ValueError, match=said):
        PictureName.read(name)


def test_a_task_has_the_opinions_and_the_embedding_of_its_name(folder):
    alone = pictures.make_pictures("pictures-worst-swin")
    assert list(alone.opinions) == ["swin"]
    assert alone.embedding is None
    np.testing.assert_allclose(alone.opinions["swin"].sum(axis=1), 1.0)
    other = pictures.make_pictures("pictures-worst-swin+embedding")
    by_resnet = people.read_people().network("worst", "resnet18")
    np.testing.assert_array_equal(other.embedding, pictures.centred_logs(by_resnet))
    both = pictures.make_pictures("pictures-worst-both+embedding")
    assert list(both.opinions) == ["resnet18", "swin"]
    assert both.embedding.shape == (N, 8)
    odd = pictures.make_pictures("pictures-worst-swin@odd")
    np.testing.assert_array_equal(odd.given, alone.given[1::2])


def test_everybody_judges_and_lines_become_tables(folder):
    names = [name for name, method in METHODS.items() if method.of_pictures]
    records = [execute(Run(name, "pictures-worst-swin", (0.0, 0.0), 0.3, 0)) for name in names]
    assert [record.get("error") for record in records] == [None] * len(names)
    scores = {record["method"]: record["scores"] for record in records}
    assert scores["sight"]["average_precision"] > 0.9
    assert scores["filter_differs"]["noise_f1"] == pytest.approx(scores["prediction_differs"]["noise_f1"])
    assert scores["self_confidence"]["expected_share"] > 0
    tables = real_error_tables(records)
    assert [table.name for table in tables] == [
        *("real-errors-average_precision", "real-errors-noise_f1", "real-errors-expected"),
    ]
    ranked, flagged, expected = tables
    assert ranked.head[:3] == ("Labels", "Opinions", "LabelCut")
    assert len(flagged.head) - len(ranked.head) == len(FILTERS)
    assert ranked.rows[0][2] == f"{100 * scores['sight']['average_precision']:.1f}"
    assert expected.rows[0][2] == f"{100 * scores['sight']['wrong_share']:.1f}"


def line(method: str, data: str, score: float) -> dict:
    """Return a finished run."""
    scores = {"average_precision": score, "noise_f1": score, "expected_share": 0.1, "wrong_share": 0.1}
    return {"method": method, "data": data, "scores": scores}


def test_the_reading_says_where_a_rival_is_ahead():
    data = "pictures-worst-swin", "pictures-worst-both@odd"
    records = [line("sight", data[0], 0.9), line("self_confidence", data[0], 0.8)]
    records += [line("sight", data[1], 0.7), line("self_confidence", data[1], 0.8)]
    told = read_real_errors(records)
    assert told[0].endswith("LabelCut is above every rival in 1 of 1 rows.")
    assert "in 0 of 1 rows; not in worst, both (Self-confidence)." in told[3]
    assert "within 10% of the true number in 1 of 1 rows" in told[5]
    assert real_error_tables([]) == []


def test_the_study_asks_only_those_who_judge_by_opinions():
    study = load_study("real-errors")
    assert all(get_method(run.method).of_pictures and pictures.is_pictures(run.data) for run in study.runs)
    assert {run.method for run in study.runs} == {name for name, m in METHODS.items() if m.of_pictures}
    assert "real-errors" in [chapter.study for chapter in CHAPTERS]
