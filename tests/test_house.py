"""The order of the house: imports go one way, and opening the front door does not carry in the furniture."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from draw_house import direct_imports, draw, room

import labelcut

SOURCE = Path(labelcut.__file__).parent
#: Every module stands in one of these rooms and may know the rooms named beside its own; the first line is
#: known to all. `table` and `hnc` are two trunks that meet in `auditing`.
COMMON = ["arrays", "errors", "memory", "parameters", "threads"]
ROOMS = {
    "cut": [],
    "graph": [],
    "hnc": ["cut", "graph"],
    "model_selection": ["hnc"],
    "annotators": ["hnc"],
    "table": [],
    "auditing": ["hnc", "table"],
    "large": ["cut", "graph", "hnc", "table", "auditing"],
    "cli": ["auditing", "table", "large"],
    "experiments": [
        "cut",
        "graph",
        "hnc",
        "model_selection",
        "annotators",
        "table",
        "auditing",
        "large",
        "cli",
    ],
}
FILE_OF_A_ROOM = r"`((?:cut|graph|hnc|table|auditing|large)/[a-z_]+\.py)`"
HEAVY = {"pandas", "torch", "faiss", "matplotlib"}


@pytest.fixture(scope="module")
def direct():
    """Map every module to those it imports itself."""
    return direct_imports()


@pytest.fixture(scope="module")
def imports(direct):
    """Map every module to those it reaches, directly or through others."""
    reached = {name: set(others) for name, others in direct.items()}
    for _ in reached:
        for name in reached:
            reached[name] |= set().union(*(reached[other] for other in reached[name] if other in reached))
    return reached


def test_every_module_stands_in_a_room_and_knows_only_those_beside_it(imports):
    for name in imports:
        assert room(name) in [*COMMON, *ROOMS], f"{name}: in which room?"


def test_imports_go_one_way_between_the_rooms(direct):
    for name, others in direct.items():
        allowed = {room(name), *COMMON, *ROOMS.get(room(name), [])}
        strangers = sorted(other for other in others if room(other) not in allowed)
        assert strangers == [], f"{name} imports {strangers}"


def test_table_and_hnc_never_meet_but_in_the_audit(imports):
    for name, others in imports.items():
        met = {room(other) for other in [name, *others]} & {"table", "hnc"}
        assert len(met) < 2 or room(name) in ("auditing", "large", "cli", "experiments"), name


def test_the_picture_of_the_house_is_the_house():
    picture = (SOURCE.parents[1] / "docs" / "house.svg").read_text(encoding="utf-8")
    assert picture == draw(), "draw it again: python tests/draw_house.py docs/house.svg"


def test_the_method_names_a_file_for_every_step_and_what_it_names_is_there():
    page = (SOURCE.parents[1] / "docs" / "method.md").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if re.search(FILE_OF_A_ROOM, line)]
    assert len(lines) >= 18
    for line in lines:
        for path in re.findall(FILE_OF_A_ROOM, line):
            text = (SOURCE / path).read_text(encoding="utf-8")
            if line.startswith("|"):
                words = re.findall(r"`([A-Za-z_]+)", line.split("|")[2])
                assert any(word in text for word in words), f"{path} has nothing of {words}"


def test_facts_never_know_the_page(imports):
    page = {"labelcut.auditing.page"}
    reached = {name for name, others in imports.items() if others & page}
    assert {name for name in reached if room(name) == "auditing"} == {
        *("labelcut.auditing.audit", "labelcut.auditing.demo", "labelcut.auditing.result"),
    }


def test_no_module_reaches_itself(imports):
    assert [name for name, others in imports.items() if name in others] == []


def test_nothing_imports_the_experiments(imports):
    for name, others in imports.items():
        if not name.startswith("labelcut.experiments"):
            assert [other for other in others if other.startswith("labelcut.experiments")] == [], name


def test_the_core_knows_nothing_of_python():
    core = SOURCE.parents[1] / "core"
    for path in sorted(core.glob("*.?pp")):
        if path.name not in ("arrays.hpp", "cut_bindings.cpp", "graph_bindings.cpp"):
            includes = [line for line in path.read_text().splitlines() if line.startswith("#include")]
            assert not [line for line in includes if "Python" in line or "nanobind" in line], path.name


def test_only_the_command_line_speaks_of_its_options():
    told = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).parts
        if not {"cli", "demo.py", "experiments"} & set(parts):  # the demo shows commands to copy
            texts = [
                node.value
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ]
            told[path.name] = [text for text in texts if re.search(r"(^|[\s`(])--[a-z]", text)]
    assert {name: texts for name, texts in told.items() if texts} == {}, "name it by an Option"


IMPORT_AND_TELL = """
import json, sys, time
start = time.perf_counter()
{first}
between = time.perf_counter()
{then}
end = time.perf_counter()
print(json.dumps([sorted(name.split(".")[0] for name in sys.modules), between - start, end - between]))
"""


def after(first, then="pass"):
    """Return what is loaded after two statements, and the seconds that each of them took."""
    code = IMPORT_AND_TELL.format(first=first, then=then)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules, first_seconds, then_seconds = json.loads(run.stdout)
    return set(modules), first_seconds, then_seconds


@pytest.mark.parametrize("statement", ["import labelcut", "import labelcut.cut"])
def test_importing_labelcut_loads_nothing_heavy(statement):
    modules, _, _ = after(statement)
    assert modules & HEAVY == set()


def test_the_classifier_is_quick_to_import_beyond_scikit_learn_itself():
    sklearn = "import sklearn.ensemble, sklearn.neighbors"
    needed_anyway, _, _ = after(sklearn)  # scikit-learn may look at pandas
    modules, sklearn_seconds, seconds = after(sklearn, "from labelcut import ConfidenceHNC")
    assert modules & HEAVY <= needed_anyway
    assert seconds < sklearn_seconds, "importing labelcut takes longer than importing scikit-learn"
