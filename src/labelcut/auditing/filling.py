"""The classes of unlabeled rows, to be written into a table: from a fresh fit, or from an audit's folder."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from labelcut.auditing.judging import judge_table
from labelcut.auditing.progress import Progress
from labelcut.errors import BadChoice, BadTable
from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.table.decisions import Matched
from labelcut.table.names import OUR_PREFIX
from labelcut.table.reading import read_frame
from labelcut.table.row_keys import row_keys
from labelcut.table.source import Source
from labelcut.table.table import Table, label_texts

_PARTS = ("predicted_label", "probability", "status")


@dataclass(frozen=True)
class Answers:
    """The class of each row of a table and its probability, 0 where there is no evidence for any."""

    labels: tuple[str, ...]
    probability: np.ndarray


@dataclass(frozen=True)
class Filled:
    """Labels to write, by row number in the file, and how many unlabeled rows stay empty for what reason."""

    labels: dict[int, str]
    n_below: int
    n_unknown: int


def fit_answers(
    table: Table, matched: Matched, n_jobs: int | None, on_step: Progress | None = None
) -> Answers:
    """Fit the table with its decisions held as certain, and return the class of every row."""
    table, _, model, judged = judge_table(table, matched, ConfidenceHNC(n_jobs=n_jobs), on_step or Progress())
    is_known = model.evidence_ is None or model.evidence_.is_there
    has_class = (judged.rows["status"] != "no evidence").to_numpy() & is_known
    probability = np.where(has_class, judged.rows["probability"].to_numpy(), 0.0)
    return Answers(tuple(judged.rows["predicted_label"].astype(str)), probability)


def read_answers(folder: Path, table: Table) -> Answers:
    """Return the classes that an audit of the same table wrote into its folder.

    Rows are found by their content, so their order may have changed; a row that the audit did not have, or
    not as an unlabeled one, gets no class.
    """
    assert table.source is not None, "only a table from a file is filled from a folder"
    summary = _read_summary(folder)
    if summary["label"] != table.label:
        raise BadChoice(
            f"{folder}: is an audit of the label {summary['label']!r}, not of {table.label!r}; "
            "give the folder of the right one."
        )
    frame = _read_audited(folder, table.source, table)
    names = {part: _our_column(folder, frame, part) for part in _PARTS}
    status = label_texts(frame[names["status"]], blank="")
    labels = label_texts(frame[names["predicted_label"]], blank="")
    probability = pd.to_numeric(frame[names["probability"]], errors="coerce").fillna(0.0).to_numpy()
    is_known = summary["evidence"]["is_there"] is not False
    waiting: dict[int, list[int]] = defaultdict(list)
    keys = row_keys(frame, table.label).tolist()
    for i in range(len(frame) - 1, -1, -1):  # The first of several equal rows is taken first.
        if status[i] == "unlabeled" and is_known:
            waiting[keys[i]].append(i)
    found_labels, found = [""] * len(table.keys), np.zeros(len(table.keys))
    for i in np.flatnonzero(~table.is_labeled).tolist():
        if places := waiting[int(table.keys[i])]:
            at = places.pop()
            found_labels[i], found[i] = labels[at], probability[at]
    return Answers(tuple(found_labels), found)


def fill_unlabeled(table: Table, matched: Matched, answers: Answers, min_probability: float) -> Filled:
    """Choose the unlabeled rows to fill in: those sure enough that no person has decided about.

    Parameters
    ----------
    table : Table
        As it was read; decided labels need not be in it.
    matched : Matched
        Decisions: a decided row has its label already, and one left unsure stays empty.
    answers : Answers
    min_probability : float
        Rows with a smaller probability stay empty.
    """
    labels, n_below, n_unknown = {}, 0, 0
    for i in np.flatnonzero(~table.is_labeled).tolist():
        if i in matched.labels or i in matched.unsure:
            continue
        if not answers.labels[i] or answers.probability[i] <= 0.0:
            n_unknown += 1
        elif answers.probability[i] < min_probability:
            n_below += 1
        else:
            labels[int(table.rows[i])] = answers.labels[i]
    return Filled(labels, n_below, n_unknown)


def _read_summary(folder: Path) -> dict[str, Any]:
    path = folder / "summary.json"
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
        return {"label": summary["label"], "evidence": dict(summary["evidence"])}
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadChoice(f"{path}: cannot be read ({reason}); give the folder that an audit wrote.") from error
    except (ValueError, TypeError, KeyError) as error:
        raise BadTable(f"{path}: is not the summary of an audit; audit the table again.") from error


def _read_audited(folder: Path, source: Source, table: Table) -> pd.DataFrame:
    path = folder / f"table{source.suffix}"
    if not path.exists():
        raise BadChoice(f"{path}: is not there; give the folder of an audit of {table.name}.")
    as_text = [name for name in (table.label, table.id) if name is not None]
    # Read as the table itself: an audit writes in the format, delimiter and encoding that it has read.
    return read_frame(replace(source, path=path), as_text=as_text)


def _our_column(folder: Path, frame: pd.DataFrame, part: str) -> str:
    """Return the column of the last audit; where the table held one of that name, ours has a number."""
    names = [str(name) for name in frame.columns]
    ours = [name for name in names if name == OUR_PREFIX + part or name.startswith(f"{OUR_PREFIX}{part}_")]
    if not ours:
        raise BadTable(f"{folder}: its table has no column {OUR_PREFIX + part!r}; audit the table again.")
    return ours[-1]
