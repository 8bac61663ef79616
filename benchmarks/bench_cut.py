"""How long the cuts for every trade-off take, as a multiple of one single cut by PyMaxflow in the same run.

Purpose: a regression in the solver shows here as a ratio, on whatever machine. Every answer is checked while
it is timed: the optimal cost at the yardstick's trade-off equals PyMaxflow's, and the certificate holds.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from cut_instances import NAMES, SYNTHETIC, Instance, instance, is_available
from cut_rivals import HAS_PSEUDOFLOW, HAS_PYMAXFLOW, one_pymaxflow_cut, pseudoflow_path, pymaxflow_loop
from scipy import sparse

from labelcut.cut import CutProblem, parametric_cut, verify

#: Largest allowed multiple of one cut, one thread.
REQUIRED = {
    ("Letter", "P"): 4.6,
    ("Adult", "P"): 3.4,
    ("100k", "P"): 1.4,
    ("1M", "P"): 1.2,
    ("Letter", "C"): 2.4,
    ("Adult", "C"): 1.7,
    ("100k", "C"): 0.35,
    ("1M", "C"): 0.2,
}
REQUIRED_SPEEDUP = {"100k": 1.3, "1M": 1.6}  # of two threads
REQUIRED_GB = {("1M", "P"): 0.5, ("1M", "C"): 1.0}
MOST_PER_TEN_TIMES = 28  # ten times the nodes, n^1.45
RIVAL_SECONDS = 60  # a rival that takes longer is stopped
RIVAL_SIZES = ("10k", "Letter", "Adult")


@dataclass
class Row:
    """One line of the table."""

    of: Instance
    n_breakpoints: int
    one_cut: float
    ours: float
    two_threads: float
    memory_gb: float
    loop: str
    pseudoflow: str


def main(arguments: list[str] | None = None) -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", nargs="+", choices=NAMES, default=NAMES, help="instances to run")
    parser.add_argument("--quick", action="store_true", help="the smallest instance only")
    parser.add_argument("--only", nargs=3, help=argparse.SUPPRESS)  # one measurement in a process of its own
    options = parser.parse_args(arguments)
    if options.only:
        measurement, name, kind = options.only
        print(ALONE[measurement](instance(name, kind)))
        return
    if not HAS_PYMAXFLOW:
        sys.exit("the yardstick is missing: pip install --group yardsticks")

    sizes = ["10k"] if options.quick else options.sizes
    for name in [name for name in sizes if not is_available(name)]:
        print(f"{name}: no data; point LABELCUT_DATA to the folder that has {name.lower()}/", file=sys.stderr)
    rows = [measure(name, kind) for name in sizes if is_available(name) for kind in "PC"]
    print_table(rows)
    print_growth(rows)
    if HAS_PSEUDOFLOW:
        show_where_pseudoflow_is_wrong()


def measure(name: str, kind: str) -> Row:
    """Time one instance and check its answers."""
    print(f"{name} {kind} ...", file=sys.stderr, flush=True)
    of = instance(name, kind)
    t0, repeats = of.tradeoff, 2 if name == "1M" else 5
    one_cut, (_, value) = best_of(repeats, lambda: one_pymaxflow_cut(of.capacities, of.cost - t0 * of.slope))
    ours, path = best_of(repeats, lambda: parametric_cut(of.capacities, of.cost, of.slope, n_jobs=1))
    two_threads, again = best_of(repeats, lambda: parametric_cut(of.capacities, of.cost, of.slope, n_jobs=2))

    scale = np.abs(of.cost).sum() + abs(t0) * of.slope.sum()
    assert abs(path.value(t0) - value) <= 1e-9 * scale, f"{name} {kind}: {path.value(t0)} against {value}"
    assert path.join_at.tobytes() == again.join_at.tobytes(), f"{name} {kind}: threads change the answer"
    certificate = verify(CutProblem(of.capacities, of.cost, of.slope), path)
    assert certificate.is_optimal, f"{name} {kind}: {certificate}"
    return Row(
        of,
        path.breakpoints.size,
        one_cut,
        ours,
        two_threads,
        float(alone("memory", name, kind) or "nan"),
        multiple(alone("loop", name, kind), one_cut) if name in RIVAL_SIZES else "-",
        multiple(alone("pseudoflow", name, kind), one_cut) if name in RIVAL_SIZES and HAS_PSEUDOFLOW else "-",
    )


def best_of(repeats: int, run: Callable[[], object]) -> tuple[float, object]:
    """Return the shortest time of a few runs, and the last result."""
    seconds = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        seconds = min(seconds, time.perf_counter() - start)
    return seconds, result


def alone(measurement: str, name: str, kind: str) -> str:
    """Return what a measurement prints in a process of its own; nothing if it takes too long."""
    command = [sys.executable, __file__, "--only", measurement, name, kind]
    limit = None if measurement == "memory" else RIVAL_SECONDS
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True).stdout
    except subprocess.TimeoutExpired:
        return ""


def memory_beyond_input(of: Instance) -> float:
    """Return how far the resident memory rises, in GB, above what it was with the input loaded."""
    before = resident_gb("VmRSS")
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")  # the peak starts anew from here
    parametric_cut(of.capacities, of.cost, of.slope, n_jobs=1)
    return resident_gb("VmHWM") - before


def resident_gb(field: str) -> float:
    with open("/proc/self/status") as status:
        return next(float(line.split()[1]) / 1e6 for line in status if line.startswith(field))


ALONE: dict[str, Callable[[Instance], float]] = {
    "memory": memory_beyond_input,
    "loop": lambda of: best_of(1, lambda: pymaxflow_loop(of))[0],
    "pseudoflow": lambda of: best_of(
        1, lambda: pseudoflow_path(of, t_min=0.0 if of.kind == "P" else -1.0, t_max=1.0)
    )[0],
}


def multiple(seconds: str, one_cut: float) -> str:
    return f"{float(seconds) / one_cut:.0f}" if seconds else f"> {RIVAL_SECONDS / one_cut:.0f}"


def print_table(rows: Iterable[Row]) -> None:
    """Print the measured ratios next to the required ones, as a Markdown table."""
    titles = (
        "instance",
        "nodes",
        "arcs",
        "breakpoints",
        "one cut, s",
        "all cuts, s",
        "ratio",
        "required",
        "two threads",
        "required",
        "GB beyond input",
        "required",
        "loop over PyMaxflow",
        "pseudoflow",
    )
    print("| " + " | ".join(titles) + " |")
    print("|---" + "|---:" * (len(titles) - 1) + "|")
    for row in rows:
        key = (row.of.name, row.of.kind)
        cells = (
            f"{row.of.name} {row.of.kind}",
            f"{row.of.cost.size}",
            f"{row.of.capacities.nnz}",
            f"{row.n_breakpoints}",
            f"{row.one_cut:.3f}",
            f"{row.ours:.3f}",
            f"**{row.ours / row.one_cut:.2f}**",
            f"{REQUIRED.get(key, '-')}",
            f"{row.ours / row.two_threads:.2f}",
            f"{REQUIRED_SPEEDUP.get(row.of.name, '-')}",
            f"{row.memory_gb:.3f}",
            f"{REQUIRED_GB.get(key, '-')}",
            row.loop,
            row.pseudoflow,
        )
        print("| " + " | ".join(cells) + " |")


def print_growth(rows: list[Row]) -> None:
    """Print what ten times the nodes cost, for each step between synthetic sizes that were run."""
    seconds = {(row.of.name, row.of.kind): row.ours for row in rows}
    steps = list(SYNTHETIC)
    for kind in "PC":
        for small, large in zip(steps, steps[1:], strict=False):
            if (small, kind) in seconds and (large, kind) in seconds:
                times = seconds[large, kind] / seconds[small, kind]
                print(
                    f"\nKind {kind}, {small} to {large}: {times:.1f} times the time for ten times the nodes "
                    f"(n^{math.log10(times):.2f}; allowed {MOST_PER_TEN_TIMES} times)."
                )


def show_where_pseudoflow_is_wrong() -> None:
    """Print a problem of three separate nodes on which the pseudoflow library misses two breakpoints."""
    three = Instance(
        "three", "-", sparse.csr_array((3, 3)), np.array([1.0, 1.0, 0.5]), np.array([1.5, 2.5, 1.0])
    )
    breakpoints, sides = pseudoflow_path(three, t_min=0.0, t_max=1.0)
    path = parametric_cut(three.capacities, three.cost, three.slope)
    problem, t = CutProblem(three.capacities, three.cost, three.slope), breakpoints[0] / 2
    print(
        "\nThree nodes without arcs, cost 1, 1, 0.5 and slope 1.5, 2.5, 1 join at 2/3, 0.4 and 0.5. "
        f"LabelCut: {np.round(path.join_at, 4).tolist()}. pseudoflow: {breakpoints.tolist()} and, "
        f"at t = {t:g}, a cut of cost {problem.value_of(sides[0], t):g} where {path.value(t):g} is possible."
    )


if __name__ == "__main__":
    main()
