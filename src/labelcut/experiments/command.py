"""``labelcut experiment list | run | table | figures | report``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from labelcut.cli import INTERRUPTED
from labelcut.cli.interrupts import end_if_interrupted
from labelcut.errors import BadTable
from labelcut.experiments import run as running
from labelcut.experiments.cluster import BACKENDS
from labelcut.experiments.methods import METHODS
from labelcut.experiments.result_lines import Record

_results = click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder of result lines.",
)


@click.group()
def experiment() -> None:
    """Run the paper's experiments and rebuild its tables and figures."""


@experiment.command("list")
@_results
def list_(results: Path) -> None:
    """List the studies with their finished, failed and missing runs, then the methods."""
    for name in running.study_names():
        study = running.load_study(name)
        records = running.records_of(study, results)
        failed = sum("error" in record for record in records)
        click.echo(f"{name:12} {len(records):6} of {len(study.runs):6} done, {failed} failed   {study.title}")
    click.echo()
    for method in METHODS.values():
        click.echo(f"{method.name:18} {method.title}")


@experiment.command("run")
@click.argument("study")
@click.option(
    "--only", multiple=True, help="A method, data set, noise level (20) or kind of noise; may be repeated."
)
@click.option("--seeds", type=int, help="Only seeds below this number.")
@click.option("--jobs", default=None, type=int, help="Runs at a time; 1, or all workers of a cluster.")
@click.option("--retry", is_flag=True, help="Do failed runs again.")
@click.option("--backend", type=click.Choice(BACKENDS), help="Run on a cluster.")
@click.option("--address", help="Address of the cluster's scheduler; none starts one on this machine.")
@_results
def run_(
    study: str,
    only: tuple[str, ...],
    seeds: int | None,
    jobs: int | None,
    retry: bool,
    backend: str | None,
    address: str | None,
    results: Path,
) -> None:
    """Do the runs of STUDY that have no result line yet.

    STUDY is a name from `labelcut experiment list` or a TOML file.
    """
    start = time.monotonic()

    def show(record: Record, done: int, total: int) -> None:
        left = (time.monotonic() - start) / done * (total - done)
        told = record.get("error") or f"accuracy {record['scores']['accuracy']:.4f}"
        noise, seconds = running.noise_word(record["noise"]), record["seconds"]["total"]
        click.echo(
            f"{done}/{total}  {_clock(left)} left  {record['method']} {record['data']} {noise} % "
            f"seed {record['seed']}  {seconds:.1f} s  {told}"
        )
        end_if_interrupted()

    try:
        chosen = running.load_study(study)
        jobs = jobs if jobs is not None else (1 if backend is None else -1)
        done = running.run_study(
            chosen,
            results,
            only=only,
            jobs=jobs,
            seeds=seeds,
            retry=retry,
            backend=backend,
            address=address,
            on_done=show,
        )
        missing = len(running.plan(chosen, results, only, seeds=seeds))
    except BadTable:
        raise
    except (ValueError, OSError) as problem:
        raise click.UsageError(str(problem)) from problem
    except KeyboardInterrupt:
        click.echo("stopped; finished runs are kept. The same command goes on.", err=True)
        sys.exit(INTERRUPTED)
    if missing:
        click.echo(
            f"{done} runs done; another runner is at {missing} more. Should it stop, start this again."
        )
    elif done:
        click.echo(f"{done} runs done; nothing is missing.")
    else:
        click.echo("Nothing to do: every run has its line.")


@experiment.command("table")
@click.option("--format", "kind", type=click.Choice(["markdown", "latex", "csv"]), default="markdown")
@click.option("--study", "only", multiple=True, help="Only this study's tables; may be repeated.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Write one file per table here."
)
@_results
def table_(kind: str, only: tuple[str, ...], out: Path | None, results: Path) -> None:
    """Print every table of the paper from the result lines, or write them to files."""
    from labelcut.experiments import report
    from labelcut.experiments.render import FORMATS

    ending, render = FORMATS[kind]
    found = report.all_tables(report.read_all(results))
    chosen = {study: tables for study, tables in found.items() if not only or study in only}
    if not chosen:
        raise click.UsageError(
            f"no finished runs in {results}/; do some with `labelcut experiment run STUDY`."
        )
    for study, tables in chosen.items():
        for table in tables:
            if out is None:
                click.echo(render(table))
            else:
                (out / study).mkdir(parents=True, exist_ok=True)
                (out / study / f"{table.name}.{ending}").write_text(render(table), encoding="utf-8")
    if out is not None:
        click.echo(f"{sum(map(len, chosen.values()))} tables in {out}/")


@experiment.command("figures")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("figures"), show_default=True
)
@_results
def figures_(out: Path, results: Path) -> None:
    """Draw every figure of the paper from the result lines, as SVG and PNG."""
    from labelcut.experiments import figures, report

    drawn = figures.all_figures(report.read_all(results))
    if not drawn:
        raise click.UsageError(
            f"no finished runs in {results}/; do some with `labelcut experiment run STUDY`."
        )
    for name, figure in drawn.items():
        figures.save(figure, out, name)
    click.echo(f"{len(drawn)} figures in {out}/")


@experiment.command("report")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), default=Path("docs/results.md"))
@_results
def report_(out: Path, results: Path) -> None:
    """Write the page of results with all tables and figures."""
    from labelcut.experiments import report

    for path in report.write_report(results, out):
        click.echo(path)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
