"""The command ``labelcut audit``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from labelcut.cli.files import (
    check_readable,
    check_writable,
    default_folder,
    find_input,
    inputs_of,
    read_decided,
    writing,
)
from labelcut.cli.options import (
    read_share,
    reading_options,
    split_kind,
    split_names,
    split_opinions,
    threads_option,
)
from labelcut.cli.parts import audit_in_parts, cluster_options, takes_parts
from labelcut.cli.printing import show_progress, tell_found

if TYPE_CHECKING:
    from labelcut.table.source import Source
    from labelcut.table.table import Table

__all__ = ["audit"]


@click.command()
@click.argument(
    "tables", nargs=-1, required=True, metavar="TABLE...", type=click.Path(readable=False, allow_dash=True)
)
@click.option(
    "--label", required=True, multiple=True, metavar="COLUMN", help="The labels (repeat: one per annotator)."
)
@click.option("--id", "id_", metavar="COLUMN", help="A column that names the rows.")
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Leave a column out (repeatable).")
@click.option("--group", metavar="COLUMN", help="Compare its values: annotator, source, batch ...")
@click.option("--image", metavar="COLUMN", help="Names of picture files, to be shown in the page.")
@click.option("--image-root", type=click.Path(), metavar="DIR", help="Where they are; else beside TABLE.")
@click.option("--text", metavar="COLUMN", help="A text to be read in the page, telling words marked.")
@click.option("--annotator", metavar="COLUMN", help="Whose label a line holds: several lines per --id.")
@click.option("--unlabeled", multiple=True, metavar="MARK", help="A label that means 'none' (repeatable).")
@click.option("--positive", metavar="LABEL", help="Of two classes, the positive one.")
@click.option("--merge-labels", is_flag=True, help="Labels that differ only in case or blanks are one class.")
@click.option("--ordered", metavar="LABEL,LABEL,...", help="All classes, in the order they are shown in.")
@click.option("--kind", "kinds", multiple=True, metavar="COLUMN=KIND", help="What a column is (repeatable).")
@click.option("--preset", type=click.Choice(["default", "paper", "literal"]), default="default")
@click.option(
    "--flags",
    type=click.Choice(["likely", "expected_f1", "side"]),
    help="Suspect what is more likely wrong than right, the best list by F1, or all that is contradicted.",
)
@threads_option
@click.option(
    "--opinion",
    "opinions",
    multiple=True,
    metavar="NAME=FILE|NAME=PREFIX*",
    help="Probabilities of your model: npy, npz, a table, or columns that begin so (repeatable).",
)
@click.option(
    "--embedding",
    metavar="FILE|COLUMN",
    help="Vectors that make the neighbours: npy, npz, a column of lists.",
)
@click.option("--max-rows", type=click.IntRange(min=2), help="Audit a random sample of so many rows.")
@click.option("--decisions", type=click.Path(), help="decisions.csv of a review: its labels become certain.")
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="List only the N most suspect labels.")
@click.option(
    "--min-p-wrong", callback=read_share, metavar="P", help="Suspect only what is that likely wrong."
)
@click.option("--baseline", type=click.Path(), metavar="JSON", help="Suspect only what this summary did not.")
@click.option(
    "--fail-above", callback=read_share, metavar="SHARE", help="Exit code 4 if more labels are suspect."
)
@click.option("--out", type=click.Path(), help="Folder to write to; by default TABLE-labelcut.")
@click.option("--format", "format_", type=click.Choice(["files", "label-studio"]), default="files")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("--open", "open_page", is_flag=True, help="Open the report in a browser.")
@cluster_options
@reading_options
def audit(tables: tuple[str, ...], **options: Any) -> None:
    """Audit TABLE (csv, tsv, parquet, feather, arff, json, xlsx, gzip'd text; - for standard input).

    Writes report.html, issues.csv, summary.json and the table with our columns. Several --label, or
    --annotator with --id, are the labels of several people: annotators.csv then says who is worth what.
    Several files, a folder, an address such as s3://..., and files larger than memory (parquet, csv) are read
    in parts.
    """
    if takes_parts(tables, options):
        audit_in_parts(tables, options)
        return
    table = tables[0]
    quiet = options["quiet"] or options["as_json"]
    kinds = dict(split_kind(text) for text in options["kinds"])
    opinions = split_opinions(options["opinions"])
    out = Path(options["out"] or default_folder(table))
    check_writable(out)
    with show_progress(quiet) as on_step:
        on_step("reading")
        source, decisions = find_input(table, options), read_decided(options["decisions"])
        check_readable(options["baseline"])
        # What is heavy to import comes after all that can be found out without it.
        from labelcut.auditing.audit import audit_table
        from labelcut.auditing.narrowing import read_baseline
        from labelcut.auditing.result import file_names
        from labelcut.table.beside import files_beside
        from labelcut.table.saving import refuse_inputs

        baseline = read_baseline(options["baseline"]) if options["baseline"] else None
        inputs = inputs_of(table, options["decisions"], options["baseline"])
        inputs |= files_beside(opinions, options["embedding"])
        has_annotators = options["annotator"] is not None or len(options["label"]) > 1
        names = file_names(source, options["format_"], has_annotators=has_annotators)
        refuse_inputs([out / name for name in names], inputs)
        made = _read(source, options, kinds, opinions)
        found = audit_table(
            made,
            image_root=options["image_root"],
            decisions=decisions,
            inputs=inputs,
            top=options["top"],
            min_p_wrong=options["min_p_wrong"] or 0.0,
            baseline=baseline,
            preset=options["preset"],
            flags=options["flags"],
            n_jobs=options["n_jobs"],
            on_step=on_step,
        )
        on_step("writing")
        with writing(out):
            found.save(out, format=options["format_"])
    tell_found(found, out, options)


def _read(source: Source, options: dict[str, Any], kinds: dict[str, str], opinions: dict[str, str]) -> Table:
    """Return the table as the options say it is to be read."""
    from labelcut.table.table import read_source

    return read_source(
        source,
        label=options["label"],
        id=options["id_"],
        group=options["group"],
        image=options["image"],
        text=options["text"],
        annotator=options["annotator"],
        ignore=options["ignore"],
        unlabeled=options["unlabeled"],
        positive=options["positive"],
        merge_labels=options["merge_labels"],
        ordered=split_names(options["ordered"]),
        kinds=kinds,
        max_rows=options["max_rows"],
        opinions=opinions or None,
        embedding=options["embedding"],
    )
