"""What a release rests on: its files, its changelog, and workflows that only call make."""

import re
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
SYSTEMS = [
    "manylinux_2_28_x86_64",
    "manylinux_2_28_aarch64",
    "macosx_11_0_x86_64",
    "macosx_11_0_arm64",
    "win_amd64",
]
CHANGELOG = "# Changelog\n\n## 0.7.0\n\n- all\n"


@pytest.fixture
def faults():
    sys.path.insert(0, str(REPOSITORY / "tools"))
    try:
        from check_release import faults
    finally:
        sys.path.pop(0)
    return faults


@pytest.fixture
def dist(tmp_path):
    """Return a folder with the names of everything that a release has."""
    for kind in ("cp311-cp311", "cp312-abi3", "cp314-cp314t"):
        for system in SYSTEMS:
            (tmp_path / f"labelcut-0.7.0-{kind}-{system}.whl").touch()
    (tmp_path / "labelcut-0.7.0.tar.gz").touch()
    return tmp_path


def test_a_complete_release_has_no_faults(faults, dist):
    assert faults("v0.7.0", dist, CHANGELOG) == []


def test_a_missing_system_another_version_and_an_unwritten_changelog_are_named(faults, dist):
    (dist / "labelcut-0.7.0-cp312-abi3-win_amd64.whl").unlink()
    (dist / "labelcut-0.7.1.dev3-cp312-abi3-linux_x86_64.whl").touch()
    found = faults("v0.7.0", dist, "# Changelog\n\n## Unreleased\n")
    assert found == [
        "CHANGELOG.md: no section '## 0.7.0'",
        "labelcut-0.7.1.dev3-cp312-abi3-linux_x86_64.whl: not of version 0.7.0",
        "labelcut-0.7.0-cp312-abi3-*win_amd64*.whl: missing",
    ]


def test_a_tag_that_is_no_version_is_refused(faults, dist):
    assert "v0.7: a release has a tag like v0.1.0" in faults("v0.7", dist, CHANGELOG)


def test_every_target_that_a_workflow_makes_is_there():
    targets = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), flags=re.MULTILINE))
    for path in sorted((REPOSITORY / ".github" / "workflows").glob("*.yml")):
        text = path.read_text()
        named = {*re.findall(r"run: make ([a-z-]+)", text), *re.findall(r"target: \[?([a-z-]+)", text)}
        assert named <= targets, path.name
        assert named or "uses: ./.github/workflows" in text, path.name
