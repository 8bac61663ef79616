"""Work that is done once per task, several tasks at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from joblib import Parallel, delayed

from labelcut.hnc.clock import StageClock
from labelcut.threads import thread_count

__all__ = ["run_tasks"]

Found = TypeVar("Found")


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
