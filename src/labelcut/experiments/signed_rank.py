"""Wilcoxon's signed-rank test, exact with ties, the same with every version of SciPy.

SciPy chooses between exact, permuted and approximate p-values by rules that change with its version, and the
pages of results are held to the byte.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["signed_rank_p"]


def signed_rank_p(differences: npt.NDArray[np.float64], *, is_two_sided: bool) -> float:
    """Return how likely such ranks of the positive differences are if every sign is a toss of a coin.

    Zeros are left out and equal sizes share their mean rank. Every pattern of signs is counted, by adding one
    difference after the other to the distribution of the sum of ranks; O(n**3) for n differences.

    Parameters
    ----------
    differences : ndarray of shape (n,)
    is_two_sided : bool
        Else the question is whether differences are above 0.
    """
    from scipy import stats

    kept = np.round(differences, 12)  # or rounding would break ties
    kept = kept[kept != 0]
    ranks = np.rint(2 * stats.rankdata(np.abs(kept))).astype(np.int64)  # twice, so that a half is whole
    chances = np.zeros(ranks.sum() + 1)
    chances[0] = 1.0
    for rank in ranks:
        moved = np.zeros_like(chances)
        moved[rank:] = chances[: chances.size - rank]
        chances = (chances + moved) / 2
    found = int(ranks[kept > 0].sum())
    above, below = float(chances[found:].sum()), float(chances[: found + 1].sum())
    return min(1.0, 2 * min(above, below)) if is_two_sided else above
