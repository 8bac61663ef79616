"""What else the rows tell, beside suspects and never among them: twins, loners, columns and classes to check.

All of it is cheap, because the graph and the forest are there already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from labelcut.auditing.reasons import feature_keys, opinion_of
from labelcut.auditing.unusual import comparable
from labelcut.auditing.words import counted, grouped, percent, shortened
from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.hnc.columns import scale_columns
from labelcut.table.kinds import Column
from labelcut.table.table import Table

#: Columns by which rows are near each other, and how much each counts.
Near = tuple[np.ndarray, np.ndarray]

MOST_EXAMPLES = 12
MOST_MEMBERS = 6  # Rows named of a group of equal ones.
#: Rows that tell how columns are scaled: scaled copies of all would be the largest thing an audit holds.
ENOUGH_ROWS = 200_000

#: A row is a near duplicate of another this much closer than two nearest rows usually are. In five and more
#: directions chance brings such a pair about once in a million.
NEAR_DUPLICATE = 0.05
FEWEST_COLUMNS = 5
#: A row is far from everything if it is this many times as far from its nearest row as usual, and if the
#: logarithm of that distance is as many standard deviations above the median.
FAR_TIMES, FAR_ERRORS = 4.0, 4.0
#: Balanced accuracy of one column alone: on labels that are no suspects, and on all of them. A column that
#: only tends to the label would seem to decide it if those that contradict it were left out.
DECIDES, DECIDES_ALL = 0.99, 0.9
MOST_COLUMNS = 20  # Looked at alone, those that weigh most.
SAMPLE_ROWS = 5000
ALIKE_AUC = 0.6  # Two classes that the forest ranks worse than this are one to it.
FEWEST_LABELS = 20  # Of a class, to say that it cannot be told from another.
MOST_CLASSES = 40


@dataclass(frozen=True)
class Finding:
    """Something worth knowing: its `kind`, how many rows, columns or pairs, a sentence, and examples."""

    kind: str
    count: int
    text: str
    examples: list[Any]

    def facts(self) -> dict[str, Any]:
        """Return it as plain lists."""
        return {"kind": self.kind, "count": self.count, "text": self.text, "examples": self.examples}


def find_worth_knowing(
    table: Table, near: Near, model: ConfidenceHNC, is_suspect: np.ndarray, weights: dict[str, float]
) -> list[dict[str, Any]]:
    """Return what else is worth knowing about the table.

    Parameters
    ----------
    table : Table
    near : tuple of ndarray
        The columns by which rows are near each other, and how much each counts.
    model : ConfidenceHNC
    is_suspect : ndarray of bool of shape (n_rows,)
    weights : dict of str to float
        How much each column counts.

    Returns
    -------
    list of dict
        With `kind`, `count`, `text` and `examples`, which are groups of ``[row, name, label]``, rows counted
        from 1 in the file, or columns, or pairs of classes. Empty if nothing is.
    """
    keys = feature_keys(table)
    found = [
        _equal_rows(table, keys),
        _copies(table, keys),
        *_neighborhood(table, near, model, keys),
        _deciding_columns(table, is_suspect, weights),
        _like_classes(table, model),
    ]
    return [finding.facts() for finding in found if finding is not None]


def _equal_rows(table: Table, keys: np.ndarray) -> Finding | None:
    """Find rows that are equal in every column in use and carry different labels."""
    labeled = np.flatnonzero(table.is_labeled)
    order = labeled[np.lexsort((table.codes[labeled], keys[labeled]))]
    starts, ends = _runs(keys[order])
    is_mixed = table.codes[order[starts]] != table.codes[order[ends - 1]]
    if not is_mixed.any():
        return None
    chosen = [np.sort(order[a:b]) for a, b in zip(starts[is_mixed], ends[is_mixed], strict=True)]
    chosen.sort(key=lambda rows: int(rows[0]))
    n_rows = sum(len(rows) for rows in chosen)
    text = (
        f"{counted(n_rows, 'row')} in {counted(len(chosen), 'group')} are equal in every column that is used "
        "but carry different labels"
    )
    if n_rows > 0.2 * labeled.size:
        text += ": so many that these columns cannot decide the label."
    else:
        text += ": at least one label of each group is wrong, or a column that decides is missing."
    return Finding("equal rows, different labels", n_rows, text, name_rows(table, chosen))


def _copies(table: Table, keys: np.ndarray) -> Finding | None:
    """Find rows that are equal in every column in use and in the label; in narrow tables that is no news."""
    order = np.lexsort((table.codes, keys))
    starts, ends = _runs(keys[order], table.codes[order])
    is_some = ends - starts > 1
    members = [order[a:b] for a, b in zip(starts[is_some], ends[is_some], strict=True)]
    members.sort(key=lambda rows: int(rows[0]))
    n_rows = sum(len(rows) - 1 for rows in members)
    if len(table.features) < FEWEST_COLUMNS or not n_rows or n_rows > 0.5 * len(keys):
        return None
    text = (
        f"{counted(n_rows, 'row')} {'is an exact copy' if n_rows == 1 else 'are exact copies'} of another "
        "one, label and all: copies make a result look surer than it is."
    )
    return Finding("copies", n_rows, text, name_rows(table, members))


def _runs(*keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where runs of rows that are equal in sorted keys begin and end."""
    is_new = np.ones(len(keys[0]), dtype=bool)
    is_new[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    starts = np.flatnonzero(is_new)
    return starts, np.append(starts, is_new.size)[1:]


def _neighborhood(table: Table, near: Near, model: ConfidenceHNC, keys: np.ndarray) -> list[Finding | None]:
    """Find pairs that are nearly equal, and rows far from everything, by the distance to the nearest row."""
    nearest, distance = _nearest_other(near, model, keys)
    known = np.isfinite(distance) & (distance > 0)
    if known.sum() < 20:
        return [None]
    usual = float(np.median(distance[known]))
    return [
        _near_duplicates(table, nearest, known & (distance < NEAR_DUPLICATE * usual)),
        _far_rows(table, distance, known, usual),
    ]


def _nearest_other(near: Near, model: ConfidenceHNC, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each row the most similar one not equal to it, and its distance, infinite if none."""
    X, counts = near
    weights, order = model.graph_.weights, model.row_order_
    nearest, distance = np.full(len(X), -1), np.full(len(X), np.inf)
    some = order[:: 1 + order.size // ENOUGH_ROWS]  # in the order of their content, so always the same
    scale = scale_columns(X[some], kind="robust")[1]
    # Some rows at a time: all edges as pairs of rows would take several times the memory of the graph.
    step = max(1, 1_000_000 // X.shape[1])
    for at in range(0, order.size, step):
        starts = weights.indptr[at : at + step + 1]
        edges, n_near = slice(starts[0], starts[-1]), np.diff(starts)
        row, begins = order[at : at + step][n_near > 0], (starts[:-1] - starts[0])[n_near > 0]
        if not row.size:
            continue
        n_near = n_near[n_near > 0]
        target = order[weights.indices[edges]]
        weight = np.where(np.repeat(keys[row], n_near) != keys[target], weights.data[edges], -1.0)
        most = np.maximum.reduceat(weight, begins)
        is_nearest = weight == np.repeat(most, n_near)  # of several the first row of the table
        best = np.minimum.reduceat(np.where(is_nearest, target, order.size), begins)
        row, best = row[most > 0], best[most > 0]
        if not row.size:  # all are equal to all of their neighbours
            continue
        nearest[row] = best
        apart = scale.apply(X[row].astype(np.float64)) - scale.apply(X[best].astype(np.float64))
        distance[row] = np.sqrt((np.square(apart) * counts).sum(axis=1))
    return nearest, distance


def _near_duplicates(table: Table, nearest: np.ndarray, is_near: np.ndarray) -> Finding | None:
    if len(table.features) < FEWEST_COLUMNS or not is_near.any():
        return None
    rows = np.flatnonzero(is_near)
    pairs = sorted(
        {(min(i, j), max(i, j)) for i, j in zip(rows.tolist(), nearest[rows].tolist(), strict=True)}
    )
    codes = table.codes
    clash = [pair for pair in pairs if min(codes[list(pair)]) >= 0 and codes[pair[0]] != codes[pair[1]]]
    text = f"{counted(len(pairs), 'pair')} of rows {'is' if len(pairs) == 1 else 'are'} nearly equal"
    if clash:
        text += f", {grouped(len(clash))} of them with different labels"
    text += ": copies of a row, slightly changed, make a result look surer than it is."
    shown = [*clash, *(pair for pair in pairs if pair not in set(clash))]
    return Finding("near duplicates", len(pairs), text, name_rows(table, [np.array(pair) for pair in shown]))


def _far_rows(table: Table, distance: np.ndarray, known: np.ndarray, usual: float) -> Finding | None:
    logs = np.log(distance[known])
    spread = 1.4826 * float(np.median(np.abs(logs - np.median(logs))))
    border = max(FAR_TIMES * usual, usual * float(np.exp(FAR_ERRORS * spread)))
    far = np.flatnonzero(~(distance <= border) & (known | np.isinf(distance)))
    if not far.size or far.size > 0.05 * len(
        distance
    ):  # So many are a group of their own, or the rule fails.
        return None
    far = far[np.argsort(-distance[far], kind="stable")]
    text = (
        f"{counted(far.size, 'row')} {'is' if far.size == 1 else 'are'} far from everything: nothing like "
        f"{'it' if far.size == 1 else 'them'} is in the table, so little can be said about their labels."
    )
    return Finding(
        "far from everything",
        int(far.size),
        text,
        name_rows(table, [far[i : i + 1] for i in range(far.size)]),
    )


def _deciding_columns(table: Table, is_suspect: np.ndarray, weights: dict[str, float]) -> Finding | None:
    """Find columns from which alone the label can be read: they leak it, or they are the rule behind it."""
    rows = np.flatnonzero(table.is_labeled)
    if rows.size > SAMPLE_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, SAMPLE_ROWS, replace=False))
    counts = np.bincount(table.codes[rows], minlength=len(table.classes))
    rows = rows[counts[table.codes[rows]] >= 5]
    codes = table.codes[rows]
    if np.unique(codes).size < 2 or rows.size < 40:
        return None
    columns = sorted((c for c in table.features if c.kind != "text"), key=lambda c: -weights[c.name])
    found: list[tuple[str, float]] = []
    for column in columns[:MOST_COLUMNS]:
        is_hit = _hits_alone(table, column, rows, codes)
        kept = ~is_suspect[rows]
        accuracy = _balanced(is_hit[kept], codes[kept])
        if accuracy >= DECIDES and _balanced(is_hit, codes) >= DECIDES_ALL:
            found.append((column.name, round(accuracy, 4)))
    if not found:
        return None
    names = ", ".join(f"‘{shortened(str(name), 60)}’" for name, _ in found[:5])
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    verb, it = ("decides", "it leaks") if len(found) == 1 else ("each decide", "they leak")
    text = (
        f"{names}{more} {verb} the label alone ({percent(found[0][1])} of the labels that are no suspects): "
        f"{it} the label, or this is the rule by which it was made."
    )
    return Finding(
        "columns that decide the label", len(found), text, [list(one) for one in found[:MOST_EXAMPLES]]
    )


def _hits_alone(table: Table, column: Column, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return which labels one column predicts, by a rule that was made from other rows."""
    values = comparable(table.typed(column.name), column)[rows]
    if column.kind == "category":
        predicted = _commonest_of_others(values, codes)
    else:
        from sklearn.model_selection import cross_val_predict
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(max_leaf_nodes=2 * np.unique(codes).size, random_state=0)
        predicted = cross_val_predict(tree, _tamed(values)[:, None], codes, cv=5)
    return np.asarray(predicted == codes)


def _tamed(values: np.ndarray) -> np.ndarray:
    """Return numbers between -1 and 1 for a tree, which takes no gaps and no absurd ones; gaps are -2."""
    present = values[np.isfinite(values)]
    low, high = np.percentile(present, [1, 99]) if present.size else (0.0, 0.0)
    clipped = np.clip(values, low, high)
    size = max(abs(low), abs(high)) or 1.0
    return np.where(np.isnan(values), -2.0, clipped / size)


def _balanced(is_hit: np.ndarray, codes: np.ndarray) -> float:
    """Return the mean over the classes of how often their labels are hit."""
    return float(pd.Series(is_hit).groupby(codes).mean().mean()) if codes.size else 0.0


def _commonest_of_others(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return for each row the commonest label of the other rows with the same value; -1 if it has none."""
    number = pd.factorize(values, use_na_sentinel=False)[0]
    counts = np.zeros((number.max() + 1, codes.max() + 1))
    np.add.at(counts, (number, codes), 1.0)
    others = counts[number]
    others[np.arange(codes.size), codes] -= 1.0
    return np.where(others.any(axis=1), others.argmax(axis=1), -1)


def _like_classes(table: Table, model: ConfidenceHNC) -> Finding | None:
    """Find pairs of classes that the forest, which saw no row's own label, cannot tell apart."""
    counts = np.bincount(table.codes[table.is_labeled], minlength=len(table.classes))
    classes = np.flatnonzero(counts >= FEWEST_LABELS)
    if len(table.classes) < 3 or classes.size < 2:  # Of two classes the evidence tells.
        return None
    classes = np.sort(classes[np.argsort(-counts[classes], kind="stable")][:MOST_CLASSES])
    rows = {int(c): np.flatnonzero(table.codes == c) for c in classes}
    opinion = opinion_of(model, table, np.arange(len(table.codes)))
    if opinion is None:
        return None
    pairs: list[tuple[str, str, float]] = []
    for a, b in ((int(a), int(b)) for i, a in enumerate(classes) for b in classes[i + 1 :]):
        auc = area_under_curve(opinion[:, a] - opinion[:, b], rows[a], rows[b])
        if auc < ALIKE_AUC:
            pairs.append((table.classes[a], table.classes[b], round(auc, 3)))
    if not pairs:
        return None
    pairs.sort(key=lambda pair: pair[2])
    shown = "; ".join(f"‘{shortened(a, 40)}’ and ‘{shortened(b, 40)}’" for a, b, _ in pairs[:3])
    more = f" and {counted(len(pairs) - 3, 'other pair')}" if len(pairs) > 3 else ""
    text = (
        f"These classes cannot be told apart by the columns: {shown}{more}. Between them a suggestion is a "
        "guess; perhaps they are one class, or a column is missing."
    )
    return Finding("classes alike", len(pairs), text, [list(pair) for pair in pairs[:MOST_EXAMPLES]])


def area_under_curve(score: np.ndarray, positive: np.ndarray, negative: np.ndarray) -> float:
    """Return how often a row of the one class scores higher than a row of the other."""
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([score[positive], score[negative]]))
    n, m = positive.size, negative.size
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


def name_rows(table: Table, groups: Sequence[np.ndarray]) -> list[list[list[Any]]]:
    """Return the rows of the first groups, each with its number in the file, its name and its label."""
    named = []
    for rows in groups[:MOST_EXAMPLES]:
        some = rows[:MOST_MEMBERS]
        codes = table.codes[some].tolist()
        labels = [table.classes[code] if code >= 0 else None for code in codes]
        names = [shortened(name) for name in table.ids(some)]
        numbers = (table.rows[some] + 1).tolist()
        named.append([list(line) for line in zip(numbers, names, labels, strict=True)])
    return named
