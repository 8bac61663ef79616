"""What the studies with conditions show, in sentences; every number from their lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from labelcut.experiments.conditions import (
    OURS,
    SMALL_IS_GOOD,
    TABLE_KINDS,
    Conditions,
    by_kind,
    by_labeled_share,
    by_noise,
    by_table,
    kind_of,
    table_kind_of,
)
from labelcut.experiments.lines import LEVEL
from labelcut.experiments.methods import METHODS
from labelcut.experiments.render import SCORE_TITLES
from labelcut.experiments.result_lines import Record

TOLD = ("accuracy", "average_precision", "noise_f1", "log_loss")
NOISE_FREE = ("none", "no noise")


@dataclass(frozen=True)
class Told:
    """The means of the methods in one condition, by one score."""

    condition: str
    score: str
    means: dict[str, float]
    """In percent, but for a log-loss; ours and every rival that has the same runs."""

    @property
    def _sign(self) -> float:
        return -1.0 if self.score in SMALL_IS_GOOD else 1.0

    @property
    def rival(self) -> str:
        """The best of the others."""
        return max((m for m in self.means if m != OURS), key=lambda m: self._sign * self.means[m])

    @property
    def behind(self) -> float:
        """By how much the best rival is ahead of ours; below 0 where ours is ahead."""
        return self._sign * (self.means[self.rival] - self.means[OURS])

    def text(self, method: str) -> str:
        """Give the mean of a method as it reads."""
        return f"{self.means[method]:.{3 if self.score in SMALL_IS_GOOD else 1}f}"

    def against(self) -> str:
        """Give ours against the best rival."""
        return f"{self.text(OURS)} against {self.text(self.rival)} ({METHODS[self.rival].title})"


def told_of(found: Conditions, score: str) -> list[Told]:
    """Give the means of every condition in which ours and a rival have runs in common."""
    told = []
    for condition, by_method in found.runs.items():
        methods = [m for m in METHODS if m in by_method and found.values(condition, m, score)]
        if OURS not in methods or len(methods) < 2:
            continue
        means = found.means(condition, methods, score)
        if means is not None:
            factor = 1.0 if score in SMALL_IS_GOOD else 100.0
            values = (factor * means).tolist()
            told.append(Told(condition, score, dict(zip(methods, values, strict=True))))
    return told


def is_level(one: Told) -> bool:
    """Whether ours is the best, or so close that both may read the same."""
    return one.behind <= (LEVEL / 100 if one.score in SMALL_IS_GOOD else LEVEL)


def tell_score(found: Conditions, score: str, places: str) -> str:
    """Say in how many conditions ours is the best, its average, and where it is furthest behind."""
    told = told_of(found, score)
    if not told:
        return ""
    best = sum(map(is_level, told))
    everywhere = average(told)
    text = (
        f"{SCORE_TITLES[score]}: LabelCut is the best of {len(told[0].means)} methods, or level with it, in "
        f"{best} of {len(told)} {places}"
    )
    text += f"; on average {everywhere.against()}." if len(everywhere.means) > 1 else "."
    return " ".join(filter(None, (text, tell_losses(told))))


def average(told: Sequence[Told]) -> Told:
    """Average the methods that have every condition over all of them."""
    shared = [m for m in told[0].means if all(m in one.means for one in told)]
    means = {m: float(np.mean([one.means[m] for one in told])) for m in shared}
    return Told("on average", told[0].score, means)


def tell_losses(told: Sequence[Told], most: int = 3) -> str:
    """Name the conditions in which ours is furthest behind."""
    lost = sorted((one for one in told if not is_level(one)), key=lambda one: -one.behind)
    if not lost:
        return ""
    named = "; ".join(f"{one.condition}, {one.against()}" for one in lost[:most])
    left = f"; and {len(lost) - most} more" if len(lost) > most else ""
    return f"Behind: {named}{left}."


def _told(records: Sequence[Record], sort: Callable[..., tuple[object, str]], places: str) -> list[str]:
    found = Conditions.of(records, sort)
    return [text for score in TOLD if (text := tell_score(found, score, places))]


def read_fresh(records: Sequence[Record]) -> list[str]:
    """Say how LabelCut stands at every noise level."""
    return _told(records, by_noise, "noise levels")


def read_few(records: Sequence[Record]) -> list[str]:
    """Say how LabelCut stands by share of labeled rows."""
    return _told(records, by_labeled_share, "shares of labels")


def read_by_table_kind(records: Sequence[Record]) -> list[str]:
    """Say how LabelCut stands by kind of noise, for tables of two classes, rare ones and many."""
    found = []
    for kind in TABLE_KINDS:
        mine = [r for r in records if table_kind_of(r) == kind and kind_of(r) not in NOISE_FREE]
        told = _told(mine, by_kind, "kinds of noise")
        found += [f"*{kind.capitalize()}.* {text}" for text in told]
    return found


def read_no_signal(records: Sequence[Record]) -> list[str]:
    """Say what is flagged where nothing can be known, and how planted errors are found."""
    done = [r for r in records if r["method"] == OURS and "scores" in r and not r["settings"]]
    clean = [r for r in done if sum(r["noise"]) == 0]
    blind = [r["scores"] for r in clean if not r["data"].startswith("logistic")]
    overlap = [r["scores"] for r in clean if r["data"].startswith("logistic")]
    told = []
    if blind:
        denied = sum(one["says_evidence"] == 0 for one in blind)
        told.append(
            f"Columns that know nothing: LabelCut says so in {denied} of {len(blind)} runs, {_alarms(blind)}."
        )
    if overlap:
        told.append(f"Every label right, classes that overlap: {_alarms(overlap)}.")
    planted = Conditions.of((r for r in records if sum(r["noise"]) > 0), by_table)
    return told + [text for score in TOLD if (text := tell_score(planted, score, "planted cases"))]


def _alarms(scores: Sequence[Record]) -> str:
    expected = 100 * float(np.mean([one["expected_share"] for one in scores]))
    flagged = 100 * max(one["worst_class_flagged"] for one in scores)
    return f"expects {expected:.1f} % of the labels to be wrong and flags at most {flagged:.1f} % of a class"


def averages_behind(records: Sequence[Record], sort: Callable[..., tuple[object, str]]) -> list[Told]:
    """Give the scores by which a rival is ahead of ours on average over the conditions."""
    found = Conditions.of(records, sort)
    everywhere = [average(told) for score in TOLD if (told := told_of(found, score))]
    return [one for one in everywhere if len(one.means) > 1 and not is_level(one)]


def tell_averages_behind(by_study: Mapping[str, Sequence[Record]]) -> list[str]:
    """Say of each study with conditions by which scores a rival is ahead on average."""
    kinds = {
        f"Kinds of noise, {kind}": (
            [r for r in by_study.get("kinds", []) if table_kind_of(r) == kind],
            by_kind,
        )
        for kind in TABLE_KINDS
    }
    planted = [r for r in by_study.get("no-signal", []) if sum(r["noise"]) > 0]
    studies: dict[str, tuple[Sequence[Record], Callable[..., tuple[object, str]]]] = {
        "Fresh seeds": (by_study.get("fresh", []), by_noise),
        **kinds,
        "Errors planted where classes overlap": (planted, by_table),
        "Few labels": (by_study.get("few", []), by_labeled_share),
        "Noise rates up to 45 %": (by_study.get("noise", []), by_noise),
    }
    told = []
    for title, (records, sort) in studies.items():
        behind = averages_behind(records, sort)
        if behind:
            texts = "; ".join(f"{SCORE_TITLES[one.score].lower()} {one.against()}" for one in behind)
            told.append(f"{title}: {texts}.")
    return told


def read_noise(records: Sequence[Record]) -> list[str]:
    """Say how LabelCut stands as labels get worse."""
    return _told(records, by_noise, "noise rates")
