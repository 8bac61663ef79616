"""Small tables for the tests of the tool, and runs of the command in this process."""

import numpy as np
import pandas as pd

from labelcut.cli import main

N_ROWS = 160
N_WRONG = 8


def shop(n_rows=N_ROWS, n_wrong=N_WRONG, seed=0):
    """Customers of two clear kinds, some labels wrong; returns the frame and the right labels."""
    rng = np.random.default_rng(seed)
    stays = rng.permutation(np.arange(n_rows) % 2 == 0)
    frame = pd.DataFrame(
        {
            "customer": [f"C{i:04d}" for i in range(n_rows)],
            "visits": np.round(rng.normal(np.where(stays, 12, 3), 2), 2),
            "spent": np.round(rng.gamma(np.where(stays, 9, 2), 10), 1),
            "plan": np.where(rng.random(n_rows) < np.where(stays, 0.9, 0.2), "gold", "basic"),
            "since": pd.to_datetime("2021-01-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), unit="D"),
            "clerk": rng.choice(["ann", "bob"], n_rows),
        }
    )
    frame.loc[rng.choice(n_rows, 10, replace=False), "spent"] = np.nan
    right = np.where(stays, "no", "yes").astype(object)
    given = right.copy()
    wrong = rng.choice(n_rows, n_wrong, replace=False)
    given[wrong] = np.where(right[wrong] == "no", "yes", "no")
    given[rng.choice(np.setdiff1d(np.arange(n_rows), wrong), 10, replace=False)] = None
    return frame.assign(churned=given), right


def write_shop(path, **options):
    """Write the customers as csv; returns the frame and the right labels."""
    frame, right = shop(**options)
    frame.to_csv(path, index=False)
    return frame, right


def run(*args):
    """Run the command; returns its exit code."""
    try:
        main([str(arg) for arg in args])
    except SystemExit as stop:
        return stop.code
    return 0


AUDIT = ("--label", "churned", "--id", "customer", "--group", "clerk", "--n-jobs", 1)
