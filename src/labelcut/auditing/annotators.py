"""Several annotators in an audit: what they call each row together, who is worth what, where they disagree.

A row's label is then what its annotators say together, each worth what they are worth; the suggestion is the
consensus, which knows the columns as well. A row is open, and has no such label, where theirs cancel out, or
where they differ and even the consensus is not sure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from labelcut.auditing.issues import Judged, choose_suspects, class_probabilities
from labelcut.auditing.unlabeled import SURE
from labelcut.auditing.words import counted, grouped, percent, shortened
from labelcut.hnc.annotators import CrowdLabels
from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.hnc.crowd import Crowd, CrowdFit
from labelcut.table.annotators import Annotators
from labelcut.table.table import Table

MOST_ROWS = 50  # Rows in a list of the page and the summary.
MOST_NAMED = 4  # Annotators named in a reason; of more only their number is told.
OPEN = "open"  # The status of a row that has labels, but none that its annotators agree on.
LONGEST_WHO = 40  # Letters of an annotator's name in a sentence.


def crowd_of(table: Table, trust: np.ndarray) -> Crowd:
    """Return who said what, with the labels that are trusted without end as known answers."""
    said = _said(table)
    known = np.where(np.isinf(trust), table.codes, -1)
    labels = CrowdLabels.of(said.codes, len(table.classes), known)
    return Crowd(np.array(table.classes, dtype=object), list(said.names), labels)


def call_rows(table: Table, model: ConfidenceHNC) -> Table:
    """Return the table with the label of each row: what its annotators say together, none if it is open."""
    fit = _fit(model)
    is_open = _differ(_said(table)) & (model.consensus_probability_ < SURE) & (fit.crowd.labels.known < 0)
    codes = np.where(is_open, -1, fit.learned)
    texts = [table.classes[code] if code >= 0 else None for code in codes.tolist()]
    frame = table.frame.assign(**{table.label: pd.Series(texts, dtype=object)})
    return replace(table, codes=codes, frame=frame)


def judge_crowd(table: Table, model: ConfidenceHNC, judged: Judged) -> Judged:
    """Return the labels of the rows as all labels together with the columns judge them."""
    fit = _fit(model)
    q, codes, rows = fit.found.probability, table.codes, np.arange(len(table.codes))
    consensus = model.consensus_
    code_of = {name: code for code, name in enumerate(table.classes)}
    predicted = np.array([code_of[name] for name in consensus.tolist()], dtype=np.int64)
    others = q.copy()
    others[rows, np.maximum(codes, 0)] = 0.0
    p_wrong = np.where(codes >= 0, others.sum(axis=1), np.nan)
    is_issue = (codes >= 0) & (predicted != codes) & (fit.crowd.labels.known < 0)
    found = judged.rows.assign(
        is_label_issue=is_issue,
        is_worth_a_look=False,  # every label that is contradicted is an issue already
        label_quality=1.0 - p_wrong,
        p_wrong=p_wrong,
        predicted_label=consensus,
        probability=model.consensus_probability_,
    )
    has_labels = (_said(table).codes >= 0).any(axis=1)
    found = found.assign(status=np.where((codes < 0) & has_labels, OPEN, found["status"]))
    return replace(judged, rows=found, predicted=predicted, ranked=choose_suspects(found, table.keys))


def consensus_table(table: Table, model: ConfidenceHNC) -> pd.DataFrame:
    """Return one line per row of the table: consensus, its probability, how many labels, how many agree."""
    said = _said(table)
    predicted = pd.Index(table.classes).get_indexer(model.consensus_)
    n_labels = (said.codes >= 0).sum(axis=1)
    agree = (said.codes == predicted[:, None]).sum(axis=1)
    columns = {
        "consensus": model.consensus_,
        "consensus_probability": model.consensus_probability_,
        "n_labels": n_labels,
        "n_agree": agree,
    }
    return pd.DataFrame(columns, index=table.index)


def annotator_table(table: Table, model: ConfidenceHNC) -> pd.DataFrame:
    """Return one line per annotator, in the order of the table.

    `n_labels`, `quality` (the share of right labels) with its `standard_error`, and `n_alone`: how often all
    others who labeled the row said something else.
    """
    said = _said(table)
    n_labels = (said.codes >= 0).sum(axis=1)
    same = np.stack([(said.codes == said.codes[:, [j]]).sum(axis=1) for j in range(len(said.names))], axis=1)
    is_alone = (said.codes >= 0) & (same == 1) & (n_labels[:, None] > 2)
    people: pd.DataFrame = model.annotator_quality_
    return people.assign(n_alone=is_alone.sum(axis=0))


def tell_annotators(table: Table, model: ConfidenceHNC, cases: np.ndarray) -> dict[str, Any] | None:
    """Return what the page and the summary say about the annotators; None for one label a row.

    Parameters
    ----------
    table : Table
        With the label of each row.
    model : ConfidenceHNC
        Fitted to the labels of all annotators.
    cases : ndarray of int
        The rows that are shown in full, in their order.
    """
    if table.annotators is None:
        return None
    said = table.annotators
    n_labels, differs = (said.codes >= 0).sum(axis=1), _differ(said)
    wrong = model.label_p_wrong_
    place = {row: at for at, row in enumerate(cases.tolist())}
    people = annotator_table(table, model)
    facts = {
        **said.facts(),
        "names": [shortened(name) for name in said.names],
        "n_labels": int(n_labels.sum()),
        "labels_a_row": round(float(n_labels.mean()), 2),
        "n_several": int((n_labels > 1).sum()),
        "n_disagree": int(differs.sum()),
        "n_open": int(((table.codes < 0) & (n_labels > 0)).sum()),
        "wrong_labels": round(float(np.nansum(wrong)), 1),
        "quality": _tell_quality(people, wrong, len(table.classes)),
        "disagreements": _tell_rows(table, model, _most_disagreed(model, differs), place),
        "ask_next": _tell_next(table, model, place),
    }
    return facts | {"text": _in_words(facts)}


def tell_said(table: Table, model: ConfidenceHNC, rows: np.ndarray) -> list[list[list[Any]]]:
    """Return who said what about each of the rows: annotator, label, P(wrong); the most trusted first."""
    said, wrong = _said(table), model.label_p_wrong_
    quality = model.annotator_quality_["quality"].to_numpy()
    order = np.argsort(-quality, kind="stable").tolist()
    return [
        [[j, int(said.codes[i, j]), round(float(wrong[i, j]), 4)] for j in order if said.codes[i, j] >= 0]
        for i in rows.tolist()
    ]


def with_annotators(table: Table, rows: np.ndarray, reasons: Sequence[str]) -> list[str]:
    """Return the reasons with who of the row's annotators says what before them; as they are without any."""
    said = table.annotators
    if said is None:
        return list(reasons)
    who = [_who(said, said.codes[i], table.classes) for i in rows.tolist()]
    return [f"{words}. {reason}" if words else reason for words, reason in zip(who, reasons, strict=True)]


def tell_outweighed(
    table: Table, model: ConfidenceHNC, judged: Judged, rows: np.ndarray, reasons: Sequence[str]
) -> list[str]:
    """Return the reasons, another one where the labels of the row decide against all that its columns say."""
    if table.annotators is None or not len(rows):
        return list(reasons)
    by_columns = class_probabilities(model, table, model.label_distributions_[rows])
    first = by_columns.argmax(axis=1)
    told = list(reasons)
    for s in np.flatnonzero(first != judged.predicted[rows]):
        share = percent(float(by_columns[s, first[s]]))
        told[s] = f"Its labels outweigh the columns, which speak for ‘{table.classes[first[s]]}’ ({share})."
    return told


def _who(said: Annotators, codes: np.ndarray, classes: Sequence[str]) -> str:
    given = np.flatnonzero(codes >= 0)
    counts = Counter(codes[given].tolist())
    parts = []
    for code, n in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        if given.size > MOST_NAMED:
            parts.append(f"{n} say ‘{classes[code]}’")
            continue
        names = [shortened(said.names[j], LONGEST_WHO) for j in given if codes[j] == code]
        people = " and ".join([", ".join(names[:-1]), names[-1]] if n > 1 else names)
        parts.append(f"{people} {'says' if n == 1 else 'say'} ‘{classes[code]}’")
    return ", ".join(parts)


def _said(table: Table) -> Annotators:
    assert table.annotators is not None, "the table has one label a row"
    return table.annotators


def _fit(model: ConfidenceHNC) -> CrowdFit:
    found: CrowdFit = model._crowd
    return found


def _differ(said: Annotators) -> np.ndarray:
    """Mark the rows about which the annotators do not all say the same."""
    highest = said.codes.max(axis=1, keepdims=True)
    return np.asarray(((said.codes >= 0) & (said.codes != highest)).any(axis=1))


def _tell_quality(people: pd.DataFrame, wrong: np.ndarray, n_classes: int) -> list[dict[str, Any]]:
    """Return the annotators, best first; those who are right less often than by chance are marked."""
    lines = []
    for j, (name, line) in enumerate(people.iterrows()):
        quality, error = float(line["quality"]), float(line["standard_error"])
        lines.append(
            {
                "annotator": j,
                "name": shortened(str(name)),
                "labels": int(line["n_labels"]),
                "quality": round(quality, 4),
                "standard_error": round(error, 4),
                "wrong": round(float(np.nansum(wrong[:, j])), 1),
                "alone": int(line["n_alone"]),
                "is_below_chance": quality + 2 * error < 1.0 / n_classes,
            }
        )
    return sorted(lines, key=lambda line: (-line["quality"], line["name"]))


def _most_disagreed(model: ConfidenceHNC, differs: np.ndarray) -> np.ndarray:
    """Return the rows whose annotators differ, the least sure consensus first."""
    rows = np.flatnonzero(differs)
    return rows[np.argsort(model.consensus_probability_[rows], kind="stable")]


def _tell_rows(
    table: Table, model: ConfidenceHNC, rows: np.ndarray, place: dict[int, int]
) -> list[dict[str, Any]]:
    """Return the first of the rows with what was said about them; `case` is their place in the review."""
    rows = rows[:MOST_ROWS]
    predicted = pd.Index(table.classes).get_indexer(model.consensus_[rows])
    names, who = table.ids(rows), tell_said(table, model, rows)
    return [
        {
            "row": int(table.rows[i]) + 1,
            "id": shortened(names[s]),
            "consensus": int(predicted[s]),
            "probability": round(float(model.consensus_probability_[i]), 4),
            "said": who[s],
            "case": place.get(i),
        }
        for s, i in enumerate(rows.tolist())
    ]


def _tell_next(table: Table, model: ConfidenceHNC, place: dict[int, int]) -> list[dict[str, Any]]:
    """Return the rows for which one more label would tell most, and who would tell most."""
    asked = model.ask_next(min(MOST_ROWS, len(table.codes)))
    position = {name: j for j, name in enumerate(_said(table).names)}
    lines = _tell_rows(table, model, asked.index.to_numpy(dtype=np.intp), place)
    for line, bits, who in zip(lines, asked["bits"], asked["annotator"], strict=True):
        line |= {"bits": round(float(bits), 4), "ask": None if who is None else position[who]}
    return lines


def _in_words(facts: dict[str, Any]) -> str:
    people = facts["quality"]
    best, worst = people[0], people[-1]
    text = f"{counted(len(people), 'annotator')} gave {counted(facts['n_labels'], 'label')}, about "
    text += f"{grouped(facts['wrong_labels'])} of them wrong"
    if facts["n_several"]:
        text += f"; they disagree about {grouped(facts['n_disagree'])} of "
        text += f"{counted(facts['n_several'], 'row')} with several labels"
    shares = [f"{percent(one['quality'])} ± {percent(one['standard_error'])}" for one in (worst, best)]
    names = [shortened(one["name"], LONGEST_WHO) for one in (worst, best)]
    return f"{text}. Right labels: {shares[0]} ({names[0]}) to {shares[1]} ({names[1]})."
