"""The paper's numbers, misprints corrected and listed, and whether ours reproduce them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from labelcut.experiments.data import REAL
from labelcut.experiments.lines import Lines
from labelcut.experiments.loading import title_of
from labelcut.experiments.methods import METHODS
from labelcut.experiments.render import SCORE_TITLES, Table

PRINTED_SEEDS = 5
"""Runs behind each printed mean."""


def printed() -> dict[str, Any]:
    """Read the paper's numbers."""
    text = (resources.files("labelcut.experiments") / "printed.json").read_text(encoding="utf-8")
    facts: dict[str, Any] = json.loads(text)
    return facts


@dataclass(frozen=True)
class Reproduction:
    """One printed cell beside ours."""

    data: str
    noise: str
    printed: float
    ours: float
    allowed: float
    """Twice the combined standard error."""
    n_seeds: int

    @property
    def is_reproduced(self) -> bool:
        """Above the printed value, or below it by at most twice the combined standard error."""
        return self.ours >= self.printed - self.allowed


def reproductions(lines: Lines, score: str = "accuracy", method: str = "paper") -> list[Reproduction]:
    """Hold every finished cell of the method against the printed CHNC."""
    found = []
    for noise, table in printed()["real"][score].items():
        for data, cells in table["cells"].items():
            values = list(lines.values(score, method, data, noise).values())
            mean, bracket = cells["paper"]
            if len(values) < 2 or bracket is None:
                continue
            errors = bracket / np.sqrt(PRINTED_SEEDS), np.std(values, ddof=1) / np.sqrt(len(values))
            found.append(
                Reproduction(
                    data, noise, mean, float(np.mean(values)), 2 * float(np.hypot(*errors)), len(values)
                )
            )
    return found


def reproduction_table(lines: Lines, score: str = "accuracy", method: str = "paper") -> Table:
    """Say of every printed CHNC cell whether ours reproduces it."""
    found = reproductions(lines, score, method)
    rows = tuple(
        (
            title_of(cell.data),
            cell.noise,
            f"{cell.printed:.2f}",
            f"{cell.ours:.2f}",
            f"{cell.ours - cell.printed:+.2f}",
            f"{cell.allowed:.2f}",
            str(cell.n_seeds),
            "yes" if cell.is_reproduced else "**no**",
        )
        for cell in sorted(found, key=lambda cell: (list(REAL).index(cell.data), cell.noise))
    )
    yes = sum(cell.is_reproduced for cell in found)
    return Table(
        f"{SCORE_TITLES[score]}: {METHODS[method].title} against the printed CHNC",
        ("Data", "Noise %", "Printed", "Ours", "Difference", "Allowed below", "Seeds", "Reproduced"),
        rows,
        (
            f"{yes} of {len(found)} finished cells reproduced (20 exist). Allowed below: twice the combined "
            "standard error, printed bracket / sqrt(5) and our standard deviation / sqrt(seeds).",
        ),
        f"reproduced-{score}-{method}",
    )
