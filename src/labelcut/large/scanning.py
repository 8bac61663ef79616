"""All parts read twice by the workers -> the table as they know it together, its nodes, the sampled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from labelcut.arrays import Floats, Ints
from labelcut.auditing.beside import read_beside
from labelcut.errors import BadTable
from labelcut.hnc.clock import StageClock
from labelcut.large.beside import Sides, find_sides
from labelcut.large.cluster import Crew
from labelcut.large.deciding import decided_names, lay_on
from labelcut.large.nodes import Known, Nodes, PartKeys, key_part, number_rows
from labelcut.large.parts import Part, find_parts, with_first_rows
from labelcut.large.request import Request
from labelcut.large.rows import Fetcher
from labelcut.large.sample import as_table, describe
from labelcut.large.scan import Scan, add_up, scan_part
from labelcut.large.settings import Sizes
from labelcut.table.decisions import Matched
from labelcut.table.kinds import Column
from labelcut.table.label_column import Classes, find_classes
from labelcut.table.table import Table, check_choices, check_free

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
    sides: Sides
    sizes: Sizes

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
        sides = find_sides(request.opinions, request.embedding, shape.names, request.name)
        check_free(sides.notes, [("label", request.label), *roles.items()])
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
        sides = replace(sides, classes=classes.classes)
        sides.check_files(sum(scan.n_rows))
        groups = {name: i for i, name in enumerate(scan.group_names)}
        decided = decided_names(request.decisions, request.id)
        known = Known(wanted, classes.position, groups, scan.words, decided, sides)
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
        sizes = sizes.with_vectors(_length_of_vectors(parts, found, sides))
        nodes = number_rows(found, sizes.sample_rows)
    with clock.stage("sample"):
        chosen = [one.chosen for one in found]
        return _sample(crew, request, parts, scan, classes, nodes, chosen, sides, sizes, clock)


def _length_of_vectors(parts: Sequence[Part], found: Sequence[PartKeys], sides: Sides) -> int:
    """Return how many numbers the vectors of all rows have."""
    first = found[0].n_dimensions
    for part, one in zip(parts, found, strict=True):
        if one.n_dimensions != first:
            raise BadTable(
                f"{part.name}: vectors in {sides.embedding} have {one.n_dimensions} numbers, others have "
                f"{first}; give every row a vector of the same length."
            )
    return first


def _sample(
    crew: Crew,
    request: Request,
    parts: list[Part],
    scan: Scan,
    classes: Classes,
    nodes: Nodes,
    chosen: Sequence[pd.DataFrame | None],
    sides: Sides,
    sizes: Sizes,
    clock: StageClock,
) -> Scanned:
    """Fetch the sampled rows, which are the first nodes, and say what each column is."""
    _, matched = lay_on(request.decisions, chosen, nodes, classes, request.wanted, request.name)
    codes, trust = nodes.codes.copy(), np.ones(nodes.n_rows)
    for node, label in matched.labels.items():
        codes[node], trust[node] = classes.classes.index(label), np.inf
    fetcher = Fetcher(crew, parts, scan.shape, nodes)
    first = np.arange(min(sizes.sample_rows, nodes.n_rows))
    frame = fetcher.frame(first, clock.part_done)
    columns, forms = describe(frame, scan, request.wanted, request.ignore, request.name, sides)
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
        beside=sides.of(frame, nodes.rows[first], request.name),
    )
    read_beside(table)  # refuses columns in another order than the classes
    return Scanned(
        parts, scan, classes, nodes, codes, trust, matched, columns, forms, table, fetcher, sides, sizes
    )
