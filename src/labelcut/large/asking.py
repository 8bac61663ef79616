"""The experts asked in the order of the panel: forest, boosting, cut, second round; then all are weighed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcut.arrays import Floats
from labelcut.errors import BadTable
from labelcut.graph import SimilarityGraph
from labelcut.hnc.clock import StageClock
from labelcut.hnc.concluding import own_confidence
from labelcut.hnc.grouped_forest import GroupedForest
from labelcut.hnc.honest_cut import HonestCuts
from labelcut.hnc.labels import Labels, check_classes
from labelcut.hnc.panel import Panel
from labelcut.hnc.question import Question, Weighed, narrow, pose
from labelcut.hnc.rows import Rows
from labelcut.hnc.settings import DEFAULT, settings_of
from labelcut.large.answers import Answers, conclude_all
from labelcut.large.cluster import Crew
from labelcut.large.cuts import clean_and_grow, cut_all, take_seats
from labelcut.large.joining import join
from labelcut.large.model import LargeModel
from labelcut.large.neighbors import find_neighbors, place_cells
from labelcut.large.opinions import FirstExperts, first_experts, forgetful, judge_again, judge_part
from labelcut.large.request import Request
from labelcut.large.sample import Preparation, prepare
from labelcut.large.scanning import Scanned
from labelcut.large.spill import Spill
from labelcut.memory import give_back

__all__ = ["Fitted", "ask_everybody"]

Shares = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Fitted:
    """What was learned and said."""

    preparation: Preparation
    X: np.ndarray
    model: LargeModel
    answers: Answers
    details: dict[str, Any]


@dataclass(frozen=True, eq=False)
class _Work:
    """What all steps need: workers, the table, the question about its sample, a place to spill, the time."""

    crew: Crew
    request: Request
    scanned: Scanned
    preparation: Preparation
    shared: Any
    question: Question
    spill: Spill
    clock: StageClock

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and classes."""
        return self.scanned.n_rows, len(self.scanned.classes.classes)

    @property
    def n_sampled(self) -> int:
        """The rows that the experts have learned from."""
        return len(self.question.X)

    def keep(self, name: str) -> Shares:
        """Return room for the opinion of an expert on all rows."""
        room: Shares = self.spill.array(name, np.float32, self.shape)
        return room

    def ask(self, judge: Any, *shared: Any) -> Any:
        """Yield the nodes of each part, and what is thought of them."""
        items = [(part,) for part in self.scanned.parts]
        found = self.crew.each(
            judge, items, self.shared, *shared, n_items=len(items), tell=self.clock.part_done
        )
        for i, opinion in found:
            yield self.scanned.nodes.of_part(self.scanned.parts[i]), opinion


def _as(value: Any) -> Any:
    """Let float32 pass where float64 is declared: the steps take both."""
    return value


def ask_everybody(crew: Crew, request: Request, scanned: Scanned, spill: Spill, clock: StageClock) -> Fitted:
    """Ask all experts about all rows, and weigh them by the sample."""
    with clock.stage("columns to numbers"):
        preparation, X = prepare(scanned.table, scanned.scan, scanned.forms, scanned.sides)
    question = _pose(request, scanned, X)
    work = _Work(crew, request, scanned, preparation, crew.share(preparation), question, spill, clock)
    experts = first_experts(question, clock)
    hiding = question.hiding.enough
    give_back()
    said, by_task = _first_opinions(work, experts, len(hiding.masks))
    graph, details = _join(work, experts)
    everywhere = GroupedForest(
        experts.forest.importances, _as(said["forest"]), _as(by_task), experts.forest.groups
    )
    with clock.stage("cut"):
        cut = cut_all(question, graph, scanned.codes, scanned.trust, everywhere, hiding, clock)
        weighed = narrow(question, cut, hiding)
    said |= _second_opinions(work, experts, weighed, cut)
    with clock.stage("probabilities"):
        panel = take_seats(weighed, {name: _as(opinion[: work.n_sampled]) for name, opinion in said.items()})
        answers, panel = _conclude(work, panel, graph, cut, said)
    names = np.array(scanned.classes.classes, dtype=object)
    model = LargeModel(answers, graph, panel, names, _of_columns(preparation, experts.forest.importances))
    weights = {name: round(weight, 4) for name, weight in panel.weights.items()}
    details |= {"parts": len(scanned.parts), "sampled": work.n_sampled, "expert_weights": weights}
    return Fitted(preparation, X, model, answers, details)


def _first_opinions(work: _Work, experts: FirstExperts, n_tasks: int) -> tuple[dict[str, Shares], Shares]:
    """Return what the first experts think of all rows; of sampled ones, without their labels."""
    said = {"forest": work.keep("forest")}
    if experts.boosting is not None:
        said["boosting"] = work.keep("boosting")
    own = work.scanned.sides.opinions
    said |= {name: work.keep(f"opinion-{number}") for number, name in enumerate(own)}
    by_task: Shares = work.spill.array("by_task", np.float32, (n_tasks, *work.shape))
    with work.clock.stage("opinions"):
        for nodes, (single, found) in work.ask(judge_part, work.crew.share(experts.sent), n_tasks):
            by_task[:, nodes] = single
            for name, opinion in said.items():
                opinion[nodes] = found[name]
    by_task[:, : work.n_sampled] = experts.forest.by_task[:n_tasks]
    said["forest"][: work.n_sampled] = experts.forest.probability
    if experts.boosting is not None:
        said["boosting"][: work.n_sampled] = experts.boosting.probability
    return said, by_task


def _join(work: _Work, experts: FirstExperts) -> tuple[SimilarityGraph, dict[str, Any]]:
    """Return the graph of all rows, and how it was found."""
    scanned, first = work.scanned, work.preparation.first_near
    importances = experts.forest.importances
    if scanned.sides.embedding is not None:  # every direction of a vector counts alike
        importances = np.ones(importances.size - first)
    how = work.question.settings.graph(scanned.n_rows)
    with work.clock.stage("neighbours"):
        cell_rows = scanned.sizes.cell_rows
        coarse = place_cells(_as(work.question.X), importances, scanned.n_rows, cell_rows, first)
        lists = find_neighbors(
            work.crew,
            scanned.parts,
            scanned.nodes,
            work.shared,
            coarse,
            how["n_neighbors"],
            work.spill,
            work.clock.part_done,
        )
    with work.clock.stage("graph"):
        graph = join(lists, work.spill, importances.size, how)
    return graph, {"cells": len(coarse.centers), "recall": round(lists.recall, 4)}


def _second_opinions(
    work: _Work, experts: FirstExperts, weighed: Weighed, cut: HonestCuts
) -> dict[str, Shares]:
    """Return what those who learned from cleaned labels think of all rows."""
    with work.clock.stage("second round"):
        # Boosting takes any number of rows; fully grown trees would be too large to be sent.
        n_rows = (
            work.scanned.sizes.second_rows if "second_round" in work.question.second_round else work.n_sampled
        )
        second = clean_and_grow(work.question, weighed, experts, cut, n_rows, work.clock)
    give_back()
    said = {}
    with work.clock.stage("second opinions"):
        for name, expert in second.items():
            said[name] = work.keep(name)
            for nodes, opinion in work.ask(judge_again, work.crew.share(forgetful(expert))):
                said[name][nodes] = opinion
            said[name][: len(expert.probability)] = expert.probability
    return said


def _conclude(
    work: _Work, panel: Panel, graph: SimilarityGraph, cut: HonestCuts, said: dict[str, Shares]
) -> tuple[Answers, Panel]:
    """Return what is said about all rows, and the panel that knows it."""
    scanned = work.scanned
    opinions = said | {"cut": cut.final.astype(np.float32)}
    panel = replace(panel, cut=cut, n_labeled=int((scanned.codes >= 0).sum()), opinions=_as(opinions))
    answers = conclude_all(
        panel,
        opinions,
        graph,
        scanned.codes,
        scanned.trust,
        own_confidence(cut, scanned.codes),
        scanned.classes.classes,
        work.question.settings.flags,
    )
    return answers, panel


def _of_columns(preparation: Preparation, importances: Floats) -> Floats:
    """Return how much each feature tells, of what trees say about all that they see."""
    own = importances[: len(preparation.encoder.names)]
    total = own.sum()
    return own / total if total > 0 else np.full(own.size, 1.0 / max(own.size, 1))


def _pose(request: Request, scanned: Scanned, X: np.ndarray) -> Question:
    """Return the question about the sampled rows."""
    n_sampled = len(X)
    labels = Labels(np.array(scanned.classes.classes, dtype=object), scanned.codes[:n_sampled])
    try:
        check_classes(labels)
    except ValueError as error:
        raise BadTable(f"{request.name}: {error}") from error
    trust = scanned.trust[:n_sampled]
    beside, has_columns = scanned.table.beside, bool(scanned.table.features)
    is_seen = not has_columns and bool(beside.opinions)
    settings = settings_of(DEFAULT, {"flags": request.flags}).fit_to(labels, trust, is_seen=is_seen)
    if not settings.experts:
        raise BadTable(
            f"{request.name}: {labels.n_labeled} labels in {len(labels.classes)} classes are too few for a "
            "table in parts; label at least five rows of each class."
        )
    order = np.arange(n_sampled)
    rows = Rows(
        X=X[:0],
        raw=X[:0],
        codes=labels.codes,
        trust=trust,
        classes=labels.classes,
        opinions={name: said.values.to_numpy(np.float64) for name, said in beside.opinions.items()},
        embedding=None if beside.embedding is None else X[:0],
        distances=None,
        order=order,
        place=order,
        has_columns=has_columns,
    )
    return pose(rows, X, settings, 0, request.n_jobs)
