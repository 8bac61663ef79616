"""The command ``labelcut``: words on the command line into calls of the other modules, and messages out.

Exit codes: 0 fine, 1 a fault of ours, 2 wrong use (an option, a path, an output that cannot be written),
3 bad data, 4 more suspect labels than --fail-above allows, 130 interrupted.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from labelcut.auditing.audit import Audit
    from labelcut.auditing.filling import Filled
    from labelcut.auditing.progress import Progress
    from labelcut.errors import Option
    from labelcut.table.decisions import Decision, Matched
    from labelcut.table.source import Source
    from labelcut.table.table import Table

OUR_FAULT, WRONG_USE, BAD_DATA, TOO_MANY_SUSPECTS, INTERRUPTED = 1, 2, 3, 4, 130
COMMANDS = "labelcut.commands"  # Entry points of this group are commands too; `experiment` is one.


class _Group(click.Group):
    """Our own commands, and those that other parts bring along."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted({*super().list_commands(context), *(entry.name for entry in _brought_along())})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        own = super().get_command(context, name)
        if own is not None:
            return own
        for entry in _brought_along():
            if entry.name == name:
                try:
                    loaded: click.Command = entry.load()
                except ImportError as error:
                    _fail(f"{name} needs a package that is not installed ({error.name}); see the README.")
                return loaded
        return None

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            self._refuse_unknown(args[0], self.list_commands(context))
        return super().resolve_command(context, args)

    def _refuse_unknown(self, name: str, names: list[str]) -> None:
        import difflib

        if name not in names:
            close = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names)}."
            _fail(f"no command {name!r}; {hint}")


def _brought_along() -> EntryPoints:
    from importlib.metadata import entry_points

    return entry_points(group=COMMANDS)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="labelcut", prog_name="labelcut")
def cli() -> None:
    """Find the labels of a table that are probably wrong, and decide about them."""


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
        _fail(f"--n-jobs {value}; give {ALLOWED}.")
    return value


def _share(context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    """Return a share as a number from 0 to 1, however it was written: 2%, 2 %, 0.02."""
    if text is None:
        return None
    is_percent = text.rstrip().endswith("%")
    try:
        value = float(text.rstrip().removesuffix("%")) / (100 if is_percent else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        _fail(f"{option.opts[0]} {shlex.quote(text)}; give a share such as 2% or 0.02.")
    return value


threads_option = click.option(
    "--n-jobs", type=int, metavar="N", callback=_checked_threads, help="Threads; -1 for all cores."
)


@cli.command()
@click.argument("table", type=click.Path(readable=False, allow_dash=True))
@click.option("--label", required=True, metavar="COLUMN", help="The column with the labels.")
@click.option("--id", "id_", metavar="COLUMN", help="A column that names the rows.")
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Leave a column out (repeatable).")
@click.option("--group", metavar="COLUMN", help="Compare its values: annotator, source, batch ...")
@click.option("--unlabeled", multiple=True, metavar="MARK", help="A label that means 'none' (repeatable).")
@click.option("--positive", metavar="LABEL", help="Of two classes, the positive one.")
@click.option("--merge-labels", is_flag=True, help="Labels that differ only in case or blanks are one class.")
@click.option("--ordered", metavar="LABEL,LABEL,...", help="All classes, in the order they are shown in.")
@click.option("--kind", "kinds", multiple=True, metavar="COLUMN=KIND", help="What a column is (repeatable).")
@click.option("--preset", type=click.Choice(["default", "paper", "literal"]), default="default")
@threads_option
@click.option("--max-rows", type=click.IntRange(min=2), help="Audit a random sample of so many rows.")
@click.option("--decisions", type=click.Path(), help="decisions.csv of a review: its labels become certain.")
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="List only the N most suspect labels.")
@click.option("--min-p-wrong", callback=_share, metavar="P", help="Suspect only what is that likely wrong.")
@click.option("--baseline", type=click.Path(), metavar="JSON", help="Suspect only what this summary did not.")
@click.option(
    "--fail-above", callback=_share, metavar="SHARE", help="Exit code 4 if more labels are suspect."
)
@click.option("--out", type=click.Path(), help="Folder to write to; by default TABLE-labelcut.")
@click.option("--format", "format_", type=click.Choice(["files", "label-studio"]), default="files")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("--open", "open_page", is_flag=True, help="Open the report in a browser.")
@reading_options
def audit(table: str, **options: Any) -> None:
    """Audit TABLE (csv, tsv, parquet, feather, arff, json, xlsx, gzip'd text; - for standard input).

    Writes report.html, issues.csv, summary.json and the table with our columns.
    """
    quiet = options["quiet"] or options["as_json"]
    kinds = dict(_split_kind(text) for text in options["kinds"])
    out = Path(options["out"] or _default_folder(table))
    _check_writable(out)
    with _progress(quiet) as on_step:
        on_step("reading")
        source, decisions = _source(table, options), _decisions(options["decisions"])
        _check_readable(options["baseline"])
        # What is heavy to import comes after all that can be found out without it.
        from labelcut.auditing.audit import audit_table, file_names
        from labelcut.auditing.narrowing import read_baseline
        from labelcut.table.saving import refuse_inputs
        from labelcut.table.table import read_source

        baseline = read_baseline(options["baseline"]) if options["baseline"] else None
        inputs = _inputs(table, options["decisions"], options["baseline"])
        refuse_inputs([out / name for name in file_names(source, options["format_"])], inputs)
        made = read_source(
            source,
            label=options["label"],
            id=options["id_"],
            group=options["group"],
            ignore=options["ignore"],
            unlabeled=options["unlabeled"],
            positive=options["positive"],
            merge_labels=options["merge_labels"],
            ordered=_split_names(options["ordered"]),
            kinds=kinds,
            max_rows=options["max_rows"],
        )
        found = audit_table(
            made,
            decisions=decisions,
            inputs=inputs,
            top=options["top"],
            min_p_wrong=options["min_p_wrong"] or 0.0,
            baseline=baseline,
            preset=options["preset"],
            n_jobs=options["n_jobs"],
            on_step=on_step,
        )
        on_step("writing")
        with _writing(out):
            found.save(out, format=options["format_"])
    if options["as_json"]:
        click.echo(json.dumps(found.summary, indent=2))
    elif not quiet:
        print_summary(found, out)
    if options["open_page"]:
        click.launch(str(out / "report.html"))
    _check_share(found, options["fail_above"], out)


@cli.command()
@click.argument("table", type=click.Path(readable=False, allow_dash=True))
@click.argument("decisions", type=click.Path(), required=False)
@click.option("--out", required=True, type=click.Path(), help="The corrected table to write.")
@click.option("--label", metavar="COLUMN", help="The label column, if the decisions do not name it.")
@click.option("--id", "id_", metavar="COLUMN", help="The id column, if the decisions do not name it.")
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
    """
    from labelcut.errors import BadChoice
    from labelcut.table.decisions import columns_meant, match
    from labelcut.table.saving import refuse_inputs, whole_file

    _check_filling(decisions, options)
    out, inputs = Path(options["out"]), _inputs(table, decisions)
    source, made = _source(table, options), _decisions(decisions)
    if options["folder"]:
        inputs["the table of the audit"] = Path(options["folder"]) / f"table{source.suffix}"
    refuse_inputs([out], inputs)
    if out.is_dir():
        raise BadChoice(f"{out}: is a folder; give the name of the file to write.")
    _check_writable(out.parent)
    label, id_ = columns_meant(made)
    label, id_ = options["label"] or label, options["id_"] or id_
    if label is None:
        where = f"{decisions}: does not say" if decisions else "nothing says"
        raise BadChoice(f"{where} which column holds the labels; name it with --label.")
    from labelcut.table.correcting import write_decided
    from labelcut.table.table import read_source

    # Whatever the labels are, they were taken for classes when they were decided.
    choices = {"unlabeled": options["unlabeled"], "ignore": options["ignore"], "kinds": {label: "category"}}
    loaded = read_source(source, label=label, id=id_, **choices)
    matched = match(made, loaded)
    changes = matched.changed(loaded)
    filled = _fill(loaded, matched, options) if options["fill"] else None
    with _writing(out.parent), whole_file(out, inputs=inputs) as temporary:
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
    if options["as_json"]:
        click.echo(json.dumps(report, indent=2))
    elif not options["quiet"]:
        _tell_applied(report)


def _check_filling(decisions: str | None, options: dict[str, Any]) -> None:
    """Refuse a call that would do nothing, and options that belong to --fill-unlabeled."""
    from labelcut.errors import BadChoice

    if options["fill"]:
        return
    if decisions is None:
        raise BadChoice("no decisions; name the file that the report has saved, or add --fill-unlabeled.")
    for option, word in (("min_probability", "--min-probability"), ("folder", "--audit")):
        if options[option] is not None:
            raise BadChoice(f"{word} is for --fill-unlabeled; add that, or leave it out.")


def _fill(table: Table, matched: Matched, options: dict[str, Any]) -> Filled:
    """Return what to fill in: by a fit that holds the decisions, or as an audit has said."""
    from labelcut.auditing.filling import fill_unlabeled, fit_answers, read_answers
    from labelcut.auditing.unlabeled import SURE

    if options["folder"] is not None:
        answers = read_answers(Path(options["folder"]), table)
    else:
        with _progress(options["quiet"] or options["as_json"]) as on_step:
            answers = fit_answers(table, matched, options["n_jobs"], on_step)
    at_least = SURE if options["min_probability"] is None else options["min_probability"]
    return fill_unlabeled(table, matched, answers, at_least)


def _tell_applied(report: dict[str, Any]) -> None:
    from labelcut.auditing.words import counted

    text = f"{report['out']}: {counted(report['changed'], 'label')} changed, {report['kept']} kept"
    text += f", {report['unsure']} left unsure"
    if report["filled"] or report["left_empty"]:
        text += f"; {counted(report['filled'], 'unlabeled row')} filled in, {report['left_empty']} left empty"
    click.echo(f"{text}.".replace("\u202f", " "))
    for conflict in report["conflicts"]:
        click.echo(f"  not used, {conflict}", err=True)


@cli.command()
@click.option(
    "--out", type=click.Path(), default="labelcut-demo", show_default=True, help="Folder to write to."
)
@threads_option
@click.option("--open", "open_page", is_flag=True, help="Open the report in a browser.")
def demo(out: str, n_jobs: int | None, open_page: bool) -> None:
    """Audit a bundled table with known wrong labels, decide, apply, and look again."""
    from labelcut.auditing.demo import run_demo

    folder = Path(out)
    _check_writable(folder)
    with _writing(folder), _progress(False) as on_step:
        lines, found = run_demo(folder, n_jobs, on_step)
    print_summary(found, folder)
    click.echo()
    for line in lines:
        click.echo(line)
    if open_page:
        click.launch(str(folder / "report.html"))


def print_summary(found: Audit, out: Path) -> None:
    """Print what was found on one screen."""
    from rich.console import Console
    from rich.text import Text

    from labelcut.auditing.screen import summary_lines

    console = Console(highlight=False, soft_wrap=True)
    for line in summary_lines(found.facts, found.issues, out / "report.html", console.width):
        console.print(Text(visible(line.text.replace("\u202f", " ")), style=line.style))


def visible(text: str) -> str:
    """Return text without the control characters that could steer a terminal."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def _source(table: str, options: dict[str, Any]) -> Source:
    from labelcut.table.source import find_source

    return find_source(
        table,
        delimiter=options["delimiter"],
        encoding=options["encoding"],
        missing=options["missing"] or None,
        has_header=not options["no_header"],
        sheet=options["sheet"],
    )


def _decisions(path: str | None) -> list[Decision]:
    from labelcut.table.decisions import read_decisions

    return read_decisions(Path(path)) if path else []


def _check_readable(path: str | None) -> None:
    """Find out before an hour of work that a file cannot be read."""
    from labelcut.errors import BadChoice

    if path is not None and not Path(path).is_file():
        raise BadChoice(f"{path}: is not there or no file; check the path.")


def _check_share(found: Audit, most: float | None, out: Path) -> None:
    """Leave with an exit code of its own if more labels are suspect than may be."""
    from labelcut.auditing.words import percent

    counts = found.facts["counts"]
    share = counts["suspects"] / counts["labeled"]
    if most is not None and share > most:
        _fail(
            f"{counts['suspects']} of {counts['labeled']} labels are suspect ({percent(share)}), more than "
            f"--fail-above {100 * most:g}%; see {out / 'report.html'}.",
            TOO_MANY_SUSPECTS,
        )


def _inputs(table: str, decisions: str | None, baseline: str | None = None) -> dict[str, Path]:
    """Return the files that are read, by what they are; none of them may be written over."""
    from labelcut.table.saving import BASELINE_READ, DECISIONS_READ, TABLE_READ

    read = {TABLE_READ: "/dev/stdin" if table == "-" else table, DECISIONS_READ: decisions}
    read |= {BASELINE_READ: baseline}
    return {what: Path(path) for what, path in read.items() if path}


def _split_kind(text: str) -> tuple[str, str]:
    column, _, kind = text.rpartition("=")
    if not column:
        _fail(f"--kind {text!r} is not of the form COLUMN=KIND, as in --kind zip=category.")
    return column, kind


def _split_names(text: str | None) -> list[str]:
    """Return the names in a list such as ``Fair,Good,"Good, or better"``."""
    import csv

    return next(csv.reader([text], skipinitialspace=True), []) if text else []


def _default_folder(table: str) -> str:
    if table == "-":
        return "labelcut-report"
    name = Path(table).name
    return str(Path(name.split(".", 1)[0] or name)) + "-labelcut"


def _check_writable(folder: Path) -> None:
    """Find out before an hour of work that its result cannot be written."""
    from labelcut.errors import BadChoice

    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise BadChoice(f"{existing}: is a file, so no folder can be made there; give another --out.")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise BadChoice(f"{existing}: cannot be written to; give another folder with --out.")


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn a failed write into a message; nothing half-written stays behind."""
    from labelcut.errors import BadChoice

    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadChoice(
            f"{folder}: cannot be written ({reason}); what was there is as it was, free some space "
            "or give another --out."
        ) from error


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress]:
    """Show how far the work is on the error stream: a bar on a terminal, elsewhere a line for each stage."""
    from labelcut.auditing.progress import Progress, followed

    if quiet:
        yield Progress()
    elif not sys.stderr.isatty():
        with followed(None, verbose=True) as progress:
            yield progress
    else:
        from rich.console import Console
        from rich.live import Live

        from labelcut.auditing.bar import Bar

        bar = Bar(Progress())
        with Live(bar, console=Console(stderr=True), transient=True, refresh_per_second=8):
            yield bar.progress


def _fail(message: str, code: int = WRONG_USE) -> NoReturn:
    click.echo(f"labelcut: {visible(message)}", err=True)
    sys.exit(code)


def _take_sigterm_as_interrupt() -> None:
    """End on SIGTERM as on Ctrl-C; processes forked from this one just end, as their parent expects."""
    owner = os.getpid()

    def interrupt(number: int, _: object) -> NoReturn:
        if os.getpid() != owner:
            os._exit(128 + number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


def _replace_what_a_terminal_cannot_show() -> None:
    """Print a question mark for a letter that is not in the terminal's encoding, rather than fail on it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def main(args: list[str] | None = None) -> None:
    """Run the command and leave with its exit code, never with a traceback."""
    _take_sigterm_as_interrupt()
    _replace_what_a_terminal_cannot_show()
    try:
        cli.main(args=args, prog_name="labelcut", standalone_mode=False)
    except click.exceptions.Abort:
        _fail("interrupted; nothing was written.", INTERRUPTED)
    except click.ClickException as error:
        _fail(_one_line(error))
    except KeyboardInterrupt:
        _fail("interrupted; nothing was written.", INTERRUPTED)
    except MemoryError:
        _fail("not enough memory for this table; audit a part of it with --max-rows.", BAD_DATA)
    except Exception as error:
        from labelcut.errors import BadChoice, BadTable

        if isinstance(error, BadChoice | BadTable):
            _fail(error.told(_as_typed), WRONG_USE if isinstance(error, BadChoice) else BAD_DATA)
        if os.environ.get("LABELCUT_DEBUG"):
            raise
        what = " ".join(f"{type(error).__name__}: {error}".split())
        _fail(f"a fault of LabelCut ({what}); LABELCUT_DEBUG=1 shows where, please report it.", OUR_FAULT)


def _as_typed(option: Option) -> str:
    """Write an option of a function as it is typed on the command line."""
    word = "--" + {"kinds": "kind"}.get(option.name, option.name.replace("_", "-"))
    if option.value is None:
        return word
    if isinstance(option.value, dict):
        return " ".join(f"{word} {key}={value}" for key, value in option.value.items())
    return f"{word} {shlex.quote(str(option.value))}"


def _one_line(error: click.ClickException) -> str:
    text = " ".join(error.format_message().split()).rstrip(".")
    return f"{text[:1].lower()}{text[1:]}; see labelcut --help."
