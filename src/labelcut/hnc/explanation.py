"""Why a row was put on its side: its neighbours, its label, and what each side would cost."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelcut.graph import SimilarityGraph
from labelcut.hnc.answer import Answer
from labelcut.hnc.card import render_card
from labelcut.hnc.class_cut import ClassCut, cut_of_class
from labelcut.hnc.labels import UNLABELED, plain, with_gaps
from labelcut.hnc.panel import Panel

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Explanation", "Side", "explain_row"]


@dataclass(frozen=True)
class Side:
    """What it costs to put one row on a side of the cut, all other rows staying where they are.

    Attributes
    ----------
    neighbors : float
        Similarity to neighbours on the opposite side, which would be cut.
    label : float
        The price of contradicting the given label; 0 on its own side or without a label.
    prior : float
        The price of contradicting the forest.
    tradeoff : float
        The trade-off's price of this side; only unlabeled rows pay it.
    """

    neighbors: float
    label: float
    prior: float
    tradeoff: float

    @property
    def total(self) -> float:
        """All prices added up; the cheaper side wins if nothing else moves."""
        return self.neighbors + self.label + self.prior + self.tradeoff

    @property
    def without_label(self) -> float:
        """What the side would cost if the row had no label of its own."""
        return self.neighbors + self.prior + self.tradeoff


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a row got its class. ``print`` shows it as text, a notebook as a card.

    Attributes
    ----------
    row : int
        The row number in the table given to ``fit``.
    given_label, predicted_label : object
        None as the given label of an unlabeled row.
    class_in_question : object
        The class whose cut is explained: the given label, or the prediction for an unlabeled row.
    keep, flip : Side
        The cost of being on the side of that class, and of being on the other side.
    label_confidence : float
        Confidence in the given label, NaN without one.
    p_wrong : float
        Probability that the given label is wrong, NaN without one.
    joins_at : float
        The trade-off above which the row is on the side of the positive class, with everything free to move.
    tradeoff : float
        The trade-off in use.
    flips_at_trust : float
        The ``sample_weight`` below which the label would be contradicted if only this row could move,
        whatever weight it has now; 0 if it never would, inf if its confidence is 0, NaN without a label.
    neighbors : ndarray of int
        Row numbers of the neighbours, most similar first.
    weights : ndarray of float
        Their similarity.
    neighbor_labels, neighbor_predictions : ndarray
        Their given labels (None for unlabeled rows) and their predicted ones.
    opinions : dict of str to float
        The probability of the class in question by each expert, none of whom saw the row's own label; empty
        where the cut decides alone.
    status : str
        As in ``status_``.
    """

    row: int
    status: str
    given_label: Any
    predicted_label: Any
    class_in_question: Any
    keep: Side
    flip: Side
    label_confidence: float
    p_wrong: float
    joins_at: float
    tradeoff: float
    flips_at_trust: float
    neighbors: NDArray[np.intp]
    weights: NDArray[np.float64]
    neighbor_labels: NDArray[Any]
    neighbor_predictions: NDArray[Any]
    opinions: dict[str, float]

    def to_frame(self) -> pd.DataFrame:
        """Return the neighbours as a data frame, most similar first."""
        import pandas as pd

        return pd.DataFrame(
            {
                "row": self.neighbors,
                "weight": self.weights,
                "given_label": self.neighbor_labels,
                "predicted_label": self.neighbor_predictions,
            }
        )

    def _repr_html_(self) -> str:
        """Show the reasons as a card in a notebook."""
        return render_card(self)

    def __str__(self) -> str:
        """Tell the reasons in a few lines."""
        has_label = self.given_label is not None
        lines = [
            f"row {self.row}: {f'given {self.given_label!r}' if has_label else self.status}, "
            f"predicted {self.predicted_label!r}"
        ]
        if has_label:
            lines.append(
                f"  confidence in the label {self.label_confidence:.2f}, "
                f"probability that it is wrong {self.p_wrong:.2f}"
            )
        if self.opinions:
            said = ", ".join(f"{name} {p:.2f}" for name, p in self.opinions.items())
            lines.append(f"  probability of {self.class_in_question!r} without its own label: {said}")
        for name, side in (("being", self.keep), ("not being", self.flip)):
            lines.append(
                f"  {name} {self.class_in_question!r} costs {side.total:.3f}: "
                f"neighbours {side.neighbors:.3f}, label {side.label:.3f}, "
                f"prior {side.prior:.3f}, trade-off {side.tradeoff:.3f}"
            )
        for j, weight, given, predicted in zip(
            self.neighbors, self.weights, self.neighbor_labels, self.neighbor_predictions, strict=True
        ):
            lines.append(
                f"  neighbour {j}: weight {weight:.3f}, given {plain(given)!r}, "
                f"predicted {plain(predicted)!r}"
            )
        return "\n".join(lines)


def explain_row(answer: Answer, row: int) -> Explanation:
    """Tell why a row of the fitted table got its class."""
    n_rows = answer.rows.place.size
    row = operator.index(row)
    if not 0 <= row < n_rows:
        raise IndexError(f"row {row} is not in the table; its {n_rows} rows are numbered from 0.")
    i = int(answer.rows.place[row])
    found, graph, classes = answer.found, answer.graph, answer.rows.classes
    code, predicted = int(answer.rows.codes[i]), int(found.predicted[i])
    asked = predicted if code == UNLABELED else code
    cut, is_mirrored = cut_of_class(answer.verdict.cuts, asked)
    positive, negative, trust = _weigh_sides(graph, cut, i)
    near = slice(graph.weights.indptr[i], graph.weights.indptr[i + 1])
    node, weight = graph.weights.indices[near], graph.weights.data[near]
    by_weight = np.lexsort((node, -weight))
    node, weight = node[by_weight], weight[by_weight]
    return Explanation(
        row=row,
        status=str(answer.status[row]),
        given_label=None if code == UNLABELED else plain(classes[code]),
        predicted_label=plain(classes[predicted]),
        class_in_question=plain(classes[asked]),
        keep=negative if is_mirrored else positive,
        flip=positive if is_mirrored else negative,
        label_confidence=float(found.confidence[i]),
        p_wrong=float(found.p_wrong[i]),
        joins_at=float(cut.join_at[i]),
        tradeoff=cut.choice.tradeoff,
        flips_at_trust=trust,
        neighbors=answer.rows.order[node],
        weights=weight,
        neighbor_labels=with_gaps(classes, answer.rows.codes[node]),
        neighbor_predictions=classes[found.predicted[node]],
        opinions=_opinions(answer.verdict, i, asked),
    )


def _opinions(verdict: Any, i: int, asked: int) -> dict[str, float]:
    """Return what each expert gives a class of row i, those most believed first."""
    if not isinstance(verdict, Panel):
        return {}
    by_weight = sorted(verdict.pool.weights, key=lambda name: -verdict.pool.weights[name])
    return {name: float(verdict.opinions[name][i, asked]) for name in by_weight}


def _weigh_sides(graph: SimilarityGraph, found: ClassCut, i: int) -> tuple[Side, Side, float]:
    """Return the cost of row i on either side, positive first, and the trust that makes them equal."""
    near = slice(graph.weights.indptr[i], graph.weights.indptr[i + 1])
    weight = graph.weights.data[near]
    is_positive = found.is_positive_side[graph.weights.indices[near]]
    sign, price = int(found.sign[i]), float(found.label_term[i])
    pull = float(found.prior_term[i])
    by_t = found.choice.tradeoff * float(graph.degree[i]) if sign == 0 else 0.0
    positive = Side(
        neighbors=float(weight[~is_positive].sum()),
        label=price if sign < 0 else 0.0,
        prior=max(0.0, -pull),
        tradeoff=max(0.0, -by_t),
    )
    negative = Side(
        neighbors=float(weight[is_positive].sum()),
        label=price if sign > 0 else 0.0,
        prior=max(0.0, pull),
        tradeoff=max(0.0, by_t),
    )
    if sign == 0:
        return positive, negative, float("nan")
    own, other = (positive, negative) if sign > 0 else (negative, positive)
    against = own.without_label - other.without_label  # what the label has to outweigh
    if against <= 0:
        return positive, negative, 0.0
    per_trust = float(found.label_price[i])
    return positive, negative, against / per_trust if per_trust > 0 else float("inf")
