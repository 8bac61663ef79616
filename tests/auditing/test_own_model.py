"""An audit with the user's own model beside the table: its probabilities and its vectors."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from tables import run

import labelcut
from labelcut.errors import BadChoice

NAMES = np.array(["zero", "one", "two"])
SORTED = sorted(NAMES)
N_ROWS = 240


def call(capsys, *args):
    """Return the exit code of the command, and what it prints."""
    code = run(*args)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def audit_of(digits, tmp_path):
    table = digits["folder"] / "digits.csv"
    return ("audit", table, "--label", "digit", "--quiet", "--out", tmp_path / "out")


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """Three digits whose table knows only how much ink they took; every twelfth label is wrong."""
    folder = tmp_path_factory.mktemp("digits")
    X, y = load_digits(n_class=3, return_X_y=True)
    X, y = X[:N_ROWS], y[:N_ROWS]
    wrong = np.arange(0, N_ROWS, 12)
    given = y.copy()
    given[wrong] = (y[wrong] + 1) % 3
    model = LogisticRegression(C=0.01, max_iter=500)
    P = cross_val_predict(model, X / 16, NAMES[given], method="predict_proba", cv=4)
    table = pd.DataFrame(
        {"key": [f"k{i}" for i in range(N_ROWS)], "ink": X.sum(axis=1), "digit": NAMES[given]}
    )
    table.assign(vector=list(X)).to_parquet(folder / "digits.parquet")
    table.assign(**{f"net_{name}": P[:, k] for k, name in enumerate(SORTED)}).to_csv(
        folder / "digits.csv", index=False
    )
    np.save(folder / "probs.npy", P)
    np.save(folder / "vectors.npy", X)
    return {"folder": folder, "table": table, "X": X, "P": P, "wrong": wrong}


def test_the_command_believes_a_good_model_and_says_so(digits, tmp_path, capsys):
    folder, order = digits["folder"], np.random.default_rng(0).permutation(N_ROWS)
    keys = digits["table"]["key"].to_numpy()[order].astype(str)
    np.savez(tmp_path / "probs.npz", probs=digits["P"][order], id=keys)
    code, out, err = call(
        capsys,
        *("audit", folder / "digits.parquet", "--label", "digit", "--id", "key"),
        *("--opinion", f"net={tmp_path / 'probs.npz'}", "--embedding", "vector", "--out", tmp_path / "out"),
    )
    assert code == 0, err
    assert "How far each expert was believed: " in out.replace("\n  ", " ")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    experts = {expert["name"]: expert for expert in summary["model"]["experts"]}
    assert experts["net"]["is_own"]
    assert not experts["forest"]["is_own"]
    assert sum(expert["share"] for expert in experts.values()) == pytest.approx(1, abs=1e-3)
    roles = {column["name"]: column["role"] for column in summary["columns"]}
    assert roles == {"key": "id", "ink": "feature", "digit": "label", "vector": "beside"}
    issues = pd.read_csv(tmp_path / "out" / "issues.csv")
    found = {int(row) - 1 for row in issues["row"]}
    assert len(found & set(digits["wrong"].tolist())) >= 18
    assert len(found) <= 22
    assert issues["reason"].str.contains("net says ‘").mean() > 0.8
    page = (tmp_path / "out" / "report.html").read_text()
    assert "How far each expert was believed" in page
    assert f'"net": "{tmp_path / "probs.npz"}"' in page or "probs.npz" in page


def test_columns_decisions_and_a_sample_go_together(digits, tmp_path, capsys):
    table, wrong = digits["table"], digits["wrong"]
    decided = pd.DataFrame(
        {
            "row": wrong[:5] + 1,
            "id": table["key"][wrong[:5]],
            "given_label": table["digit"][wrong[:5]],
            "decision": "keep",
            "label": table["digit"][wrong[:5]],
        }
    )
    decided.to_csv(tmp_path / "decisions.csv", index=False)
    code, _, err = call(
        capsys,
        *("audit", digits["folder"] / "digits.csv", "--label", "digit", "--id", "key", "--max-rows", 200),
        *("--opinion", "net=net_*", "--embedding", digits["folder"] / "vectors.npy"),
        *("--decisions", tmp_path / "decisions.csv", "--out", tmp_path / "out", "--quiet"),
    )
    assert code == 0, err
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["counts"]["rows"] == 200
    assert 0 < summary["counts"]["reviewed"] <= 5
    found = {int(row) - 1 for row in pd.read_csv(tmp_path / "out" / "issues.csv")["row"]}
    assert not found & set(wrong[:5].tolist())
    assert len(found & set(wrong[5:].tolist())) >= 0.7 * len(found)
    assert len(found) >= 8


def test_a_table_of_nothing_but_labels_is_judged_by_what_stands_beside_it(digits):
    labels = digits["table"][["digit"]]
    found = labelcut.audit(labels, label="digit", embedding=digits["X"], opinions={"net": digits["P"]})
    rows = set((found.issues["row"] - 1).tolist())
    assert len(rows & set(digits["wrong"].tolist())) >= 18
    assert len(rows) <= 22
    assert "Map of the rows" in found.page()
    decided = found.issues.assign(decision="flip", label=found.issues["predicted_label"])
    corrected = found.apply(decided)
    assert (corrected["digit"] != labels["digit"]).sum() == len(rows)
    equal = [finding for finding in found.summary["worth_knowing"] if finding["kind"].startswith("equal")]
    assert equal == []


def test_a_graph_and_opinions_in_python(digits):
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(digits["X"], 10, mode="distance")
    found = labelcut.audit(
        digits["table"], label="digit", id="key", graph=graph, opinions={"net": digits["P"]}
    )
    assert found.model.graph_.n_neighbors >= 10
    assert {"net", "cut"} <= set(found.model.expert_weights_)


def test_a_table_in_parts_takes_no_vectors(digits):
    with pytest.raises(BadChoice, match="embedding is for a table in memory; leave it out"):
        labelcut.audit(
            [digits["folder"] / "digits.csv"], label="digit", embedding=digits["X"], cluster="local"
        )


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (
            lambda P: np.log(P),
            3,
            "p.npy holds numbers from .*, which are no probabilities; if they are logits",
        ),
        (lambda P: P / 2, 3, "p.npy adds up to 0.5 in row .*; each row has to add up to 1"),
        (
            lambda P: np.where(np.arange(N_ROWS)[:, None] == 7, np.nan, P),
            3,
            "p.npy is .nan nan nan.",
        ),
        (
            lambda P: P[:, [1, 2, 0]],
            3,
            "p.npy agree with .* if their columns were ",
        ),
        (lambda P: P[:-1], 3, f"p.npy: has {N_ROWS - 1} lines, but the table has {N_ROWS} rows"),
        (lambda P: P[:, :2], 3, "p.npy: has 2 columns, but there are 3 classes; .* 'one', 'two', 'zero'"),
        (lambda P: np.array([{}], dtype=object), 3, "p.npy: holds Python objects, which are not loaded"),
    ],
)
def test_probabilities_that_are_none_are_refused_before_any_work(
    digits, tmp_path, capsys, change, code, message
):
    np.save(tmp_path / "p.npy", change(digits["P"]), allow_pickle=True)
    args = audit_of(digits, tmp_path)
    found, _, err = call(capsys, *args, "--opinion", f"net={tmp_path / 'p.npy'}")
    assert found == code
    assert len(err.strip().splitlines()) == 1
    assert re.search(message, err), err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--opinion", "net"], 2, "--opinion net is not of the form NAME=FILE, as in bert=probs.npy."),
        (["--opinion", "a=net_*", "--opinion", "a=net_*"], 2, "--opinion a is given twice"),
        (["--opinion", "a=nett_*"], 2, "no column begins with 'nett_'; did you mean 'net_*'?"),
        (["--opinion", "a=missing.npy"], 2, "'missing.npy' is no file"),
        (["--opinion", "forest=net_*"], 3, "opinions['forest'] would have the name of another expert"),
        (["--embedding", "missing.npy"], 2, "'missing.npy' is no file; check the path"),
        (["--embedding", "ink"], 3, "which is no list of numbers"),
    ],
)
def test_a_slip_of_the_command_is_told_in_one_line(digits, tmp_path, capsys, options, code, message):
    args = audit_of(digits, tmp_path)
    found, _, err = call(capsys, *args, *options)
    assert (found, len(err.strip().splitlines())) == (code, 1)
    assert message in err
