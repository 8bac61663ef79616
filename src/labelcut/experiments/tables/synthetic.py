"""Ours against each rival on the synthetic sets, beside what the paper prints of its own method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from labelcut.experiments.data import REAL
from labelcut.experiments.lines import Lines, p_values, paired
from labelcut.experiments.methods import METHODS
from labelcut.experiments.printed import printed
from labelcut.experiments.render import Table, beside_printed, p_text
from labelcut.experiments.result_lines import Record
from labelcut.experiments.synthetic import Synthetic

PRINTED_RIVALS = ("dividemix", "cl", "coteaching")
PARAMETERS = {
    "n_rows": "rows",
    "n_features": "columns",
    "percent_positive": "% positive",
    "n_clusters": "clusters a class",
    "class_sep": "distance of clusters",
    "centroids": "centres on a",
}
"""The six parameters of the grid, and how a row of a table calls them."""
OURS = ("paper", "default")


def synthetic_tables(records: Sequence[Record]) -> list[Table]:
    """Beside the printed numbers; against every rival; by every parameter of the grid."""
    lines = Lines([record for record in records if record["data"] not in REAL])
    return [
        table
        for table in (printed_table(lines), synthetic_table(records), parameter_table(lines, "cl"))
        if table.rows
    ]


def printed_table(lines: Lines) -> Table:
    """Put improvement and share of wins of the paper's method beside the printed ones, rival by rival."""
    rows = []
    for noise, facts in printed()["synthetic"].items():
        for rival in PRINTED_RIVALS:
            pairs = _pairs(lines, "paper", rival, noise)
            if not len(pairs):
                continue
            better = _improvement(pairs)
            error = better.std(ddof=1) / np.sqrt(len(better)) if len(better) > 1 else 0.0
            rows.append(
                (
                    noise,
                    METHODS[rival].title,
                    str(len(pairs)),
                    f"{better.mean():+.2f} +- {error:.2f}",
                    f"{facts['improvement'][rival]:+.2f}",
                    f"{100 * np.mean(better > 0):.1f}",
                    f"{facts['wins'][rival]:.1f}",
                    f"{pairs[:, 0].mean():.1f}",
                    f"{pairs[:, 1].mean():.1f}",
                )
            )
    return Table(
        "The paper's method beside the printed numbers",
        (
            "Noise %",
            "Rival",
            "Sets",
            "Improvement %",
            "printed",
            "Won %",
            "printed",
            "Accuracy, CHNC (paper)",
            "Accuracy, rival",
        ),  # fmt: skip
        tuple(rows),
        (
            "One set per configuration where the paper has four; improvement with its standard error; "
            "printed over "
            "2160 sets.",
        ),
        "synthetic-printed",
    )


def synthetic_table(records: Sequence[Record]) -> Table:
    """Average accuracy improvement over each rival, and the share of synthetic sets won."""
    lines = Lines([record for record in records if record["data"] not in REAL])
    facts = printed()["synthetic"]
    rows = []
    for noise in lines.noises():
        for ours in OURS:
            shown = facts.get(noise, {}) if ours == "paper" else {}
            for rival in lines.methods():
                pairs = _pairs(lines, ours, rival, noise)
                if rival != ours and len(pairs):
                    rows.append((noise, METHODS[ours].title, *_against(rival, pairs, shown)))
    return Table(
        "Synthetic sets: accuracy improvement over each rival",
        ("Noise %", "Ours", "Rival", "Sets", "Improvement %", "Won %", "Tied %", "p Wilcoxon", "p paired t"),
        tuple(rows),
        ("In brackets the printed value of CHNC over 2160 sets.",),
        "synthetic",
    )


def parameter_table(lines: Lines, rival: str) -> Table:
    """Split the improvement over one rival by each parameter of the grid."""
    rows = []
    names = sorted({data for data, _ in lines.cells()})
    for parameter, title in PARAMETERS.items():
        values = sorted({getattr(Synthetic.from_name(name), parameter) for name in names})
        for value in values:
            mine = [name for name in names if getattr(Synthetic.from_name(name), parameter) == value]
            texts = []
            for ours in OURS:
                for noise in lines.noises():
                    pairs = paired(lines, "accuracy", ours, rival, [(name, noise) for name in mine])
                    better = _improvement(pairs)
                    texts.append(
                        f"{better.mean():+.1f} ({100 * np.mean(better > 0):.0f})" if len(pairs) else "-"
                    )
            rows.append((f"{title} {value:g}" if not isinstance(value, str) else f"{title} {value}", *texts))
    heads = (f"{METHODS[ours].title}, {noise} %" for ours in OURS for noise in lines.noises())
    return Table(
        f"Improvement over {METHODS[rival].title} by parameter of the grid",
        ("Sets with", *heads),
        tuple(rows),
        ("Mean improvement in percent, in brackets the percent of sets won.",),
        "synthetic-parameters",
    )


def read_synthetic(records: Sequence[Record]) -> list[str]:
    """Say how close the paper's method comes to the printed improvements, and how far it has been run."""
    lines = Lines([record for record in records if record["data"] not in REAL])
    facts = printed()["synthetic"]
    told = []
    for rival in PRINTED_RIVALS:
        parts = []
        for noise in facts:
            pairs = _pairs(lines, "paper", rival, noise)
            if len(pairs):
                better = _improvement(pairs)
                parts.append(
                    f"at {noise} % {better.mean():+.1f} % on {len(pairs)} sets, "
                    f"{100 * np.mean(better > 0):.0f} % "
                    f"won (printed {facts[noise]['improvement'][rival]:+.1f}, "
                    f"{facts[noise]['wins'][rival]:.0f})"
                )
        if parts:
            told.append(f"CHNC (paper) against {METHODS[rival].title}: {'; '.join(parts)}.")
    done = {
        noise: sum(bool(lines.runs("paper", d, n)) for d, n in lines.cells() if n == noise) for noise in facts
    }
    if any(done.values()):
        counts = ", ".join(f"{count} of 540 at {noise} %" for noise, count in done.items())
        told.append(f"Configurations that the paper's method has been run on: {counts}.")
    for noise in facts:
        pairs = _pairs(lines, "default", "paper", noise)
        if len(pairs):
            better = _improvement(pairs)
            told.append(
                f"LabelCut's default against the paper's method at {noise} %: {better.mean():+.1f} % on "
                f"{len(pairs)} "
                f"sets, {100 * np.mean(better > 0):.0f} % won, {100 * np.mean(better == 0):.0f} % tied."
            )
    return told


def _pairs(lines: Lines, ours: str, rival: str, noise: str) -> npt.NDArray[np.float64]:
    return paired(lines, "accuracy", ours, rival, [cell for cell in lines.cells() if cell[1] == noise])


def _improvement(pairs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Give the paper's measure: how much higher the first accuracy is, in percent of the second."""
    found: npt.NDArray[np.float64] = 100 * (pairs[:, 0] / pairs[:, 1] - 1)
    return found


def _against(rival: str, pairs: npt.NDArray[np.float64], facts: dict[str, Any]) -> tuple[str, ...]:
    """Give the cells of one rival: sets, improvement, shares won and tied, both tests."""
    better = _improvement(pairs)
    return (
        METHODS[rival].title,
        str(len(pairs)),
        beside_printed(f"{better.mean():+.2f}", facts.get("improvement", {}).get(rival)),
        beside_printed(f"{100 * np.mean(better > 0):.1f}", facts.get("wins", {}).get(rival)),
        f"{100 * np.mean(better == 0):.1f}",
        *(p_text(p) for p in p_values(pairs)),
    )
