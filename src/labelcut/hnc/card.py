"""An explanation as a card for notebooks: HTML that stands by itself, every value escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from labelcut.hnc.labels import plain

__all__ = ["render_card"]

MOST_NEIGHBORS = 10
LONGEST_TEXT = 80  # Letters of a label.
_FRAME = (
    "border:1px solid #8886;border-radius:8px;padding:12px 16px;max-width:44em;"
    "overflow-wrap:anywhere;font-family:sans-serif"
)
_CELL = "text-align:left;padding:2px 14px 2px 0"


def render_card(why: Any) -> str:
    """Return the card of an `Explanation`: verdict, neighbours and, folded away, what each side costs."""
    given = why.status if why.given_label is None else f"given <b>{_text(why.given_label)}</b>"
    parts = [
        f'<div style="font-size:1.1em">Row {_text(why.row)}: {given}, predicted '
        f"<b>{_text(why.predicted_label)}</b></div>"
    ]
    if why.given_label is not None:
        parts.append(
            f"<div>The label is wrong with a probability of <b>{why.p_wrong:.0%}</b>; "
            f"confidence in it {why.label_confidence:.2f} (1 is certain).</div>"
        )
    shown = range(min(MOST_NEIGHBORS, len(why.neighbors)))
    more = (
        f", the first {MOST_NEIGHBORS} of {len(why.neighbors)}" if len(why.neighbors) > MOST_NEIGHBORS else ""
    )
    lines = [
        (why.neighbors[n], f"{why.weights[n]:.2f}", why.neighbor_labels[n], why.neighbor_predictions[n])
        for n in shown
    ]
    parts.append(
        f'<div style="margin-top:8px">Nearest rows{more}:</div>'
        f"{_table(('row', 'likeness', 'given', 'predicted'), lines)}"
    )
    sides = [_costs(f"being {why.class_in_question}", why.keep)]
    sides.append(_costs(f"not being {why.class_in_question}", why.flip))
    names = ("", "in all", "neighbours", "label", "prior", "trade-off")
    parts.append(f"<details><summary>What each side costs</summary>{_table(names, sides)}</details>")
    return f'<div style="{_FRAME}">{"".join(parts)}</div>'


def _costs(name: str, side: Any) -> tuple[str, ...]:
    costs = (side.total, side.neighbors, side.label, side.prior, side.tradeoff)
    return (name, *(f"{cost:.3f}" for cost in costs))


def _table(names: Iterable[str], lines: Iterable[Iterable[Any]]) -> str:
    head = "".join(f'<th style="{_CELL}">{escape(name)}</th>' for name in names)
    rows = ("".join(f'<td style="{_CELL}">{_text(cell)}</td>' for cell in line) for line in lines)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<table style="border-collapse:collapse;margin:4px 0"><tr>{head}</tr>{body}</table>'


def _text(value: Any) -> str:
    """Return a value as text that cannot be taken for HTML; a dash where there is no label."""
    text = "–" if value is None else str(plain(value))
    return escape(text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…")
