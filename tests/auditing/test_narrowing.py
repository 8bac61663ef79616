"""Suspects that are likely enough, new, or the first; and the gate that a check of data needs."""

import json

import numpy as np
import pandas as pd
import pytest
from tables import AUDIT, run, shop

import labelcut
from labelcut.auditing.narrowing import read_baseline
from labelcut.errors import BadChoice, BadTable
from labelcut.table.table import make_table


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    frame, _ = shop(n_wrong=12)
    frame.to_csv(folder / "shop.csv", index=False)
    found = labelcut.audit(folder / "shop.csv", label="churned", id="customer", group="clerk", n_jobs=1)
    found.save(folder / "out")
    return folder, frame, found


def narrowed(audited, *words):
    """Audit the shop again; returns the exit code, the summary and the issues."""
    folder, _, _ = audited
    out = folder / "narrowed"
    code = run("audit", folder / "shop.csv", *AUDIT, *words, "--out", out, "--quiet")
    return code, json.loads((out / "summary.json").read_text()), pd.read_csv(out / "issues.csv")


def test_only_the_first_are_listed_and_all_are_counted(audited):
    found = audited[2]
    code, summary, issues = narrowed(audited, "--top", 4)
    assert code == 0
    assert issues["id"].tolist() == found.issues["id"].head(4).tolist()
    assert summary["counts"]["suspects"] == len(found.issues) > 4
    assert summary["source"]["notes"][-1] == f"Listed, as asked: the first 4 of {len(found.issues)} suspects."
    page = (audited[0] / "narrowed" / "report.html").read_text()
    assert issues["key"][3] in page
    assert found.issues["key"].iloc[4] not in page


@pytest.mark.parametrize("words", ["0.9", "90%", "90 %"])
def test_only_the_likely_are_suspects(audited, words):
    found = audited[2]
    likely = found.issues[found.issues["p_wrong"] >= 0.9]
    assert 0 < len(likely) < len(found.issues)
    code, summary, issues = narrowed(audited, "--min-p-wrong", words)
    assert issues["id"].tolist() == likely["id"].tolist()
    assert summary["counts"]["suspects"] == len(likely) == sum(c["suspects"] for c in summary["by_class"])
    assert len(summary["flagged"]) == len(found.issues)
    left = len(found.issues) - len(likely)
    told = f"Left out, as asked: {left} of {len(found.issues)} flagged labels (less than 90 % likely wrong)."
    assert summary["source"]["notes"][-1] == told


def test_what_was_flagged_before_is_left_out_by_id(audited, tmp_path):
    folder, _, found = audited
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert [entry["id"] for entry in summary["flagged"]] == found.issues["id"].tolist()
    summary["flagged"] = summary["flagged"][3:]
    (tmp_path / "before.json").write_text(json.dumps(summary))
    code, second, issues = narrowed(audited, "--baseline", tmp_path / "before.json", "--fail-above", "3%")
    assert code == 0
    assert sorted(issues["id"]) == sorted(found.issues["id"].head(3))
    assert len(second["flagged"]) == len(found.issues)  # a baseline for the next time, whole again
    assert "(flagged before, in before.json)" in second["source"]["notes"][-1]
    code, _, _ = narrowed(audited, "--baseline", tmp_path / "before.json", "--fail-above", 0)
    assert code == 4


def test_rows_without_an_id_are_known_by_their_content_and_their_label(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 1.0, 2.0, 3.0], "y": ["a", "a", "b", "a"]})
    table = make_table(frame, label="y")
    keys = table.key_texts()
    flagged = [{"key": keys[0], "given_label": "a"}, {"key": keys[2], "given_label": "a"}]
    (tmp_path / "s.json").write_text(json.dumps({"label": "y", "flagged": flagged}))
    before = read_baseline(tmp_path / "s.json")
    # Of the two equal rows one was flagged; the third row was flagged with another label than now.
    assert before.is_new(table, np.arange(4)).tolist() == [False, True, True, True]
    other = make_table(frame.rename(columns={"y": "z"}), label="z")
    with pytest.raises(BadChoice, match=r"s\.json: is about the label column 'y', not 'z'"):
        before.is_new(other, np.arange(4))


@pytest.mark.parametrize("text", ["{}", "[1]", '{"label": "y", "flagged": [3]}', "no json", '{"flagged": 1}'])
def test_what_is_no_summary_is_no_baseline(tmp_path, text):
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(BadTable, match=r"s\.json: is no summary\.json of an audit with its list of flagged"):
        read_baseline(tmp_path / "s.json")


def test_more_suspects_than_allowed_give_an_exit_code_of_their_own(audited, capsys):
    found = audited[2]
    n = found.summary["counts"]["suspects"]
    share = n / found.summary["counts"]["labeled"]
    assert narrowed(audited, "--fail-above", f"{100 * share + 0.1:.3f}%")[0] == 0
    assert capsys.readouterr().err == ""
    code, summary, _ = narrowed(audited, "--fail-above", "1 %")
    assert code == 4
    told = capsys.readouterr().err
    assert told.startswith(f"labelcut: {n} of {summary['counts']['labeled']} labels are suspect (")
    assert "more than --fail-above 1%; see" in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fail-above", "2 percent"], "--fail-above '2 percent'; give a share such as 2% or 0.02."),
        (["--fail-above", "2"], "--fail-above 2; give a share such as 2% or 0.02."),
        (["--min-p-wrong", "-1%"], "--min-p-wrong -1%; give a share such as 2% or 0.02."),
        (["--top", "0"], "0 is not in the range x>=1"),
        (["--baseline", "gone.json"], "gone.json: is not there or no file; check the path."),
        (
            ["--baseline", "OUT/summary.json", "--out", "OUT"],
            "summary.json: is the baseline, and nothing that",
        ),
    ],
)
def test_a_wish_that_cannot_be_is_refused(audited, capsys, words, message):
    folder = audited[0]
    words = [word.replace("OUT", str(folder / "out")) for word in words]
    assert run("audit", folder / "shop.csv", *AUDIT, "--out", folder / "o", *words) == 2
    assert message in capsys.readouterr().err


def test_the_same_in_python(audited):
    folder, frame, found = audited
    second = labelcut.audit(
        frame,
        label="churned",
        id="customer",
        group="clerk",
        top=2,
        min_p_wrong=0.5,
        baseline=folder / "out" / "summary.json",
        n_jobs=1,
    )
    assert len(second.issues) == 0
    assert len(second.flagged) == len(found.issues)
    with pytest.raises(ValueError, match="top=0; choose at least 1"):
        labelcut.audit(frame, label="churned", top=0)
    with pytest.raises(ValueError, match="min_p_wrong=90; give a probability from 0 to 1"):
        labelcut.audit(frame, label="churned", min_p_wrong=90)


def test_labels_that_were_left_out_are_not_called_right(audited, capsys):
    folder, _, found = audited
    words = ("--baseline", folder / "out" / "summary.json")
    code, summary, issues = narrowed(audited, *words)
    assert (code, len(issues)) == (0, 0)
    assert summary["counts"]["left_out"] == len(found.issues)
    assert run("audit", folder / "shop.csv", *AUDIT, *words, "--out", folder / "narrowed") == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"No label beside the {len(found.issues)} left out looks wrong\n")
    assert "none stands out" not in shown
