"""Fill docs/speed.md: run each benchmark that a mark of the page names, put what it prints below the mark.

``make speed`` on a machine that does nothing else, with every rival installed; to run only some of them,
``python tools/speed.py fit new``. What is finished stays if a later benchmark fails.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs" / "speed.md"
MARK = re.compile(r"(<!-- (\w+): (benchmarks/[^>]*?) -->\n)(.*?)(<!-- end of \2 -->)", flags=re.DOTALL)
MADE_WITH = ("labelcut", "numpy", "scikit-learn")


def main(names: list[str]) -> None:
    """Run the benchmarks of these marks, of all if none is named."""
    for name, command in commands(PAGE.read_text(encoding="utf-8")):
        if not names or name in names:
            sys.stdout.write(f"{name}: {command}\n")
            sys.stdout.flush()
            text = filled(PAGE.read_text(encoding="utf-8"), name, measured)
            PAGE.write_text(text, encoding="utf-8")


def commands(page: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the command of every mark."""
    for mark in MARK.finditer(page):
        yield mark[2], mark[3]


def filled(page: str, name: str, measure: Callable[[str], str]) -> str:
    """Return the page with what was measured below the mark of this name."""
    return MARK.sub(
        lambda mark: f"{mark[1]}\n{measure(mark[3])}\n\n{mark[5]}" if mark[2] == name else mark[0], page
    )


def measured(command: str) -> str:
    """Return what a benchmark prints, and what it was run with."""
    call = [sys.executable, *shlex.split(command)]
    done = subprocess.run(call, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr.strip() or done.returncode}")
    made_with = ", ".join(f"{name} {version(name)}" for name in MADE_WITH)
    return f"{done.stdout.strip()}\n\nMeasured with {made_with} on {os.cpu_count()} cores."


if __name__ == "__main__":
    main(sys.argv[1:])
