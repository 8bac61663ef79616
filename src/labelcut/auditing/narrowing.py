"""Flagged labels -> the suspects of a report: the likely ones, the new ones, the first of them."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from labelcut.auditing.issues import Judged
from labelcut.auditing.words import percent
from labelcut.errors import BadChoice, BadTable
from labelcut.parameters import number, whole
from labelcut.table.table import Table


@dataclass(frozen=True)
class Baseline:
    """The labels that an earlier audit flagged, each with the key of its row, and its id if there is one."""

    name: str
    label: str
    flagged: tuple[Mapping[str, str], ...]

    def is_new(self, table: Table, rows: np.ndarray) -> np.ndarray:
        """Say of each row whether its label was not flagged before.

        Rows are found by their id if both audits had one, else by the key of their content. Of equal rows
        with equal labels as many are known as were flagged.
        """
        if self.label != table.label:
            raise BadChoice(
                f"{self.name}: is about the label column {self.label!r}, not {table.label!r}; give the "
                "summary of an audit of this column."
            )
        by_id = table.id is not None and all("id" in flagged for flagged in self.flagged)
        names = table.ids(rows) if by_id else table.key_texts(rows)
        labels = [table.classes[code] for code in table.codes[rows]]
        known = Counter(
            (flagged["id" if by_id else "key"], flagged["given_label"]) for flagged in self.flagged
        )
        is_new = np.ones(len(rows), dtype=bool)
        for i, flagged in enumerate(zip(names, labels, strict=True)):
            is_new[i] = known[flagged] == 0
            known[flagged] -= 1
        return is_new


def read_baseline(path: str | os.PathLike[str]) -> Baseline:
    """Read the ``summary.json`` of an earlier audit."""
    path = Path(path)
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
        flagged = tuple(
            {name: str(entry[name]) for name in ("key", "id", "given_label") if name in entry}
            for entry in summary["flagged"]
        )
        if not all({"key", "given_label"} <= set(entry) for entry in flagged):
            raise KeyError("key")
        return Baseline(path.name, str(summary["label"]), flagged)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadChoice(f"{path}: cannot be read ({reason}); check the path.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadTable(
            f"{path.name}: is no summary.json of an audit with its list of flagged labels; audit the "
            "earlier table again to get one."
        ) from error


def flagged_labels(table: Table, judged: Judged) -> list[dict[str, str]]:
    """Return the flagged labels as a `Baseline` holds them, most suspect first."""
    rows = judged.ranked
    keys, labels = table.key_texts(rows), [table.classes[code] for code in table.codes[rows]]
    named = [{"key": key, "given_label": label} for key, label in zip(keys, labels, strict=True)]
    if table.id is None:
        return named
    return [{"id": name, **entry} for name, entry in zip(table.ids(rows), named, strict=True)]


def narrow(
    table: Table, judged: Judged, *, min_p_wrong: float = 0.0, baseline: Baseline | None = None
) -> tuple[Judged, list[str]]:
    """Return the labels with fewer of them called an issue, and what was left out, in words.

    Parameters
    ----------
    table : Table
    judged : Judged
        Every label as the model judges it.
    min_p_wrong : float, default=0
        Keep those that are wrong with at least this probability.
    baseline : Baseline, optional
        Keep those that were not flagged before.
    """
    flagged, notes = judged.ranked, []
    kept = np.ones(len(flagged), dtype=bool)
    if baseline is not None:
        kept = baseline.is_new(table, flagged)
        notes.append(_left_out(~kept, f"flagged before, in {baseline.name}"))
    if min_p_wrong > 0:
        is_likely = judged.rows["p_wrong"].to_numpy()[flagged] >= min_p_wrong
        notes.append(_left_out(kept & ~is_likely, f"less than {percent(min_p_wrong)} likely wrong"))
        kept &= is_likely
    ranked = flagged[kept]
    is_issue = np.zeros(len(judged.rows), dtype=bool)
    is_issue[ranked] = True
    rows = judged.rows.assign(is_label_issue=is_issue)
    return replace(judged, rows=rows, ranked=ranked, n_left_out=int((~kept).sum())), notes


def first_of(judged: Judged, top: int | None) -> tuple[Judged, list[str]]:
    """Return the labels with only the `top` most suspect ranked, and what was left out, in words."""
    if top is None or top >= len(judged.ranked):
        return judged, []
    note = f"Listed, as asked: the first {top} of {len(judged.ranked)} suspects."
    return replace(judged, ranked=judged.ranked[:top]), [note]


def _left_out(which: np.ndarray, why: str) -> str:
    return f"Left out, as asked: {int(which.sum())} of {which.size} flagged labels ({why})."


def check_narrowing(top: Any, min_p_wrong: Any) -> None:
    """Refuse a length that is none, and a probability that is none."""
    if top is not None:
        whole("top", top, 1)
    if not 0 <= number("min_p_wrong", min_p_wrong) <= 1:
        raise ValueError(f"min_p_wrong={min_p_wrong!r}; give a probability from 0 to 1.")
