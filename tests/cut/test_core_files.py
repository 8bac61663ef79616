"""The files of the C++ core as a reader meets them: every one on the map, no name with two meanings."""

import re
from collections import Counter
from pathlib import Path

CORE = Path(__file__).parents[2] / "core"
#: The interfaces: what is cut, and what becomes a graph.
MAPS = [CORE / "parametric_cut.hpp", CORE / "neighbors.hpp"]


def test_the_interfaces_of_the_core_name_every_other_header():
    comments = [line for path in MAPS for line in re.findall(r"^//.*", path.read_text(), re.MULTILINE)]
    named = {name for line in comments for name in re.findall(r"\w+\.hpp", line)}
    others = {path.name for path in CORE.glob("*.hpp")} - {path.name for path in MAPS}
    assert others <= named <= others | {path.name for path in MAPS}


def test_no_name_of_the_core_stands_for_two_things():
    names = Counter()
    for path in CORE.glob("*.?pp"):
        text = path.read_text()
        for body in re.findall(r"\benum\b[^{;]*{([^}]*)}", text):
            names.update(re.findall(r"\bk[A-Z]\w*(?=\s*[,=}]|\s*$)", body))
        names.update(re.findall(r"\bstatic constexpr [\w:]+ (k\w+)", text))
    assert {"kEarly", "kByExcess", "kAlways"} <= set(names)
    assert [name for name, n in names.items() if n > 1] == []
