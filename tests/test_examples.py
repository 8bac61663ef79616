"""The worked examples run, and their answers are those of an independent computation."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, sparse

EXAMPLES = Path(__file__).parents[1] / "examples"


def load(name):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_runs_and_prints(path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert len(capsys.readouterr().out.splitlines()) >= 2


def test_the_outputs_in_the_documents_are_those_of_the_examples(monkeypatch, capsys):
    document = (EXAMPLES.parent / "docs/cut.md").read_text()
    for name in ("cut_demo", "denoise", "densest_subgraph", "open_pit"):
        monkeypatch.setattr(sys, "argv", [name])
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        for line in capsys.readouterr().out.splitlines():
            assert line.strip() in document, f"{name} prints {line!r}"


def test_the_suspect_storm_is_the_one_that_breaks_the_definition(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(EXAMPLES / "storms.py")])
    runpy.run_path(str(EXAMPLES / "storms.py"), run_name="__main__")
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("1875 labels, 1 against the definition")
    assert others[0] == "Emily, 2005-07-20 18:00, 70 knots: tropical storm -> hurricane"
    assert "against the definition" in others[1]


def test_denoising_equals_its_dual_least_squares_problem():
    example = load("denoise")
    _, noisy = example["noisy_shapes"](side=9)
    smoothing = 0.3
    # The dual: the picture is noisy - D'u, with one number |u| <= smoothing for every pair of neighbours.
    steps = np.diff(np.eye(9), axis=0)
    differences = np.vstack([np.kron(np.eye(9), steps), np.kron(steps, np.eye(9))])
    dual = optimize.lsq_linear(differences.T, noisy.ravel(), bounds=(-smoothing, smoothing), tol=1e-14)
    expected = noisy.ravel() - differences.T @ dual.x
    assert example["denoise"](noisy, smoothing).ravel() == pytest.approx(expected, abs=1e-5)


def test_the_densest_subgraph_is_as_dense_as_the_linear_program_says():
    example = load("densest_subgraph")
    edges = example["graph_with_a_club"](n_nodes=25, n_members=7)
    pairs = np.argwhere(np.triu(edges.toarray()))
    n_edges, n_nodes = len(pairs), 25
    # Maximise the sum of x_e where x_e is at most the share of either end, and the shares add up to 1.
    ends = np.zeros((2 * n_edges, n_edges + n_nodes))
    for k, (i, j) in enumerate(pairs):
        ends[2 * k, [k, n_edges + i]] = 1, -1
        ends[2 * k + 1, [k, n_edges + j]] = 1, -1
    program = optimize.linprog(
        np.r_[-np.ones(n_edges), np.zeros(n_nodes)],
        A_ub=ends,
        b_ub=np.zeros(2 * n_edges),
        A_eq=np.r_[np.zeros(n_edges), np.ones(n_nodes)][None],
        b_eq=[1.0],
    )
    density = example["layer_density"](edges)
    assert density.max() == pytest.approx(-program.fun, rel=1e-9)
    is_densest = np.isclose(density, density.max())
    assert edges[is_densest][:, is_densest].sum() / 2 / is_densest.sum() == pytest.approx(
        -program.fun, rel=1e-9
    )


@pytest.mark.parametrize("price", [2.0, 3.0, 4.0, 6.0])
def test_pits_are_closed_and_as_profitable_as_the_linear_program_says(price):
    example = load("open_pit")
    cost, metal = example["ore_body"](n_levels=10, n_columns=24)
    path = example["nested_pits"](cost, metal)
    below, above = example["blocks_above"](10, 24)
    pit = path.source_side(price)
    assert pit[above[pit[below]]].all(), "a block is dug out under one that stays"
    # The same as a linear program over shares of blocks, whose corners are whole pits.
    order = sparse.coo_array(
        (np.ones(below.size), (np.arange(below.size), below)), shape=(below.size, cost.size)
    )
    order = order - sparse.coo_array((np.ones(below.size), (np.arange(below.size), above)), shape=order.shape)
    program = optimize.linprog(
        (cost - price * metal).ravel(), A_ub=order, b_ub=np.zeros(below.size), bounds=(0, 1)
    )
    assert path.value(price) == pytest.approx(program.fun, rel=1e-9, abs=1e-9)
