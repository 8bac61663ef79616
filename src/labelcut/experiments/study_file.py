"""A study's TOML file -> a dict in which every entry is there and of its kind."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from labelcut.errors import BadTable


def read_study_file(path: Path | Traversable) -> dict[str, Any]:
    """Read and check the file; a fault is told with the file's name and what the entry should be."""
    try:
        config = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise BadTable(f"{path}: is not UTF-8, as TOML must be; save it again as UTF-8.") from None
    except tomllib.TOMLDecodeError as problem:
        raise BadTable(f"{path}: is not TOML ({problem}); correct that place.") from None
    fault = check_study(config)
    if fault is not None:
        raise BadTable(f"{path}: {fault}")
    return config


def check_study(config: dict[str, Any]) -> str | None:
    """Say what is wrong with the entries of a study, and what to do; None if nothing is."""
    fault = _fault("the study", config, _STUDY)
    for number, part in enumerate([] if fault else config["part"], start=1):
        fault = fault or _fault(f"[[part]] {number}", part, _PART)
    return fault


def _fault(where: str, entries: dict[str, Any], kinds: dict[str, Kind]) -> str | None:
    for name in entries.keys() - kinds.keys():
        return f"{where} has an entry {name!r}; choose among {', '.join(kinds)}."
    for name, (fits, meaning) in kinds.items():
        if name not in entries and name not in _OPTIONAL:
            return f"{where} has no {name!r}; add {meaning}."
        if name in entries and not fits(entries[name]):
            return f"{name!r} of {where} is {entries[name]!r:.60}; make it {meaning}."
    return None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _is_noise(value: Any) -> bool:
    return _is_share(value) or (_list_of(_is_share)(value) and len(value) == 2)


def _is_data(value: Any) -> bool:
    return value in ("real", "synthetic") or _list_of(_is_text)(value)


def _is_method(value: Any) -> bool:
    return _is_text(value) or (
        isinstance(value, dict)
        and _is_text(value.get("name"))
        and isinstance(value.get("settings", {}), dict)
        and value.keys() <= {"name", "settings"}
    )


def _list_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and value != [] and all(map(fits, value))


Kind = tuple[Callable[[Any], bool], str]
"""A test of a value, and the words for what passes it."""

_STUDY: dict[str, Kind] = {
    "title": (_is_text, "a text"),
    "part": (_list_of(lambda value: isinstance(value, dict)), "one [[part]] or more"),
    "reuses": (lambda value: value == [] or _list_of(_is_text)(value), "a list of studies"),
}
_PART: dict[str, Kind] = {
    "data": (_is_data, '"real", "synthetic" or a list of data sets'),
    "noise": (_list_of(_is_noise), "a list of shares from 0 to 1, or of pairs of them"),
    "seeds": (_list_of(_is_whole), "a list of whole numbers"),
    "methods": (_list_of(_is_method), "a list of names, or of { name, settings }"),
    "test_share": (_list_of(_is_share), "a list of shares from 0 to 1"),
    "kinds": (_list_of(_is_text), "a list of kinds of noise"),
    "copies": (_is_whole, "a whole number"),
    "sample": (lambda value: isinstance(value, bool), "true or false"),
}
_OPTIONAL = {"reuses", "test_share", "kinds", "copies", "sample"}
