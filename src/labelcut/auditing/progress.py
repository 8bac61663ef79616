"""How far an audit is: its stages, each with the share of the work that lies before it."""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

Tell = Callable[[str, float], object]

DONE = "done"
#: The stages in their order with what each costs beside the others: processor time of audits of 600 to 20 000
#: rows and a dozen columns. Stages of one line take turns, once for each cut. A stage that is passed over
#: costs nothing, and one that is not named here little.
COSTS: tuple[dict[str, float], ...] = (
    {"reading": 12.0},  # mostly imports, in small tables
    {"columns to numbers": 2.0},
    {"forest": 50.0},
    {"graph": 6.0},
    {"boosting": 28.0},
    {"confidence": 0.5, "folds": 4.0, "cut": 3.0, "second round": 9.0, "probabilities": 3.0},
    {"planted errors": 18.0},
    {"reasons": 2.0},
    {"report": 3.0},
    {"writing": 4.0},
)
COST_OF_OTHERS = 0.5
SAME_STAGE = {"confidence cuts": "confidence", "fold cuts": "folds", "final cut": "cut"}
#: The stages of a fit, which come again if a table is fitted again.
FIT_STAGES = frozenset(name for costs in COSTS[2:6] for name in costs)
BETWEEN_LINES = 5.0  # Seconds after which a stage that comes again and again is told again.
SHORT = 0.05  # Seconds below which a stage is not worth a line.


@dataclass
class Progress:
    """Hears the stages of an audit as they begin and tells them on, with the share of the work done.

    Attributes
    ----------
    tell : callable(stage, share)
        Called as each stage begins and when a stage tells how far it is; at last with "done" and 1.
    n_cuts : int
        How often the stages of a cut come: once, or once for each class.
    costs : tuple of dict of str to float
        The stages in their order with what each costs beside the others.
    n_fits : int
        How often the table is fitted: with several annotators twice, as a rule.
    stage : str
        The stage at work.
    share, until : float
        The share of the work that is done, and the one that will be when the stage at work ends.
    """

    tell: Tell = lambda stage, share: None
    n_cuts: int = 1
    costs: tuple[dict[str, float], ...] = COSTS
    n_fits: int = 1
    stage: str = ""
    share: float = 0.0
    until: float = 0.0
    _start: float = 0.0
    _place: int = 0
    _done: float = 0.0
    _begun: Counter[str] = field(default_factory=Counter)

    def __call__(self, stage: str) -> None:
        """Begin a stage; the one before it has ended."""
        if self.stage:
            self._done += self._cost(self.stage)
        self.stage = stage
        name = SAME_STAGE.get(stage, stage)
        self._place = max(self._place, self._place_of.get(name, 0))
        left = self._left()
        self._begun[name] += 1
        self._move_to(self._done / (self._done + left))
        self._start = self.share
        self.until = max(self.share, (self._done + self._cost(stage)) / (self._done + left))

    def hear(self, stage: str, part: float) -> None:
        """Hear a stage of a fit: that it begins, or how much of it is done."""
        if part == 0.0:
            self(stage)
        elif stage == self.stage:
            self._move_to(self._start + part * (self.until - self._start))

    def finish(self) -> None:
        """Tell that all is done."""
        self.stage, self.until = DONE, 1.0
        self._move_to(1.0)

    def _move_to(self, share: float) -> None:
        self.share = max(self.share, min(share, 1.0))
        self.tell(self.stage, self.share)

    def _cost(self, stage: str) -> float:
        name = SAME_STAGE.get(stage, stage)
        place = self._place_of.get(name)
        return COST_OF_OTHERS if place is None else self.costs[place][name]

    @cached_property
    def _place_of(self) -> dict[str, int]:
        return {name: place for place, costs in enumerate(self.costs) for name in costs}

    def _left(self) -> float:
        """Return the cost of what is still to come, at least that of the last stage."""
        left = 0.0
        is_fit = [self.n_fits > 1 and not FIT_STAGES.isdisjoint(costs) for costs in self.costs]
        for place, costs in enumerate(self.costs):
            if place < self._place and not (is_fit[self._place] and is_fit[place]):
                continue
            n_times = self.n_cuts if len(costs) > 1 else 1
            n_times *= self.n_fits if is_fit[place] else 1
            left += sum(max(0, n_times - self._begun[name]) * cost for name, cost in costs.items())
        return max(left, COST_OF_OTHERS)


class Lines:
    """Writes a line on the error stream for each stage that has ended, with the time it took."""

    def __init__(self) -> None:
        self._stage, self._since, self._told_at = "", time.monotonic(), -math.inf
        self._open: dict[str, float] = {}
        self._told: set[str] = set()

    def __call__(self, stage: str, share: float) -> None:
        """Hear that a stage begins."""
        if stage == self._stage:
            return
        now = time.monotonic()
        if self._stage and now - self._since > SHORT:
            self._open[self._stage] = self._open.get(self._stage, 0.0) + now - self._since
        is_new = stage not in chain(self._told, self._open)
        if self._open and (is_new or self._stage not in self._told or now - self._told_at > BETWEEN_LINES):
            for name, seconds in self._open.items():
                sys.stderr.write(f"labelcut: {name}, {seconds:.1f} s, {100 * share:.0f} % done\n")
            sys.stderr.flush()
            self._told |= set(self._open)
            self._open, self._told_at = {}, now
        self._stage, self._since = stage, now


@contextmanager
def followed(
    progress: Tell | None, *, verbose: bool, costs: tuple[dict[str, float], ...] = COSTS
) -> Iterator[Progress]:
    """Give the progress of an audit that is told to a callable, in lines, to both or to nobody."""
    lines = Lines() if verbose else None

    def tell(stage: str, share: float) -> None:
        for hearer in (lines, progress):
            if hearer is not None:
                hearer(stage, share)

    made = Progress(tell, costs=costs)
    yield made
    made.finish()
