"""The cut of Confidence HNC: the problem itself.

With similarity w, degree d, trade-off t, label terms g and prior terms u (0 in the paper) the cut is::

    minimise over row sets S:  C(S, rest) - t * sum of d[i] over unlabeled i in S
                               + sum of g[i] over positive labels outside S and negative labels inside S
                               - sum of u[i] over i in S
"""

from __future__ import annotations

import numpy as np

from labelcut.arrays import Floats, Ints, Mask
from labelcut.cut import CutPath, parametric_cut
from labelcut.cut.path import Progress
from labelcut.graph import SimilarityGraph

__all__ = ["confidence_cut"]


def confidence_cut(
    graph: SimilarityGraph,
    sign: Ints,
    label_term: Floats,
    prior_term: Floats,
    *,
    hidden: Mask | None = None,
    t_range: float = np.inf,
    n_jobs: int | None = None,
    on_progress: Progress | None = None,
) -> CutPath:
    """Return the nested cuts of Confidence HNC for every trade-off.

    Parameters
    ----------
    graph : SimilarityGraph
        Rows and their similarity.
    sign : ndarray of shape (n_rows,)
        1 for a positive, -1 for a negative label, 0 for unlabeled rows.
    label_term : ndarray of shape (n_rows,)
        The price g of contradicting each label; ``inf`` makes the row a seed.
    prior_term : ndarray of shape (n_rows,)
        The pull u of each row towards the positive side.
    hidden : ndarray of bool, optional
        Labeled rows to treat as unlabeled.
    t_range : float, default=inf
        Solve for trade-offs between ``-t_range`` and ``t_range`` only.
    n_jobs : int, optional
        Threads inside the solver.
    on_progress : callable(n_settled, n_nodes), optional
        Hears how far the solver is.
    """
    if hidden is not None:
        sign = np.where(hidden, 0, sign)
    is_seed = (sign != 0) & np.isinf(label_term)
    is_priced = (sign != 0) & ~is_seed
    return parametric_cut(
        graph.weights,
        -(np.where(is_priced, label_term, 0.0) * sign + prior_term),
        np.where(sign == 0, graph.degree, 0.0),
        source_seeds=is_seed & (sign > 0),
        sink_seeds=is_seed & (sign < 0),
        t_min=-t_range,
        t_max=t_range,
        n_jobs=n_jobs,
        on_progress=on_progress,
    )
