"""How long new rows take to judge, beside the same forest alone and scikit-learn's nearest neighbours.

Purpose: a fitted model is asked one row at a time in a service and thousands at a time in a batch; whatever
is made again at each call shows here. Every answer is checked while it is timed: a batch must give each row
the probabilities that it got alone, and its neighbours must be those of a full table of distances.

    python benchmarks/bench_predict.py
    python benchmarks/bench_predict.py --rows 5000 --threads 1
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

from labelcut import ConfidenceHNC

BATCHES = (1, 100, 10_000)
#: The better of so many calls counts, the more the shorter they are.
REPEATS = {1: 20, 100: 10, 10_000: 3}
#: Required of one row: time against the forest alone.
MOST_OF_FOREST = 3.0


def main(arguments: list[str] | None = None) -> None:
    """Fit once, then time each number of new rows and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000, help="fitted rows")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    X, y = make_classification(
        options.rows + BATCHES[-1], 20, n_informative=10, n_clusters_per_class=4, random_state=0
    )
    flipped = np.random.default_rng(0).random(len(y)) < 0.1
    given, new = np.where(flipped, 1 - y, y)[: options.rows], X[options.rows :]
    fitted = X[: options.rows]

    ours = ConfidenceHNC(n_jobs=options.threads).fit(fitted, given)
    ours = pickle.loads(pickle.dumps(ours))  # as a service would have it
    forest = RandomForestClassifier(150, min_samples_leaf=20, n_jobs=options.threads, random_state=0)
    forest.fit(fitted, given)
    near = KNeighborsClassifier(15, n_jobs=options.threads).fit(fitted, given)
    check_answers(ours, new)

    print(f"{options.rows} fitted rows of 20 columns, {options.threads} threads; milliseconds a call\n")
    print("| new rows | labelcut | forest alone | of the forest | k-NN | of k-NN |")
    print("|---|---|---|---|---|---|")
    missed = []
    for n_new in BATCHES:
        some = new[:n_new]
        mine, trees, neighbors = (
            best_of(model.predict_proba, some, REPEATS[n_new]) for model in (ours, forest, near)
        )
        print(
            f"| {n_new} | {1e3 * mine:.1f} | {1e3 * trees:.1f} | {mine / trees:.2f} "
            f"| {1e3 * neighbors:.1f} | {mine / neighbors:.2f} |"
        )
        if n_new == 1 and mine > MOST_OF_FOREST * trees:
            missed.append(f"one row: {mine / trees:.2f} times the forest")
    print("\nAll targets met." if not missed else "\nMissed: " + "; ".join(missed))


def best_of(predict: Callable[[np.ndarray], np.ndarray], rows: np.ndarray, repeats: int) -> float:
    """Return the seconds of the fastest call, after one that is not counted."""
    predict(rows)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        predict(rows)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def check_answers(model: ConfidenceHNC, new: np.ndarray) -> None:
    """Assert that a row is judged alike alone and among others, by its true neighbours."""
    together = model.predict_proba(new)
    for i in range(0, len(new), 500):
        alone = model.predict_proba(new[[i]])
        assert alone.tobytes() == together[[i]].tobytes(), f"row {i}: alone {alone}, not {together[i]}"
    rows = model._index.distinct.rows
    found = model._index.of(rows[:50] + 0.01, 15)
    for i in range(50):
        distance = np.sqrt(np.square(rows[i] + 0.01 - rows).sum(axis=1))
        assert found.distance[i].tolist() == np.sort(distance)[:15].tolist(), f"row {i}: other neighbours"


if __name__ == "__main__":
    main()
