"""A table in, an Audit out: the steps of `labelcut audit`, usable from Python."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from labelcut.auditing.annotators import tell_outweighed, with_annotators
from labelcut.auditing.beside import near_columns
from labelcut.auditing.cases import choose_cases
from labelcut.auditing.facts import column_weights, gather_facts, look_over
from labelcut.auditing.issues import issue_table
from labelcut.auditing.judging import judge_table
from labelcut.auditing.narrowing import (
    Baseline,
    check_narrowing,
    first_of,
    flagged_labels,
    narrow,
    read_baseline,
)
from labelcut.auditing.pictures import find_pictures
from labelcut.auditing.progress import Progress, Tell, followed
from labelcut.auditing.reasons import tell_reasons
from labelcut.auditing.result import Audit
from labelcut.auditing.review_curve import plant_and_find
from labelcut.auditing.unusual import compare_with_classes
from labelcut.errors import BadChoice, Option
from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.memory import give_back
from labelcut.parameters import one_of, texts
from labelcut.table.beside import files_beside
from labelcut.table.decisions import Decision, match, read_decisions
from labelcut.table.saving import BASELINE_READ, DECISIONS_READ, TABLE_READ
from labelcut.table.table import Table, as_pandas, make_table, read_table


def audit(
    table: pd.DataFrame | str | os.PathLike[str],
    *,
    label: str | Sequence[str],
    id: str | None = None,
    group: str | None = None,
    image: str | None = None,
    image_root: str | os.PathLike[str] | None = None,
    text: str | None = None,
    annotator: str | None = None,
    ignore: Iterable[str] = (),
    unlabeled: Iterable[str] = (),
    positive: str | None = None,
    merge_labels: bool = False,
    ordered: Iterable[str] = (),
    kinds: Mapping[str, str] | None = None,
    max_rows: int | None = None,
    opinions: Mapping[str, Any] | None = None,
    embedding: Any = None,
    graph: Any = None,
    decisions: pd.DataFrame | str | os.PathLike[str] | None = None,
    top: int | None = None,
    min_p_wrong: float = 0.0,
    baseline: str | os.PathLike[str] | None = None,
    preset: str = "default",
    flags: str | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
    progress: Tell | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    missing: Iterable[str] | None = None,
    has_header: bool | None = None,
    sheet: str | None = None,
) -> Audit:
    """Find the labels of a table that are probably wrong.

    Parameters
    ----------
    table : DataFrame or path-like
        Numbers, categories, dates, texts, with gaps: as it is. Of polars frames a pandas copy is made.
        A path is read as by ``labelcut audit``: csv, tsv, parquet, feather, arff, json, xlsx, gzip'd text.
    label : str or list of str
        The column with the labels; a missing one means that the row is unlabeled. Several columns are one for
        each annotator.
    id, group : str, optional
        A column that names the rows, and one whose values are compared by their share of wrong labels.
    image : str, optional
        A column with the names of picture files, which the page shows; they are looked at by people only.
        Needs Pillow: ``pip install 'labelcut[images]'``.
    image_root : path-like, optional
        The folder that these names start from; by default that of the file, or the working directory.
    text : str, optional
        A column with a text that people read to decide: shown whole, telling words marked, and a feature.
    annotator : str, optional
        A column that says whose label a line holds, where the table has several lines per `id`.
    ignore : iterable of str
        Columns to leave out.
    unlabeled : iterable of str
        Label values that mean "not labeled".
    positive : str, optional
        Of two classes, the positive one.
    merge_labels : bool, default=False
        Take labels that differ only in case or blanks for one class.
    ordered : iterable of str
        Every class, in the order in which they are shown.
    kinds : mapping of str to str, optional
        Kinds of columns, where the guess is wrong.
    max_rows : int, optional
        Audit a random sample of so many rows.
    opinions : dict of str to array-like, DataFrame, path-like or str, optional
        Probabilities of every row by models that did not see its label: one column per class, in the order
        of the sorted classes or named after them. A file (.npy, .npz, or a table), or ``"PREFIX*"`` for the
        columns of the table that begin so. Lines are matched by `id` where they have it.
    embedding : array-like, path-like or str, optional
        Vectors that make the neighbours instead of the columns: a file, a column of lists, or ``"PREFIX*"``.
    graph : sparse matrix of shape (n_rows, n_rows), optional
        Distances to nearest rows, as in :meth:`ConfidenceHNC.fit`.
    decisions : path-like or DataFrame, optional
        ``decisions.csv`` of an earlier review, or a data frame with its columns: those labels are taken as
        certain.
    top : int, optional
        List only so many suspects, the most suspect first.
    min_p_wrong : float, default=0
        Suspect only labels that are wrong with at least this probability.
    baseline : path-like, optional
        ``summary.json`` of an earlier audit: only labels that it did not flag are suspects.
    preset : {"default", "paper", "literal"}
        As in `ConfidenceHNC`.
    flags : {"likely", "expected_f1", "side"}, optional
        Of the labels that the columns contradict, suspect those more likely wrong than right (the default's
        choice), those that give the largest expected F1, or all.
    n_jobs : int, optional
        Threads.
    verbose : bool, default=False
        Tell each stage on the standard error stream, with its time.
    progress : callable(stage, share), optional
        Called with the name of each stage as it begins and the share of the work done, at last with "done"
        and 1. An exception that it raises ends the audit.
    delimiter, encoding : str, optional
        Of a text file, where the guess is wrong.
    missing : iterable of str, optional
        The marks for missing values in a file.
    has_header : bool, optional
        Whether the first line of a csv holds the names of the columns; it does unless False is said.
    sheet : str, optional
        The sheet of an Excel file, by name or by number; the first one unless another is said.

    Returns
    -------
    Audit
        With ``issues``, ``summary`` and ``save``; with several annotators also ``consensus``, ``annotators``
        and ``ask_next``; in a notebook it shows the page.
    """
    check_narrowing(top, min_p_wrong)
    one_of("verbose", verbose, (True, False))
    marks = None if missing is None else texts("missing", missing)
    reading = {"delimiter": delimiter, "encoding": encoding, "missing": marks, "has_header": has_header}
    reading |= {"sheet": sheet}
    path = Path(decisions) if isinstance(decisions, str | os.PathLike) else None
    read = {DECISIONS_READ: path, BASELINE_READ: Path(baseline) if baseline is not None else None}
    with followed(progress, verbose=verbose) as on_step:
        on_step("reading")
        made = _as_table(
            table,
            {option: value for option, value in reading.items() if value is not None},
            label=label,
            id=id,
            group=group,
            image=image,
            text=text,
            annotator=annotator,
            ignore=texts("ignore", ignore),
            unlabeled=texts("unlabeled", unlabeled),
            positive=positive,
            merge_labels=one_of("merge_labels", merge_labels, (True, False)),
            ordered=texts("ordered", ordered),
            kinds=kinds,
            max_rows=max_rows,
            opinions=opinions,
            embedding=embedding,
            graph=graph,
        )
        return audit_table(
            made,
            image_root=image_root,
            decisions=read_decisions(decisions) if decisions is not None else (),
            inputs={what: file for what, file in read.items() if file is not None}
            | files_beside(opinions, embedding),
            top=top,
            min_p_wrong=min_p_wrong,
            baseline=read_baseline(baseline) if baseline is not None else None,
            preset=preset,
            flags=flags,
            n_jobs=n_jobs,
            on_step=on_step,
        )


def _as_table(table: Any, reading: Mapping[str, Any], **choices: Any) -> Table:
    """Return the Table of a file or of a data frame; `reading` says how a file is read."""
    if isinstance(table, str | os.PathLike):
        return read_table(table, **reading, **choices)
    frame = as_pandas(table)
    if reading:
        option = Option(*next(iter(reading.items())))
        raise BadChoice(option, " says how a file is read, and table is a data frame; leave it out.")
    return make_table(frame, **choices)


def audit_table(
    table: Table,
    *,
    image_root: str | os.PathLike[str] | None = None,
    decisions: Sequence[Decision] = (),
    inputs: Mapping[str, Path] | None = None,
    top: int | None = None,
    min_p_wrong: float = 0.0,
    baseline: Baseline | None = None,
    preset: str = "default",
    flags: str | None = None,
    n_jobs: int | None = None,
    on_step: Progress | None = None,
) -> Audit:
    """Audit a table that was already read.

    Parameters
    ----------
    table : Table
    image_root : path-like, optional
        Where the pictures are.
    decisions : sequence of Decision
        Taken as certain.
    inputs : mapping of str to Path, optional
        The files that the table and the decisions were read from, by what they are.
    top, min_p_wrong, baseline
        As in `audit`; the baseline is already read.
    preset : {"default", "paper", "literal"}
    flags : {"likely", "expected_f1", "side"}, optional
    n_jobs : int, optional
    on_step : Progress, optional
        Hears each step as it begins, and the stages of the fit.

    Returns
    -------
    Audit
    """
    on_step = on_step or Progress()
    # The default cuts all classes off in one stage, the published method in one for each.
    on_step.n_cuts = len(table.classes) if len(table.classes) > 2 and preset != "default" else 1
    on_step.n_fits = 1 if table.annotators is None else 2
    matched, files = match(decisions, table), find_pictures(table, image_root)
    asked = ConfidenceHNC(preset, flags=flags, n_jobs=n_jobs)
    table, encoded, model, judged = judge_table(table, matched, asked, on_step)
    give_back()
    on_step("planted errors")
    likely = np.where(judged.is_suspect, judged.predicted, table.codes)
    near = near_columns(table, encoded, model)
    check = plant_and_find(near[0], likely, float(np.nanmean(model.p_wrong_)), n_jobs)
    on_step("reasons")
    flagged = flagged_labels(table, judged)
    judged, left_out = narrow(table, judged, min_p_wrong=min_p_wrong, baseline=baseline)
    listed, not_listed = first_of(judged, top)
    table = replace(table, notes=(*table.notes, *left_out, *not_listed))
    weights = column_weights(table, encoded, model)
    cases = choose_cases(table, model, listed)
    overview = look_over(table, near, model, judged, cases, weights)
    del encoded, near  # as large as the table, and nobody asks for the numbers again
    give_back()
    comparison = compare_with_classes(table, cases.rows, cases.own, cases.other, weights)
    n_shown = len(cases.suspects)
    reasons = tell_reasons(table, model, listed, listed.ranked, comparison.unusual[:n_shown])
    give_back()
    issues = issue_table(table, listed, with_annotators(table, listed.ranked, reasons))
    of_open = tell_reasons(table, model, judged, cases.unlabeled, [])
    reasons = reasons[:n_shown] + tell_outweighed(table, model, judged, cases.unlabeled, of_open)
    give_back()
    on_step("report")
    facts = gather_facts(
        table, overview, model, judged, cases, reasons, weights, matched, check, comparison, files
    )
    own = {TABLE_READ: table.source.path} if table.source else {}
    return Audit(table, model, judged, issues, facts, own | dict(inputs or {}), flagged)
