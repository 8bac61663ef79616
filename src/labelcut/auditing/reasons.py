"""Why a label is suspect, or a class was chosen, in one sentence that speaks for the suggestion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from labelcut.auditing.beside import opinions_on
from labelcut.auditing.issues import Judged, class_probabilities
from labelcut.auditing.words import percent
from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.hnc.opinion import NoOpinion
from labelcut.table.row_keys import row_keys
from labelcut.table.table import Table

RARE = 0.05
MANY_EQUAL = 5  # Rows with the same values that are told instead of those near by.


def neighbor_votes(model: ConfidenceHNC, codes: np.ndarray, rows: np.ndarray, n_classes: int) -> np.ndarray:
    """Return how many neighbours of each row carry each label; shape (len(rows), n_classes)."""
    labels = codes[model.row_order_]
    labeled = np.flatnonzero(labels >= 0)
    shape = (labels.size, n_classes)
    carries = sp.csr_array((np.ones(labeled.size), (labeled, labels[labeled])), shape=shape)
    near = model.graph_.weights[_places(model)[rows]]
    near.data = np.ones_like(near.data)
    return np.asarray((near @ carries).todense(), dtype=int)


def feature_keys(table: Table) -> np.ndarray:
    """Return a key per row that is equal where all columns in use are."""
    columns = table.frame[[table.label, *(column.name for column in table.features)]]
    if table.beside.embedding is not None:
        columns = columns.join(pd.DataFrame(table.beside.embedding).add_prefix("embedding "))
    for name, said in table.beside.opinions.items():
        columns = columns.join(said.values.reset_index(drop=True).add_prefix(f"{name} "))
    return row_keys(columns, table.label)


def equal_votes(table: Table, rows: np.ndarray) -> np.ndarray:
    """Return how many other rows with the same values carry each label; shape (len(rows), n_classes)."""
    number = pd.factorize(feature_keys(table))[0]
    labeled = np.flatnonzero(table.is_labeled)
    shape = (number.max() + 1, len(table.classes))
    counts = sp.coo_array((np.ones(labeled.size, int), (number[labeled], table.codes[labeled])), shape=shape)
    votes = np.asarray(counts.tocsr()[number[rows]].todense())
    own = table.codes[rows] >= 0
    votes[np.flatnonzero(own), table.codes[rows][own]] -= 1
    return votes


def opinion_of(model: ConfidenceHNC, table: Table, rows: np.ndarray) -> np.ndarray | None:
    """Return what the forest thinks of each row without its label; None without a forest."""
    if isinstance(model.opinion_, NoOpinion):
        return None
    return class_probabilities(model, table, model.opinion_.probability[_places(model)[rows]])


def tell_reasons(
    table: Table,
    model: ConfidenceHNC,
    judged: Judged,
    rows: np.ndarray,
    unusual: Sequence[list[list[Any]]],
    equal: np.ndarray | None = None,
) -> list[str]:
    """Return a sentence for each of the rows; what is `unusual` may be known of the first of them only.

    `equal` are the labels of equal rows as `equal_votes` counts them, where these are known already.
    """
    votes = neighbor_votes(model, table.codes, rows, len(table.classes))
    equal = equal_votes(table, rows) if equal is None else equal
    opinion = opinion_of(model, table, rows)
    in_all = class_probabilities(model, table, model.label_distributions_[rows])
    said = opinions_on(table, rows)
    sentences = []
    for s, row in enumerate(rows.tolist()):
        given, wanted = int(table.codes[row]), int(judged.predicted[row])
        views = (votes[s], None if opinion is None else opinion[s], in_all[s])
        told = _about_equal_rows(equal[s], given, wanted, table.classes)
        parts = [told or _main_reason(*views, given, wanted, table.classes)]
        for name, theirs in said.items():
            if theirs[s].argmax() == wanted and len(parts) < 3:
                parts.append(f"{name} says ‘{table.classes[wanted]}’ ({percent(float(theirs[s, wanted]))})")
        for column, share, other, text in unusual[s][:3] if s < len(unusual) else []:
            if share < RARE and other > 2 * share and len(parts) < 3:
                name = table.columns[column].name
                shown = text[:40] or "missing"
                parts.append(f"{name} = {shown} is rare for ‘{table.classes[given]}’ ({percent(share)})")
        sentences.append("; ".join(parts) + ".")
    return sentences


def _places(model: ConfidenceHNC) -> np.ndarray:
    """Return the node of each row."""
    place = np.empty_like(model.row_order_)
    place[model.row_order_] = np.arange(place.size)
    return np.asarray(place)


def _about_equal_rows(votes: np.ndarray, given: int, wanted: int, classes: tuple[str, ...]) -> str:
    """Return what equal rows say, the best witnesses, if they are many and speak for the wanted class."""
    total, n_given = int(votes.sum()), int(votes[given]) if given >= 0 else 0
    if total < MANY_EQUAL or votes[wanted] < votes.max() or votes[wanted] <= n_given:
        return ""
    return f"{int(votes[wanted])} of {total} labeled rows with the same values are ‘{classes[wanted]}’"


def _main_reason(
    votes: np.ndarray,
    opinion: np.ndarray | None,
    in_all: np.ndarray,
    given: int,
    wanted: int,
    classes: tuple[str, ...],
) -> str:
    """Name first who speaks for the wanted class: the rows near by, else the forest, else both together."""
    total, n_wanted, name = int(votes.sum()), int(votes[wanted]), f"‘{classes[wanted]}’"
    n_given = int(votes[given]) if given >= 0 else 0
    rest = np.delete(votes, wanted)
    if total and n_wanted == total:
        return f"All {total} labeled rows near it are {name}" if total > 1 else f"The row near it is {name}"
    if n_wanted > n_given and n_wanted >= rest.max(initial=0):
        return f"{n_wanted} of {total} labeled rows near it are {name}"
    if not total:
        around = "no labeled row is near"
    elif n_wanted:
        around = f"{n_wanted} of {total} labeled rows near it are {name}, too"
    else:
        around = f"none of the {total} labeled rows near it is {name}"
    # Rows near by speak for another class than the suggested one: they are told, but not as the reason.
    but = ", but" if total and not n_wanted else ","
    if opinion is not None and opinion.argmax() == wanted:
        return f"The forest, from its columns, says {name} ({percent(float(opinion[wanted]))}){but} {around}"
    share = percent(float(in_all[wanted]))
    return f"Columns and rows near it together make {name} likeliest ({share}){but} {around}"
