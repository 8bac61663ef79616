"""The label column: its classes in order, the class of each row, and what is odd about its cells."""

from __future__ import annotations

import difflib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labelcut.errors import BadChoice, BadTable, Option

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

MANY_VALUES = 20  # Up to here a column of numbers may well hold classes, however rare some are.
FEWEST_ROWS_OF_A_NUMBER = 10  # On average; codes of classes are used more often than that.
MOST_LONE_NUMBERS = 0.1  # The share of the values that occur once; a quantity has a tail of them.
MOST_NAMED = 5  # Groups of spellings, and marks, that a note names.


@dataclass(frozen=True)
class Choices:
    """What the user says about the labels.

    `unlabeled` are values that mean "not labeled"; `positive` is, of two classes, the one to list second;
    `merge` takes values that differ only in case or blanks for one class; `ordered` is the order in which
    classes are shown; with `are_classes` even many different numbers are classes.
    """

    unlabeled: tuple[str, ...] = ()
    positive: str | None = None
    merge: bool = False
    ordered: tuple[str, ...] = ()
    are_classes: bool = False


@dataclass(frozen=True)
class LabelColumn:
    """The classes in the order they are shown, the position of each row's class (-1: none), and notes."""

    classes: tuple[str, ...]
    codes: np.ndarray
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Classes:
    """The classes in the order they are shown, the position of the class of each text, and notes."""

    classes: tuple[str, ...]
    position: dict[str, int]
    notes: tuple[str, ...]


def spelling(label: str) -> str:
    """Return what is left of a label when neither case nor blanks count."""
    return " ".join(label.split()).casefold()


def without_marks(values: pd.Series[Any], marks: Sequence[str]) -> tuple[pd.Series[Any], Counter[str]]:
    """Return the labels with marks such as ``None`` as missing, and how often each stood there."""
    is_mark = values.isin(list(marks))
    found = Counter(str(mark) for mark in values[is_mark] if mark != "")
    return values.mask(is_mark), found


def read_label_column(
    texts: Sequence[str], *, label: str, name: str, choices: Choices, marks: Mapping[str, int]
) -> LabelColumn:
    """Find the classes of a label column.

    Parameters
    ----------
    texts : sequence of str
        The labels without blanks around them, empty where there is none.
    label, name : str
        The column and the table, for messages.
    choices : Choices
        What the user says about the labels.
    marks : mapping of str to int
        Cells that say something and were taken for a missing label, and how many there are.

    Returns
    -------
    LabelColumn
    """
    import numpy as np  # Here, because decisions are read before anything heavy is loaded.

    found = find_classes(Counter(texts), label=label, name=name, choices=choices, marks=marks)
    codes = np.array([found.position.get(text, -1) for text in texts], dtype=np.int64)
    return LabelColumn(found.classes, codes, found.notes)


def find_classes(
    counts: Counter[str], *, label: str, name: str, choices: Choices, marks: Mapping[str, int]
) -> Classes:
    """Find the classes of a label column whose texts were counted; as in `read_label_column`."""
    same = spelling if choices.merge else str.strip
    none = {"", *map(same, choices.unlabeled)}
    counts = Counter({text: n for text, n in counts.items() if same(text) not in none})
    class_of = _merged(counts) if choices.merge else {text: text for text in counts}
    found = sorted(set(class_of.values()), key=_natural)
    n_labeled = counts.total()
    _check_classes(found, n_labeled, counts, label, name, choices)
    found = _in_order(found, label, choices)
    position = {text: found.index(of) for text, of in class_of.items()}
    notes = [*_about_marks(label, marks), *_about_spellings(label, counts, is_merged=choices.merge)]
    return Classes(tuple(found), position, tuple(notes))


def _spellings(counts: Mapping[str, int]) -> list[list[str]]:
    """Return the groups of labels that differ only in case or blanks, in each the most frequent first."""
    groups: dict[str, list[str]] = defaultdict(list)
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        groups[spelling(text)].append(text)
    return [group for _, group in sorted(groups.items()) if len(group) > 1]


def _merged(counts: Mapping[str, int]) -> dict[str, str]:
    """Map each label to the most frequent one that differs only in case or blanks."""
    return {text: text for text in counts} | {
        text: group[0] for group in _spellings(counts) for text in group
    }


def _about_spellings(label: str, counts: Mapping[str, int], *, is_merged: bool) -> list[str]:
    groups = _spellings(counts)
    if not groups:
        return []
    told = [", ".join(f"{text!r} ({counts[text]})" for text in group) for group in groups[:MOST_NAMED]]
    more = f"; and {len(groups) - MOST_NAMED} more" if len(groups) > MOST_NAMED else ""
    what = f"Labels in {label!r} that differ only in case or blanks: {'; '.join(told)}{more}."
    if is_merged:
        return [f"{what} They were merged into the most frequent one; the cells stay as they are."]
    return [f"{what} They count as different classes; the option “merge labels” makes them one."]


def _about_marks(label: str, marks: Mapping[str, int]) -> list[str]:
    if not marks:
        return []
    ordered = sorted(marks, key=lambda mark: (-marks[mark], mark))
    told = ", ".join(f"{mark!r} ({marks[mark]})" for mark in ordered[:MOST_NAMED])
    more = " and more" if len(ordered) > MOST_NAMED else ""
    n_cells = sum(marks.values())
    cells = "1 cell" if n_cells == 1 else f"{n_cells} cells"
    return [
        f"{cells} of {label!r} taken as unlabeled: {told}{more}. If that is a class, say which marks mean "
        "missing with the option “missing”, which replaces the usual list."
    ]


def _check_classes(
    found: Sequence[str], n_labeled: int, counts: Counter[str], label: str, name: str, choices: Choices
) -> None:
    """Refuse no label, one class, and a number to predict."""
    if n_labeled == 0:
        raise BadTable(
            f"{name}: column {label!r} holds no label at all; label at least one row of each class."
        )
    if len(found) == 1:
        raise BadTable(
            f"{name}: all {n_labeled} labeled rows are {found[0]!r}; "
            "at least one row of a second class is needed."
        )
    if not choices.are_classes and _is_quantity(found, n_labeled, counts):
        raise BadTable(
            f"{name}: column {label!r} has {len(found)} different values in {n_labeled} rows: this looks "
            "like a number to predict, not a class; put the values into a few bins first, or say ",
            Option("kinds", {label: "category"}),
            " if each of them is a class.",
        )


def _is_quantity(found: Sequence[str], n_labeled: int, counts: Counter[str]) -> bool:
    """Say whether the labels are too many to be classes: any kind of them, and sooner if all are numbers."""
    if len(found) <= MANY_VALUES:
        return False
    if len(found) > n_labeled / 3:
        return True
    numbers = [_natural(text) for text in found]
    if any(is_word for is_word, _, _ in numbers):
        return False
    has_fractions = any(not value.is_integer() for _, value, _ in numbers)
    n_lone = sum(counts[text] == 1 for text in found)
    is_rare = n_labeled < FEWEST_ROWS_OF_A_NUMBER * len(found)
    return has_fractions or is_rare or n_lone > MOST_LONE_NUMBERS * len(found)


def _in_order(found: list[str], label: str, choices: Choices) -> list[str]:
    """Return the classes as they are to be shown."""
    if choices.ordered:
        return _as_named(found, label, choices)
    if choices.positive is None:
        return found
    if len(found) != 2:
        raise BadChoice(
            Option("positive", choices.positive),
            f" is for two classes, but {label!r} has {len(found)}; leave it out.",
        )
    if choices.positive not in found:
        raise BadChoice(
            f"no row is labeled {choices.positive!r}; ",
            Option("positive"),
            f" can be {found[0]!r} or {found[1]!r}.",
        )
    return sorted(found, key=lambda text: text == choices.positive)


def _as_named(found: list[str], label: str, choices: Choices) -> list[str]:
    """Return the classes in the order the user names, which has to name each of them once."""
    ordered = [text.strip() for text in choices.ordered]
    if choices.positive is not None:
        raise BadChoice(
            Option("positive", choices.positive),
            " and ",
            Option("ordered"),
            " both set the order of the classes; leave one out, the positive class is the last.",
        )
    if choices.merge:
        class_of = {spelling(text): text for text in found}
        ordered = [class_of.get(spelling(text), text) for text in ordered]
    for text in ordered:
        if text not in found:
            close = difflib.get_close_matches(text, found, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {listed(found)}."
            raise BadChoice(f"no row of {label!r} is labeled {text!r}; {hint}")
    if len(set(ordered)) < len(ordered):
        raise BadChoice(Option("ordered"), f" names {_twice(ordered)!r} twice; name each class once.")
    if left := [text for text in found if text not in ordered]:
        raise BadChoice(
            Option("ordered"),
            f" names {len(ordered)} of {len(found)} classes; name {listed(left)}, too.",
        )
    return ordered


def _twice(texts: Iterable[str]) -> str:
    return next(text for text, count in Counter(texts).items() if count > 1)


def listed(names: Sequence[str], limit: int = 8) -> str:
    """Return names in quotes, the first of them if there are many."""
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")


def in_natural_order(classes: Iterable[str]) -> tuple[str, ...]:
    """Return classes as they are sorted if nobody says otherwise: numbers by value, then words."""
    return tuple(sorted(classes, key=_natural))


def _natural(text: str) -> tuple[int, float, str]:
    """Order numbers by value and before words."""
    try:
        value = float(text)
    except ValueError:
        return (1, 0.0, text)
    return (0, value, text) if math.isfinite(value) else (1, 0.0, text)
