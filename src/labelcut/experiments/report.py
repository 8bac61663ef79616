"""Result lines -> ``docs/results.md``: every table and figure with a plain reading, nothing left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from labelcut.experiments import figures, run, tables
from labelcut.experiments.data import title_of
from labelcut.experiments.methods import METHODS
from labelcut.experiments.run import Record
from labelcut.experiments.tables import Lines, Table

SCORES = ("accuracy", "balanced_accuracy", "noise_f1")
RANKED = ("accuracy", "noise_f1", "average_precision")
"""Scores for which the report lists where LabelCut is not the best."""
NOISES = ("20", "30")

CAPTIONS = {
    "improvement": "Accuracy improvement on the synthetic sets; dashed: zero, red: the mean.",
    "confidence": "Confidences of clean and of wrong labels.",
    "ranks": "Mean ranks; methods under a common bar are not told apart by Nemenyi's test at 5 %.",
    "reliability": "How often a row is positive against its stated probability.",
    "noise": "Accuracy against the noise rate.",
}


def read_all(results: Path) -> dict[str, list[Record]]:
    """Read the lines of every study of the package."""
    return {name: run.records_of(run.load_study(name), results) for name in run.study_names()}


def all_tables(by_study: dict[str, list[Record]]) -> dict[str, list[Table]]:
    """Build every table there are lines for, by study."""
    found: dict[str, list[Table]] = {}
    ten = Lines(by_study["accuracy"])
    if ten.methods():
        found["accuracy"] = [
            tables.reproduction_table(ten),
            tables.reproduction_table(ten, "noise_f1"),
            tables.overall_table(ten),
            *(tables.score_table(ten, score, noise) for score in tables.SCORE_TITLES for noise in NOISES),
            *(tables.losses(ten, score) for score in RANKED),
        ]
    found["real"] = []
    for share in (0.3, 0.2):
        five = Lines([record for record in by_study["real"] if record["seed"] < 5], share)
        if five.methods():
            found["real"] += [tables.score_table(five, score, noise) for score in SCORES for noise in NOISES]
            found["real"].append(tables.overall_table(five, _finished(five)))
            found["real"] += [tables.losses(five, score) for score in RANKED]
    if by_study["synthetic"]:
        found["synthetic"] = [tables.synthetic_table(by_study["synthetic"])]
    if by_study["confidence"]:
        found["confidence"] = [tables.confidence_table(Lines(by_study["confidence"]))]
    if by_study["time"]:
        found["time"] = [tables.time_table(Lines(by_study["time"]), noise) for noise in NOISES]
    if by_study["ablation"]:
        found["ablation"] = [tables.ablation_table(by_study["ablation"])]
    if by_study["noise"]:
        found["noise"] = [tables.noise_table(by_study["noise"], score) for score in ("accuracy", "noise_f1")]
    everything = [record for records in by_study.values() for record in records]
    if any("error" in record for record in everything):
        found["failures"] = [tables.failure_table(everything)]
    return {study: one for study, one in found.items() if one}


def _finished(lines: Lines) -> list[str]:
    """Methods that have a run of every real set that any method has."""
    cells = {(data, noise) for data in lines.data() for noise in NOISES}
    return [m for m in lines.methods() if all(lines.runs(m, data, noise) for data, noise in cells)]


def progress_table(by_study: dict[str, list[Record]]) -> Table:
    """Say how much of each study is finished, per method."""
    rows = []
    for name, records in by_study.items():
        planned: dict[str, int] = {}
        for one in run.load_study(name).runs:
            planned[one.method] = planned.get(one.method, 0) + 1
        for method in (m for m in METHODS if m in planned):
            mine = [record for record in records if record["method"] == method]
            failed = sum("error" in record for record in mine)
            rows.append((name, METHODS[method].title, str(len(mine)), str(planned[method]), str(failed)))
    head = ("Study", "Method", "Finished", "Planned", "Failed")
    return Table("Runs per study and method", head, tuple(rows), (), "progress")


def reading(lines: Lines) -> list[str]:
    """Say in sentences what the ten-seed study shows; every number comes from its lines."""
    said: list[str] = []
    cells = tables.reproductions(lines)
    if cells:
        missed = [cell for cell in cells if not cell.is_reproduced]
        text = (
            f'`preset="paper"` reproduces {len(cells) - len(missed)} of {len(cells)} finished accuracy cells'
        )
        above = sum(cell.ours >= cell.printed for cell in cells)
        text += f" ({above} of them at or above the printed value)."
        if missed:
            names = ", ".join(
                f"{title_of(c.data)} {c.noise} % ({c.ours:.1f} against {c.printed:.1f}, "
                f"allowed {c.printed - c.allowed:.1f})"
                for c in missed
            )
            text += f" Not reproduced: {names}."
        said.append(text)
    methods = [m for m in lines.methods() if m not in ("literal", "hnc")]
    shared = lines.on_shared_seeds(methods)
    for score in ("accuracy", "noise_f1", "average_precision"):
        complete = tables.complete_cells(shared, score, methods, NOISES)
        if not complete:
            continue
        means = np.array(
            [[shared.mean(score, m, *cell) for m in methods] for cell in complete], dtype=np.float64
        )
        gap = (means.max(axis=1)[:, None] - means).mean(axis=0)
        order = np.argsort(gap)
        text = (
            f"{tables.SCORE_TITLES[score]}: over {len(complete)} cells the smallest average gap from the "
            f"best has {METHODS[methods[order[0]]].title} ({gap[order[0]]:.2f} points), then "
            + ", ".join(f"{METHODS[methods[i]].title} ({gap[i]:.2f})" for i in order[1:4])
            + "."
        )
        if "default" in methods:
            ours = methods.index("default")
            ahead = [METHODS[methods[i]].title for i in order if gap[i] < gap[ours]]
            if ahead:
                text += f" Ahead of LabelCut on this measure: {', '.join(ahead)}."
            best = int((means[:, ours] >= means.max(axis=1) - 0.05).sum())
            text += (
                f" LabelCut is the best, or level with it to one digit, in {best} of {len(complete)} cells."
            )
        said.append(text)
    for rival in ("forest", "forest_layer", "cl"):
        if "default" not in methods or rival not in methods:
            continue
        parts = []
        for score in ("accuracy", "noise_f1", "average_precision"):
            cells_ = [(d, n) for d in shared.data() for n in NOISES]
            pairs = tables.paired(shared, score, "default", rival, cells_)
            if len(pairs) < 5:
                continue
            difference = pairs[:, 0] - pairs[:, 1]
            error = difference.std(ddof=1) / np.sqrt(len(difference))
            parts.append(f"{difference.mean():+.2f} (se {error:.2f}) in {tables.SCORE_TITLES[score].lower()}")
        if parts:
            said.append(
                f"LabelCut against {METHODS[rival].title}, {len(pairs)} paired runs: {', '.join(parts)}. "
                "Runs of one data set are not independent, so read the errors as lower bounds."
            )
    return said


def write_report(results: Path, page: Path) -> list[Path]:
    """Write the page, and its figures beside it in ``figures/``."""
    by_study = read_all(results)
    found = all_tables(by_study)
    drawn = figures.all_figures(by_study)
    folder = page.parent / "figures"
    paths = [path for name, figure in drawn.items() for path in figures.save(figure, folder, name, ("svg",))]
    lines = Lines(by_study["accuracy"])
    parts = [
        "# Results",
        "",
        "This page is generated by `labelcut experiment report` from the lines in `results/`; do not edit "
        "it. `docs/reproduce.md` says how the runs are made. Every method that was run is in every table; "
        "what was not run is listed first.",
        "",
        *_open_parts(by_study),
        "",
        "## What it shows",
        "",
        *(f"- {sentence}" for sentence in reading(lines)),
        "",
        *_remarks(results),
        *_chapter("Ten seeds, 30 % test rows", found.get("accuracy", [])),
        *_pictures(drawn, "ranks", "reliability"),
        *_chapter("Every rival, five seeds", found.get("real", [])),
        *_chapter("Synthetic sets", found.get("synthetic", [])),
        *_pictures(drawn, "improvement"),
        *_chapter("Confidences", found.get("confidence", [])),
        *_pictures(drawn, "confidence"),
        *_chapter("Noise rates", found.get("noise", [])),
        *_pictures(drawn, "noise"),
        *_chapter("What each choice is worth", found.get("ablation", [])),
        *_chapter("Time", found.get("time", [])),
        *_chapter("Failed runs", found.get("failures", [])),
        "## What has been run",
        "",
        progress_table(by_study).markdown(),
        tables.cost_table([record for records in by_study.values() for record in records]).markdown(),
        "## Misprints in the paper",
        "",
        *(f"- {text}" for text in tables.printed()["corrections"]),
        "",
    ]
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(parts), encoding="utf-8")
    return [page, *paths]


def _open_parts(by_study: dict[str, list[Record]]) -> list[str]:
    """Name every study with missing runs."""
    lines = []
    for name, records in by_study.items():
        study = run.load_study(name)
        if len(records) == len(study.runs):
            continue
        planned = {one.method for one in study.runs}
        absent = [m for m in METHODS if m in planned and not any(r["method"] == m for r in records)]
        text = f"- **{name}** is unfinished: {len(records)} of {len(study.runs)} runs."
        if absent and records:
            text += f" No run yet of: {', '.join(METHODS[m].title for m in absent)}."
        lines.append(text)
    return ["## What is open", "", *lines] if lines else ["Every study is finished."]


def _remarks(results: Path) -> list[str]:
    """Give the written remarks kept beside the lines, where numbers alone do not explain."""
    path = results / "remarks.md"
    return [path.read_text(encoding="utf-8").rstrip(), ""] if path.exists() else []


def _chapter(title: str, found: list[Table]) -> list[str]:
    return [f"## {title}", "", *([table.markdown() for table in found] or ["None so far.", ""])]


def _pictures(drawn: dict[str, object], *kinds: str) -> list[str]:
    text = []
    for name in drawn:
        kind = name.split("-")[0]
        if kind in kinds:
            text += [f"![{CAPTIONS[kind]}](figures/{name}.svg)", ""]
    return text
