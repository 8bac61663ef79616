"""The issues of an audit: one table, ranked once, that all that is written is made from."""

import json

import pandas as pd
import pytest
from tables import shop

import labelcut


@pytest.fixture(scope="module")
def audit():
    frame, _ = shop(n_rows=120, n_wrong=6)
    frame.index = pd.Index([f"row {i}" for i in range(len(frame))])
    return labelcut.audit(frame, label="churned", id="customer", max_rows=100, n_jobs=1)


def test_the_rows_of_an_audit_are_the_table_of_the_model(audit):
    of_model = audit.model.label_issues_.set_axis(audit.table.index, axis=0)
    assert of_model["given_label"].isna().any()
    pd.testing.assert_frame_equal(audit.rows.drop(columns="row"), of_model.fillna({"given_label": ""}))
    assert audit.rows["row"].tolist() == [int(name.split()[1]) + 1 for name in audit.table.index]
    named = [audit.table.classes[code] for code in audit.judged.predicted]
    assert audit.rows["predicted_label"].tolist() == named


def test_issues_are_the_flagged_rows_worst_first(audit):
    flagged = audit.rows[audit.rows["is_label_issue"]]
    assert len(audit.issues) >= 5
    assert audit.issues.index.tolist() == flagged.sort_values("label_quality").index.tolist()
    assert audit.issues["key"].tolist() == audit.table.key_texts(audit.judged.ranked)
    assert audit.issues["id"].tolist() == [f"C{row - 1:04d}" for row in audit.issues["row"]]


def test_page_file_and_tasks_tell_the_same_issues(audit, tmp_path):
    audit.save(tmp_path, format="label-studio")
    written = pd.read_csv(tmp_path / "issues.csv", dtype=str)
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    for name in ("row", "key", "reason"):
        told = audit.issues[name].astype(str).tolist()
        assert written[name].tolist() == told
        assert [str(fact) for fact in audit.facts["suspects"][name]] == told
        assert [str(task["meta"][name]) for task in tasks] == told
