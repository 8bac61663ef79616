"""The consensus of several annotators, to be written into a table: decisions first, then what was found."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from labelcut.auditing.judging import judge_table
from labelcut.auditing.progress import Progress
from labelcut.errors import BadChoice, BadTable
from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.table.annotators import CONSENSUS
from labelcut.table.decisions import Matched
from labelcut.table.reading import read_frame
from labelcut.table.row_keys import row_keys
from labelcut.table.table import Table, label_texts

__all__ = ["Chosen", "Consensus", "choose_consensus", "fit_consensus", "labels_meant", "read_consensus"]

PROBABILITY = f"{CONSENSUS}_probability"


@dataclass(frozen=True)
class Consensus:
    """The consensus on each row of a table, empty where there is none, and its probability."""

    labels: tuple[str, ...]
    probability: np.ndarray


@dataclass(frozen=True)
class Chosen:
    """What to write about each row of a table, and how many labels were decided, agreed on, left empty."""

    labels: tuple[str, ...]
    n_decided: int
    n_agreed: int
    n_empty: int

    def by_line(self, table: Table) -> list[str]:
        """Return the label of each line of the table's file."""
        said = table.annotators
        if said is None or said.lines is None:
            return list(self.labels)
        return [self.labels[row] if row >= 0 else "" for row in said.lines.tolist()]


def labels_meant(folder: Path) -> dict[str, Any]:
    """Return which columns hold the labels, the annotators and the ids, as the summary of an audit says."""
    path = folder / "summary.json"
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
        said, id_ = summary["annotators"], summary["id"]
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadChoice(f"{path}: cannot be read ({reason}); give the folder that an audit wrote.") from error
    except (ValueError, TypeError, KeyError) as error:
        raise BadTable(f"{path}: is not the summary of an audit; audit the table again.") from error
    if said is None:
        raise BadChoice(
            f"{folder}: is the audit of one label column, which needs no consensus; give the folder of an "
            "audit of several annotators."
        )
    if said["form"] == "long":
        return {"label": said["label"], "annotator": said["annotator"], "id": id_}
    return {"label": tuple(said["labels"]), "annotator": None, "id": id_}


def fit_consensus(
    table: Table, matched: Matched, n_jobs: int | None, on_step: Progress | None = None
) -> Consensus:
    """Fit the table with its decisions held as certain, and return the consensus on every row."""
    model = judge_table(table, matched, ConfidenceHNC(n_jobs=n_jobs), on_step or Progress())[2]
    return consensus_of(model.consensus_, model.consensus_probability_, model.status_)


def consensus_of(labels: np.ndarray, probability: np.ndarray, status: np.ndarray) -> Consensus:
    """Return the consensus of a fit; a row without labels and evidence has none."""
    is_open = status == "no evidence"
    texts = ("" if gone else str(label) for label, gone in zip(labels, is_open, strict=True))
    return Consensus(tuple(texts), np.where(is_open, 0.0, probability))


def read_consensus(folder: Path, table: Table) -> Consensus:
    """Return the consensus that an audit of the same table wrote into its folder.

    Rows are found by their id, without one by their content; a row that the audit did not have gets none.
    """
    assert table.source is not None, "only a table from a file has the folder of an audit"
    assert table.annotators is not None, "the table has one label a row"
    path = folder / f"table{table.source.suffix}"
    if not path.exists():
        raise BadChoice(f"{path}: is not there; give the folder of an audit of {table.name}.")
    as_text = [name for name in (*table.annotators.columns, table.id, CONSENSUS) if name is not None]
    frame = read_frame(replace(table.source, path=path), as_text=as_text)
    column, share = (_last(folder, frame, name) for name in (CONSENSUS, PROBABILITY))
    labels = label_texts(frame[column], blank="")
    probability = pd.to_numeric(frame[share], errors="coerce").fillna(0.0).to_numpy()
    waiting: dict[Any, list[int]] = defaultdict(list)
    for i, name in reversed(list(enumerate(_names(table, frame)))):
        waiting[name].append(i)  # The first of several equal rows is taken first.
    found, sure = [""] * len(table.codes), np.zeros(len(table.codes))
    for row, name in enumerate(_names(table, None)):
        if places := waiting.get(name):
            at = places.pop()
            found[row], sure[row] = labels[at], probability[at]
    return Consensus(tuple(found), sure)


def choose_consensus(
    table: Table, matched: Matched, found: Consensus, min_probability: float = 0.0
) -> Chosen:
    """Choose what to write: what a person decided, else the consensus if it is sure enough, else nothing.

    Parameters
    ----------
    table : Table
    matched : Matched
        Decisions; a row left unsure stays empty.
    found : Consensus
    min_probability : float, default=0
        A consensus that is less likely right is not written.
    """
    labels, n_agreed = [], 0
    for row, (label, sure) in enumerate(zip(found.labels, found.probability, strict=True)):
        if row in matched.labels:
            labels.append(matched.labels[row])
        elif row in matched.unsure or not label or sure < min_probability:
            labels.append("")
        else:
            labels.append(label)
            n_agreed += 1
    n_decided = len(matched.labels)
    return Chosen(tuple(labels), n_decided, n_agreed, len(labels) - n_decided - n_agreed)


def _names(table: Table, frame: pd.DataFrame | None) -> list[Any]:
    """Return what rows are found by: of the table, or of a frame that was read like it."""
    if table.id is not None:
        return table.ids() if frame is None else label_texts(frame[table.id], blank="")
    said = table.annotators
    assert said is not None
    keys = table.keys if frame is None else row_keys(frame, said.columns)
    return list(keys.tolist())


def _last(folder: Path, frame: pd.DataFrame, name: str) -> str:
    """Return the column of the last audit; where the table held one of that name, ours has a number."""
    names = [str(column) for column in frame.columns]
    numbered = [column for column in names if column.rpartition("_")[0] == name and column[-1].isdigit()]
    ours = [*(column for column in names if column == name), *numbered]
    if not ours:
        raise BadTable(f"{folder}: its table has no column {name!r}; audit the table again.")
    return ours[-1]


def with_consensus(table: Table, chosen: Chosen) -> pd.DataFrame:
    """Return the audited rows as a data frame with the consensus, in the words of the table."""
    labels: Mapping[str, Any] = {table.label: [label or None for label in chosen.labels]}
    return table.frame.assign(**labels).set_axis(table.index, axis=0)
