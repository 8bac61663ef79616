"""Result lines -> ``docs/results.md``: every table and figure with a plain reading, nothing left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from labelcut.experiments import figures, run
from labelcut.experiments.lines import NOISES, Lines
from labelcut.experiments.methods import METHODS
from labelcut.experiments.printed import printed, reproduction_table
from labelcut.experiments.reading import reading
from labelcut.experiments.render import SCORE_TITLES, Table
from labelcut.experiments.result_lines import Record
from labelcut.experiments.tables.ablation import ablation_table
from labelcut.experiments.tables.annotators import annotator_tables
from labelcut.experiments.tables.fresh import FRESH_STUDIES
from labelcut.experiments.tables.noise import confidence_table, noise_table
from labelcut.experiments.tables.runs import failure_table, progress_table
from labelcut.experiments.tables.scores import losses_table, overall_table, score_table
from labelcut.experiments.tables.seconds import cost_table, time_table
from labelcut.experiments.tables.synthetic import synthetic_table

PRINTED_SCORES = ("accuracy", "balanced_accuracy", "noise_f1")
RANKED = ("accuracy", "noise_f1", "average_precision")
"""Scores for which the report lists where LabelCut is not the best."""

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
    builders: dict[str, Callable[[list[Record]], list[Table]]] = {
        "accuracy": _ten_seed_tables,
        "real": _five_seed_tables,
        "synthetic": lambda records: [synthetic_table(records)],
        "confidence": lambda records: [confidence_table(Lines(records))],
        "time": lambda records: [time_table(Lines(records), noise) for noise in NOISES],
        "ablation": lambda records: [ablation_table(records)],
        "noise": lambda records: [noise_table(records, score) for score in ("accuracy", "noise_f1")],
        "annotators": annotator_tables,
        **FRESH_STUDIES,
    }
    found = {study: build(by_study[study]) for study, build in builders.items() if by_study[study]}
    everything = _all_records(by_study)
    if any("error" in record for record in everything):
        found["failures"] = [failure_table(everything)]
    return {study: tables for study, tables in found.items() if tables}


def _ten_seed_tables(records: list[Record]) -> list[Table]:
    lines = Lines(records)
    if not lines.methods():
        return []
    return [
        reproduction_table(lines),
        reproduction_table(lines, "noise_f1"),
        overall_table(lines),
        *(score_table(lines, score, noise) for score in SCORE_TITLES for noise in NOISES),
        *(losses_table(lines, score) for score in RANKED),
    ]


def _five_seed_tables(records: list[Record]) -> list[Table]:
    found: list[Table] = []
    for share in (0.3, 0.2):
        lines = Lines([record for record in records if record["seed"] < 5], share)
        if lines.methods():
            found += [score_table(lines, score, noise) for score in PRINTED_SCORES for noise in NOISES]
            found.append(overall_table(lines, _finished(lines)))
            found += [losses_table(lines, score) for score in RANKED]
    return found


def _all_records(by_study: dict[str, list[Record]]) -> list[Record]:
    return [record for records in by_study.values() for record in records]


def _finished(lines: Lines) -> list[str]:
    """Methods that have a run of every real set that any method has."""
    cells = {(data, noise) for data in lines.data() for noise in NOISES}
    return [m for m in lines.methods() if all(lines.runs(m, data, noise) for data, noise in cells)]


def write_report(results: Path, page: Path) -> list[Path]:
    """Write the page, and its figures beside it in ``figures/``."""
    by_study = read_all(results)
    drawn = figures.all_figures(by_study)
    folder = page.parent / "figures"
    paths = [path for name, figure in drawn.items() for path in figures.save(figure, folder, name, ("svg",))]
    parts = [*_opening(by_study), *_remarks(results), *_chapters(by_study, drawn), *_closing(by_study)]
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(parts), encoding="utf-8")
    return [page, *paths]


def _opening(by_study: dict[str, list[Record]]) -> list[str]:
    return [
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
        *(f"- {text}" for text in reading(Lines(by_study["accuracy"]))),
        "",
    ]


def _chapters(by_study: dict[str, list[Record]], drawn: dict[str, Any]) -> list[str]:
    found = all_tables(by_study)
    return [
        *_chapter("Ten seeds, 30 % test rows", found.get("accuracy", [])),
        *_pictures(drawn, "ranks", "reliability"),
        *_chapter("Every rival, five seeds", found.get("real", [])),
        *_chapter("Fresh seeds, from clean to 40 % wrong labels", found.get("fresh", [])),
        *_chapter("Kinds of noise", found.get("kinds", [])),
        *_chapter("Few labels", found.get("few", [])),
        *_chapter("Without signal, and with every label right", found.get("no-signal", [])),
        *_chapter("Several annotators", found.get("annotators", [])),
        *_chapter("Synthetic sets", found.get("synthetic", [])),
        *_pictures(drawn, "improvement"),
        *_chapter("Confidences", found.get("confidence", [])),
        *_pictures(drawn, "confidence"),
        *_chapter("Noise rates", found.get("noise", [])),
        *_pictures(drawn, "noise"),
        *_chapter("What each choice is worth", found.get("ablation", [])),
        *_chapter("Time", found.get("time", [])),
        *_chapter("Failed runs", found.get("failures", [])),
    ]


def _closing(by_study: dict[str, list[Record]]) -> list[str]:
    return [
        "## What has been run",
        "",
        progress_table(by_study).markdown(),
        cost_table(_all_records(by_study)).markdown(),
        "## Misprints in the paper",
        "",
        *(f"- {text}" for text in printed()["corrections"]),
        "",
    ]


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


def _pictures(drawn: dict[str, Any], *kinds: str) -> list[str]:
    text = []
    for name in drawn:
        kind = name.split("-")[0]
        if kind in kinds:
            text += [f"![{CAPTIONS[kind]}](figures/{name}.svg)", ""]
    return text
