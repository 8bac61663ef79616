"""The pictures that a column names: which are there, which fit into a page, and what is said of the rest."""

import os

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import labelcut
from labelcut.auditing.pictures import draw_pictures, find_lost_pictures, find_pictures, tell_limit
from labelcut.errors import BadChoice, BadTable
from labelcut.table.table import make_table, read_table


def table_of(names, **choices):
    n = len(names)
    frame = pd.DataFrame(
        {"file": names, "x": np.arange(n) * 1.5, "y": ["a", "b"] * (n // 2) + ["a"] * (n % 2)}
    )
    return make_table(frame, label="y", image="file", **choices)


@pytest.fixture
def folder(tmp_path):
    for i in range(8):
        Image.new("RGB", (10, 10), (30 * i, 0, 0)).save(tmp_path / f"{i}.png")
    return tmp_path


def test_names_start_from_the_folder_or_are_whole_paths(folder, monkeypatch):
    (folder / "inner").mkdir()
    names = ["0.png", str(folder / "1.png"), "inner/../2.png", " 3.png ", "inner\\..\\4.png", "./5.png"]
    found = find_pictures(table_of(names), folder)
    assert [os.path.basename(file) for file in found.files] == [f"{i}.png" for i in range(6)]
    assert set(found.lacks) == {""}
    monkeypatch.chdir(folder)
    assert find_pictures(table_of(names)).files[0] == "0.png"


def test_names_in_a_file_start_from_the_folder_of_that_file(folder, monkeypatch):
    table = table_of([f"{i}.png" for i in range(8)])
    table.frame.to_csv(folder / "t.csv", index=False)
    monkeypatch.chdir("/")
    read = read_table(folder / "t.csv", label="y", image="file")
    assert find_pictures(read).files[3] == str(folder / "3.png")
    assert [column.role for column in read.columns] == ["image", "feature", "label"]


def test_the_column_of_pictures_is_no_feature_and_may_be_the_id(folder):
    table = table_of([f"{i}.png" for i in range(8)], id="file")
    assert [column.name for column in table.features] == ["x"]
    assert table.ids()[2] == "2.png"


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"image": "y"}, "column 'y' is the label and cannot be the image as well"),
        (
            {"image": "f", "text": "f"},
            "column 'f' names pictures and cannot be the group or the text as well",
        ),
        (
            {"image": "f", "group": "f"},
            "column 'f' names pictures and cannot be the group or the text as well",
        ),
        ({"text": "y"}, "column 'y' is the label and cannot be the text as well"),
        (
            {"text": "f", "id": "f"},
            "column 'f' is the text and cannot be the id, the group or of another kind",
        ),
        (
            {"text": "f", "kinds": {"f": "category"}},
            "'f' is the text and cannot be the id, the group or of another",
        ),
        (
            {"image": "f", "ignore": ["f"]},
            "column 'f' is ignored and cannot be the image, whose values are shown",
        ),
        ({"image": "g"}, "no column 'g'"),
    ],
)
def test_a_column_has_one_role(choices, message):
    frame = pd.DataFrame({"f": ["1", "2", "3", "4"], "x": [1, 2, 3, 5], "y": ["a", "b", "a", "b"]})
    with pytest.raises(BadChoice, match=message):
        make_table(frame, label="y", **choices)


def test_what_is_not_there_is_told_apart_and_nothing_is_fetched(folder):
    names = [
        "0.png",
        None,
        "",
        "gone.png",
        "http://127.0.0.1:9/x.png",
        "s3://b/x.png",
        "x" * 5000,
        "a\0b",
        "/dev/zero",
    ]
    table = table_of([*names, str(folder)])
    files = find_pictures(table, folder)
    assert files.lacks == (
        *("", "no picture is named", "no picture is named", "the file is not there"),
        *("web addresses are not fetched", "web addresses are not fetched"),
        *("the file is not there",) * 4,
    )
    drawn = draw_pictures(files, np.arange(10), [[]] * 10, 10)
    lost = find_lost_pictures(table, files, drawn)
    assert [(finding["kind"], finding["count"]) for finding in lost] == [
        ("missing pictures", 7),
        ("pictures not fetched", 2),
    ]
    assert lost[0]["text"] == "7 rows have no picture, or one whose file is not there."
    assert lost[0]["examples"][2] == [[4, "4", "b"]]
    assert drawn.counts["missing"] == 7
    assert drawn.album["lacks"]["3"] == "the file is not there"


def test_a_wrong_folder_is_refused_before_any_work(folder):
    table = table_of([f"{i}.jpg" for i in range(8)])
    with pytest.raises(
        BadChoice, match=r"none of the 8 pictures in 'file' is in .*0\.jpg'\); say where .* image_root='DIR'"
    ):
        find_pictures(table, folder)
    with pytest.raises(BadChoice, match=r"image_root='/no/such' is no folder; check the path\."):
        find_pictures(table, "/no/such")
    bare = make_table(table.frame, label="y")
    assert find_pictures(bare) is None
    with pytest.raises(
        BadChoice, match="image_root='x' says where pictures are, but no column of them is named"
    ):
        find_pictures(bare, "x")


def test_each_picture_stands_once_in_the_page_and_cases_have_it_large(folder):
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (900, 900, 3), dtype=np.uint8)).save(
        folder / "0.png"
    )
    files = find_pictures(table_of(["0.png", "1.png", "0.png", "2.png", "3.png"]), folder)
    rows = np.array([4, 0, 2, 3, 1])  # Two suspects, one unlabeled row, two rows beside them.
    drawn = draw_pictures(files, rows, [[1, 3], [3, 4], [0]], 2)
    assert drawn.album["of"][1] == drawn.album["of"][2]  # The same file.
    assert len(drawn.album["data"]) == 4 == len(set(drawn.album["data"]))
    assert drawn.album["lacks"] == {}
    assert (drawn.counts["suspects_shown"], drawn.counts["unlabeled_shown"]) == (2, 1)
    assert drawn.counts["bytes"] == sum(map(len, drawn.album["data"]))
    assert tell_limit(drawn.counts, 2, 1) == ""


def test_a_page_holds_the_first_rows_and_says_so(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(30):
        Image.fromarray(rng.integers(0, 255, (80, 80, 3), dtype=np.uint8)).save(tmp_path / f"{i}.jpg")
    files = find_pictures(table_of([f"{i}.jpg" for i in range(30)]), tmp_path)
    size = len(draw_pictures(files, np.arange(1), [[]], 1).album["data"][0])
    # 20 suspects, 10 unlabeled rows; every suspect has the one after it beside it.
    near = [[(s + 1) % 20] for s in range(20)] + [[] for _ in range(10)]
    most = 10 * size + 500
    drawn = draw_pictures(files, np.arange(30), near, 20, most)
    assert drawn.counts["bytes"] <= most
    assert 5 <= drawn.counts["suspects_shown"] < 10
    assert drawn.counts["unlabeled_shown"] >= 2
    n = drawn.counts["suspects_shown"]
    assert all(at >= 0 for at in drawn.album["of"][: n + 1])
    assert drawn.album["lacks"]["19"] == "not in this page, which is full"
    told = f"Pictures of the {n} most suspect rows and the {drawn.counts['unlabeled_shown']} least sure"
    assert tell_limit(drawn.counts, 20, 10).startswith(told)
    alone = draw_pictures(files, np.arange(20), near[:20], 20, most)
    assert tell_limit(alone.counts, 20, 0).startswith(
        f"Pictures of the {alone.counts['suspects_shown']} most"
    )
    assert alone.counts["suspects_shown"] == 9


def test_broken_pictures_are_counted_by_row_and_shown_as_broken(folder):
    (folder / "bad.png").write_bytes(b"no picture")
    table = table_of(["0.png", "bad.png", "bad.png", "1.png"])
    files = find_pictures(table, folder)
    drawn = draw_pictures(files, np.array([1, 0]), [[1]], 1)
    assert drawn.counts["unreadable"] == 2
    assert drawn.album["of"] == [-1, 0]
    assert drawn.album["lacks"] == {"0": "no picture that can be read"}
    lost = find_lost_pictures(table, files, drawn)
    assert lost[0]["text"] == "2 rows have a picture that cannot be shown: broken, too large, or none."


def test_pictures_alone_are_no_evidence_and_an_embedding_is(folder):
    frame = pd.DataFrame({"file": [f"{i % 8}.png" for i in range(60)], "y": ["a", "b"] * 30})
    with pytest.raises(
        BadTable, match=r"pictures are shown, not looked at: give vectors .* with embedding\."
    ):
        labelcut.audit(frame, label="y", image="file", image_root=folder)
    vectors = np.random.default_rng(0).normal(size=(60, 4)) + np.arange(60)[:, None] % 2 * 3.0
    frame.loc[[0, 7], "y"] = ["b", "a"]
    found = labelcut.audit(frame, label="y", image="file", image_root=folder, embedding=vectors, n_jobs=1)
    assert found.facts["pictures"]["nearness"] == "Near by the embedding that was given."
    assert not [note for note in found.facts["source"]["notes"] if "looked at" in note]
    assert {1, 8} <= set(found.issues["row"])
    numbers = frame.assign(x=vectors[:, 0], z=vectors[:, 1])
    by_columns = labelcut.audit(numbers, label="y", image="file", image_root=folder, n_jobs=1).facts
    assert "the pictures are shown, not looked at" in by_columns["pictures"]["nearness"]
    assert any(note.startswith("Pictures are shown, not looked at") for note in by_columns["source"]["notes"])
