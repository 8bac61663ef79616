"""The studies in the order in which they are read: what each asks, its tables, its reading, its figures.

A study of its own page is one entry here: ``docs/results/<study>.md`` is made from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from labelcut.experiments.lines import NOISES, Lines
from labelcut.experiments.printed import reproduction_table
from labelcut.experiments.reading import read_ten_seeds
from labelcut.experiments.render import SCORE_TITLES, Table
from labelcut.experiments.result_lines import Record
from labelcut.experiments.tables.ablation import ablation_table, read_ablation
from labelcut.experiments.tables.annotators import annotator_tables, read_annotators
from labelcut.experiments.tables.fresh import few_tables, fresh_tables, kinds_tables, no_signal_tables
from labelcut.experiments.tables.noise import confidence_table, noise_table, read_confidence
from labelcut.experiments.tables.readings import read_readings, readings_table
from labelcut.experiments.tables.real_errors import read_real_errors, real_error_tables
from labelcut.experiments.tables.scores import losses_table, overall_table, score_table
from labelcut.experiments.tables.seconds import read_time, time_table
from labelcut.experiments.tables.synthetic import read_synthetic, synthetic_tables
from labelcut.experiments.tables.told import (
    read_by_table_kind,
    read_few,
    read_fresh,
    read_no_signal,
    read_noise,
)

PRINTED_SCORES = ("accuracy", "balanced_accuracy", "noise_f1")
RANKED = ("accuracy", "noise_f1", "average_precision")
"""Scores for which a chapter lists where LabelCut is not the best."""


@dataclass(frozen=True)
class Chapter:
    """A study as people read it."""

    study: str
    title: str
    asks: str
    """What is asked, on what and against whom, in a sentence or two."""
    tables: Callable[[list[Record]], list[Table]]
    reading: Callable[[list[Record]], list[str]]
    """What the lines show, the most important sentence first; the list of results has that one."""
    figures: tuple[str, ...] = ()
    """How the names of its figures begin."""


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


def _finished(lines: Lines) -> list[str]:
    """Methods that have a run of every real set that any method has."""
    cells = {(data, noise) for data in lines.data() for noise in NOISES}
    return [m for m in lines.methods() if all(lines.runs(m, data, noise) for data, noise in cells)]


def _some(table: Table) -> list[Table]:
    return [table] if table.rows else []


CHAPTERS: Sequence[Chapter] = (
    Chapter(
        "fresh",
        "Fresh seeds, from clean to 40 % wrong labels",
        "How good is LabelCut on seeds that no choice was made on, when none, few or many labels are "
        "wrong? The paper's "
        "ten tables (Adult cut to 16 000 rows), 30 % of the rows unlabeled, against forests, boosting and "
        "cleanlab "
        "with two models.",
        fresh_tables,
        read_fresh,
    ),
    Chapter(
        "kinds",
        "Kinds of noise",
        "Mistakes are seldom uniform. Labels wrong near the border, by a weak annotator, in one bad group, "
        "in one "
        "class only; tables of two classes, with one class made rare, and of many classes.",
        kinds_tables,
        read_by_table_kind,
    ),
    Chapter(
        "no-signal",
        "Without signal, and with every label right",
        "What is flagged where nothing can be known or nothing is wrong? Tables of pure noise, shuffled "
        "labels, "
        "and classes that overlap although every label is right.",
        no_signal_tables,
        read_no_signal,
    ),
    Chapter(
        "few",
        "Few labels",
        "How well are rows classified of which only 1 to 20 % are labeled, with right labels and with 20 % "
        "wrong ones? "
        "Against forests, boosting, label spreading and self-training.",
        few_tables,
        read_few,
    ),
    Chapter(
        "annotators",
        "Several annotators",
        "What is gained from knowing who gave which label? Simulated crowds of 20 on three tables, and "
        "three people "
        "who labeled the same pictures; against majority, Dawid-Skene and CROWDLAB.",
        annotator_tables,
        read_annotators,
    ),
    Chapter(
        "real-errors",
        "Wrong labels by people",
        "Labels that people got wrong, on hard pictures above all, judged by two networks' out-of-sample "
        "probabilities alone: 15 000 pictures of ten classes, against cleanlab's scores and filters, Datalab "
        "and plain contradiction.",
        real_error_tables,
        read_real_errors,
    ),
    Chapter(
        "accuracy",
        "Ten seeds, and the paper reproduced",
        'Does `preset="paper"` reproduce the printed numbers, and what does the default add? The ten '
        "tables with 20 "
        "and 30 % wrong labels, ten seeds.",
        _ten_seed_tables,
        read_ten_seeds,
    ),
    Chapter(
        "real",
        "Every rival, five seeds",
        "The paper's own comparison with all twenty methods, deep ones too, with 30 % test rows (as its "
        "tables were "
        "made) and with 20 % (as its text says).",
        _five_seed_tables,
        read_ten_seeds,
        ("ranks", "reliability"),
    ),
    Chapter(
        "synthetic",
        "Synthetic sets",
        "The paper's grid of 540 configurations: its own method against CL and, on 54 of them, DivideMix and "
        "Co-teaching+, beside the printed improvements and shares of wins.",
        synthetic_tables,
        read_synthetic,
        ("improvement",),
    ),
    Chapter(
        "readings",
        "Readings of the paper's text",
        "Where the printed accuracies are not reached, does another reading of the text reach them? One "
        "place of the text "
        "changed at a time, on seeds that were not looked at before.",
        lambda records: _some(readings_table(records)),
        read_readings,
    ),
    Chapter(
        "ablation",
        "What each choice is worth",
        "One choice of the method changed at a time, on five small tables, and of the default on eight.",
        lambda records: _some(ablation_table(records)),
        read_ablation,
    ),
    Chapter(
        "noise",
        "Noise rates",
        "How do the methods fall as labels get worse, up to 45 % wrong, and when only one class is "
        "mislabeled? Five "
        "small tables, three seeds.",
        lambda records: [noise_table(records, score) for score in ("accuracy", "noise_f1")],
        read_noise,
        ("noise",),
    ),
    Chapter(
        "confidence",
        "Confidences",
        "How well do the paper's confidences tell wrong labels from right ones?",
        lambda records: _some(confidence_table(Lines(records))),
        read_confidence,
        ("confidence",),
    ),
    Chapter(
        "time",
        "Time",
        "Seconds per run of the paper's methods, one thread each, beside the printed ones.",
        lambda records: [time_table(Lines(records), noise) for noise in NOISES],
        read_time,
    ),
)
