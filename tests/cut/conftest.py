import importlib

import pytest

import labelcut.cut.path


@pytest.fixture(scope="module", params=["compiled", "twin"])
def solver(request):
    """Let `labelcut.cut` answer with the compiled core, then with its Python twin; without the core, fail."""
    module = {"compiled": "labelcut.cut._core", "twin": "labelcut.cut._reference"}[request.param]
    in_use = labelcut.cut.path._solver
    labelcut.cut.path._solver = importlib.import_module(module)
    yield request.param
    labelcut.cut.path._solver = in_use
