"""Tables drawn anew for every seed: columns that know nothing of the class, or know it with an overlap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from labelcut.experiments.data import REAL, Codes, DataSet, Matrix, load_real

N_COLUMNS = 8
#: A fifth of the rows is hidden by the study, which leaves 2000 and 6000 labels.
PURE_ROWS, LOGISTIC_ROWS = 2500, 7500


@dataclass(frozen=True)
class Drawn:
    """A table made of random numbers."""

    name: str
    title: str
    n_rows: int
    draw: Callable[[np.random.Generator], tuple[Matrix, Codes]]


def _pure(*shares: float) -> Callable[[np.random.Generator], tuple[Matrix, Codes]]:
    """Draw normal columns, and classes of these shares (to one row) that have nothing to do with them."""

    def draw(rng: np.random.Generator) -> tuple[Matrix, Codes]:
        ends = np.round(np.cumsum(shares) * PURE_ROWS)
        y = np.searchsorted(ends, np.arange(PURE_ROWS), side="right")
        return rng.normal(size=(PURE_ROWS, N_COLUMNS)), rng.permutation(y).astype(np.int64)

    return draw


def _logistic(slope: float, intercept: float) -> Callable[[np.random.Generator], tuple[Matrix, Codes]]:
    """Draw normal columns, and the class with P(positive) = logistic(intercept + slope * score).

    The score is the sum of the columns, brought to deviation 1. Every label is right, but rows near the
    border could as well have had the other one.
    """

    def draw(rng: np.random.Generator) -> tuple[Matrix, Codes]:
        X = rng.normal(size=(LOGISTIC_ROWS, N_COLUMNS))
        score = X.sum(axis=1) / np.sqrt(N_COLUMNS)
        return X, (rng.random(LOGISTIC_ROWS) < expit(intercept + slope * score)).astype(np.int64)

    return draw


def _shuffled(source: str) -> Callable[[np.random.Generator], tuple[Matrix, Codes]]:
    """Take the columns of a real table, and its labels in random order."""

    def draw(rng: np.random.Generator) -> tuple[Matrix, Codes]:
        real = load_real(REAL[source])
        return real.X, rng.permutation(real.y)

    return draw


DRAWN = {
    drawn.name: drawn
    for drawn in (
        Drawn("pure-50", "Pure noise, 50 % positive", PURE_ROWS, _pure(0.5, 0.5)),
        Drawn("pure-16", "Pure noise, 16 % positive", PURE_ROWS, _pure(0.84, 0.16)),
        Drawn("pure-3", "Pure noise, 3 equal classes", PURE_ROWS, _pure(1 / 3, 1 / 3, 1 / 3)),
        Drawn("pure-3-16", "Pure noise, 3 classes, one of 16 %", PURE_ROWS, _pure(0.42, 0.42, 0.16)),
        *(
            Drawn(
                f"shuffled-{name}", f"{REAL[name].title}, labels shuffled", REAL[name].n_rows, _shuffled(name)
            )
            for name in ("vote", "maternal", "breast_cancer")
        ),
        # The best possible AUC is 0.80 in both.
        Drawn("logistic-50", "Logistic truth, 50 % positive", LOGISTIC_ROWS, _logistic(1.4, 0.0)),
        Drawn("logistic-5", "Logistic truth, 5 % positive", LOGISTIC_ROWS, _logistic(1.25, -3.593)),
    )
}


def draw(drawn: Drawn, seed: int) -> DataSet:
    """Draw the table of one seed."""
    X, y = drawn.draw(np.random.default_rng([seed, *drawn.name.encode()]))
    return DataSet(drawn.name, drawn.title, X, y)
