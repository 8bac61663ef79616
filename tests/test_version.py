"""The version comes from the tag, and from somewhere sensible where there is none."""

import os
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.version import Version

import labelcut

REPOSITORY = Path(__file__).parents[1]
WHO = ("-c", "user.name=someone", "-c", "user.email=someone@example.org", "-c", "commit.gpgsign=false")


def git(folder, *words):
    subprocess.run(["git", *WHO, "-C", folder, *words], check=True, capture_output=True)


def version_of(folder):
    """Return the version that a build of this folder would get."""
    run = subprocess.run(
        [sys.executable, "-m", "setuptools_scm"], cwd=folder, check=True, capture_output=True, text=True
    )
    return run.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """Return a repository with our settings and one commit."""
    folder = tmp_path / "labelcut"
    folder.mkdir()
    (folder / "pyproject.toml").write_bytes((REPOSITORY / "pyproject.toml").read_bytes())
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")
    return folder


def test_a_tag_is_the_version_and_commits_after_it_count_up(repository):
    git(repository, "tag", "v0.7.0")
    assert version_of(repository) == "0.7.0"
    git(repository, "commit", "--allow-empty", "-m", "second")
    assert version_of(repository).startswith("0.7.1.dev1+g")


def test_without_a_tag_the_version_is_one_before_the_first_release(repository, tmp_path):
    assert Version("0.1.dev0") < Version(version_of(repository)) < Version("0.1.0")
    git(repository, "commit", "--allow-empty", "-m", "second")
    git(tmp_path, "clone", "--depth", "1", f"file://{repository}", "shallow")
    assert Version("0.1.dev0") < Version(version_of(tmp_path / "shallow")) < Version("0.1.0")


def test_without_git_an_sdist_knows_its_version_and_a_bare_folder_gets_the_fallback(tmp_path):
    (tmp_path / "pyproject.toml").write_bytes((REPOSITORY / "pyproject.toml").read_bytes())
    assert version_of(tmp_path) == "0.1.0.dev0"
    (tmp_path / "PKG-INFO").write_text("Metadata-Version: 2.2\nName: labelcut\nVersion: 0.7.0\n")
    assert version_of(tmp_path) == "0.7.0"


def test_the_package_and_both_spellings_of_the_command_tell_the_installed_version():
    assert labelcut.__version__ == version("labelcut")
    command = [Path(sys.executable).with_name("labelcut"), "--version"]
    module = [sys.executable, "-m", "labelcut", "--version"]
    for words in (command, module):
        told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        assert told.split() == ["labelcut,", "version", labelcut.__version__]


def test_the_extra_all_has_every_extra_but_the_experiments():
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (everything,) = extras.pop("all")
    named = everything.removeprefix("labelcut[").removesuffix("]").split(",")
    assert {*named} == {*extras} - {"experiments"}


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["au"], "plain,audit"),
        (["audit", "cust"], "file,cust"),
        (["apply", "t.csv", "dec"], "file,dec"),
        (["audit", "--preset", "pa"], "plain,paper"),
    ],
)
def test_the_tab_key_completes_commands_files_and_choices(typed, offered):
    words = ["labelcut", *typed]
    asked = {"_LABELCUT_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words)}
    run = subprocess.run(
        [Path(sys.executable).with_name("labelcut")],
        env=os.environ | asked | {"COMP_CWORD": str(len(typed))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.splitlines() == [offered]
