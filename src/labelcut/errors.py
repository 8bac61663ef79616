"""What is wrong with a table or a choice, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["BadChoice", "BadTable", "Option", "Refusal"]


@dataclass(frozen=True)
class Option:
    """An option named in a message, written as in Python; the command line has words of its own for it."""

    name: str
    value: Any = None

    def __str__(self) -> str:
        """Return the option as it is passed to a function."""
        return self.name if self.value is None else f"{self.name}={self.value!r}"


class Refusal(ValueError):
    """What was found and what to do, as pieces of text and the options between them."""

    def __str__(self) -> str:
        """Return the message in the words of Python."""
        return self.told(str)

    def told(self, write: Callable[[Option], str]) -> str:
        """Return the message with its options written by a function."""
        return "".join(write(part) if isinstance(part, Option) else str(part) for part in self.args)


class BadTable(Refusal):
    """The data cannot be used as they are; the message says what was found and what to do."""


class BadChoice(Refusal):
    """An option does not fit the data: a column that is not there, a class nobody has."""
