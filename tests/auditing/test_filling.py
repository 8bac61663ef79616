"""Unlabeled rows filled in by `labelcut apply --fill-unlabeled`."""

import json

import numpy as np
import pandas as pd
import pytest
from tables import run, write_shop

ROLES = ("--label", "churned", "--id", "customer")


@pytest.fixture(scope="module")
def partly(tmp_path_factory):
    """A table of which a quarter has no label, its audit, and the right labels."""
    folder = tmp_path_factory.mktemp("partly")
    frame, right = write_shop(folder / "shop.csv", n_rows=200, n_wrong=6)
    frame.loc[150:, "churned"] = None
    frame.to_csv(folder / "shop.csv", index=False)
    audit = ("audit", folder / "shop.csv", *ROLES, "--n-jobs", 1, "--out", folder / "out", "--quiet")
    assert run(*audit) == 0
    return folder, frame, right


def labels_of(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)["churned"].to_numpy()


def filled(folder, out, *args, capsys):
    """Fill in the table; returns its labels before and after, and what the command says."""
    call = ("apply", folder / "shop.csv", *args, "--fill-unlabeled", "--out", out, "--json")
    assert run(*call) == 0
    return labels_of(folder / "shop.csv"), labels_of(out), json.loads(capsys.readouterr().out)


def test_sure_rows_are_filled_in_and_nothing_else_changes(partly, tmp_path, capsys):
    folder, _, right = partly
    before, after, said = filled(folder, tmp_path / "c.csv", *ROLES, "--n-jobs", 1, capsys=capsys)
    assert (after[before != ""] == before[before != ""]).all()
    new = (before == "") & (after != "")
    assert said["filled"] == new.sum() > 30
    assert said["left_empty"] == (after == "").sum() > 0
    assert said["changed"] == 0
    assert np.mean(after[new] == right[new]) > 0.95


def test_the_answers_of_an_audit_are_those_of_a_fit(partly, tmp_path, capsys):
    folder, _, _ = partly
    _, fitted, _ = filled(folder, tmp_path / "a.csv", *ROLES, "--n-jobs", 1, capsys=capsys)
    _, taken, _ = filled(folder, tmp_path / "b.csv", *ROLES, "--audit", folder / "out", capsys=capsys)
    assert (fitted == taken).all()
    told = json.loads((folder / "out" / "summary.json").read_text())["unlabeled"]
    assert told["sure"] == (taken != "").sum() - told_labeled(folder)


def told_labeled(folder):
    return json.loads((folder / "out" / "summary.json").read_text())["counts"]["labeled"]


def test_how_sure_is_sure_enough_is_the_users_choice(partly, tmp_path, capsys):
    folder, _, _ = partly
    taken = (*ROLES, "--audit", folder / "out")
    probability = pd.read_csv(folder / "out" / "table.csv")["labelcut_probability"].to_numpy()
    for least in (0.0, 0.8, 0.99):
        args = (*taken, "--min-probability", least)
        before, after, said = filled(folder, tmp_path / "c.csv", *args, capsys=capsys)
        assert ((after != "") == ((before != "") | (probability >= least))).all()
        assert said["filled"] + said["left_empty"] == (before == "").sum()


def test_a_person_comes_before_the_fit(partly, tmp_path, capsys):
    folder, frame, _ = partly
    rows = pd.read_csv(folder / "out" / "table.csv", keep_default_na=False)
    sure = rows[(rows["churned"] == "") & (rows["labelcut_probability"].astype(float) > 0.97)].index[:2]
    other = {"yes": "no", "no": "yes"}[rows["labelcut_predicted_label"][sure[0]]]
    (tmp_path / "d.csv").write_text(
        "key,id,row,given_label,decision,label,label_column,id_column\n"
        f",{frame['customer'][sure[0]]},,,flip,{other},churned,customer\n"
        f",{frame['customer'][sure[1]]},,,unsure,,churned,customer\n"
    )
    args = (tmp_path / "d.csv", "--audit", folder / "out")
    _, after, said = filled(folder, tmp_path / "c.csv", *args, capsys=capsys)
    assert (after[sure[0]], after[sure[1]]) == (other, "")
    assert (said["changed"], said["unsure"]) == (1, 1)


def test_rows_are_found_by_content_in_another_order(partly, tmp_path, capsys):
    folder, frame, _ = partly
    frame.sample(frac=1, random_state=3).to_csv(tmp_path / "shop.csv", index=False)
    _, moved, _ = filled(tmp_path, tmp_path / "c.csv", *ROLES, "--audit", folder / "out", capsys=capsys)
    _, plain, _ = filled(folder, tmp_path / "d.csv", *ROLES, "--audit", folder / "out", capsys=capsys)
    place = pd.read_csv(tmp_path / "shop.csv")["customer"].str[1:].astype(int)
    assert (moved == plain[place]).all()


def test_a_mark_for_no_label_is_replaced(partly, tmp_path, capsys):
    folder, frame, _ = partly
    frame.fillna({"churned": "unknown"}).to_csv(tmp_path / "shop.csv", index=False)
    args = (*ROLES, "--unlabeled", "unknown", "--n-jobs", 1)
    before, after, said = filled(tmp_path, tmp_path / "c.csv", *args, capsys=capsys)
    assert said["filled"] == ((before == "unknown") & (after != "unknown")).sum() > 30
    assert set(after) == {"yes", "no", "unknown"}


def test_a_table_whose_columns_know_nothing_is_not_filled(tmp_path, capsys):
    frame, _ = write_shop(tmp_path / "shop.csv", n_rows=400)
    frame["churned"] = np.random.default_rng(0).permutation(frame["churned"].to_numpy())
    frame.to_csv(tmp_path / "shop.csv", index=False)
    args = (*ROLES, "--min-probability", 0, "--n-jobs", 1)
    before, after, said = filled(tmp_path, tmp_path / "c.csv", *args, capsys=capsys)
    assert (before == after).all()
    assert (said["filled"], said["left_empty"]) == (0, 10)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "no decisions; name the file that the report has saved, or add --fill-unlabeled."),
        (("d.csv", "--audit", "out"), "--audit is for --fill-unlabeled or --consensus; add one"),
        (("d.csv", "--min-probability", "1"), "--min-probability is for --fill-unlabeled or --consensus"),
        (("--fill-unlabeled",), "nothing says which column holds the labels; name it with --label."),
        (("d.csv", "--fill-unlabeled"), "d.csv: does not say which column holds the labels; name it with"),
        (
            ("--fill-unlabeled", "--label", "churned", "--audit", "nowhere"),
            "summary.json: cannot be read (no such file or directory); give the folder that an audit wrote.",
        ),
        (
            ("--fill-unlabeled", "--label", "plan", "--audit", "out"),
            "out: is an audit of the label 'churned', not of 'plan'; give the folder of the right one.",
        ),
    ],
)
def test_what_cannot_be_filled_in_is_told(partly, tmp_path, capsys, monkeypatch, args, message):
    folder, _, _ = partly
    monkeypatch.chdir(folder)
    (folder / "d.csv").write_text("key,id,row,given_label,decision,label,label_column,id_column\n")
    assert run("apply", "shop.csv", *args, "--out", tmp_path / "c.csv") == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "c.csv").exists()


def test_the_table_of_the_audit_is_not_written_over(partly, capsys):
    folder, _, _ = partly
    audited = folder / "out" / "table.csv"
    before = audited.read_bytes()
    args = (*ROLES, "--fill-unlabeled", "--audit", folder / "out", "--out", audited)
    assert run("apply", folder / "shop.csv", *args) == 2
    assert "is the table of the audit, and nothing that was read is written over" in capsys.readouterr().err
    assert audited.read_bytes() == before


def test_what_was_done_is_said_in_a_line(partly, tmp_path, capsys):
    folder, _, _ = partly
    args = ("--audit", folder / "out", "--fill-unlabeled", "--min-probability", 0)
    assert run("apply", folder / "shop.csv", *ROLES, *args, "--out", tmp_path / "c.csv") == 0
    n = int((labels_of(folder / "shop.csv") == "").sum())
    told = f"0 labels changed, 0 kept, 0 left unsure; {n} unlabeled rows filled in, 0 left empty."
    assert told in capsys.readouterr().out
