"""What an audit found, and how it is saved."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from labelcut.auditing.annotators import annotator_table, consensus_table
from labelcut.auditing.consensus import choose_consensus, consensus_of, with_consensus
from labelcut.auditing.issues import Judged, unlabeled_table
from labelcut.auditing.label_studio import label_studio_tasks
from labelcut.auditing.page import render_page
from labelcut.errors import BadChoice
from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.table.applying import with_decisions
from labelcut.table.decisions import Decision, match, read_decisions
from labelcut.table.names import OUR_PREFIX
from labelcut.table.saving import staged_folder
from labelcut.table.source import Source
from labelcut.table.table import Table, label_texts, make_table
from labelcut.table.writing import csv_text, write_with_columns

__all__ = ["Audit", "file_names", "our_names"]

FORMATS = ("files", "label-studio")
OUR_COLUMNS = (
    *("is_label_issue", "predicted_label", "label_quality", "label_confidence", "probability", "status"),
)
CROWD_COLUMNS = (
    *("consensus", "consensus_probability", "n_labels", "n_agree"),
    *("is_label_issue", "label_quality", "label_confidence", "status"),
)
SUMMARY_PARTS = (
    *("schema", "version", "source", "label", "id", "group", "classes", "counts", "estimate", "evidence"),
    *("by_class", "budget", "unlabeled", "annotators", "worth_knowing", "groups", "columns", "conflicts"),
    *("image", "text", "pictures"),
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

    @cached_property
    def consensus(self) -> pd.DataFrame:
        """The consensus of several annotators on every row, its probability, and how many labels agree."""
        self._check_annotators("consensus")
        return consensus_table(self.table, self.model)

    @cached_property
    def annotators(self) -> pd.DataFrame:
        """The annotators: number of labels, share of right ones, its standard error, how often alone."""
        self._check_annotators("annotators")
        return annotator_table(self.table, self.model)

    def ask_next(self, n: int) -> pd.DataFrame:
        """Return the rows for which one more label would tell most, and by whom; of several annotators.

        Parameters
        ----------
        n : int
            How many rows.

        Returns
        -------
        DataFrame
            Index ``row``, the place of the row in the table; ``id``, if there is one, ``consensus`` and its
            ``probability``, ``bits`` that one more label would tell, and ``annotator``, who would tell most.
        """
        self._check_annotators("ask_next")
        asked = self.model.ask_next(n)
        if self.table.id is not None:
            asked.insert(0, "id", self.table.ids(asked.index.to_numpy(dtype=np.intp)))
        return asked

    def _check_annotators(self, name: str) -> None:
        if self.table.annotators is None:
            raise AttributeError(f"{name} is for several annotators, but this table has one label column.")

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
            With ``max_rows`` only the sample; `labelcut.apply` takes the whole table. With several annotators
            the column ``labelcut_consensus`` holds what was decided, elsewhere the consensus.
        """
        table = self.table
        if table.annotators is not None:
            return self._with_consensus(read_decisions(decisions))
        labels = label_texts(table.frame[table.label], blank="")
        marks = {text for text, code in zip(labels, table.codes, strict=True) if code < 0 and text}
        roles = {"label": table.label, "id": table.id, "kinds": {table.label: "category"}}
        as_given = make_table(table.frame, **cast(Any, roles), unlabeled=marks, has_to_judge=False)
        return with_decisions(replace(as_given, index=table.index), read_decisions(decisions))

    def _with_consensus(self, decisions: list[Decision]) -> pd.DataFrame:
        """Return the audited rows with what was decided, elsewhere the consensus."""
        matched, model = match(decisions, self.table), self.model
        for conflict in matched.conflicts:
            warnings.warn(f"decision not used, {conflict}", UserWarning, stacklevel=3)
        found = consensus_of(model.consensus_, model.consensus_probability_, model.status_)
        return with_consensus(self.table, choose_consensus(self.table, matched, found))

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The counts and estimates, as in ``summary.json``."""
        summary = {part: self.facts[part] for part in SUMMARY_PARTS}
        summary["model"] = {
            "preset": self.model.preset,
            "n_neighbors": int(self.model.graph_.n_neighbors),
            "tradeoff": np.asarray(self.model.tradeoff_, dtype=float).tolist(),
            "experts": self.facts.get("experts", {}).get("list", []),
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
            if self.table.annotators is not None:
                people = self.annotators.rename_axis("annotator").reset_index().round(6)
                text = csv_text(list(people.columns), people.itertuples(index=False))
                _write_text(stage / "annotators.csv", text)
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
        said, rows = self.table.annotators, self.rows
        ours: tuple[str, ...] = OUR_COLUMNS
        if said is not None:
            rows, ours = pd.concat([self.consensus, rows], axis=1), CROWD_COLUMNS
        names = our_names([column.name for column in self.table.columns], ours)
        result = {}
        for name in names:
            full = rows[name].to_numpy()
            if said is not None and said.lines is not None:
                full = np.array([*full, None], dtype=object)[said.lines]  # -1 for lines of no row.
            elif len(full) < self.table.n_rows_in_file:
                full = np.full(self.table.n_rows_in_file, None, dtype=object)
                full[self.table.rows] = rows[name].to_numpy()
            result[names[name]] = full
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


def our_names(taken: Sequence[str], ours: Sequence[str] = OUR_COLUMNS) -> dict[str, str]:
    """Return what each of our columns is called beside those that a table has already."""
    names = {}
    for name in ours:
        number, unique = 1, OUR_PREFIX + name
        while unique in taken:
            number += 1
            unique = f"{OUR_PREFIX}{name}_{number}"
        names[name] = unique
    return names


def file_names(source: Source | None, format: str, *, has_annotators: bool = False) -> list[str]:
    """Return the names of the files that `Audit.save` writes."""
    more = ["tasks.json"] if format == "label-studio" else []
    more += ["annotators.csv"] if has_annotators else []
    return ["report.html", "issues.csv", "summary.json", *more, _table_name(source)]


def _write_text(path: Path, text: str) -> None:
    """Write UTF-8; half a surrogate pair, which text may hold and UTF-8 cannot, becomes a question mark."""
    path.write_text(text, encoding="utf-8", errors="replace", newline="")


def _table_name(source: Source | None) -> str:
    return "table" + (source.suffix if source else ".csv")
