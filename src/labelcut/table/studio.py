"""What people chose in Label Studio, to be decisions: its JSON export, whole or in short (JSON-MIN).

Each task carries the row that it is about in its data, as an audit wrote it into ``tasks.json``. Of several
annotations of a task the one that was changed last decides; those that were cancelled or skipped say nothing,
and one without a choice leaves the row unsure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from labelcut.errors import BadTable
from labelcut.table.names import OUR_PREFIX

__all__ = ["CONTROLS", "Choice", "is_export", "read_export", "task_data"]

#: What the choices of a task are called: the second if a column of the table has the name of the first.
CONTROLS = ("label", f"{OUR_PREFIX}label")

_PARTS = ("key", "id", "row", "given_label", "label_column", "id_column")
_EXPECTED = "export the project as JSON or JSON-MIN; its tasks have to be those of tasks.json"


@dataclass(frozen=True)
class Choice:
    """What was chosen for a row; an empty `label` is none. `is_older` if somebody chose again later."""

    key: str
    id: str
    row: str
    given_label: str
    label_column: str
    id_column: str
    label: str
    task: int
    is_older: bool


@dataclass(frozen=True)
class _Answer:
    """What one annotation of a task says: its choices, and when it was changed last."""

    choices: tuple[str, ...]
    updated: str


def task_data(**parts: object) -> dict[str, str]:
    """Return what a task has to carry so that its choice finds its row again."""
    return {OUR_PREFIX + name: str(parts[name]) for name in _PARTS}


def is_export(text: str) -> bool:
    """Say whether a text is JSON rather than a csv with decisions."""
    return text.lstrip()[:1] in ("[", "{")


def read_export(text: str, where: str) -> list[Choice]:
    """Read what was chosen in an export: of each row the latest choice, then others before it.

    Parameters
    ----------
    text : str
        The content of the file.
    where : str
        What to call it in messages.
    """
    try:
        tasks = json.loads(text)
    except ValueError as error:
        raise BadTable(f"{where}: is not JSON ({error}); {_EXPECTED}.") from error
    tasks = [tasks] if isinstance(tasks, dict) else tasks
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise BadTable(f"{where}: holds no list of tasks; {_EXPECTED}.")
    grouped: dict[tuple[str, ...], list[tuple[int, _Answer]]] = {}
    for number, task in enumerate(tasks, start=1):
        answers = list(_answers(task, f"{where}: task {number}"))
        if answers:
            row = _row(task, f"{where}: task {number}")
            grouped.setdefault(row, []).extend((number, answer) for answer in answers)
    return [choice for row, answers in grouped.items() for choice in _chosen(row, answers, where)]


def _chosen(row: tuple[str, ...], answers: list[tuple[int, _Answer]], where: str) -> Iterator[Choice]:
    """Return what the latest answer says, then those before it that say something else."""
    said: set[str] = set()
    for number, answer in sorted(answers, key=lambda pair: pair[1].updated, reverse=True):
        if len(answer.choices) > 1:
            raise BadTable(
                f"{where}: task {number} has the choices {', '.join(map(repr, answer.choices))}; a row has "
                "one label, so allow a single choice in the project's settings."
            )
        label = next(iter(answer.choices), "")
        if label not in said:
            key, id_, number_of_row, given, *columns = row
            yield Choice(key, id_, number_of_row, given, columns[0], columns[1], label, number, bool(said))
        said.add(label)


def _row(task: Mapping[str, Any], where: str) -> tuple[str, ...]:
    """Return which row a task is about: its key, id and number, the label it had, and the two columns."""
    data, meta = task.get("data"), task.get("meta")
    data = data if isinstance(data, dict) else task
    meta = meta if isinstance(meta, dict) else {}
    parts = {name: data.get(OUR_PREFIX + name, meta.get(name)) for name in _PARTS}
    if not (parts["key"] or parts["id"]) or parts["given_label"] is None:
        raise BadTable(
            f"{where} does not say which row it is about ({OUR_PREFIX}key, {OUR_PREFIX}given_label); import "
            "the tasks.json that an audit writes, and export those tasks."
        )
    return tuple("" if parts[name] is None else str(parts[name]) for name in _PARTS)


def _answers(task: Mapping[str, Any], where: str) -> Iterator[_Answer]:
    """Return what was said about a task, without what was cancelled."""
    annotations = task.get("annotations", task.get("completions"))
    if annotations is None:
        yield from _short_answer(task, where)
        return
    if not isinstance(annotations, list) or not all(isinstance(one, dict) for one in annotations):
        raise BadTable(f"{where} has no list of annotations; {_EXPECTED}.")
    for annotation in annotations:
        if not (annotation.get("was_cancelled") or annotation.get("skipped")):
            yield _Answer(_choices(annotation.get("result"), where), _time(annotation))


def _short_answer(task: Mapping[str, Any], where: str) -> Iterator[_Answer]:
    """Return what a task of JSON-MIN says: the choice stands beside the cells, by the name of its control."""
    if task.get("was_cancelled") or "annotation_id" not in task:
        if not any(name.startswith(OUR_PREFIX) for name in task):
            raise BadTable(f"{where} has neither annotations nor a choice; {_EXPECTED}.")
        return
    names = [name for name in reversed(CONTROLS) if name in task]
    found = task[names[0]] if names else None
    if isinstance(found, dict):
        found = found.get("choices")
    choices = found if isinstance(found, list) else [] if found in (None, "") else [found]
    yield _Answer(tuple(str(choice) for choice in choices), _time(task))


def _choices(result: Any, where: str) -> tuple[str, ...]:
    """Return the choices of an annotation; of several questions those of ours."""
    if result is None:
        return ()
    if not isinstance(result, list) or not all(isinstance(one, dict) for one in result):
        raise BadTable(f"{where} has an annotation without a list of results; {_EXPECTED}.")
    chosen = [one for one in result if one.get("type") == "choices"]
    names = {str(one.get("from_name")) for one in chosen}
    if len(names) > 1:
        chosen = [one for one in chosen if one.get("from_name") in CONTROLS]
        if not chosen:
            raise BadTable(
                f"{where} answers the questions {', '.join(map(repr, sorted(names)))}; call the one about "
                f"the label {CONTROLS[0]!r} in the labeling configuration."
            )
    found: list[str] = []
    for one in chosen:
        value = one.get("value")
        choices = value.get("choices") if isinstance(value, dict) else None
        if not isinstance(choices, list):
            raise BadTable(f"{where} has a result without value.choices; {_EXPECTED}.")
        found += [str(choice) for choice in choices]
    return tuple(dict.fromkeys(found))


def _time(annotation: Mapping[str, Any]) -> str:
    """Return when an annotation was changed last; times in one form sort as text."""
    return str(annotation.get("updated_at") or annotation.get("created_at") or "")
