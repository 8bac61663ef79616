"""How a large table is divided, and from how many rows is learned."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["Sizes"]

#: Numbers in the vectors of a sample, and of a cell: where vectors are long, these have fewer rows.
MOST_SAMPLED, MOST_IN_CELL = 60_000_000, 10_000_000


@dataclass(frozen=True)
class Sizes:
    """Numbers of rows. The first two change no answer, only how the work is divided.

    Attributes
    ----------
    rows_per_part, bytes_per_part : int
        A part has about so many bytes, and of parquet files at most so many rows.
    sample_rows : int
        Rows that the experts learn from and are weighed by.
    second_rows : int
        The rows among them that fully grown trees of the second round, which grow with every row, learn from.
    cell_rows : int
        Rows of a cell inside which neighbours are looked for.
    """

    rows_per_part: int = 125_000
    bytes_per_part: int = 64_000_000
    sample_rows: int = 1_000_000
    second_rows: int = 200_000
    cell_rows: int = 200_000

    def with_vectors(self, n_dimensions: int) -> Sizes:
        """Return the sizes for rows that have vectors of such a length; 0 for none."""
        length = max(n_dimensions, 1)
        return replace(
            self,
            sample_rows=min(self.sample_rows, MOST_SAMPLED // length),
            cell_rows=min(self.cell_rows, MOST_IN_CELL // length),
        )
