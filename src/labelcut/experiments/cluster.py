"""joblib's settings for one machine, a Dask cluster or a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

BACKENDS = ("dask", "ray")


@contextmanager
def cluster(backend: str | None, address: str | None) -> Iterator[dict[str, Any]]:
    """Connect, and give what `joblib.parallel_config` needs.

    Without an address Dask and Ray start on this machine, Dask with one process per core.
    """
    if backend is None:
        if address is not None:
            raise ValueError(f"address={address!r} without a backend; say --backend dask or --backend ray.")
        yield {"backend": "loky"}
    elif backend == "dask":
        from distributed import Client, LocalCluster

        if address is not None:
            with Client(address):
                yield {"backend": "dask"}
        else:
            with (
                LocalCluster(processes=True, threads_per_worker=1, dashboard_address=":0") as local,
                Client(local),
            ):
                yield {"backend": "dask"}
    elif backend == "ray":
        import ray
        from ray.util.joblib import register_ray

        ray.init(address=address, log_to_driver=False)
        register_ray()
        try:
            yield {"backend": "ray"}
        finally:
            ray.shutdown()
    else:
        raise ValueError(f"backend={backend!r}; choose one of {', '.join(BACKENDS)}.")
