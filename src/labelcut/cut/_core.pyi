from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

def solve_path(
    row_start: NDArray[np.int64],
    column: NDArray[np.int32],
    capacity: NDArray[np.float32] | NDArray[np.float64],
    cost: NDArray[np.float64],
    slope: NDArray[np.float64],
    t_min: float,
    t_max: float,
    n_threads: int,
    poll: Callable[[int], object],
) -> NDArray[np.float64]: ...
def route(
    row_start: NDArray[np.int64],
    column: NDArray[np.int32],
    capacity: NDArray[np.float64],
    excess: NDArray[np.float64],
    poll: Callable[[int], object],
) -> NDArray[np.float64]: ...
