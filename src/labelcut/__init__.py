"""Find the wrong labels in a table and classify its unlabeled rows, by minimum cuts on a similarity graph."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelcut.auditing.result import Audit
    from labelcut.hnc.classifier import ConfidenceHNC
    from labelcut.hnc.held_labels import HNC
    from labelcut.hnc.one_call import find_label_issues
    from labelcut.hnc.settings import DEFAULT, LITERAL, PAPER, Settings
    from labelcut.large.door import audit
    from labelcut.table.applying import apply

    __version__: str

__all__ = [
    "DEFAULT",
    "HNC",
    "LITERAL",
    "PAPER",
    "Audit",
    "ConfidenceHNC",
    "Settings",
    "apply",
    "audit",
    "find_label_issues",
]

#: Where each public name lives; it is imported when first asked for, so that `import labelcut` costs nothing.
_HOME = {
    "HNC": "labelcut.hnc.held_labels",
    "Audit": "labelcut.auditing.result",
    "apply": "labelcut.table.applying",
    "audit": "labelcut.large.door",
    "ConfidenceHNC": "labelcut.hnc.classifier",
    "find_label_issues": "labelcut.hnc.one_call",
    "Settings": "labelcut.hnc.settings",
    "DEFAULT": "labelcut.hnc.settings",
    "PAPER": "labelcut.hnc.settings",
    "LITERAL": "labelcut.hnc.settings",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":  # the tag it was built from has the only copy
        return import_module("importlib.metadata").version("labelcut")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'labelcut' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME, "__version__"])
