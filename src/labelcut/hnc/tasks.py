"""Work that is done once per task, several tasks at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from joblib import Parallel, delayed

from labelcut.hnc.clock import StageClock
from labelcut.threads import thread_count

__all__ = ["run_tasks", "share_threads"]

Found = TypeVar("Found")

#: From so many rows on cuts are made one after the other, all threads inside each of them: two at a time
#: would hold more than all else that a fit holds.
IN_TURN_FROM = 500_000


def run_tasks(
    work: Callable[[int], Found],
    n_tasks: int,
    n_jobs: int | None,
    clock: StageClock | None = None,
    *,
    n_before: int = 0,
    n_all: int | None = None,
) -> list[Found]:
    """Return what the work finds for task 0, 1, ..., and tell who listens how many are done.

    Parameters
    ----------
    work : callable
        From the number of a task to what is found. It must not depend on what other tasks do.
    n_tasks : int
    n_jobs : int or None
        Threads, as in joblib.
    clock : StageClock, optional
        Hears how far it is.
    n_before, n_all : int, optional
        If this is a part of a stage: tasks of it that are done before, and all of its tasks.
    """
    found = []
    in_order = Parallel(n_jobs=thread_count(n_jobs), prefer="threads", return_as="generator")(
        delayed(work)(m) for m in range(n_tasks)
    )
    for one in in_order:
        found.append(one)
        if clock is not None:
            clock.part_done(n_before + len(found), n_all or n_tasks)
    return found


def share_threads(n_rows: int, n_cuts: int, n_jobs: int | None) -> tuple[int, int]:
    """Return how many cuts of a graph are made at the same time, and the threads inside each of them.

    Parameters
    ----------
    n_rows : int
        Of the graph.
    n_cuts : int
    n_jobs : int or None
        All threads, as in joblib.
    """
    n_threads = thread_count(n_jobs)
    return (1, n_threads) if n_rows >= IN_TURN_FROM else (n_threads, max(1, n_threads // n_cuts))
