"""The progress of an audit as a bar on a terminal."""

from __future__ import annotations

import math
import time

from rich.progress_bar import ProgressBar
from rich.table import Table as Grid
from rich.text import Text

from labelcut.auditing.progress import Progress

WIDTH = 30


class Bar:
    """Drawn again and again: the share done, the stage at work, the time since the start.

    Inside a stage that cannot tell how far it is, the bar creeps as fast as the work went so far, and ever
    more slowly, so that it never gets to where the stage ends before the stage does.
    """

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self._start = self._since = time.monotonic()
        self._seen = ("", 0.0)

    def __rich__(self) -> Grid:
        """Return what is to be seen now."""
        share, now = self.shown(time.monotonic()), time.monotonic() - self._start
        line = Grid.grid(padding=(0, 1))
        clock = f"{int(now) // 60}:{int(now) % 60:02d}"
        texts = (Text(f"{100 * share:3.0f} %"), Text(self.progress.stage), Text(clock, style="dim"))
        line.add_row(ProgressBar(1.0, share, width=WIDTH), *texts)
        return line

    def shown(self, now: float) -> float:
        """Return the share to show at a time."""
        progress = self.progress
        seen = (progress.stage, progress.share)
        if seen != self._seen:
            self._seen, self._since = seen, now
        ahead = progress.until - progress.share
        if ahead <= 0 or progress.share <= 0:
            return progress.share
        expected = (self._since - self._start) * ahead / progress.share
        return progress.share + ahead * (1 - math.exp(-(now - self._since) / max(expected, 0.1)))
