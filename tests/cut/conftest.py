import importlib

import pytest

from labelcut.cut import solver as chosen


@pytest.fixture(scope="module", params=["compiled", "twin"])
def solver(request):
    """Let `labelcut.cut` answer with the compiled core, then with its Python twin; without the core, fail."""
    module = {"compiled": "labelcut.cut._core", "twin": "labelcut.cut._reference"}[request.param]
    in_use = chosen.in_use
    chosen.in_use = importlib.import_module(module)
    yield request.param
    chosen.in_use = in_use
