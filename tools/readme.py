"""Write the parts of the README that come from a computation: the story of a real table and the result table.

``make readme`` after a change of the method or of the result lines; a test says when it is due.
"""

import re
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd

import labelcut
from labelcut.experiments.report import all_tables
from labelcut.experiments.run import load_study, records_of
from labelcut.experiments.tables.headline import losses

REPOSITORY = Path(__file__).parents[1]
README = REPOSITORY / "README.md"
MOST_SUSPECTS = 4
SHOWN = ("none", "5 %", "20 %", "40 %", "30 % of one class")
"""Noise levels of the result table; docs/results.md has all of them."""
UNBROKEN = "\u00a0"  # a blank at which no line ends
SLASH = f"{UNBROKEN}/{UNBROKEN}"
MADE_WITH = ("numpy", "scikit-learn", "skrub")
"""Packages whose versions may change how sure an answer is."""


def versions() -> str:
    """Say what the parts were made with."""
    return ", ".join(f"{name} {version(name)}" for name in MADE_WITH)


def story() -> str:
    """Return the suspects of the storms as a table."""
    storms = pd.read_csv(REPOSITORY / "examples" / "storms.csv")
    issues = labelcut.audit(storms, label="status", ignore=["name"]).issues
    lines = [
        f"{len(issues)} of {len(storms)} labels look{'s' if len(issues) == 1 else ''} wrong:",
        "",
        "| storm | wind | label | should be | likely wrong | why |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for issue in issues.head(MOST_SUSPECTS).itertuples():
        row = storms.iloc[issue.row - 1]
        when = f"{row['year']}-{row['month']:02}-{row['day']:02} {row['hour']:02}:00"
        cells = (
            f"{row['name']}, {when}",
            f"{row['wind']}{UNBROKEN}knots",
            issue.given_label,
            issue.predicted_label,
            f"{issue.p_wrong:.0%}".replace("%", " %"),
            issue.reason.split(";")[0].rstrip("."),
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def results() -> str:
    """Return accuracy and ranking on fresh seeds in one table, and where it is lost."""
    records = records_of(load_study("fresh"), REPOSITORY / "results")
    accuracy, ranking = all_tables({"fresh": records})["headline"]
    ranked = {row[0]: dict(zip(ranking.head, row, strict=True)) for row in ranking.rows}
    lines = [f"| wrong labels | {' | '.join(SHOWN)} |", "| --- |" + " --- |" * len(SHOWN)]
    for row in accuracy.rows:
        scores = dict(zip(accuracy.head, row, strict=True)), ranked[row[0]]
        cells = (SLASH.join(by[level] for by in scores if level in by) for level in SHOWN)
        lines.append(f"| {row[0]} | {' | '.join(cells)} |")
    counted = accuracy.remarks[0].partition(";")[0]
    told = "CL is CleanLearning; of log-loss, less is better"
    return "\n".join([*lines, "", f"{counted}. Where it loses ({told}): {losses(records)}"])


MAKERS = {"story": story, "results": results}


def block(text: str, name: str) -> str:
    """Return what stands between the marks of a part."""
    return _pattern(name).search(text)[2].strip()


def rewrite(text: str) -> str:
    """Return the README with every part made again."""
    for name, make in MAKERS.items():
        made = make()
        mark = f"<!-- {name}: made by `make readme` with {versions()} -->"
        text = _pattern(name).sub(lambda found, made=made, mark=mark: f"{mark}\n\n{made}\n\n{found[3]}", text)
    return text


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {name}: [^>]*-->)(.*?)(<!-- end of {name} -->)", flags=re.DOTALL)


if __name__ == "__main__":
    README.write_text(rewrite(README.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{README.name} is made again\n")
