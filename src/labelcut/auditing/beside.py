"""What stands beside a table, made ready for the fit and for the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from labelcut.auditing.words import percent
from labelcut.errors import BadTable
from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.hnc.neighborhood import columns_instead
from labelcut.hnc.own_experts import check_order, read_opinion
from labelcut.table.numbers import Encoded
from labelcut.table.table import Table

__all__ = ["believed", "near_columns", "opinion_on", "opinions_on", "read_beside"]


def read_beside(table: Table) -> dict[str, pd.DataFrame]:
    """Return the probabilities beside a table, checked before any work is done; their columns are classes."""
    found = {}
    for name, said in table.beside.opinions.items():
        classes = np.array(said.values.columns, dtype=object)
        try:
            values = read_opinion(said.origin, said.values, len(table.frame), classes)
            if not said.has_names:
                codes = _codes_among(table, said.values.columns.tolist())
                check_order(said.origin, values, codes, classes)
        except ValueError as error:
            raise BadTable(str(error)) from error
        found[name] = pd.DataFrame(values, columns=classes)
    return found


def opinion_on(classes: Sequence[str], values: pd.DataFrame) -> pd.DataFrame:
    """Return probabilities of some classes: of those that are not asked for none, of unknown ones 0.

    A sample may miss a class of the file, and a decision may bring one that no model knows.
    """
    asked = values.reindex(columns=list(classes), fill_value=0.0)
    total = asked.sum(axis=1)
    known = [name for name in classes if name in values]
    asked.loc[total <= 0, known] = 1.0
    return asked.div(asked.sum(axis=1), axis=0)


def opinions_on(table: Table, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return what each model beside the table says of some rows, in the order of the table's classes."""
    return {
        name: opinion_on(table.classes, said.values.iloc[rows]).to_numpy()
        for name, said in table.beside.opinions.items()
    }


def near_columns(table: Table, encoded: Encoded, model: ConfidenceHNC) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns by which rows are near each other, and how much each counts."""
    X = encoded.X
    if table.beside.embedding is not None or not X.shape[1]:
        said = {name: values.to_numpy() for name, values in read_beside(table).items()}
        X = columns_instead(table.beside.embedding, said)
        return X, np.full(X.shape[1], 1.0 / X.shape[1])
    return X, model.feature_importances_


def believed(table: Table, model: ConfidenceHNC) -> dict[str, Any]:
    """Return how far each expert was believed, most first, and a sentence where users brought some."""
    total = sum(model.expert_weights_.values()) or 1.0
    experts: list[dict[str, Any]] = [
        {
            "name": name,
            "share": round(weight / total, 4),
            "log_loss": round(model.expert_log_loss_[name], 4),
            "is_own": name in table.beside.opinions,
        }
        for name, weight in sorted(model.expert_weights_.items(), key=lambda pair: -pair[1])
    ]
    text = ""
    if table.beside.opinions and experts:
        shares = [f"{expert['name'].replace('_', ' ')} {percent(expert['share'])}" for expert in experts]
        text = f"How far each expert was believed: {', '.join(shares)}."
    return {"text": text, "list": experts}


def _codes_among(table: Table, classes: list[str]) -> np.ndarray:
    """Return each row's class as a position among the sorted classes of the file; -1 for none."""
    position = [classes.index(name) if name in classes else -1 for name in table.classes]
    return np.asarray(np.array([*position, -1])[table.codes])
