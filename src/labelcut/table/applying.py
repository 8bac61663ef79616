"""Decisions on a table -> the table as a data frame with the decided labels."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import Any

import pandas as pd

from labelcut.errors import BadChoice, Option
from labelcut.parameters import texts
from labelcut.table.annotators import CONSENSUS
from labelcut.table.decisions import Decision, columns_meant, match, read_decisions
from labelcut.table.table import Table, as_pandas, make_table, read_table
from labelcut.table.writing import in_their_type


def apply(
    table: pd.DataFrame | str | os.PathLike[str],
    decisions: pd.DataFrame | str | os.PathLike[str],
    *,
    label: str | None = None,
    id: str | None = None,
    unlabeled: Iterable[str] = (),
    **reading: Any,
) -> pd.DataFrame:
    """Return a table with the labels that were decided; every other cell stays as it is.

    Decisions that do not fit (their row is gone, or carries another label by now) are not used, and a warning
    names them. No file is written; ``labelcut apply`` writes one.

    Parameters
    ----------
    table : DataFrame or path-like
        The table that was audited; its rows may have moved. It is not changed itself.
    decisions : DataFrame or path-like
        ``decisions.csv`` of a review, or a data frame with its columns: ``given_label``, ``decision`` (keep,
        flip or unsure), ``label`` (what the row should carry), and ``key`` or ``id``.
    label, id : str, optional
        The columns of the labels and of the rows' names, where the decisions do not say.
    unlabeled : iterable of str
        Label values that mean "not labeled", as they were given to `labelcut.audit`.
    **reading
        How a file is read, as in `labelcut.audit`: delimiter, encoding, missing, has_header, sheet.

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> import pandas as pd
    >>> import labelcut
    >>> pets = pd.DataFrame({"name": ["Rex", "Tom", "Kim"], "kg": [30, 4, 5], "is": ["dog", "dog", "cat"]})
    >>> flip = {"id": ["Tom"], "given_label": ["dog"], "decision": ["flip"], "label": ["cat"]}
    >>> labelcut.apply(pets, pd.DataFrame(flip), label="is", id="name")["is"].tolist()
    ['dog', 'cat', 'cat']
    """
    made = read_decisions(decisions)
    meant = columns_meant(made)
    label, id = label or meant[0], id or meant[1]
    if label is None:
        raise BadChoice(
            "the decisions do not say which column holds the labels; name it with ", Option("label"), "."
        )
    if label == CONSENSUS:
        raise BadChoice(
            "these decisions are about the consensus of several annotators, which the table does not hold; "
            "use the method apply of the audit, or ",
            Option("label"),
            " to name a column that they are meant for.",
        )
    # Whatever the labels are, they were taken for classes when they were decided.
    choices: dict[str, Any] = {"label": label, "id": id, "kinds": {label: "category"}}
    choices["unlabeled"] = texts("unlabeled", unlabeled)
    if isinstance(table, str | os.PathLike):
        return with_decisions(read_table(table, **choices, **reading), made)
    if reading:
        option = Option(*next(iter(reading.items())))
        raise BadChoice(option, " says how a file is read, and table is a data frame; leave it out.")
    frame = as_pandas(table)
    return with_decisions(make_table(frame, **choices, has_to_judge=False), made).set_axis(
        frame.columns, axis=1
    )


def with_decisions(table: Table, decisions: list[Decision]) -> pd.DataFrame:
    """Return the table's data frame with the decided labels, in the type of their column."""
    matched = match(decisions, table)
    for conflict in matched.conflicts:
        warnings.warn(f"decision not used, {conflict}", UserWarning, stacklevel=3)
    labels = table.frame[table.label].copy()
    present = labels.dropna().tolist()
    for row, value in in_their_type(matched.changed(table), present).items():
        labels.iloc[row] = value
    return table.frame.assign(**{table.label: labels}).set_axis(table.index, axis=0)
