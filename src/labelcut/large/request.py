"""What is to be audited, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labelcut.auditing.narrowing import Baseline
from labelcut.large.scan import Wanted
from labelcut.large.settings import Sizes
from labelcut.table.decisions import Decision
from labelcut.table.label_column import Choices

__all__ = ["Request"]


@dataclass(frozen=True)
class Request:
    """What is to be audited, and how; the names are those of `labelcut.audit`."""

    addresses: tuple[str, ...]
    label: str
    id: str | None = None
    group: str | None = None
    ignore: tuple[str, ...] = ()
    labels: Choices = Choices()
    kinds: Mapping[str, str] = field(default_factory=dict)
    opinions: Mapping[str, Any] | None = None
    embedding: Any = None
    decisions: Sequence[Decision] = ()
    top: int | None = None
    min_p_wrong: float = 0.0
    baseline: Baseline | None = None
    flags: str | None = None
    n_jobs: int | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Path] = field(default_factory=dict)
    sizes: Sizes = Sizes()

    @property
    def name(self) -> str:
        """What to call the table in messages."""
        first = self.addresses[0].rstrip("/").rsplit("/", 1)[-1]
        return first if len(self.addresses) == 1 else f"{first} and {len(self.addresses) - 1} more"

    @property
    def wanted(self) -> Wanted:
        """The columns with a role."""
        return Wanted(self.label, self.id, self.group, self.kinds)
