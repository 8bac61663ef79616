"""The label column: spellings, marks, numbers that are no classes, the order of the classes."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from tables import run

import labelcut
from labelcut.errors import BadChoice, BadTable
from labelcut.table.decisions import Decision, match
from labelcut.table.table import make_table, read_table

SPELLED = ["yes", "no", "YES", "no", " Yes ", "yes", "very  Good", "Very good"]


def table_of(labels, **choices):
    return make_table(pd.DataFrame({"x": np.arange(len(labels)) % 3, "y": labels}), label="y", **choices)


def test_spellings_of_one_label_are_named_and_stay_classes():
    table = table_of(SPELLED)
    assert table.classes == ("Very good", "YES", "Yes", "no", "very  Good", "yes")
    assert table.notes == (
        "Labels in 'y' that differ only in case or blanks: 'Very good' (1), 'very  Good' (1); 'yes' (2), "
        "'YES' (1), 'Yes' (1). They count as different classes; the option “merge labels” makes them one.",
    )
    assert table_of(["a", "b", "b"]).notes == ()


def test_spellings_are_merged_into_the_most_frequent_one():
    table = table_of([*SPELLED, "Skip", "skip"], merge_labels=True, unlabeled=["SKIP"])
    assert table.classes == ("Very good", "no", "yes")
    assert [table.classes[code] for code in table.codes[:8]] == [
        *("yes", "no", "yes", "no", "yes", "yes", "Very good", "Very good"),
    ]
    assert table.codes[8:].tolist() == [-1, -1]
    assert "They were merged into the most frequent one; the cells stay as they are." in table.notes[0]


ROWS = "x,z,y\n1,a,yes\n2,b,None\n3,a,no\n4,b,NA\n5,a,None\n6,b,\n7,a,no\n8,NA,yes\n"


@pytest.mark.parametrize("kind", ["csv", "jsonl", "xlsx", "arff"])
def test_cells_that_say_something_and_become_unlabeled_are_counted(tmp_path, kind):
    file = tmp_path / f"t.{kind}"
    frame = pd.DataFrame([line.split(",") for line in ROWS.splitlines()[1:]], columns=["x", "z", "y"])
    if kind == "csv":
        file.write_text(ROWS)
    elif kind == "arff":
        head = "@relation r\n@attribute x numeric\n@attribute z string\n@attribute y string\n@data\n"
        file.write_text(head + ROWS.split("\n", 1)[1].replace(",\n", ",?\n").replace("?", "''"))
    elif kind == "jsonl":
        lines = [json.dumps(row | {"y": row["y"] or None}) for row in frame.to_dict("records")]
        file.write_text("\n".join(lines))
    else:
        frame.to_excel(file, index=False)
    table = read_table(file, label="y", kinds={"x": "numeric"})
    assert table.classes == ("no", "yes")
    assert table.codes.tolist() == [1, -1, 0, -1, -1, -1, 0, 1]
    assert table.frame["y"].isna().tolist() == (table.codes < 0).tolist()
    assert table.frame["z"].isna().sum() == 1
    assert table.notes == (
        "3 cells of 'y' taken as unlabeled: 'None' (2), 'NA' (1). If that is a class, say which marks mean "
        "missing with the option “missing”, which replaces the usual list.",
    )
    named = read_table(file, label="y", kinds={"x": "numeric"}, missing=["NA", ""])
    assert named.classes == ("None", "no", "yes")
    assert named.notes[0].startswith("1 cell of 'y' taken as unlabeled: 'NA' (1).")


def horsepower():
    """400 rows, some 90 different whole numbers, many of them once."""
    rng = np.random.default_rng(0)
    return np.where(rng.random(400) < 0.7, rng.integers(5, 20, 400) * 10, rng.integers(46, 230, 400))


@pytest.mark.parametrize("labels", [horsepower(), (np.arange(900) % 25) / 4])
def test_a_number_with_many_values_is_no_class_unless_it_is_said_to_be(labels):
    assert len(labels) / len(set(labels)) > 3  # too few for the rule that holds for words as well
    with pytest.raises(BadTable, match=r"looks like a number to predict.*kinds=\{'y': 'category'\} if each"):
        table_of(labels)
    assert len(table_of(labels, kinds={"y": "category"}).classes) == len(set(labels))


def test_codes_of_classes_are_classes_however_many():
    assert len(table_of(np.arange(1200) % 90).classes) == 90
    assert len(table_of([f"kind {i % 60}" for i in range(240)]).classes) == 60


SIZES = ["small", "large", "medium", "large", "small"]


def test_classes_are_shown_in_the_order_that_is_named():
    assert table_of(SIZES).classes == ("large", "medium", "small")
    table = table_of(SIZES, ordered=["small", " medium", "large"])
    assert table.classes == ("small", "medium", "large")
    assert table.codes.tolist() == [0, 2, 1, 2, 0]
    merged = table_of([*SIZES, "Large "], merge_labels=True, ordered=["SMALL", "MEDIUM", "LARGE"])
    assert merged.classes == ("small", "medium", "large")


@pytest.mark.parametrize(
    ("ordered", "message"),
    [
        (["small", "large"], "ordered names 2 of 3 classes; name 'medium', too"),
        (["small", "medum", "large"], "no row of 'y' is labeled 'medum'; did you mean 'medium'"),
        (["small", "medium", "large", "small"], "ordered names 'small' twice; name each class once"),
    ],
)
def test_an_order_names_each_class_once(ordered, message):
    with pytest.raises(BadChoice, match=message):
        table_of(SIZES, ordered=ordered)
    with pytest.raises(BadChoice, match="both set the order of the classes"):
        table_of(["a", "b"], ordered=["b", "a"], positive="a")


def decision(row, given, verdict, label, key):
    return Decision(key, "", str(row + 1), given, verdict, label, row + 2, "y", "")


def test_decisions_on_merged_labels_fit_the_cells_and_change_only_what_was_decided():
    raw = table_of(["yes", "YES", "no", "Yes", "no", "yes"])
    keys = raw.key_texts()
    made = [
        decision(1, "yes", "keep", "yes", keys[1]),  # the cell says YES, and stays
        decision(3, "yes", "flip", "no", keys[3]),
    ]
    matched = match(made, raw)
    assert matched.changed(raw) == {3: "no"}
    assert matched.labels == {1: "YES", 3: "no"}
    assert matched.conflicts == ()
    exact = match([decision(1, "YES", "flip", "yes", keys[1])], raw)
    assert exact.changed(raw) == {1: "yes"}  # spelled anew because somebody decided just that
    merged = table_of(["yes", "YES", "no", "Yes", "no", "yes"], merge_labels=True)
    assert match([decision(1, "YES", "keep", "YES", keys[1])], merged).labels == {1: "yes"}


def test_equal_rows_whose_labels_are_spelled_apart_are_told_by_their_number():
    frame = pd.DataFrame({"x": [1, 1, 2, 3], "y": ["YES", "yes", "no", "no"]})
    raw = make_table(frame, label="y")
    keys = raw.key_texts()
    both = [decision(row, "yes", "flip", "no", keys[0]) for row in (0, 1)]
    assert match(both, raw).changed(raw) == {0: "no", 1: "no"}
    assert match([both[1], both[1]], raw).changed(raw) == {1: "no"}


def test_merged_labels_go_the_whole_way_and_no_other_cell_changes(tmp_path, capsys):
    rng = np.random.default_rng(0)
    kind = np.arange(120) % 2
    frame = pd.DataFrame(rng.normal(4 * kind[:, None], 1, (120, 3)).round(3), columns=["a", "b", "c"])
    right = np.array(["no", "yes"], dtype=object)[kind]
    given = right.copy()
    given[[5, 8, 20]] = ["no", "yes", "yes"]
    spelled = [text.upper() if i % 5 == 0 else text + " " * (i % 7 == 0) for i, text in enumerate(given)]
    file, out = tmp_path / "t.csv", tmp_path / "out"
    frame.assign(y=spelled).to_csv(file, index=False)
    assert run("audit", file, "--label", "y", "--merge-labels", "--out", out, "--json") == 0
    assert json.loads(capsys.readouterr().out)["classes"] == ["no", "yes"]
    issues = pd.read_csv(out / "issues.csv", dtype=str)
    assert set(issues["row"].head(3)) == {"6", "9", "21"}
    made = issues.head(3).assign(decision=["flip", "flip", "keep"], label_column="y")
    made["label"] = np.where(made["decision"] == "flip", made["predicted_label"], made["given_label"])
    made.to_csv(tmp_path / "d.csv", index=False)
    assert run("apply", file, tmp_path / "d.csv", "--out", tmp_path / "new.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["changed"] == 2
    old, new = (path.read_text().splitlines() for path in (file, tmp_path / "new.csv"))
    differs = [i for i, (before, after) in enumerate(zip(old, new, strict=True)) if before != after]
    assert sorted(str(i) for i in differs) == sorted(made["row"].head(2))
    again = ("--merge-labels", "--decisions", tmp_path / "d.csv", "--out", tmp_path / "again", "--json")
    assert run("audit", file, "--label", "y", *again) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["reviewed"] == 3


def test_the_options_of_the_label_column_in_python_and_on_the_command_line(tmp_path, capsys):
    frame = pd.DataFrame({"a": np.repeat([0.0, 5.0, 9.0], 20) + np.arange(60) % 7 / 9})
    frame["y"] = np.repeat(list("ABC"), 20)
    frame.loc[[0, 21], "y"] = ["a", "b, or so"]
    frame.loc[1, "y"] = None
    found = labelcut.audit(frame, label="y", merge_labels=True, ordered=["C", "B", "b, or so", "A"])
    assert found.summary["classes"] == ["C", "B", "b, or so", "A"]
    assert Counter(found.rows["given_label"])["A"] == 19
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ("--label", "y", "--merge-labels", "--ordered", 'C, B,"b, or so",A', "--out", tmp_path / "out")
    assert run("audit", tmp_path / "t.csv", *words, "--json") == 0
    assert json.loads(capsys.readouterr().out)["classes"] == ["C", "B", "b, or so", "A"]
    with pytest.raises(TypeError, match="ordered='CBA' is a str; give a list of texts"):
        labelcut.audit(frame, label="y", ordered="CBA")
