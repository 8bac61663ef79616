"""The large way of an audit, step by step: scan, sample, opinions, neighbours, graph, cuts, answers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from labelcut.auditing.notes import tell_warning
from labelcut.auditing.progress import Progress
from labelcut.hnc.clock import StageClock
from labelcut.large.asking import ask_everybody
from labelcut.large.cluster import connected
from labelcut.large.estimate import free_memory
from labelcut.large.reporting import report
from labelcut.large.request import Request
from labelcut.large.result import LargeAudit
from labelcut.large.scanning import scan_table
from labelcut.large.spill import spill_folder
from labelcut.memory import give_back

__all__ = ["audit_parts"]


def audit_parts(
    request: Request,
    *,
    cluster: Any = None,
    workers: int | None = None,
    spill: str | None = None,
    on_step: Progress | None = None,
) -> LargeAudit:
    """Audit a table that is read in parts.

    Parameters
    ----------
    request : Request
    cluster : Client, str or None
        A Dask client, the address of a scheduler, or "local" or None for processes on this machine.
    workers : int, optional
        How many processes, on this machine.
    spill : str, optional
        The folder for what does not fit into memory; by default that of temporary files.
    on_step : Progress, optional
        Hears how far it is.

    Returns
    -------
    LargeAudit
    """
    on_step = on_step or Progress()
    with spill_folder(spill) as own, connected(cluster, workers, own.folder, free_memory()) as crew:
        clock = StageClock(listener=on_step.hear)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            scanned = scan_table(crew, request, clock)
            fitted = ask_everybody(crew, request, scanned, own, clock)
        give_back()
        told = [str(one.message) for one in caught if issubclass(one.category, UserWarning)]
        found = report(request, scanned, fitted, [tell_warning(text) for text in told], clock)
        return replace(found, details=found.details | {"seconds": _rounded(clock.seconds)})


def _rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 2) for name, value in seconds.items()}
