"""The page of speed is filled by the commands that stand on it."""

import runpy
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
PAGE = (REPOSITORY / "docs" / "speed.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tool():
    return runpy.run_path(str(REPOSITORY / "tools" / "speed.py"))


def test_every_mark_names_a_benchmark_that_the_text_names_too(tool):
    found = dict(tool["commands"](PAGE))
    assert list(found) == ["fit", "new", "neighbours"]
    for command in found.values():
        assert (REPOSITORY / command.split()[0]).is_file()
        assert f"`python {command}`" in PAGE
    assert PAGE.count("<!-- ") == 2 * len(found)


def test_only_what_stands_below_the_mark_is_replaced(tool):
    page = "a\n<!-- one: benchmarks/x.py --rows 3 -->\n\nold\n\n<!-- end of one -->\nb\n"
    page += "<!-- two: benchmarks/y.py -->\n\nkept\n\n<!-- end of two -->\n"
    made = tool["filled"](page, "one", lambda command: f"by {command}")
    assert made == page.replace("old", "by benchmarks/x.py --rows 3")
