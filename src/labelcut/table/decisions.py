"""What a person decided about suspect labels: read, matched with a table, reported where it clashes.

A decision names its row by id, or by a key made of the row's content, so it survives a changed row order.
"""

from __future__ import annotations

import csv
import io
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelcut.errors import BadChoice, BadTable
from labelcut.table.label_column import spelling
from labelcut.table.reading import as_label
from labelcut.table.studio import Choice, is_export, read_export
from labelcut.table.writing import unguarded

if TYPE_CHECKING:
    from labelcut.table.table import Table

FIELDS = ("key", "id", "row", "given_label", "decision", "label", "label_column", "id_column")
VERDICTS = ("keep", "flip", "unsure")


@dataclass(frozen=True)
class Decision:
    """One line of ``decisions.csv``: `label` is what the row should carry, empty when unsure."""

    key: str
    id: str
    row: str
    given_label: str
    verdict: str
    label: str
    line: int
    label_column: str = ""
    id_column: str = ""
    unit: str = "line"
    is_older: bool = False  # Somebody decided again later.

    @property
    def place(self) -> str:
        """Where it stands in its file."""
        return f"{self.unit} {self.line}"

    def cells(self) -> list[str]:
        """Return the line again, in the order of `FIELDS`."""
        named = [self.key, self.id, self.row, self.given_label, self.verdict, self.label]
        return [*named, self.label_column, self.id_column]


@dataclass(frozen=True)
class Matched:
    """Decisions laid on a table: certain labels by position, unsure rows, and what did not fit."""

    labels: dict[int, str] = field(default_factory=dict)
    unsure: frozenset[int] = frozenset()
    conflicts: tuple[str, ...] = ()
    used: dict[int, Decision] = field(default_factory=dict)

    def changed(self, table: Table) -> dict[int, str]:
        """Return the rows whose label differs from the table's, by row number in the file."""
        return {
            int(table.rows[i]): label
            for i, label in self.labels.items()
            if table.codes[i] < 0 or table.classes[table.codes[i]] != label
        }


def read_decisions(decisions: Any) -> list[Decision]:
    """Read decisions from ``decisions.csv`` as the page saves it, or from a data frame with its columns.

    Columns may come in any order, others are ignored. A file of JSON is read as an export of Label Studio.

    Parameters
    ----------
    decisions : path-like or DataFrame
    """
    if isinstance(decisions, str | os.PathLike):
        return _read_file(Path(decisions))
    frame = decisions.to_pandas() if hasattr(decisions, "to_pandas") else decisions
    if not hasattr(frame, "to_dict") or not hasattr(frame, "columns"):
        raise TypeError(
            f"decisions is a {type(decisions).__name__}; give the path of decisions.csv or a data frame."
        )
    _check_names("decisions", map(str, frame.columns))
    records = enumerate(frame.to_dict("records"), start=1)
    return [
        _decision("decisions", number, {str(key): record[key] for key in record})
        for number, record in records
    ]


def _read_file(path: Path) -> list[Decision]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadChoice(f"{path}: cannot be read ({reason}); check the path.") from error
    except UnicodeDecodeError as error:
        raise BadTable(f"{path.name}: is not UTF-8 ({error.reason}); save it as UTF-8.") from error
    if is_export(text):
        return [_of_choice(choice) for choice in read_export(text, path.name)]
    if "\0" in text:
        raise BadTable(f"{path.name}: holds a NUL byte; this is no decisions file.")
    reader = csv.DictReader(io.StringIO(text), delimiter=_delimiter(text))
    _check_names(path.name, reader.fieldnames or ())
    return [_decision(path.name, reader.line_num, row) for row in reader]


def _of_choice(choice: Choice) -> Decision:
    """Return what was chosen in Label Studio as a decision."""
    given, label = choice.given_label, choice.label
    verdict = "unsure" if not label else "keep" if label == given else "flip"
    named, columns = (choice.key, choice.id, choice.row, given), (choice.label_column, choice.id_column)
    return Decision(*named, verdict, label, choice.task, *columns, "task", choice.is_older)


def _check_names(where: str, names: Iterable[str]) -> None:
    missing = {"decision", "label", "given_label"} - set(names)
    if missing:
        raise BadTable(
            f"{where}: no column {', '.join(sorted(missing))}; expected {', '.join(FIELDS)}, "
            "as the report's Save button writes them."
        )


def _decision(where: str, line: int, row: Mapping[str, Any]) -> Decision:
    """Return the decision of one line, or refuse what is none."""
    cells = {name: unguarded(_cell(row.get(name)).strip()) for name in FIELDS}
    verdict = cells["decision"].lower()
    if verdict not in VERDICTS:
        raise BadTable(
            f"{where}: line {line} says {cells['decision']!r}; a decision is keep, flip or unsure."
        )
    if verdict != "unsure" and not cells["label"]:
        raise BadTable(f"{where}: line {line} decides {verdict} but names no label; fill the column label.")
    if verdict == "keep" and cells["label"] != cells["given_label"]:
        raise BadTable(
            f"{where}: line {line} keeps {cells['given_label']!r} but names the label "
            f"{cells['label']!r}; a changed label is a flip."
        )
    if not cells["key"] and not cells["id"]:
        raise BadTable(f"{where}: line {line} names no row; fill the column key or id.")
    named = (cells["key"], cells["id"], cells["row"], cells["given_label"])
    columns = (cells["label_column"], cells["id_column"])
    return Decision(*named, verdict, cells["label"], line, *columns)


def _cell(value: Any) -> str:
    """Return a cell as text; what is missing is empty, and a label is written as a table's label is."""
    is_missing = value is None or value != value or str(value) == "<NA>"
    return "" if is_missing else as_label(value)


def columns_meant(decisions: list[Decision]) -> tuple[str | None, str | None]:
    """Return the label column and the id column the decisions were made on, None where they do not say."""
    labels = {decision.label_column for decision in decisions}
    ids = {decision.id_column for decision in decisions}
    if len(labels) > 1 or len(ids) > 1:
        raise BadTable("the decisions are about more than one label or id column; keep one in each file.")
    return next(iter(labels), "") or None, next(iter(ids), "") or None


def _delimiter(text: str) -> str:
    """Spreadsheets save csv with semicolons in half of Europe."""
    header = text.split("\n", 1)[0]
    return ";" if header.count(";") > header.count(",") else ","


def match(decisions: Sequence[Decision], table: Table) -> Matched:
    """Find the row of each decision.

    Rows with the same key (equal content) are taken in order, each by one decision. A decision whose row
    is gone, whose row now carries a label that was neither the old nor the new one, or that contradicts an
    earlier decision on the same row, is not used but reported. A label that no row of the table carries is
    refused: it is a slip, or the file was made for another table.

    Labels that an audit merged differ from their cells in case or blanks. Such a cell is the label, too, and
    stays as it is unless another class was decided.
    """
    rows_of: dict[str, list[int]] = defaultdict(list)
    by_id = table.id is not None
    keys = table.key_texts()
    for i, name in enumerate(table.ids() if by_id else keys):
        rows_of[name].append(i)
    rows_of.pop("", None)
    labels: dict[int, str] = {}
    unsure: set[int] = set()
    conflicts = []
    decided: dict[int, Decision] = {}
    for decision in decisions:
        what = f"{decision.place} ({'id ' + decision.id if decision.id else 'key ' + decision.key})"
        rows = rows_of.get(decision.id if by_id else decision.key, [])
        if not rows and by_id and decision.key:  # The id was changed or cut; the content may still tell.
            rows = [i for i, key in enumerate(keys) if key == decision.key]
        if not rows:
            conflicts.append(f"{what}: no such row in the table; left out.")
            continue
        if by_id and len(rows) > 1:
            conflicts.append(f"{what}: {len(rows)} rows have this id; left out.")
            continue
        row = _row_meant(decision, rows, table, decided)
        if row is None:
            found = _label(table, rows[0]) or "no label"
            conflicts.append(
                f"{what}: decided on {decision.given_label!r}, but the row is now {found!r}; left out."
            )
            continue
        wanted = _label_meant(decision, _label(table, row), table)
        if wanted is None:
            conflicts.append(f"{what}: {_unknown_label(decision, table)}")
            continue
        earlier = decided.get(row)
        if earlier is not None and decision.is_older:
            said = f"chose {decision.label!r}" if decision.label else "chose nothing"
            conflicts.append(f"{what}: an older annotation {said}; the latest one is used.")
            continue
        if earlier is not None and (earlier.verdict, earlier.label) != (decision.verdict, decision.label):
            conflicts.append(f"{what}: contradicts line {earlier.line}; the earlier one is used.")
            continue
        decided[row] = decision
        if decision.verdict == "unsure":
            unsure.add(row)
        else:
            labels[row] = wanted
    return Matched(labels, frozenset(unsure), tuple(conflicts), decided)


def _row_meant(decision: Decision, rows: Sequence[int], table: Table, decided: Collection[int]) -> int | None:
    """Return the row whose label fits the decision, of equal rows the first that is not decided yet."""
    if table.annotators is not None:  # What they say together moves with each label; the row is the same.
        return next((i for i in rows if i not in decided), rows[0])
    own = {i: _label(table, i) for i in rows}
    is_empty = not decision.given_label  # decided on no label: that of a row which is empty, or a mark for it
    exact = [i for i in rows if own[i] == decision.given_label or (is_empty and table.codes[i] < 0)]
    exact += [i for i in rows if own[i] == decision.label and i not in exact]
    meant = {spelling(decision.given_label), spelling(decision.label)}
    alike = [i for i in rows if i not in exact and spelling(own[i]) in meant]
    # Of equal rows whose labels are spelled apart, only the number of the row tells which is meant.
    named = [i for i in (*exact, *alike) if str(table.rows[i] + 1) == decision.row]
    fitting = [*named, *(exact or alike)]
    return next((i for i in fitting if i not in decided), fitting[0] if fitting else None)


def _label_meant(decision: Decision, own: str, table: Table) -> str | None:
    """Return the label a row should carry: one of the table's, its own if that is only spelled otherwise."""
    if own != decision.given_label and spelling(own) == spelling(decision.label):
        return own
    if not decision.label or decision.label in table.classes:
        return decision.label
    alike = [name for name in table.classes if spelling(name) == spelling(decision.label)]
    return alike[0] if len(alike) == 1 else None


def _unknown_label(decision: Decision, table: Table) -> str:
    """Refuse a label that no row carries; of a sample, which need not hold every class, say so only."""
    if len(table.rows) < table.n_rows_in_file:
        return f"no row of the sample is labeled {decision.label!r}; left out."
    known = ", ".join(map(repr, table.classes[:8])) + (" ..." if len(table.classes) > 8 else "")
    raise BadTable(
        f"{table.name}: {decision.place} of the decisions sets the label {decision.label!r}, which no "
        f"row carries (there are {known}); correct it, or give a row that label first if it is a new class."
    )


def _label(table: Table, row: int) -> str:
    """Return a row's label; of an unlabeled row the mark that says so, empty if there is none."""
    code = int(table.codes[row])
    if code >= 0:
        return table.classes[code]
    from labelcut.table.table import label_texts  # Heavy, and a table that is there has loaded it.

    return label_texts(table.frame[table.label].iloc[[row]], blank="")[0]
