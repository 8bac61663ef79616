"""All cuts of ten million nodes, solved and certified.

Purpose: the solver beyond what a neighbour graph can be made for in a minute. The graph is a cube of 216
points a side, each joined to its six neighbours by how alike a noisy field is there; half of the points where
the field is negative are sink seeds, and the slope is the degree, as for the confidence of labels.

    python benchmarks/bench_cut_large.py [points a side]
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
from scipy import sparse

from labelcut.cut import CutProblem, parametric_cut, verify


def main(side: int) -> None:
    """Make the problem, solve it with two threads, certify the answer; tell seconds and peak memory."""
    problem = make_problem(side)
    start = time.perf_counter()
    path = parametric_cut(
        problem.capacities, problem.cost, problem.slope, sink_seeds=problem.sink_seeds, n_jobs=2
    )
    solved, gb = time.perf_counter() - start, peak_gb()
    start = time.perf_counter()
    certificate = verify(problem, path)
    assert certificate.is_optimal, certificate
    print(
        f"{path.join_at.size} nodes, {problem.capacities.nnz} arcs, {path.breakpoints.size} breakpoints: "
        f"solved in {solved:.0f} s ({gb:.1f} GB), certified in {time.perf_counter() - start:.0f} s "
        f"({peak_gb():.1f} GB)"
    )


def make_problem(side: int) -> CutProblem:
    """Return the cube."""
    rng = np.random.default_rng(0)
    number = np.arange(side**3, dtype=np.int32).reshape(side, side, side)
    waves = (
        np.sin(np.arange(side) * 0.05 * k).reshape([-1 if i == k - 2 else 1 for i in range(3)])
        for k in (2, 3, 4)
    )
    field = (sum(waves) + 0.4 * rng.normal(size=number.shape)).astype(np.float32).ravel()
    ends = [
        (np.take(number, range(side - 1), axis).ravel(), np.take(number, range(1, side), axis).ravel())
        for axis in range(3)
    ]
    one, other = (np.concatenate(points) for points in zip(*ends, strict=True))
    weight = np.exp(-np.square(field[one] - field[other]))
    half = sparse.coo_array((weight, (one, other)), shape=(number.size, number.size)).tocsr()
    weights = sparse.csr_array(half + half.T)
    weights.sort_indices()
    is_seed = (field < 0) & (rng.random(field.size) < 0.5)
    degree = np.asarray(weights.sum(axis=1)).ravel()
    return CutProblem(weights, np.zeros(field.size), degree, None, is_seed)


def peak_gb() -> float:
    """Return the most memory this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 216)
