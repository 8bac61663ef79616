"""Work on many rows, divided into blocks that threads take in turn."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TypeVar

from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

from labelcut.threads import thread_count

__all__ = ["in_threads"]

Block = TypeVar("Block")
Answer = TypeVar("Answer")


def in_threads(
    answer: Callable[[Sequence[Block]], list[Answer]], blocks: Sequence[Block], n_jobs: int | None
) -> list[Answer]:
    """Return the answers to all blocks, in their order; each thread is handed its share of them.

    A function of several blocks can keep a buffer from one to the next.
    """
    n_threads = min(thread_count(n_jobs), len(blocks))
    if len(blocks) <= 1:
        return answer(blocks)
    # Threads take whole blocks; a product that starts threads of its own would only get in their way.
    with _blas().limit(limits=1, user_api="blas"):
        shares = Parallel(n_jobs=n_threads, prefer="threads")(
            delayed(answer)(blocks[i::n_threads]) for i in range(n_threads)
        )
    return [shares[i % n_threads][i // n_threads] for i in range(len(blocks))]


@functools.cache
def _blas() -> ThreadpoolController:
    """Return the handle on the loaded BLAS libraries; finding them takes longer than a small search."""
    return ThreadpoolController()
