"""What a large audit found, and how it is written: part by part, all of it or nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from labelcut.auditing.page import render_page
from labelcut.auditing.result import OUR_COLUMNS, SUMMARY_PARTS, our_names
from labelcut.errors import BadChoice
from labelcut.large.answers import STATUS, Answers
from labelcut.large.nodes import Nodes
from labelcut.large.parts import Part, Shape, read_part
from labelcut.table.saving import staged_folder

__all__ = ["LargeAudit"]

#: Flagged labels that ``summary.json`` lists; ``issues.parquet`` has all of them.
MOST_FLAGGED = 100_000


@dataclass(frozen=True, eq=False)
class LargeAudit:
    """What was found out about the labels of a table that is read in parts.

    Attributes
    ----------
    issues : DataFrame
        The suspect labels, most suspect first; the reason for the first of them, which the page shows.
    facts : dict
        Everything the page shows.
    parts : list of Part
        Where the rows are.
    nodes : Nodes
        The node of every row.
    answers : Answers
        What is said about every node.
    details : dict
        How the work was done: recall, seconds per stage, sizes.
    """

    issues: pd.DataFrame
    facts: dict[str, Any]
    parts: Sequence[Part] = field(repr=False)
    shape: Shape = field(repr=False)
    nodes: Nodes = field(repr=False)
    answers: Answers = field(repr=False)
    classes: tuple[str, ...]
    model: dict[str, Any]
    details: dict[str, Any]
    inputs: Mapping[str, Path] = field(default_factory=dict)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The counts and estimates, as in ``summary.json``."""
        summary = {part: self.facts[part] for part in SUMMARY_PARTS}
        names = [name for name in ("id", "key", "given_label") if name in self.issues]
        flagged = self.issues[names].head(MOST_FLAGGED).to_dict("records")
        return summary | {"model": self.model, "large": self.details, "flagged": flagged}

    def page(self) -> str:
        """Return the report of the most suspect rows as HTML."""
        return render_page(self.facts)

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield the rows with our columns, part by part."""
        for part in self.parts:
            yield self._with_ours(part)

    def save(self, folder: str | os.PathLike[str], *, format: str = "files") -> list[Path]:
        """Write the report into a folder, all of it or nothing.

        Parameters
        ----------
        folder : path-like
            Made when it is not there. The files of an earlier report in it are replaced, others stay.
        format : {"files"}, default="files"
            As in `Audit.save`; a large table has no other.

        Returns
        -------
        list of Path
            ``report.html``, ``issues.parquet``, ``summary.json`` and the rows with our columns,
            ``table-00001.parquet`` and so on, one for each file that was read.
        """
        if format != "files":
            raise BadChoice(f"a table in parts has no format {format!r}; leave it out, or audit fewer rows.")
        target = Path(folder)
        with staged_folder(target, inputs=self.inputs, replaced="table-*.parquet") as stage:
            (stage / "report.html").write_text(self.page(), encoding="utf-8", errors="replace", newline="")
            self.issues.to_parquet(stage / "issues.parquet", index=False)
            text = json.dumps(self.summary, indent=2, ensure_ascii=False) + "\n"
            (stage / "summary.json").write_text(text, encoding="utf-8", errors="replace", newline="")
            for number in sorted({part.file for part in self.parts}):
                own = [part for part in self.parts if part.file == number]
                self._write_file(stage / f"table-{number + 1:05d}.parquet", own)
            written = sorted(file.name for file in stage.iterdir())
        return [target / file for file in written]

    def _write_file(self, path: Path, parts: Sequence[Part]) -> None:
        """Write the rows of one file with our columns, one row group for each part."""
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        writer: Any = None
        try:
            for part in parts:
                table = pa.Table.from_pandas(self._with_ours(part), preserve_index=False)
                writer = writer or ParquetWriter(path, table.schema)
                writer.write_table(table.cast(writer.schema))
        finally:
            if writer is not None:
                writer.close()

    def _with_ours(self, part: Part) -> pd.DataFrame:
        frame = read_part(part, self.shape)
        nodes = self.nodes.place[self.nodes.of_part(part)]
        found = self.answers
        classes = np.array(self.classes, dtype=object)
        p_wrong = found.p_wrong[nodes]
        ours: dict[str, Any] = {
            "is_label_issue": found.is_issue[nodes],
            "predicted_label": pd.array(classes[found.predicted[nodes]], dtype="str"),
            "label_quality": 1.0 - p_wrong,
            "label_confidence": found.confidence[nodes],
            "probability": found.probability[nodes],
            "status": pd.array(np.array(STATUS, dtype=object)[found.status[nodes]], dtype="str"),
        }
        names = our_names(list(frame.columns))
        return frame.assign(**{names[name]: ours[name] for name in OUR_COLUMNS})

    def __repr__(self) -> str:
        """Return one line: how many suspects among how many labels."""
        counts = self.facts["counts"]
        name = self.facts["source"]["name"]
        return f"LargeAudit({name}: {counts['suspects']} suspects among {counts['labeled']} labels)"

    def _repr_html_(self) -> str:
        """Show the page inside a notebook, in a frame of its own."""
        from html import escape

        frame = 'width="100%" height="900" style="border:0" sandbox="allow-scripts allow-downloads"'
        return f'<iframe srcdoc="{escape(self.page(), quote=True)}" {frame}></iframe>'
