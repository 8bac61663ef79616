"""Ours against each rival on the synthetic sets."""

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


def synthetic_table(records: Sequence[Record]) -> Table:
    """Average accuracy improvement over each rival, and the share of synthetic sets won."""
    lines = Lines([record for record in records if record["data"] not in REAL])
    facts = printed()["synthetic"]
    rows = []
    for noise in lines.noises():
        cells = [cell for cell in lines.cells() if cell[1] == noise]
        for ours in ("paper", "default"):
            shown = facts.get(noise, {}) if ours == "paper" else {}
            for rival in lines.methods():
                pairs = paired(lines, "accuracy", ours, rival, cells)
                if rival != ours and len(pairs):
                    rows.append((noise, METHODS[ours].title, *_against(rival, pairs, shown)))
    return Table(
        "Synthetic sets: accuracy improvement over each rival",
        ("Noise %", "Ours", "Rival", "Sets", "Improvement %", "Won %", "Tied %", "p Wilcoxon", "p paired t"),
        tuple(rows),
        ("In brackets the printed value of CHNC over 2160 sets.",),
        "synthetic",
    )


def _against(rival: str, pairs: npt.NDArray[np.float64], facts: dict[str, Any]) -> tuple[str, ...]:
    """Give the cells of one rival: sets, improvement, shares won and tied, both tests."""
    better = 100 * (pairs[:, 0] / pairs[:, 1] - 1)
    return (
        METHODS[rival].title,
        str(len(pairs)),
        beside_printed(f"{better.mean():+.2f}", facts.get("improvement", {}).get(rival)),
        beside_printed(f"{100 * np.mean(better > 0):.1f}", facts.get("wins", {}).get(rival)),
        f"{100 * np.mean(better == 0):.1f}",
        *(p_text(p) for p in p_values(pairs)),
    )
