"""The choice of the trade-off by folds (section 6.1 of the paper).

A fold hides its labels, which makes its rows unlabeled; one parametric solve then tells on which side every
hidden row is for every trade-off at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from labelcut.arrays import Floats, Ints, Mask
from labelcut.graph import SimilarityGraph
from labelcut.hnc.calibration import Logistic, fit_logistic
from labelcut.hnc.objective import confidence_cut
from labelcut.threads import thread_count

__all__ = ["Choice", "best_accuracy_tradeoff", "choose_tradeoff", "crossing_tradeoff", "tradeoff_by"]


#: Trade-offs are looked for in this range. Without label terms every breakpoint lies in [-1, 1].
TRADEOFF_RANGE = 2.0


@dataclass(frozen=True, eq=False)
class Choice:
    """The trade-off and the strength of the prior that the folds speak for.

    Attributes
    ----------
    tradeoff, strength : float
        What was chosen.
    accuracy : float
        Share of hidden labels that the cut at this trade-off gives back; NaN if no fold was run.
    join_at : ndarray of shape (n_rows,)
        Where each row joined while its label was hidden; NaN for rows that never were.
    """

    tradeoff: float
    strength: float
    accuracy: float
    join_at: Floats


def choose_tradeoff(
    graph: SimilarityGraph,
    sign: Ints,
    label_terms: Sequence[Floats],
    prior: Floats,
    folds: Sequence[Mask],
    *,
    strengths: Sequence[float] = (0.0,),
    rule: str | float = "crossing",
    level: float = 0.5,
    grid: Floats | None = None,
    n_jobs: int | None = None,
) -> Choice:
    """Return the trade-off and the prior strength under which hidden labels are found again.

    Parameters
    ----------
    graph, sign
        As in :func:`~labelcut.hnc.objective.confidence_cut`.
    label_terms : sequence of ndarray
        The label terms to use in each fold (the same array again if they are computed once).
    prior : ndarray of shape (n_rows,)
        The prior terms at strength 1.
    folds : sequence of ndarray of bool
        The rows hidden in each fold. Without folds the trade-off is 0 and the strength the one nearest to 1.
    strengths : sequence of float
        Multiples of the prior to try. The best accuracy wins, ties go to the smaller one.
    rule : {"crossing", "accuracy"} or float
        "crossing": where a logistic fit of the label on the hidden rows' ``join_at`` crosses ``level``.
        "accuracy": the middle of the longest stretch of best accuracy. A number is taken as it is.
    level : float, default=0.5
        The probability at the border between the classes; differs from 1/2 under one-sided noise.
    grid : ndarray, optional
        Choose among these trade-offs only.
    n_jobs : int, optional
        Solves that run at the same time. The result has the same bytes for any number.
    """
    strengths = sorted(strengths)
    if not folds:
        strength = min(strengths, key=lambda a: abs(a - 1.0))
        nothing = np.full(sign.size, np.nan)
        return Choice(0.0 if isinstance(rule, str) else float(rule), strength, np.nan, nothing)
    tasks = [(a, k) for a in strengths for k in range(len(folds))]
    n_inside = max(1, thread_count(n_jobs) // len(tasks))
    paths = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_solve_fold)(graph, sign, label_terms[k], a * prior, folds[k], n_inside) for a, k in tasks
    )
    best: Choice | None = None
    for a in strengths:
        join_at = np.full(sign.size, np.nan)
        for (strength, k), values in zip(tasks, paths, strict=True):
            if strength == a:
                join_at[folds[k]] = values
        seen = ~np.isnan(join_at)
        t = tradeoff_by(rule, join_at[seen], sign[seen], level, grid)
        accuracy = _weighted_accuracy(join_at[seen], sign[seen], t, level)
        if best is None or accuracy > best.accuracy:
            best = Choice(t, a, accuracy, join_at)
    assert best is not None
    return best


def _solve_fold(
    graph: SimilarityGraph, sign: Ints, label_term: Floats, prior_term: Floats, hidden: Mask, n_jobs: int
) -> Floats:
    path = confidence_cut(
        graph, sign, label_term, prior_term, hidden=hidden, t_range=TRADEOFF_RANGE, n_jobs=n_jobs
    )
    return np.clip(path.join_at[hidden], -TRADEOFF_RANGE, TRADEOFF_RANGE)


def tradeoff_by(rule: str | float, join_at: Floats, sign: Ints, level: float, grid: Floats | None) -> float:
    """Return the trade-off that a rule chooses from where hidden rows joined and which labels they carry."""
    if not isinstance(rule, str):
        return float(rule)
    if rule == "accuracy":
        return best_accuracy_tradeoff(join_at, sign, grid)
    t = crossing_tradeoff(fit_logistic(join_at, sign > 0), level)
    return t if grid is None else float(grid[np.argmin(np.abs(grid - t))])


def crossing_tradeoff(curve: Logistic, level: float = 0.5) -> float:
    """Return where the probability of a positive label, as a function of ``join_at``, falls to a level.

    0 if the curve does not fall: then the cuts say nothing about the labels.
    """
    if curve.slope >= 0.0:
        return 0.0
    t = (np.log(level / (1.0 - level)) - curve.intercept) / curve.slope
    return float(np.clip(t, -TRADEOFF_RANGE, TRADEOFF_RANGE))


def best_accuracy_tradeoff(join_at: Floats, sign: Ints, grid: Floats | None = None) -> float:
    """Return the middle of the longest stretch of trade-offs in [-1, 1] with the best accuracy.

    Without a grid the stretches lie between neighbouring values of ``join_at``.
    """
    if grid is None:
        ends = np.unique(np.clip(np.r_[-1.0, join_at, 1.0], -1.0, 1.0))
        points = (ends[1:] + ends[:-1]) / 2
        lengths = np.diff(ends)
    else:
        points, lengths = grid, np.ones(grid.size)
    n_positive_joined = np.searchsorted(np.sort(join_at[sign > 0]), points, side="left")
    n_negative_joined = np.searchsorted(np.sort(join_at[sign < 0]), points, side="left")
    n_right = n_positive_joined - n_negative_joined
    is_best = n_right == n_right.max()
    start = np.flatnonzero(is_best & ~np.r_[False, is_best[:-1]])
    stop = np.flatnonzero(is_best & ~np.r_[is_best[1:], False]) + 1
    reach = np.r_[0.0, np.cumsum(lengths)]
    longest = int(np.argmax(np.round(reach[stop] - reach[start], 12)))
    i, j = start[longest], stop[longest]
    if grid is None:
        return float((ends[i] + ends[j]) / 2)
    return float(grid[(i + j - 1) // 2])


def _weighted_accuracy(join_at: Floats, sign: Ints, t: float, level: float) -> float:
    """Return the accuracy at t with the classes weighted so that ``level`` is the right border."""
    weight = np.where(sign > 0, 1.0 - level, level)
    is_right = (join_at < t) == (sign > 0)
    return float(np.average(is_right, weights=weight))
