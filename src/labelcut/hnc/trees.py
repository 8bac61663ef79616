"""Trees grown one by one, and how rows are judged by them.

A forest of scikit-learn copies and checks its parameters for every tree anew. On a few hundred rows that
takes as long as growing it, and a small table has some two thousand trees. These are the same trees, bit by
bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.tree import DecisionTreeClassifier

from labelcut.arrays import Floats, Ints
from labelcut.threads import thread_count

__all__ = ["Trees", "add_up_votes", "ask_trees", "grow_trees", "judge_rows", "rows_to_judge"]

#: Rows that a tree judges at a time.
JUDGED_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class Trees:
    """Some trees, and the rows that each was grown from.

    Attributes
    ----------
    trees : tuple of DecisionTreeClassifier
    classes : ndarray of int
        The classes among the labels, in order: the columns of a tree's answers.
    drawn : tuple of ndarray of int
        The rows that each tree drew; none where all were grown from every row.
    """

    trees: tuple[DecisionTreeClassifier, ...]
    classes: Ints
    drawn: tuple[Ints, ...]

    @property
    def importances(self) -> Floats:
        """Share of each column in the decrease of impurity, or 0 for all if no tree found a split."""
        found = [tree.feature_importances_ for tree in self.trees if tree.tree_.node_count > 1]
        if not found:
            return np.zeros(self.trees[0].n_features_in_)
        mean = np.mean(found, axis=0, dtype=np.float64)
        return np.asarray(mean / mean.sum())


def grow_trees(
    kind: Callable[..., DecisionTreeClassifier],
    X: NDArray[np.float32],
    codes: Ints,
    n_trees: int,
    seed: int,
    *,
    n_drawn: int | None = None,
    leaf: int = 1,
) -> Trees:
    """Grow trees from labeled rows.

    Parameters
    ----------
    kind : type
        DecisionTreeClassifier, or ExtraTreeClassifier for random borders.
    X : ndarray or sparse matrix of shape (n_rows, n_features)
    codes : ndarray of int of shape (n_rows,)
        Class 0, 1, ...
    n_trees : int
    seed : int
    n_drawn : int, optional
        Rows that a tree draws, with repetition; by default it is grown from every row.
    leaf : int, default=1
        The fewest rows of a leaf.
    """
    X, may_miss = _as_trees_read(X)
    classes, places = np.unique(codes, return_inverse=True)
    draw = np.random.RandomState(seed)
    trees: list[DecisionTreeClassifier] = []
    drawn: list[Any] = []
    with config_context(skip_parameter_validation=True):
        for _ in range(n_trees):
            own = int(draw.randint(np.iinfo(np.int32).max))
            weight = None
            if n_drawn is not None:
                drawn.append(np.random.RandomState(own).randint(0, codes.size, n_drawn, dtype=np.int32))
                weight = np.bincount(drawn[-1], minlength=codes.size).astype(np.float64)
            tree = kind(min_samples_leaf=leaf, max_features="sqrt", random_state=own)
            trees.append(tree.fit(X, places.astype(np.float64), sample_weight=weight, check_input=may_miss))
    return Trees(tuple(trees), classes, tuple(drawn))


def rows_to_judge(drawn: Iterable[Ints], labeled: Ints, unlabeled: Ints, n_rows: int) -> Iterator[Ints]:
    """Yield, for each tree, the rows it did not learn from: its out-of-bag rows and the unlabeled ones.

    Parameters
    ----------
    drawn : iterable of ndarray of int
        What each tree drew from the labeled rows.
    labeled, unlabeled : ndarray of int
    n_rows : int
    """
    for places in drawn:
        judged = np.zeros(n_rows, dtype=bool)
        judged[labeled] = True
        judged[labeled[places]] = False
        judged[unlabeled] = True
        yield np.flatnonzero(judged)


def add_up_votes(
    trees: Sequence[Any],
    classes: Ints,
    rows_of_tree: Iterable[Ints],
    X: NDArray[np.float32],
    n_classes: int,
    n_jobs: int | None,
) -> tuple[Floats, Ints]:
    """Return the summed class shares and the number of trees for each row; each tree judges its own rows."""
    total = np.zeros((X.shape[0], classes.size))
    n_votes = np.zeros(X.shape[0], dtype=np.intp)
    for rows, shares in judge_rows(trees, classes.size, rows_of_tree, X, n_jobs):
        total[rows] += shares
        n_votes[rows] += 1
    votes = np.zeros((X.shape[0], n_classes))
    votes[:, classes] = total
    return votes, n_votes


def ask_trees(
    trees: Sequence[Any], classes: Ints, X: NDArray[np.float32], n_classes: int, n_jobs: int | None
) -> Floats:
    """Return the mean over the trees for every row; a class they never saw gets nothing."""
    every = [np.arange(X.shape[0])] * len(trees)
    votes, n_votes = add_up_votes(trees, classes, every, X, n_classes, n_jobs)
    return np.asarray(votes / n_votes[:, None])


def judge_rows(
    trees: Sequence[Any],
    n_seen: int,
    rows_of_tree: Iterable[Ints],
    X: NDArray[np.float32],
    n_jobs: int | None,
) -> Iterable[tuple[Ints, Floats]]:
    """Yield, tree after tree, the rows it judges and the shares of the seen classes in their leaves."""

    def class_shares(tree: Any, rows: Ints) -> tuple[Ints, Floats]:
        shares = np.empty((len(rows), n_seen))
        for start in range(0, len(rows), JUDGED_AT_ONCE):  # or each tree would have a copy of all rows
            part = slice(start, start + JUDGED_AT_ONCE)
            shares[part] = tree.tree_.predict(X[rows[part]]).reshape(-1, n_seen)
        return rows, shares

    if thread_count(n_jobs) == 1:
        return (class_shares(tree, rows) for tree, rows in zip(trees, rows_of_tree, strict=True))
    # scikit-learn adds up trees in the order in which threads end, so its sums differ in the last bits.
    shares: Iterable[tuple[Ints, Floats]] = Parallel(
        n_jobs=thread_count(n_jobs), prefer="threads", return_as="generator"
    )(delayed(class_shares)(tree, rows) for tree, rows in zip(trees, rows_of_tree, strict=True))
    return shares


def _as_trees_read(X: Any) -> tuple[Any, bool]:
    """Return columns as trees want them unchecked, and whether they have to look for gaps themselves."""
    is_sparse: bool = sparse.issparse(X)
    if not is_sparse:
        return X, bool(np.isnan(X.sum()))
    columns = sparse.csc_matrix(X)
    columns.sort_indices()
    return columns, False
