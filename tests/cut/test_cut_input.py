"""Bad input gets an error that names the argument, the value and the remedy; nothing crashes or hangs."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from scipy import sparse

from labelcut.cut import CutPath, CutProblem, minimum_cut, parametric_cut, verify
from labelcut.cut.path import solve

PAIR = np.array([[0.0, 2.0], [2.0, 0.0]])


def raw_csr(data, indices, indptr, n=2):
    """Return a CSR array as given, with whatever order and repetition its indices have."""
    matrix = sparse.csr_array((n, n))
    matrix.data, matrix.indices, matrix.indptr = np.array(data), np.array(indices), np.array(indptr)
    return matrix


def broken(make):
    """Return a matrix whose index 7 lies outside its two rows and columns."""
    matrix = make(PAIR)
    indices = matrix.coords[0] if matrix.format == "coo" else matrix.indices
    indices.flags.writeable = True
    indices[:] = 7
    return matrix


def with_entry(value):
    return np.array([[0.0, value], [2.0, 0.0]])


@pytest.mark.parametrize(
    ("capacities", "error", "message"),
    [
        (with_entry(np.nan), ValueError, r"capacities\[0, 1\] is nan, which is not finite; .*source_seeds"),
        (with_entry(np.inf), ValueError, r"capacities\[0, 1\] is inf, which is not finite; .*sink_seeds"),
        (with_entry(-1.5), ValueError, r"capacities\[0, 1\] is -1.5, which is negative; .*zero or more"),
        (with_entry(1.5).astype(complex), TypeError, r"capacities has dtype complex128; .*astype\(float\)"),
        (sparse.csr_array(PAIR.astype(complex)), TypeError, r"capacities has dtype complex128"),
        (PAIR.astype(object), TypeError, r"capacities has dtype object"),
        (PAIR.astype(str), TypeError, r"capacities has dtype <U32"),
        (np.ones((2, 3)), ValueError, r"capacities has shape \(2, 3\); a square matrix"),
        (np.ones(2), ValueError, r"capacities has 1 dimension\(s\); a square matrix"),
        (3.0, ValueError, r"capacities has 0 dimension\(s\); a square matrix"),
        (
            np.full((2, 2), 1e308),
            ValueError,
            r"capacities and cost add up to more than a float can hold; divide",
        ),
        (raw_csr([1.0, 1.0], [1, 1], [0, 2, 2]), ValueError, r"lists an arc twice .*sum_duplicates\(\)"),
        (raw_csr([1.0, 1.0], [1, 0], [0, 2, 2]), ValueError, r"unsorted column indices; .*sort_indices\(\)"),
        (raw_csr([1.0], [7], [0, 1, 1]), ValueError, r"capacities is no valid CSR matrix: .*; rebuild it"),
        (raw_csr([1.0], [-1], [0, 1, 1]), ValueError, r"capacities is no valid CSR matrix: .*; rebuild it"),
        (
            raw_csr([1.0, 1.0], [1, 0], [0, 5, 2]),
            ValueError,
            r"capacities is no valid CSR matrix: .*; rebuild it",
        ),
        (raw_csr([1.0], [1], [0, 1]), ValueError, r"capacities is no valid CSR matrix: .*; rebuild it"),
        (broken(sparse.csc_array), ValueError, r"capacities is no valid CSC matrix: .*; rebuild it"),
        (broken(sparse.coo_array), ValueError, r"capacities is no valid COO matrix: .*; rebuild it"),
        (broken(sparse.bsr_array), ValueError, r"capacities is no valid BSR matrix: .*; rebuild it"),
    ],
)
def test_bad_capacities_are_refused(capacities, error, message):
    with pytest.raises(error, match=message):
        parametric_cut(capacities, [0.0, 0.0], [1.0, 1.0])


@pytest.mark.parametrize("name", ["cost", "slope"])
@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([0.0, np.nan], ValueError, r"{}\[1\] is nan; finite numbers are needed.*sink_seeds"),
        ([np.inf, 0.0], ValueError, r"{}\[0\] is inf; finite numbers are needed.*source_seeds"),
        ([1e308, 1e308], ValueError, r"{} add up to more than a float can hold; divide"),
        ([0.0], ValueError, r"{} has shape \(1,\), but capacities has 2 nodes; give one number per node"),
        ([[0.0, 1.0]], ValueError, r"{} has shape \(1, 2\), but capacities has 2 nodes"),
        (
            ["a", "b"],
            TypeError,
            r"{} has dtype <U1; real numbers are needed, convert it with astype\(float\)",
        ),
        ([1j, 0.0], TypeError, r"{} has dtype complex128"),
        ([None, 0.0], TypeError, r"{} has dtype object"),
    ],
)
def test_bad_costs_and_slopes_are_refused(name, values, error, message):
    arguments = {"cost": [0.0, 0.0], "slope": [1.0, 1.0]} | {name: values}
    with pytest.raises(error, match=message.format(name)):
        parametric_cut(PAIR, **arguments)


def test_a_negative_slope_is_refused_with_the_way_out():
    with pytest.raises(ValueError, match=r"slope\[1\] is -0.5, .*replace t by -t for the whole problem"):
        parametric_cut(PAIR, [0.0, 0.0], [1.0, -0.5])


@pytest.mark.parametrize("name", ["source_seeds", "sink_seeds"])
def test_seeds_must_be_a_mask(name):
    with pytest.raises(
        TypeError, match=rf"{name} has dtype int64; a mask of 2 booleans .*mask\[numbers\] = True"
    ):
        parametric_cut(PAIR, [0.0, 0.0], [1.0, 1.0], **{name: [0, 1]})
    with pytest.raises(ValueError, match=rf"{name} has shape \(3,\); one boolean for each of the 2 nodes"):
        parametric_cut(PAIR, [0.0, 0.0], [1.0, 1.0], **{name: [True, False, False]})


def test_contradictory_seeds_are_refused():
    with pytest.raises(
        ValueError, match=r"node 1 is in source_seeds and in sink_seeds; .*remove it from one"
    ):
        parametric_cut(PAIR, [0, 0], [1, 1], source_seeds=[False, True], sink_seeds=[True, True])


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"t_min": 1.0, "t_max": 0.0}, r"t_min=1.0 is above t_max=0.0; swap them"),
        ({"t_min": np.nan}, r"t_min is NaN; give a number, or -inf or inf for no limit"),
        ({"t_max": np.nan}, r"t_max is NaN"),
        ({"t_min": np.inf}, r"no trade-off lies between t_min=inf and t_max=inf; give a finite limit"),
        ({"t_max": -np.inf}, r"no trade-off lies between"),
    ],
)
def test_impossible_ranges_are_refused(limits, message):
    with pytest.raises(ValueError, match=message):
        parametric_cut(PAIR, [0.0, 0.0], [1.0, 1.0], **limits)


def test_asking_outside_the_solved_range_is_refused():
    path = parametric_cut(PAIR, [0.0, 1.0], [1.0, 1.0], t_min=0.0, t_max=1.0)
    with pytest.raises(
        ValueError, match=r"trade-off 1.5 lies outside the solved range \[0.0, 1.0\]; .*wider"
    ):
        path.source_side(1.5)
    with pytest.raises(ValueError, match=r"trade-off -0.5 lies outside"):
        path.n_source([-0.5, 0.5])
    with pytest.raises(ValueError, match="the trade-off is NaN; give a number"):
        path.value(np.nan)


def test_a_path_of_another_problem_is_not_certified():
    path = parametric_cut(PAIR, [0.0, 1.0], [1.0, 1.0])
    with pytest.raises(ValueError, match=r"needs one number, not NaN, for each of the 3 nodes"):
        verify(CutProblem(np.zeros((3, 3)), np.zeros(3), np.ones(3)), path)


def test_minimum_cut_checks_like_the_path():
    with pytest.raises(ValueError, match=r"cost has shape \(3,\), but capacities has 2 nodes"):
        minimum_cut(PAIR, [0.0, 0.0, 0.0])


def test_a_read_only_input_is_fine():
    cost = np.array([-1.0, 2.0])
    cost.flags.writeable = False
    matrix = sparse.csr_array(PAIR)
    matrix.data.flags.writeable = False
    assert solve(CutProblem(matrix, cost, np.ones(2))).join_at.tolist() == [0.5, 0.5]


def test_there_is_no_way_around_the_checks_of_a_problem():
    problem = CutProblem(PAIR, [0, 1], [1, 1])
    assert problem.source_seeds.tolist() == problem.sink_seeds.tolist() == [False, False]
    assert problem.cost.dtype == float
    with pytest.raises(FrozenInstanceError):
        problem.slope = -problem.slope
    with pytest.raises(ValueError, match=r"slope\[0\] is -1.0"):
        replace(problem, slope=-problem.slope)
    assert replace(problem, cost=[3, 4]).cost.tolist() == [3.0, 4.0]


def test_a_path_that_was_found_elsewhere_is_not_doubted():
    path = CutPath(np.array([0.0, 1.0]), CutProblem(PAIR, [0, 1], [1, 1]))
    assert path.is_doubtful.tolist() == [False, False]
