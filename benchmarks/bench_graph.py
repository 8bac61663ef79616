"""How long the nearest rows take to find, beside scikit-learn and faiss in the same run.

Purpose: to see which search suits which size and width, and that ours stays ahead. Every answer is checked
while it is timed: exact searches must find the same distances as ours (faiss rounds to float32, so its own
are measured again in float64), and ours must be, for sampled rows, what a full table of distances says.
The share of our neighbors that a search finds is below 1 for exact ones too, where ties are broken otherwise.
Approximate searches are compared at equal recall: faiss gets the smallest nprobe or efSearch with which it
finds, for sampled rows, at least the share that ours does. Looking for that number is timed in ours alone.

    python benchmarks/bench_graph.py                      # the three real tables, then 100 000 rows
    python benchmarks/bench_graph.py --sets --rows 1000000
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_classification
from sklearn.neighbors import NearestNeighbors

from labelcut.graph import Neighbors, neighbors, similarity_graph
from labelcut.hnc.columns import scale_columns, weight_columns
from labelcut.hnc.forest import fit_forest

HAS_FAISS = importlib.util.find_spec("faiss") is not None
#: Rivals that would take much longer than all others together are left out of larger tables.
MOST_ROWS_FOR_TREES, MOST_ROWS_FOR_BRUTE = 25_000, 60_000
SAMPLE = 300
#: Rows on which recall is measured, and what is tried for nprobe and efSearch.
TRUTH_ROWS = 2000
KNOB_VALUES = [2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128, 192, 256]


def main(arguments: list[str] | None = None) -> None:
    """Run what was asked for and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sets", nargs="*", default=["phishing", "letter", "adult"], help="real tables")
    parser.add_argument("--rows", nargs="*", type=int, default=[100_000], help="synthetic tables")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    print("| table | rows | columns | search | seconds | of ours | CPU seconds | of ours | recall |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in [*options.sets, *(f"synthetic {n}" for n in options.rows)]:
        compare(name, options.threads)
    print(f"\nEvery exact search agreed. Peak memory {peak_gb():.1f} GB.")


def compare(name: str, threads: int) -> None:
    """Time every search on one table and print a line for each."""
    X = load(name, threads)
    k = 10
    ours, seconds = timed(lambda: neighbors(X, k, n_jobs=threads))
    truth = sampled_truth(X, k)
    check_against_table(X, ours.index, ours.distance, ours.recall)
    report(name, X, f"labelcut, {'exact' if ours.recall == 1.0 else 'cells'}", seconds, seconds, ours.recall)

    for title, search in rivals(X, k, threads):
        index, other = timed(search)
        check_distances(X, index, ours.distance, title)
        report(name, X, title, other, seconds, share_found(ours.index, index))
    if len(X) > MOST_ROWS_FOR_BRUTE:
        compare_approximate(name, X, k, threads, truth, ours, seconds)
    _, whole = timed(lambda: similarity_graph(X, n_neighbors=k, bandwidth=0.5, n_jobs=threads))
    report(name, X, "labelcut, the whole graph", whole, seconds, ours.recall)


def compare_approximate(
    name: str, X: np.ndarray, k: int, threads: int, truth: Truth, ours: Neighbors, seconds: Seconds
) -> None:
    """Time our search in cells, unless that was it, and those of faiss at the same recall."""
    if ours.recall == 1.0:
        ours, seconds = timed(lambda: neighbors(X, k, method="approximate", n_jobs=threads))
        report(name, X, "labelcut, cells", seconds, seconds, truth.share_in(ours.index))
    goal = truth.share_in(ours.index)
    if not HAS_FAISS:
        return
    import faiss

    faiss.omp_set_num_threads(threads)
    X32 = X.astype(np.float32)
    n_lists = int(4 * np.sqrt(len(X)))
    lists = faiss.IndexIVFFlat(faiss.IndexFlatL2(X.shape[1]), X.shape[1], n_lists)
    graph = faiss.IndexHNSWFlat(X.shape[1], 16)
    for title, index, knobs, knob in (
        (f"faiss, IVF {n_lists}", lists, lists, "nprobe"),
        ("faiss, HNSW 16", graph, graph.hnsw, "efSearch"),
    ):
        _, build = timed(partial(faiss_build, index, X32))
        for value in KNOB_VALUES:
            setattr(knobs, knob, value)
            if truth.share_in_lines(faiss_search(index, X32, k, truth.rows)) >= goal:
                break
        found, search = timed(partial(faiss_search, index, X32, k))
        both = Seconds(build.clock + search.clock, build.cpu + search.cpu)
        recall = truth.share_in(found)
        assert recall >= goal, f"{title}: recall {recall} at {knob}={value}, ours {goal}"
        report(name, X, f"{title}, {knob}={value}", both, seconds, recall)


def rivals(X: np.ndarray, k: int, threads: int) -> list[tuple[str, Callable[[], np.ndarray]]]:
    """Return the searches that are worth waiting for at this size."""
    searches: list[tuple[str, Callable[[], np.ndarray]]] = []
    methods = ["brute"] if len(X) <= MOST_ROWS_FOR_BRUTE else []
    methods += ["kd_tree", "ball_tree"] if len(X) <= MOST_ROWS_FOR_TREES else []
    for method in methods:
        model = NearestNeighbors(n_neighbors=k, algorithm=method, n_jobs=threads)
        searches.append((f"scikit-learn, {method}", partial(tree_search, model, X)))
    if HAS_FAISS and len(X) <= 2 * MOST_ROWS_FOR_BRUTE:
        import faiss

        faiss.omp_set_num_threads(threads)
        X32 = X.astype(np.float32)
        flat = faiss.IndexFlatL2(X.shape[1])
        flat.add(X32)
        searches.append(("faiss, flat", partial(faiss_search, flat, X32, k)))
    return searches


def tree_search(model: NearestNeighbors, X: np.ndarray) -> np.ndarray:
    """Return the neighbors of each row, itself left out."""
    return model.fit(X).kneighbors(return_distance=False)


def faiss_build(index: Any, X: np.ndarray) -> None:
    """Train the index, if it has to be, and add all rows."""
    if not index.is_trained:
        index.train(X)
    index.add(X)


def faiss_search(index: Any, X: np.ndarray, k: int, rows: np.ndarray | None = None) -> np.ndarray:
    """Return k neighbors of all rows or of some, each left out itself by its number."""
    rows = np.arange(len(X)) if rows is None else rows
    _, found = index.search(X[rows], k + 1)
    return without_itself(found, rows)


def without_itself(found: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return lists without the row that asked, or without the last if it is crowded out by equal rows."""
    itself = found == rows[:, None]
    itself[~itself.any(axis=1), -1] = True
    return found[~itself].reshape(len(rows), -1)


def check_against_table(X: np.ndarray, index: np.ndarray, distance: np.ndarray, recall: float) -> None:
    """Compare sampled rows with all their distances, sorted by distance and row number."""
    rows = np.random.default_rng(0).choice(len(X), SAMPLE, replace=False)
    for i in rows if recall == 1.0 else ():
        squared = np.square(X[i] - X).sum(axis=1)
        order = np.lexsort((np.arange(len(X)), squared))
        order = order[order != i][: index.shape[1]]
        assert index[i].tolist() == order.tolist(), f"row {i}: other neighbors than in the full table"
        assert distance[i].tolist() == np.sqrt(squared[order]).tolist(), f"row {i}: other distances"


def check_distances(X: np.ndarray, index: np.ndarray, distance: np.ndarray, title: str) -> None:
    """Assert that a rival found rows at the same distances; which of several is its choice."""
    # Rivals that subtract products lose digits in proportion to the sizes of the rows.
    allowed = (1e-5 if "faiss" in title else 1e-12) * np.square(X).sum(axis=1).max()
    for start in range(0, len(X), 5000):
        block = slice(start, start + 5000)
        squared = np.sort(np.square(X[block, None] - X[index[block]]).sum(axis=2), axis=1)
        worst = np.abs(squared - np.square(distance[block])).max()
        assert worst <= allowed, f"{title}: squared distances differ by {worst}"


class Truth(NamedTuple):
    """The true neighbors of some rows."""

    rows: np.ndarray
    near: np.ndarray

    def share_in(self, index: np.ndarray) -> float:
        """Return the share of them that is listed for all rows."""
        return self.share_in_lines(index[self.rows])

    def share_in_lines(self, lines: np.ndarray) -> float:
        """Return the share of them that is listed for these rows."""
        return share_found(self.near, lines)


def sampled_truth(X: np.ndarray, k: int) -> Truth:
    rows = np.random.default_rng(0).choice(len(X), min(len(X), TRUTH_ROWS), replace=False)
    near = neighbors(X, k + 1, X[rows], method="exact").index
    return Truth(rows, without_itself(near, rows))


def share_found(truth: np.ndarray, index: np.ndarray) -> float:
    """Return the share of the true neighbors that are listed."""
    return float(np.mean([np.isin(t, i).mean() for t, i in zip(truth, index, strict=True)]))


class Seconds(NamedTuple):
    """What a search took, by the clock and in all threads together; the second suffers less from others."""

    clock: float
    cpu: float


def timed(call: Callable[[], Any]) -> tuple[Any, Seconds]:
    """Return the result of a call and what it took."""
    clock, cpu = time.perf_counter(), time.process_time()
    result = call()
    return result, Seconds(time.perf_counter() - clock, time.process_time() - cpu)


def report(name: str, X: np.ndarray, search: str, seconds: Seconds, ours: Seconds, recall: float) -> None:
    times = [f"{seconds.clock:.2f}", f"{seconds.clock / ours.clock:.2f}"]
    times += [f"{seconds.cpu:.2f}", f"{seconds.cpu / ours.cpu:.2f}"]
    print(f"| {name} | {len(X)} | {X.shape[1]} | {search} | {' | '.join(times)} | {recall:.4f} |", flush=True)


def load(name: str, threads: int) -> np.ndarray:
    """Return a table scaled and weighted by importance, as the classifier hands it to the graph."""
    if name.startswith("synthetic"):
        n_rows = int(name.split()[1])
        X, codes = make_classification(
            n_rows, 20, n_informative=10, n_redundant=0, n_clusters_per_class=4, flip_y=0.0, random_state=0
        )
    else:
        from labelcut.experiments.noise import make_task

        task = make_task(name, noise=0.2, seed=0)
        X, codes = task.X, task.given
    X, _ = scale_columns(X)
    some = np.arange(0, len(X), max(1, len(X) // 50_000))
    return weight_columns(X, fit_forest(X[some], codes[some], random_state=0, n_jobs=threads).importances)


def peak_gb() -> float:
    """Return the most memory this process has held so far (Linux counts in kilobytes)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


if __name__ == "__main__":
    main()
