import numpy as np
import pytest
from sklearn.datasets import make_classification, make_moons
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from labelcut import HNC, ConfidenceHNC, find_label_issues
from labelcut.hnc.columns import column_borders
from labelcut.hnc.gaps import find_gaps

NAN = np.nan


def moons_with_gaps(n=200, share=0.1, seed=0):
    X, y = make_moons(n, noise=0.1, random_state=seed)
    X = np.column_stack([X, X @ [1.0, -1.0], X @ [0.5, 2.0]])
    X[np.random.default_rng(seed).random(X.shape) < share] = NAN
    return X, y


def test_the_median_of_the_others_and_a_mark_stand_for_a_missing_value():
    X = np.array([[1.0, 7.0], [NAN, 8.0], [3.0, 9.0], [9.0, 8.0]])
    gaps = find_gaps(X)
    assert gaps.spread(X).tolist() == [[1, 7, 0], [3, 8, 1], [3, 9, 0], [9, 8, 0]]
    assert np.array_equal(gaps.reopen(gaps.spread(X), X), X, equal_nan=True)
    assert gaps.with_marks(np.array([0.75, 0.25])).tolist() == [0.75, 0.25, 0.75]


def test_where_nothing_is_missing_nothing_is_done():
    X = np.array([[1.0, 7.0], [2.0, 8.0]])
    gaps = find_gaps(X)
    assert gaps.spread(X) is X
    assert gaps.reopen(X, X) is X
    new = np.array([[NAN, 7.5]])  # no mark: nobody has learned what it means
    assert gaps.spread(new).tolist() == [[1.0, 7.5]]


def test_a_column_without_any_value_is_constant():
    assert find_gaps(np.array([[NAN, 1.0], [NAN, 2.0]])).spread(np.array([[NAN, 1.0]])).tolist() == [
        [0, 1, 1]
    ]


@pytest.mark.parametrize("seed", range(20))
def test_filling_gaps_moves_neither_the_median_nor_the_borders_of_a_column(seed):
    rng = np.random.default_rng(seed)
    column = rng.normal(size=rng.integers(3, 40)).round(1)
    is_missing = rng.random(column.size) < 0.4
    is_missing[:2] = False
    column[is_missing] = NAN
    present = column[~is_missing]
    filled = find_gaps(column[:, None]).spread(column[:, None])[:, :1]
    assert find_gaps(column[:, None]).usual[0] == np.sort(present)[(present.size - 1) // 2]
    assert np.array_equal(column_borders(filled), column_borders(present[:, None]))


@pytest.mark.parametrize(
    "model", [ConfidenceHNC(), ConfidenceHNC("paper"), HNC()], ids=["default", "paper", "HNC"]
)
def test_rows_with_gaps_are_classified_and_new_ones_too(model):
    X, y = moons_with_gaps()
    given = y.copy()
    given[100:] = -1
    model.fit(X, given)
    assert (model.transduction_ == y).mean() > 0.9
    assert model.feature_importances_.shape == (4,)
    X_new, y_new = moons_with_gaps(seed=1)
    assert (model.predict(X_new) == y_new).mean() > 0.8
    assert np.isfinite(model.predict_proba(np.full((1, 4), NAN))).all()


def test_wrong_labels_are_found_in_spite_of_gaps():
    X, y = moons_with_gaps(300)
    wrong = np.arange(0, 300, 20)
    y[wrong] = 1 - y[wrong]
    issues = find_label_issues(X, y)["is_label_issue"].to_numpy()
    assert issues[wrong].sum() >= 10
    assert issues.sum() - issues[wrong].sum() <= 3


def test_a_gap_that_means_something_is_used():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 3))
    X[(y == 1) & (rng.random(300) < 0.95), 1] = NAN
    proba = ConfidenceHNC(experts=["cut"]).fit(X, y).predict_proba([[0.0, NAN, 0.0], [0.0, 0.1, 0.0]])
    assert proba[0, 1] > 0.9
    assert proba[1, 0] > 0.8


def test_the_order_of_rows_with_gaps_does_not_matter():
    X, y = moons_with_gaps(120)
    X[7] = X[3]  # equal rows, gaps and all
    X[3, 0] = X[7, 0] = NAN
    y[7] = y[3]
    order = np.random.default_rng(5).permutation(120)
    straight, shuffled = ConfidenceHNC().fit(X, y), ConfidenceHNC().fit(X[order], y[order])
    assert np.array_equal(straight.p_wrong_[order], shuffled.p_wrong_)
    assert straight.p_wrong_[3] == straight.p_wrong_[7]


def test_new_rows_may_have_gaps_where_the_table_has_none():
    X, y = make_moons(200, noise=0.1, random_state=0)
    model = ConfidenceHNC().fit(X, y)
    assert model.predict([[NAN, 1.2]]).tolist() == [0]


def test_a_users_classifier_sees_the_gaps():
    X, y = moons_with_gaps()
    model = ConfidenceHNC(experts=[("mine", HistGradientBoostingClassifier(max_iter=5)), "cut"]).fit(X, y)
    assert set(model.expert_weights_) == {"mine", "cut"}
    with pytest.raises(ValueError, match="LogisticRegression does not accept missing values"):
        ConfidenceHNC(experts=[LogisticRegression()]).fit(X, y)


def test_boosting_sees_gaps():
    X, y = make_classification(1100, 5, random_state=0)
    X[::7, 2] = NAN
    assert "boosting" in ConfidenceHNC().fit(X, y).expert_log_loss_
