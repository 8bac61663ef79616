"""A wrong label that nobody planted
=================================

``storms.csv`` has three seasons of NOAA's Atlantic hurricane database, as R users know it from
``dplyr::storms``: 1875 observations, six hours apart, of what each storm was. Nothing was changed in it.

The table can be held against the definition: a tropical cyclone is a *depression* below 34 knots, a *storm*
below 64, and a *hurricane* from there on. LabelCut does not know that; it only sees which rows are unlike the
others of their name. Is the row that it finds the one that breaks the definition?

Run ``python examples/storms.py``, with a file name as argument for a picture.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import labelcut

TROPICAL = ("tropical depression", "tropical storm", "hurricane")


def read_storms() -> pd.DataFrame:
    """Read the table that lies beside this file."""
    return pd.read_csv(Path(sys.argv[0]).with_name("storms.csv"))


def by_definition(storms: pd.DataFrame) -> pd.Series:
    """Return what a tropical cyclone with such winds is called; other systems keep their name."""
    called = np.select([storms["wind"] < 34, storms["wind"] < 64], TROPICAL[:2], TROPICAL[2])
    return storms["status"].where(~storms["status"].isin(TROPICAL), called)


def main() -> None:
    """Audit the table and hold the suspects against the definition."""
    storms = read_storms()
    audit = labelcut.audit(storms, label="status", ignore=["name"])
    breaks = by_definition(storms) != storms["status"]
    print(f"{len(storms)} labels, {breaks.sum()} against the definition, {len(audit.issues)} suspected:")
    for issue in audit.issues.itertuples():
        row = storms.iloc[issue.row - 1]
        day = f"{row['year']}-{row['month']:02}-{row['day']:02} {row['hour']:02}:00"
        verdict = "against" if breaks.iloc[issue.row - 1] else "within"
        print(f"{row['name']}, {day}, {row['wind']} knots: {issue.given_label} -> {issue.predicted_label}")
        print(f"  {issue.p_wrong:.0%} likely wrong; {verdict} the definition. {issue.reason}")
    if len(sys.argv) > 1:
        draw(storms, audit.issues, sys.argv[1])


def draw(storms: pd.DataFrame, issues: pd.DataFrame, path: str) -> None:
    """Draw wind and pressure of the tropical cyclones, suspects circled."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for status, colour in zip(TROPICAL, ("#88ccee", "#4477aa", "#cc3311"), strict=True):
        some = storms[storms["status"] == status]
        axes.scatter(some["wind"], some["pressure"], s=6, color=colour, label=status, alpha=0.6)
    suspects = storms.iloc[issues["row"] - 1]
    axes.scatter(
        suspects["wind"], suspects["pressure"], s=140, facecolors="none", edgecolors="black", label="suspect"
    )
    for border in (34, 64):
        axes.axvline(border - 0.5, color="black", linewidth=0.7, linestyle=":")
    axes.set_xlabel("wind, knots (dotted: where the name changes)")
    axes.set_ylabel("pressure, hPa")
    axes.legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
