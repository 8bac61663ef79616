"""The order of the house: imports go one way, and opening the front door does not carry in the furniture."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import labelcut

SOURCE = Path(labelcut.__file__).parent
#: The way of the data. Each may know those before it; helper modules may stand anywhere that keeps this true.
WAY = ["table", "graph", "cut", "hnc", "report", "cli"]
HEAVY = {"pandas", "torch", "faiss", "matplotlib"}


def module_name(path):
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(path, modules):
    """Return the modules of the package that a file imports anywhere, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import; write the full name"
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return (found & modules) - {"labelcut", module_name(path)}


@pytest.fixture(scope="module")
def imports():
    """Map every module to those it reaches, directly or through others."""
    files = {module_name(path): path for path in SOURCE.rglob("*.py")}
    direct = {name: imported_modules(path, set(files)) for name, path in files.items()}
    del direct["labelcut"]  # the front door: names only, each imported when asked for
    reached = {name: set(others) for name, others in direct.items()}
    for _ in reached:
        for name in reached:
            reached[name] |= set().union(*(reached[other] for other in reached[name] if other in reached))
    return reached


def station(name):
    """Return where on the way of the data a module stands; None for helpers and experiments."""
    part = name.split(".")[1] if "." in name else ""
    return WAY.index(part) if part in WAY else None


def test_imports_go_one_way_along_the_data(imports):
    for name, others in imports.items():
        for other in others:
            if (
                station(name) is not None
                and station(other) is not None
                and name.split(".")[1] != other.split(".")[1]
            ):
                assert station(other) < station(name), f"{name} reaches {other}, which stands after it"


def test_no_module_reaches_itself(imports):
    assert [name for name, others in imports.items() if name in others] == []


def test_nothing_imports_the_experiments(imports):
    for name, others in imports.items():
        if not name.startswith("labelcut.experiments"):
            assert [other for other in others if other.startswith("labelcut.experiments")] == [], name


def test_the_core_knows_nothing_of_python():
    core = SOURCE.parents[1] / "core"
    for path in sorted(core.glob("*.?pp")):
        if path.name != "bindings.cpp":
            includes = [line for line in path.read_text().splitlines() if line.startswith("#include")]
            assert not [line for line in includes if "Python" in line or "nanobind" in line], path.name


def test_only_the_command_line_speaks_of_its_options():
    told = {}
    for path in sorted(SOURCE.rglob("*.py")):
        part = path.relative_to(SOURCE).parts[0]
        if part not in ("cli.py", "demo.py", "experiments"):
            texts = [
                node.value
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ]
            told[path.name] = [text for text in texts if re.search(r"(^|[\s`(])--[a-z]", text)]
    assert {name: texts for name, texts in told.items() if texts} == {}, "name it by labelcut.reading.Option"


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
