"""What is said beside the suspects: each finding on a table made for it, and silence on a plain one."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from tables import shop

import labelcut


def rows(n_rows=240, seed=0):
    """Two clear classes in six columns of numbers, without anything odd."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n_rows) % 2
    frame = pd.DataFrame(rng.normal(kind[:, None] * 1.2, 1.0, (n_rows, 6)).round(4), columns=list("abcdef"))
    return frame.assign(label=np.where(kind == 1, "yes", "no"))


def findings(frame, **options):
    audit = labelcut.audit(frame, label="label", n_jobs=1, **options)
    told = audit.summary["worth_knowing"]
    assert json.loads(json.dumps(told)) == told
    for finding in told:
        assert finding["text"].split("‘")[0] in audit.page().replace("&#39;", "'")
    return {finding["kind"]: finding for finding in told}, audit


def test_a_plain_table_has_nothing_to_tell():
    found, audit = findings(rows())
    assert found == {}
    assert "Also worth knowing" not in audit.page()


def test_numbers_of_half_the_width_give_the_same_report():
    numbers = list("abcdef")
    narrow = rows().astype(dict.fromkeys(numbers, np.float32))
    wide = narrow.astype(dict.fromkeys(numbers, np.float64))
    pages = [labelcut.audit(frame, label="label", n_jobs=1) for frame in (narrow, wide)]
    assert pages[0].facts["map"] == pages[1].facts["map"]
    assert pages[0].rows.drop(columns="row").equals(pages[1].rows.drop(columns="row"))


def test_equal_rows_with_different_labels_are_named_and_not_called_suspects_for_it():
    frame = rows()
    twins = frame.iloc[[4, 9]].assign(label=["yes", "no"])  # 4 is a "no", 9 a "yes"
    frame = pd.concat([frame, twins], ignore_index=True)
    found, audit = findings(frame)
    finding = found["equal rows, different labels"]
    assert finding["count"] == 4
    assert finding["text"].startswith("4 rows in 2 groups are equal in every column that is used but carry")
    assert finding["examples"] == [
        [[5, "5", "no"], [241, "241", "yes"]],
        [[10, "10", "yes"], [242, "242", "no"]],
    ]
    assert set(audit.issues["row"]) == {int(row) for row in audit.rows["row"][audit.rows["is_label_issue"]]}


def test_an_id_does_not_hide_that_rows_are_equal():
    frame = rows()
    frame = pd.concat([frame, frame.iloc[[4]].assign(label="yes")], ignore_index=True)
    found, _ = findings(frame.assign(name=[f"N{i}" for i in range(len(frame))]), id="name")
    assert found["equal rows, different labels"]["examples"] == [[[5, "N4", "no"], [241, "N240", "yes"]]]


def test_columns_that_cannot_decide_the_label_are_not_blamed_on_the_labels():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 400), "deck": rng.choice(["1", "2", "3"], 400)})
    chance = np.where(frame["sex"] == "f", 0.8, 0.2)
    found, audit = findings(frame.assign(label=np.where(rng.random(400) < chance, "yes", "no")))
    text = found["equal rows, different labels"]["text"]
    assert "so many that these columns cannot decide the label" in text
    assert "copies" not in found  # Few columns make equal rows by themselves.
    assert "columns that decide the label" not in found  # Sex tends to it: 80 % is no rule.
    assert len(audit.issues) > 20
    for issue in audit.issues.to_dict("records"):  # Equal rows are the witnesses, and they agree.
        n, total = re.match(
            r"(\d+) of (\d+) labeled rows with the same values are ‘", issue["reason"]
        ).groups()
        assert int(n) > int(total) / 2
        assert f"‘{issue['predicted_label']}’" in issue["reason"]


def test_copies_and_near_copies_are_counted():
    frame = rows()
    copies = frame.iloc[[1, 2, 3]]
    close = frame.iloc[[20, 31]].copy()
    close[list("abcdef")] += 0.001
    close["label"] = ["no", "no"]  # 31 is a "yes"
    found, _ = findings(pd.concat([frame, copies, close], ignore_index=True))
    assert found["copies"]["count"] == 3
    near = found["near duplicates"]
    assert near["count"] == 2
    assert "2 pairs of rows are nearly equal, 1 of them with different labels" in near["text"]
    assert near["examples"][0] == [[32, "32", "yes"], [245, "245", "no"]]


def test_a_row_far_from_everything_is_told():
    frame = rows()
    frame.loc[7, list("abcdef")] = [9.0, -9.0, 9.0, -9.0, 9.0, -9.0]
    found, _ = findings(frame)
    assert found["far from everything"]["examples"] == [[[8, "8", "yes"]]]
    assert "1 row is far from everything" in found["far from everything"]["text"]


@pytest.mark.parametrize("kind", ["numeric", "category"])
def test_a_column_that_decides_the_label_alone_is_named(kind):
    frame = rows()
    rng = np.random.default_rng(1)
    number = np.where(frame["label"] == "yes", 2000, 3000) + rng.integers(0, 400, len(frame))
    leak = number if kind == "numeric" else np.where(number < 2500, "low", "high")
    found, _ = findings(frame.assign(weight=leak))
    finding = found["columns that decide the label"]
    assert finding["examples"] == [["weight", 1.0]]
    assert finding["text"].startswith("‘weight’ decides the label alone (100 % of the labels")


def test_classes_that_cannot_be_told_apart_are_named():
    frame = rows(n_rows=400)
    half = np.random.default_rng(2).random(400) < 0.5
    frame.loc[(frame["label"] == "yes") & half, "label"] = "yes too"
    found, _ = findings(frame)
    a, b, auc = found["classes alike"]["examples"][0]
    assert (a, b) == ("yes", "yes too")
    assert auc < 0.6
    assert len(found["classes alike"]["examples"]) == 1


def test_the_customers_of_the_other_tests_have_no_leak():
    frame, _ = shop()
    audit = labelcut.audit(frame, label="churned", id="customer", group="clerk", n_jobs=1)
    assert "columns that decide the label" not in [f["kind"] for f in audit.summary["worth_knowing"]]
