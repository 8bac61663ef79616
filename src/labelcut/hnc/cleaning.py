"""What the first round leaves of the labels: how likely each is wrong by those who have not seen others.

Whoever learns from cleaned labels is asked about those that its task hides. So nobody who cleaned for that
task may have seen them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from labelcut.arrays import Floats, Ints
from labelcut.hnc.boosting import ASKED_AT_ONCE, Boosting
from labelcut.hnc.grouped_forest import GroupedForest
from labelcut.hnc.honest_cut import HonestCuts
from labelcut.hnc.judgement import judge_labels
from labelcut.hnc.question import Question, Weighed
from labelcut.hnc.second_round import labels_to_learn

__all__ = ["ask_booster", "clean_labels"]


def clean_labels(
    question: Question, weighed: Weighed, cut: HonestCuts, forest: GroupedForest, boosting: Boosting | None
) -> tuple[list[Ints], Floats]:
    """Return, for each task, the rows to learn from by those who have not seen the task's labels.

    And the noise through which the labels are seen. Where a task was cut, forest and cut clean; where it was
    not, forest and, if it was asked, the task's booster. That one has learned from labels that it cleans
    here, but from far too many of them to know any by heart.

    Parameters
    ----------
    question : Question
    weighed : Weighed
        What the experts are weighed by.
    cut : HonestCuts
        Of all rows.
    forest : GroupedForest
    boosting : Boosting, optional
    """
    rows, places, n_cut = question.rows, weighed.places, len(weighed.question.hiding.masks)
    opinion = {"forest": forest.probability[places]}
    with_cut = weighed.question.weigh(opinion | {"cut": weighed.cut.probability})
    without_cut = with_cut
    if n_cut < len(question.hiding.masks):
        other = {} if boosting is None else {"boosting": boosting.probability[places]}
        without_cut = weighed.question.weigh(opinion | other)
    labeled = rows.labeled

    def wrong_by_task() -> Iterator[Floats]:
        for m in range(len(question.hiding.masks)):
            seen = {"forest": forest.by_task[m, labeled]}
            if m < n_cut:
                seen["cut"] = cut.of_task(m, labeled)
            elif boosting is not None:
                seen["boosting"] = ask_booster(boosting, m, question.X, labeled, question.n_jobs)
            pool, belief = with_cut if m < n_cut else without_cut
            p_wrong = np.zeros(rows.codes.size)
            p_wrong[labeled] = judge_labels(
                pool.scores(seen), rows.codes[labeled], rows.trust[labeled], belief
            )
            yield p_wrong

    belief = with_cut[1]
    learned = labels_to_learn(rows.codes, question.hiding, rows.trust, wrong_by_task())
    return learned, belief.channel(belief.mean)


def ask_booster(boosting: Boosting, m: int, X: Floats, rows: Ints, n_jobs: int | None) -> Floats:
    """Return what one booster, which has not seen the labels that its task hides, says about some rows."""
    one = replace(boosting, models=boosting.models[m : m + 1])
    parts = np.array_split(rows, 1 + rows.size // ASKED_AT_ONCE)
    return np.concatenate([one.of(X[part], n_jobs) for part in parts])
