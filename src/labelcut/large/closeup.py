"""The rows that the page shows, with their cells, beside counts over all rows -> the facts of the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd

from labelcut.arrays import Ints
from labelcut.auditing.beside import believed
from labelcut.auditing.cases import MOST_NEIGHBORS, Cases, choose_cases, tell_cases
from labelcut.auditing.facts import column_weights, count_facts, typed_again, with_headline
from labelcut.auditing.issues import Judged, choose_suspects
from labelcut.auditing.reasons import tell_reasons
from labelcut.auditing.review_curve import PlantedCheck
from labelcut.auditing.row_map import draw_map
from labelcut.auditing.unusual import compare_with_classes
from labelcut.hnc.explanation import Explanation
from labelcut.large.answers import STATUS, Answers
from labelcut.large.model import LargeModel
from labelcut.large.sample import Preparation
from labelcut.table.decisions import Matched
from labelcut.table.numbers import Encoded
from labelcut.table.table import Table

__all__ = ["Told", "judge_nodes", "tell_all"]

#: Sampled rows that suspects are held against, and among which the map is drawn.
BACKGROUND_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Told:
    """The facts of the report, the suspects in order, and the reasons of those that the page shows."""

    facts: dict[str, Any]
    ranked: Ints
    reasons: list[str]


def judge_nodes(answers: Answers, classes: Sequence[str]) -> Judged:
    """Return what is said about the labels, one line per node, and the ranking of the suspects."""
    status = pd.Categorical.from_codes(answers.status, pd.Index(list(STATUS)))
    rows = pd.DataFrame(
        {
            "is_label_issue": answers.is_issue,
            "is_worth_a_look": answers.is_worth_a_look,
            "label_quality": 1.0 - answers.p_wrong,
            "p_wrong": answers.p_wrong.astype(np.float64),
            "label_confidence": answers.confidence,
            "probability": answers.probability,
            "status": status,
        }
    )
    keys = np.arange(answers.codes.size)
    return Judged(rows, answers.predicted.astype(np.int64), choose_suspects(rows, keys))


def tell_all(
    thin: Table,
    model: LargeModel,
    judged: Judged,
    listed: Judged,
    matched: Matched,
    check: PlantedCheck | None,
    preparation: Preparation,
    close_up: Callable[[Ints], Table],
    format: str,
) -> Told:
    """Return the facts of the report.

    Parameters
    ----------
    thin : Table
        All rows as nodes, without their cells.
    model : LargeModel
    judged, listed : Judged
        Every label, and with only those ranked that are to be listed.
    matched : Matched
        Decisions, by node.
    check : PlantedCheck or None
    preparation : Preparation
        How cells become numbers.
    close_up : callable
        From nodes to a Table of these rows with their cells.
    format : str
        That of the files.
    """
    encoder = preparation.encoder
    weights = column_weights(thin, Encoded(np.zeros((0, 0)), encoder.names, encoder.origin), cast(Any, model))
    cases = choose_cases(thin, cast(Any, model), listed)
    why = [model.explain(node) for node in cases.rows.tolist()]
    near = [reason.neighbors[:MOST_NEIGHBORS] for reason in why]
    background = np.arange(min(BACKGROUND_ROWS, len(thin.codes)))
    nodes = np.unique(np.concatenate([background, cases.rows, *near]).astype(np.int64))
    place = {node: at for at, node in enumerate(nodes.tolist())}
    table = close_up(nodes)
    own = replace(cases, suspects=_at(place, cases.suspects), unlabeled=_at(place, cases.unlabeled))
    comparison = _compare(table, own, weights, nodes, background.size)
    n_shown = len(cases.suspects)
    nobody = np.zeros((len(cases.rows), len(thin.classes)), dtype=int)
    ask = cast(Any, model)
    reasons = tell_reasons(thin, ask, listed, cases.suspects, comparison.unusual[:n_shown], nobody)
    reasons += tell_reasons(thin, ask, judged, cases.unlabeled, [], nobody)
    small = Judged(
        judged.rows.iloc[nodes].reset_index(drop=True), judged.predicted[nodes], np.zeros(0, np.int64)
    )
    small = replace(small, ranked=np.flatnonzero(judged.is_suspect[nodes]))
    shown = _Shown({row: _nearest(reason, place) for row, reason in zip(own.rows.tolist(), why, strict=True)})
    X = preparation.numbers(table.frame, table.beside)[:, preparation.first_near :]
    importances = model.feature_importances_
    if importances.size != X.shape[1] or preparation.sides.embedding is not None:
        importances = np.full(X.shape[1], 1.0 / X.shape[1])
    counted = count_facts(thin, judged, weights, matched, check, model.evidence_)
    counted["source"] |= {"format": format, "suffix": f".{format}"}
    facts = counted | {
        "worth_knowing": [],
        "map": draw_map(X.astype(np.float64), importances, table, own.suspects),
        **tell_cases(table, cast(Any, shown), small, own, reasons, comparison, weights),
        "experts": believed(thin, ask),
        "beside": typed_again(thin.beside.given),
        "typical": comparison.typical,
        "earlier": [
            matched.used[i].cells() for i in sorted(matched.used) if i not in set(cases.rows.tolist())
        ],
        "unsure": [s for s, node in enumerate(cases.rows.tolist()) if node in matched.unsure],
    }
    return Told(with_headline(facts), listed.ranked, reasons[:n_shown])


@dataclass(frozen=True)
class _Shown:
    """The explanations of the rows that are shown, by their places."""

    why: dict[int, Explanation]

    def explain(self, row: int) -> Explanation:
        """Return that of a row."""
        return self.why[row]


def _at(place: dict[int, int], nodes: Ints) -> Ints:
    return np.array([place[node] for node in nodes.tolist()], dtype=np.intp)


def _nearest(why: Explanation, place: dict[int, int]) -> Explanation:
    """Return an explanation with the nearest neighbours only, which have a place."""
    nearest = why.neighbors[:MOST_NEIGHBORS]
    return replace(why, neighbors=_at(place, nearest), weights=why.weights[:MOST_NEIGHBORS])


def _compare(table: Table, cases: Cases, weights: dict[str, float], nodes: Ints, n_background: int) -> Any:
    """Hold the cases against sampled rows of their classes, among which suspects are as rare as they are."""
    codes = np.where(nodes < n_background, table.codes, -1)
    return compare_with_classes(replace(table, codes=codes), cases.rows, cases.own, cases.other, weights)
