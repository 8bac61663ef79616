"""A table in parts
================

A table that does not fit into memory usually lies in many files, here one for each of four months. LabelCut
reads them in parts: two processes on this machine judge the rows where they lie, and only the graph of
likeness is gathered, to be cut in one place. This table is small, so that the example takes seconds; nothing
in it changes for a million rows, for ``s3://bucket/*.parquet``, or with ``cluster=`` a Dask client.

In March somebody new gave the labels, and a quarter of them is wrong, elsewhere one in twenty. Nobody tells
LabelCut; the shares of the months do.

Run ``python examples/table_in_parts.py``, with a file name as argument for a picture. It needs
``pip install 'labelcut[cluster]'``.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

import labelcut

#: The months, and the share of wrong labels in each.
MONTHS = {"January": 0.05, "February": 0.05, "March": 0.25, "April": 0.05}


def write_parts(folder: Path, n_rows: int = 6000, seed: int = 0) -> np.ndarray:
    """Write a file for each month, and return which labels are wrong, in the order of the rows."""
    X, truth = make_classification(n_rows, 8, n_informative=6, class_sep=1.5, flip_y=0, random_state=seed)
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(8)])
    table["month"] = np.repeat(list(MONTHS), n_rows // len(MONTHS))
    is_wrong = rng.random(n_rows) < table["month"].map(MONTHS)
    table["churned"] = np.where((truth == 1) ^ is_wrong, "yes", "no")
    for number, (_, part) in enumerate(table.groupby("month", sort=False), start=1):
        part.to_parquet(folder / f"{number:02d}.parquet", index=False)
    return is_wrong.to_numpy()


def main() -> None:
    """Audit the files, say what was found in which month, and save it."""
    with TemporaryDirectory() as home:
        folder = Path(home, "customers")
        folder.mkdir()
        is_wrong = write_parts(folder)
        audit = labelcut.audit(folder, label="churned", group="month", workers=2)
        headline = audit.facts["headline"]
        print(headline["number"] + headline["title"], *headline["lines"], sep="\n")
        # A part at a time: this is how to go through a table that memory does not hold.
        flagged = np.concatenate([frame["labelcut_is_label_issue"] for frame in audit.frames()])
        print(f"{is_wrong[flagged].sum()} of these {flagged.sum()} labels are really wrong")
        shares = {group["name"]: group["share"] for group in audit.summary["groups"]}
        for month, wrong in MONTHS.items():
            print(f"{month:8}  {shares[month]:.0%} of the labels wrong, really {wrong:.0%}")
        # report.html to review the suspects, and every row with our columns, a file for each that was read.
        print("saved:", *(file.name for file in audit.save(Path(home, "review"))))
    if len(sys.argv) > 1:
        draw(shares, sys.argv[1])


def draw(shares: dict[str, float], file: str) -> None:
    """Save the expected share of wrong labels in each month, beside the true one."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
    places = np.arange(len(MONTHS))[::-1]
    axis.barh(places, [shares[month] for month in MONTHS], color="#9db8ea", height=0.55, label="expected")
    axis.plot(list(MONTHS.values()), places, "D", color="tab:orange", label="really")
    axis.set_yticks(places, list(MONTHS))
    axis.set_xlim(0, 0.3)
    axis.set_xlabel("share of wrong labels")
    axis.legend(frameon=False, loc="lower right")
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=100)


# The workers are processes that import this file: without this line each would start workers of its own.
if __name__ == "__main__":
    main()
