"""scikit-learn's own checks, for every estimator and preset. No failure is expected, so none is listed."""

from dataclasses import replace

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelcut import HNC, ConfidenceHNC
from labelcut.hnc.settings import PRESETS

# Few trees and one leaf size: the checks are about conventions, and run some hundred fits each.
ESTIMATORS = [
    make(preset=replace(PRESETS[preset], n_trees=5, leaf_sizes=(0.01,)))
    for make in (ConfidenceHNC, HNC)
    for preset in PRESETS
]


# Some checks draw their labels at random, and the warning that columns do not know them is right.
@pytest.mark.filterwarnings("ignore:the columns do not tell the classes apart better than chance")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_finds_nothing_to_complain_about(estimator, check):
    check(estimator)
