"""Options that several commands have, and how their words are read."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from labelcut.cli.printing import fail

if TYPE_CHECKING:
    from labelcut.errors import Option

__all__ = [
    "as_typed",
    "reading_options",
    "read_share",
    "split_kind",
    "split_names",
    "split_opinions",
    "threads_option",
]


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how a text file is read."""
    for option in (
        click.option(
            "--no-header", is_flag=True, help="The first line is a row; columns become 'column 1', ..."
        ),
        click.option(
            "--missing", multiple=True, metavar="MARK", help="A mark for missing values (repeatable)."
        ),
        click.option("--encoding", help="Encoding of a text file, if the guess is wrong."),
        click.option("--delimiter", metavar="CHAR", help="Delimiter of a csv, if the guess is wrong."),
        click.option("--sheet", metavar="SHEET", help="Sheet of an Excel file: its name, or its number."),
    ):
        command = option(command)
    return command


def _checked_threads(context: click.Context, option: click.Parameter, value: int | None) -> int | None:
    from labelcut.threads import ALLOWED, is_n_jobs

    if value is not None and not is_n_jobs(value):
        fail(f"--n-jobs {value}; give {ALLOWED}.")
    return value


threads_option = click.option(
    "--n-jobs", type=int, metavar="N", callback=_checked_threads, help="Threads; -1 for all cores."
)


def read_share(context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    """Return a share as a number from 0 to 1, however it was written: 2%, 2 %, 0.02."""
    if text is None:
        return None
    is_percent = text.rstrip().endswith("%")
    try:
        value = float(text.rstrip().removesuffix("%")) / (100 if is_percent else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        fail(f"{option.opts[0]} {shlex.quote(text)}; give a share such as 2% or 0.02.")
    return value


def split_kind(text: str) -> tuple[str, str]:
    """Return the column and the kind of ``COLUMN=KIND``."""
    column, _, kind = text.rpartition("=")
    if not column:
        fail(f"--kind {text!r} is not of the form COLUMN=KIND, as in --kind zip=category.")
    return column, kind


def split_opinions(texts: Sequence[str]) -> dict[str, str]:
    """Return whose probabilities stand where, from texts of the form ``NAME=WHERE``."""
    found: dict[str, str] = {}
    for text in texts:
        name, _, where = text.partition("=")
        if not name or not where:
            fail(f"--opinion {shlex.quote(text)} is not of the form NAME=FILE, as in bert=probs.npy.")
        if name in found:
            fail(f"--opinion {name} is given twice; give every model a name of its own.")
        found[name] = where
    return found


def split_names(text: str | None) -> list[str]:
    """Return the names in a list such as ``Fair,Good,"Good, or better"``."""
    import csv

    return next(csv.reader([text], skipinitialspace=True), []) if text else []


def as_typed(option: Option) -> str:
    """Write an option of a function as it is typed on the command line."""
    word = "--" + {"kinds": "kind"}.get(option.name, option.name.replace("_", "-"))
    if option.value is None:
        return word
    if isinstance(option.value, list | tuple):
        return " ".join(f"{word} {shlex.quote(str(value))}" for value in option.value)
    if isinstance(option.value, dict):
        return " ".join(f"{word} {key}={value}" for key, value in option.value.items())
    return f"{word} {shlex.quote(str(option.value))}"
