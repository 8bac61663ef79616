"""How far each given label is to be trusted, read off two families of nested cuts (section 5 of the paper).

To judge the positive labels they are forgotten: only the negative labels are held, as seeds of the sink side,
and all other rows leave that side one by one as the trade-off grows. A row that leaves early is unlike the
negative rows, so its positive label deserves trust. The negative labels are judged by the mirror image.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from labelcut.arrays import Floats, Mask
from labelcut.cut import parametric_cut
from labelcut.graph import SimilarityGraph
from labelcut.hnc.tasks import share_threads

__all__ = ["PAPER_GRID", "label_confidence"]


#: The trade-offs of the paper (section 6.1): -1, -0.998, ..., 1.
PAPER_GRID: Floats = np.linspace(-1.0, 1.0, 1001)


def label_confidence(
    graph: SimilarityGraph,
    sign: NDArray[np.int64],
    *,
    symmetric: bool = True,
    counts: Literal["free", "with_seeds"] = "free",
    grid: Floats | None = None,
    n_jobs: int | None = None,
) -> Floats:
    """Return the confidence in the label of every labeled row; NaN for the others.

    The confidence of a positive row i is the share, among positive and unlabeled rows, of those that are
    still on the side of the negative seeds when i is about to leave it::

        gamma[i] = |{j in L+ and U : join_at[j] >= join_at[i]}| / |L+ and U|

    Parameters
    ----------
    graph : SimilarityGraph
        Rows and their similarity.
    sign : ndarray of shape (n_rows,)
        1 for a positive, -1 for a negative label, 0 for unlabeled rows.
    symmetric : bool, default=True
        Judge negative rows by the exact mirror image. False counts as printed: the rows that leave together
        with i are left out for negative labels, which puts clean negatives far below clean positives.
    counts : {"free", "with_seeds"}, default="free"
        Whether the seeds are counted too, as the printed formula does; the ratio may then exceed 1.
    grid : ndarray, optional
        Look at the nested cuts at these trade-offs only; by default at every breakpoint.
    n_jobs : int, optional
        Threads. The two stages run at the same time, of very large tables one after the other.
    """
    stages = ((1, "at_least"), (-1, "at_least" if symmetric else "more"))
    n_at_once, n_inside = share_threads(sign.size, len(stages), n_jobs)
    results = Parallel(n_jobs=n_at_once, prefer="threads")(
        delayed(_one_stage)(graph, sign == label, sign == -label, rule, counts, grid, n_inside)
        for label, rule in stages
    )
    confidence = np.full(sign.size, np.nan)
    for (label, _), values in zip(stages, results, strict=True):
        confidence[sign == label] = values
    return confidence


def _one_stage(
    graph: SimilarityGraph,
    is_judged: Mask,
    is_seed: Mask,
    rule: str,
    counts: str,
    grid: Floats | None,
    n_jobs: int,
) -> Floats:
    """Return the confidence of the judged rows, with the opposite labels as seeds of the sink side."""
    path = parametric_cut(
        graph.weights, np.zeros(is_seed.size), graph.degree, sink_seeds=is_seed, n_jobs=n_jobs
    )
    join_at = path.join_at[~is_seed]
    own = path.join_at[is_judged]
    if grid is not None:
        own = _on_grid(own, grid, round_up=rule == "more")
    in_order = np.sort(join_at)
    n_left = np.searchsorted(in_order, own, side="left" if rule == "at_least" else "right")
    n_staying = join_at.size - n_left
    if counts == "with_seeds":
        n_staying = n_staying + int(is_seed.sum())
    return np.asarray(n_staying / max(join_at.size, 1))


def _on_grid(t: Floats, grid: Floats, round_up: bool) -> Floats:
    """Return the last grid value up to each t, or the first one from it on."""
    if round_up:
        return grid[np.minimum(np.searchsorted(grid, t, side="left"), grid.size - 1)]
    return grid[np.maximum(np.searchsorted(grid, t, side="right") - 1, 0)]
