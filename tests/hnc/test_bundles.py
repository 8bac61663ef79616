"""Columns that are never on together."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import OneHotEncoder

from labelcut.hnc.boosting import boost
from labelcut.hnc.bundles import find_bundles
from labelcut.hnc.hiding import deal_tasks


def words(n_rows=500, seed=0):
    rng = np.random.default_rng(seed)
    kinds = np.column_stack([rng.integers(0, 5, n_rows), rng.integers(0, 3, n_rows)])
    return rng.normal(size=(n_rows, 2)), OneHotEncoder(sparse_output=False).fit_transform(kinds), kinds


def test_indicators_of_a_column_of_words_become_one_column():
    numbers, indicators, kinds = words()
    X = np.column_stack([indicators[:, :5], numbers, indicators[:, 5:]])
    found = find_bundles((X - X.mean(axis=0)) / X.std(axis=0))
    assert found.alone.tolist() == [5, 6]
    assert [group.tolist() for group in found.groups] == [[0, 1, 2, 3, 4], [7, 8, 9]]
    told = find_bundles(X).apply(X)
    assert told[:, :2].tolist() == numbers.tolist()
    assert told[:, 2:].tolist() == (kinds + 1).tolist()


def test_nothing_is_bundled_that_meets_in_some_row():
    X = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 3.0], [1.0, 1.0, 3.0]])
    found = find_bundles(X)
    assert found.groups == ()
    assert found.apply(X) is X


def test_of_several_that_are_on_in_a_new_row_the_first_counts():
    X = np.eye(3)
    found = find_bundles(X)
    assert found.apply(np.array([[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]])).tolist() == [[2.0], [0.0]]


@given(arrays(np.float64, (12, 5), elements=st.sampled_from([0.0, 1.0, 2.0])))
def test_rows_are_told_apart_exactly_where_they_were_before(X):
    told = find_bundles(X).apply(X)
    same = [[np.array_equal(a, b) for b in X] for a in X]
    assert [[np.array_equal(a, b) for b in told] for a in told] == same


def test_boosting_learns_as_well_from_bundles():
    numbers, indicators, kinds = words(1500)
    y = (kinds[:, 0] % 2) ^ (numbers[:, 0] > 0)
    hiding = deal_tasks(y, np.ones(y.size), 5, 0).first_deal
    found = boost(np.column_stack([numbers, indicators]), y, hiding, 0, 1)
    assert len(found.bundles.groups) == 2
    assert np.mean(found.probability.argmax(axis=1) == y) > 0.97
    assert np.mean(found.of(np.column_stack([numbers, indicators])).argmax(axis=1) == y) > 0.97
