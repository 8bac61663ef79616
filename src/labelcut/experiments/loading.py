"""A name -> DataSet, whatever kind of table it is.

A name may end in steps that thin the table, done from left to right: ``@rare`` leaves so many positive rows
that they are 5 % of the table, ``@8000`` leaves that many rows. A draw seeded by the name decides which.
"""

from __future__ import annotations

import zlib

import numpy as np

from labelcut.experiments.data import (
    ORIGINALS,
    REAL,
    Codes,
    DataSet,
    load_original,
    load_real,
)
from labelcut.experiments.drawn import DRAWN, draw
from labelcut.experiments.synthetic import Synthetic

RARE = "rare"
RARE_SHARE = 0.05
"""Share of positive rows in a table whose positive class was made rare."""
STEP = "@"


def load(name: str, seed: int = 0) -> DataSet:
    """Give the data set of that name; only tables of random numbers depend on the seed."""
    whole, *steps = name.split(STEP)
    data = _load_whole(whole, seed)
    for step in steps:
        data = _thin(data, step)
    return data


def _load_whole(name: str, seed: int) -> DataSet:
    if name in REAL:
        return load_real(REAL[name])
    if name in ORIGINALS:
        return load_original(ORIGINALS[name])
    if name in DRAWN:
        return draw(DRAWN[name], seed)
    return Synthetic.from_name(name).generate()


def _thin(data: DataSet, step: str) -> DataSet:
    name = f"{data.name}{STEP}{step}"
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    rows = make_rare(data.y, rng) if step == RARE else cut(len(data.y), _n_kept(name, step, len(data.y)), rng)
    return DataSet(name, f"{data.title}, {_step_title(step)}", data.X[rows], data.y[rows])


def _n_kept(name: str, step: str, n_rows: int) -> int:
    if not step.isdecimal() or not 0 < int(step) <= n_rows:
        raise ValueError(
            f"no data set {name!r}: {step!r} is no way to thin {n_rows} rows; use {STEP}{RARE}, or {STEP}N "
            f"with N at most {n_rows}."
        )
    return int(step)


def cut(n_rows: int, n_kept: int, rng: np.random.Generator) -> Codes:
    """Choose that many rows, in their order."""
    return np.sort(rng.permutation(n_rows)[:n_kept]).astype(np.int64)


def make_rare(y: Codes, rng: np.random.Generator) -> Codes:
    """Choose all negative rows and so many positive ones that they are 5 % of the chosen rows."""
    positive, others = np.flatnonzero(y == 1), np.flatnonzero(y != 1)
    n_kept = min(len(positive), round(RARE_SHARE / (1 - RARE_SHARE) * len(others)))
    return np.sort(np.concatenate([others, rng.permutation(positive)[:n_kept]])).astype(np.int64)


def rows_of(name: str) -> int:
    """Give the number of rows before thinning, or what the last step leaves at most."""
    whole, *steps = name.split(STEP)
    for tables in (REAL, DRAWN):
        if whole in tables:
            n_rows = tables[whole].n_rows
            break
    else:
        n_rows = sum(ORIGINALS[whole].counts) if whole in ORIGINALS else Synthetic.from_name(whole).n_rows
    return min([n_rows, *(int(step) for step in steps if step.isdecimal())])


def title_of(name: str) -> str:
    """How tables call the data set."""
    whole, *steps = name.split(STEP)
    known = REAL.get(whole) or ORIGINALS.get(whole) or DRAWN.get(whole)
    return ", ".join([known.title if known else whole, *map(_step_title, steps)])


def _step_title(step: str) -> str:
    return "5 % positive" if step == RARE else f"{step} rows"
