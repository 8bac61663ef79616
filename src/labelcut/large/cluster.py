"""The workers, of a cluster that runs already or is started here: work handed out, results as they come.

Every piece of work is a function of a part and of what the coordinator sends with it, so Dask may run it
again elsewhere when a worker dies.
"""

from __future__ import annotations

import logging
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelcut.errors import BadChoice, BadTable, Option

__all__ = ["Crew", "check_installed", "connected"]

#: A worker on this machine may hold this share of the free memory, and no less than so many bytes.
WORKER_SHARE, LEAST_WORKER = 0.1, 1_500_000_000

#: Pieces of work handed out ahead for every worker thread: more of them would only wait, and hold results.
AHEAD = 2

#: How often a piece of work that failed is tried again; one that kills its worker, as often as Dask allows.
RETRIES = 2

#: Seconds until a scheduler that does not answer is given up.
PATIENCE = "30s"


@dataclass(frozen=True)
class Crew:
    """Workers behind a Dask client."""

    client: Any
    address: str

    @property
    def n_threads(self) -> int:
        """How many pieces of work run at the same time."""
        return max(1, int(sum(self.client.nthreads().values())))

    def share(self, value: Any) -> Any:
        """Return a value that all workers may use; should those that hold it die, it is sent again."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that it is large
            return self.client.submit(_as_it_is, value, pure=False)

    def each(
        self,
        work: Callable[..., Any],
        items: Iterable[tuple[Any, ...]],
        *shared: Any,
        n_items: int = 0,
        tell: Callable[[int, int], object] = lambda n_done, n_all: None,
    ) -> Iterator[tuple[int, Any]]:
        """Yield what work finds for each item and what is shared, with its number, as it comes."""
        from distributed import as_completed

        waiting = iter(enumerate(items))
        number: dict[str, int] = {}
        with self._faults():
            running = as_completed([], loop=self.client.loop)
            for _ in range(AHEAD * self.n_threads):
                self._hand_out(work, waiting, shared, running, number)
            for n_done, future in enumerate(running, start=1):
                found = future.result()
                i = number.pop(future.key)
                future.release()
                self._hand_out(work, waiting, shared, running, number)
                yield i, found
                tell(n_done, n_items)

    def hold(
        self,
        work: Callable[..., Any],
        items: Sequence[tuple[Any, ...]],
        *shared: Any,
        tell: Callable[[int, int], object] = lambda n_done, n_all: None,
    ) -> list[Any]:
        """Return futures of what work finds for each item, which stays with the workers."""
        from distributed import as_completed

        with self._faults():
            futures = [
                self.client.submit(work, *item, *shared, pure=False, retries=RETRIES) for item in items
            ]
            for n_done, future in enumerate(as_completed(futures, loop=self.client.loop), start=1):
                if future.status == "error":
                    future.result()
                tell(n_done, len(items))
        return futures

    def pick(self, held: Sequence[Any], which: int) -> list[Any]:
        """Return futures of one piece of every held result."""
        return [self.client.submit(operator.getitem, one, which, pure=False) for one in held]

    def _hand_out(
        self,
        work: Callable[..., Any],
        waiting: Iterator[Any],
        shared: Any,
        running: Any,
        number: dict[str, int],
    ) -> None:
        for i, item in waiting:
            future = self.client.submit(work, *item, *shared, pure=False, retries=RETRIES)
            number[future.key] = i
            running.add(future)
            return

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Turn what can happen to a cluster into one line."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker, client
        from distributed.comm import CommClosedError

        cancelled = getattr(client, "FutureCancelledError", CancelledError)  # older versions have the other

        try:
            yield
        except (BadTable, BadChoice):
            raise
        except KilledWorker as error:
            raise BadChoice(
                f"a piece of work ended {error.allowed_failures + 1} workers, probably for want of memory; "
                "give each worker more, with fewer ",
                Option("workers"),
                ", or more machines.",
            ) from error
        except MemoryError as error:
            raise BadChoice("a worker has not enough memory; have fewer ", Option("workers"), ".") from error
        except (CommClosedError, CancelledError, cancelled, TimeoutError, OSError) as error:
            # Errors of a disk have a number; those of a connection that Dask gave up have none.
            is_lost = isinstance(error, CommClosedError | TimeoutError)
            if isinstance(error, OSError) and not is_lost and error.errno is not None:
                raise BadChoice(
                    f"a worker cannot write ({error.strerror or error}); free some space there."
                ) from error
            raise BadChoice(
                f"the cluster at {self.address} is gone ({type(error).__name__}), so nothing was written; "
                "start it again."
            ) from error


def _as_it_is(value: Any) -> Any:
    return value


def check_installed() -> None:
    """Refuse to go on without the packages of the extra, in one line."""
    try:
        import distributed  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise BadChoice(
            f"a table in parts needs {error.name}, which is not installed; pip install 'labelcut[cluster]'."
        ) from error


@contextmanager
def connected(cluster: Any, n_workers: int | None, spill: Path, free_bytes: int) -> Iterator[Crew]:
    """Give a crew: on a client that is given, at an address, or of processes on this machine.

    Parameters
    ----------
    cluster : Client, str or None
        A Dask client, the address of a scheduler, or "local" or None for this machine.
    n_workers : int or None
        Processes on this machine; as many as cores if not said.
    spill : Path
        Where workers on this machine put what does not fit into their memory.
    free_bytes : int
        The memory that is free, to set their limits.
    """
    check_installed()
    from distributed import Client

    if isinstance(cluster, Client):
        yield Crew(cluster, cluster.scheduler.address if cluster.scheduler else "?")
        return
    with ExitStack() as stack:
        if cluster in (None, "local"):
            address = _start(stack, n_workers, spill, free_bytes)
        elif isinstance(cluster, str):
            address = cluster
        else:
            raise TypeError(
                f"cluster is a {type(cluster).__name__}; give a Dask client, the address of a scheduler, or "
                "'local'."
            )
        yield Crew(_connect(stack, address), str(address if isinstance(cluster, str) else "this machine"))


def _connect(stack: ExitStack, address: Any) -> Any:
    from distributed import Client

    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise BadChoice(
            f"{address}: no Dask scheduler answers there; start one with 'dask scheduler', or leave out ",
            Option("cluster"),
            " to use this machine alone.",
        ) from error
    stack.callback(_close, client)
    if not client.nthreads():
        try:
            client.wait_for_workers(1, timeout=30)
        except TimeoutError as error:
            raise BadChoice(f"{address}: has no workers; start some with 'dask worker {address}'.") from error
    return client


def _start(stack: ExitStack, n_workers: int | None, spill: Path, free_bytes: int) -> Any:
    import os

    from dask import config
    from distributed import LocalCluster

    n = n_workers or os.cpu_count() or 1
    limit = max(int(WORKER_SHARE * free_bytes), LEAST_WORKER)
    stack.enter_context(config.set({"distributed.comm.timeouts.connect": PATIENCE}))
    stack.enter_context(_quiet())
    local = LocalCluster(
        n_workers=n,
        threads_per_worker=1,
        processes=True,
        memory_limit=limit,
        local_directory=str(spill),
        dashboard_address=":0",  # any free port
        silence_logs=logging.CRITICAL,
    )
    stack.callback(_close, local)
    return local


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from writing about workers that come and go: what matters is told in one line of ours."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.nanny", "tornado")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _close(one: Any) -> None:
    """Close a client or a cluster, also one whose other side is gone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            one.close(timeout=10)
        except Exception:  # whatever is left of it ends with this process
            logging.getLogger(__name__).debug("not closed", exc_info=True)
