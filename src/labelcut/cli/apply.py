"""The command ``labelcut apply``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from labelcut.cli.files import check_writable, find_input, inputs_of, read_decided, writing
from labelcut.cli.options import reading_options, threads_option
from labelcut.cli.parts import apply_in_parts
from labelcut.cli.printing import show_progress, tell_applied

if TYPE_CHECKING:
    from labelcut.auditing.filling import Filled
    from labelcut.table.decisions import Decision, Matched
    from labelcut.table.source import Source
    from labelcut.table.table import Table

__all__ = ["apply"]


@click.command()
@click.argument("table", type=click.Path(readable=False, allow_dash=True))
@click.argument("decisions", type=click.Path(), required=False)
@click.option("--out", required=True, type=click.Path(), help="The corrected table to write.")
@click.option(
    "--label", multiple=True, metavar="COLUMN", help="The label column, if the decisions do not name it."
)
@click.option("--id", "id_", metavar="COLUMN", help="The id column, if the decisions do not name it.")
@click.option("--consensus", metavar="COLUMN", help="Write what several annotators agree on to this column.")
@click.option("--annotator", metavar="COLUMN", help="Whose label a line holds: several lines per --id.")
@click.option("--fill-unlabeled", "fill", is_flag=True, help="Fill in the classes of unlabeled rows, too.")
@click.option("--min-probability", type=click.FloatRange(0, 1), help="Fill in from here on; 0.95 by default.")
@click.option("--audit", "folder", type=click.Path(), help="Take the classes from the folder of an audit.")
@click.option("--unlabeled", multiple=True, metavar="MARK", help="A label that means 'none' (repeatable).")
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Leave a column out (repeatable).")
@threads_option
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@reading_options
def apply(table: str, decisions: str | None, **options: Any) -> None:
    """Write TABLE with the labels of DECISIONS; every other cell stays as it is.

    With --fill-unlabeled rows without a label get the class that a fit finds for them (or --audit found).
    With --consensus the labels of several annotators (--label a --label b, --annotator, or as --audit has
    them) stay as they are, and a column gets the decided label of each row, elsewhere their consensus. A
    folder or a pattern of parquet or csv files is written file by file, into the folder --out.
    """
    from labelcut.errors import BadChoice
    from labelcut.table.decisions import columns_meant, match
    from labelcut.table.saving import refuse_inputs, whole_file

    _check_filling(decisions, options)
    if apply_in_parts(table, decisions, options):
        return
    out, inputs = Path(options["out"]), inputs_of(table, decisions)
    source, made = find_input(table, options), read_decided(decisions)
    if options["folder"]:
        inputs["the table of the audit"] = Path(options["folder"]) / f"table{source.suffix}"
    refuse_inputs([out], inputs)
    if out.is_dir():
        raise BadChoice(f"{out}: is a folder; give the name of the file to write.")
    check_writable(out.parent)
    if options["consensus"] is not None:
        tell_applied(_write_consensus(source, made, out, inputs, options), options)
        return
    label, id_ = columns_meant(made)
    label, id_ = next(iter(options["label"]), label), options["id_"] or id_
    _refuse_annotators(label, options)
    if label is None:
        where = f"{decisions}: does not say" if decisions else "nothing says"
        raise BadChoice(f"{where} which column holds the labels; name it with --label.")
    from labelcut.table.correcting import write_decided
    from labelcut.table.table import read_source

    # Whatever the labels are, they were taken for classes when they were decided.
    choices = {"unlabeled": options["unlabeled"], "ignore": options["ignore"], "kinds": {label: "category"}}
    choices["has_to_judge"] = options["fill"] and not options["folder"]
    loaded = read_source(source, label=label, id=id_, **choices)
    matched = match(made, loaded)
    changes = matched.changed(loaded)
    filled = _fill(loaded, matched, options) if options["fill"] else None
    with writing(out.parent), whole_file(out, inputs=inputs) as temporary:
        write_decided(loaded, temporary, changes | (filled.labels if filled else {}))
    report = {
        "changed": len(changes),
        "kept": len(matched.labels) - len(changes),
        "unsure": len(matched.unsure),
        "filled": len(filled.labels) if filled else 0,
        "left_empty": filled.n_below + filled.n_unknown if filled else 0,
        "conflicts": list(matched.conflicts),
        "out": str(out),
    }
    tell_applied(report, options)


def _refuse_annotators(label: str | None, options: dict[str, Any]) -> None:
    """Refuse what is about several annotators where nobody asked for their consensus."""
    from labelcut.errors import BadChoice
    from labelcut.table.annotators import CONSENSUS

    if label == CONSENSUS or options["annotator"] is not None or len(options["label"]) > 1:
        raise BadChoice(
            "these are labels of several annotators, which stay as they are; name a column for what was "
            "decided and agreed on with --consensus COLUMN."
        )


def _write_consensus(
    source: Source, made: list[Decision], out: Path, inputs: dict[str, Path], options: dict[str, Any]
) -> dict[str, Any]:
    """Write the consensus of several annotators, decisions first; return what was done."""
    from labelcut.auditing.consensus import choose_consensus, fit_consensus, read_consensus
    from labelcut.table.correcting import write_column
    from labelcut.table.decisions import match
    from labelcut.table.saving import whole_file
    from labelcut.table.table import read_source

    column, folder = options["consensus"], options["folder"]
    meant = _columns_of_annotators(options)
    labels = [meant["label"]] if isinstance(meant["label"], str) else [*meant["label"]]
    choices = {"unlabeled": options["unlabeled"], "kinds": dict.fromkeys(labels, "category")}
    choices["ignore"] = _without_earlier(source, column, options["ignore"])
    table = read_source(source, **meant, **choices)
    matched = match(made, table)
    if folder is not None:
        agreed = read_consensus(Path(folder), table)
    else:
        with show_progress(options["quiet"] or options["as_json"]) as on_step:
            agreed = fit_consensus(table, matched, options["n_jobs"], on_step)
    chosen = choose_consensus(table, matched, agreed, options["min_probability"] or 0.0)
    with writing(out.parent), whole_file(out, inputs=inputs) as temporary:
        write_column(source, temporary, column, chosen.by_line(table))
    counts = {"decided": chosen.n_decided, "agreed": chosen.n_agreed, "left_empty": chosen.n_empty}
    told = {"unsure": len(matched.unsure), "column": column, "conflicts": list(matched.conflicts)}
    return counts | told | {"out": str(out)}


def _columns_of_annotators(options: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of the labels, the annotators and the ids: as said, or as the audit has them."""
    from labelcut.auditing.consensus import labels_meant
    from labelcut.errors import BadChoice

    labels, column = options["label"], options["consensus"]
    meant: dict[str, Any] = {"label": labels, "annotator": options["annotator"], "id": options["id_"]}
    if options["folder"] is not None:
        found = labels_meant(Path(options["folder"]))
        meant = {role: said or found[role] for role, said in meant.items()}
    if len(meant["label"]) < 2 and meant["annotator"] is None:
        raise BadChoice(
            "--consensus is of several annotators; name their columns (--label a --label b), or --annotator "
            "with --id, or the folder of their audit with --audit."
        )
    names = (meant["label"],) if isinstance(meant["label"], str) else meant["label"]
    if column in (*names, meant["annotator"], meant["id"]):
        raise BadChoice(
            f"--consensus {column}: this column holds what the annotators said and stays as it is; name "
            "another one."
        )
    return meant


def _without_earlier(source: Source, column: str, ignore: tuple[str, ...]) -> list[str]:
    """Return the columns to leave out, that of an earlier consensus among them: it would teach itself."""
    from labelcut.table.reading import read_frame

    return [*ignore, column] if column in read_frame(source) and column not in ignore else [*ignore]


def _check_filling(decisions: str | None, options: dict[str, Any]) -> None:
    """Refuse a call that would do nothing, and options that belong to --fill-unlabeled."""
    from labelcut.errors import BadChoice

    if options["fill"] and options["consensus"] is not None:
        raise BadChoice("--fill-unlabeled and --consensus fill different columns; ask for one at a time.")
    if options["fill"] or options["consensus"] is not None:
        return
    if decisions is None:
        raise BadChoice("no decisions; name the file that the report has saved, or add --fill-unlabeled.")
    for option, word in (("min_probability", "--min-probability"), ("folder", "--audit")):
        if options[option] is not None:
            raise BadChoice(
                f"{word} is for --fill-unlabeled or --consensus; add one of them, or leave it out."
            )


def _fill(table: Table, matched: Matched, options: dict[str, Any]) -> Filled:
    """Return what to fill in: by a fit that holds the decisions, or as an audit has said."""
    from labelcut.auditing.filling import fill_unlabeled, fit_answers, read_answers
    from labelcut.auditing.unlabeled import SURE

    if options["folder"] is not None:
        answers = read_answers(Path(options["folder"]), table)
    else:
        with show_progress(options["quiet"] or options["as_json"]) as on_step:
            answers = fit_answers(table, matched, options["n_jobs"], on_step)
    at_least = SURE if options["min_probability"] is None else options["min_probability"]
    return fill_unlabeled(table, matched, answers, at_least)
