"""The table of labels: which of them are wrong, how likely, and what they should be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labelcut.arrays import Ints
from labelcut.hnc.answer import Answer
from labelcut.hnc.labels import with_gaps

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["issue_table"]


def issue_table(answer: Answer, given: Ints, row_names: Any) -> pd.DataFrame:
    """Return one line per row: cleanlab's columns first, then ours.

    Parameters
    ----------
    answer : Answer
        What the fit found.
    given : ndarray of int of shape (n_rows,)
        The class numbers as they were given, ignored labels among them.
    row_names : Index or None
        The names of the rows, if they have any.
    """
    import pandas as pd

    found, place = answer.found, answer.rows.place
    p_wrong = found.p_wrong[place]
    issues = {
        "is_label_issue": found.is_issue[place],
        "label_quality": 1.0 - p_wrong,
        "given_label": with_gaps(answer.rows.classes, given),
        "predicted_label": answer.rows.classes[found.predicted[place]],
        "p_wrong": p_wrong,
        "label_confidence": found.confidence[place],
        "probability": found.distribution[place].max(axis=1),
        "status": answer.status,
        "is_worth_a_look": found.is_worth_a_look[place],
    }
    return pd.DataFrame(issues, index=row_names)
