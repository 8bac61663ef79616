"""A fitted model -> the facts the page and ``summary.json`` are made of: plain lists, numbers and text."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from labelcut.auditing.annotators import tell_annotators, tell_said
from labelcut.auditing.beside import believed
from labelcut.auditing.cases import Cases, group_codes, tell_cases
from labelcut.auditing.headline import tell_headline
from labelcut.auditing.issues import Judged
from labelcut.auditing.marked_words import mark_words
from labelcut.auditing.pictures import PictureFiles, draw_pictures, find_lost_pictures, tell_limit
from labelcut.auditing.review_curve import PlantedCheck, expected_finds
from labelcut.auditing.row_map import draw_map
from labelcut.auditing.unlabeled import sum_up_unlabeled
from labelcut.auditing.unusual import Comparison
from labelcut.auditing.words import grouped
from labelcut.auditing.worth_knowing import find_worth_knowing
from labelcut.hnc.classifier import ConfidenceHNC
from labelcut.hnc.evidence import Evidence
from labelcut.table.decisions import Matched
from labelcut.table.kinds import Column
from labelcut.table.numbers import Encoded
from labelcut.table.table import Table

N_BINS = 20
N_COLOURS = 8  # Classes that are told apart by colour, and whose confidence is drawn.
MOST_MOVES = 10  # Classes in the matrix of given and suggested labels.
MOST_PAIRS = 12  # Pairs of them, where there are more classes.
ONLY_SHOWN = (
    "Pictures are shown, not looked at: labels are judged by the other columns. To have the pictures "
    "judged, give an embedding of them, or a model's probabilities."
)
WORDS_NOTE = "by tf-idf weights learned from other rows; point at a word to see how many texts hold it"
NOT_TESTED = "There are too few labels to test whether the columns tell the classes apart."


def look_over(
    table: Table,
    near: tuple[np.ndarray, np.ndarray],
    model: ConfidenceHNC,
    judged: Judged,
    cases: Cases,
    weights: dict[str, float],
) -> dict[str, Any]:
    """Return what the page tells of all rows at once: what is worth knowing, and the map.

    Parameters
    ----------
    table, model, judged, cases, weights
        As in `gather_facts`.
    near : tuple of ndarray
        The columns by which rows are near each other, and how much each counts.
    """
    return {
        "worth_knowing": find_worth_knowing(table, near, model, judged.is_suspect, weights),
        "map": draw_map(*near, table, cases.suspects),
    }


def gather_facts(
    table: Table,
    overview: dict[str, Any],
    model: ConfidenceHNC,
    judged: Judged,
    cases: Cases,
    reasons: Sequence[str],
    weights: dict[str, float],
    matched: Matched,
    check: PlantedCheck | None,
    comparison: Comparison,
    files: PictureFiles | None = None,
) -> dict[str, Any]:
    """Collect everything the page shows.

    Parameters
    ----------
    table : Table
    overview : dict
        As `look_over` returns it.
    model : ConfidenceHNC
    judged : Judged
        Every label as the model judges it.
    cases : Cases
        The rows that are shown in full.
    reasons : sequence of str
        Why each of them is.
    weights : dict of str to float
        As `column_weights` returns them.
    matched : Matched
        Decisions that were taken as certain; their labels are already in `table`.
    check : PlantedCheck or None
    comparison : Comparison
        The cases held against their classes.
    files : PictureFiles, optional
        The pictures of the rows.

    Returns
    -------
    dict
        JSON-ready and the same for the same input.
    """
    told = tell_cases(table, model, judged, cases, reasons, comparison, weights)
    if table.annotators is not None:
        for part, rows_shown in (("suspects", cases.suspects), ("unlabeled_rows", cases.unlabeled)):
            told[part]["said"] = tell_said(table, model, rows_shown)
    facts = count_facts(table, judged, weights, matched, check, model.evidence_) | {
        **overview,
        "annotators": tell_annotators(table, model, cases.rows),
        **told,
        "experts": believed(table, model),
        "beside": typed_again(table.beside.given),
        "typical": comparison.typical,
        "earlier": _earlier(matched, set(cases.rows.tolist())),
        "unsure": [s for s, row in enumerate(cases.rows.tolist()) if row in matched.unsure],
    }
    _add_words(facts, mark_words(table, judged, cases), len(cases.suspects))
    facts = with_headline(facts)
    return facts if files is None else facts | _pictures(table, files, facts)


def count_facts(
    table: Table,
    judged: Judged,
    weights: dict[str, float],
    matched: Matched,
    check: PlantedCheck | None,
    evidence: Evidence | None,
) -> dict[str, Any]:
    """Return what is counted over all rows, none of whose cells it needs; as in `gather_facts`."""
    rows, n_issues = judged.rows, len(judged.ranked)
    coloured = _first_classes(table, judged, N_COLOURS)
    is_known = evidence is None or evidence.is_there
    return {
        **_about(table, rows, matched, n_issues, judged.n_left_out),
        "estimate": _estimate(rows, is_known),
        "evidence": _evidence(evidence),
        "by_class": _by_class(table, judged, is_known),
        "budget": _review(judged, check) if is_known else None,
        "budget_note": _review_note(check) if is_known else "",
        "unlabeled": sum_up_unlabeled(table, judged, is_known),
        "annotators": None,
        "colours": _colours(table, coloured),
        "histogram": _histogram(table, judged, coloured),
        "moves": _moves(table, judged),
        **_groups(table, judged, is_known),
        "columns": [_column(column, weights.get(column.name, 0.0)) for column in table.columns],
        "conflicts": list(matched.conflicts),
        "pictures": None,
        "album": None,
    }


def with_headline(facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts with what is said first, and a name that is theirs alone."""
    facts["headline"] = tell_headline(facts)
    facts["report"] = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
    return facts


def _add_words(facts: dict[str, Any], words: list[Any] | None, n_suspects: int) -> None:
    """Add the words that speak for a class to the rows that are shown."""
    if words is not None:
        facts["suspects"]["words"], facts["unlabeled_rows"]["words"] = words[:n_suspects], words[n_suspects:]
        facts["words_note"] = WORDS_NOTE


def _pictures(table: Table, files: PictureFiles, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the pictures of the rows that the page shows, and what is to be said about them."""
    rows = np.searchsorted(table.rows, np.array(facts["rows"]["row"], dtype=np.intp) - 1)
    n_suspects, n_unlabeled = (len(facts[part]["row"]) for part in ("suspects", "unlabeled_rows"))
    near = [
        [at for at, _ in some] for part in ("suspects", "unlabeled_rows") for some in facts[part]["neighbors"]
    ]
    drawn = draw_pictures(files, rows, near, n_suspects)
    limit = tell_limit(drawn.counts, n_suspects, n_unlabeled)
    only_shown = "" if table.beside.is_something else ONLY_SHOWN
    notes = [*facts["source"]["notes"], *(note for note in (only_shown, limit) if note)]
    return {
        "pictures": drawn.counts | {"nearness": _nearness(table)},
        "album": drawn.album,
        "source": facts["source"] | {"notes": notes},
        "worth_knowing": [*facts["worth_knowing"], *find_lost_pictures(table, files, drawn)],
    }


def _nearness(table: Table) -> str:
    """Return by what the rows beside a picture are near it."""
    beside = table.beside
    if beside.embedding is not None or beside.graph is not None:
        return f"Near by the {'embedding' if beside.embedding is not None else 'graph'} that was given."
    by = "columns in use" if table.features else "probabilities that were given"
    return f"Near by the {by}; the pictures are shown, not looked at."


def column_weights(table: Table, encoded: Encoded, model: ConfidenceHNC) -> dict[str, float]:
    """Return how much each column counts in the distance between rows; the weights add up to 1."""
    weights = dict.fromkeys((column.name for column in table.features), 0.0)
    if not encoded.origin:  # something beside the table stands for its columns
        return weights
    for name, weight in zip(encoded.origin, model.feature_importances_, strict=True):
        weights[name] += float(weight)
    return weights


def typed_again(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given beside the table by names and paths, so that it can be typed again."""
    opinions = {name: str(said) for name, said in given.get("opinions", {}).items() if _is_text(said)}
    embedding = given.get("embedding")
    return {"opinions": opinions, "embedding": str(embedding) if _is_text(embedding) else None}


def _is_text(value: Any) -> bool:
    return isinstance(value, str | os.PathLike)


def _about(
    table: Table, rows: pd.DataFrame, matched: Matched, n_issues: int, n_left_out: int
) -> dict[str, Any]:
    from labelcut import __version__

    source = table.source
    is_text = source is not None and source.format in ("csv", "arff")
    status = Counter(rows["status"])
    delimiters = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
    return {
        "schema": 1,
        "version": __version__,
        "source": {
            "name": table.name,
            "format": source.format if source else "data frame",
            "suffix": source.suffix if source else ".csv",
            "delimiter": delimiters.get(source.delimiter, source.delimiter) if source and is_text else None,
            "encoding": source.encoding if source and is_text else None,
            "notes": [*(source.notes if source else ()), *table.notes],
        },
        "label": table.label,
        "label_name": _label_name(table),
        "id": table.id,
        "group": table.group,
        "image": table.image,
        "text": table.text,
        "classes": list(table.classes),
        "counts": {
            "rows": len(table.frame),
            "rows_in_file": table.n_rows_in_file,
            "columns": len(table.columns),
            "features": len(table.features),
            "labeled": int(table.is_labeled.sum()),
            "unlabeled": int((~table.is_labeled).sum()),
            "suspects": n_issues,
            "left_out": n_left_out,
            "reviewed": len(matched.labels),
            "unsure": len(matched.unsure),
            "no_evidence": status["no evidence"],
        },
    }


def _label_name(table: Table) -> str:
    """Return what people call the label."""
    said = table.annotators
    if said is None:
        return table.label
    return f"{said.columns[0]}, by {said.columns[1]}" if said.is_long else ", ".join(said.columns)


def _is_open(rows: pd.DataFrame) -> np.ndarray:
    """Return the labels that a review could look at: those that were judged and not reviewed before."""
    return np.asarray(np.isfinite(rows["p_wrong"].to_numpy()) & (rows["status"] != "reviewed").to_numpy())


def _estimate(rows: pd.DataFrame, is_known: bool) -> dict[str, Any]:
    """Return how many labels are wrong; null where the columns know nothing about the label."""
    is_open = _is_open(rows)
    n_labels, wrong = int(is_open.sum()), float(rows["p_wrong"].to_numpy()[is_open].sum())
    return {
        "wrong": round(wrong, 1) if is_known else None,
        "share": round(wrong / max(n_labels, 1), 4) if is_known else None,
        "contradicted": int(rows["is_worth_a_look"].to_numpy()[is_open].sum()),
        "labels": n_labels,
        "is_known": is_known,
    }


def _evidence(evidence: Evidence | None) -> dict[str, Any]:
    """Return how well the columns tell the classes apart: in a sentence and in numbers, null if unknown."""
    names = ("auc", "auc_error", "balanced_accuracy", "balanced_accuracy_error", "z")
    if evidence is None:
        return {"text": NOT_TESTED, "is_there": None, **dict.fromkeys(names)}
    numbers = {name: round(float(getattr(evidence, name)), 4) for name in names}
    return {"text": str(evidence), "is_there": evidence.is_there, **numbers}


def _by_class(table: Table, judged: Judged, is_known: bool) -> list[dict[str, Any]]:
    flagged, p_wrong = judged.is_suspect, judged.rows["p_wrong"].fillna(0.0).to_numpy()
    result = []
    for code, name in enumerate(table.classes):
        own = table.codes == code
        wrong = round(float(p_wrong[own].sum()), 1) if is_known else None
        result.append(
            {"name": name, "labeled": int(own.sum()), "suspects": int(flagged[own].sum()), "wrong": wrong}
        )
    return result


def _review(judged: Judged, check: PlantedCheck | None) -> dict[str, Any] | None:
    """Return what a review should find: the stated probabilities, added up in the order of the review."""
    rows, n_issues = judged.rows, len(judged.ranked)
    is_open = _is_open(rows)
    n_labels = int(is_open.sum())
    if n_labels == 0:
        return None
    finds = expected_finds(rows["p_wrong"].to_numpy(), judged.ranked, is_open)
    most = int(min(max(3 * max(n_issues, finds[-1], 10), 20), n_labels))
    reviewed = np.unique(np.round(np.linspace(0, most, 61))).astype(int)
    first = next((n for n in (1000, 100, 50, 20, 10) if n <= n_issues), n_issues)
    return {
        "reviewed": reviewed.tolist(),
        "found": finds[reviewed].round(1).tolist(),
        "total": round(float(finds[-1]), 1),
        "at_first": [first, round(float(finds[first]), 1)],
        "at_flagged": [n_issues, round(float(finds[n_issues]), 1)],
        "n_planted": check.n_planted if check else None,
        "n_found": check.n_found if check else None,
        "n_sample": check.n_sample if check else None,
    }


def _review_note(check: PlantedCheck | None) -> str:
    note = "The probabilities of the labels added up, most suspect first."
    if check is None:
        return note
    return (
        f"{note} As a check, {check.n_planted} labels in a copy of {grouped(check.n_sample)} rows were "
        f"flipped at random: {check.n_found} of them came back among the first {check.n_planted}. Real "
        "mistakes are seldom random, so expect somewhat fewer."
    )


def _first_classes(table: Table, judged: Judged, most: int) -> list[int]:
    """Return the classes in order, or of too many those with most suspects, then with most labels."""
    codes = range(len(table.classes))
    if len(codes) <= most:
        return list(codes)
    n_suspects = np.bincount(table.codes[judged.ranked], minlength=len(codes))
    n_labels = np.bincount(table.codes[table.is_labeled], minlength=len(codes))
    return sorted(codes, key=lambda code: (-n_suspects[code], -n_labels[code], code))[:most]


def _colours(table: Table, shown: list[int]) -> list[int]:
    """Return a colour for each class, -1 for those that have to share the last one."""
    colours = [-1] * len(table.classes)
    for colour, code in enumerate(shown):
        colours[code] = colour
    return colours


def _histogram(table: Table, judged: Judged, codes: list[int]) -> dict[str, Any]:
    confidence, flagged = judged.rows["label_confidence"].to_numpy(), judged.is_suspect
    edges = np.linspace(0.0, 1.0, N_BINS + 1)

    def counts(among: np.ndarray) -> list[int]:
        return [int(n) for n in np.histogram(confidence[among & np.isfinite(confidence)], bins=edges)[0]]

    return {
        "edges": [round(float(edge), 3) for edge in edges],
        "codes": codes,
        "all": [counts(table.codes == code) for code in codes],
        "suspect": [counts((table.codes == code) & flagged) for code in codes],
    }


def _moves(table: Table, judged: Judged) -> dict[str, Any]:
    """Return how many suspects go from which label to which: a matrix, or with many labels the largest pairs.

    The labels most often involved come first.
    """
    given, wanted = table.codes[judged.ranked], judged.predicted[judged.ranked]
    involved = Counter([*given.tolist(), *wanted.tolist()])
    codes = sorted(involved, key=lambda code: (-involved[code], code))
    pairs = Counter(zip(given.tolist(), wanted.tolist(), strict=True))
    largest: list[list[int]] = []
    if len(codes) > MOST_MOVES:
        by_count = sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0]))
        codes, largest = [], [[a, b, n] for (a, b), n in by_count[:MOST_PAIRS]]
    counts = [[pairs[(a, b)] for b in codes] for a in codes]
    shown = sum(map(sum, counts)) + sum(n for _, _, n in largest)
    numbers = {"shown": shown, "n_classes": len(involved), "n_pairs": len(pairs)}
    return {"codes": codes, "counts": counts, "pairs": largest, **numbers}


def _groups(table: Table, judged: Judged, is_known: bool) -> dict[str, Any]:
    if table.group is None:
        return {"groups": None, "group_names": []}
    codes, found = group_codes(table)
    p_wrong, flagged = judged.rows["p_wrong"].to_numpy(), judged.is_suspect
    labeled = np.isfinite(p_wrong)
    overall = float(p_wrong[labeled].mean()) if labeled.any() else 0.0
    groups: list[dict[str, Any]] = []
    for code, name in enumerate(found):
        own = (codes == code) & labeled
        n, wrong = int(own.sum()), float(p_wrong[own].sum())
        # A group of three labels must not lead the list by chance: ten average labels are added to each.
        groups.append(
            {
                "name": str(name),
                "labeled": n,
                "suspects": int(flagged[own].sum()),
                "wrong": round(wrong, 1) if is_known else None,
                "share": round(wrong / max(n, 1), 4) if is_known else None,
                "rank": (wrong + 10 * overall) / (n + 10),
            }
        )
    groups.sort(key=lambda group: (-group.pop("rank"), group["name"]))
    return {"groups": groups, "group_names": [str(name) for name in found]}


def _column(column: Column, weight: float) -> dict[str, Any]:
    return {
        "name": column.name,
        "kind": column.kind,
        "role": column.role,
        "missing": column.n_missing,
        "distinct": column.n_distinct,
        "note": column.note,
        "weight": round(weight, 5),
    }


def _earlier(matched: Matched, shown: set[int]) -> list[list[str]]:
    """Return earlier decisions as lines of ``decisions.csv``, so that the next saved file holds them too."""
    return [matched.used[i].cells() for i in sorted(matched.used) if i not in shown]
