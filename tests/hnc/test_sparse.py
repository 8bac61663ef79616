"""Sparse columns, such as tf-idf: trees take them, neighbours see their main directions."""

import ast
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from labelcut import HNC, ConfidenceHNC
from labelcut.hnc.main_directions import find_directions, plain_rows, row_numbers

ROOMS = ("email", "asyncio", "logging", "xml")


@pytest.fixture(scope="module")
def docstrings():
    """Tf-idf of sentences from the standard library's docstrings, and the package that each comes from."""
    library, texts, rooms = Path(ast.__file__).parent, [], []
    for room in ROOMS:
        found = set()
        for path in sorted((library / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
                    text = ast.get_docstring(node) or ""
                    if len(text.split()) >= 8:
                        found.add(text)
        chosen = sorted(found)[:90]
        texts += chosen
        rooms += [room] * len(chosen)
    X = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english").fit_transform(texts)
    return sparse.csr_array(X), np.array(rooms)


def test_texts_are_judged_by_their_words(docstrings):
    X, y = docstrings
    rng = np.random.default_rng(0)
    wrong = rng.choice(y.size, y.size // 12, replace=False)
    given = y.copy()
    for i in wrong:
        given[i] = rng.choice([room for room in ROOMS if room != y[i]])
    clf = ConfidenceHNC().fit(X, given)
    assert "boosting" not in clf.expert_weights_
    assert clf.feature_importances_.shape == (X.shape[1],)
    first = np.argsort(-clf.p_wrong_)[: wrong.size]
    assert np.isin(first, wrong).mean() > 0.5
    assert (clf.transduction_ == y).mean() > 0.85
    proba = clf.predict_proba(X[:40])
    assert (clf.classes_[proba.argmax(axis=1)] == y[:40]).mean() > 0.85
    assert np.array_equal(clf.predict_proba(X[:40].toarray()), proba), "new rows may be dense"


@pytest.mark.parametrize("model", [ConfidenceHNC("paper"), HNC()], ids=["paper", "HNC"])
def test_the_other_presets_take_sparse_columns_too(docstrings, model):
    X, y = docstrings
    hidden = np.where(np.arange(y.size) % 3, y, None)
    model.fit(X, hidden)
    assert (model.transduction_ == y)[::3].mean() > 0.6
    assert model.predict(X[:3]).shape == (3,)


def test_format_and_order_of_the_rows_do_not_matter(docstrings):
    X, y = docstrings
    some = np.random.default_rng(1).permutation(y.size)[:150]
    X, y = X[some], y[some]
    X = sparse.csr_array(sparse.vstack([X, X[:3]]))  # equal rows
    y = np.append(y, y[:3])
    order = np.random.default_rng(2).permutation(y.size)
    model = ConfidenceHNC(experts=["forest", "cut"])
    straight = model.fit(X, y).p_wrong_
    assert np.array_equal(straight[:3], straight[-3:])
    for other in (X[order].tocsc(), X[order].tocoo(), sparse.csr_matrix(X[order])):
        assert np.array_equal(model.fit(other, y[order]).p_wrong_, straight[order])


def test_up_to_a_hundred_columns_a_sparse_matrix_is_simply_made_dense():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 4)) * (rng.random((80, 4)) < 0.5) + y[:, None]
    dense, loose = ConfidenceHNC().fit(X, y), ConfidenceHNC().fit(sparse.csr_array(X), y)
    assert np.array_equal(dense.p_wrong_, loose.p_wrong_)
    assert np.array_equal(dense.predict_proba(X), dense.predict_proba(sparse.coo_array(X)))


def test_neighbours_see_the_cosine():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(np.where(rng.random((60, 200)) < 0.1, rng.random((60, 200)), 0.0))
    directions = find_directions(X)
    Z = directions.of(X)
    assert np.allclose(np.linalg.norm(Z, axis=1), directions.unit)
    assert np.isclose(Z.var(axis=0).mean(), 1.0)
    assert np.allclose(directions.of(3.0 * X), Z), "a longer text about the same"
    U = directions.svd.transform(X)
    cosine = (U @ U.T) / np.outer(np.linalg.norm(U, axis=1), np.linalg.norm(U, axis=1))
    distance = np.square(Z[:, None] - Z[None]).sum(axis=2)
    assert np.allclose(distance, 2 * directions.unit**2 * (1 - cosine))
    assert directions.of(sparse.csr_array((1, 200))).tolist() == [[0.0] * Z.shape[1]]


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_numbered_by_content(seed):
    rng = np.random.default_rng(seed)
    dense = rng.integers(0, 2, size=(12, 3)).astype(float)
    numbers = row_numbers(plain_rows(sparse.coo_array(dense)))[:, 0]
    equal = (dense[:, None] == dense[None]).all(axis=2)
    assert np.array_equal(numbers[:, None] == numbers[None], equal)
    order = rng.permutation(12)
    assert np.array_equal(row_numbers(plain_rows(sparse.csc_array(dense[order])))[:, 0], numbers[order])


def test_an_embedding_and_an_own_classifier_beside_sparse_columns(docstrings):
    X, y = docstrings
    E = find_directions(X).of(X)[:, :5]
    model = ConfidenceHNC(experts=["forest", "cut", ("mine", LogisticRegression())])
    model.fit(X, y, embedding=E)
    assert set(model.expert_weights_) == {"forest", "cut", "mine"}
    assert model.predict(X[:4], embedding=E[:4]).shape == (4,)
    assert model.feature_importances_.shape == (X.shape[1],)


def test_sparse_columns_have_no_gaps():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(np.where(rng.random((30, 150)) < 0.2, rng.random((30, 150)), 0.0))
    X.data[3] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        ConfidenceHNC().fit(X, np.arange(30) % 2)


def test_dask_arrays_are_told_where_to_go():
    class Array:
        __dask_graph__ = None

    with pytest.raises(TypeError, match=r"X is a Dask Array.*pass X.compute\(\).*labelcut.audit\(.*cluster="):
        ConfidenceHNC().fit(Array(), [0, 1])
