"""Every example that a reader can copy is run, and every public docstring is read as numpydoc reads it."""

import doctest
import importlib
import inspect
import pkgutil
from itertools import pairwise
from pathlib import Path

import pytest
from numpydoc.docscrape import NumpyDocString

import labelcut

DOCS = Path(__file__).parent.parent / "docs"
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


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_docstring_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_pictures_named_in_the_documents_are_there():
    for name in EXAMPLES:
        for line in (DOCS / name).read_text().splitlines():
            if line.startswith("!["):
                assert (DOCS / line.split("](")[1].rstrip(")")).exists(), line


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
