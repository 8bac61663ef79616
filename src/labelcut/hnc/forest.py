"""What a random forest knows about the columns and the rows.

The forest is asked twice: its importances say how much each column counts in the distance between two rows,
and its probabilities are an opinion on every row that did not come from the row's own label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import check_random_state

from labelcut.arrays import Floats, Ints
from labelcut.hnc.columns import as_float32, as_matrix
from labelcut.hnc.folds import deal_folds
from labelcut.hnc.trees import add_up_votes, ask_trees, judge_rows, rows_to_judge
from labelcut.parameters import numbers, whole

__all__ = ["Forest", "check_leaf_sizes", "choose_leaf", "fit_forest"]


#: Section 5 of the paper: leaf sizes as shares of the labeled rows, chosen by cross-validation in five folds.
PAPER_LEAF_SIZES = (0.001, 0.002, 0.005, 0.01)
PAPER_TREES = 100
PAPER_FOLDS = 5

#: Leaf sizes tried by the cheap way; the wider range helps when a third of the labels is wrong.
OOB_LEAF_SIZES = (0.001, 0.003, 0.01, 0.03)
OOB_TREES = 150

#: The cheap way draws half of the labeled rows for each tree, as if there were never more than so many.
SHARE_PER_TREE = 0.5
ENOUGH_ROWS = 40_000

#: Trees that decide between leaf sizes, the more the fewer rows there are; the rest only for the chosen one.
TRIAL_TREES = (15, 40)
#: Where other trees are grown anyway, fewer decide on large tables.
FEWEST_TRIAL_TREES = 6
TRIAL_JUDGEMENTS = 150_000

#: New rows from which starting threads takes less time than they save.
WORTH_THREADS = 1000


@dataclass(frozen=True, eq=False)
class Forest:
    """A fitted random forest, and its opinion on every row it was given.

    Attributes
    ----------
    importances : ndarray of shape (n_features,)
        Share of each column in the decrease of impurity; sums to 1. Equal when no tree found a split.
    probability : ndarray of shape (n_rows, n_classes)
        For a labeled row the mean over the trees that did not see it (out-of-bag), or the shares of the
        classes if every tree saw it; for an unlabeled row the mean over all trees.
    min_samples_leaf : float
        The chosen leaf size, as a share of the rows a tree is grown from.
    scores : dict of float to float
        Score of each leaf size tried: Brier score out-of-bag (lower is better) or accuracy in the folds.
    model : RandomForestClassifier
        The fitted forest.
    """

    importances: Floats
    probability: Floats
    min_samples_leaf: float
    scores: dict[float, float] = field(repr=False)
    model: RandomForestClassifier = field(repr=False)

    def of(self, X: ArrayLike, n_jobs: int | None = None) -> Floats:
        """Return the probability of each class for new rows, the same bytes for any ``n_jobs``."""
        X32 = as_float32(X if sparse.issparse(X) else as_matrix(X, may_miss=True))
        if X32.shape[0] < WORTH_THREADS:
            n_jobs = 1
        n_classes = self.probability.shape[1]
        return ask_trees(self.model.estimators_, self.model.classes_, X32, n_classes, n_jobs)


def fit_forest(
    X: ArrayLike,
    codes: ArrayLike,
    *,
    tuning: str = "oob",
    leaf_sizes: Sequence[float] | None = None,
    n_trees: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> Forest:
    """Fit a random forest to the labeled rows and let it judge all rows.

    The result is the same for any ``n_jobs``. It depends on the order of the rows, because bootstraps draw by
    position: see `canonical_order`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
        NaN where a value is missing.
    codes : array-like of int of shape (n_rows,)
        Class 0, 1, ..., or -1 for an unlabeled row.
    tuning : {"oob", "cv"}, default="oob"
        How ``min_samples_leaf`` is chosen. "cv" as in the paper: accuracy on the given labels in five folds.
        "oob" is far cheaper: Brier score of the out-of-bag probabilities of a few trees per leaf size. Each
        tree is then grown from half of the labeled rows, at most 20 000 of them.
    leaf_sizes : sequence of float, optional
        Shares of the labeled rows to choose from.
    n_trees : int, optional
        Trees of the final forest; 100 for "cv", 150 for "oob".
    random_state : int, RandomState or None
    n_jobs : int or None
        Threads, as in joblib.

    Returns
    -------
    Forest
    """
    X = X if sparse.issparse(X) else as_matrix(X, may_miss=True)
    codes = np.asarray(codes)
    labeled = _check_codes(codes, X.shape[0])
    if tuning not in ("oob", "cv"):
        raise ValueError(f"tuning is {tuning!r}; choose 'oob' (cheap) or 'cv' (as in the paper).")
    if leaf_sizes is None:
        leaf_sizes = PAPER_LEAF_SIZES if tuning == "cv" else OOB_LEAF_SIZES
    leaf_sizes = check_leaf_sizes(leaf_sizes)
    if n_trees is None:
        n_trees = PAPER_TREES if tuning == "cv" else OOB_TREES
    n_trees = whole("n_trees", n_trees, 1)

    rng = check_random_state(random_state)
    seed = int(rng.randint(np.iinfo(np.int32).max))
    X32 = as_float32(X)
    y = codes[labeled]
    tune = _tune_by_folds if tuning == "cv" else _tune_out_of_bag
    leaf, scores, model = tune(X32[labeled], y, leaf_sizes, n_trees, seed, n_jobs)

    n_classes = int(y.max()) + 1
    judged = rows_to_judge(model.estimators_samples_, labeled, np.flatnonzero(codes < 0), X.shape[0])
    votes, n_votes = add_up_votes(model.estimators_, model.classes_, judged, X32, n_classes, n_jobs)
    shares = np.bincount(y, minlength=n_classes) / len(y)
    probability = np.where(n_votes[:, None] > 0, votes / np.maximum(n_votes, 1)[:, None], shares)

    importances = model.feature_importances_
    if not importances.any():  # no tree found a split
        importances = np.ones(X.shape[1])
    return Forest(importances / importances.sum(), probability, leaf, scores, model)


def choose_leaf(
    X: Floats, codes: Ints, *, leaf_sizes: Sequence[float] | None, seed: int, n_jobs: int | None
) -> float:
    """Return the leaf size, as a share of the rows of a tree, whose few trees judge unseen rows best.

    Leaf sizes that the labels cannot tell apart share the choice: it is a geometric mean, each weighed by how
    many standard errors it is behind the best. So no leaf size is chosen or dropped because of a few trees.

    Parameters
    ----------
    X, codes, leaf_sizes, n_jobs
        As in :func:`fit_forest`.
    seed : int
    """
    sizes = check_leaf_sizes(OOB_LEAF_SIZES if leaf_sizes is None else leaf_sizes)
    labeled = np.flatnonzero(codes >= 0)
    n_trial = _trial_trees(labeled.size, FEWEST_TRIAL_TREES)
    some = labeled[_rows_to_try(labeled.size, seed)]
    _, by_row = _try_leaf_sizes(as_float32(X[some]), codes[some], sizes, n_trial, seed, n_jobs)
    best = min(by_row.values(), key=_mean_score)
    behind = [_errors_behind(scores, best) for scores in by_row.values()]
    return float(np.exp(np.average(np.log(sizes), weights=np.exp(-0.5 * np.square(behind)))))


def check_leaf_sizes(leaf_sizes: Any) -> tuple[float, ...]:
    """Return the leaf sizes to choose from; each is a share of the labeled rows, at most one half."""
    shares = numbers("leaf_sizes", leaf_sizes)
    if not shares:
        raise ValueError("leaf_sizes is empty; give at least one share of the labeled rows, such as 0.01.")
    for leaf in shares:
        if not 0.0 < leaf <= 0.5:
            raise ValueError(
                f"leaf_sizes contains {leaf}; each is a share of the labeled rows above 0, at most 0.5."
            )
    return shares


def _tune_by_folds(
    X: NDArray[np.float32], y: Ints, leaf_sizes: Sequence[float], n_trees: int, seed: int, n_jobs: int | None
) -> tuple[float, dict[float, float], RandomForestClassifier]:
    """Choose the leaf size with the best accuracy in five folds (ties: the first); fit it to all rows."""
    fold = deal_folds(y, min(PAPER_FOLDS, len(y)), seed)
    scores = {}
    for leaf in leaf_sizes:
        hits = 0
        for f in range(int(fold.max()) + 1):
            train, test = fold != f, fold == f
            if not train.any():
                continue
            model = _forest(n_trees, leaf, int(train.sum()), seed, n_jobs).fit(X[train], y[train])
            said = ask_trees(model.estimators_, model.classes_, X[test], int(y.max()) + 1, n_jobs)
            hits += int((said.argmax(axis=1) == y[test]).sum())
        scores[leaf] = hits / len(y)
    best = max(scores, key=lambda leaf: scores[leaf])
    return best, scores, _forest(n_trees, best, len(y), seed, n_jobs).fit(X, y)


def _tune_out_of_bag(
    X: NDArray[np.float32], y: Ints, leaf_sizes: Sequence[float], n_trees: int, seed: int, n_jobs: int | None
) -> tuple[float, dict[float, float], RandomForestClassifier]:
    """Grow a few trees per leaf size, and the other trees for the lowest out-of-bag Brier score only."""
    n_trial = min(n_trees, _trial_trees(len(y), TRIAL_TREES[0]))
    some = _rows_to_try(len(y), seed)
    trials, by_row = _try_leaf_sizes(X[some], y[some], leaf_sizes, n_trial, seed, n_jobs)
    scores = {leaf: _mean_score(values) for leaf, values in by_row.items()}
    best = min(scores, key=lambda leaf: scores[leaf])
    model = trials[best]
    if some.size < len(y):
        model = model.set_params(n_estimators=n_trees).fit(X, y)
    elif model.n_estimators < n_trees:
        model.set_params(n_estimators=n_trees, warm_start=True).fit(X, y)
    return best, scores, model.set_params(warm_start=False)


def _trial_trees(n_labeled: int, fewest: int) -> int:
    """Return how many trees decide between leaf sizes."""
    return int(np.clip(TRIAL_JUDGEMENTS // min(n_labeled, ENOUGH_ROWS), fewest, TRIAL_TREES[1]))


def _rows_to_try(n_labeled: int, seed: int) -> Ints:
    """Return the labels by which leaf sizes are compared: all of them, or as many as are enough."""
    if n_labeled <= ENOUGH_ROWS:
        return np.arange(n_labeled)
    return np.sort(check_random_state(seed).choice(n_labeled, ENOUGH_ROWS, replace=False))


def _try_leaf_sizes(
    X: NDArray[np.float32], y: Ints, leaf_sizes: Sequence[float], n_trial: int, seed: int, n_jobs: int | None
) -> tuple[dict[float, RandomForestClassifier], dict[float, Floats]]:
    """Return a few trees of each leaf size, and their scores by row."""
    n_drawn = max(1, round(SHARE_PER_TREE * len(y)))
    trials, by_row = {}, {}
    for leaf in leaf_sizes:
        model = _forest(n_trial, leaf, n_drawn, seed, n_jobs).set_params(max_samples=n_drawn)
        trials[leaf] = model.fit(X, y)
        by_row[leaf] = _endless_brier_scores(model, X, y, n_jobs)
    return trials, by_row


def _endless_brier_scores(
    model: RandomForestClassifier, X: NDArray[np.float32], y: Ints, n_jobs: int | None
) -> Floats:
    """Return estimates of the out-of-bag Brier scores that endlessly many such trees would have, row by row.

    The score of a few trees favors large leaves, because it also counts how much the trees differ from each
    other. The mean of ``e_s @ e_t`` over pairs of different trees does not, e being the error of a tree. Rows
    that fewer than two trees judge have none (NaN).
    """
    every = np.arange(len(y))
    errors = np.zeros((len(y), int(y.max()) + 1))
    squares = np.zeros(len(y))
    n_trees = np.zeros(len(y))
    judged = rows_to_judge(model.estimators_samples_, every, every[:0], len(y))
    for rows, shares in judge_rows(model.estimators_, model.n_classes_, judged, X, n_jobs):
        error = np.zeros((len(rows), errors.shape[1]))
        error[:, model.classes_] = shares
        error[np.arange(len(rows)), y[rows]] -= 1.0
        errors[rows] += error
        squares[rows] += np.square(error).sum(axis=1)
        n_trees[rows] += 1
    paired = n_trees > 1
    pairs = n_trees[paired] * (n_trees[paired] - 1.0)
    scores = np.full(len(y), np.nan)
    scores[paired] = (np.square(errors[paired]).sum(axis=1) - squares[paired]) / pairs
    return scores


def _mean_score(scores: Floats) -> float:
    """Return the mean over the rows that have a score; 0 if none has."""
    known = scores[~np.isnan(scores)]
    return float(known.mean()) if known.size else 0.0


def _errors_behind(scores: Floats, best: Floats) -> float:
    """Return by how many standard errors of their difference scores are worse than the best ones."""
    gap = scores - best
    gap = gap[~np.isnan(gap)]
    if gap.size < 2 or not gap.any():
        return 0.0
    return float(gap.mean() / (gap.std() / np.sqrt(gap.size)))


def _forest(n_trees: int, leaf: float, n_rows: int, seed: int, n_jobs: int | None) -> RandomForestClassifier:
    """Return an unfitted forest whose leaves hold at least the given share of the rows."""
    min_samples_leaf = max(1, int(np.ceil(leaf * n_rows)))
    return RandomForestClassifier(
        n_trees, min_samples_leaf=min_samples_leaf, random_state=seed, n_jobs=n_jobs
    )


def _check_codes(codes: NDArray[Any], n_rows: int) -> Ints:
    """Return the labeled rows, after checking the codes."""
    if codes.shape != (n_rows,):
        raise ValueError(f"codes have shape {codes.shape}, but X has {n_rows} rows; give one code per row.")
    if not np.issubdtype(codes.dtype, np.integer):
        raise TypeError(
            f"codes have type {codes.dtype}; give integers 0, 1, ... for classes and -1 for unlabeled."
        )
    if codes.min() < -1:
        raise ValueError(f"codes contain {codes.min()}; classes are 0, 1, ... and -1 stands for unlabeled.")
    labeled = np.flatnonzero(codes >= 0)
    if not labeled.size:
        raise ValueError("no row is labeled (all codes are -1); the forest needs labeled rows of each class.")
    return labeled
