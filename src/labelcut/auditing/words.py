"""Cells of a table as a person reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

LONGEST_TEXT = 300  # Letters of a cell in the page.


def cell_texts(values: pd.Series[Any]) -> list[str]:
    """Return cells as a person reads them: short numbers, dates without midnight, long texts cut."""
    missing = values.isna().to_numpy()
    if pd.api.types.is_float_dtype(values.dtype):
        texts = [f"{value:.10g}" for value in values.to_numpy(dtype="float64", na_value=np.nan)]
    elif pd.api.types.is_datetime64_any_dtype(values.dtype):
        texts = [str(value).removesuffix("+00:00").removesuffix(" 00:00:00") for value in values]
    else:
        texts = [shortened(str(value)) for value in values]
    return ["" if gone else text for text, gone in zip(texts, missing, strict=True)]


def shortened(text: str) -> str:
    """Return a text that fits on a page, with its length where it was cut."""
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}… ({len(text)} characters)"


def grouped(number: float) -> str:
    """Return a whole number with its thousands set apart."""
    return f"{round(number):,}".replace(",", "\u202f")


def percent(share: float) -> str:
    """Return a share in percent, with a decimal near 0 and near 1."""
    return f"{100 * share:.1f} %" if share < 0.1 or 0.95 < share < 1 else f"{100 * share:.0f} %"
