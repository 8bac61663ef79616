"""Every method on every data set, all cells together, and the cells in which ours is not the best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labelcut.experiments.lines import (
    LEVEL,
    NOISES,
    Lines,
    complete_cells,
    gaps,
    p_values,
    paired,
    stack_means,
)
from labelcut.experiments.loading import title_of
from labelcut.experiments.methods import METHODS
from labelcut.experiments.printed import printed
from labelcut.experiments.render import SCORE_TITLES, Table, bold_best, mean_text, p_text


def score_table(lines: Lines, score: str, noise: str, methods: Sequence[str] | None = None) -> Table:
    """Mean and deviation of every method on every set, beside the printed value where there is one."""
    methods = list(methods or lines.methods())
    facts = printed()["real"].get(score, {}).get(noise, {})
    rows = []
    marks = 0
    for data in lines.data():
        means = {method: lines.mean(score, method, data, noise) for method in methods}
        best = max((round(mean, 1) for mean in means.values() if mean is not None), default=None)
        row = [f"{title_of(data)}, {_seed_count(lines, score, methods, data, noise)}"]
        for method in methods:
            fact = facts.get("cells", {}).get(data, {}).get(method) if lines.test_share == 0.3 else None
            text, marked = _cell(lines.values(score, method, data, noise), best, fact)
            marks += marked
            row.append(text)
        rows.append(tuple(row))
    rows += _summary_rows(lines, score, noise, methods)
    remarks = ["Mean (standard deviation) over the seeds, in percent; the best in bold; - : not run."]
    if facts and lines.test_share == 0.3:
        remarks.append(
            "In brackets the printed value; ! marks a mean more than two printed brackets away from it "
            f"({marks} cells)."
        )
    head = ("Data", *(METHODS[method].title for method in methods))
    title = f"{SCORE_TITLES[score]}, {noise} % noise, {lines.test_share:.0%} test rows"
    return Table(title, head, tuple(rows), tuple(remarks), f"{score}-{noise}-{round(100 * lines.test_share)}")


def _seed_count(lines: Lines, score: str, methods: Sequence[str], data: str, noise: str) -> str:
    """Say how many seeds are behind a row: "10 seeds", or "2-10 seeds" where methods differ."""
    counts = {len(lines.values(score, method, data, noise)) for method in methods} - {0}
    span = "-".join(str(count) for count in sorted({min(counts, default=0), max(counts, default=0)}))
    return f"{span} seed{'' if span == '1' else 's'}"


def _cell(values: dict[int, float], best: float | None, fact: list[float | None] | None) -> tuple[str, bool]:
    if not values:
        return ("-" if fact is None else f"- [{fact[0]:.1f}]"), False
    numbers = list(values.values())
    mean, deviation = float(np.mean(numbers)), float(np.std(numbers, ddof=1)) if len(numbers) > 1 else 0.0
    text = f"{mean:.1f}" if best is None or round(mean, 1) < best else f"**{mean:.1f}**"
    text += f" ({deviation:.1f})"
    if fact is None or fact[0] is None:
        return text, False
    is_off = fact[1] is not None and abs(mean - fact[0]) > 2 * fact[1]
    return f"{text} [{fact[0]:.1f}]{'!' if is_off else ''}", is_off


def _summary_rows(lines: Lines, score: str, noise: str, methods: Sequence[str]) -> list[tuple[str, ...]]:
    """Average gap from the best, and one-sided p-values of both of our presets against each method."""
    rows = []
    for title, names in (("", lines.data()), (", no Letter", [d for d in lines.data() if d != "letter"])):
        cells = [(data, noise) for data in names]
        found = gaps(lines, score, methods, cells)
        rows.append((f"Gap from best, %{title}", *(mean_text(found[m], len(cells)) for m in methods)))
        for ours in ("paper", "default"):
            if ours not in methods:
                continue
            tests = {m: p_values(paired(lines, score, ours, m, cells)) for m in methods if m != ours}
            for kind, position in (("Wilcoxon", 0), ("paired t", 1)):
                texts = ("" if m == ours else p_text(tests[m][position]) for m in methods)
                rows.append((f"p {METHODS[ours].title} better, {kind}{title}", *texts))
    return rows


def overall_table(
    lines: Lines, methods: Sequence[str] | None = None, noises: Sequence[str] = NOISES
) -> Table:
    """Mean, average and worst gap in points over all cells that every method has finished."""
    methods = list(methods or lines.methods())
    lines = lines.on_shared_seeds(methods)
    rows = []
    counted = {"accuracy": 0}
    for score, title in SCORE_TITLES.items():
        cells = complete_cells(lines, score, methods, noises)
        counted[score] = len(cells)
        if not cells:
            continue
        means = stack_means(lines, score, methods, cells)
        digits = 3 if score == "log_loss" else 1
        better = means.min(axis=1) if score == "log_loss" else means.max(axis=1)
        gap = np.abs(means - better[:, None])
        rows.append((f"{title}: mean", *bold_best(means.mean(axis=0), digits, score == "log_loss")))
        rows.append(("- average gap from the best", *bold_best(gap.mean(axis=0), digits + 1, True)))
        rows.append(("- worst gap", *bold_best(gap.max(axis=0), digits, True)))
    remarks = (
        f"Over the {counted['accuracy']} cells (data set, noise level) that every method here has finished; "
        "gaps in points of the best mean of the methods shown.",
    )
    head = ("Over all cells", *(METHODS[method].title for method in methods))
    name = f"overall-{round(100 * lines.test_share)}"
    return Table(f"All cells together, {lines.test_share:.0%} test rows", head, tuple(rows), remarks, name)


def losses_table(lines: Lines, score: str, ours: str = "default", noises: Sequence[str] = NOISES) -> Table:
    """List the cells in which our method is not the best, by how much and behind whom."""
    cells = [(data, noise) for data in lines.data() for noise in noises]
    finished = [cell for cell in cells if lines.mean(score, ours, *cell) is not None]
    rows = tuple(row for cell in finished if (row := _loss(lines, score, ours, *cell)) is not None)
    return Table(
        f"{SCORE_TITLES[score]}: cells in which {METHODS[ours].title} is not the best, "
        f"{lines.test_share:.0%} test rows",
        ("Data", "Noise %", METHODS[ours].title, "Best", "Its mean", "Behind by", "Methods ahead"),
        rows,
        (f"{len(rows)} of {len(finished)} cells; in the others it is the best to one digit.",),
        f"losses-{score}-{ours}-{round(100 * lines.test_share)}",
    )


def _loss(lines: Lines, score: str, ours: str, data: str, noise: str) -> tuple[str, ...] | None:
    """Give one cell's row: who is the best and how many are ahead; None where ours is the best."""
    means = {method: lines.mean(score, method, data, noise) for method in lines.methods()}
    known = {method: mean for method, mean in means.items() if mean is not None}
    best = max(known, key=known.__getitem__)
    if known[best] - known[ours] <= LEVEL:
        return None
    ahead = sum(mean > known[ours] + LEVEL for mean in known.values())
    return (
        title_of(data),
        noise,
        f"{known[ours]:.1f}",
        METHODS[best].title,
        f"{known[best]:.1f}",
        f"{known[best] - known[ours]:.1f}",
        f"{ahead} of {len(known) - 1}",
    )
