"""Experts who learned from the sample judge all rows, part by part; sampled rows keep what was said there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from labelcut.hnc.boosting import Boosting, boost
from labelcut.hnc.clock import StageClock
from labelcut.hnc.grouped_forest import GroupedForest
from labelcut.hnc.hiding import task_seed
from labelcut.hnc.opinion import Opinion
from labelcut.hnc.question import FEWEST_FOR_BOOSTING, Question
from labelcut.hnc.second_round import SecondRound, ThroughNoise
from labelcut.large.parts import Part
from labelcut.large.sample import Preparation

__all__ = ["FirstExperts", "first_experts", "forgetful", "judge_again", "judge_part", "without_rows"]

Shares = NDArray[np.float32]
Expert = TypeVar("Expert", GroupedForest, Boosting, SecondRound)


@dataclass(frozen=True, eq=False)
class FirstExperts:
    """Who is asked before the cut: the forest, and boosting of two classes."""

    forest: GroupedForest
    boosting: Boosting | None

    @property
    def named(self) -> dict[str, GroupedForest | Boosting]:
        """Those who are asked, by name."""
        return {"forest": self.forest} | ({} if self.boosting is None else {"boosting": self.boosting})

    @property
    def sent(self) -> FirstExperts:
        """The same without what they said about the sample, which no worker needs."""
        boosting = None if self.boosting is None else without_rows(self.boosting)
        forest = replace(without_rows(self.forest), by_task=self.forest.by_task[:, :1])
        return FirstExperts(forest, boosting)


def without_rows(expert: Expert) -> Expert:
    """Return an expert that can be asked but has forgotten what it said."""
    return replace(expert, probability=expert.probability[:1])


def first_experts(question: Question, clock: StageClock) -> FirstExperts:
    """Let forest and boosting learn from the sample."""
    forest = question.grow_forest(clock)
    boosting = None
    rows = question.rows
    if rows.classes.size == 2 and rows.labeled.size >= FEWEST_FOR_BOOSTING:
        with clock.stage("boosting"):
            seed = task_seed(question.seed, 2)
            boosting = boost(question.X, rows.codes, question.hiding, seed, question.n_jobs, clock)
    return FirstExperts(forest, boosting)


def judge_part(
    part: Part, preparation: Preparation, experts: FirstExperts, n_tasks: int
) -> tuple[Shares, Mapping[str, Shares]]:
    """Return the opinion of single groups of trees, as many as tasks are cut, on the rows of a part.

    And, by name, what the first experts think of them, all trees having been asked, and what was given.
    """
    X: Any
    X, beside = preparation.read(part)
    forest = experts.forest
    groups = [replace(forest, groups=(group,)).of(X, 1) for group in forest.groups]
    found = {"forest": np.mean(groups, axis=0).astype(np.float32)}
    found |= {name: said.values.to_numpy() for name, said in beside.opinions.items()}
    if experts.boosting is not None:
        found["boosting"] = experts.boosting.of(X, 1).astype(np.float32)
    return np.array(groups[:n_tasks], dtype=np.float32), found


def forgetful(expert: Opinion) -> Opinion:
    """Return an expert of the second round as it is sent: it can be asked but has forgotten what it said."""
    if isinstance(expert, ThroughNoise):
        return replace(expert, opinion=forgetful(expert.opinion))
    if isinstance(expert, SecondRound):
        return without_rows(expert)
    assert isinstance(expert, Boosting)
    return without_rows(expert)


def judge_again(part: Part, preparation: Preparation, expert: Opinion) -> Shares:
    """Return what an expert of the second round thinks of the rows of a part."""
    X: Any = preparation.of_part(part)
    if not isinstance(expert, ThroughNoise):
        return expert.of(X, 1).astype(np.float32)
    found = expert.opinion.of(X, 1)
    # Added up one by one: a product of matrices may round by how many rows a part has.
    total = np.zeros_like(found)
    for share, labels in zip(found.T, expert.channel, strict=True):
        total += share[:, None] * labels
    return total.astype(np.float32)
