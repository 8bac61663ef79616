"""A fitted model -> what it says about the labels of a table, and the issues among them, ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.table.table import Table

COLUMNS = (
    *("row", "id", "given_label", "predicted_label", "label_quality", "p_wrong", "label_confidence"),
    *("probability", "reason", "key"),
)


@dataclass(frozen=True)
class Judged:
    """The labels of a table as a model judges them.

    `rows` has one line per row of the table, in its order: the row's number in the file, counted from 1, and
    the columns of `ConfidenceHNC.label_issues_`, with an empty text where no label was given.
    `predicted` holds the position of each row's predicted label in the table's classes.
    `ranked` holds the positions of the issues, most suspect first.
    `n_left_out` counts the flagged labels that are no issue because somebody asked to leave them out.
    """

    rows: pd.DataFrame
    predicted: np.ndarray
    ranked: np.ndarray
    n_left_out: int = 0

    @property
    def is_suspect(self) -> np.ndarray:
        """Which rows are among the issues."""
        mask = np.zeros(len(self.rows), dtype=bool)
        mask[self.ranked] = True
        return mask


def judge_labels(table: Table, model: ConfidenceHNC) -> Judged:
    """Return what a model that was fitted to the table says about its labels."""
    found = model.label_issues_.set_axis(table.index, axis=0)
    rows = found.assign(given_label=found["given_label"].fillna(""))
    rows.insert(0, "row", table.rows + 1)
    code_of = {name: code for code, name in enumerate(table.classes)}
    predicted = rows["predicted_label"].map(code_of).to_numpy(dtype=np.int64)
    return Judged(rows, predicted, choose_suspects(rows, table.keys))


def class_probabilities(model: ConfidenceHNC, table: Table, probability: np.ndarray) -> np.ndarray:
    """Return probabilities of a model in the order of the table's classes, of which no row may carry some."""
    code_of = {name: code for code, name in enumerate(table.classes)}
    full = np.zeros((len(probability), len(table.classes)))
    full[:, [code_of[name] for name in model.classes_.tolist()]] = probability
    return full


def issue_table(table: Table, judged: Judged, reasons: Sequence[str]) -> pd.DataFrame:
    """Return the issues, most suspect first, with id, reason and key; `reasons` are in the same order."""
    ranked = judged.ranked
    issues = judged.rows.iloc[ranked].assign(
        id=np.array(table.ids(ranked), dtype=object),
        reason=np.array(reasons, dtype=object),
        key=np.array(table.key_texts(ranked), dtype=object),
    )
    return issues[[name for name in COLUMNS if name != "id" or table.id is not None]]


def unlabeled_table(table: Table, judged: Judged) -> pd.DataFrame:
    """Return the rows without a label, least sure first, with the predicted class and its probability."""
    rows = np.flatnonzero(~table.is_labeled)
    rows = rows[np.lexsort((table.keys[rows], judged.rows["probability"].to_numpy()[rows]))]
    found = judged.rows.iloc[rows].assign(
        id=np.array(table.ids(rows), dtype=object), key=np.array(table.key_texts(rows), dtype=object)
    )
    names = ("row", "id", "predicted_label", "probability", "status", "key")
    return found[[name for name in names if name != "id" or table.id is not None]]


def choose_suspects(rows: pd.DataFrame, keys: np.ndarray) -> np.ndarray:
    """Return the positions of the rows to review, in the order of the review: the only place that decides it.

    These are the flagged ones, most suspect first; equal ones by content, not by place.
    """
    flagged = np.flatnonzero(rows["is_label_issue"].to_numpy())
    return flagged[np.lexsort((keys[flagged], rows["label_quality"].to_numpy()[flagged]))]
