"""`labelcut.audit`: a table that fits into memory, or files that are read in parts."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from labelcut.auditing.audit import audit as audit_in_memory
from labelcut.auditing.narrowing import check_narrowing, read_baseline
from labelcut.auditing.progress import Progress, followed
from labelcut.auditing.result import Audit
from labelcut.errors import BadChoice, Option
from labelcut.large.estimate import files_of, is_in_parts, too_large
from labelcut.large.request import Request
from labelcut.large.result import LargeAudit
from labelcut.parameters import one_of, texts, whole
from labelcut.table.beside import files_beside
from labelcut.table.decisions import read_decisions
from labelcut.table.label_column import Choices
from labelcut.table.saving import BASELINE_READ, DECISIONS_READ
from labelcut.threads import check_n_jobs

__all__ = ["COSTS", "audit", "audit_files"]

#: What stages of the large way cost beside each other: seconds of a million rows on two cores.
COSTS: tuple[dict[str, float], ...] = (
    {"start": 3.0},
    {"scan": 6.0},
    {"sample": 4.0},
    {"columns to numbers": 2.0},
    {"forest": 40.0},
    {"boosting": 30.0},
    {"opinions": 20.0},
    {"neighbours": 60.0},
    {"graph": 2.0},
    {"cut": 40.0},
    {"second round": 30.0},
    {"second opinions": 30.0},
    {"probabilities": 8.0},
    {"planted errors": 4.0},
    {"report": 6.0},
    {"writing": 6.0},
)

#: Choices of `audit` that a table in parts has, beside its columns and how csv files are written.
READING = ("delimiter", "encoding", "missing", "has_header")
_IN_MEMORY_ONLY = {"preset": "default", "max_rows": None, "sheet": None}


def audit(
    table: Any,
    *,
    label: str,
    cluster: Any = None,
    workers: int | None = None,
    spill: str | os.PathLike[str] | None = None,
    **choices: Any,
) -> Audit | LargeAudit:
    """Find the labels of a table that are probably wrong.

    Parameters
    ----------
    table : DataFrame, path-like, or list of path-like
        Numbers, categories, dates, texts, with gaps: as it is. Of polars frames a pandas copy is made.
        A path is read as by ``labelcut audit``: csv, tsv, parquet, feather, arff, json, xlsx, gzip'd text.
        Several files, a folder, a pattern such as ``big/*.parquet``, any address that fsspec knows
        (``s3://...``), and files that would not fit into memory, are read in parts: parquet or csv.
    label : str
        The column with the labels; a missing one means that the row is unlabeled.
    cluster : Client or str, optional
        Read the table in parts by a Dask client, by the scheduler at an address (``tcp://...``), or by
        processes on this machine ("local").
    workers : int, optional
        How many processes on this machine; as many as it has cores if not said.
    spill : path-like, optional
        The folder for what does not fit into memory; by default that of temporary files.
    **choices
        Everything else, as in :func:`labelcut.auditing.audit.audit`: id, group, ignore, unlabeled, positive,
        merge_labels, ordered, kinds, max_rows, decisions, top, min_p_wrong, baseline, preset, flags, n_jobs,
        verbose, progress, delimiter, encoding, missing, has_header, sheet; and opinions and embedding, which
        of a table in parts are columns (``"PREFIX*"``, one of lists) or .npy files.

    Returns
    -------
    Audit or LargeAudit
        With ``issues``, ``summary`` and ``save``; in a notebook it shows the page.
    """
    is_path = isinstance(table, str | os.PathLike)
    addresses = [os.fspath(table)] if is_path else _listed(table)
    if addresses is None:
        for name, value in (("cluster", cluster), ("workers", workers)):
            if value is not None:
                raise BadChoice(
                    Option(name),
                    " is for files, and table is a data frame; give their addresses or leave it out.",
                )
        return audit_in_memory(table, label=label, **choices)
    in_parts = cluster is not None or workers is not None or is_in_parts(addresses)
    if not in_parts and too_large(addresses[0]) is None:
        return audit_in_memory(table, label=label, **choices)
    return audit_files(addresses, label=label, cluster=cluster, workers=workers, spill=spill, **choices)


def audit_files(
    addresses: Sequence[str],
    *,
    label: str,
    id: str | None = None,
    group: str | None = None,
    ignore: Iterable[str] = (),
    unlabeled: Iterable[str] = (),
    positive: str | None = None,
    merge_labels: bool = False,
    ordered: Iterable[str] = (),
    kinds: Mapping[str, str] | None = None,
    opinions: Mapping[str, Any] | None = None,
    embedding: Any = None,
    decisions: Any = None,
    top: int | None = None,
    min_p_wrong: float = 0.0,
    baseline: str | os.PathLike[str] | None = None,
    flags: str | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
    progress: Any = None,
    on_step: Progress | None = None,
    cluster: Any = None,
    workers: int | None = None,
    spill: str | os.PathLike[str] | None = None,
    **others: Any,
) -> LargeAudit:
    """Audit files in parts; the choices are those of `audit`, and `on_step` hears how far it is."""
    from labelcut.large.cluster import check_installed

    check_installed()
    from labelcut.large.audit import audit_parts

    check_narrowing(top, min_p_wrong)
    check_n_jobs(n_jobs)
    if workers is not None:
        whole("workers", workers, 1)
    kinds = dict(kinds or {})
    reading = {name: others.pop(name) for name in READING if others.get(name) is not None}
    _refuse_others(others)
    path = Path(decisions) if isinstance(decisions, str | os.PathLike) else None
    inputs = {DECISIONS_READ: path, BASELINE_READ: None if baseline is None else Path(baseline)}
    inputs |= {**files_beside(opinions, embedding)}
    inputs |= {f"the table itself ({a})": Path(a) for a in files_of(addresses)}
    request = Request(
        addresses=tuple(addresses),
        label=label,
        id=id,
        group=group,
        ignore=tuple(texts("ignore", ignore)),
        labels=Choices(
            tuple(texts("unlabeled", unlabeled)),
            positive,
            bool(one_of("merge_labels", merge_labels, (True, False))),
            tuple(texts("ordered", ordered)),
            kinds.get(label) == "category",
        ),
        kinds=kinds,
        opinions=opinions,
        embedding=embedding,
        decisions=read_decisions(decisions) if decisions is not None else (),
        top=top,
        min_p_wrong=min_p_wrong,
        baseline=read_baseline(baseline) if baseline is not None else None,
        flags=flags,
        n_jobs=n_jobs,
        reading=reading,
        inputs={what: file for what, file in inputs.items() if file is not None},
    )
    run = {"cluster": cluster, "workers": workers, "spill": spill}
    if on_step is not None:
        return audit_parts(request, on_step=on_step, **run)
    with followed(progress, verbose=verbose, costs=COSTS) as made:
        return audit_parts(request, on_step=made, **run)


def _listed(table: Any) -> list[str] | None:
    is_list = isinstance(table, list | tuple) and all(isinstance(one, str | os.PathLike) for one in table)
    return [os.fspath(one) for one in table] if is_list and len(table) else None


def _refuse_others(others: Mapping[str, Any]) -> None:
    """Refuse what a table in parts does not know."""
    for name, value in others.items():
        if name not in _IN_MEMORY_ONLY:
            known = inspect.signature(audit_in_memory).parameters
            if name not in known:
                raise TypeError(f"audit() got an unexpected keyword argument {name!r}.")
            default = known[name].default
            if value is not default and (hasattr(value, "shape") or value != default):
                raise BadChoice(Option(name), " is for a table in memory; leave it out for a table in parts.")
        elif value is not None and value != _IN_MEMORY_ONLY[name]:
            raise BadChoice(
                Option(name, value), " is for a table in memory; leave it out for a table in parts."
            )


def _signature() -> inspect.Signature:
    """Return the parameters of both ways, for those who complete words."""
    own = inspect.signature(audit).parameters
    other = inspect.signature(audit_in_memory).parameters
    named = [own["table"], *(p for name, p in other.items() if name != "table")]
    named += [own[name] for name in ("cluster", "workers", "spill")]
    return inspect.Signature(named, return_annotation=inspect.signature(audit).return_annotation)


audit.__signature__ = _signature()  # type: ignore[attr-defined]
