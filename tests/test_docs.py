"""Every example that a reader can copy from the documents or the docstrings is run."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import labelcut

DOCS = Path(__file__).parent.parent / "docs"
EXAMPLES = ("guide.md", "coming-from.md")
# The command line and the experiments have tests of their own; _core is compiled.
MODULES = [
    module.name
    for module in pkgutil.iter_modules(labelcut.__path__, "labelcut.")
    if not module.ispkg and module.name not in ("labelcut.cli", "labelcut._core")
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
