"""What ``n_jobs`` may be, wherever it is taken."""

import numpy as np
import pytest
from tables import shop

import labelcut
from labelcut import HNC, ConfidenceHNC
from labelcut.cut import parametric_cut
from labelcut.graph import neighbors, similarity_graph
from labelcut.threads import MOST_THREADS, thread_count

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 0, 0, 1, 1, 1])
TAKERS = {
    "ConfidenceHNC": lambda n_jobs: ConfidenceHNC(n_jobs=n_jobs, n_neighbors=2).fit(X, Y),
    "HNC": lambda n_jobs: HNC(n_jobs=n_jobs, n_neighbors=2).fit(X, Y),
    "audit": lambda n_jobs: labelcut.audit(shop(n_rows=60, n_wrong=4)[0], label="churned", n_jobs=n_jobs),
    "parametric_cut": lambda n_jobs: parametric_cut(np.zeros((2, 2)), [-1, -1], [1, 1], n_jobs=n_jobs),
    "similarity_graph": lambda n_jobs: similarity_graph(X, n_neighbors=2, n_jobs=n_jobs),
    "neighbors": lambda n_jobs: neighbors(X, 2, n_jobs=n_jobs),
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("n_jobs", [0, MOST_THREADS + 1, 100_000])
def test_a_number_of_threads_that_cannot_be_is_refused(taker, n_jobs):
    allowed = f"n_jobs={n_jobs}; give 1 to {MOST_THREADS} threads, or -1 for all cores"
    with pytest.raises(ValueError, match=allowed):
        TAKERS[taker](n_jobs)


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("n_jobs", ["all", 1.5, True])
def test_what_is_no_number_of_threads_is_refused(taker, n_jobs):
    with pytest.raises(TypeError, match=f"n_jobs={n_jobs!r} is a {type(n_jobs).__name__}; give 1 to"):
        TAKERS[taker](n_jobs)


def test_every_other_number_means_what_it_means_to_joblib():
    assert thread_count(3) == 3
    assert thread_count(np.int64(2)) == 2
    assert thread_count(None) == 1
    assert 1 <= thread_count(-2) <= thread_count(-1)
    assert thread_count(MOST_THREADS) == MOST_THREADS
