"""Tables of text, as markdown, LaTeX or CSV, and how numbers read in their cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

SCORE_TITLES = {
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "noise_f1": "Noise F1",
    "average_precision": "Average precision of the ranking",
    "log_loss": "Log-loss on clean test labels",
}


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


FORMATS: dict[str, tuple[str, Callable[[Table], str]]] = {
    "markdown": ("md", Table.markdown),
    "latex": ("tex", Table.latex),
    "csv": ("csv", Table.csv),
}


def mean_text(values: Sequence[float], n_expected: int) -> str:
    """Give the mean, and how many sets are behind it where some are missing."""
    if not values:
        return "-"
    return f"{np.mean(values):.2f}" + ("" if len(values) == n_expected else f" (of {len(values)} sets)")


def p_text(p: float | None) -> str:
    """Give a p-value, small ones by their power of ten."""
    if p is None:
        return "-"
    return f"{p:.0e}" if p < 0.001 else f"{p:.3f}"


def beside_printed(text: str, fact: float | None) -> str:
    """Put the printed value, where there is one, in brackets behind ours."""
    return text if fact is None else f"{text} [{fact:g}]"


def bold_best(values: npt.NDArray[np.float64], digits: int, small_is_good: bool) -> list[str]:
    """Give the numbers with the best in bold, and with it all that read the same."""
    best = round(float(values.min() if small_is_good else values.max()), digits)
    texts = [f"{value:.{digits}f}" for value in values]
    return [f"**{t}**" if round(float(v), digits) == best else t for t, v in zip(texts, values, strict=True)]
