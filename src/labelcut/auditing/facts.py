"""A fitted model -> the facts the page and ``summary.json`` are made of: plain lists, numbers and text."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from labelcut.auditing.issues import Judged
from labelcut.auditing.review_curve import ReviewCurve
from labelcut.auditing.unusual import Comparison
from labelcut.auditing.words import cell_texts, shortened
from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.hnc.columns import scale_columns
from labelcut.hnc.evidence import Evidence
from labelcut.table.decisions import Matched
from labelcut.table.kinds import Column
from labelcut.table.numbers import Encoded
from labelcut.table.table import Table, label_texts

MOST_SHOWN = 10_000  # Issues in the page; issues.csv holds all.
MOST_CELLS = 1_500_000  # Table cells in the page: about 10 MB.
MOST_NEIGHBORS = 10
MAP_ROWS = 5000
N_BINS = 20
NOT_TESTED = "There are too few labels to test whether the columns tell the classes apart."


def gather_facts(
    table: Table,
    encoded: Encoded,
    model: ConfidenceHNC,
    judged: Judged,
    issues: pd.DataFrame,
    weights: dict[str, float],
    matched: Matched,
    curve: ReviewCurve | None,
    comparison: Comparison,
) -> dict[str, Any]:
    """Collect everything the page shows.

    Parameters
    ----------
    table : Table
    encoded : Encoded
    model : ConfidenceHNC
        Fitted on `encoded.X`.
    judged : Judged
        Every label as the model judges it.
    issues : DataFrame
        The lines of ``issues.csv``: the first of `judged.ranked`, or all of them.
    weights : dict of str to float
        As `column_weights` returns them.
    matched : Matched
        Decisions that were taken as certain; their labels are already in `table`.
    curve : ReviewCurve or None
    comparison : Comparison
        The first `MOST_SHOWN` issues held against their classes.

    Returns
    -------
    dict
        JSON-ready and the same for the same input.
    """
    rows, n_issues = judged.rows, len(judged.ranked)
    shown = judged.ranked[: min(MOST_SHOWN, len(issues))]
    estimate = _estimate(rows)
    facts: dict[str, Any] = {
        **_about(table, rows, matched, n_issues),
        "estimate": estimate,
        "evidence": _evidence(model.evidence_),
        "by_class": _by_class(table, rows),
        "budget": _review(curve, estimate["wrong"], estimate["labels"], n_issues),
        "budget_note": _review_note(curve),
        "histogram": _histogram(table, rows),
        "moves": _moves(table, judged),
        **_groups(table, rows),
        "map": _map(encoded, model, table, shown),
        "columns": [_column(column, weights.get(column.name, 0.0)) for column in table.columns],
        "suspects": _suspects(table, model, judged, issues.head(len(shown)), comparison),
        "values": _values(table, shown, weights),
        "typical": comparison.typical,
        "earlier": _earlier(matched, set(shown.tolist())),
        "unsure": [s for s, row in enumerate(shown.tolist()) if row in matched.unsure],
        "conflicts": list(matched.conflicts),
    }
    facts["report"] = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
    return facts


def column_weights(table: Table, encoded: Encoded, model: ConfidenceHNC) -> dict[str, float]:
    """Return how much each column counts in the distance between rows; the weights add up to 1."""
    weights = dict.fromkeys((column.name for column in table.features), 0.0)
    for name, weight in zip(encoded.origin, model.feature_importances_, strict=True):
        weights[name] += float(weight)
    return weights


def _about(table: Table, rows: pd.DataFrame, matched: Matched, n_issues: int) -> dict[str, Any]:
    from labelcut import __version__

    source = table.source
    is_text = source is not None and source.format in ("csv", "arff")
    status = Counter(rows["status"])
    delimiters = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
    return {
        "schema": 1,
        "version": __version__,
        "source": {
            "name": table.name,
            "format": source.format if source else "data frame",
            "suffix": source.suffix if source else ".csv",
            "delimiter": delimiters.get(source.delimiter, source.delimiter) if source and is_text else None,
            "encoding": source.encoding if source and is_text else None,
            "notes": [*(source.notes if source else ()), *table.notes],
        },
        "label": table.label,
        "id": table.id,
        "group": table.group,
        "classes": list(table.classes),
        "counts": {
            "rows": len(table.frame),
            "rows_in_file": table.n_rows_in_file,
            "columns": len(table.columns),
            "features": len(table.features),
            "labeled": int(table.is_labeled.sum()),
            "unlabeled": int((~table.is_labeled).sum()),
            "suspects": n_issues,
            "reviewed": len(matched.labels),
            "unsure": len(matched.unsure),
            "no_evidence": status["no evidence"],
        },
    }


def _estimate(rows: pd.DataFrame) -> dict[str, Any]:
    p_wrong = rows["p_wrong"].to_numpy()
    open_labels = np.isfinite(p_wrong) & (rows["status"] != "reviewed").to_numpy()
    n_labels = int(open_labels.sum())
    wrong = float(p_wrong[open_labels].sum())
    return {"wrong": round(wrong, 1), "share": round(wrong / max(n_labels, 1), 4), "labels": n_labels}


def _evidence(evidence: Evidence | None) -> dict[str, Any]:
    """Return how well the columns tell the classes apart: in a sentence and in numbers, null if unknown."""
    names = ("auc", "auc_error", "balanced_accuracy", "balanced_accuracy_error", "z")
    if evidence is None:
        return {"text": NOT_TESTED, "is_there": None, **dict.fromkeys(names)}
    numbers = {name: round(float(getattr(evidence, name)), 4) for name in names}
    return {"text": str(evidence), "is_there": evidence.is_there, **numbers}


def _by_class(table: Table, rows: pd.DataFrame) -> list[dict[str, Any]]:
    flagged, p_wrong = rows["is_label_issue"].to_numpy(), rows["p_wrong"].fillna(0.0).to_numpy()
    result = []
    for code, name in enumerate(table.classes):
        own = table.codes == code
        wrong = round(float(p_wrong[own].sum()), 1)
        result.append(
            {"name": name, "labeled": int(own.sum()), "suspects": int(flagged[own].sum()), "wrong": wrong}
        )
    return result


def _review(curve: ReviewCurve | None, n_wrong: float, n_labels: int, n_issues: int) -> dict[str, Any] | None:
    if curve is None or n_labels == 0:
        return None
    most = int(np.clip(3 * max(n_issues, n_wrong, 10), 20, n_labels))
    reviewed = np.unique(np.round(np.linspace(0, most, 61))).astype(int)
    found = [round(curve.expected(n, n_labels, n_wrong), 1) for n in reviewed]
    first = next((n for n in (1000, 100, 50, 20, 10) if n <= n_issues), max(n_issues, 1))
    return {
        "reviewed": reviewed.tolist(),
        "found": found,
        "total": round(n_wrong, 1),
        "n_planted": curve.n_planted,
        "n_sample": curve.n_sample,
        "at_first": [first, round(curve.expected(first, n_labels, n_wrong), 1)],
        "at_flagged": [n_issues, round(curve.expected(n_issues, n_labels, n_wrong), 1)],
    }


def _review_note(curve: ReviewCurve | None) -> str:
    if curve is None:
        return ""
    return (
        f"The curve of what a review finds is measured: in a copy of {curve.n_sample} rows, suspects set "
        f"to the suggested label, {curve.n_planted} labels were flipped at random and ranked by a light fit "
        "of the same method. Real mistakes are seldom random, so expect somewhat fewer."
    )


def _histogram(table: Table, rows: pd.DataFrame) -> dict[str, Any]:
    confidence, flagged = rows["label_confidence"].to_numpy(), rows["is_label_issue"].to_numpy()
    edges = np.linspace(0.0, 1.0, N_BINS + 1)

    def counts(among: np.ndarray) -> list[int]:
        return [int(n) for n in np.histogram(confidence[among & np.isfinite(confidence)], bins=edges)[0]]

    codes = range(len(table.classes))
    return {
        "edges": [round(float(edge), 3) for edge in edges],
        "all": [counts(table.codes == code) for code in codes],
        "suspect": [counts((table.codes == code) & flagged) for code in codes],
    }


def _moves(table: Table, judged: Judged) -> list[list[int]]:
    given, wanted = table.codes[judged.ranked], judged.predicted[judged.ranked]
    pairs = Counter(zip(given.tolist(), wanted.tolist(), strict=True))
    return [[given, to, n] for (given, to), n in sorted(pairs.items())]


def _groups(table: Table, rows: pd.DataFrame) -> dict[str, Any]:
    if table.group is None:
        return {"groups": None, "group_names": []}
    codes, found = group_codes(table)
    p_wrong, flagged = rows["p_wrong"].to_numpy(), rows["is_label_issue"].to_numpy()
    labeled = np.isfinite(p_wrong)
    overall = float(p_wrong[labeled].mean()) if labeled.any() else 0.0
    groups: list[dict[str, Any]] = []
    for code, name in enumerate(found):
        own = (codes == code) & labeled
        n, wrong = int(own.sum()), float(p_wrong[own].sum())
        # A group of three labels must not lead the list by chance: ten average labels are added to each.
        groups.append(
            {
                "name": str(name),
                "labeled": n,
                "suspects": int(flagged[own].sum()),
                "wrong": round(wrong, 1),
                "share": round(wrong / max(n, 1), 4),
                "rank": (wrong + 10 * overall) / (n + 10),
            }
        )
    groups.sort(key=lambda group: (-group.pop("rank"), group["name"]))
    return {"groups": groups, "group_names": [str(name) for name in found]}


def group_codes(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's group as a number, and the groups' names."""
    names = label_texts(table.frame[str(table.group)], blank="(missing)")
    codes, found = pd.factorize(np.array(names, dtype=object), sort=True)
    return codes, np.asarray(found)


def _map(encoded: Encoded, model: ConfidenceHNC, table: Table, shown: np.ndarray) -> dict[str, Any]:
    """Lay the rows out along the two main directions of the scaled and weighted columns."""
    from sklearn.decomposition import PCA

    n_rows = len(encoded.X)
    rows = np.arange(n_rows)
    if n_rows > MAP_ROWS:
        rows = np.random.default_rng(0).choice(
            n_rows, MAP_ROWS - min(len(shown), MAP_ROWS // 2), replace=False
        )
        rows = np.union1d(rows, shown[: MAP_ROWS // 2])
    X = scale_columns(encoded.X[rows], kind="robust")[0] * np.sqrt(model.feature_importances_)
    if X.shape[1] == 1:
        X = np.hstack([X, np.zeros_like(X)])
    place = PCA(2, svd_solver="covariance_eigh" if X.shape[1] <= 500 else "randomized", random_state=0).fit(X)
    xy = place.transform(X)
    low, high = np.percentile(xy, 0.5, axis=0), np.percentile(xy, 99.5, axis=0)
    xy = np.clip((xy - low) / np.where(high > low, high - low, 1.0), 0, 1)
    position = dict(zip(shown.tolist(), range(len(shown)), strict=True))
    return {
        "x": np.round(1000 * xy[:, 0]).astype(int).tolist(),
        "y": np.round(1000 * (1 - xy[:, 1])).astype(int).tolist(),
        "code": table.codes[rows].tolist(),
        "suspect": [position.get(row, -1) for row in rows.tolist()],
        "is_sample": bool(len(rows) < n_rows),
    }


def _column(column: Column, weight: float) -> dict[str, Any]:
    return {
        "name": column.name,
        "kind": column.kind,
        "role": column.role,
        "missing": column.n_missing,
        "distinct": column.n_distinct,
        "note": column.note,
        "weight": round(weight, 5),
    }


def _suspects(
    table: Table, model: ConfidenceHNC, judged: Judged, issues: pd.DataFrame, comparison: Comparison
) -> dict[str, list[Any]]:
    """Return the issues as the page shows them, one list per thing told."""
    shown = judged.ranked[: len(issues)]
    reasons = [model.explain(i) for i in shown.tolist()]
    near = [why.neighbors[:MOST_NEIGHBORS] for why in reasons]
    named = np.unique(np.concatenate([shown, *near]))
    names = [shortened(name) for name in table.ids(named)]
    ids = dict(zip(named.tolist(), names, strict=True))
    groups = group_codes(table)[0] if table.group is not None else None
    facts: dict[str, list[Any]] = {
        "row": issues["row"].tolist(),
        "id": [ids[i] for i in shown.tolist()],
        "key": issues["key"].tolist(),
        "given": table.codes[shown].tolist(),
        "suggested": judged.predicted[shown].tolist(),
        "wrong": [round(float(p), 4) for p in issues["p_wrong"]],
        "confidence": [round(float(c), 4) for c in issues["label_confidence"]],
        "reason": issues["reason"].tolist(),
        "group": groups[shown].tolist() if groups is not None else [],
        "unusual": comparison.unusual,
        "keep": [],
        "flip": [],
        "joins_at": [],
        "tradeoff": [],
        "trust": [],
        "neighbors": [],
    }
    for why, rows in zip(reasons, near, strict=True):
        for name, side in (("keep", why.keep), ("flip", why.flip)):
            parts = (side.neighbors, side.label, side.prior, side.tradeoff)
            facts[name].append([round(float(part), 4) for part in parts])
        facts["joins_at"].append(round(why.joins_at, 4) if np.isfinite(why.joins_at) else None)
        facts["tradeoff"].append(round(float(why.tradeoff), 4))
        trust = why.flips_at_trust
        facts["trust"].append(round(trust, 2) if np.isfinite(trust) and trust > 0 else None)
        weights = why.weights[:MOST_NEIGHBORS].tolist()
        facts["neighbors"].append(
            [
                [ids[j], int(table.codes[j]), int(judged.predicted[j]), float(f"{weight:.3g}")]
                for j, weight in zip(rows.tolist(), weights, strict=True)
            ]
        )
    return facts


def _values(table: Table, shown: np.ndarray, weights: dict[str, float]) -> list[dict[str, Any] | None]:
    """Return the shown cells by column; in wide tables the lighter columns for the first rows only."""
    shown_columns = [j for j, column in enumerate(table.columns) if not column.is_hidden]
    order = sorted(shown_columns, key=lambda j: -weights.get(table.columns[j].name, -1.0))
    n_left = MOST_CELLS
    result: list[dict[str, Any] | None] = [None] * len(table.columns)
    cells = table.frame.iloc[shown]
    for done, j in enumerate(order):
        fair = n_left // (len(order) - done)
        n_cells = min(len(shown), max(fair, 50))
        n_left -= n_cells
        texts = cell_texts(cells[table.columns[j].name].iloc[:n_cells])
        found = list(dict.fromkeys(texts))
        if len(found) < len(texts) // 2:
            position = {text: i for i, text in enumerate(found)}
            result[j] = {"d": found, "i": [position[text] for text in texts]}
        else:
            result[j] = {"d": texts}
    return result


def _earlier(matched: Matched, shown: set[int]) -> list[list[str]]:
    """Return earlier decisions as lines of ``decisions.csv``, so that the next saved file holds them too."""
    return [matched.used[i].cells() for i in sorted(matched.used) if i not in shown]
