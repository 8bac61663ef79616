import importlib

import pytest

import labelcut.cut


@pytest.fixture(scope="module", params=["compiled", "twin"])
def solver(request):
    """Let `labelcut.cut` answer with the compiled core, then with its Python twin; without the core, fail."""
    module = {"compiled": "labelcut._core", "twin": "labelcut._cut_reference"}[request.param]
    in_use = labelcut.cut._solver
    labelcut.cut._solver = importlib.import_module(module)
    yield request.param
    labelcut.cut._solver = in_use
