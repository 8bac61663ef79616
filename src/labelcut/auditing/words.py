"""Cells, numbers and names as a person reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

LONGEST_NAME = 300  # Letters of a name in the page.
LONGEST_CELL = 50_000  # Letters of a cell in the page: more than anybody reads.
LONGEST_TEXT = 2_000_000  # The same of a text that is there to be read: a long book.


def cell_texts(values: pd.Series[Any], most: int = LONGEST_CELL) -> list[str]:
    """Return cells as a person reads them: short numbers, dates without midnight, books cut."""
    missing = values.isna().to_numpy()
    if pd.api.types.is_float_dtype(values.dtype):
        texts = [f"{value:.10g}" for value in values.to_numpy(dtype="float64", na_value=np.nan)]
    elif pd.api.types.is_datetime64_any_dtype(values.dtype):
        texts = [str(value).removesuffix("+00:00").removesuffix(" 00:00:00") for value in values]
    else:
        texts = [shortened(str(value), most) for value in values]
    return ["" if gone else text for text, gone in zip(texts, missing, strict=True)]


def shortened(text: str, most: int = LONGEST_NAME) -> str:
    """Return a text that fits, with its length where it was cut."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def fitted(text: str, width: int) -> str:
    """Return a text of at most `width` letters, cut at its end."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def squeezed(text: str, width: int) -> str:
    """Return a name of at most `width` letters, cut in its middle: names often differ at their ends only."""
    if len(text) <= width:
        return text
    end = (width - 1) * 9 // 20
    return text[: width - 1 - end] + "…" + text[len(text) - end :]


def grouped(number: float) -> str:
    """Return a whole number with its thousands set apart."""
    return f"{round(number):,}".replace(",", "\u202f")


def counted(number: float, thing: str) -> str:
    """Return how many of a thing there are: one label, two labels."""
    return f"{grouped(number)} {thing}" + ("" if round(number) == 1 else "s")


def percent(share: float) -> str:
    """Return a share in percent, with a decimal near 0 and near 1."""
    if share == 0:
        return "0 %"
    return f"{100 * share:.1f} %" if share < 0.1 or 0.95 < share < 1 else f"{100 * share:.0f} %"
