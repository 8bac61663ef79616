"""The time of each stage of a fit."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["StageClock"]


@dataclass
class StageClock:
    """Seconds per stage; tells each stage to the user as it begins if asked to."""

    is_talking: bool = False
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside, added to earlier times of the same stage."""
        if self.is_talking:
            sys.stderr.write(f"[labelcut] {name} ...\n")
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
