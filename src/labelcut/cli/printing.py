"""What the command prints: messages, progress, the summary on one screen; and the codes it leaves with."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from labelcut.cli.interrupts import end_if_interrupted

if TYPE_CHECKING:
    from labelcut.auditing.progress import Progress
    from labelcut.auditing.result import Audit
    from labelcut.large.result import LargeAudit

__all__ = ["fail", "print_summary", "show_progress", "tell_applied", "tell_found", "visible"]

OUR_FAULT, WRONG_USE, BAD_DATA, TOO_MANY_SUSPECTS, INTERRUPTED = 1, 2, 3, 4, 130


def tell_found(found: Audit | LargeAudit, out: Path, options: dict[str, Any]) -> None:
    """Tell what an audit has found, in the way that was asked for; exit 4 if it is too much."""
    if options["as_json"]:
        click.echo(json.dumps(found.summary, indent=2))
    elif not options["quiet"]:
        print_summary(found, out)
    if options["open_page"]:
        click.launch(str(out / "report.html"))
    _check_share(found, options["fail_above"], out)


def print_summary(found: Audit | LargeAudit, out: Path) -> None:
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


@contextmanager
def show_progress(quiet: bool, costs: Any = None) -> Iterator[Progress]:
    """Show how far the work is on the error stream: a bar on a terminal, elsewhere a line for each stage.

    `costs` are those of the stages, where they are not the usual ones.
    """
    from labelcut.auditing.progress import COSTS, DONE, Progress, followed

    def hear(stage: str, _: float) -> None:
        if stage != DONE:
            end_if_interrupted()

    costs = costs or COSTS
    if quiet:
        yield Progress(hear)
    elif not sys.stderr.isatty():
        with followed(hear, verbose=True, costs=costs) as progress:
            yield progress
    else:
        from rich.console import Console
        from rich.live import Live

        from labelcut.auditing.bar import Bar

        bar = Bar(Progress(hear, costs=costs))
        with Live(bar, console=Console(stderr=True), transient=True, refresh_per_second=8):
            yield bar.progress


def _check_share(found: Audit | LargeAudit, most: float | None, out: Path) -> None:
    """Leave with an exit code of its own if more labels are suspect than may be."""
    from labelcut.auditing.words import percent

    counts = found.facts["counts"]
    share = counts["suspects"] / counts["labeled"]
    if most is not None and share > most:
        fail(
            f"{counts['suspects']} of {counts['labeled']} labels are suspect ({percent(share)}), more than "
            f"--fail-above {100 * most:g}%; see {out / 'report.html'}.",
            TOO_MANY_SUSPECTS,
        )


def tell_applied(report: dict[str, Any], options: dict[str, Any]) -> None:
    """Print what became of decisions, in words or as JSON."""
    from labelcut.auditing.words import counted

    if options["as_json"]:
        click.echo(json.dumps(report, indent=2))
    if options["as_json"] or options["quiet"]:
        return
    if "agreed" in report:
        text = f"{report['out']}: {report['column']!r} has {counted(report['decided'], 'decided label')}, "
        text += f"the consensus of {counted(report['agreed'], 'row')}, {report['left_empty']} left empty"
    else:
        text = f"{report['out']}: {counted(report['changed'], 'label')} changed, {report['kept']} kept"
        text += f", {report['unsure']} left unsure"
    if report.get("filled", 0) + report["left_empty"] and "filled" in report:
        text += f"; {counted(report['filled'], 'unlabeled row')} filled in, {report['left_empty']} left empty"
    click.echo(f"{text}.".replace("\u202f", " "))
    for conflict in report["conflicts"]:
        click.echo(f"  not used, {conflict}", err=True)


def fail(message: str, code: int = WRONG_USE) -> NoReturn:
    """Say in one line what is wrong, and leave with a code."""
    click.echo(f"labelcut: {visible(message)}", err=True)
    sys.exit(code)
