"""The rows without a label: what class each of them has, how sure that is, and which may be filled in."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelcut.auditing.issues import Judged
from labelcut.auditing.words import counted, grouped, percent
from labelcut.table.table import Table

SURE = 0.95  # From here on a class may be written into the table unless the user says otherwise.


def rank_unlabeled(table: Table, judged: Judged) -> np.ndarray:
    """Return the positions of the rows without a label, least sure first; equal ones by content."""
    rows = np.flatnonzero(~table.is_labeled)
    return rows[np.lexsort((table.keys[rows], judged.rows["probability"].to_numpy()[rows]))]


def sum_up_unlabeled(table: Table, judged: Judged, is_known: bool) -> dict[str, Any]:
    """Return how many rows were classified, as what, and how sure: in numbers and in a sentence.

    Parameters
    ----------
    table : Table
    judged : Judged
    is_known : bool
        Whether the columns know anything about the label; if not, nothing was classified.
    """
    is_asked = ~table.is_labeled
    has_class = is_asked & (judged.rows["status"] != "no evidence").to_numpy() & is_known
    probability = judged.rows["probability"].to_numpy()
    is_sure = has_class & (probability >= SURE)
    summary: dict[str, Any] = {
        "rows": int(is_asked.sum()),
        "classified": int(has_class.sum()),
        "sure": int(is_sure.sum()),
        "sure_from": SURE,
        "expected_right": round(float(probability[has_class].sum()), 1),
        "by_class": [
            {
                "name": name,
                "predicted": int((has_class & (judged.predicted == code)).sum()),
                "sure": int((is_sure & (judged.predicted == code)).sum()),
            }
            for code, name in enumerate(table.classes)
        ],
    }
    thing = "unlabeled row" if table.annotators is None else "row without an agreed label"
    return summary | {"text": _in_words(summary, thing)}


def _in_words(summary: dict[str, Any], thing: str) -> str:
    rows, classified, sure = summary["rows"], summary["classified"], summary["sure"]
    if not rows:
        return ""
    if not classified:
        return f"{_counted(rows, thing)} could not be classified."
    sure_from = f"a probability of {percent(SURE)} or more"
    if classified == 1:
        text = f"1 {thing} was classified, {'with' if sure else 'but not with'} {sure_from}"
    else:
        how_many = "all" if sure == classified else grouped(sure) if sure else "none"
        text = f"{_counted(classified, thing)} were classified, {how_many} of them with {sure_from}"
    if rows > classified:
        text += f"; for {counted(rows - classified, 'other')} there is no evidence"
    return text + "."


def _counted(number: int, thing: str) -> str:
    """Return how many rows of a kind there are."""
    return f"{grouped(number)} {thing if number == 1 else thing.replace('row', 'rows')}"
