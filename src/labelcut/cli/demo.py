"""The command ``labelcut demo``."""

from __future__ import annotations

from pathlib import Path

import click

from labelcut.cli.files import check_writable, writing
from labelcut.cli.options import threads_option
from labelcut.cli.printing import print_summary, show_progress

__all__ = ["demo"]


@click.command()
@click.option(
    "--out", type=click.Path(), default="labelcut-demo", show_default=True, help="Folder to write to."
)
@threads_option
@click.option("--open", "open_page", is_flag=True, help="Open the report in a browser.")
def demo(out: str, n_jobs: int | None, open_page: bool) -> None:
    """Audit a bundled table with known wrong labels, decide, apply, and look again."""
    from labelcut.auditing.demo import run_demo

    folder = Path(out)
    check_writable(folder)
    with writing(folder), show_progress(False) as on_step:
        lines, found = run_demo(folder, n_jobs, on_step)
    print_summary(found, folder)
    click.echo()
    for line in lines:
        click.echo(line)
    if open_page:
        click.launch(str(folder / "report.html"))
