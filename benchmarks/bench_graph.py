"""How long the nearest rows take to find, beside scikit-learn and faiss in the same run.

Purpose: to see which search suits which size and width, and that ours stays ahead. Every answer is checked
while it is timed: exact searches must find the same distances as ours (faiss rounds to float32, so its own
are measured again in float64), and ours must be, for sampled rows, what a full table of distances says.
The share of our neighbors that a search finds is below 1 for exact ones too, where ties are broken otherwise.

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

from labelcut.graph import neighbors, similarity_graph
from labelcut.hnc.columns import scale_columns, weight_columns
from labelcut.hnc.forest import fit_forest

HAS_FAISS = importlib.util.find_spec("faiss") is not None
#: Rivals that would take much longer than all others together are left out of larger tables.
MOST_ROWS_FOR_TREES, MOST_ROWS_FOR_BRUTE = 25_000, 60_000
SAMPLE = 300


def main(arguments: list[str] | None = None) -> None:
    """Run what was asked for and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sets", nargs="*", default=["phishing", "letter", "adult"], help="real tables")
    parser.add_argument("--rows", nargs="*", type=int, default=[100_000], help="synthetic tables")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    print("| table | rows | columns | search | seconds | of ours | CPU seconds | recall |")
    print("|---|---|---|---|---|---|---|---|")
    for name in [*options.sets, *(f"synthetic {n}" for n in options.rows)]:
        compare(name, options.threads)
    print(f"\nEvery exact search agreed. Peak memory {peak_gb():.1f} GB.")


def compare(name: str, threads: int) -> None:
    """Time every search on one table and print a line for each."""
    X = load(name, threads)
    k = 10
    ours, seconds = timed(lambda: neighbors(X, k, n_jobs=threads))
    check_against_table(X, ours.index, ours.distance, ours.recall)
    report(name, X, f"labelcut, {'exact' if ours.recall == 1.0 else 'cells'}", seconds, seconds, ours.recall)

    if ours.recall == 1.0 and len(X) > MOST_ROWS_FOR_BRUTE:
        found, other = timed(lambda: neighbors(X, k, method="approximate", n_jobs=threads))
        report(name, X, "labelcut, cells", other, seconds, share_found(ours.index, found.index))
    for title, search in rivals(X, k, threads):
        index, other = timed(search)
        if "IVF" not in title and "HNSW" not in title:
            check_distances(X, index, ours.distance, title)
        recall = recall_of(X, index, ours.index if ours.recall == 1.0 else None, k)
        report(name, X, title, other, seconds, recall)
    _, whole = timed(lambda: similarity_graph(X, n_neighbors=k, bandwidth=0.5, n_jobs=threads))
    report(name, X, "labelcut, the whole graph", whole, seconds, ours.recall)


def rivals(X: np.ndarray, k: int, threads: int) -> list[tuple[str, Callable[[], np.ndarray]]]:
    """Return the searches that are worth waiting for at this size."""
    searches: list[tuple[str, Callable[[], np.ndarray]]] = []
    methods = ["brute"] if len(X) <= MOST_ROWS_FOR_BRUTE else []
    methods += ["kd_tree", "ball_tree"] if len(X) <= MOST_ROWS_FOR_TREES else []
    for method in methods:
        model = NearestNeighbors(n_neighbors=k, algorithm=method, n_jobs=threads)
        searches.append((f"scikit-learn, {method}", partial(tree_search, model, X)))
    if HAS_FAISS:
        import faiss

        faiss.omp_set_num_threads(threads)
        X32 = X.astype(np.float32)
        if len(X) <= 2 * MOST_ROWS_FOR_BRUTE:
            searches.append(("faiss, flat", partial(faiss_search, faiss.IndexFlatL2(X.shape[1]), X32, k)))
        if len(X) > MOST_ROWS_FOR_BRUTE:
            n_lists = int(4 * np.sqrt(len(X)))
            lists = faiss.IndexIVFFlat(faiss.IndexFlatL2(X.shape[1]), X.shape[1], n_lists)
            lists.nprobe = 64
            searches.append((f"faiss, IVF {n_lists}/64", partial(faiss_search, lists, X32, k)))
            graph = faiss.IndexHNSWFlat(X.shape[1], 16)
            graph.hnsw.efSearch = 64
            searches.append(("faiss, HNSW 16/64", partial(faiss_search, graph, X32, k)))
    return searches


def tree_search(model: NearestNeighbors, X: np.ndarray) -> np.ndarray:
    """Return the neighbors of each row, itself left out."""
    return model.fit(X).kneighbors(return_distance=False)


def faiss_search(index: object, X: np.ndarray, k: int) -> np.ndarray:
    """Return k neighbors of each row, itself left out by its number."""
    if not index.is_trained:
        index.train(X)
    index.add(X)
    _, found = index.search(X, k + 1)
    itself = found == np.arange(len(X))[:, None]
    itself[~itself.any(axis=1), -1] = True
    return found[~itself].reshape(len(X), k)


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


def recall_of(X: np.ndarray, index: np.ndarray, truth: np.ndarray | None, k: int) -> float:
    """Return the share of true neighbors found, of all rows or of sampled ones."""
    if truth is not None:
        return share_found(truth, index)
    rows = np.random.default_rng(0).choice(len(X), SAMPLE, replace=False)
    near = neighbors(X, k + 1, X[rows]).index
    itself = near == rows[:, None]
    itself[~itself.any(axis=1), -1] = True
    return share_found(near[~itself].reshape(SAMPLE, k), index[rows])


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
    times = [f"{seconds.clock:.2f}", f"{seconds.clock / ours.clock:.2f}", f"{seconds.cpu:.2f}"]
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
