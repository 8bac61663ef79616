"""Who searches: the compiled core or, where there is none, its slow twin."""

from __future__ import annotations

import warnings
from typing import Any

__all__ = ["in_use"]

#: A module with the functions of ``_core.pyi``.
in_use: Any

try:
    import labelcut.graph._core as in_use
except ImportError:  # installed without a C++ compiler
    import labelcut.graph._reference as in_use

    warnings.warn(
        "labelcut was installed without its compiled core, so neighbours are found by the slow Python twin; "
        "install a C++ compiler (Debian: apt install g++) and reinstall labelcut to get the fast one.",
        RuntimeWarning,
        stacklevel=2,
    )
