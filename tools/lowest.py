"""Print the lowest version of everything `pyproject.toml` asks for, as constraints for pip.

``make test-lowest`` installs them and runs the tests, so a minimum that does not work cannot stay there.
"""

import re
import sys
import tomllib
from pathlib import Path

SEARCH_HINTS = ["datasets<2.20"]
"""Spare pip minutes of search: newer ones, which cleanlab would bring, do not accept the lowest pyarrow."""
MINIMUM = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<version>[\w.]+)")


def constraints(project: dict) -> list[str]:
    """Turn each ``name[extra]>=version`` of the build, the package and its extras into ``name==version``."""
    extras = project["project"]["optional-dependencies"].values()
    asked = [*project["build-system"]["requires"], *project["project"]["dependencies"], *sum(extras, [])]
    own = project["project"]["name"]
    return [_lowest(one) for one in asked if not one.startswith(f"{own}[")] + SEARCH_HINTS


def _lowest(requirement: str) -> str:
    found = MINIMUM.fullmatch(requirement)
    if found is None:
        raise SystemExit(f"pyproject.toml: {requirement!r} has no lowest version; write it as name>=version.")
    return f"{found['name']}=={found['version']}"


if __name__ == "__main__":
    text = Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8")
    sys.stdout.write("\n".join(constraints(tomllib.loads(text))) + "\n")
