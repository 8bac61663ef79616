"""Why a label is suspect, in one sentence."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from labelcut.auditing.issues import Judged
from labelcut.auditing.unusual import Comparison
from labelcut.auditing.words import percent
from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.table.table import Table

RARE = 0.05


def neighbor_votes(model: ConfidenceHNC, codes: np.ndarray, rows: np.ndarray, n_classes: int) -> np.ndarray:
    """Return how many neighbours of each row carry each label; shape (len(rows), n_classes)."""
    place = np.empty_like(model.row_order_)
    place[model.row_order_] = np.arange(place.size)
    labels = codes[model.row_order_]
    labeled = np.flatnonzero(labels >= 0)
    shape = (labels.size, n_classes)
    carries = sp.csr_array((np.ones(labeled.size), (labeled, labels[labeled])), shape=shape)
    near = model.graph_.weights[place[rows]]
    near.data = np.ones_like(near.data)
    return np.asarray((near @ carries).todense(), dtype=int)


def tell_reasons(table: Table, model: ConfidenceHNC, judged: Judged, comparison: Comparison) -> list[str]:
    """Return a sentence for each issue, most suspect first; `comparison` may cover only the first of them."""
    votes = neighbor_votes(model, table.codes, judged.ranked, len(table.classes))
    sentences = []
    for s, row in enumerate(judged.ranked.tolist()):
        given, wanted = int(table.codes[row]), int(judged.predicted[row])
        parts = [_about_neighbors(votes[s], given, wanted, table.classes)]
        unusual = comparison.unusual[s] if s < len(comparison.unusual) else []
        for column, share, other, text in unusual[:3]:
            if share < RARE and other > 2 * share and len(parts) < 3:
                name = table.columns[column].name
                shown = text[:40] or "missing"
                parts.append(f"{name} = {shown} is rare for ‘{table.classes[given]}’ ({percent(share)})")
        sentences.append("; ".join(parts) + ".")
    return sentences


def _about_neighbors(votes: np.ndarray, given: int, wanted: int, classes: tuple[str, ...]) -> str:
    total, name = int(votes.sum()), f"‘{classes[wanted]}’"
    if total == 0:
        return f"No labeled row is near; the forest says {name}"
    n_wanted, n_given = int(votes[wanted]), int(votes[given])
    if n_wanted == total:
        return f"All {total} labeled rows near it are {name}"
    if n_wanted >= n_given:
        return f"{n_wanted} of {total} labeled rows near it are {name}"
    return (
        f"{n_given} of {total} labeled rows near it are ‘{classes[given]}’ too, but the rest outweighs them"
    )
