"""What was found, as the report asks for it: the words of a fitted model, for nodes instead of rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from labelcut.arrays import Floats, Ints
from labelcut.graph import SimilarityGraph
from labelcut.hnc.answer import Answer
from labelcut.hnc.conclusion import Conclusion
from labelcut.hnc.evidence import Evidence
from labelcut.hnc.explanation import Explanation, explain_row
from labelcut.hnc.opinion import Given
from labelcut.hnc.panel import Panel
from labelcut.hnc.rows import Rows
from labelcut.large.answers import STATUS, Answers

__all__ = ["LargeModel"]


class _Looked:
    """What is found for a node, or for several, only when it is asked for."""

    def __init__(self, look: Any) -> None:
        self._look = look

    def __getitem__(self, at: Any) -> Any:
        return self._look(at)


@dataclass(frozen=True, eq=False)
class LargeModel:
    """Answers about all nodes of a graph, under the names that `ConfidenceHNC` has for them.

    Attributes
    ----------
    answers : Answers
    graph_ : SimilarityGraph
    panel : Panel
        With the cuts of all nodes.
    classes_ : ndarray of str
    feature_importances_ : ndarray
    """

    answers: Answers
    graph_: SimilarityGraph
    panel: Panel
    classes_: Any
    feature_importances_: Floats
    preset: str = "default"

    @property
    def evidence_(self) -> Evidence | None:
        """How well the columns tell the classes apart."""
        return self.panel.evidence

    @property
    def tradeoff_(self) -> Floats:
        """What the folds chose, one number per cut."""
        chosen = [cut.choice.tradeoff for cut in self.panel.cuts]
        return np.array(chosen[0] if len(chosen) == 1 else chosen)

    @property
    def expert_weights_(self) -> dict[str, float]:
        """How far each expert is believed."""
        return self.panel.weights

    @property
    def expert_log_loss_(self) -> dict[str, float]:
        """How well each predicts labels that it has not seen."""
        return self.panel.log_loss

    @property
    def noise_rates_(self) -> Floats:
        """The expected share of rows of each class that carry another label."""
        return self.panel.noise_rates

    @cached_property
    def row_order_(self) -> Ints:
        """Nodes are in order."""
        return np.arange(self.answers.codes.size)

    @cached_property
    def opinion_(self) -> Given:
        """What the forest says."""
        return Given(cast(Floats, self.answers.opinions["forest"]))

    @property
    def label_distributions_(self) -> Any:
        """The probabilities of nodes."""
        return _Looked(self.answers.distribution)

    @cached_property
    def _answer(self) -> Answer:
        found, order = self.answers, self.row_order_
        nothing = np.zeros((0, 0))
        rows = Rows(
            X=nothing,
            raw=nothing,
            codes=found.codes,
            trust=nothing,
            classes=self.classes_,
            opinions={},
            embedding=None,
            distances=None,
            order=order,
            place=order,
        )
        said = Conclusion(
            predicted=cast(Any, found.predicted),
            distribution=nothing,
            confidence=cast(Any, found.confidence),
            p_wrong=cast(Any, found.p_wrong),
            is_issue=found.is_issue,
            is_worth_a_look=found.is_worth_a_look,
            has_evidence=found.is_issue,
        )
        status = _Looked(lambda row: STATUS[int(found.status[row])])
        return Answer(rows, self.graph_, self.panel, said, cast(Any, status))

    def explain(self, node: int) -> Explanation:
        """Tell why a node got its class."""
        return explain_row(self._answer, node)
