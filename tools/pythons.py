"""Print the Python interpreters of this machine that LabelCut supports, one per minor version.

Looked for on the path and among the versions that pyenv keeps; ``make wheel`` tries the wheels on each.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SUPPORTED = range(11, 30)
TELL = "import sys, venv, ensurepip; print('3.%d%s' % (sys.version_info[1], getattr(sys, 'abiflags', '')))"


def candidates() -> list[str]:
    """Return what may be an interpreter, those on the path first."""
    names = [f"python3.{minor}{flag}" for minor in SUPPORTED for flag in ("", "t")]
    on_path = [found for name in names if (found := shutil.which(name))]
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions").glob("3.*/bin/python3.*")
    return on_path + sorted(str(path) for path in kept if re.fullmatch(r"python3\.\d+t?", path.name))


def version(python: str) -> str | None:
    """Return the minor version of an interpreter that can make environments, None of one that cannot."""
    run = subprocess.run([python, "-c", TELL], capture_output=True, text=True, check=False)
    told = run.stdout.strip()
    return told if re.fullmatch(r"3\.\d+t?", told) and int(told[2:].rstrip("t")) in SUPPORTED else None


def interpreters() -> dict[str, str]:
    """Return the first working interpreter of every version, in the order of versions."""
    found: dict[str, str] = {}
    for python in candidates():
        told = version(python)
        if told:
            found.setdefault(told, python)
    return dict(sorted(found.items(), key=lambda one: (int(one[0][2:].rstrip("t")), one[0])))


if __name__ == "__main__":
    sys.stdout.write("\n".join(interpreters().values()) + "\n")
