"""A table and its decisions -> a fitted model, and what that says of the labels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from labelcut.auditing.annotators import call_rows, crowd_of, judge_crowd
from labelcut.auditing.beside import opinion_on, read_beside
from labelcut.auditing.issues import Judged, judge_labels
from labelcut.auditing.notes import tell_warning
from labelcut.auditing.progress import Progress
from labelcut.auditing.unusual import far_out_notes
from labelcut.auditing.word_opinion import ask_words
from labelcut.errors import BadTable
from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.hnc.clock import hear_stages
from labelcut.hnc.labels import Labels
from labelcut.table.decisions import Matched
from labelcut.table.numbers import Encoded, encode
from labelcut.table.table import Table

__all__ = ["judge_table"]


def judge_table(
    table: Table, matched: Matched, model: ConfidenceHNC, on_step: Progress
) -> tuple[Table, Encoded, ConfidenceHNC, Judged]:
    """Fit a model to a table with its decisions held as certain.

    Returns the table with decided labels and notes, its numbers, the model, and what that says of the labels.
    """
    opinions = read_beside(table)
    table, trust = _with_decisions(table, matched)
    on_step("columns to numbers")
    encoded, opinions = encode(table), ask_words(table, trust) | opinions
    with hear_stages(on_step.hear):
        model, notes = _fit(model, encoded.X, table, trust, opinions)
    table = replace(table, notes=(*table.notes, *notes, *far_out_notes(encoded, model)))
    if table.annotators is None:
        return table, encoded, model, judge_labels(table, model)
    table = call_rows(table, model)
    return table, encoded, model, judge_crowd(table, model, judge_labels(table, model))


def _fit(
    model: ConfidenceHNC,
    X: np.ndarray,
    table: Table,
    trust: np.ndarray,
    opinions: Mapping[str, pd.DataFrame],
) -> tuple[ConfidenceHNC, list[str]]:
    """Fit the model to the labels as the table reads them; what it warns of becomes notes for the report."""
    labels = crowd_of(table, trust) if table.annotators else Labels.of_codes(table.classes, table.codes)
    said = {name: opinion_on(labels.classes.tolist(), values) for name, values in opinions.items()}
    beside = {"opinions": said or None, "embedding": table.beside.embedding, "graph": table.beside.graph}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            if table.annotators is None:
                model.fit(X if X.shape[1] else None, labels, sample_weight=trust, **beside)
            else:
                model.fit(X if X.shape[1] else None, labels, **beside)
        except ValueError as error:
            raise BadTable(f"{table.name}: {error}") from error
    told = [warned.message for warned in caught if issubclass(warned.category, UserWarning)]
    return model, [tell_warning(str(message)) for message in told]


def _with_decisions(table: Table, matched: Matched) -> tuple[Table, np.ndarray]:
    """Return the table with the decided labels, and the trust in each label: infinite where decided."""
    classes = list(table.classes)
    codes, trust = table.codes.copy(), np.ones(len(table.codes))
    for row, label in matched.labels.items():
        if label not in classes:
            classes.append(label)
        codes[row], trust[row] = classes.index(label), np.inf
    return replace(table, codes=codes, classes=tuple(classes)), trust
