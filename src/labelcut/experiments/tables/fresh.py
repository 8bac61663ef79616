"""The tables of the four studies of fresh seeds, each from its lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from labelcut.experiments.conditions import (
    TABLE_KINDS,
    Conditions,
    by_kind,
    by_labeled_share,
    by_noise,
    by_table,
    kind_of,
    table_kind_of,
)
from labelcut.experiments.noise_kinds import UNIFORM
from labelcut.experiments.render import Table
from labelcut.experiments.result_lines import Record
from labelcut.experiments.tables.alarms import alarm_tables, evidence_table
from labelcut.experiments.tables.compared import (
    SCORES,
    behind_table,
    best_rival_table,
    differences_table,
    means_table,
    tables_table,
)
from labelcut.experiments.tables.expected import expected_table, ours_by_table, promise_table


def fresh_tables(records: Sequence[Record]) -> list[Table]:
    """Every noise level: means, differences, expected and promised, and where LabelCut is behind."""
    found = Conditions.of(records, by_noise)
    where, name = "by noise level", "fresh"
    return _filled(
        [
            *(means_table(found, score, where, name) for score in SCORES),
            *(differences_table(found, score, where, name) for score in SCORES),
            best_rival_table(found, "all noise levels", name),
            tables_table(found, "accuracy", "all noise levels", name),
            expected_table(found, where, name),
            promise_table(found, where, name),
            *ours_by_table(found, where, name),
            *alarm_tables(found, name),
            behind_table(found, "fresh seeds", name),
        ]
    )


def kinds_tables(records: Sequence[Record]) -> list[Table]:
    """Every kind of noise for tables of two classes, with one made rare, and of many; uniform levels."""
    tables: list[Table] = []
    for number, tables_kind in enumerate(TABLE_KINDS):
        mine = [record for record in records if table_kind_of(record) == tables_kind]
        found = Conditions.of(mine, by_kind)
        where, name = f"by kind of noise, {tables_kind}", f"kinds-{number + 1}"
        tables += [means_table(found, score, where, name) for score in SCORES]
        tables += [differences_table(found, score, where, name) for score in SCORES]
        tables += [expected_table(found, where, name), promise_table(found, where, name)]
        tables.append(evidence_table(found, name))
        tables.append(behind_table(found, f"kinds of noise, {tables_kind}", name, by_data=False))
        uniform = Conditions.of((r for r in mine if kind_of(r) in ("none", UNIFORM)), by_noise)
        where, name = f"by level of uniform noise, {tables_kind}", f"levels-{number + 1}"
        tables += [means_table(uniform, score, where, name) for score in SCORES]
    return _filled(tables)


def few_tables(records: Sequence[Record]) -> list[Table]:
    """Every share of labeled rows, right ones and with 20 % wrong."""
    found = Conditions.of(records, by_labeled_share)
    where, name = "by share of labeled rows", "few"
    scores = ("accuracy", "noise_f1", "average_precision", "log_loss")
    return _filled(
        [
            *(means_table(found, score, where, name) for score in scores),
            *(differences_table(found, score, where, name) for score in scores),
            behind_table(found, "few labels", name),
        ]
    )


def no_signal_tables(records: Sequence[Record]) -> list[Table]:
    """Give false alarms where nothing can be found, and how well planted errors are found."""
    found = Conditions.of(records, by_table)
    planted = Conditions.of((r for r in records if sum(r["noise"]) > 0), by_table)
    where, name = "planted errors and overlap", "no-signal"
    return _filled(
        [
            *alarm_tables(found, name),
            *(means_table(planted, score, where, name) for score in SCORES),
            promise_table(planted, where, name),
            behind_table(planted, where, name, by_data=False),
        ]
    )


def _filled(tables: Sequence[Table]) -> list[Table]:
    """Leave out tables without a row, but for the lists of losses: none is an answer."""
    return [
        table
        for table in tables
        if table.rows or (table.name.endswith("-behind") and "0 of 0" not in table.remarks[0])
    ]


FRESH_STUDIES: dict[str, Callable[[list[Record]], list[Table]]] = {
    "fresh": fresh_tables,
    "kinds": kinds_tables,
    "few": few_tables,
    "no-signal": no_signal_tables,
}
