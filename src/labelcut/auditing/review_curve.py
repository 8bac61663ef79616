"""How many wrong labels a review of the first N suspects should find, and a check of it on planted errors.

What a review should find is the sum of the probabilities that the page states beside the labels, so that the
headline, the curve and the suspects cannot contradict each other.

The check asks whether such a ranking is worth anything here: in a copy of (a part of) the table the labels at
issue are replaced by the predicted ones, then labels are flipped at random, as many as are thought to be
wrong. A light fit ranks that copy, and how many planted errors come first is told beside the curve. Random
errors are easier than human ones, and the page says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.hnc.settings import DEFAULT

SAMPLE_ROWS = 2000  # Enough for a steady share, and a small part of the time of the real fit.
FEWEST_ROWS = 40
#: Planted share: below, the check would rest on a handful; above, it is no longer a light noise.
RATES = (0.03, 0.3)


def expected_finds(p_wrong: np.ndarray, ranked: np.ndarray, is_open: np.ndarray) -> np.ndarray:
    """Return how many wrong labels are expected among the first 0, 1, 2, ... labels of a review.

    Parameters
    ----------
    p_wrong : ndarray of shape (n_rows,)
        Probability that each label is wrong.
    ranked : ndarray of int
        The suspects, in the order of the review; they come first.
    is_open : ndarray of bool of shape (n_rows,)
        The labels that a review could look at; those that are no suspects follow by their probability.
    """
    rest = is_open.copy()
    rest[ranked] = False
    others = np.sort(p_wrong[rest])[::-1]
    return np.concatenate([[0.0], np.cumsum(np.concatenate([p_wrong[ranked], others]))])


@dataclass(frozen=True)
class PlantedCheck:
    """In a sample of `n_sample` rows, `n_found` of `n_planted` errors were among as many first suspects."""

    n_planted: int
    n_found: int
    n_sample: int


def plant_and_find(
    X: np.ndarray, codes: np.ndarray, wrong_share: float, n_jobs: int | None
) -> PlantedCheck | None:
    """Plant errors in `codes` (certain labels only) and see where a light fit ranks them.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    codes : ndarray of int
        The labels thought to be right, -1 for none.
    wrong_share : float
        Share of labels to flip, brought into a range in which something can be measured.
    n_jobs : int or None

    Returns
    -------
    PlantedCheck or None
        None when there are too few labels, or one class only.
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
    first = _rank(X[labeled], noisy, n_jobs)[:n_planted]
    return PlantedCheck(n_planted, int(np.isin(first, planted).sum()), int(y.size))


def _rank(X: np.ndarray, y: np.ndarray, n_jobs: int | None) -> np.ndarray:
    light = replace(DEFAULT, experts=(), n_trees=60, prior_strengths=(1.0,), n_folds=3)
    model = ConfidenceHNC(light, n_jobs=n_jobs).fit(X, y)
    return np.argsort(-model.p_wrong_, kind="stable")
