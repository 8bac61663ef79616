"""What ``n_jobs`` means, everywhere the same, and which values have a meaning."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any

__all__ = ["ALLOWED", "MOST_THREADS", "check_n_jobs", "is_n_jobs", "thread_count"]

#: More threads than this only cost memory, also where there are hundreds of cores.
MOST_THREADS = max(256, os.cpu_count() or 1)
ALLOWED = f"1 to {MOST_THREADS} threads, or -1 for all cores"


def is_n_jobs(value: int) -> bool:
    """Return whether a whole number is a number of threads, or, below 0, of cores counted from the last."""
    return value < 0 or 1 <= value <= MOST_THREADS


def check_n_jobs(value: Any) -> None:
    """Refuse what is no number of threads; None is one, unless joblib was told otherwise."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"n_jobs={value!r} is a {type(value).__name__}; give {ALLOWED}.")
    if not is_n_jobs(int(value)):
        raise ValueError(f"n_jobs={value}; give {ALLOWED}.")


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads to start."""
    from joblib import effective_n_jobs

    check_n_jobs(n_jobs)
    return int(effective_n_jobs(n_jobs))
