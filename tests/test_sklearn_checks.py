"""scikit-learn's own checks, for every estimator and preset. No failure is expected, so none is listed."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelcut import HNC, ConfidenceHNC

# Few trees: the checks are about conventions, and run some hundred fits each.
ESTIMATORS = [
    make(preset=preset, n_trees=10)
    for make in (ConfidenceHNC, HNC)
    for preset in ("default", "paper", "literal")
]


@parametrize_with_checks(ESTIMATORS)
@pytest.mark.filterwarnings("ignore:Can't check dok sparse matrix")
def test_scikit_learn_finds_nothing_to_complain_about(estimator, check):
    check(estimator)
