"""What runs cost: beside the printed seconds, and by method and size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labelcut.experiments.data import REAL
from labelcut.experiments.lines import Lines
from labelcut.experiments.loading import title_of
from labelcut.experiments.methods import METHODS
from labelcut.experiments.printed import printed
from labelcut.experiments.render import Table, beside_printed
from labelcut.experiments.result_lines import Record
from labelcut.experiments.synthetic import Synthetic


def time_table(lines: Lines, noise: str) -> Table:
    """Mean seconds per run beside the printed ones."""
    methods = lines.methods()
    facts = printed()["seconds"].get(noise, {})
    rows = []
    for data in lines.data():
        row = [title_of(data)]
        for method in methods:
            seconds = [r["seconds"]["total"] for r in lines.runs(method, data, noise).values()]
            text = f"{np.mean(seconds):.2f}" if seconds else "-"
            row.append(beside_printed(text, facts.get(data, {}).get(method)))
        rows.append(tuple(row))
    remarks = (
        "Wall seconds of fit, predictions and flags, one thread each. In brackets the printed seconds, from "
        f"other machines ({printed()['hardware']}): compare columns, not machines.",
    )
    head = ("Data", *(METHODS[method].title for method in methods))
    return Table(f"Computation time in seconds, {noise} % noise", head, tuple(rows), remarks, f"time-{noise}")


def cost_table(records: Sequence[Record]) -> Table:
    """Mean seconds per run, by method and size of the data."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for record in records:
        if "scores" in record and not record["settings"] and _is_whole(record["data"]):
            seconds.setdefault((record["method"], _size_title(record["data"])), []).append(
                record["seconds"]["total"]
            )
    sizes = [title for title in _SIZE_TITLES if any(size == title for _, size in seconds)]
    rows = tuple(
        (
            METHODS[method].title,
            *(f"{np.mean(seconds[method, s]):.1f}" if (method, s) in seconds else "-" for s in sizes),
        )
        for method in METHODS
        if any(name == method for name, _ in seconds)
    )
    remarks = (
        "One thread, on a machine that was busy with other work, so two or three times what an idle one "
        "needs. A forest that several methods share is counted for each of them.",
    )
    return Table("Mean seconds per run", ("Method", *sizes), rows, remarks, "cost")


def _is_whole(data: str) -> bool:
    """Whether the table is one of the paper's, and not a part of one."""
    return data in REAL or data.startswith(Synthetic.PREFIX)


def _size_title(data: str) -> str:
    return title_of(data) if data in REAL else f"synthetic {Synthetic.from_name(data).n_rows}"


_SIZE_TITLES = [*(f"synthetic {n}" for n in (1000, 5000, 10000)), *(source.title for source in REAL.values())]


def read_time(records: Sequence[Record]) -> list[str]:
    """Say how long LabelCut takes, and the others as multiples, on the runs that all have done."""
    lines = Lines(records)
    totals: dict[str, float] = {}
    methods = lines.methods()
    cells = [cell for cell in lines.cells() if all(lines.runs(method, *cell) for method in methods)]
    for method in methods:
        runs = [run for cell in cells for run in lines.runs(method, *cell).values()]
        totals[method] = sum(run["seconds"]["total"] for run in runs)
    if "default" not in totals or not cells or not totals["default"]:
        return []
    others = ", ".join(
        f"{METHODS[m].title} {totals[m] / totals['default']:.1f}" for m in methods if m != "default"
    )
    return [
        f"LabelCut needs {totals['default']:.0f} s for {len(cells)} runs; as multiples of that: {others}.",
    ]
