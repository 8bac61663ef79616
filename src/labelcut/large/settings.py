"""How a large table is divided, and from how many rows is learned."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Sizes"]


@dataclass(frozen=True)
class Sizes:
    """Numbers of rows. The first two change no answer, only how the work is divided.

    Attributes
    ----------
    rows_per_part, bytes_per_part : int
        A part of parquet files has at most so many rows, one of csv files about so many bytes.
    sample_rows : int
        Rows that the experts learn from and are weighed by.
    second_rows : int
        The rows among them that fully grown trees of the second round, which grow with every row, learn from.
    cell_rows : int
        Rows of a cell inside which neighbours are looked for.
    """

    rows_per_part: int = 250_000
    bytes_per_part: int = 64_000_000
    sample_rows: int = 1_000_000
    second_rows: int = 200_000
    cell_rows: int = 200_000
