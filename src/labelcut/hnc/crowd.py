"""A fit to the labels of several annotators: their worth, the answers and the panel of experts in turn.

The panel learns from one label per row, the class that the row's labels speak for, trusted as far as it leads
over the next class; where two classes are level the row is unlabeled. In the cut that is the same as a term
for each label: terms for one side and for the other cancel, up to a constant, and what is left is the lead.
What its experts then think of each row without the row's own labels are the opinions with which worth and
answers are estimated again, and by the new worth the labels speak anew. The panel's opinion on a row never
becomes part of the label it learns from, or it would confirm itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from labelcut.arrays import Floats
from labelcut.hnc.annotators import (
    LEAST_OPINION,
    Answers,
    CrowdLabels,
    answer,
    information,
    log_likelihood,
    p_wrong,
    settle,
)
from labelcut.hnc.evidence import measure_evidence
from labelcut.hnc.labels import UNLABELED, Labels, plain, read_labels
from labelcut.hnc.order import canonical_order
from labelcut.hnc.own_experts import read_opinions
from labelcut.hnc.panel import Panel
from labelcut.hnc.pool import fit_pool_through
from labelcut.parameters import whole

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Crowd",
    "ask_next",
    "fit_crowd",
    "has_annotators",
    "quality_table",
    "read_crowd",
    "settle_with",
    "speak",
]

#: A row whose first class leads by less than this says nothing to the panel.
LEVEL = 0.1

#: The panel is asked at most so often; it is the dear part, and its second opinion hardly moves the worth.
MAX_ROUNDS = 2

#: The panel is not asked again for fewer changed labels than this share.
CHANGED_SHARE = 0.005

#: Given opinions are weighed until no probability moves by more than this, or so often.
WEIGHED_AGREEMENT, MAX_WEIGHINGS = 1e-3, 20


@dataclass(frozen=True, eq=False)
class Crowd:
    """Who said what.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
    names : list
        The annotators.
    labels : CrowdLabels
        With the answers that are known.
    """

    classes: NDArray[Any]
    names: list[Any]
    labels: CrowdLabels


@dataclass(frozen=True, eq=False)
class CrowdFit:
    """What a fit found out about a crowd: the answers, and the class that each row's labels spoke for."""

    crowd: Crowd
    found: Answers
    learned: NDArray[np.int64]


def has_annotators(y: Any) -> bool:
    """Tell whether y has more than one column: a column per annotator."""
    if isinstance(y, Crowd):
        return True
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, list | tuple):
        widths = {len(row) for row in y if isinstance(row, list | tuple | np.ndarray)}
        return bool(widths) and max(widths) > 1
    return shape is not None and len(shape) == 2 and shape[1] > 1


def read_crowd(Y: Any, n_rows: int | None = None, sample_weight: Any = None) -> Crowd:
    """Return who said what.

    Parameters
    ----------
    Y : array-like of shape (n_rows, n_annotators), or Crowd
        Classes of any kind; -1, None or NaN where an annotator gave no label. The columns of a data frame
        name the annotators, otherwise they are numbered. A Crowd is taken as it is.
    n_rows : int, optional
        The number of rows that Y has to have.
    sample_weight : array-like of shape (n_rows, n_annotators), optional
        0 leaves a label out, 1 is usual, ``inf`` marks a label that is known to be right.
    """
    if isinstance(Y, Crowd):
        _check_rows(Y.labels.n_rows, n_rows)
        return Y
    columns = getattr(Y, "columns", None)
    if hasattr(Y, "to_numpy"):
        values = Y.to_numpy()
    elif isinstance(Y, list | tuple):
        if len({len(row) if isinstance(row, list | tuple | np.ndarray) else 0 for row in Y}) > 1:
            raise ValueError("the rows of Y differ in length; give every annotator a column, None for gaps.")
        values = np.array([list(row) for row in Y], dtype=object)
    else:
        values = np.asarray(Y)
    _check_rows(len(values), n_rows)
    names = list(range(values.shape[1])) if columns is None else [plain(name) for name in columns]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ValueError(f"two columns of Y are called {repeated[0]!r}; give each annotator another name.")
    found = read_labels(values.ravel(), values.size)
    codes = found.codes.reshape(values.shape)
    _refuse_one_hot(found.classes, codes)
    codes, known = _trusted(codes, found.classes, sample_weight)
    with_labels = np.flatnonzero((codes != UNLABELED).any(axis=0))
    if with_labels.size == 1:
        raise ValueError(
            f"only the annotator {names[with_labels[0]]!r} gave labels; pass that column alone as y."
        )
    return Crowd(found.classes, names, CrowdLabels.of(codes, found.classes.size, known))


def _check_rows(n_found: int, n_rows: int | None) -> None:
    if n_rows is not None and n_found != n_rows:
        raise ValueError(f"Y has {n_found} rows, but X has {n_rows}; give a row of labels per row of X.")


def _trusted(
    codes: NDArray[np.int64], classes: NDArray[Any], sample_weight: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the labels that are not left out, and the answer of the rows that have one known to be right."""
    known = np.full(len(codes), UNLABELED, dtype=np.int64)
    if sample_weight is None:
        return codes, known
    trust = np.asarray(sample_weight, dtype=np.float64)
    if trust.shape != codes.shape:
        raise ValueError(
            f"sample_weight has shape {trust.shape}, but Y has {codes.shape}: with several annotators it is "
            "the trust in each label; give a column per annotator."
        )
    is_odd = ~((trust == 0) | (trust == 1) | np.isposinf(trust))
    if is_odd.any():
        i, j = (int(at[0]) for at in np.nonzero(is_odd))
        raise ValueError(
            f"sample_weight[{i}, {j}] is {trust[i, j]}; with several annotators it is 0 (leave the label "
            "out), 1, or inf (known to be right): how far each annotator is trusted is estimated."
        )
    codes = np.where(trust > 0, codes, UNLABELED)
    sure = np.where(np.isposinf(trust), codes, UNLABELED)
    highest = sure.max(axis=1)
    differs = (sure != UNLABELED) & (sure != highest[:, None])
    if differs.any():
        i = int(np.argmax(differs.any(axis=1)))
        one, two = (plain(classes[c]) for c in (sure[i][differs[i]][0], highest[i]))
        raise ValueError(
            f"row {i} has the labels {one!r} and {two!r}, both known to be right (sample_weight inf); keep "
            "inf for one of them."
        )
    return codes, highest


def _refuse_one_hot(classes: NDArray[Any], codes: NDArray[np.int64]) -> None:
    """Refuse indicator columns: they would pass for annotators of whom exactly one says 1 about each row."""
    is_complete = classes.size == 2 and list(classes) == [0, 1] and (codes != UNLABELED).all()
    if is_complete and ((codes == 1).sum(axis=1) == 1).all():
        raise ValueError(
            "exactly one column of Y is 1 in every row, so they look like indicators of classes, not like "
            "annotators; pass one column of classes, Y.argmax(axis=1)."
        )


def fit_crowd(estimator: Any, X: Any, Y: Any, metadata: dict[str, Any]) -> None:
    """Fit an estimator to the labels of several annotators and store what is said about them."""
    metadata = dict(metadata)
    crowd = read_crowd(Y, None if X is None else np.shape(X)[0], metadata.pop("sample_weight", None))
    if crowd.classes.size < 2:
        raise ValueError(
            f"all labels are {plain(crowd.classes[0])!r}; labels of at least two classes are needed."
        )
    found = settle(crowd.labels)
    target, trust = speak(crowd, found)
    _check_spoken(crowd, target)
    given = read_opinions(metadata.pop("opinions", None), crowd.labels.n_rows, crowd.classes)
    for _ in range(MAX_ROUNDS):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            said = {"opinions": _of_spoken(given, target), "sample_weight": trust}
            estimator.fit(X, _spoken(crowd, target), **metadata, **said)
        opinions = _unseen(estimator, crowd)
        found = settle_with(crowd, opinions)
        learned = target
        target, trust = speak(crowd, found)
        is_lost = np.setdiff1d(learned, target).size > 0
        if not opinions or is_lost or np.mean(learned != target) < CHANGED_SHARE:
            break
    for warning in told:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    _tell_lost_classes(crowd, learned)
    _store(estimator, crowd, found, learned)


def speak(crowd: Crowd, found: Answers) -> tuple[NDArray[np.int64], Floats]:
    """Return the class that each row's labels speak for, without any opinion, and the trust in it.

    A known answer is trusted without end.
    """
    labels = crowd.labels
    probability = answer(labels, found.worth)
    first = np.sort(probability, axis=1)
    lead = first[:, -1] - first[:, -2]
    is_open = labels.is_open
    target = np.where(~is_open & (lead >= LEVEL), probability.argmax(axis=1), UNLABELED)
    is_known = labels.known != UNLABELED
    highest = float(np.max(lead, initial=0.0, where=~is_open & ~is_known))
    trust = np.where(target == UNLABELED, 1.0, lead / max(highest, 1e-300))
    return target.astype(np.int64), np.where(is_known, np.inf, trust)


def settle_with(crowd: Crowd, opinions: Mapping[str, Floats]) -> Answers:
    """Return answers and worth by the labels and opinions; how far these are believed is estimated, too.

    Opinions o[e] on a row become the prior ``exp(b[k] + sum over e of w[e] * log o[e, k])``, normalised. The
    weights are those under which the labels that were given are likeliest, each seen through the confusion of
    its annotator. That the annotators agree among themselves tells how often they err, so the prior may be
    surer than any label alone would let it be. Opinions that know nothing are not heard.

    Parameters
    ----------
    crowd : Crowd
    opinions : mapping of str to ndarray of shape (n_rows, n_classes)
        Probabilities by models that did not see the row's labels.
    """
    found = settle(crowd.labels)
    if not opinions:
        return found
    target, _ = speak(crowd, found)
    if np.unique(target[target != UNLABELED]).size < 2 or not _knows_something(opinions, target):
        return found
    for _ in range(MAX_WEIGHINGS):
        before = found.probability
        found = settle(crowd.labels, _weighed(crowd, opinions, found), found.worth)
        if np.abs(found.probability - before).max() <= WEIGHED_AGREEMENT:
            break
    return found


def _knows_something(opinions: Mapping[str, Floats], target: NDArray[np.int64]) -> bool:
    """Tell whether the opinions predict what the labels speak for better than chance."""
    is_learned = target != UNLABELED
    carried, codes = np.unique(target[is_learned], return_inverse=True)
    ranks = np.mean([rankdata(p[is_learned][:, carried], axis=0) for p in opinions.values()], axis=0)
    evidence = measure_evidence(ranks, codes)
    return evidence is None or evidence.is_there


def _weighed(crowd: Crowd, opinions: Mapping[str, Floats], found: Answers) -> Floats:
    """Return the prior of every row by all opinions together.

    Rows are weighed in an order that depends on their content only, since the weights are sums over rows.
    """
    likelihood = log_likelihood(crowd.labels, found.worth)
    likelihood = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    order = canonical_order(np.hstack([*opinions.values(), likelihood]))
    judged = order[~crowd.labels.is_open[order]]
    pool = fit_pool_through(
        {name: p[judged] for name, p in opinions.items()}, likelihood[judged], np.eye(crowd.classes.size)
    )
    return np.exp(pool.scores(opinions))


def _unseen(estimator: Any, crowd: Crowd) -> dict[str, Floats]:
    """Return what the panel's experts think of every row without its labels.

    Nothing if the cut decided alone, or if the panel is silent. Of a class that the panel did not learn
    nobody thinks, and no opinion excludes it.
    """
    verdict, place = estimator._answer.verdict, estimator._answer.rows.place
    if not isinstance(verdict, Panel) or verdict.is_silent:
        return {}
    return {
        name: _of_all_classes(estimator, crowd, opinion[place], LEAST_OPINION)
        for name, opinion in verdict.unseen.items()
    }


def _of_all_classes(estimator: Any, crowd: Crowd, probability: Floats, else_: float = 0.0) -> Floats:
    """Return probabilities of the classes that were learned in the order of the crowd's classes."""
    code_of = {name: code for code, name in enumerate(crowd.classes.tolist())}
    full = np.full((len(probability), crowd.classes.size), else_)
    full[:, [code_of[name] for name in estimator.classes_.tolist()]] = probability
    return full


def _spoken(crowd: Crowd, target: NDArray[np.int64]) -> Labels:
    """Return the classes that some row is called, and the class of each row among them."""
    carried = np.unique(target[target != UNLABELED])
    place = np.full(crowd.classes.size + 1, UNLABELED, dtype=np.int64)
    place[carried] = np.arange(carried.size)
    return Labels(crowd.classes[carried], place[target])


def _of_spoken(opinions: Mapping[str, Floats], target: NDArray[np.int64]) -> dict[str, Floats] | None:
    """Return the opinions that were given about the classes that some row is called; None without any."""
    carried = np.unique(target[target != UNLABELED])
    if all(p.shape[1] == carried.size for p in opinions.values()):
        return dict(opinions) or None
    kept = {name: np.maximum(p[:, carried], LEAST_OPINION) for name, p in opinions.items()}
    return {name: p / p.sum(axis=1, keepdims=True) for name, p in kept.items()} or None


def _check_spoken(crowd: Crowd, target: NDArray[np.int64]) -> None:
    """Refuse labels that leave fewer than two classes to learn."""
    spoken = np.unique(target[target != UNLABELED])
    if spoken.size < 2:
        rest = f"but {plain(crowd.classes[spoken[0]])!r}" if spoken.size else "at all"
        raise ValueError(
            f"the annotators contradict each other so that no class {rest} is left to learn: as many labels "
            "speak for another; ask one more annotator, or use labelcut.annotators.combine, which learns "
            "nothing from columns."
        )


def _tell_lost_classes(crowd: Crowd, target: NDArray[np.int64]) -> None:
    for code in np.setdiff1d(np.arange(crowd.classes.size), target):
        n = int((crowd.labels.code == code).sum())
        warnings.warn(
            f"the class {plain(crowd.classes[code])!r} was named {n} times, but the annotators together call "
            "no row so, and nothing was learned about it; if it is a slip, correct these labels or merge it "
            "with another class.",
            UserWarning,
            stacklevel=4,
        )


def _store(estimator: Any, crowd: Crowd, found: Answers, learned: NDArray[np.int64]) -> None:
    """Store the answers; rows without any label have what the fit says about them."""
    labels, probability = crowd.labels, found.probability.copy()
    is_open = labels.is_open
    probability[is_open] = _of_all_classes(estimator, crowd, estimator.label_distributions_[is_open])
    estimator.consensus_ = crowd.classes[probability.argmax(axis=1)]
    estimator.consensus_[is_open] = estimator.transduction_[is_open]
    estimator.consensus_probability_ = probability.max(axis=1)
    estimator.label_p_wrong_ = p_wrong(labels, probability)
    estimator.annotator_quality_ = quality_table(crowd, found)
    estimator._crowd = CrowdFit(crowd, Answers(probability, found.worth), learned)


def quality_table(crowd: Crowd, found: Answers) -> pd.DataFrame:
    """Return one line per annotator: number of labels, the share that is right, and its standard error."""
    import pandas as pd

    worth, labels = found.worth, crowd.labels
    return pd.DataFrame(
        {
            "n_labels": np.bincount(labels.annotator, minlength=labels.n_annotators),
            "quality": worth.quality,
            "standard_error": worth.error,
        },
        index=pd.Index(crowd.names, name="annotator"),
    )


def ask_next(crowd: Crowd, found: Answers, n: int, rows: Any = None) -> pd.DataFrame:
    """Return the rows about which one more label is expected to tell most, and who would tell most.

    Parameters
    ----------
    crowd : Crowd
    found : Answers
    n : int
        How many rows.
    rows : sequence, optional
        Names of the rows; by default their numbers.

    Returns
    -------
    DataFrame
        Index ``row``; ``consensus`` and its ``probability``, ``annotator``, who of those that have not
        labeled the row would tell most, None if all have, and ``bits``, how much a label by them is expected
        to tell about the class: by somebody new, if all have. Rows that are level stand in the order of the
        table.
    """
    import pandas as pd

    whole("n", n, 1)
    labels, probability = crowd.labels, found.probability
    told = np.column_stack([information(probability, own) for own in found.worth.confusion])
    told[labels.row, labels.annotator] = -1.0
    has_asked_all = told.max(axis=1) < 0
    bits = np.where(has_asked_all, information(probability, found.worth.crowd), told.max(axis=1))
    bits[labels.known != UNLABELED] = 0.0
    chosen = np.argsort(-bits, kind="stable")[:n]
    names = np.empty(len(crowd.names), dtype=object)
    names[:] = crowd.names
    best = names[told[chosen].argmax(axis=1)]
    best[has_asked_all[chosen]] = None
    named = pd.Index(chosen if rows is None else [rows[i] for i in chosen], name="row")
    return pd.DataFrame(
        {
            "consensus": crowd.classes[probability[chosen].argmax(axis=1)],
            "probability": probability[chosen].max(axis=1),
            "bits": bits[chosen],
            "annotator": pd.Series(best, index=named, dtype=object),
        },
        index=named,
    )
