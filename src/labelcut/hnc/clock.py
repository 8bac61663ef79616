"""The time of each stage of a fit, and who hears of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from labelcut.memory import give_back

__all__ = ["Listener", "StageClock", "hear_stages"]

#: Hears the name of a stage and how much of it is done: 0 as it begins, more where the stage can tell.
Listener = Callable[[str, float], object]

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def hear_stages(listener: Listener) -> Iterator[None]:
    """Let a listener hear the stages of every fit inside; an exception that it raises stops the fit.

    So a fit inside a longer job, such as an audit, tells how far it is without a parameter of its own.
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@dataclass
class StageClock:
    """Seconds per stage; tells each stage to the user as it begins if asked to, and to who listens."""

    is_talking: bool = False
    seconds: dict[str, float] = field(default_factory=dict)
    #: Taken when the clock is made, so that stages in other threads are heard as well.
    listener: Listener | None = field(default_factory=_LISTENER.get)
    _at_work: str = ""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside, added to earlier times of the same stage."""
        self._at_work = name
        if self.is_talking:
            sys.stderr.write(f"[labelcut] {name} ...\n")
        if self.listener is not None:
            self.listener(name, 0.0)
        start = time.perf_counter()
        yield
        give_back()  # what a stage has freed would else be held through all others
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def part_done(self, n_done: int, n_all: int) -> None:
        """Tell who listens how much of the stage at work is done; fits `on_progress` of a cut."""
        if self.listener is not None and n_all > 0:
            self.listener(self._at_work, min(1.0, n_done / n_all))
