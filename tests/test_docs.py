"""Every example that a reader can copy is run, and every public docstring is read as numpydoc reads it."""

import doctest
import importlib
import inspect
import pkgutil
import re
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import pytest
from numpydoc.docscrape import NumpyDocString

import labelcut
import labelcut.cut
import labelcut.graph
import labelcut.model_selection

DOCS = Path(__file__).parent.parent / "docs"
MARKDOWN = [*sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("results/*.md")), *sorted(DOCS.parent.glob("*.md"))]
EXAMPLES = ("guide.md", "coming-from.md")
# The command line and the experiments have tests of their own; _core is compiled.
APART = ("labelcut.cli", "labelcut.experiments", "labelcut.cut._core", "labelcut.graph._core")
MODULES = [
    module.name
    for module in pkgutil.walk_packages(labelcut.__path__, "labelcut.")
    if not module.ispkg and not module.name.startswith(APART)
]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_a_document_run(name):
    result = doctest.testfile(str(DOCS / name), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_guide_shows_what_comes_out():
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    if not all(f"{name} {version(name)}" in readme for name in ("numpy", "scikit-learn", "skrub")):
        pytest.skip("other versions of the libraries may be a little more or less sure")
    text = (DOCS / "guide.md").read_text(encoding="utf-8").partition("## What to do with them")[0]
    session = doctest.DocTestParser().get_doctest(text, {}, "guide", None, 0)
    doctest.DocTestRunner().run(session, clear_globs=False)
    names = session.globs
    top, why = re.findall(r"```text\n(.*?)```", text, flags=re.DOTALL)
    assert top.rstrip() == str(names["top"])
    assert str(names["why"]).startswith(why.removesuffix("  ...\n"))
    is_wrong = (names["y"] != -1) & (names["y"] != names["truth"])
    flagged = names["suspects"].index
    told = f"{len(flagged)} labels are flagged; {is_wrong[flagged].sum()} of the {is_wrong.sum()} that"
    assert told in text


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_docstring_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def slug(heading):
    """Return the anchor that GitHub and the site give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return {slug(line.lstrip("#")) for line in lines if line[:1] == "#"}


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: path.name)
def test_links_and_pictures_of_a_document_lead_somewhere_also_without_the_site(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r'(?:\]\(|src=")([^)\s"]+)[)"]', text):
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        if (
            not re.match(r"https?:", link) and name != "gallery/index.rst"
        ):  # the gallery is made with the site
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("module", [labelcut, labelcut.cut, labelcut.graph, labelcut.model_selection])
def test_every_public_name_stands_in_the_reference(module):
    listed = set(re.findall(r"[\w.]+", (DOCS / "api.md").read_text(encoding="utf-8")))
    short = {name.rpartition(".")[2] for name in listed}
    assert {*module.__all__} <= short


def public_docstrings(module):
    """Yield the name and the docstring of the module's public functions, classes, methods and properties."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        yield f"{module.__name__}.{name}", inspect.getdoc(value)
        for part, member in vars(value).items() if inspect.isclass(value) else ():
            if not part.startswith("_") and (callable(member) or isinstance(member, property | classmethod)):
                yield f"{module.__name__}.{name}.{part}", inspect.getdoc(member)


def lost_sections(text):
    """Return the lines that are meant as a heading, since dashes follow, but are none to numpydoc.

    Headings that it does not know make it warn, which is an error here.
    """
    sections = {name for name, content in dict(NumpyDocString(text)).items() if content}
    lines = ["", *text.splitlines()]
    dashed = [(before, line) for before, line in pairwise(lines) if "---" in line]
    return [line if line.strip("-") else before for before, line in dashed if before not in sections]


def test_a_heading_swallowed_by_its_paragraph_is_noticed():
    assert lost_sections("Add.\n\nNotes\n-----\nBy hand.") == []
    assert lost_sections("Add.\n\nNotes ----- By hand.") == ["Notes ----- By hand."]
    with pytest.warns(UserWarning, match="Unknown section Remarks"):
        lost_sections("Add.\n\nRemarks\n-------\nBy hand.")


@pytest.mark.parametrize("name", ["labelcut.cli", *MODULES])
def test_numpydoc_finds_every_section_of_a_public_docstring(name):
    docstrings = dict(public_docstrings(importlib.import_module(name)))
    assert {where: lost for where, text in docstrings.items() if text and (lost := lost_sections(text))} == {}
