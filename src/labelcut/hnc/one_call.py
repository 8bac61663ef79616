"""The wrong labels of a matrix in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labelcut.hnc.classifier import ConfidenceHNC

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["find_label_issues"]


def find_label_issues(X: Any, y: Any, *, sample_weight: Any = None, **parameters: Any) -> pd.DataFrame:
    """Return a data frame that says of each label how likely it is wrong.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Numbers without missing values.
    y : array-like of shape (n_rows,)
        Classes; -1, None or NaN for unlabeled rows.
    sample_weight : array-like of shape (n_rows,), optional
        Trust in each label, from 0 to ``inf``.
    **parameters
        Passed to :class:`ConfidenceHNC`.

    Returns
    -------
    DataFrame
        ``ConfidenceHNC(**parameters).fit(X, y).label_issues_``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelcut import find_label_issues
    >>> X, y = load_iris(return_X_y=True)
    >>> y[7] = 2                                        # was 0
    >>> issues = find_label_issues(X, y)
    >>> print(*issues.loc[7, ["is_label_issue", "given_label", "predicted_label"]])
    True 2 0
    """
    metadata = {} if sample_weight is None else {"sample_weight": sample_weight}
    return ConfidenceHNC(**parameters).fit(X, y, **metadata).label_issues_
