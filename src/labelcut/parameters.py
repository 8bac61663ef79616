"""Parameters of the right kind, or a message that names the parameter, its value and what to give.

TypeError for the wrong kind, ValueError for a value out of range.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

__all__ = ["number", "numbers", "one_of", "positive", "texts", "whole"]


def whole(name: str, value: Any, lowest: int) -> int:
    """Return a whole number that is not too low."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name}={value!r} is a {type(value).__name__}; give a whole number.")
    if value < lowest:
        raise ValueError(f"{name}={value}; choose at least {lowest}.")
    return int(value)


def number(name: str, value: Any) -> float:
    """Return any number as a float; booleans and text are none."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} is a {type(value).__name__}; give a number.")
    return float(value)


def positive(name: str, value: Any) -> float:
    """Return a finite number above 0."""
    found = number(name, value)
    if not (np.isfinite(found) and found > 0):
        raise ValueError(f"{name}={value!r}; give a finite number above 0.")
    return found


def numbers(name: str, values: Any) -> tuple[float, ...]:
    """Return a sequence of numbers as a tuple; a single number is no sequence."""
    if isinstance(values, str | bytes) or not np.iterable(values):
        raise TypeError(
            f"{name}={values!r} is a {type(values).__name__}; give a sequence of numbers, such as (0.01,)."
        )
    return tuple(number(f"{name}[{i}]", value) for i, value in enumerate(values))


def texts(name: str, values: Any) -> tuple[str, ...]:
    """Return a sequence of texts as a tuple; a single text is not one of its letters."""
    if isinstance(values, str | bytes) or not np.iterable(values):
        raise TypeError(f"{name}={values!r} is a {type(values).__name__}; give a list of texts.")
    found = tuple(values)
    for i, value in enumerate(found):
        if not isinstance(value, str):
            raise TypeError(f"{name}[{i}]={value!r} is a {type(value).__name__}; give a text.")
    return found


def one_of(name: str, value: Any, allowed: Iterable[str | bool], or_else: str = "") -> Any:
    """Return one of a few words, or True or False; ``or_else`` names what would do as well."""
    allowed = tuple(allowed)
    kinds = (str,) if isinstance(allowed[0], str) else (bool, np.bool_)
    choices = ", ".join(repr(choice) for choice in allowed) + (f", or give {or_else}" if or_else else "")
    if not isinstance(value, kinds):
        raise TypeError(f"{name}={value!r} is a {type(value).__name__}; choose one of {choices}.")
    if value not in allowed:
        close = difflib.get_close_matches(str(value), [str(choice) for choice in allowed], n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"{name}={value!r}; choose one of {choices}.{hint}")
    return value
