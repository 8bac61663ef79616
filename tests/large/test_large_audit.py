"""The large way finds what the way in memory finds, and the same however the table is divided."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from large.conftest import SMALL, small_table, write_parts

import labelcut
from labelcut.hnc.boosting import boost
from labelcut.hnc.cleaning import ask_booster
from labelcut.hnc.hiding import deal_tasks
from labelcut.large.audit import audit_parts
from labelcut.large.request import Request

ROLES = {"label": "y", "id": "name", "group": "who", "ignore": ("truth",)}


@pytest.fixture(scope="module")
def found(threads, tmp_path_factory):
    """Return a table, and what the large way finds in it."""
    frame = small_table()
    folder = write_parts(frame, tmp_path_factory.mktemp("table"))
    return frame, folder, audit_parts(Request((str(folder),), **ROLES, sizes=SMALL), cluster=threads)


def reported(audit):
    """Return everything that is said about every row, in the order of their names, and the facts."""
    rows = pd.concat(list(audit.frames())).sort_values("name", ignore_index=True)
    ours = [name for name in rows if name.startswith("labelcut_")]
    issues = audit.issues.drop(columns=["row"]).sort_values("id", ignore_index=True)
    return rows[["name", *ours]], issues


def test_the_suspects_are_mostly_planted_errors(found):
    frame, _, audit = found
    rows = frame.set_index("name").loc[audit.issues["id"]]
    assert len(rows) > 20
    assert (rows["y"] != rows["truth"]).mean() > 0.75


def test_the_large_way_agrees_with_the_way_in_memory(found):
    frame, _, audit = found
    whole = labelcut.audit(frame, **ROLES)
    rows, _ = reported(audit)
    in_memory = whole.rows.assign(name=frame["name"]).sort_values("name", ignore_index=True)
    same = rows["labelcut_predicted_label"] == in_memory["predicted_label"].to_numpy()
    assert same.mean() > 0.95
    assert audit.summary["estimate"]["wrong"] == pytest.approx(whole.summary["estimate"]["wrong"], rel=0.4)
    for part in ("classes", "label", "id", "group"):
        assert audit.summary[part] == whole.summary[part]
    assert audit.summary["counts"]["unlabeled"] == whole.summary["counts"]["unlabeled"]
    assert [group["name"] for group in audit.summary["groups"]]
    assert {c["name"]: c["kind"] for c in audit.summary["columns"]} == {
        c["name"]: c["kind"] for c in whole.summary["columns"]
    }


def test_the_answers_do_not_depend_on_the_parts_or_the_order_of_the_rows(found, threads, tmp_path):
    frame, _, audit = found
    shuffled = frame.sample(frac=1.0, random_state=1)
    folder = write_parts(shuffled, tmp_path / "other", n_files=2)
    sizes = replace(SMALL, rows_per_part=47)
    other = audit_parts(Request((str(folder),), **ROLES, sizes=sizes), cluster=threads)
    for mine, yours in zip(reported(audit), reported(other), strict=True):
        pd.testing.assert_frame_equal(mine, yours, check_exact=True)
    for part in ("estimate", "evidence", "by_class", "counts", "groups", "unlabeled", "budget"):
        assert audit.summary[part] == other.summary[part], part


def test_what_is_saved_has_every_row_once_and_replaces_an_earlier_report(found, tmp_path):
    frame, _, audit = found
    (tmp_path / "table-00009.parquet").write_bytes(b"of an earlier audit of more files")
    (tmp_path / "mine.txt").write_text("mine")
    written = {path.name for path in audit.save(tmp_path)}
    tables = {f"table-{i:05d}.parquet" for i in (1, 2, 3)}
    assert written == {"report.html", "issues.parquet", "summary.json", *tables}
    assert {path.name for path in tmp_path.iterdir()} == {*written, "mine.txt"}
    rows = pd.concat([pd.read_parquet(tmp_path / name) for name in sorted(tables)], ignore_index=True)
    pd.testing.assert_frame_equal(rows[list(frame)], frame, check_dtype=False)
    summary = json.loads((tmp_path / "summary.json").read_text())
    issues = pd.read_parquet(tmp_path / "issues.parquet")
    assert summary["counts"]["suspects"] == len(issues) == rows["labelcut_is_label_issue"].sum()
    assert issues["p_wrong"].is_monotonic_decreasing
    assert (issues["reason"] != "").all()
    assert np.isclose(summary["large"]["recall"], 1.0, atol=0.1)


def test_the_booster_of_a_task_is_asked_by_itself():
    """Where a task was not cut, labels are cleaned by its own booster: the others have seen what it hides."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype(np.float32)
    codes = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    hiding = deal_tasks(codes, np.ones(300), 2, seed=0).first_deal
    boosting = boost(X, codes, hiding, 0, 1)
    rows = np.arange(7, 300, 3)
    found = ask_booster(boosting, 1, X, rows, 1)
    assert np.array_equal(found, boosting.models[1].predict_proba(X[rows]))
