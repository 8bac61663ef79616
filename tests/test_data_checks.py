"""The hook for pre-commit and the GitHub Action: what they run is run here."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tables import write_shop

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def shop_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_shop(folder / "the shop.csv", n_rows=80, n_wrong=6)
    (folder / "bin").mkdir()
    command = folder / "bin" / "labelcut"
    command.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "from labelcut.cli import main; main()" "$@"\n'
    )
    command.chmod(0o755)
    return folder


def audit_step():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    step = next(step for step in action["runs"]["steps"] if "labelcut audit" in step.get("run", ""))
    assert "${{" not in step["run"], "an input in the script would be run"
    return action, step


def run_action(folder, **inputs):
    """Run the script of the action in bash with its inputs as the runner hands them over."""
    action, step = audit_step()
    values = {name: str(spec.get("default", "")) for name, spec in action["inputs"].items()} | inputs
    assert set(values) == set(action["inputs"])
    given = {
        name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: values[found[1]], text)
        for name, text in step["env"].items()
    }
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(
        words,
        cwd=folder,
        env=os.environ | given | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_action_fails_when_too_many_labels_are_suspect_and_writes_the_report(shop_folder):
    inputs = {"table": "the shop.csv", "label": "churned", "options": "--id\ncustomer\n\n--quiet\n"}
    failed = run_action(shop_folder, **inputs, **{"fail-above": "2%"})
    assert failed.returncode == 4, failed.stderr
    assert "more than --fail-above 2%; see labelcut-report/report.html." in failed.stderr
    assert (shop_folder / "labelcut-report" / "report.html").exists()
    summary = (shop_folder / "labelcut-report" / "summary.json").rename(shop_folder / "before.json")
    passed = run_action(shop_folder, **inputs, **{"fail-above": "0%", "baseline": summary.name})
    assert passed.returncode == 0, passed.stderr


def test_nothing_in_an_input_of_the_action_is_run(shop_folder):
    evil = {"table": "$(touch ran).csv", "label": "`touch ran`", "options": "$(touch ran)\n; touch ran"}
    assert run_action(shop_folder, **evil).returncode == 2
    assert not (shop_folder / "ran").exists()


def test_the_hook_runs_the_audit_with_its_args(shop_folder):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["language"] == "python"
    assert hook["pass_filenames"] is False  # the table is among the args, which also name its label
    page = (ROOT / "docs" / "tool.md").read_text()
    example = yaml.safe_load(re.search(r"```yaml\n(repos:.*?)```", page, re.DOTALL)[1])
    (used,) = example["repos"][0]["hooks"]
    assert used["id"] == hook["id"]
    args = [word.replace("data/customers.csv", "the shop.csv") for word in used["args"]]
    words = [*shlex.split(hook["entry"]), *args]
    path = f"{shop_folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        words, cwd=shop_folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 4, done.stderr
    assert re.match(used["files"], "data/customers.csv")


def test_the_example_of_the_action_names_its_inputs():
    action, _ = audit_step()
    page = (ROOT / "docs" / "tool.md").read_text()
    example = yaml.safe_load(re.search(r"```yaml\n(name: labels.*?)```", page, re.DOTALL)[1])
    used = example["jobs"]["audit"]["steps"][-1]["with"]
    required = {name for name, spec in action["inputs"].items() if spec.get("required")}
    assert required <= set(used) <= set(action["inputs"])
