"""What every expert is asked: which rows there are, and which labels are hidden from whom.

And by which labels they are weighed: those that were hidden from all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from labelcut.arrays import Floats, Ints
from labelcut.hnc.clock import StageClock
from labelcut.hnc.forest import choose_leaf
from labelcut.hnc.grouped_forest import GroupedForest, grow_groups
from labelcut.hnc.hiding import Hiding, deal_tasks, task_seed
from labelcut.hnc.honest_cut import HonestCuts
from labelcut.hnc.noise_floor import NoiseBelief, believe_rates
from labelcut.hnc.pool import Pool, fit_pool
from labelcut.hnc.rows import Rows
from labelcut.hnc.settings import Settings

__all__ = ["FEWEST_FOR_BOOSTING", "Question", "Weighed", "narrow", "pose"]

#: Boosting is asked about two classes from so many labels on: with fewer it is a worse judge than trees that
#: vote, and with more classes it takes twice the time of all others for no gain.
FEWEST_FOR_BOOSTING = 1000

#: From so many labels on boosting does the second round alone.
ENOUGH_FOR_BOOSTING = 5000

#: With fewer labels per class than this a contrary label tells how little is known, not that it is wrong.
FEWEST_TO_DOUBT = 5


@dataclass(frozen=True, eq=False)
class Question:
    """What every expert is asked: the rows, and which labels are hidden from whom.

    Attributes
    ----------
    rows : Rows
    X : ndarray of shape (n_rows, n_features)
        The scaled columns.
    hiding : Hiding
    settings : Settings
    seed : int
        Everybody draws from a seed of their own that comes from this one.
    n_jobs : int or None
        Threads; the answers have the same bytes for any number.
    """

    rows: Rows
    X: Floats
    hiding: Hiding
    settings: Settings
    seed: int
    n_jobs: int | None

    @property
    def may_boost(self) -> bool:
        """Whether boosting is worth asking; it takes no sparse columns."""
        if sparse.issparse(self.X):
            return False
        return self.rows.classes.size == 2 and self.rows.labeled.size >= FEWEST_FOR_BOOSTING

    @property
    def second_round(self) -> Sequence[str]:
        """Who learns from cleaned labels."""
        names = [name for name in ("second_round", "second_boosting") if name in self.settings.experts]
        if not self.may_boost:
            names = [name for name in names if name != "second_boosting"]
        # Beside boosting the pool hardly believes fully grown trees of many labels.
        return names[1:] if len(names) == 2 and self.rows.labeled.size >= ENOUGH_FOR_BOOSTING else names

    def grow_forest(self, clock: StageClock) -> GroupedForest:
        """Choose the leaf size, grow the groups of trees."""
        with clock.stage("forest"):
            seed, codes = task_seed(self.seed, 1), self.rows.codes
            sizes = self.settings.leaf_sizes
            leaf = choose_leaf(self.X, codes, leaf_sizes=sizes, seed=seed, n_jobs=self.n_jobs)
            return grow_groups(self.X, codes, self.hiding, leaf, seed, self.n_jobs, clock)

    def believe(self, scores: Floats) -> NoiseBelief:
        """Return how often labels are wrong by the scores of all rows."""
        labeled = self.rows.labeled
        codes, trust = self.rows.codes[labeled], self.rows.trust[labeled]
        belief = believe_rates(scores[labeled], codes, trust, self.settings.noise)
        is_few = labeled.size < FEWEST_TO_DOUBT * self.rows.classes.size
        return belief.without_errors() if is_few else belief

    def weigh(self, opinions: Mapping[str, Floats]) -> tuple[Pool, NoiseBelief]:
        """Return how far each expert is believed, and how often labels are wrong by all of them together.

        Of more than two classes a wrong label may carry any other: a product of opinions cannot imitate that,
        so the pool is fitted again through the noise. With two classes its curve bends as the noise does.
        Where classes do not overlap noise is no constant, and the pool speaks of labels as they are.
        """
        judged = self.hiding.is_judged
        codes = self.rows.codes[judged]
        seen = {name: opinion[judged] for name, opinion in opinions.items()}
        is_by_sight = self.settings.overlap == "none"
        pool = fit_pool(seen, codes, is_smooth=is_by_sight)
        belief = self.believe(pool.scores(opinions))
        if self.rows.classes.size > 2 and not is_by_sight:
            pool = fit_pool(seen, codes, belief.channel(belief.mean))
        return pool, belief


def pose(rows: Rows, X: Floats, settings: Settings, random_state: Any, n_jobs: int | None) -> Question:
    """Return the question to all experts: the labels are dealt into folds."""
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    hiding = deal_tasks(rows.codes, rows.trust, settings.n_folds, task_seed(seed, 0))
    return Question(rows, X, hiding, settings, seed, n_jobs)


@dataclass(frozen=True, eq=False)
class Weighed:
    """The question about the rows by which experts are weighed, and the cut's answer on them.

    Attributes
    ----------
    question : Question
        About these rows alone.
    cut : HonestCuts
    places : ndarray of int or slice
        Which rows of the whole question they are.
    """

    question: Question
    cut: HonestCuts
    places: Ints | slice


def narrow(question: Question, cut: HonestCuts, hiding: Hiding) -> Weighed:
    """Return the part of a question by which experts are weighed if the cut was asked in few tasks.

    Parameters
    ----------
    question : Question
    cut : HonestCuts
        Of all rows; those of the question are the first.
    hiding : Hiding
        The tasks that were cut. Other labels were seen by the cut; held and missing ones are kept.
    """
    rows = question.rows
    is_open = rows.is_labeled & np.isfinite(rows.trust)
    places = np.flatnonzero(hiding.is_judged | ~is_open)
    some = replace(
        question,
        rows=rows.at(places),
        X=question.X[:0],
        hiding=Hiding(hiding.masks[:, places], hiding.n_folds),
    )
    return Weighed(some, cut.at(places), places)
