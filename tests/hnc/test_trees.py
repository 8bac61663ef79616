"""Trees grown one by one are those of scikit-learn's forests, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from labelcut.hnc.trees import ask_trees, grow_trees, rows_to_judge


def table(kind, n=120):
    """Rows with three classes of which the middle one is missing, as a fold may leave them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6)).astype(np.float32)
    codes = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 2, 0)
    if kind == "gaps":
        X[rng.random(X.shape) < 0.2] = np.nan
    if kind == "sparse":
        X = sparse.csr_array(np.where(rng.random(X.shape) < 0.5, 0, X))
    if kind == "constant":
        X[...] = 1.0
    return X, codes


def structure(tree):
    found = tree.tree_
    return [found.feature.tolist(), found.threshold.tolist(), found.value.tolist()]


@pytest.mark.parametrize("kind", ["numbers", "gaps", "sparse", "constant"])
@pytest.mark.parametrize(("leaf", "n_drawn"), [(1, 120), (4, 50)])
def test_trees_that_draw_rows_are_those_of_a_random_forest(kind, leaf, n_drawn):
    X, codes = table(kind)
    ours = grow_trees(DecisionTreeClassifier, X, codes, 7, 3, n_drawn=n_drawn, leaf=leaf)
    theirs = RandomForestClassifier(7, min_samples_leaf=leaf, max_samples=n_drawn, random_state=3)
    theirs.fit(X, codes)
    assert [structure(tree) for tree in ours.trees] == [structure(tree) for tree in theirs.estimators_]
    assert [drawn.tolist() for drawn in ours.drawn] == [d.tolist() for d in theirs.estimators_samples_]
    assert ours.importances.tolist() == theirs.feature_importances_.tolist()
    assert ours.classes.tolist() == [0, 2]


@pytest.mark.parametrize("kind", ["numbers", "gaps", "sparse", "constant"])
def test_trees_grown_from_every_row_are_those_of_extra_trees(kind):
    X, codes = table(kind)
    ours = grow_trees(ExtraTreeClassifier, X, codes, 7, 3)
    theirs = ExtraTreesClassifier(7, random_state=3).fit(X, codes)
    assert [structure(tree) for tree in ours.trees] == [structure(tree) for tree in theirs.estimators_]
    assert ours.drawn == ()


def test_a_class_that_no_tree_saw_gets_nothing():
    X, codes = table("numbers")
    found = grow_trees(ExtraTreeClassifier, X, codes, 5, 0)
    said = ask_trees(found.trees, found.classes, X[:9], 3, 1)
    assert said[:, 1].tolist() == [0.0] * 9
    assert said.sum(axis=1) == pytest.approx(1.0)


def test_a_tree_judges_the_rows_that_it_did_not_draw_and_those_without_a_label():
    labeled, unlabeled = np.array([0, 2, 3]), np.array([1, 4])
    judged = list(rows_to_judge([np.array([1, 1, 0]), np.array([2])], labeled, unlabeled, 5))
    assert [rows.tolist() for rows in judged] == [[1, 3, 4], [0, 1, 2, 4]]
