"""What runs that follow one another have in common, kept in an object that is passed along."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeVar

Found = TypeVar("Found")


class Kept:
    """The last thing found of each kind, given again to whoever asks for the same one.

    Runs come sorted by table, so one of each kind is enough: the data set, and the forests that several
    methods train alike.
    """

    def __init__(self) -> None:
        self._last: dict[str, tuple[Hashable, Any]] = {}

    def find(self, kind: str, key: Hashable) -> Any | None:
        """Give what was kept under this key; None where the last one of its kind was another."""
        last_key, found = self._last.get(kind, (None, None))
        return found if last_key == key else None

    def keep(self, kind: str, key: Hashable, found: Found) -> Found:
        """Keep it in place of the last one of its kind, and give it back."""
        self._last[kind] = key, found
        return found
