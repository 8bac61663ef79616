"""Install the wheel that fits the running Python into a clean environment and test what was installed.

Standard library alone, so that any interpreter can run it: ``python3.14 tools/try_wheel.py dist``. With
``--sdist`` the sdist is installed instead, with a compiler, and once more where none can be found; without a
folder the package that this Python has already is tested.
"""

import argparse
import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
#: The solver against every subset of small problems, confidence, tables as people write them, the command.
TESTS = (
    "cut/test_cut.py",
    "cut/test_cut_input.py",
    "hnc/test_confidence.py",
    "table/test_table.py",
    "test_cli.py",
)
INSTALL = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
IS_COMPILED = """
import labelcut.cut._core, labelcut.graph._core
from labelcut.cut import solver
from labelcut.graph import compiled
assert (solver.in_use, compiled.in_use) == (labelcut.cut._core, labelcut.graph._core)
"""
TWIN_ANSWERS = """
import warnings
warnings.simplefilter("ignore")
import labelcut.cut
import labelcut.cut.solver as solver
path = labelcut.cut.parametric_cut([[0, 2, 0], [2, 0, 1], [0, 1, 0]], [-3, 0, 3], [1, 1, 1])
assert path.join_at.tolist() == [-1.0, -1.0, 2.0] and solver.in_use.__name__ == "labelcut.cut._reference"
from labelcut.graph import compiled, neighbors
assert neighbors([[0.0], [1.0], [3.0]], 1).index.tolist() == [[1], [0], [1]]
assert compiled.in_use.__name__ == "labelcut.graph._reference"
"""


def main() -> None:
    """Try what was asked for and say that it works."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dist", type=Path, nargs="?", help="the folder with the wheels and the sdist")
    parser.add_argument("--sdist", action="store_true", help="install the sdist instead of a wheel")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        if options.dist is None:
            said = try_package(Path(sys.executable), home)
        elif options.sdist:
            said = try_sdist(next(options.dist.glob("*.tar.gz")), home)
        else:
            python = environment(home / "env", fitting(options.dist))
            run(python, *INSTALL, *project()["dependency-groups"]["wheel-test"])
            said = try_package(python, home)
    sys.stdout.write(f"Python {platform.python_version()}{kind()}: {said}\n")


def try_package(python: Path, home: Path) -> str:
    """Demand the compiled core, a demo and the tests, from where only the installed package can be found."""
    run(python, "-c", IS_COMPILED, cwd=home)
    run(python, "-m", "labelcut", "demo", "--out", home / "demo", cwd=home)
    settings = ("-c", REPOSITORY / "pyproject.toml", "-p", "no:cacheprovider", "-q", "-m", "not slow")
    run(python, "-m", "pytest", *settings, *(REPOSITORY / "tests" / name for name in TESTS), cwd=home)
    return "the installed wheel works"


def try_sdist(sdist: Path, home: Path) -> str:
    """Demand the compiled core where there is a compiler, and its twin where there is none."""
    run(environment(home / "with", sdist), "-c", IS_COMPILED, cwd=home)
    nowhere = {"CC": "/nowhere/cc", "CXX": "/nowhere/c++"}
    run(environment(home / "without", sdist, nowhere), "-c", TWIN_ANSWERS, cwd=home)
    return "the sdist installs with a compiler, and without one the twin answers"


def project() -> dict:
    """Return pyproject.toml."""
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))


def kind() -> str:
    """Return 't' on a free-threaded Python."""
    return "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""


def fitting(dist: Path) -> Path:
    """Return the wheel of this Python: its own, otherwise the one for 3.12 and later."""
    minor = f"cp3{sys.version_info.minor}"
    found = [*dist.glob(f"*-{minor}-{minor}{kind()}-*.whl")]
    if not kind():
        found += dist.glob("*-cp312-abi3-*.whl")
    if not found:
        sys.exit(f"{dist}: no wheel for Python 3.{sys.version_info.minor}{kind()}.")
    return found[0]


def environment(folder: Path, package: Path, settings: dict[str, str] | None = None) -> Path:
    """Return the interpreter of a new environment with the package and its dependencies."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, *INSTALL, "--no-deps", "--no-cache-dir", package, settings=settings)  # never an earlier build
    run(python, *INSTALL, "labelcut")  # it is there; what it needs comes
    return python


def run(
    python: Path, *words: object, settings: dict[str, str] | None = None, cwd: Path | None = None
) -> None:
    """Run a command of the environment; stop at the first that fails."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run([python, *map(str, words)], cwd=cwd, env=clean | (settings or {}), check=False)
    if done.returncode:
        sys.exit(f"Python {platform.python_version()}{kind()}: failed: {' '.join(map(str, words))[:200]}")


if __name__ == "__main__":
    main()
