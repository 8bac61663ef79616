"""The whole loop on a table whose wrong labels are known: audit, decide, apply, audit again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from labelcut.auditing.audit import audit_table
from labelcut.auditing.progress import Progress
from labelcut.auditing.result import Audit
from labelcut.table.correcting import write_decided
from labelcut.table.decisions import FIELDS, match, read_decisions
from labelcut.table.table import Table, read_table
from labelcut.table.writing import csv_text

N_WRONG = 40
SEED = 0


def planted_table() -> tuple[pd.DataFrame, np.ndarray]:
    """Return scikit-learn's breast cancer data with `N_WRONG` labels flipped, and the right labels."""
    from sklearn.datasets import load_breast_cancer

    bundle = load_breast_cancer(as_frame=True)
    frame = bundle.data.copy()
    right = np.asarray(bundle.target_names, dtype=object)[bundle.target]
    frame.insert(0, "patient", [f"P{number:03d}" for number in range(1, len(frame) + 1)])
    rng = np.random.default_rng(SEED)
    frame["annotator"] = rng.choice(["ana", "ben", "chloe"], len(frame))
    # One of the three makes most of the mistakes, so that the comparison of groups has something to show.
    chance = np.where(frame["annotator"] == "ben", 4.0, 1.0)
    wrong = rng.choice(len(frame), N_WRONG, replace=False, p=chance / chance.sum())
    given = right.copy()
    given[wrong] = np.where(right[wrong] == "benign", "malignant", "benign")
    return frame.assign(diagnosis=given), right


def run_demo(folder: Path, n_jobs: int | None, on_step: Progress) -> tuple[list[str], Audit]:
    """Run the loop in `folder`; return what happened, line by line, and the first audit."""
    folder.mkdir(parents=True, exist_ok=True)
    frame, right = planted_table()
    file = folder / "patients.csv"
    frame.to_csv(file, index=False)
    table = _load(file)
    first = audit_table(table, n_jobs=n_jobs, on_step=on_step)
    first.save(folder)
    is_wrong = frame["diagnosis"].to_numpy() != right
    issues = first.issues
    rows = issues["row"].to_numpy() - 1
    n_first = min(N_WRONG, len(rows))
    decisions = folder / "decisions.csv"
    decisions.write_text(_decide(issues, right), encoding="utf-8")
    decided = read_decisions(decisions)
    matched = match(decided, table)
    cleaned = folder / "cleaned.csv"
    write_decided(table, cleaned, matched.changed(table))
    left = int((_load(cleaned).frame["diagnosis"].to_numpy() != right).sum())
    on_step("second audit")
    second = audit_table(table, decisions=decided, n_jobs=n_jobs)
    lines = [
        f"{N_WRONG} labels of {file} were made wrong on purpose.",
        f"  {int(is_wrong[rows[:n_first]].sum())} of the first {n_first} suspects are among them "
        f"(by chance it would be {n_first * N_WRONG / len(frame):.0f}).",
        f"  labelcut audit {file} --label diagnosis --id patient --group annotator --out {folder}",
        f"A review of all {len(rows)} suspects, answered from the known truth: {decisions}.",
        f"  labelcut apply {file} {decisions} --out {cleaned}",
        f"Corrected table: {cleaned}, with {left} wrong labels left of {N_WRONG}.",
        f"Audited again with the decisions as certain: {second.facts['counts']['suspects']} new suspects.",
        f"Open {folder / 'report.html'} to review them yourself.",
    ]
    return lines, first


def _load(file: Path) -> Table:
    return read_table(file, label="diagnosis", id="patient", group="annotator")


def _decide(issues: pd.DataFrame, right: np.ndarray) -> str:
    """Answer every suspect from the known truth, in the form in which the page saves decisions."""
    lines = []
    for issue in issues.to_dict("records"):
        truth = right[int(issue["row"]) - 1]
        verdict = "keep" if truth == issue["given_label"] else "flip"
        named = [issue["key"], issue["id"], issue["row"], issue["given_label"]]
        lines.append([*named, verdict, truth, "diagnosis", "patient"])
    return csv_text(FIELDS, lines)
