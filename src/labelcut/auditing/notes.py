"""What the model warns of, in words of the tool: it has none of the estimator's parameters."""

from __future__ import annotations

import re

_ADVICE = {
    "degenerate cut: ": "Do not trust the classes of these rows before you have looked at some of them.",
    "no label reaches ": "Label some rows like them.",
}


def tell_warning(warning: str) -> str:
    """Return a warning without advice on parameters, which a user of the tool cannot set."""
    for beginning, advice in _ADVICE.items():
        if warning.startswith(beginning):
            what = re.split(r"(?<=[a-z])[.;] ", warning.removeprefix("degenerate cut: "))[0]
            return f"{what[:1].upper()}{what[1:]}. {advice}"
    return warning
