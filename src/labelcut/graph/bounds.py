"""How rows are cut short for the certain lower bounds by which most of them are left out of a search.

The bounds themselves, and why they are certain, are told in ``core/neighbors.hpp``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import labelcut.graph._reference as twin
from labelcut.arrays import Floats

__all__ = ["SHORTENINGS", "Shortening", "in_chunks"]

#: Columns with this last share of the variance are merged into one in the cheapest bounds.
NEGLIGIBLE = 0.002

#: From cheap to dear: the numbers of the bounds, and the share of the variance that may be merged.
SHORTENINGS: tuple[tuple[type[np.floating[Any]], float], ...] = (
    (np.float32, NEGLIGIBLE),
    (np.float32, 0.0),
    (np.float64, 0.0),
)

#: Rows are scaled up by at most this power of two, whose square is still a float64.
MOST_DOUBLINGS = 500.0

#: Rows from which center and variances are estimated, and rows handled at once.
SOME_ROWS = 50_000
CHUNK_ROWS = 1 << 14


def in_chunks(n_rows: int) -> list[slice]:
    """Return slices that together take all rows, each few enough for a temporary copy."""
    return [slice(start, start + CHUNK_ROWS) for start in range(0, n_rows, CHUNK_ROWS)]


@dataclass(frozen=True, eq=False)
class Shortening:
    """Rows are centered and scaled to at most 1; columns that vary little are replaced by their common size.

    That can only bring rows nearer together.
    """

    center: Floats
    column: NDArray[np.int32]  # all columns, the kept ones first
    n_kept: int
    unit: float  # a power of two: it keeps all digits
    number: type[np.floating[Any]]  # of the bounds

    @classmethod
    def of(cls, rows: NDArray[Any], number: type[np.floating[Any]], negligible: float) -> Shortening:
        """Keep the columns that vary most, and merge those that hold a negligible share of the variance."""
        some = rows[:: 1 + len(rows) // SOME_ROWS].astype(np.float64)
        center = np.median(some, axis=0)
        largest = max(float(np.abs(rows[chunk] - center).max()) for chunk in in_chunks(len(rows)))
        unit = float(2.0 ** min(MOST_DOUBLINGS, -np.ceil(np.log2(largest)))) if largest > 0.0 else 1.0
        variance = np.square((some - center) * unit).mean(axis=0)
        falling = np.argsort(-variance, kind="stable")
        missing = 1.0 - np.cumsum(variance[falling]) / max(variance.sum(), 1e-300)
        n_kept = min(1 + int(np.count_nonzero(missing > negligible)), center.size)
        if negligible == 0.0:
            n_kept = center.size
        return cls(center, falling.astype(np.int32), n_kept, unit, number)

    @property
    def arguments(self) -> tuple[Floats, NDArray[np.int32], int, float]:
        """What the core takes: center, columns, how many are kept, unit."""
        return self.center, self.column, self.n_kept, self.unit

    @property
    def n_short(self) -> int:
        """The number of columns of a shortened row."""
        return self.n_kept + (self.n_kept < self.center.size)

    def shorten(self, rows: NDArray[Any]) -> Floats:
        """Return the columns that vary most, and the size of the rest as one column."""
        return twin.shorten(rows, *self.arguments)

    def is_far(self, queries: NDArray[Any]) -> NDArray[np.bool_]:
        """Mark queries so far from all rows that the bounds could not tell one row from another."""
        with np.errstate(over="ignore"):
            away = np.abs(queries - self.center).max(axis=1) * self.unit
        return np.asarray(away > 1.0 / np.finfo(self.number).eps)
