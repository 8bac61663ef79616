"""Scaling, the canonical order, and what the forest says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.ensemble import RandomForestClassifier

from labelcut.hnc.columns import check_importances, scale_columns, weight_columns
from labelcut.hnc.folds import deal_folds
from labelcut.hnc.forest import choose_leaf, fit_forest
from labelcut.hnc.order import canonical_order


def blobs(n_rows=300, n_classes=2, seed=0, unlabeled=0.3):
    """Rows of which the first column tells the class, the second helps, and three are noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = rng.normal(size=(n_rows, 5))
    X[:, 0] += 4.0 * y
    X[:, 1] += y
    codes = np.where(rng.random(n_rows) < unlabeled, -1, y)
    return X, y, codes


# ---- columns


def test_columns_get_mean_0_and_sd_1():
    X = np.array([[1.0, 7.0], [2.0, 7.0], [6.0, 7.0]])
    scaled, scale = scale_columns(X)
    assert scaled[:, 0] == pytest.approx((X[:, 0] - 3.0) / np.sqrt(14 / 3))
    assert scaled[:, 1].tolist() == [0.0, 0.0, 0.0]
    assert scale.mean.tolist() == [3.0, 7.0]
    assert scale.apply(X).tolist() == scaled.tolist()


def test_new_rows_are_scaled_like_the_old_ones():
    _, scale = scale_columns([[0.0, 7.0], [2.0, 7.0]])
    assert scale.apply([[4.0, 9.0]]).tolist() == [[3.0, 0.0]]
    with pytest.raises(ValueError, match="the rows have 1 columns, but the scale was taken from 2"):
        scale.apply([[4.0]])


@pytest.mark.parametrize("value", [0.1, 1e-300, 1e300, 1 / 3])
def test_a_constant_column_is_found_in_spite_of_rounding(value):
    scaled, _ = scale_columns(np.full((7, 1), value))
    assert scaled.tolist() == [[0.0]] * 7


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_columns_of_any_size_are_scaled(size):
    scaled, _ = scale_columns(np.array([[1.0], [2.0], [3.0]]) * size)
    assert scaled.ravel() == pytest.approx([-np.sqrt(1.5), 0.0, np.sqrt(1.5)])


def test_values_far_from_the_median_are_drawn_nearer():
    column = np.array([-1.0, 0.0, 1.0, 2.0, 1e300])  # median 1; usual distance 1, of 1, 1, 2 and 1e300
    scaled, scale = scale_columns(column[:, None], kind="robust")
    assert (scale.low.tolist(), scale.high.tolist()) == ([-9.0], [11.0])
    assert scaled[4] == scale.apply([[11.0]])[0] == scale.apply([[1e308]])[0]
    assert scale.is_outside(column[:, None]).ravel().tolist() == [False] * 4 + [True]


@pytest.mark.parametrize("share", [0.5, 0.01])
def test_columns_of_two_values_are_never_clipped(share):
    column = (np.arange(200) < 200 * share).astype(float)[:, None]
    assert scale_columns(column, kind="robust")[0].tolist() == scale_columns(column)[0].tolist()


def test_borders_of_the_largest_numbers_do_not_overflow():
    X = np.array([[-1e308, 1e308, 0.0, 1.0, 2.0]]).T
    scaled, _ = scale_columns(X, kind="robust")
    assert np.isfinite(scaled).all()
    assert np.isfinite(scale_columns(np.array([[-1e308], [1e308], [1.7e308]]), kind="robust")[0]).all()


def test_missing_values_are_refused_with_their_place():
    with pytest.raises(ValueError, match=r"X\[1, 0\] is nan; replace or impute"):
        scale_columns([[1.0], [np.nan]])
    with pytest.raises(ValueError, match=r"X has 1 dimension"):
        scale_columns([1.0, 2.0])
    with pytest.raises(ValueError, match=r"X has shape \(0, 3\)"):
        scale_columns(np.empty((0, 3)))


# ---- order


@settings(max_examples=50, deadline=None)
@given(hnp.arrays(float, (9, 2), elements=st.sampled_from([-1.0, -0.0, 0.0, 2.5])), st.randoms())
def test_the_canonical_order_does_not_know_where_rows_came_from(X, random):
    codes = np.arange(9) % 3 - 1
    shuffled = np.array(random.sample(range(9), 9))
    first = canonical_order(X, codes)
    second = shuffled[canonical_order(X[shuffled], codes[shuffled])]
    assert X[first].tolist() == X[second].tolist()
    assert codes[first].tolist() == codes[second].tolist()
    assert sorted(first) == list(range(9))


def test_equal_rows_keep_their_order():
    assert canonical_order(np.ones((4, 2))).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("tuning", ["oob", "cv"])
def test_a_forest_after_the_canonical_order_does_not_depend_on_the_order_of_rows(tuning):
    X, _, codes = blobs(120)
    X = np.round(X)  # many equal rows
    shuffled = np.random.default_rng(1).permutation(len(X))
    forests = []
    for rows in (np.arange(len(X)), shuffled):
        order = rows[canonical_order(X[rows], codes[rows])]
        forest = fit_forest(
            X[order], codes[order], tuning=tuning, n_trees=10, leaf_sizes=[0.01, 0.1], random_state=0
        )
        forests.append((X[order].tolist(), forest.importances.tolist(), forest.probability.tolist()))
    assert forests[0] == forests[1]


# ---- importances


def test_weights_of_columns_sum_to_their_number():
    weighted = weight_columns(np.ones((1, 4)), np.array([3.0, 1.0, 0.0, 0.0]))
    assert weighted[0] == pytest.approx(np.sqrt([3.0, 1.0, 0.0, 0.0]))
    assert np.square(weighted).sum() == pytest.approx(4.0)


def test_importances_off_leave_the_columns_as_they_are():
    X = np.random.default_rng(0).normal(size=(5, 3))
    assert weight_columns(X, check_importances(None, 3)) == pytest.approx(X, rel=1e-15)


def test_given_importances_become_shares():
    assert check_importances([2, 0, 6], 3).tolist() == [0.25, 0.0, 0.75]
    assert check_importances([1e308, 1e308], 2).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("importances", "message"),
    [
        ([1.0, 2.0], r"importances have shape \(2,\), but X has 3 columns; give one number per column"),
        ([1.0, -2.0, 1.0], r"importances\[1\] is -2.0; each must be a finite number >= 0"),
        ([1.0, 2.0, np.nan], r"importances\[2\] is nan; each must be a finite number >= 0"),
        ([0.0, 0.0, 0.0], "all importances are 0, so all rows would be equal"),
    ],
)
def test_wrong_importances_are_refused(importances, message):
    with pytest.raises(ValueError, match=message):
        check_importances(importances, 3)


# ---- forest


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("tuning", ["oob", "cv"])
def test_the_forest_finds_the_column_that_tells_the_class(tuning, n_classes):
    X, y, codes = blobs(400, n_classes)
    forest = fit_forest(X, codes, tuning=tuning, n_trees=30, random_state=0)
    assert forest.importances.argmax() == 0
    assert forest.importances.sum() == pytest.approx(1.0)
    assert forest.probability.shape == (400, n_classes)
    assert forest.probability.sum(axis=1) == pytest.approx(np.ones(400))
    assert (forest.probability.argmax(axis=1) == y).mean() > 0.9
    assert forest.min_samples_leaf in forest.scores


def test_labeled_rows_are_judged_by_the_trees_that_did_not_see_them():
    X, _, codes = blobs(200)
    forest = fit_forest(X, codes, n_trees=20, leaf_sizes=[0.01], random_state=3)
    labeled = np.flatnonzero(codes >= 0)
    votes = [[] for _ in labeled]
    for tree, drawn in zip(forest.model.estimators_, forest.model.estimators_samples_, strict=True):
        for i in set(range(labeled.size)) - set(drawn.tolist()):
            votes[i].append(tree.predict_proba(X[labeled[i : i + 1]])[0])
    expected = [np.mean(v, axis=0) for v in votes]
    assert forest.probability[labeled] == pytest.approx(np.array(expected))


def test_unlabeled_and_new_rows_are_judged_by_all_trees():
    X, _, codes = blobs(200)
    forest = fit_forest(X, codes, n_trees=20, random_state=3)
    unlabeled = codes < 0
    plain = forest.model.predict_proba(X[unlabeled])
    assert forest.probability[unlabeled] == pytest.approx(plain)
    assert forest.of(X[unlabeled]).tolist() == forest.probability[unlabeled].tolist()


def test_out_of_bag_opinions_do_not_repeat_a_wrong_label():
    X, y, codes = blobs(400, unlabeled=0.0)
    wrong = np.random.default_rng(5).choice(400, 80, replace=False)
    codes[wrong] = 1 - y[wrong]
    forest = fit_forest(X, codes, random_state=0)
    assert (forest.probability[wrong].argmax(axis=1) == y[wrong]).mean() > 0.9


def test_a_row_in_every_bag_gets_the_shares_of_the_classes():
    X, _, codes = blobs(40, unlabeled=0.0)
    forest = fit_forest(X, codes, n_trees=1, leaf_sizes=[0.1], random_state=0)
    seen = np.unique(forest.model.estimators_samples_[0])
    shares = np.bincount(codes) / 40
    assert forest.probability[seen].tolist() == [shares.tolist()] * seen.size


@pytest.mark.parametrize("tuning", ["oob", "cv"])
def test_the_forest_is_the_same_for_any_number_of_threads(tuning):
    X, _, codes = blobs(150, n_classes=3)
    forests = [
        fit_forest(X, codes, tuning=tuning, n_trees=12, random_state=7, n_jobs=n_jobs) for n_jobs in (None, 2)
    ]
    one, two = ((f.importances.tobytes(), f.probability.tobytes(), f.min_samples_leaf) for f in forests)
    assert one == two
    assert forests[0].of(X).tobytes() == forests[1].of(X, n_jobs=2).tobytes()


def test_the_way_of_the_paper_scores_leaf_sizes_by_accuracy_in_five_folds():
    X, _, codes = blobs(150)
    forest = fit_forest(X, codes, tuning="cv", n_trees=10, leaf_sizes=[0.01, 0.3], random_state=0)
    Xl, y = X[codes >= 0], codes[codes >= 0]
    seed = forest.model.random_state
    fold = deal_folds(y, 5, seed)
    for leaf, score in forest.scores.items():
        hits = 0
        for f in range(5):
            train, test = fold != f, fold == f
            model = RandomForestClassifier(10, min_samples_leaf=leaf, random_state=seed)
            hits += (model.fit(Xl[train], y[train]).predict(Xl[test]) == y[test]).sum()
        assert score == hits / len(y)
    assert forest.min_samples_leaf == max(forest.scores, key=forest.scores.get)


def test_defaults_follow_the_paper_and_the_recipe():
    X, _, codes = blobs(60)
    paper = fit_forest(X, codes, tuning="cv", random_state=0, n_trees=3)
    assert list(paper.scores) == [0.001, 0.002, 0.005, 0.01]
    cheap = fit_forest(X, codes, random_state=0)
    assert list(cheap.scores) == [0.001, 0.003, 0.01, 0.03]
    assert len(cheap.model.estimators_) == 150


def test_trees_of_a_large_table_learn_from_some_rows_each(monkeypatch):
    monkeypatch.setattr("labelcut.hnc.forest.ENOUGH_ROWS", 100)
    X, y, codes = blobs(400, unlabeled=0.1)
    forest = fit_forest(X, codes, n_trees=30, random_state=0)
    drawn = forest.model.estimators_samples_
    assert {rows.size for rows in drawn} == {50}
    assert np.unique(np.concatenate(drawn)).size > 300
    assert (forest.probability.argmax(axis=1) == y).mean() > 0.9


def test_the_cheap_way_scores_leaf_sizes_by_pairs_of_trees():
    X, _, codes = blobs(90, n_classes=3, unlabeled=0.0)
    forest = fit_forest(X, codes, n_trees=9, leaf_sizes=[0.05], random_state=0)
    products = [[] for _ in codes]
    for i, x in enumerate(X):
        errors = [
            tree.predict_proba([x])[0] - np.eye(3)[codes[i]]
            for tree, drawn in zip(forest.model.estimators_, forest.model.estimators_samples_, strict=True)
            if i not in drawn
        ]
        products[i] = [s @ t for k, s in enumerate(errors) for t in errors[:k]]
    expected = np.mean([np.mean(p) for p in products if p])
    assert forest.scores[0.05] == pytest.approx(expected)


@pytest.mark.parametrize("tuning", ["oob", "cv"])
def test_two_labeled_rows_are_enough(tuning):
    X = np.array([[0.0], [1.0], [0.1], [0.9]])
    forest = fit_forest(X, np.array([0, 1, -1, -1]), tuning=tuning, n_trees=40, random_state=0)
    assert forest.importances.tolist() == [1.0]
    assert np.isfinite(forest.probability).all()


def test_columns_without_information_count_the_same():
    forest = fit_forest(np.ones((20, 4)), np.arange(20) % 2, n_trees=5, random_state=0)
    assert forest.importances.tolist() == [0.25] * 4


def test_a_class_without_labeled_rows_has_probability_0():
    X, _, codes = blobs(60)
    codes[codes == 1] = 2
    forest = fit_forest(X, codes, n_trees=5, random_state=0)
    assert forest.probability.shape == (60, 3)
    assert not forest.probability[:, 1].any()


@pytest.mark.parametrize(
    ("error", "arguments", "message"),
    [
        (ValueError, {"codes": [0, 1]}, r"codes have shape \(2,\), but X has 3 rows"),
        (ValueError, {"codes": [-1, -1, -1]}, "no row is labeled"),
        (ValueError, {"codes": [-2, 0, 1]}, "codes contain -2"),
        (TypeError, {"codes": [0.0, 1.0, 1.0]}, "codes have type float64; give integers"),
        (ValueError, {"tuning": "grid"}, "tuning is 'grid'; choose 'oob'"),
        (ValueError, {"leaf_sizes": []}, "leaf_sizes is empty"),
        (ValueError, {"leaf_sizes": [0.7]}, r"leaf_sizes contains 0.7; each is a share"),
        (TypeError, {"leaf_sizes": 0.01}, r"leaf_sizes=0.01 is a float; give a sequence of numbers"),
        (TypeError, {"leaf_sizes": ["a"]}, r"leaf_sizes\[0\]='a' is a str; give a number"),
        (ValueError, {"n_trees": 0}, "n_trees=0; choose at least 1"),
        (TypeError, {"n_trees": "many"}, "n_trees='many' is a str; give a whole number"),
    ],
)
def test_wrong_arguments_are_refused_with_a_remedy(error, arguments, message):
    with pytest.raises(error, match=message):
        fit_forest(np.ones((3, 2)), **({"codes": [0, 1, 0]} | arguments))


# ---- folds


def test_every_class_is_dealt_out_evenly():
    codes = np.array([0] * 12 + [1] * 7 + [-1] * 5 + [2])
    fold = deal_folds(codes, 5, 0)
    assert (fold[codes < 0] == -1).all()
    for c in range(3):
        counts = np.bincount(fold[codes == c], minlength=5)
        assert counts.max() - counts.min() <= 1
    sizes = np.bincount(fold[codes >= 0])
    assert sizes.max() - sizes.min() <= 1


def test_leaf_sizes_that_cannot_be_told_apart_share_the_choice():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    sizes = (0.01, 0.03, 0.1, 0.3)
    noise = choose_leaf(X, rng.integers(0, 2, 300), leaf_sizes=sizes, seed=0, n_jobs=1)
    assert 0.03 < noise < 0.3, "large leaves are best, none by far"
    clear = choose_leaf(X, (X[:, 0] * X[:, 1] > 0).astype(int), leaf_sizes=(0.01, 0.5), seed=0, n_jobs=1)
    assert clear == pytest.approx(0.01), "who is far behind does not count"
    other = choose_leaf(X, (X[:, 0] > 0).astype(int), leaf_sizes=(0.0001, 0.001), seed=0, n_jobs=1)
    assert other == pytest.approx(np.sqrt(1e-7)), "both mean leaves of one row"
