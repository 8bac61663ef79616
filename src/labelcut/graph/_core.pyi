from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float32] | NDArray[np.float64]

def number_equal_rows(matrix: NDArray[np.float64], number: NDArray[np.int32]) -> int: ...
def nearest_center(
    rows: NDArray[Any],
    center: NDArray[np.float64],
    column: NDArray[np.int32],
    n_kept: int,
    unit: float,
    cell_center: NDArray[np.float64],
    n_threads: int,
    poll: Callable[[int], object],
    number: NDArray[np.int32],
    distance: NDArray[np.float64],
) -> None: ...
def table_size(cell_start: NDArray[np.int64], n_short: int, n_lanes: int) -> int: ...
def pack_cells(
    rows: NDArray[Any],
    center: NDArray[np.float64],
    column: NDArray[np.int32],
    n_kept: int,
    unit: float,
    cell_start: NDArray[np.int64],
    table: NDArray[Any],
) -> None: ...
def search(
    rows: NDArray[Any],
    equal: NDArray[np.int32],
    equal_start: NDArray[np.int64],
    center: NDArray[np.float64],
    column: NDArray[np.int32],
    n_kept: int,
    unit: float,
    cell_start: NDArray[np.int64],
    cell_center: NDArray[np.float64],
    cell_radius: NDArray[np.float64],
    table: NDArray[Any],
    queries: NDArray[Any] | None,
    n_visited: int,
    n_threads: int,
    poll: Callable[[int], object],
    index: NDArray[np.int32],
    distance: NDArray[Any],
) -> int: ...
def prepare_symmetry(
    start: NDArray[np.int64],
    column: NDArray[np.int32],
    weight: NDArray[Any],
    new_start: NDArray[np.int64],
) -> None: ...
def symmetrise(
    start: NDArray[np.int64],
    column: NDArray[np.int32],
    weight: NDArray[Any],
    is_mean: bool,
    new_start: NDArray[np.int64],
) -> None: ...
def add_up_rows(start: NDArray[np.int64], weight: NDArray[Any], sum: NDArray[np.float64]) -> None: ...
def number_parts(start: NDArray[np.int64], column: NDArray[np.int32], part: NDArray[np.int32]) -> int: ...
def merge_nearest(
    at: NDArray[np.int32],
    row: NDArray[np.int32],
    distance: NDArray[np.float32],
    best_row: NDArray[np.int32],
    best_distance: NDArray[np.float32],
) -> None: ...
