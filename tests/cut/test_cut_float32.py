"""Capacities of float32, and arrays that lie in a file: the same cuts, without a copy."""

import numpy as np
import pytest
from cut_problems import cut_problems, ordinary, small_integers
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from labelcut.cut import CutProblem, parametric_cut, verify
from labelcut.cut.path import solve

pytestmark = pytest.mark.usefixtures("solver")


@settings(max_examples=200, deadline=None)
@given(st.one_of(cut_problems(ordinary, with_seeds=True), cut_problems(small_integers, with_seeds=True)))
def test_float32_capacities_are_cut_as_the_same_numbers_in_float64(problem):
    rest = (problem.cost, problem.slope, problem.source_seeds, problem.sink_seeds)
    narrow = CutProblem(problem.capacities.astype(np.float32), *rest)
    wide = CutProblem(narrow.capacities.astype(np.float64), *rest)
    assert narrow.capacities.dtype == np.float32
    path = solve(narrow)
    assert path.join_at.tobytes() == solve(wide).join_at.tobytes()
    assert verify(narrow, path).is_optimal
    for t in (-1.0, 0.0, 0.5):
        assert path.value(t) == pytest.approx(solve(wide).value(t), rel=1e-12)


def test_a_float32_graph_in_a_file_is_used_where_it_lies(tmp_path):
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((60, 60)) < 0.1, rng.random((60, 60)), 0.0).astype(np.float32)
    capacities = sparse.csr_array(dense + dense.T)
    capacities.sort_indices()
    parts = {"data": capacities.data, "indices": capacities.indices, "indptr": capacities.indptr}
    for name, array in parts.items():
        np.save(tmp_path / f"{name}.npy", array)
    mapped = {name: np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in parts}
    in_file = sparse.csr_array((mapped["data"], mapped["indices"], mapped["indptr"]), shape=(60, 60))
    cost, slope = np.random.default_rng(1).normal(size=60), np.ones(60)
    path = parametric_cut(in_file, cost, slope)
    assert path.join_at.tobytes() == parametric_cut(capacities, cost, slope).join_at.tobytes()
    assert np.shares_memory(path.problem.capacities.data, mapped["data"])
    assert np.shares_memory(path.problem.capacities.indices, mapped["indices"])
