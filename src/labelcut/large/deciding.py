"""Decisions laid on a table in parts: the rows they may be about are gathered, and matched as in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from labelcut.large.nodes import Nodes
from labelcut.large.scan import Wanted, texts_of
from labelcut.table.decisions import Decision, Matched, match
from labelcut.table.label_column import Classes
from labelcut.table.table import Table

__all__ = ["decided_names", "lay_on"]

ROW, KEY = "\0row", "\0key"


def decided_names(decisions: Sequence[Decision], id: str | None) -> frozenset[str]:
    """Return the keys and ids by which decisions name their rows; ids begin with "id "."""
    keys = {decision.key for decision in decisions if _is_key(decision.key)}
    ids = {f"id {decision.id}" for decision in decisions if id is not None and decision.id}
    return frozenset(keys | ids)


def lay_on(
    decisions: Sequence[Decision],
    chosen: Sequence[pd.DataFrame | None],
    nodes: Nodes,
    classes: Classes,
    wanted: Wanted,
    name: str,
) -> tuple[Matched, Matched]:
    """Return the decisions by row of the table, and by node."""
    frames = [frame for frame in chosen if frame is not None]
    if not decisions or not frames:
        return Matched(), Matched()
    frame = pd.concat(frames, ignore_index=True).sort_values(ROW, ignore_index=True)
    rows = frame[ROW].to_numpy(dtype=np.int64)
    number, texts = texts_of(frame[wanted.label], "")
    codes = np.array([classes.position.get(text, -1) for text in texts], dtype=np.int64)[number]
    table = Table(
        frame=frame.drop(columns=[ROW, KEY]),
        converted={},
        index=frame.index,
        columns=(),
        label=wanted.label,
        classes=classes.classes,
        codes=codes,
        rows=rows,
        keys=frame[KEY].to_numpy(dtype=np.uint64),
        n_rows_in_file=len(rows),
        id=wanted.id,
        name=name,
    )
    found = match(decisions, table)
    at = nodes.node[rows].tolist()
    by_row = replace(found, labels={int(rows[i]): label for i, label in found.labels.items()})
    by_node = Matched(
        {at[i]: label for i, label in found.labels.items()},
        frozenset(at[i] for i in found.unsure),
        found.conflicts,
        {at[i]: decision for i, decision in found.used.items()},
    )
    return by_row, by_node


def _is_key(text: str) -> bool:
    return len(text) == 16 and all(letter in "0123456789abcdef" for letter in text)
