"""What was found -> the suspects in order, with their names, and the facts of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from labelcut.arrays import Ints
from labelcut.auditing.issues import COLUMNS, Judged
from labelcut.auditing.narrowing import first_of, narrow
from labelcut.auditing.review_curve import plant_and_find
from labelcut.hnc.clock import StageClock
from labelcut.hnc.honest_cut import HonestCuts
from labelcut.large.answers import Answers
from labelcut.large.asking import Fitted
from labelcut.large.closeup import judge_nodes, tell_all
from labelcut.large.request import Request
from labelcut.large.result import LargeAudit
from labelcut.large.rows import Names
from labelcut.large.sample import as_table
from labelcut.large.scanning import Scanned
from labelcut.table.table import Table

__all__ = ["report"]


def report(
    request: Request, scanned: Scanned, fitted: Fitted, notes: Sequence[str], clock: StageClock
) -> LargeAudit:
    """Rank the suspects, name them, and tell the facts."""
    with clock.stage("planted errors"):
        judged = judge_nodes(fitted.answers, scanned.classes.classes)
        n = len(fitted.X)
        likely = np.where(judged.is_suspect[:n], judged.predicted[:n], scanned.codes[:n])
        share = float(np.nanmean(fitted.answers.p_wrong))
        near = fitted.X[:, fitted.preparation.first_near :]
        check = plant_and_find(near, likely, share, request.n_jobs)
    with clock.stage("report"):
        thin = _thin_table(request, scanned, fitted.answers, notes)
        names = scanned.fetcher.names(judged.ranked, request.label, request.id, scanned.scan.words)
        thin = _with_names(thin, judged.ranked, names)
        judged, left_out = narrow(thin, judged, min_p_wrong=request.min_p_wrong, baseline=request.baseline)
        listed, note = first_of(judged, request.top)
        thin = replace(thin, notes=(*thin.notes, *left_out, *note))
        told = tell_all(
            thin,
            fitted.model,
            judged,
            listed,
            scanned.matched,
            check,
            fitted.preparation,
            lambda nodes: _close_up(request, scanned, thin, nodes),
            scanned.scan.shape.format,
        )
        issues = _issues(thin, listed, told.reasons)
    graph = fitted.model.graph_
    model = {
        "preset": "default",
        "n_neighbors": int(graph.n_neighbors),
        "tradeoff": fitted.model.tradeoff_.tolist(),
        "experts": told.facts["experts"]["list"],
        "noise_rates": np.asarray(fitted.model.noise_rates_).round(4).tolist(),
    }
    return LargeAudit(
        issues=issues,
        facts=told.facts,
        parts=scanned.parts,
        shape=scanned.scan.shape,
        nodes=scanned.nodes,
        answers=_kept(fitted.answers),
        classes=scanned.classes.classes,
        model=model,
        details=fitted.details,
        inputs=request.inputs,
    )


def _thin_table(request: Request, scanned: Scanned, answers: Answers, notes: Sequence[str]) -> Table:
    """Return all rows as a Table in the order of their nodes, without their cells."""
    nodes, n_rows, beside = scanned.nodes, scanned.n_rows, scanned.table.beside
    names = pd.Index(scanned.classes.classes)
    opinions = {
        name: replace(said, values=pd.DataFrame(answers.opinions[name], columns=names, copy=False))
        for name, said in beside.opinions.items()
    }
    frame = pd.DataFrame(index=pd.RangeIndex(n_rows))
    if request.group is not None:
        names = pd.Index(scanned.scan.group_names)
        frame[request.group] = pd.Categorical.from_codes(nodes.groups, names)
    table = replace(
        scanned.table,
        frame=frame,
        converted={},
        index=frame.index,
        codes=scanned.codes,
        rows=nodes.rows,
        keys=np.zeros(n_rows, dtype=np.uint64),
        n_rows_in_file=n_rows,
        beside=replace(beside, opinions=opinions, embedding=None),
    )
    return replace(table, notes=(*table.notes, *notes))


def _with_names(thin: Table, ranked: Ints, names: Names) -> Table:
    """Return the table with keys and ids of the flagged rows; nobody asks for those of others."""
    keys = thin.keys.copy()
    keys[ranked] = names.keys
    if names.ids is None or thin.id is None:
        return replace(thin, keys=keys)
    ids = np.full(len(keys), "", dtype=object)
    ids[ranked] = names.ids
    return replace(thin, keys=keys, frame=thin.frame.assign(**{thin.id: ids}))


def _close_up(request: Request, scanned: Scanned, thin: Table, nodes: Ints) -> Table:
    """Return some nodes as a Table with their cells; sampled ones are at hand."""
    n_sampled = len(scanned.table.frame)
    at_hand, far = nodes[nodes < n_sampled], nodes[nodes >= n_sampled]
    frames = [scanned.table.frame.iloc[at_hand]]
    if far.size:
        frames.append(scanned.fetcher.frame(far))
    frame = pd.concat(frames, ignore_index=True)
    table = as_table(
        frame,
        scanned.scan,
        request.wanted,
        scanned.columns,
        classes=scanned.classes.classes,
        codes=scanned.codes[nodes],
        rows=thin.rows[nodes],
        name=request.name,
        forms=scanned.forms,
        beside=scanned.sides.of(frame, thin.rows[nodes], request.name),
    )
    if request.group is not None:
        groups = pd.Categorical.from_codes(scanned.nodes.groups[nodes], pd.Index(scanned.scan.group_names))
        table = replace(table, frame=table.frame.assign(**{request.group: groups}))
    return table


def _issues(thin: Table, listed: Judged, reasons: Sequence[str]) -> pd.DataFrame:
    """Return the suspects, most suspect first; reasons are known of the first of them."""
    ranked = listed.ranked
    classes = np.array(thin.classes, dtype=object)
    found = listed.rows.iloc[ranked].reset_index(drop=True)
    issues = found.assign(
        row=thin.rows[ranked] + 1,
        given_label=classes[thin.codes[ranked]],
        predicted_label=classes[listed.predicted[ranked]],
        reason=[*reasons, *[""] * (len(ranked) - len(reasons))],
        key=thin.key_texts(ranked),
    )
    if thin.id is not None:
        issues = issues.assign(id=thin.ids(ranked))
    return issues[[name for name in COLUMNS if name != "id" or thin.id is not None]]


def _kept(answers: Answers) -> Answers:
    """Return the answers without what stands in the spill folder, which is gone when this is asked."""
    nothing = np.zeros((0, answers.panel.shares.size))
    cut = HonestCuts((), (), answers.panel.shares.size, nothing, nothing)
    bare: Any = replace(answers.panel, cut=cut, opinions={}, experts={})
    return replace(answers, opinions={}, panel=bare)
