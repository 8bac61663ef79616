"""The files of the C++ core as a reader meets them: every one on the map, no name with two meanings."""

import re
from collections import Counter
from pathlib import Path

CORE = Path(__file__).parents[2] / "core"
MAP = CORE / "parametric_cut.hpp"


def test_the_interface_of_the_core_names_every_other_header():
    named = set(re.findall(r"^//.*", MAP.read_text(), re.MULTILINE))
    named = {name for line in named for name in re.findall(r"\w+\.hpp", line)}
    assert named == {path.name for path in CORE.glob("*.hpp")} - {MAP.name}


def test_no_name_of_the_core_stands_for_two_things():
    names = Counter()
    for path in CORE.glob("*.?pp"):
        text = path.read_text()
        for body in re.findall(r"\benum\b[^{;]*{([^}]*)}", text):
            names.update(re.findall(r"\bk[A-Z]\w*(?=\s*[,=}]|\s*$)", body))
        names.update(re.findall(r"\bstatic constexpr [\w:]+ (k\w+)", text))
    assert {"kEarly", "kByExcess", "kAlways"} <= set(names)
    assert [name for name, n in names.items() if n > 1] == []
