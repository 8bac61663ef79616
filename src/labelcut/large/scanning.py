"""All parts read twice by the workers -> the table as they know it together, its nodes, the sampled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from labelcut.arrays import Floats, Ints
from labelcut.hnc.clock import StageClock
from labelcut.large.cluster import Crew
from labelcut.large.deciding import decided_names, lay_on
from labelcut.large.nodes import Known, Nodes, key_part, number_rows
from labelcut.large.parts import Part, find_parts, with_first_rows
from labelcut.large.request import Request
from labelcut.large.rows import Fetcher
from labelcut.large.sample import as_table, describe
from labelcut.large.scan import Scan, add_up, scan_part
from labelcut.table.decisions import Matched
from labelcut.table.kinds import Column
from labelcut.table.label_column import Classes, find_classes
from labelcut.table.table import Table, check_choices

__all__ = ["Scanned", "scan_table"]


@dataclass(frozen=True, eq=False)
class Scanned:
    """The table as all parts together know it, and the sampled rows."""

    parts: list[Part]
    scan: Scan
    classes: Classes
    nodes: Nodes
    codes: Ints
    trust: Floats
    matched: Matched
    columns: list[Column]
    forms: dict[str, str | None]
    table: Table
    fetcher: Fetcher

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.nodes.n_rows


def scan_table(crew: Crew, request: Request, clock: StageClock) -> Scanned:
    """Read every part twice: what columns and classes there are, then the key and the class of every row."""
    wanted, sizes = request.wanted, request.sizes
    with clock.stage("scan"):
        parts, shape = find_parts(
            request.addresses,
            label=request.label,
            rows_per_part=sizes.rows_per_part,
            bytes_per_part=sizes.bytes_per_part,
            **request.reading,
        )
        roles = {"id": request.id, "group": request.group}
        check_choices(shape.names, (request.label,), roles, request.ignore, request.kinds, request.name)
        named = [name for name in (request.label, request.id, request.group) if name]
        shape = replace(shape, as_text=frozenset(named) if shape.format == "csv" else frozenset())
        items = [(part,) for part in parts]
        scans = dict(crew.each(scan_part, items, shape, wanted, n_items=2 * len(parts), tell=clock.part_done))
        scan = add_up([scans[i] for i in range(len(parts))], shape, request.name)
        parts = with_first_rows(parts, scan.n_rows)
        classes = find_classes(
            scan.counts.labels,
            label=request.label,
            name=request.name,
            choices=request.labels,
            marks=scan.counts.marks,
        )
        groups = {name: i for i, name in enumerate(scan.group_names)}
        decided = decided_names(request.decisions, request.id)
        known = Known(wanted, classes.position, groups, scan.words, decided)
        keyed = dict(
            crew.each(
                key_part,
                [(part,) for part in parts],
                scan.shape,
                known,
                n_items=2 * len(parts),
                tell=lambda done, every: clock.part_done(len(parts) + done, every),
            )
        )
        found = [keyed[i] for i in range(len(parts))]
        nodes = number_rows(found, sizes.sample_rows)
    with clock.stage("sample"):
        return _sample(crew, request, parts, scan, classes, nodes, [one.chosen for one in found], clock)


def _sample(
    crew: Crew,
    request: Request,
    parts: list[Part],
    scan: Scan,
    classes: Classes,
    nodes: Nodes,
    chosen: Sequence[pd.DataFrame | None],
    clock: StageClock,
) -> Scanned:
    """Fetch the sampled rows, which are the first nodes, and say what each column is."""
    _, matched = lay_on(request.decisions, chosen, nodes, classes, request.wanted, request.name)
    codes, trust = nodes.codes.copy(), np.ones(nodes.n_rows)
    for node, label in matched.labels.items():
        codes[node], trust[node] = classes.classes.index(label), np.inf
    fetcher = Fetcher(crew, parts, scan.shape, nodes)
    first = np.arange(min(request.sizes.sample_rows, nodes.n_rows))
    frame = fetcher.frame(first, clock.part_done)
    columns, forms = describe(frame, scan, request.wanted, request.ignore, request.name)
    table = as_table(
        frame,
        scan,
        request.wanted,
        columns,
        classes=classes.classes,
        codes=codes[first],
        rows=first,
        name=request.name,
        notes=classes.notes,
        forms=forms,
    )
    return Scanned(parts, scan, classes, nodes, codes, trust, matched, columns, forms, table, fetcher)
