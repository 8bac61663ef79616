"""What the words of a text say about its class: an opinion for the panel, from labels of other rows only.

Twelve columns that describe letters let neighbours be found; which class a text has stands in its words. A
logistic regression on their tf-idf is fitted once per fold and asked about the texts that it has not seen.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from labelcut.auditing.marked_words import cut_texts, word_vectorizer
from labelcut.hnc.folds import deal_folds
from labelcut.table.table import Table

NAME = "words"
N_FOLDS = 5
MOST_TEXTS = 5000  # Learned from in a fold, drawn with a fixed seed.
STRENGTH = 10.0  # Inverse penalty; of 3, 10 and 30 the best ranking of planted errors, seeds 100 to 102.
FLOOR = 1e-4  # Share that is kept for classes a fold knows nothing of.


def ask_words(table: Table, trust: np.ndarray) -> dict[str, pd.DataFrame]:
    """Return the probability of each class for every row, by the words of its text.

    Parameters
    ----------
    table : Table
    trust : ndarray of shape (n_rows,)
        Infinite where the label is certain: such a label is never judged, so every fold may learn from it.

    Returns
    -------
    dict of str to DataFrame
        One opinion with a column per class that has a label; empty without a column of texts, or if the texts
        have no words in common.
    """
    if table.text is None:
        return {}
    from sklearn.linear_model import LogisticRegression

    try:
        X = word_vectorizer().fit_transform(cut_texts(table.frame[table.text]))
    except ValueError:  # No word is left.
        return {}
    judged = np.where(np.isinf(trust), -1, table.codes)
    fold = deal_folds(judged, N_FOLDS, 0)
    classes = np.unique(table.codes[table.is_labeled])
    probability = np.zeros((len(table.codes), classes.size))
    rng = np.random.default_rng(0)
    for k in range(N_FOLDS):
        seen = np.flatnonzero(table.is_labeled & (fold != k))
        asked = np.flatnonzero((fold == k) | (fold < 0))
        if seen.size > MOST_TEXTS:
            seen = np.sort(rng.choice(seen, MOST_TEXTS, replace=False))
        if np.unique(table.codes[seen]).size < 2:
            return {}
        model = LogisticRegression(C=STRENGTH, max_iter=200).fit(X[seen], table.codes[seen])
        share = np.where(fold[asked] < 0, 1 / N_FOLDS, 1.0)[:, None]
        places = np.searchsorted(classes, model.classes_)
        probability[np.ix_(asked, places)] += share * model.predict_proba(X[asked])
    probability = (1 - FLOOR) * probability + FLOOR / classes.size
    names = [table.classes[code] for code in classes.tolist()]
    return {NAME: pd.DataFrame(probability / probability.sum(axis=1, keepdims=True), columns=names)}
