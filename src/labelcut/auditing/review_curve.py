"""How many wrong labels a review of the first N suspects should find, measured on planted errors.

In a copy of (a part of) the table the labels at issue are replaced by the predicted ones, then labels are
flipped at random, as many as are thought to be wrong. A light fit ranks that copy; where the planted errors
end up in its ranking is where wrong labels should end up in the real one. Random errors are easier than human
ones, so the curve is on the hopeful side, and the page says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.hnc.settings import DEFAULT

SAMPLE_ROWS = 2000  # Enough for a smooth curve, and a small part of the time of the real fit.
FEWEST_ROWS = 40
#: Planted share: below, the curve would rest on a handful; above, it is no longer a light noise.
RATES = (0.03, 0.3)


@dataclass(frozen=True)
class ReviewCurve:
    """The share of planted errors found (`found`) in the first share of the ranking (`reviewed`)."""

    reviewed: np.ndarray
    found: np.ndarray
    n_planted: int
    n_sample: int

    def expected(self, n_reviewed: float, n_labels: int, n_wrong: float) -> float:
        """Return how many of `n_wrong` wrong labels the first `n_reviewed` of `n_labels` should hold."""
        share = float(np.interp(n_reviewed / n_labels, self.reviewed, self.found))
        return min(share * n_wrong, float(n_reviewed))


def plant_and_find(
    X: np.ndarray, codes: np.ndarray, wrong_share: float, n_jobs: int | None
) -> ReviewCurve | None:
    """Plant errors in `codes` (certain labels only) and see where a light fit ranks them.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    codes : ndarray of int
        The labels thought to be right, -1 for none.
    wrong_share : float
        Share of labels to flip, brought into a range in which a curve can be measured.
    n_jobs : int or None

    Returns
    -------
    ReviewCurve or None
        None when there are too few labels.
    """
    labeled = np.flatnonzero(codes >= 0)
    rng = np.random.default_rng(0)
    if labeled.size > SAMPLE_ROWS:
        labeled = np.sort(rng.choice(labeled, SAMPLE_ROWS, replace=False))
    y = codes[labeled]
    frequency = np.bincount(y, minlength=int(codes.max()) + 1)
    kept = np.isin(y, np.flatnonzero(frequency >= 5))
    labeled, y = labeled[kept], y[kept]
    classes = np.unique(y)
    if y.size < FEWEST_ROWS or classes.size < 2:
        return None
    n_planted = max(5, round(float(np.clip(wrong_share, *RATES)) * y.size))
    planted = rng.choice(y.size, n_planted, replace=False)
    noisy = y.copy()
    for i in planted:
        noisy[i] = rng.choice(classes[classes != y[i]])
    ranking = _rank(X[labeled], noisy, n_jobs)
    is_planted = np.isin(ranking, planted)
    reviewed = np.arange(y.size + 1) / y.size
    found = np.concatenate([[0.0], np.cumsum(is_planted) / n_planted])
    return ReviewCurve(reviewed, found, n_planted, int(y.size))


def _rank(X: np.ndarray, y: np.ndarray, n_jobs: int | None) -> np.ndarray:
    light = replace(DEFAULT, experts=(), n_trees=60, prior_strengths=(1.0,), n_folds=3)
    model = ConfidenceHNC(light, n_jobs=n_jobs).fit(X, y)
    return np.argsort(-model.p_wrong_, kind="stable")
