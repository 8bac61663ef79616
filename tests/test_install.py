"""Installing without a C++ compiler works, says so once, and the Python twin answers."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
SOLVE_TWICE = """
import labelcut.cut.solver
import labelcut.cut.solver as again
for _ in range(2):
    path = labelcut.cut.parametric_cut([[0, 2, 0], [2, 0, 1], [0, 1, 0]], [-3, 0, 3], [1, 1, 1])
print(again.in_use.__name__, path.join_at.tolist())
"""


@pytest.fixture(scope="module")
def python_without_compiler(tmp_path_factory):
    """Return a fresh environment's Python, with labelcut installed where no compiler can be found."""
    home = tmp_path_factory.mktemp("no-compiler")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "venv"], check=True)
    python = home / "venv/bin/python"
    # The dependencies are borrowed from this environment; its own labelcut comes second on the path.
    here, there = (
        sysconfig.get_path("purelib", vars={"base": base}) for base in (sys.prefix, str(home / "venv"))
    )
    Path(there, "borrowed.pth").write_text(f"{here}\n")

    bare = home / "bin"
    bare.mkdir()
    for tool in ("cmake", "ninja", "make", "sh", "uname"):
        if found := shutil.which(tool):
            (bare / tool).symlink_to(found)
    settings = {"PATH": f"{python.parent}:{bare}", "CC": "/nowhere/cc", "CXX": "/nowhere/c++"}
    command = ["pip", "--python", python, "install", "--no-deps", "--no-build-isolation", REPOSITORY]
    install = subprocess.run(
        [sys.executable, "-m", *command],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert install.returncode == 0, install.stdout + install.stderr
    return python


def test_where_wheels_are_made_a_lost_compiler_is_a_failure(tmp_path):
    settings = {"CC": "/nowhere/cc", "CXX": "/nowhere/c++", "LABELCUT_COMPILED": "1"}
    command = ["pip", "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, REPOSITORY]
    run = subprocess.run(
        [sys.executable, "-m", *command],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode != 0
    assert "/nowhere/c++" in run.stdout + run.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_twin_answers_with_one_warning_that_tells_the_remedy(python_without_compiler):
    run = subprocess.run(
        [python_without_compiler, "-c", SOLVE_TWICE], capture_output=True, text=True, check=True, cwd="/"
    )
    assert run.stdout.strip() == "labelcut.cut._reference [-1.0, -1.0, 2.0]"
    warned = [line for line in run.stderr.splitlines() if "without its compiled core" in line]
    assert len(warned) == 1
    assert "install a C++ compiler (Debian: apt install g++) and reinstall labelcut" in warned[0]
