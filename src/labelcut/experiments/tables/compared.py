"""How the methods stand in each condition of a study, and ours against each rival; data sets are the unit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from labelcut.experiments.conditions import (
    OURS,
    SMALL_IS_GOOD,
    Cell,
    Conditions,
    place_of,
    wilcoxon,
)
from labelcut.experiments.lines import LEVEL
from labelcut.experiments.loading import title_of
from labelcut.experiments.methods import METHODS
from labelcut.experiments.render import SCORE_TITLES, Table, bold_best, p_text

SCORES = ("accuracy", "noise_f1", "average_precision", "log_loss")
Shown = Callable[[float], str]


def _factor(score: str) -> float:
    return 1.0 if score in SMALL_IS_GOOD else 100.0


def _digits(score: str) -> int:
    return 3 if score in SMALL_IS_GOOD else 1


def _signed(score: str) -> Shown:
    """How a difference of this score reads."""
    return lambda value: f"{_factor(score) * value:+.{_digits(score) + (score not in SMALL_IS_GOOD)}f}"


def means_table(found: Conditions, score: str, where: str, name: str) -> Table:
    """Mean of every method in every condition, over the tasks that all of them have done."""
    methods = found.methods()
    columns, sizes = {}, {}
    for condition in found.runs:
        means = found.means(condition, methods, score)
        if means is not None:
            columns[condition] = bold_best(_factor(score) * means, _digits(score), score in SMALL_IS_GOOD)
            sizes[condition] = len(found.by_data([condition], methods, score))
    rows = tuple(
        (METHODS[method].title, *(texts[place] for texts in columns.values()))
        for place, method in enumerate(methods)
        if columns
    )
    n_runs = found.n_runs(columns, methods, score)
    return Table(
        f"{SCORE_TITLES[score]}: {where}",
        ("Method", *columns),
        rows,
        (f"Mean of {_span(sizes.values())}; {n_runs} runs of each method, those that all have done.",),
        f"{name}-{score}",
    )


def _span(counts: Collection[int]) -> str:
    """Say how many tables: "10 tables", or "7-10 tables" where columns differ."""
    span = "-".join(str(count) for count in sorted({min(counts, default=0), max(counts, default=0)}))
    return f"{span} table{'' if span == '1' else 's'}"


def differences_table(found: Conditions, score: str, where: str, name: str) -> Table:
    """Give LabelCut minus each rival in each condition and over all, with Wilcoxon's p over the data sets."""
    rows = []
    shown = _signed(score)
    for rival in found.rivals():
        texts = []
        for conditions in (*([condition] for condition in found.runs), list(found.runs)):
            differences = found.differences(conditions, rival, score)
            p = wilcoxon(differences)
            told = "" if p is None else f" ({p_text(p)})"
            texts.append(f"{shown(float(np.mean(differences)))}{told}" if len(differences) else "-")
        n_runs = found.n_runs(found.runs, [OURS, rival], score)
        if n_runs:
            rows.append((METHODS[rival].title, *texts, str(n_runs)))
    good = "below" if score in SMALL_IS_GOOD else "above"
    return Table(
        f"{SCORE_TITLES[score]}: LabelCut minus each rival, {where}",
        ("Rival", *found.runs, "all", "Runs"),
        tuple(rows),
        (
            f"LabelCut is better where the number is {good} 0. In brackets the two-sided p of Wilcoxon's "
            "test with the tables as the unit, where at least five differ; - : no run of both.",
        ),
        f"{name}-differences-{score}",
    )


def behind_table(found: Conditions, where: str, name: str, *, by_data: bool = True) -> Table:
    """List where LabelCut is not the best, by how much and behind whom, the largest distance first.

    With ``by_data=False`` a line is a condition, all its tables together.
    """
    rows: list[tuple[float, tuple[str, ...]]] = []
    n_cells = 0
    for score in SCORES:
        for condition in found.runs:
            tables = sorted({cell[0] for cell in _all_cells(found, condition)}, key=place_of)
            for data in tables if by_data else [""]:
                means = _means_on(found, condition, score, data)
                if means is None:
                    continue
                n_cells += 1
                sign = -1.0 if score in SMALL_IS_GOOD else 1.0
                rival = max(found.rivals(), key=lambda method: sign * means.get(method, -sign * np.inf))
                behind = sign * (means[rival] - means[OURS])
                if behind > (LEVEL / 100):
                    rows.append((behind, _behind_row(score, condition, data, means, rival)))
    rows.sort(key=lambda row: (SCORES.index(_score_of(row[1][0])), -row[0]))
    return Table(
        f"Where LabelCut is not the best: {where}",
        ("Score", "Condition", "Tables", "LabelCut", "Best", "Its mean", "Behind by"),
        tuple(row for _, row in rows),
        (f"{len(rows)} of {n_cells} means; in the others it is the best, or level with it.",),
        f"{name}-behind",
    )


def _all_cells(found: Conditions, condition: str) -> set[Cell]:
    return {cell for runs in found.runs[condition].values() for cell in runs}


def _means_on(found: Conditions, condition: str, score: str, data: str) -> dict[str, float] | None:
    """Average every method over the tasks all have done (of one data set, if named); None without ours."""
    methods = found.methods()
    rows = found.by_data([condition], methods, score)
    chosen = [np.mean(rows[one], axis=0) for one in rows if data in ("", one)]
    if OURS not in methods or len(methods) < 2 or not chosen:
        return None
    return dict(zip(methods, np.mean(chosen, axis=0).tolist(), strict=True))


def _behind_row(
    score: str, condition: str, data: str, means: dict[str, float], rival: str
) -> tuple[str, ...]:
    factor, digits = _factor(score), _digits(score)
    return (
        SCORE_TITLES[score],
        condition,
        title_of(data) if data else "all",
        f"{factor * means[OURS]:.{digits}f}",
        METHODS[rival].title,
        f"{factor * means[rival]:.{digits}f}",
        f"{factor * abs(means[rival] - means[OURS]):.{digits}f}",
    )


def _score_of(title: str) -> str:
    return next(score for score, known in SCORE_TITLES.items() if known == title)


def best_rival_table(found: Conditions, where: str, name: str, scores: Sequence[str] = SCORES) -> Table:
    """Give LabelCut minus the best rival of each cell, the rival chosen on the other seeds.

    A rival chosen on the seeds it is measured on would profit from their chance; so it is chosen, for each
    seed, by its mean over the others.
    """
    rows: dict[str, list[str]] = {}
    counts = {}
    for score in scores:
        by_data = _against_chosen(found, score)
        counts[score] = sum(map(len, by_data.values()))
        shown = _signed(score)
        for data in sorted(by_data, key=place_of):
            rows.setdefault(title_of(data), []).append(shown(float(np.mean(by_data[data]))))
        if by_data:
            everything = [float(np.mean(values)) for values in by_data.values()]
            rows.setdefault("all", []).append(shown(float(np.mean(everything))))
    shown_scores = [score for score in scores if counts[score]]
    everywhere = rows.pop("all", None)
    if everywhere is not None:
        rows["**all**"] = everywhere
    return Table(
        f"LabelCut minus the best rival of each cell, that one chosen on the other seeds: {where}",
        ("Table", *(SCORE_TITLES[score] for score in shown_scores)),
        tuple((title, *texts) for title, texts in rows.items() if len(texts) == len(shown_scores)),
        (
            f"{max(counts.values(), default=0)} runs; needs two seeds of all methods. Below 0 LabelCut is "
            "behind (log-loss: above 0).",
        ),
        f"{name}-best-rival",
    )


def _against_chosen(found: Conditions, score: str) -> dict[str, list[float]]:
    """Give ours - chosen rival of every run, by data set."""
    methods = [OURS, *found.rivals()]
    sign = -1.0 if score in SMALL_IS_GOOD else 1.0
    by_data: dict[str, list[float]] = {}
    for condition in found.runs:
        columns = [found.values(condition, method, score) for method in methods]
        groups: dict[tuple[str, str, float], list[list[float]]] = {}
        for cell in found.shared(condition, methods, score):
            groups.setdefault(cell[:3], []).append([column[cell] for column in columns])
        for (data, _, _), rows in groups.items():
            together = np.array(rows)
            for seed in range(len(together)) if len(together) > 1 else ():
                others = np.delete(together, seed, axis=0)[:, 1:].mean(axis=0)
                chosen = 1 + int(np.argmax(sign * others))
                by_data.setdefault(data, []).append(float(together[seed, 0] - together[seed, chosen]))
    return by_data


def tables_table(found: Conditions, score: str, where: str, name: str) -> Table:
    """Give LabelCut minus each rival on each table over all its conditions, with Wilcoxon's p over these."""
    shown = _signed(score)
    data_sets = sorted(
        {cell[0] for condition in found.runs for cell in _all_cells(found, condition)}, key=place_of
    )
    rows = []
    rivals = [rival for rival in found.rivals() if found.n_runs(found.runs, [OURS, rival], score)]
    for data in data_sets if rivals else []:
        texts = []
        for rival in rivals:
            means = []
            for condition in found.runs:
                cells = found.by_data([condition], [OURS, rival], score).get(data)
                if cells:
                    means.append(float(np.mean(cells, axis=0) @ [1.0, -1.0]))
            p = wilcoxon(np.array(means))
            told = "" if p is None else f" ({p_text(p)})"
            texts.append(f"{shown(float(np.mean(means)))}{told}" if means else "-")
        rows.append((title_of(data), *texts))
    return Table(
        f"{SCORE_TITLES[score]}: LabelCut minus each rival on each table, {where}",
        ("Table", *(METHODS[rival].title for rival in rivals)),
        tuple(rows),
        (
            "In brackets the two-sided p of Wilcoxon's test over the conditions of the table; they share "
            "rows, so it is a lower bound.",
        ),
        f"{name}-tables-{score}",
    )
