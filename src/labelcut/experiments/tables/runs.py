"""What has been run, and what has failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import shorten

from labelcut.experiments.loading import title_of
from labelcut.experiments.methods import METHODS
from labelcut.experiments.render import Table
from labelcut.experiments.result_lines import Record
from labelcut.experiments.run import Study, noise_word


def progress_table(by_study: Mapping[str, Sequence[Record]], studies: Mapping[str, Study]) -> Table:
    """Say how much of each study is finished, per method."""
    rows = []
    for name, records in by_study.items():
        planned: dict[str, int] = {}
        for one in studies[name].runs:
            planned[one.method] = planned.get(one.method, 0) + 1
        for method in (m for m in METHODS if m in planned):
            mine = [record for record in records if record["method"] == method]
            failed = sum("error" in record for record in mine)
            rows.append((name, METHODS[method].title, str(len(mine)), str(planned[method]), str(failed)))
    head = ("Study", "Method", "Finished", "Planned", "Failed")
    return Table("Runs per study and method", head, tuple(rows), (), "progress")


def failure_table(records: Sequence[Record]) -> Table:
    """List every run that ended with an error, each error on one line."""
    rows = tuple(
        (
            METHODS[r["method"]].title,
            title_of(r["data"]),
            noise_word(r["noise"]),
            str(r["seed"]),
            shorten(r["error"], 160),
        )
        for r in records
        if "error" in r
    )
    return Table("Failed runs", ("Method", "Data", "Noise %", "Seed", "Error"), rows, (), "failures")
