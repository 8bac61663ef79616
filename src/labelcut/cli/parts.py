"""``labelcut audit`` of files that are read in parts: several, on other machines, or larger than memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from labelcut.cli.files import check_readable, check_writable, default_folder, read_decided, writing
from labelcut.cli.options import split_kind, split_names, split_opinions
from labelcut.cli.printing import show_progress, tell_applied, tell_found

__all__ = ["apply_in_parts", "audit_in_parts", "cluster_options", "takes_parts"]

#: Options that have the name of the parameter they become.
SAME = (
    *("label", "group", "ignore", "unlabeled", "positive", "merge_labels", "decisions", "top", "baseline"),
    *("preset", "max_rows", "n_jobs", "delimiter", "encoding", "sheet", "cluster", "workers", "spill"),
    *("embedding", "flags"),
)


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of an audit in parts."""
    for option in (
        click.option("--spill", type=click.Path(), metavar="DIR", help="Where goes what memory cannot hold."),
        click.option(
            "--workers", type=click.IntRange(min=1), metavar="N", help="Processes of a local cluster."
        ),
        click.option(
            "--cluster", metavar="local|tcp://...", help="Read in parts, here or by Dask's workers."
        ),
    ):
        command = option(command)
    return command


def takes_parts(tables: Sequence[str], options: dict[str, Any]) -> bool:
    """Say whether a table is read in parts: as asked, as it has to be, or because memory will not do."""
    from labelcut.large.estimate import is_in_parts, too_large

    if options["cluster"] or options["workers"] or is_in_parts(tables):
        return True
    why = None if tables[0] == "-" or options["max_rows"] else too_large(tables[0])
    if why is not None and not (options["quiet"] or options["as_json"]):
        click.echo(f"labelcut: {why}", err=True)
    return why is not None


def audit_in_parts(tables: Sequence[str], options: dict[str, Any]) -> None:
    """Audit files in parts, write what was found, and print it."""
    _refuse_others()
    quiet = options["quiet"] or options["as_json"]
    out = Path(options["out"] or _folder(tables))
    check_writable(out)
    check_readable(options["decisions"])
    check_readable(options["baseline"])
    from labelcut.errors import BadChoice
    from labelcut.large.door import COSTS, audit_files

    if options["annotator"] is not None or len(options["label"]) > 1:
        raise BadChoice(
            "labels of several annotators are not read in parts; give one file that fits into memory, or a "
            "part of it with --max-rows."
        )
    choices = {name: options[name] for name in SAME} | {"label": options["label"][0]}
    choices |= {"id": options["id_"], "ordered": split_names(options["ordered"])}
    choices |= {"opinions": split_opinions(options["opinions"]) or None}
    choices |= {"kinds": dict(split_kind(text) for text in options["kinds"])}
    choices |= {"min_p_wrong": options["min_p_wrong"] or 0.0, "missing": options["missing"] or None}
    choices |= {"has_header": False} if options["no_header"] else {}
    with show_progress(quiet, COSTS) as on_step:
        on_step("start")
        found = audit_files(list(tables), on_step=on_step, **choices)
        on_step("writing")
        with writing(out):
            found.save(out, format=options["format_"])
    tell_found(found, out, options)


def _folder(tables: Sequence[str]) -> str:
    """Return the folder of a report that was given none: after the file, or after the folder of several."""
    first = tables[0].rstrip("/")
    if len(tables) > 1 or any(mark in first for mark in "*?["):
        first = os.path.dirname(first) or "table"
    return default_folder(first.rsplit("/", 1)[-1] or "table")


def apply_in_parts(table: str, decisions: str | None, options: dict[str, Any]) -> bool:
    """Write the files of a table in parts with other labels; say whether that was to be done."""
    from labelcut.errors import BadChoice
    from labelcut.large.estimate import files_of, is_in_parts

    if not is_in_parts([table]):
        return False
    if options["consensus"] is not None:
        raise BadChoice("--consensus is for a table in memory; leave it out for a table in parts.")
    if options["fill"]:
        raise BadChoice("--fill-unlabeled is for a table in memory; leave it out for a table in parts.")
    from labelcut.large.cluster import check_installed

    check_installed()
    from labelcut.large.applying import apply_parts
    from labelcut.table.decisions import columns_meant
    from labelcut.table.saving import DECISIONS_READ

    made = read_decided(decisions)
    meant = columns_meant(made)
    label = next(iter(options["label"]), meant[0])
    if label is None:
        raise BadChoice(f"{decisions}: does not say which column holds the labels; name it with --label.")
    out = Path(options["out"])
    check_writable(out)
    reading = {name: options[name] for name in ("delimiter", "encoding") if options[name]}
    reading |= {"missing": options["missing"]} if options["missing"] else {}
    reading |= {"has_header": False} if options["no_header"] else {}
    inputs = {DECISIONS_READ: Path(str(decisions))}
    inputs |= {f"the table itself ({name})": Path(name) for name in files_of([table])}
    choices = {"label": label, "id": options["id_"] or meant[1], "unlabeled": options["unlabeled"]}
    with writing(out):
        done = apply_parts([table], made, out, inputs=inputs, **choices, **reading)
    report: dict[str, Any] = {
        "changed": done.n_changed,
        "kept": done.n_kept,
        "unsure": done.n_unsure,
        "filled": 0,
    }
    report |= {"left_empty": 0, "conflicts": list(done.conflicts), "out": str(out)}
    tell_applied(report, options)
    return True


def _refuse_others() -> None:
    """Refuse options that only a table in memory has, rather than pass over them."""
    from labelcut.errors import BadChoice

    context = click.get_current_context()
    known = {*SAME, "tables", "id_", "ordered", "kinds", "min_p_wrong", "missing", "no_header", "fail_above"}
    known |= {"opinions", "out", "format_", "as_json", "quiet", "open_page"}
    for option in context.command.params:
        is_said = context.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE
        if is_said and option.name not in known:
            raise BadChoice(f"{option.opts[0]} is for a table in memory; leave it out for a table in parts.")
