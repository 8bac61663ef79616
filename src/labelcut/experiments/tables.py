"""Result lines -> tables: markdown, LaTeX or CSV. Nothing is computed here but means and tests."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from textwrap import shorten
from typing import Any

import numpy as np
import numpy.typing as npt

from labelcut.experiments.data import REAL, Synthetic, title_of
from labelcut.experiments.methods import METHODS
from labelcut.experiments.run import Record, noise_word

SCORE_TITLES = {
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "noise_f1": "Noise F1",
    "average_precision": "Average precision of the ranking",
    "log_loss": "Log-loss on clean test labels",
}
PRINTED_SEEDS = 5
"""Runs behind each printed mean."""


@lru_cache(maxsize=1)
def printed() -> dict[str, Any]:
    """Read the paper's numbers, misprints corrected and listed."""
    text = (resources.files("labelcut.experiments") / "printed.json").read_text(encoding="utf-8")
    facts: dict[str, Any] = json.loads(text)
    return facts


@dataclass(frozen=True)
class Table:
    """A title, a head, rows of text, and remarks below."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...] = ()
    name: str = ""
    """File name without ending."""

    def markdown(self) -> str:
        """Give the table for a markdown page."""
        lines = [f"**{self.title}**", "", _piped(self.head), _piped(["---"] * len(self.head))]
        lines += [_piped(row) for row in self.rows]
        lines += ["", *(f"{remark}  " for remark in self.remarks)]
        return "\n".join(lines).rstrip() + "\n"

    def latex(self) -> str:
        """Give the table for a LaTeX file with booktabs."""
        body = [" & ".join(map(_tex, row)) + r" \\" for row in self.rows]
        return "\n".join(
            [
                r"\begin{table}",
                rf"\caption{{{_tex(self.title)}}}",
                rf"\begin{{tabular}}{{l{'r' * (len(self.head) - 1)}}}",
                r"\toprule",
                " & ".join(map(_tex, self.head)) + r" \\",
                r"\midrule",
                *body,
                r"\bottomrule",
                r"\end{tabular}",
                *(rf"\par {_tex(remark)}" for remark in self.remarks),
                r"\end{table}",
                "",
            ]
        )

    def csv(self) -> str:
        """Give head and rows as CSV, without marks."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(self.head)
        writer.writerows([cell.replace("**", "") for cell in row] for row in self.rows)
        return buffer.getvalue()


def _piped(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _tex(text: str) -> str:
    parts = text.split("**")
    for sign in ("&", "%", "_", "#"):
        parts = [part.replace(sign, "\\" + sign) for part in parts]
    return "".join(rf"\textbf{{{part}}}" if i % 2 else part for i, part in enumerate(parts))


@dataclass(frozen=True)
class Lines:
    """The finished runs of a study at one test share, looked up by method, data set and noise level."""

    records: Sequence[Record]
    test_share: float = 0.3
    _by_cell: dict[tuple[str, str, str], dict[int, Record]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Sort the records into cells."""
        for record in self.records:
            if record["test_share"] == self.test_share and not record["settings"] and "scores" in record:
                cell = record["method"], record["data"], noise_word(record["noise"])
                self._by_cell.setdefault(cell, {})[record["seed"]] = record

    def runs(self, method: str, data: str, noise: str) -> dict[int, Record]:
        """Give the cell's runs by seed."""
        return self._by_cell.get((method, data, noise), {})

    def values(self, score: str, method: str, data: str, noise: str) -> dict[int, float]:
        """Give one score by seed, in percent unless it is a log-loss or a time."""
        factor = 1.0 if score in ("log_loss", "brier") else 100.0
        found = {seed: record["scores"].get(score) for seed, record in self.runs(method, data, noise).items()}
        return {seed: factor * value for seed, value in sorted(found.items()) if value is not None}

    def mean(self, score: str, method: str, data: str, noise: str) -> float | None:
        """Give the cell's mean, or None."""
        values = self.values(score, method, data, noise)
        return float(np.mean(list(values.values()))) if values else None

    def on_shared_seeds(self, methods: Sequence[str]) -> Lines:
        """Keep in each cell only the seeds that all of these methods have finished."""
        kept = []
        for (method, data, noise), runs in self._by_cell.items():
            shared = set.intersection(*(set(self.runs(other, data, noise)) for other in methods))
            kept += [run for seed, run in runs.items() if method in methods and seed in shared]
        return Lines(kept, self.test_share)

    def methods(self) -> list[str]:
        """List the methods that have a line, in the order of `METHODS`."""
        present = {method for method, _, _ in self._by_cell}
        return [name for name in METHODS if name in present]

    def data(self) -> list[str]:
        """List the real data sets that have a line, in the paper's order."""
        present = {data for _, data, _ in self._by_cell}
        return [name for name in REAL if name in present]

    def noises(self) -> list[str]:
        """List the equal-sided noise levels that have a line."""
        return sorted({noise for _, _, noise in self._by_cell if "+" not in noise}, key=float)


def paired(
    lines: Lines, score: str, one: str, two: str, cells: Iterable[tuple[str, str]]
) -> npt.NDArray[np.float64]:
    """Stack the scores of both methods on the runs (data set, noise, seed) that both have finished."""
    pairs = []
    for data, noise in cells:
        first, second = lines.values(score, one, data, noise), lines.values(score, two, data, noise)
        pairs += [(first[seed], second[seed]) for seed in first if seed in second]
    return np.array(pairs, dtype=np.float64).reshape(-1, 2)


def p_values(pairs: npt.NDArray[np.float64]) -> tuple[float | None, float | None]:
    """Wilcoxon and paired t-test that the first method is better, one-sided as in the paper."""
    from scipy import stats

    if len(pairs) < 5 or np.ptp(pairs[:, 0] - pairs[:, 1]) == 0:
        return None, None
    first, second = pairs.T
    wilcoxon = stats.wilcoxon(first, second, alternative="greater").pvalue
    return float(wilcoxon), float(stats.ttest_rel(first, second, alternative="greater").pvalue)


def gaps(
    lines: Lines, score: str, methods: Sequence[str], cells: Iterable[tuple[str, str]]
) -> dict[str, list[float]]:
    """Give each method's distance from the best mean, relative and in percent as the paper has it."""
    found: dict[str, list[float]] = {method: [] for method in methods}
    for data, noise in cells:
        means = {method: lines.mean(score, method, data, noise) for method in methods}
        known = [mean for mean in means.values() if mean is not None]
        for method, mean in means.items():
            if mean is not None and max(known) > 0:
                found[method].append(100 * (mean / max(known) - 1))
    return found


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
        rows.append((f"Gap from best, %{title}", *(_mean_text(found[m], len(cells)) for m in methods)))
        for ours in ("paper", "default"):
            if ours not in methods:
                continue
            tests = {m: p_values(paired(lines, score, ours, m, cells)) for m in methods if m != ours}
            for kind, position in (("Wilcoxon", 0), ("paired t", 1)):
                texts = ("" if m == ours else _p_text(tests[m][position]) for m in methods)
                rows.append((f"p {METHODS[ours].title} better, {kind}{title}", *texts))
    return rows


def _mean_text(values: Sequence[float], n_expected: int) -> str:
    if not values:
        return "-"
    return f"{np.mean(values):.2f}" + ("" if len(values) == n_expected else f" (of {len(values)} sets)")


def _p_text(p: float | None) -> str:
    if p is None:
        return "-"
    return f"{p:.0e}" if p < 0.001 else f"{p:.3f}"


def complete_cells(
    lines: Lines, score: str, methods: Sequence[str], noises: Sequence[str]
) -> list[tuple[str, str]]:
    """List the cells (data set, noise) in which every method has a value."""
    return [
        (data, noise)
        for data in lines.data()
        for noise in noises
        if all(lines.values(score, method, data, noise) for method in methods)
    ]


def overall_table(
    lines: Lines, methods: Sequence[str] | None = None, noises: Sequence[str] = ("20", "30")
) -> Table:
    """Mean, average and worst gap in points over all cells that every method has finished."""
    methods = list(methods or lines.methods())
    lines = lines.on_shared_seeds(methods) if methods else lines
    rows = []
    counted = {"accuracy": 0}
    for score, title in SCORE_TITLES.items():
        cells = complete_cells(lines, score, methods, noises)
        counted[score] = len(cells)
        if not cells:
            continue
        means = np.array([[lines.mean(score, m, *cell) for m in methods] for cell in cells], dtype=np.float64)
        digits = 3 if score == "log_loss" else 1
        better = means.min(axis=1) if score == "log_loss" else means.max(axis=1)
        gap = np.abs(means - better[:, None])
        rows.append((f"{title}: mean", *_bold_best(means.mean(axis=0), digits, score == "log_loss")))
        rows.append(("- average gap from the best", *_bold_best(gap.mean(axis=0), digits + 1, True)))
        rows.append(("- worst gap", *_bold_best(gap.max(axis=0), digits, True)))
    remarks = (
        f"Over the {counted['accuracy']} cells (data set, noise level) that every method here has finished; "
        "gaps in points of the best mean of the methods shown.",
    )
    head = ("Over all cells", *(METHODS[method].title for method in methods))
    name = f"overall-{round(100 * lines.test_share)}"
    return Table(f"All cells together, {lines.test_share:.0%} test rows", head, tuple(rows), remarks, name)


def _bold_best(values: npt.NDArray[np.float64], digits: int, small_is_good: bool) -> list[str]:
    best = round(float(values.min() if small_is_good else values.max()), digits)
    texts = [f"{value:.{digits}f}" for value in values]
    return [f"**{t}**" if round(float(v), digits) == best else t for t, v in zip(texts, values, strict=True)]


@dataclass(frozen=True)
class Reproduction:
    """One printed cell beside ours."""

    data: str
    noise: str
    printed: float
    ours: float
    allowed: float
    """Twice the combined standard error."""
    n_seeds: int

    @property
    def is_reproduced(self) -> bool:
        """Above the printed value, or below it by at most twice the combined standard error."""
        return self.ours >= self.printed - self.allowed


def reproductions(lines: Lines, score: str = "accuracy", method: str = "paper") -> list[Reproduction]:
    """Hold every finished cell of the method against the printed CHNC."""
    found = []
    for noise, table in printed()["real"][score].items():
        for data, cells in table["cells"].items():
            values = list(lines.values(score, method, data, noise).values())
            mean, bracket = cells["paper"]
            if len(values) < 2 or bracket is None:
                continue
            errors = bracket / np.sqrt(PRINTED_SEEDS), np.std(values, ddof=1) / np.sqrt(len(values))
            found.append(
                Reproduction(
                    data, noise, mean, float(np.mean(values)), 2 * float(np.hypot(*errors)), len(values)
                )
            )
    return found


def reproduction_table(lines: Lines, score: str = "accuracy", method: str = "paper") -> Table:
    """Say of every printed CHNC cell whether ours reproduces it."""
    found = reproductions(lines, score, method)
    rows = tuple(
        (
            title_of(cell.data),
            cell.noise,
            f"{cell.printed:.2f}",
            f"{cell.ours:.2f}",
            f"{cell.ours - cell.printed:+.2f}",
            f"{cell.allowed:.2f}",
            str(cell.n_seeds),
            "yes" if cell.is_reproduced else "**no**",
        )
        for cell in sorted(found, key=lambda cell: (list(REAL).index(cell.data), cell.noise))
    )
    yes = sum(cell.is_reproduced for cell in found)
    return Table(
        f"{SCORE_TITLES[score]}: {METHODS[method].title} against the printed CHNC",
        ("Data", "Noise %", "Printed", "Ours", "Difference", "Allowed below", "Seeds", "Reproduced"),
        rows,
        (
            f"{yes} of {len(found)} finished cells reproduced (20 exist). Allowed below: twice the combined "
            "standard error, printed bracket / sqrt(5) and our standard deviation / sqrt(seeds).",
        ),
        f"reproduced-{score}-{method}",
    )


def synthetic_table(records: Sequence[Record]) -> Table:
    """Average accuracy improvement over each rival, and the share of synthetic sets won."""
    lines = Lines([record for record in records if record["data"] not in REAL])
    found = {(data, noise) for _, data, noise in lines._by_cell}
    rows = []
    for noise in lines.noises():
        for ours in ("paper", "default"):
            for rival in lines.methods():
                pairs = paired(
                    lines, "accuracy", ours, rival, [cell for cell in sorted(found) if cell[1] == noise]
                )
                if rival == ours or not len(pairs):
                    continue
                better = 100 * (pairs[:, 0] / pairs[:, 1] - 1)
                facts = printed()["synthetic"].get(noise, {}) if ours == "paper" else {}
                rows.append(
                    (
                        noise,
                        METHODS[ours].title,
                        METHODS[rival].title,
                        str(len(pairs)),
                        _beside(f"{better.mean():+.2f}", facts.get("improvement", {}).get(rival)),
                        _beside(f"{100 * np.mean(better > 0):.1f}", facts.get("wins", {}).get(rival)),
                        f"{100 * np.mean(better == 0):.1f}",
                        *(_p_text(p) for p in p_values(pairs)),
                    )
                )
    return Table(
        "Synthetic sets: accuracy improvement over each rival",
        ("Noise %", "Ours", "Rival", "Sets", "Improvement %", "Won %", "Tied %", "p Wilcoxon", "p paired t"),
        tuple(rows),
        ("In brackets the printed value of CHNC over 2160 sets.",),
        "synthetic",
    )


def _beside(text: str, fact: float | None) -> str:
    return text if fact is None else f"{text} [{fact:g}]"


def time_table(lines: Lines, noise: str) -> Table:
    """Mean seconds per run beside the printed ones."""
    methods = lines.methods()
    facts = printed()["seconds"].get(noise, {})
    rows = []
    for data in lines.data():
        row = [title_of(data)]
        for method in methods:
            seconds = [r["seconds"]["total"] for r in lines.runs(method, data, noise).values()]
            text = f"{np.mean(seconds):.2f}" if seconds else "-"
            row.append(_beside(text, facts.get(data, {}).get(method)))
        rows.append(tuple(row))
    remarks = (
        "Wall seconds of fit, predictions and flags, one thread each. In brackets the printed seconds, from "
        f"other machines ({printed()['hardware']}): compare columns, not machines.",
    )
    head = ("Data", *(METHODS[method].title for method in methods))
    return Table(f"Computation time in seconds, {noise} % noise", head, tuple(rows), remarks, f"time-{noise}")


def cost_table(records: Sequence[Record]) -> Table:
    """Mean seconds per run, by method and size of the data."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for record in records:
        if "scores" in record and not record["settings"]:
            seconds.setdefault((record["method"], _size_title(record["data"])), []).append(
                record["seconds"]["total"]
            )
    sizes = [title for title in _SIZE_TITLES if any(size == title for _, size in seconds)]
    rows = tuple(
        (
            METHODS[method].title,
            *(f"{np.mean(seconds[method, s]):.1f}" if (method, s) in seconds else "-" for s in sizes),
        )
        for method in METHODS
        if any(name == method for name, _ in seconds)
    )
    remarks = (
        "One thread, on a machine that was busy with other work, so two or three times what an idle one "
        "needs. A forest that several methods share is counted for each of them.",
    )
    return Table("Mean seconds per run", ("Method", *sizes), rows, remarks, "cost")


def _size_title(data: str) -> str:
    return title_of(data) if data in REAL else f"synthetic {Synthetic.from_name(data).n_rows}"


_SIZE_TITLES = [*(f"synthetic {n}" for n in (1000, 5000, 10000)), *(source.title for source in REAL.values())]


def ablation_table(records: Sequence[Record]) -> Table:
    """Mean over the study's data sets and noise levels of every variant, and its distance from its preset."""
    groups: dict[tuple[str, str], dict[str, Record]] = {}
    for record in records:
        if "scores" in record:
            cell = json.dumps([record["data"], record["noise"], record["seed"]])
            groups.setdefault((record["method"], _settings_text(record)), {})[cell] = record
    rows = []
    for (method, variant), cells in sorted(groups.items(), key=lambda item: (item[0][0], item[0][1])):
        base = groups.get((method, ""), {})
        shared = [cell for cell in cells if cell in base]
        row = [METHODS[method].title, variant or "as it is", str(len(shared))]
        for score in ("accuracy", "noise_f1", "average_precision"):
            ours = np.array([cells[cell]["scores"][score] for cell in shared], dtype=np.float64) * 100
            usual = np.array([base[cell]["scores"][score] for cell in shared], dtype=np.float64) * 100
            if not len(shared):
                row.append("-")
            elif not variant:
                row.append(f"{ours.mean():.2f}")
            else:
                difference = ours - usual
                error = np.std(difference, ddof=1) / np.sqrt(len(shared)) if len(shared) > 1 else 0.0
                row.append(f"{ours.mean():.2f} ({difference.mean():+.2f} +- {error:.2f})")
        rows.append(tuple(row))
    return Table(
        "What each choice is worth",
        ("Method", "Changed", "Runs", "Accuracy", "Noise F1", "Average precision"),
        tuple(rows),
        ("In brackets the paired difference from the preset as it is, with its standard error.",),
        "ablation",
    )


def _settings_text(record: Record) -> str:
    shown = {name: value for name, value in record["settings"].items() if name != "share_forest"}
    return ", ".join(f"{name}={value}" for name, value in sorted(shown.items()))


def noise_table(records: Sequence[Record], score: str = "accuracy") -> Table:
    """Mean over the data sets against the noise rate, for the methods that have finished all of them."""
    lines = Lines(records)
    levels = sorted(
        {noise for _, _, noise in lines._by_cell}, key=lambda word: [float(p) for p in word.split("+")]
    )
    rows = []
    for method in lines.methods():
        row = [METHODS[method].title]
        for noise in levels:
            means = [lines.mean(score, method, data, noise) for data in lines.data()]
            known = [mean for mean in means if mean is not None]
            row.append(f"{np.mean(known):.1f}" if known and len(known) == len(means) else "-")
        rows.append(tuple(row))
    return Table(
        f"{SCORE_TITLES[score]} against the noise rate, mean of {len(lines.data())} small sets",
        ("Method", *(f"{noise} %" for noise in levels)),
        tuple(rows),
        ("0+30 %: only truly positive rows have wrong labels; 30+0 %: only truly negative ones.",),
        f"noise-{score}",
    )


def confidence_table(lines: Lines, noise: str = "30") -> Table:
    """How well confidences tell wrong labels from clean ones: AUC, and their means per class."""
    rows = []
    for data in lines.data():
        for method in lines.methods():
            runs = lines.runs(method, data, noise).values()
            counts = [run["histograms"]["confidence"] for run in runs if "confidence" in run["histograms"]]
            auc = lines.mean("confidence_auc", method, data, noise)
            if not counts or auc is None:
                continue
            together = np.sum(counts, axis=0)  # negative clean and wrong, positive clean and wrong
            middles = (np.arange(together.shape[1]) + 0.5) / together.shape[1]
            means = together @ middles / np.maximum(together.sum(axis=1), 1)
            pairs = (f"{clean:.2f} / {wrong:.2f}" for clean, wrong in (means[2:], means[:2]))
            rows.append((title_of(data), METHODS[method].title, f"{auc:.1f}", *pairs))
    return Table(
        f"Confidences of clean and of wrong labels, {noise} % noise",
        ("Data", "Method", "AUC", "Labeled positive: clean / wrong", "Labeled negative: clean / wrong"),
        tuple(rows),
        ("AUC in percent: how often a wrong label has less confidence than a clean one.",),
        "confidence",
    )


def failure_table(records: Sequence[Record]) -> Table:
    """List every run that ended with an error, each error on one line."""
    rows = tuple(
        (
            METHODS[r["method"]].title,
            title_of(r["data"]),
            noise_word(r["noise"]),
            str(r["seed"]),
            shorten(r["error"], 160),
        )
        for r in records
        if "error" in r
    )
    return Table("Failed runs", ("Method", "Data", "Noise %", "Seed", "Error"), rows, (), "failures")


def losses(lines: Lines, score: str, ours: str = "default", noises: Sequence[str] = ("20", "30")) -> Table:
    """List the cells in which our method is not the best, by how much and behind whom."""
    rows = []
    total = 0
    for data in lines.data():
        for noise in noises:
            means = {m: lines.mean(score, m, data, noise) for m in lines.methods()}
            known = {method: mean for method, mean in means.items() if mean is not None}
            if ours not in known:
                continue
            total += 1
            best = max(known, key=known.__getitem__)
            if known[best] - known[ours] > 0.05:
                ahead = sum(mean > known[ours] + 0.05 for mean in known.values())
                rows.append(
                    (
                        title_of(data),
                        noise,
                        f"{known[ours]:.1f}",
                        METHODS[best].title,
                        f"{known[best]:.1f}",
                        f"{known[best] - known[ours]:.1f}",
                        f"{ahead} of {len(known) - 1}",
                    )
                )
    return Table(
        f"{SCORE_TITLES[score]}: cells in which {METHODS[ours].title} is not the best, "
        f"{lines.test_share:.0%} test rows",
        ("Data", "Noise %", METHODS[ours].title, "Best", "Its mean", "Behind by", "Methods ahead"),
        tuple(rows),
        (f"{len(rows)} of {total} cells; in the others it is the best to one digit.",),
        f"losses-{score}-{ours}-{round(100 * lines.test_share)}",
    )


FORMATS: dict[str, tuple[str, Callable[[Table], str]]] = {
    "markdown": ("md", Table.markdown),
    "latex": ("tex", Table.latex),
    "csv": ("csv", Table.csv),
}
