"""Check that the files of a release are those of its tag and that the changelog has a section for it.

``python tools/check_release.py v0.1.0 dist``
"""

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"
KINDS = ("cp311-cp311", "cp312-abi3", "cp314-cp314t")
SYSTEMS = ("manylinux*x86_64", "manylinux*aarch64", "macosx*x86_64", "macosx*arm64", "win_amd64")


def faults(tag: str, dist: Path, changelog: str) -> list[str]:
    """Return what is missing or in the way, a line each."""
    version = tag.removeprefix("v")
    found = []
    if not re.fullmatch(r"v\d+\.\d+\.\d+((a|b|rc)\d+)?", tag):
        found.append(f"{tag}: a release has a tag like v0.1.0")
    if not re.search(rf"^## {re.escape(version)}\b", changelog, flags=re.MULTILINE):
        found.append(f"CHANGELOG.md: no section '## {version}'")
    names = sorted(path.name for path in dist.iterdir())
    own = (f"labelcut-{version}-", f"labelcut-{version}.tar.gz")
    found += [f"{name}: not of version {version}" for name in names if not name.startswith(own)]
    expected = [own[1]] + [
        f"labelcut-{version}-{kind}-*{system}*.whl" for kind in KINDS for system in SYSTEMS
    ]
    return found + [f"{one}: missing" for one in expected if not any(dist.glob(one))]


if __name__ == "__main__":
    lines = faults(sys.argv[1], Path(sys.argv[2]), CHANGELOG.read_text(encoding="utf-8"))
    sys.stdout.write("\n".join(lines or [f"{sys.argv[1]} is ready"]) + "\n")
    sys.exit(bool(lines))
