"""A table in, an Audit out: the steps of `labelcut audit`, usable from Python."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from labelcut.auditing.cases import choose_cases
from labelcut.auditing.facts import column_weights, gather_facts
from labelcut.auditing.issues import Judged, issue_table, judge_labels, unlabeled_table
from labelcut.auditing.label_studio import label_studio_tasks
from labelcut.auditing.narrowing import (
    Baseline,
    check_narrowing,
    first_of,
    flagged_labels,
    narrow,
    read_baseline,
)
from labelcut.auditing.notes import tell_warning
from labelcut.auditing.page import render_page
from labelcut.auditing.progress import Progress, Tell, followed
from labelcut.auditing.reasons import tell_reasons
from labelcut.auditing.review_curve import plant_and_find
from labelcut.auditing.unusual import compare_with_classes, far_out_notes
from labelcut.errors import BadChoice, BadTable, Option
from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.hnc.clock import hear_stages
from labelcut.hnc.labels import Labels
from labelcut.parameters import one_of, texts
from labelcut.table.applying import with_decisions
from labelcut.table.decisions import Decision, Matched, match, read_decisions
from labelcut.table.numbers import Encoded, encode
from labelcut.table.row_keys import OUR_PREFIX
from labelcut.table.saving import BASELINE_READ, DECISIONS_READ, TABLE_READ, staged_folder
from labelcut.table.source import Source
from labelcut.table.table import Table, as_pandas, label_texts, make_table, read_table
from labelcut.table.writing import csv_text, write_with_columns

FORMATS = ("files", "label-studio")
OUR_COLUMNS = (
    *("is_label_issue", "predicted_label", "label_quality", "label_confidence", "probability", "status"),
)
SUMMARY_PARTS = (
    *("schema", "version", "source", "label", "id", "group", "classes", "counts", "estimate", "evidence"),
    *("by_class", "budget", "unlabeled", "worth_knowing", "groups", "columns", "conflicts"),
)


@dataclass(frozen=True)
class Audit:
    """What was found out about the labels of a table.

    Attributes
    ----------
    table : Table
        The table; reviewed labels are already corrected in it.
    model : ConfidenceHNC
        The fitted classifier.
    judged : Judged
        Every label as the model judges it, and the ranking of the issues.
    issues : DataFrame
        The suspect labels, most suspect first, with the reason for each.
    facts : dict
        Everything the page shows.
    inputs : mapping of str to Path
        The files it was made from, by what they are; `save` never writes over them.
    flagged : sequence of mapping
        Every label that the model flags, known or not, likely or not: what a later audit takes as baseline.
    """

    table: Table
    model: ConfidenceHNC
    judged: Judged
    issues: pd.DataFrame
    facts: dict[str, Any]
    inputs: Mapping[str, Path] = field(default_factory=dict)
    flagged: Sequence[Mapping[str, str]] = ()

    @property
    def rows(self) -> pd.DataFrame:
        """One line per row of the table: label, prediction, status."""
        return self.judged.rows

    @cached_property
    def unlabeled(self) -> pd.DataFrame:
        """The rows without a label, least sure first: the predicted class and its probability."""
        return unlabeled_table(self.table, self.judged)

    def apply(self, decisions: pd.DataFrame | str | os.PathLike[str]) -> pd.DataFrame:
        """Return the audited rows with the labels that were decided; every other cell stays as it is.

        Parameters
        ----------
        decisions : DataFrame or path-like
            ``decisions.csv``, or a data frame with its columns, such as
            ``audit.issues.assign(decision="flip", label=audit.issues["predicted_label"])``.

        Returns
        -------
        DataFrame
            With ``max_rows`` only the sample; `labelcut.apply` takes the whole table.
        """
        table = self.table
        labels = label_texts(table.frame[table.label], blank="")
        marks = {text for text, code in zip(labels, table.codes, strict=True) if code < 0 and text}
        roles = {"label": table.label, "id": table.id, "kinds": {table.label: "category"}}
        as_given = make_table(table.frame, **cast(Any, roles), unlabeled=marks)
        return with_decisions(replace(as_given, index=table.index), read_decisions(decisions))

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The counts and estimates, as in ``summary.json``."""
        summary = {part: self.facts[part] for part in SUMMARY_PARTS}
        summary["model"] = {
            "preset": self.model.preset,
            "n_neighbors": int(self.model.graph_.n_neighbors),
            "tradeoff": np.asarray(self.model.tradeoff_, dtype=float).tolist(),
            "noise_rates": np.asarray(self.model.noise_rates_, dtype=float).round(4).tolist(),
        }
        summary["flagged"] = list(self.flagged)
        return summary

    def page(self) -> str:
        """Return the report as HTML."""
        return render_page(self.facts)

    def save(self, folder: str | os.PathLike[str], *, format: str = "files") -> list[Path]:
        """Write the report into a folder, all of it or nothing.

        Several threads or processes may save into one folder: they take turns, and the last one's files stay.

        Parameters
        ----------
        folder : path-like
            Made when it is not there; files of an earlier report in it are replaced, others stay.
        format : {"files", "label-studio"}, default="files"
            "label-studio" adds ``tasks.json`` with a prediction and a score for each suspect.

        Returns
        -------
        list of Path
            The files written.
        """
        if format not in FORMATS:
            raise BadChoice(f"no format is called {format!r}; choose from {', '.join(FORMATS)}.")
        target = Path(folder)
        source = self.table.source
        name = _table_name(source)
        with staged_folder(target, inputs=self.inputs) as stage:
            _write_text(stage / "report.html", self.page())
            _write_text(stage / "issues.csv", self._issues_csv())
            _write_text(stage / "summary.json", json.dumps(self.summary, indent=2, ensure_ascii=False) + "\n")
            if format == "label-studio":
                rows = self.judged.ranked[: len(self.issues)]
                tasks = label_studio_tasks(self.table, rows, self.issues, self.facts["version"])
                _write_text(stage / "tasks.json", json.dumps(tasks, indent=1, ensure_ascii=False) + "\n")
            if source is not None:
                write_with_columns(source, stage / name, self._our_columns())
            else:
                ours = self._our_columns()
                kept = {name: values[self.table.rows] for name, values in ours.items()}
                self.table.frame.assign(**cast(Any, kept)).to_csv(stage / name, index=False)
            written = sorted(file.name for file in stage.iterdir())
        return [target / file for file in written]

    def _issues_csv(self) -> str:
        issues = self.issues.round(
            {"label_quality": 6, "p_wrong": 6, "label_confidence": 6, "probability": 6}
        )
        return csv_text(list(issues.columns), issues.itertuples(index=False))

    def _our_columns(self) -> dict[str, np.ndarray]:
        """Return our columns for every row of the file, empty for rows that were not audited."""
        taken = {column.name for column in self.table.columns}
        result = {}
        for name in OUR_COLUMNS:
            full = self.rows[name].to_numpy()
            if len(full) < self.table.n_rows_in_file:
                full = np.full(self.table.n_rows_in_file, None, dtype=object)
                full[self.table.rows] = self.rows[name].to_numpy()
            number, unique = 1, OUR_PREFIX + name
            while unique in taken:
                number += 1
                unique = f"{OUR_PREFIX}{name}_{number}"
            result[unique] = full
        return result

    def _repr_html_(self) -> str:
        """Show the page inside a notebook, in a frame of its own."""
        from html import escape

        frame = 'width="100%" height="900" style="border:0" sandbox="allow-scripts allow-downloads"'
        return f'<iframe srcdoc="{escape(self.page(), quote=True)}" {frame}></iframe>'

    def __repr__(self) -> str:
        """Return one line: how many suspects among how many labels."""
        counts = self.facts["counts"]
        return f"Audit({self.table.name}: {counts['suspects']} suspects among {counts['labeled']} labels)"


def audit(
    table: pd.DataFrame | str | os.PathLike[str],
    *,
    label: str,
    id: str | None = None,
    group: str | None = None,
    ignore: Iterable[str] = (),
    unlabeled: Iterable[str] = (),
    positive: str | None = None,
    merge_labels: bool = False,
    ordered: Iterable[str] = (),
    kinds: Mapping[str, str] | None = None,
    max_rows: int | None = None,
    decisions: pd.DataFrame | str | os.PathLike[str] | None = None,
    top: int | None = None,
    min_p_wrong: float = 0.0,
    baseline: str | os.PathLike[str] | None = None,
    preset: str = "default",
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
    label : str
        The column with the labels; a missing one means that the row is unlabeled.
    id, group : str, optional
        A column that names the rows, and one whose values are compared by their share of wrong labels.
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
        With ``issues``, ``summary`` and ``save``; in a notebook it shows the page.
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
            ignore=texts("ignore", ignore),
            unlabeled=texts("unlabeled", unlabeled),
            positive=positive,
            merge_labels=one_of("merge_labels", merge_labels, (True, False)),
            ordered=texts("ordered", ordered),
            kinds=kinds,
            max_rows=max_rows,
        )
        return audit_table(
            made,
            decisions=read_decisions(decisions) if decisions is not None else (),
            inputs={what: file for what, file in read.items() if file is not None},
            top=top,
            min_p_wrong=min_p_wrong,
            baseline=read_baseline(baseline) if baseline is not None else None,
            preset=preset,
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
    decisions: Sequence[Decision] = (),
    inputs: Mapping[str, Path] | None = None,
    top: int | None = None,
    min_p_wrong: float = 0.0,
    baseline: Baseline | None = None,
    preset: str = "default",
    n_jobs: int | None = None,
    on_step: Progress | None = None,
) -> Audit:
    """Audit a table that was already read.

    Parameters
    ----------
    table : Table
    decisions : sequence of Decision
        Taken as certain.
    inputs : mapping of str to Path, optional
        The files that the table and the decisions were read from, by what they are.
    top, min_p_wrong, baseline
        As in `audit`; the baseline is already read.
    preset : {"default", "paper", "literal"}
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
    matched = match(decisions, table)
    table, encoded, model, judged = judge_table(table, matched, preset, n_jobs, on_step)
    on_step("planted errors")
    likely = np.where(judged.is_suspect, judged.predicted, table.codes)
    check = plant_and_find(encoded.X, likely, float(np.nanmean(model.p_wrong_)), n_jobs)
    on_step("reasons")
    flagged = flagged_labels(table, judged)
    judged, left_out = narrow(table, judged, min_p_wrong=min_p_wrong, baseline=baseline)
    listed, not_listed = first_of(judged, top)
    table = replace(table, notes=(*table.notes, *left_out, *not_listed))
    weights = column_weights(table, encoded, model)
    cases = choose_cases(table, model, listed)
    comparison = compare_with_classes(table, cases.rows, cases.own, cases.other, weights)
    n_shown = len(cases.suspects)
    reasons = tell_reasons(table, model, listed, listed.ranked, comparison.unusual[:n_shown])
    issues = issue_table(table, listed, reasons)
    reasons = reasons[:n_shown] + tell_reasons(table, model, judged, cases.unlabeled, [])
    on_step("report")
    facts = gather_facts(table, encoded, model, judged, cases, reasons, weights, matched, check, comparison)
    own = {TABLE_READ: table.source.path} if table.source else {}
    return Audit(table, model, judged, issues, facts, own | dict(inputs or {}), flagged)


def judge_table(
    table: Table, matched: Matched, preset: str, n_jobs: int | None, on_step: Progress
) -> tuple[Table, Encoded, ConfidenceHNC, Judged]:
    """Fit a table with its decisions held as certain.

    Returns the table with decided labels and notes, its numbers, the model, and what that says of the labels.
    """
    table, trust = _with_decisions(table, matched)
    on_step("columns to numbers")
    encoded = encode(table)
    with hear_stages(on_step.hear):
        model, notes = _fit(ConfidenceHNC(preset, n_jobs=n_jobs), encoded.X, table, trust)
    table = replace(table, notes=(*table.notes, *notes, *far_out_notes(encoded, model)))
    return table, encoded, model, judge_labels(table, model)


def file_names(source: Source | None, format: str) -> list[str]:
    """Return the names of the files that `Audit.save` writes."""
    tasks = ["tasks.json"] if format == "label-studio" else []
    return ["report.html", "issues.csv", "summary.json", *tasks, _table_name(source)]


def _write_text(path: Path, text: str) -> None:
    """Write UTF-8; half a surrogate pair, which text may hold and UTF-8 cannot, becomes a question mark."""
    path.write_text(text, encoding="utf-8", errors="replace", newline="")


def _table_name(source: Source | None) -> str:
    return "table" + (source.suffix if source else ".csv")


def _fit(
    model: ConfidenceHNC, X: np.ndarray, table: Table, trust: np.ndarray
) -> tuple[ConfidenceHNC, list[str]]:
    """Fit the model to the labels as the table reads them; what it warns of becomes notes for the report."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            model.fit(X, Labels.of_codes(table.classes, table.codes), sample_weight=trust)
        except ValueError as error:
            raise BadTable(f"{table.name}: {error}") from error
    told = [warned.message for warned in caught if issubclass(warned.category, UserWarning)]
    return model, [tell_warning(str(message)) for message in told]


def _with_decisions(table: Table, matched: Matched) -> tuple[Table, np.ndarray]:
    """Return the table with the decided labels, and the trust in each label: infinite where decided."""
    classes = list(table.classes)
    codes, trust = table.codes.copy(), np.ones(len(table.codes))
    for row, label in matched.labels.items():
        if label not in classes:
            classes.append(label)
        codes[row], trust[row] = classes.index(label), np.inf
    return replace(table, codes=codes, classes=tuple(classes)), trust
