"""Which labels are called wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from labelcut.arrays import Floats, Mask

__all__ = ["RULES", "flag_by_expected_f1", "flag_labels"]


def flag_labels(p_wrong: Floats, is_contrary: Mask, rule: str) -> Mask:
    """Return the labels to flag, always among those that the prediction contradicts.

    Parameters
    ----------
    p_wrong : ndarray of shape (n_rows,)
        Probability that each label is wrong; NaN for unlabeled rows.
    is_contrary : ndarray of bool of shape (n_rows,)
        Labels that the prediction contradicts and that may be flagged at all.
    rule : {"likely", "expected_f1", "side"}
        Those more likely wrong than right, those with the largest expected F1, or all contrary ones.
    """
    is_judged = ~np.isnan(p_wrong)
    is_flagged = np.zeros(p_wrong.size, dtype=bool)
    is_flagged[is_judged] = RULES[rule](p_wrong[is_judged])
    return is_flagged & is_contrary


def flag_by_expected_f1(p_wrong: Floats) -> Mask:
    """Return the mask of rows to flag: the set with the largest expected F1.

    With rows sorted by descending probability that is a prefix, and its expected F1 is close to ``2 * sum
    of p in the prefix / (its length + sum of all p)``. Flagging nothing is right when no label is wrong at
    all, so it is preferred when that is likelier than the best F1 is high.
    """
    if not p_wrong.size:
        return np.zeros(0, dtype=bool)
    p = np.sort(p_wrong)[::-1]
    total = p.sum()
    if total == 0.0:
        return np.zeros(p_wrong.size, dtype=bool)
    f1 = 2.0 * np.cumsum(p) / (np.arange(1, p.size + 1) + total)
    best = int(np.argmax(f1))
    with np.errstate(divide="ignore"):
        p_no_error = np.exp(np.log1p(-p).sum())
    if p_no_error >= f1[best]:
        return np.zeros(p_wrong.size, dtype=bool)
    return np.asarray(p_wrong >= p[best])


#: From the probabilities of the labels to the mask of those that may be flagged.
RULES: dict[str, Callable[[Floats], Mask]] = {
    "likely": lambda p_wrong: p_wrong > 0.5,
    "expected_f1": flag_by_expected_f1,
    "side": lambda p_wrong: np.ones(p_wrong.size, dtype=bool),
}
