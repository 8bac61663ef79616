"""The objects of a JSON text: found and changed in place, without touching anything else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_BLANKS = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def array_pieces(text: str) -> Iterator[tuple[bool, str]]:
    """Cut an array of objects into its objects (True) and what is between them; joined, it is whole."""
    at = _after_blanks(text, 0) + 1  # behind the bracket
    done = 0
    while text[at := _after_blanks(text, at)] != "]":
        end = _DECODER.raw_decode(text, at)[1]
        yield False, text[done:at]
        yield True, text[at:end]
        done, at = end, _after_blanks(text, end)
        at += text[at] == ","
    yield False, text[done:]


def with_value(text: str, key: str, value: Any) -> str:
    """Return the text of an object with another value under a key, which is added if it is not there."""
    span = _value_span(text, key)
    if span is None:
        return with_more(text, {key: value})
    return text[: span[0]] + json.dumps(value, ensure_ascii=False) + text[span[1] :]


def with_more(text: str, values: dict[str, Any]) -> str:
    """Return the text of an object with more keys behind its own."""
    close = text.rindex("}")
    comma = "" if text[:close].strip().endswith("{") else ", "
    body = text[:close].rstrip() if comma else text[:close]
    return body + comma + json.dumps(values, ensure_ascii=False)[1:-1] + text[len(body) :]


def _value_span(text: str, key: str) -> tuple[int, int] | None:
    """Return where the value of a key begins and ends; of several equal keys the last one counts."""
    found = None
    at = text.index("{") + 1
    while text[at := _after_blanks(text, at)] != "}":
        name, at = _DECODER.raw_decode(text, at)
        start = _after_blanks(text, _after_blanks(text, at) + 1)  # behind the colon
        at = _DECODER.raw_decode(text, start)[1]
        if name == key:
            found = (start, at)
        at = _after_blanks(text, at)
        at += text[at] == ","
    return found


def _after_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at
