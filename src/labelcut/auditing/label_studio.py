"""Issues -> tasks for Label Studio: cells as data, the suggestion as a prediction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from labelcut.auditing.words import cell_texts
from labelcut.table.studio import CONTROLS, task_data
from labelcut.table.table import Table


def label_studio_tasks(
    table: Table, ranked: np.ndarray, issues: pd.DataFrame, version: str
) -> list[dict[str, Any]]:
    """Return one task per issue.

    Parameters
    ----------
    table : Table
    ranked : ndarray of int
        The positions of the issues in the table.
    issues : DataFrame
        The issues in the same order.
    version : str
        Of the program that found them.
    """
    names = [column.name for column in table.shown]
    cells = {name: cell_texts(table.frame[name].iloc[ranked]) for name in names}
    control = CONTROLS[CONTROLS[0] in names]
    tasks = []
    for s, issue in enumerate(issues.to_dict("records")):
        choice = {"choices": [issue["predicted_label"]]}
        result = {"from_name": control, "to_name": "row", "type": "choices", "value": choice}
        prediction = {
            "model_version": f"labelcut {version}",
            "score": round(float(issue["p_wrong"]), 6),
            "result": [result],
        }
        tasks.append(
            {
                "data": {name: texts[s] for name, texts in cells.items()} | _row(table, issue),
                "meta": {name: issue[name] for name in ("row", "key", "reason")},
                "predictions": [prediction],
            }
        )
    return tasks


def _row(table: Table, issue: Mapping[Any, Any]) -> dict[str, str]:
    """Return which row a task is about; it stands in the data, since a short export leaves the rest out."""
    return task_data(
        key=issue["key"],
        id=issue.get("id", ""),
        row=issue["row"],
        given_label=issue["given_label"],
        label_column=table.label,
        id_column=table.id or "",
    )
