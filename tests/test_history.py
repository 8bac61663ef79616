"""The history of the benchmarks: one line per release and machine, and a page that is drawn from them."""

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def history():
    """Return the script, which stands beside the benchmarks it runs."""
    sys.path.insert(0, str(REPOSITORY / "benchmarks"))
    try:
        import history
    finally:
        sys.path.pop(0)
    return history


def line(version, machine, seconds):
    numbers = {"seconds": seconds, "forest": 1.0, "graph": 0.5, "cuts": 0.25, "gb": 0.1, "accuracy": 0.9}
    return {
        "version": version,
        "commit": "0" * 40,
        "machine": machine,
        "benchmarks": {"fit of 10 rows": numbers},
    }


def test_measuring_adds_a_line_and_draws_the_page(history, tmp_path):
    words = ["measure", "--rows", "120", "--machine", "a <small> one", "--folder", str(tmp_path)]
    history.main(words)
    (told,) = map(json.loads, (tmp_path / "benchmarks/history.jsonl").read_text().splitlines())
    assert told["machine"] == "a <small> one"
    assert len(told["commit"]) == 40
    numbers = told["benchmarks"]["fit of 120 rows"]
    assert numbers["seconds"] >= numbers["forest"] + numbers["graph"] > 0
    assert f"{numbers['seconds']:.2f}" in (tmp_path / "docs/history.md").read_text()
    ElementTree.fromstring((tmp_path / "docs/figures/history.svg").read_text())


def test_a_release_measured_again_on_a_machine_replaces_its_line(history):
    lines = [line("0.1.0", "a", 2.0), line("0.1.0", "b", 3.0)]
    assert history.added(lines, line("0.1.0", "a", 1.0)) == [lines[1], line("0.1.0", "a", 1.0)]
    assert history.added(lines, line("0.2.0", "a", 1.0)) == [*lines, line("0.2.0", "a", 1.0)]


def test_the_picture_has_a_line_per_machine_and_never_joins_two(history):
    lines = [line("0.1.0", "a", 2.0), line("0.1.0", "b", 3.0), line("0.2.0", "a", 1.0)]
    ways = [
        way for way in ElementTree.fromstring(history.picture(lines)).iter() if way.tag.endswith("polyline")
    ]
    assert [len(way.get("points").split()) for way in ways] == [2, 1] * len(history.TITLES)


def test_the_page_in_the_documents_is_the_one_that_the_lines_give(history):
    lines = history.read(history.LINES)
    for path, text in ((history.PAGE, history.page(lines)), (history.PICTURE, history.picture(lines))):
        assert (REPOSITORY / path).read_text(encoding="utf-8") == text, (
            "draw it again: python benchmarks/history.py draw"
        )
