import numpy as np
import pytest

from labelcut.model_selection import PartlyLabeledKFold


def test_unlabeled_rows_are_always_trained_on_and_labeled_ones_tested_once():
    y = np.array([0, 1, -1] * 10)
    tested = []
    for train, test in PartlyLabeledKFold(4).split(np.zeros((30, 1)), y):
        assert set(np.flatnonzero(y == -1)) <= set(train)
        assert not set(train) & set(test)
        assert abs((y[test] == 0).sum() - (y[test] == 1).sum()) <= 1
        tested.extend(test)
    assert sorted(tested) == np.flatnonzero(y != -1).tolist()


def test_the_folds_repeat_and_the_seed_changes_them():
    X, y = np.zeros((40, 1)), np.arange(40) % 2

    def folds(**options):
        return [test.tolist() for _, test in PartlyLabeledKFold(5, **options).split(X, y)]

    assert folds() == folds()
    assert folds() != folds(random_state=1)
    assert PartlyLabeledKFold(7).get_n_splits() == 7


def test_too_many_folds_are_refused():
    with pytest.raises(ValueError, match="n_splits=5, but 3 rows are labeled; choose from 2 to that number"):
        next(PartlyLabeledKFold(5).split(np.zeros((4, 1)), [0, 1, 1, -1]))
