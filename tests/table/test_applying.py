"""Decisions applied to data frames, in Python."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tables import shop

import labelcut
from labelcut.errors import BadChoice, BadTable
from labelcut.table.table import make_table

PETS = pd.DataFrame(
    {"name": ["Rex", "Tom", "Kim", "Bo"], "kg": [30, 4, 5, 20], "is": ["dog", "dog", "cat", None]},
    index=["a", "b", "c", "d"],
)


def decided(*lines):
    """Return decisions as a data frame: id, given label, verdict, label."""
    frame = pd.DataFrame(lines, columns=["id", "given_label", "decision", "label"])
    return frame.assign(label_column="is", id_column="name")


def test_a_data_frame_gets_the_decided_labels_and_nothing_else_changes():
    before = PETS.copy()
    made = decided(
        ("Tom", "dog", "flip", "cat"), ("Rex", "dog", "keep", "dog"), ("Kim", "cat", "unsure", None),
        ("Bo", np.nan, "flip", "dog"),
    )  # fmt: skip
    after = labelcut.apply(PETS, made)
    assert after["is"].tolist() == ["dog", "cat", "cat", "dog"]
    assert after.drop(columns="is").equals(PETS.drop(columns="is"))
    assert list(after.index) == list("abcd")
    assert PETS.equals(before)


@pytest.mark.parametrize("kind", [int, float, bool, "category", "Int64"])
def test_labels_keep_the_type_of_their_column(kind):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.5, 4.0], "y": pd.Series([0, 1, 1, 0]).astype(kind)})
    found = labelcut.audit(frame, label="y")
    given = frame["y"].iloc[0]
    text = found.rows["given_label"].iloc[0]
    other = next(label for label in found.table.classes if label != text)
    line = {
        "key": [found.table.key_texts()[0]],
        "given_label": [given],
        "decision": ["Flip"],
        "label": [other],
    }
    after = labelcut.apply(frame, pd.DataFrame(line), label="y")
    assert after["y"].dtype == frame["y"].dtype
    assert after["y"].tolist() == [frame["y"].iloc[1], *frame["y"].tolist()[1:]]


def test_rows_whose_label_means_none_are_filled_in_from_the_audit_or_the_whole_frame():
    frame, right = shop()
    frame["churned"] = frame["churned"].fillna("ask again")
    found = labelcut.audit(frame, label="churned", unlabeled=["ask again"], n_jobs=1)
    made = found.unlabeled.assign(given_label="", decision="flip", label=found.unlabeled["predicted_label"])
    after = found.apply(made)
    rows = found.unlabeled.index
    assert len(rows) == 10
    assert after.loc[rows, "churned"].tolist() == made["label"].tolist()
    assert after.drop(rows).equals(frame.drop(rows))
    whole = labelcut.apply(frame, made, label="churned", unlabeled=["ask again"])
    assert whole.equals(after)
    with pytest.warns(UserWarning, match="decided on '', but the row is now 'ask again'"):
        labelcut.apply(frame, made.head(1), label="churned")


def test_columns_of_the_same_name_keep_it():
    frame = pd.DataFrame([[1, 2, "a"], [3, 4, "b"], [5, 6, "a"]], columns=["x", "x", "y"])
    key = make_table(frame, label="y").key_texts()[0]
    line = {"key": [key], "given_label": ["a"], "decision": ["flip"], "label": ["b"]}
    after = labelcut.apply(frame, pd.DataFrame(line), label="y")
    assert list(after.columns) == ["x", "x", "y"]
    assert after["y"].tolist() == ["b", "b", "a"]


def test_what_does_not_fit_is_told_by_a_warning():
    with pytest.warns(UserWarning, match=r"decision not used, line 1 \(id Max\): no such row in the table"):
        after = labelcut.apply(PETS, decided(("Max", "dog", "flip", "cat")))
    assert after.equals(PETS)


@pytest.mark.parametrize(
    ("decisions", "error", "message"),
    [
        (
            decided(("Tom", "dog", "maybe", "cat")),
            BadTable,
            "decisions: line 1 says 'maybe'; a decision is keep",
        ),
        (decided(("Tom", "dog", "flip", "dgo")), BadTable, "sets the label 'dgo', which no row carries"),
        (
            pd.DataFrame({"id": ["Tom"]}),
            BadTable,
            "decisions: no column decision, given_label, label; expected",
        ),
        (
            decided(("Tom", "dog", "flip", "cat")).drop(columns="label_column"),
            BadChoice,
            "name it with label",
        ),
        ([("Tom", "cat")], TypeError, "decisions is a list; give the path of decisions.csv or a data frame"),
    ],
)
def test_what_is_no_decision_is_refused(decisions, error, message):
    with pytest.raises(error, match=message):
        labelcut.apply(PETS, decisions)


def test_a_file_is_read_as_it_is_told_and_decisions_come_from_a_path(tmp_path):
    PETS.to_csv(tmp_path / "pets.csv", index=False, sep="#")
    decided(("Tom", "dog", "flip", "cat")).to_csv(tmp_path / "decisions.csv", index=False)
    after = labelcut.apply(tmp_path / "pets.csv", tmp_path / "decisions.csv", delimiter="#")
    assert after["is"].tolist()[:3] == ["dog", "cat", "cat"]
    with pytest.raises(BadChoice, match="delimiter='#' says how a file is read, and table is a data frame"):
        labelcut.apply(PETS, tmp_path / "decisions.csv", delimiter="#")


def test_polars_frames_are_taken_for_both():
    after = labelcut.apply(pl.from_pandas(PETS), pl.from_pandas(decided(("Tom", "dog", "flip", "cat"))))
    assert after["is"].tolist()[:3] == ["dog", "cat", "cat"]


def test_the_loop_of_a_notebook():
    frame, right = shop()
    frame.index = pd.Index([f"row {i}" for i in range(len(frame))])
    first = labelcut.audit(frame, label="churned", id="customer", n_jobs=1)
    made = first.issues.assign(decision="flip", label=first.issues["predicted_label"])
    made["is_wrong"] = frame["churned"][made.index] != right[[frame.index.get_loc(i) for i in made.index]]
    made.loc[~made["is_wrong"], ["decision"]] = "keep"
    made.loc[~made["is_wrong"], "label"] = made["given_label"]
    after = first.apply(made)
    changed = after.index[(after["churned"] != frame["churned"]) & frame["churned"].notna()]
    assert set(changed) == set(made.index[made["is_wrong"]])
    assert after.drop(columns="churned").equals(frame.drop(columns="churned"))
    second = labelcut.audit(frame, label="churned", id="customer", decisions=made, n_jobs=1)
    assert second.summary["counts"]["reviewed"] == len(made)
    assert second.apply(made)["churned"].equals(after["churned"])  # decided anew from the labels as they were

    left = first.unlabeled
    assert list(left) == ["row", "id", "predicted_label", "probability", "status", "key"]
    assert set(left.index) == set(frame.index[frame["churned"].isna()])
    assert left["probability"].is_monotonic_increasing
    n_right = (left["predicted_label"] == right[left["row"] - 1]).sum()
    assert n_right >= len(left) - 1
