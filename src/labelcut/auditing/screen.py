"""An audit on a screen: a dozen lines and the five most suspect labels, whatever the names."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from labelcut.auditing.words import counted, fitted, grouped, percent, squeezed

N_SUSPECTS = 5
MOST_NOTES = 3
LONGEST_NAME = 24  # Of a row or a label; the middle of a longer one is left out.
MARGIN = " " * 9  # Below the probabilities.


class Line(NamedTuple):
    """A line of text and how it looks: "", "bold", "dim" or "yellow"."""

    text: str
    style: str = ""


def summary_lines(facts: dict[str, Any], issues: pd.DataFrame, report: Path, width: int) -> list[Line]:
    """Return what was found, in lines that fit.

    Parameters
    ----------
    facts : dict
        Of an audit.
    issues : DataFrame
        The suspects, most suspect first.
    report : Path
        Where the page is.
    width : int
        Letters in a line.
    """
    headline = facts["headline"]
    lines = [Line(headline["number"] + headline["title"], "bold")]
    for text in (_counts(facts["counts"]), *headline["lines"]):
        lines += _wrapped(text, width)
    lines += _columns(facts["columns"], width)
    lines += _people(facts["annotators"], width)
    lines += _notes([f"note: {note}" for note in facts["source"]["notes"]], width)
    lines += _notes([f"decision not used, {conflict}" for conflict in facts["conflicts"]], width)
    lines += [Line(fitted(f"also: {found['text']}", width)) for found in facts["worth_knowing"][:MOST_NOTES]]
    for issue in issues.head(N_SUSPECTS).to_dict("records"):
        lines += _suspect(issue, width)
    if len(issues) > N_SUSPECTS:
        lines.append(Line(f"{MARGIN}and {counted(len(issues) - N_SUSPECTS, 'other')} in the report", "dim"))
    return [*lines, Line(f"report: {report}")]


def _counts(counts: dict[str, int]) -> str:
    text = f"{counted(counts['rows'], 'row')}, {grouped(counts['labeled'])} labeled"
    text += f", {grouped(counts['unlabeled'])} not"
    if counts["reviewed"]:
        text += f"; {counted(counts['reviewed'], 'reviewed label')} held as certain"
    return text + "."


def _columns(columns: list[dict[str, Any]], width: int) -> list[Line]:
    """Return a line with the columns in use, and one with those that are not."""
    lines = []
    for role, text in (("feature", "used"), ("ignored", "not used")):
        named = [f"{column['name']} ({column['kind']})" for column in columns if column["role"] == role]
        if named:
            lines.append(Line(_listed(f"{text}: ", named, width), "dim"))
    return lines


def _people(facts: dict[str, Any] | None, width: int) -> list[Line]:
    """Return a line with the annotators, one with what they disagree about most, and whom to ask what."""
    if facts is None:
        return []
    names = facts["names"]
    people = [
        f"{squeezed(one['name'], LONGEST_NAME)} {percent(one['quality'])} ± {percent(one['standard_error'])}"
        for one in facts["quality"]
    ]
    lines = [Line(_listed("right labels: ", people, width))]
    if rows := [squeezed(one["id"], LONGEST_NAME) for one in facts["disagreements"]]:
        lines.append(Line(_listed("disagree most about: ", rows, width)))
    asked = [
        squeezed(one["id"], LONGEST_NAME) + ("" if one["ask"] is None else f" ({names[one['ask']]})")
        for one in facts["ask_next"]
    ]
    return [*lines, Line(_listed("ask next: ", asked, width))] if asked else lines


def _listed(start: str, names: list[str], width: int) -> str:
    """Return as many names as fit into a line, and how many there are besides."""
    for n in range(len(names), 0, -1):
        more = f" and {len(names) - n} more" if n < len(names) else ""
        text = start + ", ".join(names[:n]) + more
        if len(text) <= width:
            return text
    return fitted(f"{start}{counted(len(names), 'column')}", width)


def _notes(notes: list[str], width: int) -> list[Line]:
    lines = [line for note in notes[:MOST_NOTES] for line in _wrapped(note, width, "yellow")]
    if len(notes) > MOST_NOTES:
        lines.append(Line(f"and {counted(len(notes) - MOST_NOTES, 'other')} in the report", "yellow"))
    return lines


def _suspect(issue: Mapping[Any, Any], width: int) -> list[Line]:
    name = str(issue["id"]) if "id" in issue else f"row {issue['row']}"
    label, other = (squeezed(str(issue[part]), LONGEST_NAME) for part in ("given_label", "predicted_label"))
    start = f"{percent(issue['p_wrong']):>7}"
    first = f"{start}  {squeezed(name, LONGEST_NAME)}: {label} → {other}"
    return [Line(fitted(first, width)), Line(fitted(MARGIN + str(issue["reason"]), width), "dim")]


def _wrapped(text: str, width: int, style: str = "") -> list[Line]:
    return [Line(part, style) for part in textwrap.wrap(text, width, subsequent_indent="  ", max_lines=4)]
