"""A map of the rows: along the two main directions of the weighted columns, as dots, or by density."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelcut.hnc.columns import scale_columns
from labelcut.table.table import Table

MOST_DOTS = 5000
MOST_RINGS = 400  # More suspects than this would be one blot.
FITTED_ROWS = 5000  # The directions are those of a sample.
CELLS_AT_ONCE = 2_000_000  # Rows are laid out in parts: scaled copies of all would be the largest thing held.
GRID = (48, 32)


def draw_map(X: np.ndarray, importances: np.ndarray, table: Table, shown: np.ndarray) -> dict[str, Any]:
    """Lay the rows out.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    importances : ndarray of shape (n_features,)
    table : Table
    shown : ndarray of int
        The suspects that the page shows, in its order.

    Returns
    -------
    dict
        `x` and `y` from 0 to 1000, `code` of the label and `suspect` (its number, or -1) for each dot. With
        too many of them for dots `cells` instead: column and row of the grid, rows in it, the commonest label
        among them, suspects in it and the first of those, or -1.
    """
    xy = _places(X, importances)
    n_rows = len(xy)
    if n_rows > MOST_DOTS or len(shown) > MOST_RINGS:
        empty: dict[str, Any] = {"x": [], "y": [], "code": [], "suspect": []}
        return empty | {"grid": list(GRID), "cells": _cells(xy, table, shown)}
    suspect = np.full(n_rows, -1)
    suspect[shown] = np.arange(len(shown))
    return {
        "x": np.round(1000 * xy[:, 0]).astype(int).tolist(),
        "y": np.round(1000 * xy[:, 1]).astype(int).tolist(),
        "code": table.codes.tolist(),
        "suspect": suspect.tolist(),
        "grid": None,
        "cells": [],
    }


def _places(X: np.ndarray, importances: np.ndarray) -> np.ndarray:
    """Return where each row lies, both coordinates between 0 and 1, y downwards."""
    from sklearn.decomposition import PCA

    rows = np.arange(len(X))
    if len(X) > FITTED_ROWS:
        rows = np.random.default_rng(0).choice(len(X), FITTED_ROWS, replace=False)
    scaled, scale = scale_columns(X[rows], kind="robust")
    weigh = np.sqrt(importances)
    if X.shape[1] == 1:
        xy = np.hstack([scale.apply(X.astype(np.float64)), np.zeros((len(X), 1))])
    else:
        solver = "covariance_eigh" if X.shape[1] <= 500 else "randomized"
        place = PCA(2, svd_solver=solver, random_state=0).fit(scaled * weigh)
        step = max(1, CELLS_AT_ONCE // X.shape[1])
        starts = range(0, len(X), step)
        parts = (X[at : at + step].astype(np.float64) for at in starts)
        xy = np.vstack([place.transform(scale.apply(part) * weigh) for part in parts])
    low, high = np.percentile(xy[rows], 0.5, axis=0), np.percentile(xy[rows], 99.5, axis=0)
    xy = np.clip((xy - low) / np.where(high > low, high - low, 1.0), 0, 1)
    xy[:, 1] = 1 - xy[:, 1]
    return np.asarray(xy)


def _cells(xy: np.ndarray, table: Table, shown: np.ndarray) -> list[list[int]]:
    """Count rows and suspects on a grid."""
    across, down = GRID
    column = np.minimum((xy[:, 0] * across).astype(int), across - 1)
    line = np.minimum((xy[:, 1] * down).astype(int), down - 1)
    cell = line * across + column
    n_cells, n_classes = across * down, len(table.classes)
    n_rows = np.bincount(cell, minlength=n_cells)
    labeled = table.is_labeled
    pairs = np.bincount(
        cell[labeled] * n_classes + table.codes[labeled], minlength=n_cells * n_classes
    ).reshape(n_cells, n_classes)
    common = np.where(pairs.any(axis=1), pairs.argmax(axis=1), -1)
    n_suspects = np.bincount(cell[shown], minlength=n_cells)
    first = np.full(n_cells, -1)
    first[cell[shown][::-1]] = np.arange(len(shown))[::-1]
    filled = np.flatnonzero(n_rows)
    found = (filled % across, filled // across, n_rows[filled], common[filled])
    counted = np.column_stack([*found, n_suspects[filled], first[filled]])
    return [[int(number) for number in line] for line in counted]
