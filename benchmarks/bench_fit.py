"""How long a fit takes, stage by stage, beside CleanLearning in the same run.

Purpose: a regression in any stage shows here as a share of the fit, and the whole as a ratio to
``CleanLearning(ExtraTreesClassifier(100))`` on the same labels, with the same number of threads. Flags and
predictions of all rows are part of both times. The ratio is one of processor time, which other work on the
machine hardly changes. Accuracy is printed so that speed bought with it is seen.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import time

import numpy as np
from sklearn.datasets import make_classification

STAGES = ("forest", "graph", "boosting", "cut", "second round", "probabilities")
CUTS = ("cut",)

#: Required of the default fit: processor time against CleanLearning.
MOST_OF_CLEANLEARNING = {
    "phishing": 0.6,
    "letter": 0.7,
    "adult": 0.7,
    "synthetic 100000": 0.6,
    "synthetic 1000000": 0.3,
}
#: Required of a million rows: time against 100 000 rows, and peak memory.
MOST_PER_TEN_TIMES, MOST_GB_AT_A_MILLION = 16.0, 1.5
#: Required of a small table.
MOST_SECONDS_AT_500 = 2.0


def main(arguments: list[str] | None = None) -> None:
    """Run what was asked for and print one table each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sets", nargs="*", default=["phishing", "letter", "adult"], help="real tables")
    parser.add_argument("--rows", nargs="*", type=int, default=[100_000, 1_000_000], help="synthetic tables")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--no-rival", action="store_true", help="leave CleanLearning out")
    parser.add_argument("--one", metavar="JSON", help="(internal) one fit in a process of its own")
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(run_one(json.loads(options.one))))
        return
    print("| table | accuracy | seconds | CPU | of CleanLearning | peak GB | " + " | ".join(STAGES) + " |")
    print("|---|---|---|---|" + "---|" * (len(STAGES) + 2))
    missed = check_small(options.threads)
    for name in options.sets:
        missed += report(name, options)
    seconds = {}
    for n_rows in options.rows:
        missed += report(f"synthetic {n_rows}", options, seconds)
    if {100_000, 1_000_000} <= set(seconds):
        growth = seconds[1_000_000] / seconds[100_000]
        print(f"\nA million rows take {growth:.1f} times as long as 100 000.")
        if growth > MOST_PER_TEN_TIMES:
            missed.append(f"growth {growth:.1f}")
    print("\nAll targets met." if not missed else "\nMissed: " + "; ".join(missed))


def check_small(threads: int) -> list[str]:
    """Time 500 rows."""
    ours = our_fit({"table": "synthetic 500", "threads": threads})
    print_line("synthetic 500", ours, None)
    return [] if ours["total"] <= MOST_SECONDS_AT_500 else [f"500 rows: {ours['total']:.2f} s"]


def report(table: str, options: argparse.Namespace, seconds: dict[int, float] | None = None) -> list[str]:
    """Run both methods on one table, print a line, return the targets that were missed."""
    task = {"table": table, "threads": options.threads}
    ours = our_fit(task)
    theirs = None
    if not options.no_rival and importlib.util.find_spec("cleanlab"):
        theirs = in_own_process({**task, "method": "cleanlearning"})
    print_line(table, ours, theirs)
    missed = []
    if seconds is not None:
        seconds[int(table.split()[1])] = ours["total"]
    if theirs and "error" not in theirs:
        if ours["cpu"] > MOST_OF_CLEANLEARNING.get(table, 1.0) * theirs["cpu"]:
            missed.append(f"{table}: {ours['cpu'] / theirs['cpu']:.2f} of CleanLearning")
        if ours["accuracy"] < theirs["accuracy"]:
            missed.append(f"{table}: accuracy {ours['accuracy']:.1%}, CleanLearning {theirs['accuracy']:.1%}")
    if table == "synthetic 1000000" and ours["gb"] > MOST_GB_AT_A_MILLION:
        missed.append(f"a million rows need {ours['gb']:.1f} GB")
    return missed


def our_fit(task: dict) -> dict:
    """Run our method; without it there is nothing to compare."""
    ours = in_own_process({**task, "method": "ours"})
    if "error" in ours:
        sys.exit(f"{task['table']}: {ours['error']}")
    return ours


def print_line(table: str, ours: dict, theirs: dict | None) -> None:
    parts = " | ".join(f"{ours['seconds'].get(stage, 0.0):.2f}" for stage in STAGES)
    ratio = "-"
    if theirs and "error" in theirs:
        ratio = theirs["error"][:60]
    elif theirs:
        ratio = f"{ours['cpu'] / theirs['cpu']:.2f} ({theirs['cpu']:.1f} s, {theirs['accuracy']:.1%})"
    print(
        f"| {table} | {ours['accuracy']:.1%} | {ours['total']:.2f} | {ours['cpu']:.2f} "
        f"| {ratio} | {ours['gb']:.2f} | {parts} |",
        flush=True,
    )


def in_own_process(task: dict) -> dict:
    """Run one fit by itself, so that its peak memory is its own."""
    command = [sys.executable, __file__, "--one", json.dumps(task)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=1800)
    except subprocess.CalledProcessError as error:
        return {"error": error.stderr.strip().splitlines()[-1][:300], "total": float("inf")}
    except subprocess.TimeoutExpired:
        return {"error": "no end in 1800 s", "total": float("inf")}
    return json.loads(done.stdout.splitlines()[-1])


def run_one(task: dict) -> dict:
    """Fit one method and return its times, accuracy on unlabeled rows and peak memory."""
    X, given, truth = load(task["table"])
    is_labeled = given >= 0
    before = peak_gb()
    if task["method"] == "ours":
        from labelcut import ConfidenceHNC

        model = ConfidenceHNC(n_jobs=task["threads"])
        start, cpu = time.perf_counter(), time.process_time()  # imports are not counted, for neither
        model.fit(X, given)
        predicted, seconds = model.transduction_, model.timings_
    else:
        from cleanlab.classification import CleanLearning
        from sklearn.ensemble import ExtraTreesClassifier

        trees = ExtraTreesClassifier(100, n_jobs=task["threads"], random_state=0)
        model = CleanLearning(trees, seed=0, find_label_issues_kwargs={"n_jobs": 1})
        start, cpu = time.perf_counter(), time.process_time()
        model.fit(X[is_labeled], given[is_labeled])
        predicted, seconds = model.predict(X), {}
    total, cpu = time.perf_counter() - start, time.process_time() - cpu
    accuracy = float(np.mean(predicted[~is_labeled] == truth[~is_labeled]))
    found = {"total": total, "cpu": cpu, "seconds": seconds, "accuracy": accuracy}
    return found | {"gb": peak_gb(), "gb_before": before}


def load(table: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, given labels (20 % wrong, 30 % hidden) and true classes."""
    if table.startswith("synthetic"):
        n_rows = int(table.split()[1])
        X, truth = make_classification(
            n_rows, 20, n_informative=10, n_redundant=0, n_clusters_per_class=4, flip_y=0.0, random_state=0
        )
        rng = np.random.default_rng(0)
        given = np.where(rng.random(n_rows) < 0.2, 1 - truth, truth)
        given[rng.random(n_rows) < 0.3] = -1
        return X, given, truth
    from labelcut.experiments.noise import make_task

    task = make_task(table, noise=0.2, seed=0)
    return task.X, task.given, task.truth


def peak_gb() -> float:
    """Return the most memory this process has held so far (Linux counts in kilobytes)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


if __name__ == "__main__":
    main()
