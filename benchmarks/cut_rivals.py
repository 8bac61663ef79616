"""Yardsticks for the cut, installed separately (`--group yardsticks`); the package never imports them."""

from __future__ import annotations

import ctypes
import importlib.util
from pathlib import Path

import numpy as np
from cut_instances import Instance
from scipy import sparse

HAS_PYMAXFLOW = importlib.util.find_spec("maxflow") is not None
HAS_PSEUDOFLOW = importlib.util.find_spec("pseudoflow") is not None


def one_pymaxflow_cut(capacities: sparse.csr_array, unary: np.ndarray) -> tuple[np.ndarray, float]:
    """Return side and cost of one cut of a symmetric graph; building PyMaxflow's graph is part of it."""
    import maxflow

    n = unary.size
    pairs = sparse.triu(capacities, 1).tocoo()
    graph = maxflow.GraphFloat(n, pairs.nnz)
    graph.add_nodes(n)
    graph.add_edges(pairs.row.astype(np.int64), pairs.col.astype(np.int64), pairs.data, pairs.data)
    graph.add_grid_tedges(np.arange(n), np.maximum(-unary, 0), np.maximum(unary, 0))
    value = graph.maxflow() + np.minimum(unary, 0).sum()
    return ~graph.get_grid_segments(np.arange(n)), float(value)


def pymaxflow_loop(instance: Instance) -> int:
    """Return the number of groups that a divide and conquer in Python finds, one PyMaxflow cut per block."""
    blocks = [(instance.capacities, instance.cost, instance.slope)]
    n_groups = 0
    while blocks:
        capacities, cost, slope = blocks.pop()
        if not slope.any():
            continue
        unary = cost - cost.sum() / slope.sum() * slope
        side, value = one_pymaxflow_cut(capacities, unary)
        if value >= -1e-9 * np.abs(unary).sum() or side.all() or not side.any():
            n_groups += 1
            continue
        arcs_across = capacities[side][:, ~side]
        blocks += [
            (capacities[side][:, side], cost[side] + arcs_across.sum(axis=1), slope[side]),
            (capacities[~side][:, ~side], cost[~side] - arcs_across.sum(axis=0), slope[~side]),
        ]
    return n_groups


def pseudoflow_path(instance: Instance, t_min: float, t_max: float) -> tuple[np.ndarray, np.ndarray]:
    """Return breakpoints (upper ends of intervals) and, per interval, the source side, from the C library.

    The Python package wants a networkx graph; its shared library takes plain arrays, and gets them here. Its
    source arcs may only grow with t from a capacity of zero or more, so t is counted from ``t_min`` on.
    """
    n, arcs = instance.cost.size, instance.capacities.tocoo()
    source, sink = n, n + 1
    nodes, none = np.arange(n), np.zeros(n)
    cost = instance.cost - t_min * instance.slope
    from_source = np.c_[np.full(n, source), nodes, np.maximum(-cost, 0), instance.slope]
    to_sink = np.c_[nodes, np.full(n, sink), np.maximum(cost, 0), none]
    between = np.c_[arcs.row, arcs.col, arcs.data, np.zeros(arcs.nnz)]
    table = np.ascontiguousarray(np.vstack([from_source, to_sink, between]), dtype=np.float64)

    package = importlib.util.find_spec("pseudoflow")
    assert package is not None
    assert package.origin is not None
    solve = ctypes.CDLL(str(Path(package.origin).parent / "libhpf.so")).hpf_solve
    doubles = ctypes.POINTER(ctypes.c_double)
    n_breakpoints = ctypes.c_int()
    sides, breakpoints = ctypes.POINTER(ctypes.c_int)(), doubles()
    solve(
        ctypes.c_int(n + 2),
        ctypes.c_int(len(table)),
        ctypes.c_int(source),
        ctypes.c_int(sink),
        table.ctypes.data_as(doubles),
        (ctypes.c_double * 2)(0.0, t_max - t_min),
        ctypes.c_int(0),
        ctypes.byref(n_breakpoints),
        ctypes.byref(sides),
        ctypes.byref(breakpoints),
        (ctypes.c_int * 5)(),
        (ctypes.c_double * 3)(),
    )
    k = n_breakpoints.value
    found = np.ctypeslib.as_array(sides, (k, n + 2))[:, :n].astype(bool)
    return np.ctypeslib.as_array(breakpoints, (k,)) + t_min, found
