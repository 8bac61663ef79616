"""The wrong labels of a matrix in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labelcut.hnc.classifier import ConfidenceHNC

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["find_label_issues"]


def find_label_issues(
    X: Any,
    y: Any,
    *,
    pred_probs: Any = None,
    opinions: Any = None,
    embedding: Any = None,
    graph: Any = None,
    sample_weight: Any = None,
    **parameters: Any,
) -> pd.DataFrame:
    """Return a data frame that says of each label how likely it is wrong.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features), or None
        Numbers, NaN where one is missing; None if an embedding or probabilities stand for them.
    y : array-like of shape (n_rows,)
        Classes; -1, None or NaN for unlabeled rows.
    pred_probs : array-like of shape (n_rows, n_classes), optional
        Out-of-sample probabilities of your model, under cleanlab's name:
        ``opinions={"pred_probs": pred_probs}``.
    opinions, embedding, graph : optional
        As in :meth:`ConfidenceHNC.fit`.
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
    if pred_probs is not None:
        opinions = {"pred_probs": pred_probs} | dict(opinions or {})
    metadata = {
        "sample_weight": sample_weight,
        "opinions": opinions,
        "embedding": embedding,
        "graph": graph,
    }
    return ConfidenceHNC(**parameters).fit(X, y, **metadata).label_issues_
