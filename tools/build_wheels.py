"""Build the sdist and the wheels into a folder, twice, and check what is in them.

One wheel per kind that the interpreters of this machine can make: one for 3.11, one for 3.12 and later
(stable ABI), one per free-threaded version. Each is built in two folders, and both must have the same bytes.
"""

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from pythons import interpreters

REPOSITORY = Path(__file__).parents[1]
MOST_BYTES = {".whl": 1_000_000, ".gz": 1_500_000}
COMPILED = ("labelcut/cut/_core.", "labelcut/graph/_core.")
NOT_FOR_THE_SDIST = ("results/", "research/", ".venv", "build/", "dist/")


def main(dist: Path) -> None:
    """Build, compare, check; say what came out."""
    dist.mkdir(parents=True, exist_ok=True)
    if any(dist.iterdir()):
        sys.exit(f"{dist}: not empty; remove it first.")
    # A wheel without its compiled core must not be made here, and its files carry the time of the commit.
    os.environ |= {"LABELCUT_COMPILED": "1", "SOURCE_DATE_EPOCH": commit_time()}
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        pythons = one_per_kind(interpreters())
        builders = {kind: environment(python, home / kind) for kind, python in pythons.items()}
        first = next(iter(builders.values()))
        sdist = same_twice(lambda out: build(first, "--sdist", REPOSITORY, out), home, dist)
        check_sdist(sdist)
        for kind, python in builders.items():
            sources = [unpack(sdist, home / f"{kind}-{letter}") for letter in "ab"]
            wheel = same_twice(lambda out, p=python, s=sources: build(p, "--wheel", s.pop(), out), home, dist)
            check_wheel(wheel)


def commit_time() -> str:
    """Return the time of the last commit in seconds; without a repository a fixed one."""
    run = subprocess.run(
        ["git", "-C", REPOSITORY, "log", "-1", "--format=%ct"], capture_output=True, text=True, check=False
    )
    return run.stdout.strip() or "1577836800"


def one_per_kind(pythons: dict[str, str]) -> dict[str, str]:
    """Leave of the versions from 3.12 on, which share a wheel, the first one."""
    stable = [version for version in pythons if version != "3.11" and not version.endswith("t")]
    return {version: python for version, python in pythons.items() if version not in stable[1:]}


def environment(python: str, folder: Path) -> Path:
    """Return the interpreter of a new environment that can build."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    inside = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([inside, "-m", "pip", "install", "--quiet", "build"], check=True)
    return inside


def build(python: Path, what: str, source: Path, out: Path) -> Path:
    """Return the one file that a build leaves."""
    run = subprocess.run(
        [python, "-m", "build", what, "--outdir", out, source], capture_output=True, text=True, check=False
    )
    if run.returncode:
        sys.exit(f"{what} with {python} failed:\n{run.stdout[-4000:]}{run.stderr[-2000:]}")
    (made,) = out.iterdir()
    return made


def same_twice(make, home: Path, dist: Path) -> Path:
    """Make a file twice, demand the same bytes, move it to where it belongs."""
    made = [make(Path(tempfile.mkdtemp(dir=home))) for _ in range(2)]
    digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in made]
    if digests[0] != digests[1]:
        sys.exit(f"{made[0].name}: built twice, and the bytes differ.")
    final = made[0].replace(dist / made[0].name)
    size = final.stat().st_size
    if size > MOST_BYTES[final.suffix]:
        sys.exit(f"{final.name}: {size} bytes, allowed are {MOST_BYTES[final.suffix]}.")
    sys.stdout.write(f"{final.name}: {size} bytes, twice the same, sha256 {digests[0][:16]}\n")
    return final


def unpack(sdist: Path, folder: Path) -> Path:
    """Return the folder of an unpacked sdist."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (inside,) = folder.iterdir()
    return inside


def check_sdist(sdist: Path) -> None:
    """Demand what a build needs, and nothing that only the repository needs."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {
        "PKG-INFO",
        "LICENSE",
        "CMakeLists.txt",
        "core/cut_bindings.cpp",
        "core/graph_bindings.cpp",
        "tests/cut/test_cut.py",
    }
    strangers = sorted(name for name in names if name.startswith(NOT_FOR_THE_SDIST))
    if not needed <= names or strangers:
        sys.exit(f"{sdist.name}: lacks {sorted(needed - names)}, holds {strangers[:5]}.")


def check_wheel(wheel: Path) -> None:
    """Demand exactly the files of the package, the compiled core and the metadata."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        files = archive.namelist()
    own = {
        path.relative_to(REPOSITORY / "src").as_posix()
        for path in (REPOSITORY / "src").rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".so", ".pyd")
    }
    core = {name for name in names if name.startswith(COMPILED) and name not in own}
    if names - core != own or len(core) != len(COMPILED):
        sys.exit(f"{wheel.name}: differs in {sorted((names - core) ^ own)}, compiled: {sorted(core)}.")
    if not any(name.endswith("licenses/LICENSE") for name in files):
        sys.exit(f"{wheel.name}: has no licence.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
