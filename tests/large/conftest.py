"""Small tables in several files, and workers that are threads of this process or processes of their own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from labelcut.large import door
from labelcut.large.settings import Sizes

#: So small that a few hundred rows have parts, a sample, cells, and rows beyond the sample.
SMALL = Sizes(rows_per_part=150, bytes_per_part=9000, sample_rows=500, second_rows=300, cell_rows=250)


def small_table(n_rows=700, seed=0):
    """Return rows with numbers, gaps, words, an id, a group, labels, some of them wrong or missing."""
    rng = np.random.default_rng(seed)
    X, y = make_classification(
        n_rows, 6, n_informative=4, n_redundant=0, class_sep=1.5, flip_y=0, random_state=seed
    )
    frame = pd.DataFrame(X.astype(np.float32), columns=[f"x{i}" for i in range(6)])
    frame.loc[rng.random(n_rows) < 0.05, "x0"] = np.nan
    frame["colour"] = rng.choice(["red", "blue", "green"], n_rows)
    frame["who"] = rng.choice(["ann", "bob"], n_rows)
    frame["name"] = [f"r{i}" for i in range(n_rows)]
    is_wrong = rng.random(n_rows) < 0.08
    frame["y"] = np.where((y == 1) ^ is_wrong, "yes", "no")
    frame.loc[rng.random(n_rows) < 0.1, "y"] = None
    return frame.assign(truth=np.where(y == 1, "yes", "no"))


def write_parts(frame, folder, n_files=3, format="parquet"):
    """Write a table in several files, with short row groups."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), n_files)):
        part = frame.iloc[rows]
        if format == "parquet":
            part.to_parquet(folder / f"part{number}.parquet", index=False, row_group_size=60)
        else:
            part.to_csv(folder / f"part{number}.csv", index=False)
    return folder


@pytest.fixture
def small_sizes(monkeypatch):
    """Let the door divide tables as small ones need it."""
    made = door.Request
    monkeypatch.setattr(door, "Request", lambda **choices: made(**choices, sizes=SMALL))


@pytest.fixture(scope="session")
def threads():
    """Return a client whose workers are threads of this process."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
