"""The rows that the page shows in full: suspects, unlabeled rows, and the rows they are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from labelcut.auditing.issues import Judged, class_probabilities
from labelcut.auditing.unlabeled import rank_unlabeled
from labelcut.auditing.unusual import Comparison, comparable
from labelcut.auditing.words import LONGEST_CELL, LONGEST_NAME, LONGEST_TEXT, cell_texts, shortened
from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.table.table import Table, label_texts

MOST_SHOWN = 10_000  # Suspects in the page; issues.csv holds all.
MOST_UNLABELED = 5_000  # Unlabeled rows in the page; the table holds all.
MOST_CELLS = 1_500_000  # Table cells in the page: about 10 MB.
MOST_LETTERS = 12_000_000  # Letters of long cells in the page; beyond, cells are cut.
MOST_NEIGHBORS = 6
MOST_MARKED = 64  # Columns in which differences are marked, those that weigh most.
#: Two numbers differ if they are further apart than this share of the middle half of their column.
APART = 0.5


@dataclass(frozen=True)
class Cases:
    """The rows to decide about.

    `suspects` and `unlabeled` hold positions in the table, in the order in which they are shown. For each of
    them, suspects first, `own` is the class that its values are held against (the given one, or the predicted
    one of a row without a label) and `other` the class it could be instead.
    """

    suspects: np.ndarray
    unlabeled: np.ndarray
    own: np.ndarray
    other: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """All of them, suspects first."""
        return np.concatenate([self.suspects, self.unlabeled])


def choose_cases(table: Table, model: ConfidenceHNC, judged: Judged) -> Cases:
    """Return the rows to decide about, and the two classes that are in question for each."""
    suspects, unlabeled = judged.ranked[:MOST_SHOWN], rank_unlabeled(table, judged)[:MOST_UNLABELED]
    predicted = judged.predicted[unlabeled]
    second = class_probabilities(model, table, model.label_distributions_[unlabeled])
    second[np.arange(len(unlabeled)), predicted] = -1.0
    own = np.concatenate([table.codes[suspects], predicted])
    other = np.concatenate([judged.predicted[suspects], second.argmax(axis=1)])
    return Cases(suspects, unlabeled, own, other)


def tell_cases(
    table: Table,
    model: ConfidenceHNC,
    judged: Judged,
    cases: Cases,
    reasons: Sequence[str],
    comparison: Comparison,
    weights: dict[str, float],
) -> dict[str, Any]:
    """Return what the page tells of these rows, as plain lists.

    Parameters
    ----------
    table, model, judged, cases
    reasons : sequence of str
        Why each of the cases is one.
    comparison : Comparison
        The cases held against their two classes.
    weights : dict of str to float
        How much each column counts.

    Returns
    -------
    dict
        `suspects` and `unlabeled_rows`, one list per thing told; `rows`, the names of all rows of the page,
        cases first; `values`, the cells of those rows by column; `marked`, the columns in which differences
        are marked.
    """
    weighed, near, alike = _tell_cut(model, cases.rows)
    rows = np.array(list(dict.fromkeys([*cases.rows.tolist(), *(j for some in near for j in some.tolist())])))
    rows = rows.astype(np.intp)
    place = {row: at for at, row in enumerate(rows.tolist())}
    marked = _marked_columns(table, weights)
    unlike = _mark_differences(table, marked, cases.rows, near)
    told = {
        "row": (table.rows[cases.rows] + 1).tolist(),
        "id": [shortened(name) for name in table.ids(cases.rows)],
        "key": table.key_texts(cases.rows),
        "given": table.codes[cases.rows].tolist(),
        "given_text": label_texts(table.frame[table.label].iloc[cases.rows], blank=""),
        "suggested": judged.predicted[cases.rows].tolist(),
        "own": cases.own.tolist(),
        "other": cases.other.tolist(),
        "reason": list(reasons),
        "group": _groups(table, cases.rows),
        "unusual": comparison.unusual,
        **weighed,
        "neighbors": [_tell_neighbors(*some, place) for some in zip(near, alike, strict=True)],
        "unlike": unlike,
    }
    lines = judged.rows.iloc[cases.rows]
    n = len(cases.suspects)
    suspects = {name: values[:n] for name, values in told.items()}
    suspects["given_text"] = [table.classes[code] for code in suspects["given"]]
    suspects["wrong"] = _rounded(lines["p_wrong"][:n])
    suspects["confidence"] = _rounded(lines["label_confidence"][:n])
    unlabeled = {name: values[n:] for name, values in told.items()}
    unlabeled["sure"] = _rounded(lines["probability"][n:])
    unlabeled["has_evidence"] = (lines["status"][n:] != "no evidence").tolist()
    return {
        "suspects": suspects,
        "unlabeled_rows": unlabeled,
        "rows": {
            "id": [shortened(name) for name in table.ids(rows)],
            "row": (table.rows[rows] + 1).tolist(),
            "code": table.codes[rows].tolist(),
            "is_suspect": judged.is_suspect[rows].tolist(),
        },
        "values": _values(table, rows, weights),
        "marked": marked,
    }


def group_codes(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's group as a number, and the groups' names."""
    groups = table.frame[str(table.group)]
    if isinstance(groups.dtype, pd.CategoricalDtype) and not groups.isna().any():
        names = [str(name) for name in groups.cat.categories]
        if names == sorted(names):  # so a part of a table numbers its groups as the whole does
            return groups.cat.codes.to_numpy(dtype=np.intp), np.array(names, dtype=object)
    names = label_texts(groups, blank="(missing)")
    codes, found = pd.factorize(np.array(names, dtype=object), sort=True)
    return codes, np.asarray(found)


def _groups(table: Table, rows: np.ndarray) -> list[int]:
    return [] if table.group is None else group_codes(table)[0][rows].tolist()


def _rounded(values: pd.Series[Any]) -> list[float]:
    return [round(float(value), 4) for value in values]


def _tell_cut(
    model: ConfidenceHNC, rows: np.ndarray
) -> tuple[dict[str, list[Any]], list[np.ndarray], list[np.ndarray]]:
    """Return what the cut weighs for and against each row, its neighbours, and how alike they are."""
    told: dict[str, list[Any]] = {name: [] for name in ("keep", "flip", "joins_at", "tradeoff", "trust")}
    near, alike = [], []
    for row in rows.tolist():
        reason = model.explain(row)  # which knows more than the page tells
        near.append(reason.neighbors[:MOST_NEIGHBORS].copy())
        alike.append(reason.weights[:MOST_NEIGHBORS].copy())
        for name, side in (("keep", reason.keep), ("flip", reason.flip)):
            parts = (side.neighbors, side.label, side.prior, side.tradeoff)
            told[name].append([round(float(part), 4) for part in parts])
        told["joins_at"].append(round(reason.joins_at, 4) if np.isfinite(reason.joins_at) else None)
        told["tradeoff"].append(round(float(reason.tradeoff), 4))
        trust = reason.flips_at_trust
        told["trust"].append(round(trust, 2) if np.isfinite(trust) and trust > 0 else None)
    return told, near, alike


def _tell_neighbors(near: np.ndarray, alike: np.ndarray, place: dict[int, int]) -> list[list[Any]]:
    """Return the place of each neighbour among the rows of the page, and its likeness."""
    pairs = zip(near.tolist(), alike.tolist(), strict=True)
    return [[place[j], float(f"{weight:.3g}")] for j, weight in pairs]


def _marked_columns(table: Table, weights: dict[str, float]) -> list[int]:
    """Return the columns in which differences are marked; of two texts one knows that they differ."""
    wanted = [j for j, column in enumerate(table.columns) if column.role == "feature"]
    wanted = [j for j in wanted if table.columns[j].kind != "text" and not table.columns[j].is_hidden]
    return sorted(wanted, key=lambda j: -weights[table.columns[j].name])[:MOST_MARKED]


def _mark_differences(
    table: Table, marked: list[int], rows: np.ndarray, near: Sequence[np.ndarray]
) -> list[list[str]]:
    """Return for each row and neighbour whether they differ, one bit per marked column, as hex digits."""
    counts = [len(some) for some in near]
    this = np.repeat(rows, counts)
    that = np.concatenate(near).astype(np.intp) if near else np.zeros(0, dtype=np.intp)
    differs = np.zeros((len(this), len(marked)), dtype=bool)
    for c, j in enumerate(marked):
        column = table.columns[j]
        values = comparable(table.typed(column.name), column)
        present = values[np.isfinite(values)]
        a, b = values[this], values[that]
        apart = 0.0
        if column.kind != "category" and present.size:
            apart = APART * float(np.subtract(*np.percentile(present, [75, 25])))
        with np.errstate(invalid="ignore"):
            differs[:, c] = (np.abs(a - b) > apart) | (np.isnan(a) != np.isnan(b))
    digits = [line.tobytes().hex() for line in np.packbits(differs, axis=1)]
    ends = np.cumsum(counts, dtype=int)
    return [digits[end - n : end] for end, n in zip(ends.tolist(), counts, strict=True)]


def _values(table: Table, rows: np.ndarray, weights: dict[str, float]) -> list[dict[str, Any] | None]:
    """Return the cells by column; in wide tables the lighter columns for the first rows only."""
    shown_columns = [j for j, column in enumerate(table.columns) if not column.is_hidden]
    order = sorted(shown_columns, key=lambda j: -weights.get(table.columns[j].name, -1.0))
    order.sort(key=lambda j: table.columns[j].name != table.text)  # What is there to be read comes first.
    n_left, n_letters = MOST_CELLS, MOST_LETTERS
    result: list[dict[str, Any] | None] = [None] * len(table.columns)
    cells = table.frame.iloc[rows]
    for done, j in enumerate(order):
        fair = n_left // (len(order) - done)
        n_cells = min(len(rows), max(fair, 50))
        n_left -= n_cells
        name = table.columns[j].name
        texts = cell_texts(cells[name].iloc[:n_cells], LONGEST_TEXT if name == table.text else LONGEST_CELL)
        texts, used = _within(texts, n_letters)
        n_letters -= used
        found = list(dict.fromkeys(texts))
        if len(found) < len(texts) // 2:
            position = {text: i for i, text in enumerate(found)}
            result[j] = {"d": found, "i": [position[text] for text in texts]}
        else:
            result[j] = {"d": texts}
    return result


def _within(texts: list[str], most: int) -> tuple[list[str], int]:
    """Return the texts, those cut that come after `most` letters of long ones, and the letters used."""
    used, kept = 0, []
    for text in texts:
        if len(text) > LONGEST_NAME:
            if used + len(text) > most:
                text = shortened(text)
            used += len(text)
        kept.append(text)
    return kept, used
