"""Everything in the README runs, and what it prints is what comes out."""

import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

REPOSITORY = Path(__file__).parents[1]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
COMMANDS = re.findall(r"^    (labelcut .*)$", README, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(REPOSITORY / "tools"))
    try:
        return runpy.run_path(str(REPOSITORY / "tools" / "readme.py"))
    finally:
        sys.path.remove(str(REPOSITORY / "tools"))


@pytest.fixture(scope="module")
def customers():
    """A table of customers, two of whose labels are wrong."""
    X, y = make_classification(
        300, 5, n_informative=4, n_redundant=0, class_sep=2.0, flip_y=0, random_state=0
    )
    y[:2] = 1 - y[:2]
    return pd.DataFrame(X, columns=list("abcde")).assign(churned=np.where(y, "yes", "no"))


def test_every_python_block_runs(customers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = customers[list("abcde")].to_numpy(), (customers["churned"] == "yes").to_numpy().astype(int)
    probabilities = cross_val_predict(GaussianNB(), X, y, method="predict_proba")
    names = {"df": customers, "X": X, "y": y, "probabilities": probabilities}
    exec(BLOCKS[0], names)
    assert {0, 1} <= set(names["audit"].issues["row"] - 1)
    assert (tmp_path / "review" / "report.html").exists()
    exec(BLOCKS[1], names)
    path = names["path"]
    assert f"# {', '.join(map(str, path.source_side(0.0)))}: the cheapest" in BLOCKS[1]
    assert f"# {', '.join(f'{at:g}' for at in path.join_at)}: the trade-off" in BLOCKS[1]
    assert len(BLOCKS) == 2


def test_every_command_runs_one_after_the_other(customers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    customers.to_csv("customers.csv", index=False)
    (tmp_path / "examples").mkdir()
    shutil.copy(REPOSITORY / "examples" / "storms.csv", "examples")
    assert [shlex.split(command)[1] for command in COMMANDS] == ["audit", "apply", "audit"]
    for command in COMMANDS:
        if " apply " in command:
            write_decisions()
        call = [sys.executable, "-m", *shlex.split(command)]
        answer = subprocess.run(call, capture_output=True, text=True, check=False)
        assert answer.returncode == 0, answer.stderr
    before, after = (pd.read_csv(name) for name in ("customers.csv", "cleaned.csv"))
    changed = before["churned"] != after["churned"]
    assert {0, 1} <= set(changed[changed].index)
    assert before.drop(columns="churned").equals(after.drop(columns="churned"))


def write_decisions():
    """Flip every suspect, as the page would save it."""
    issues = pd.read_csv("customers-labelcut/issues.csv")
    flipped = issues.assign(decision="flip", label=issues["predicted_label"], label_column="churned")
    columns = ["key", "row", "given_label", "decision", "label", "label_column"]
    flipped[columns].to_csv("decisions.csv", index=False)


def test_the_result_table_is_that_of_the_lines(tool):
    assert tool["block"](README, "results") == tool["results"](), "run `make readme`"


def test_the_story_is_what_the_audit_says(tool):
    story = tool["story"]()
    # Other versions of the libraries may be a little more or less sure; who is suspected first stays.
    if tool["versions"]() in README:
        assert tool["block"](README, "story") == story, "run `make readme`"
    first = story.splitlines()[4]
    assert first.startswith("| Emily, 2005-07-20 18:00 | 70\u00a0knots | tropical storm | hurricane |")
