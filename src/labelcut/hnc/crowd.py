"""A fit to the labels of several annotators: their worth, the answers and the panel of experts in turn.

The panel learns from one label per row, the class that the row's labels speak for, trusted as far as it leads
over the next class; where two classes are level the row is unlabeled. What its experts then think of each row
without the row's own labels are the opinions with which worth and answers are estimated again, and by the new
worth the labels speak anew. The panel's opinion on a row never becomes part of the label it learns from, or
it would confirm itself.
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
from labelcut.hnc.annotators import Answers, CrowdLabels, answer, information, log_likelihood, p_wrong, settle
from labelcut.hnc.evidence import measure_evidence
from labelcut.hnc.labels import UNLABELED, Labels, plain, read_labels
from labelcut.hnc.order import canonical_order
from labelcut.hnc.panel import Panel
from labelcut.hnc.pool import fit_pool_through
from labelcut.parameters import whole

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Crowd", "ask_next", "fit_crowd", "has_annotators", "quality_table", "read_crowd", "settle_with"]

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
    """

    classes: NDArray[Any]
    names: list[Any]
    labels: CrowdLabels


def has_annotators(y: Any) -> bool:
    """Tell whether y has more than one column: a column per annotator."""
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, list | tuple):
        widths = {len(row) for row in y if isinstance(row, list | tuple | np.ndarray)}
        return bool(widths) and max(widths) > 1
    return shape is not None and len(shape) == 2 and shape[1] > 1


def read_crowd(Y: Any, n_rows: int) -> Crowd:
    """Return who said what.

    Parameters
    ----------
    Y : array-like of shape (n_rows, n_annotators)
        Classes of any kind; -1, None or NaN where an annotator gave no label. The columns of a data frame
        name the annotators, otherwise they are numbered.
    n_rows : int
        The number of rows that Y has to have.
    """
    columns = getattr(Y, "columns", None)
    if hasattr(Y, "to_numpy"):
        values = Y.to_numpy()
    elif isinstance(Y, list | tuple):
        if len({len(row) if isinstance(row, list | tuple | np.ndarray) else 0 for row in Y}) > 1:
            raise ValueError("the rows of Y differ in length; give every annotator a column, None for gaps.")
        values = np.array([list(row) for row in Y], dtype=object)
    else:
        values = np.asarray(Y)
    if len(values) != n_rows:
        raise ValueError(f"Y has {len(values)} rows, but X has {n_rows}; give a row of labels per row of X.")
    names = list(range(values.shape[1])) if columns is None else [plain(name) for name in columns]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ValueError(f"two columns of Y are called {repeated[0]!r}; give each annotator another name.")
    found = read_labels(values.ravel(), values.size)
    codes = found.codes.reshape(values.shape)
    _refuse_one_hot(found.classes, codes)
    with_labels = np.flatnonzero((codes != UNLABELED).any(axis=0))
    if with_labels.size == 1:
        raise ValueError(
            f"only the annotator {names[with_labels[0]]!r} gave labels; pass that column alone as y."
        )
    return Crowd(found.classes, names, CrowdLabels.of(codes, found.classes.size))


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
    if metadata.get("sample_weight") is not None:
        raise ValueError(
            "sample_weight is trust in one label per row, but Y has several annotators, whose trust is "
            "estimated; leave sample_weight out, and give reviewed labels as one more annotator."
        )
    crowd = read_crowd(Y, len(X) if hasattr(X, "__len__") else X.shape[0])
    found = settle(crowd.labels)
    target, trust = speak(crowd, found)
    _refuse_lost_class(crowd, target)
    for _ in range(MAX_ROUNDS):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            estimator.fit(X, Labels(crowd.classes, target), **metadata, sample_weight=trust)
        opinions = _unseen(estimator)
        found = settle_with(crowd, opinions)
        learned = target
        target, trust = speak(crowd, found)
        is_lost = np.setdiff1d(learned, target).size > 0
        if not opinions or is_lost or np.mean(learned != target) < CHANGED_SHARE:
            break
    for warning in told:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    _store(estimator, crowd, found)


def speak(crowd: Crowd, found: Answers) -> tuple[NDArray[np.int64], Floats]:
    """Return the class that each row's labels speak for, without any opinion, and the trust in it."""
    labels = crowd.labels
    probability = answer(labels, found.worth)
    first = np.sort(probability, axis=1)
    lead = first[:, -1] - first[:, -2]
    has_label = np.bincount(labels.row, minlength=labels.n_rows) > 0
    target = np.where(has_label & (lead >= LEVEL), probability.argmax(axis=1), UNLABELED)
    highest = float(lead[has_label].max())
    return target.astype(np.int64), np.where(target == UNLABELED, 1.0, lead / max(highest, 1e-300))


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
    _refuse_lost_class(crowd, target)
    if not _knows_something(opinions, target):
        return found
    for _ in range(MAX_WEIGHINGS):
        before = found.probability
        found = settle(crowd.labels, _weighed(crowd, opinions, found))
        if np.abs(found.probability - before).max() <= WEIGHED_AGREEMENT:
            break
    return found


def _knows_something(opinions: Mapping[str, Floats], target: NDArray[np.int64]) -> bool:
    """Tell whether the opinions predict what the labels speak for better than chance."""
    is_learned = target != UNLABELED
    ranks = np.mean([rankdata(p[is_learned], axis=0) for p in opinions.values()], axis=0)
    evidence = measure_evidence(ranks, target[is_learned].astype(np.intp), ranks)
    return evidence is None or evidence.is_there


def _weighed(crowd: Crowd, opinions: Mapping[str, Floats], found: Answers) -> Floats:
    """Return the prior of every row by all opinions together.

    Rows are weighed in an order that depends on their content only, since the weights are sums over rows.
    """
    likelihood = log_likelihood(crowd.labels, found.worth)
    likelihood = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    order = canonical_order(np.hstack([*opinions.values(), likelihood]))
    has_label = np.bincount(crowd.labels.row, minlength=crowd.labels.n_rows) > 0
    judged = order[has_label[order]]
    pool = fit_pool_through(
        {name: p[judged] for name, p in opinions.items()}, likelihood[judged], np.eye(crowd.classes.size)
    )
    return np.exp(pool.scores(opinions))


def _unseen(estimator: Any) -> dict[str, Floats]:
    """Return what the panel's experts think of every row without its labels.

    Nothing if the cut decided alone, or if the panel is silent.
    """
    verdict, place = estimator._answer.verdict, estimator._answer.rows.place
    if not isinstance(verdict, Panel) or verdict.is_silent:
        return {}
    return {name: opinion[place] for name, opinion in verdict.unseen.items()}


def _refuse_lost_class(crowd: Crowd, target: NDArray[np.int64]) -> None:
    lost = np.setdiff1d(np.arange(crowd.classes.size), target)
    if lost.size:
        n = int((crowd.labels.code == lost[0]).sum())
        raise ValueError(
            f"the class {plain(crowd.classes[lost[0]])!r} was named {n} times, but the annotators together "
            "call no row so, and nothing can be learned about it; merge it with another class or clear these "
            "labels, or use labelcut.annotators.combine without opinions."
        )


def _store(estimator: Any, crowd: Crowd, found: Answers) -> None:
    """Store the answers; rows without any label have what the fit says about them."""
    labels, probability = crowd.labels, found.probability.copy()
    is_open = np.bincount(labels.row, minlength=labels.n_rows) == 0
    probability[is_open] = estimator.label_distributions_[is_open]
    estimator.consensus_ = crowd.classes[probability.argmax(axis=1)]
    estimator.consensus_[is_open] = estimator.transduction_[is_open]
    estimator.consensus_probability_ = probability.max(axis=1)
    estimator.label_p_wrong_ = p_wrong(labels, probability)
    estimator.annotator_quality_ = quality_table(crowd, found)
    estimator._crowd = (crowd, Answers(probability, found.worth))


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
        Index ``row``; ``consensus`` and its ``probability``, ``bits`` that a label by an annotator like the
        rest is expected to tell about the class, and ``annotator``, who of those that have not labeled the
        row would tell most; None if all have. Rows that are level stand in the order of the table.
    """
    import pandas as pd

    whole("n", n, 1)
    labels, probability = crowd.labels, found.probability
    bits = information(probability, found.worth.crowd)
    chosen = np.argsort(-bits, kind="stable")[:n]
    has_said = np.zeros((labels.n_rows, labels.n_annotators), dtype=bool)
    has_said[labels.row, labels.annotator] = True
    told = np.column_stack([information(probability[chosen], own) for own in found.worth.confusion])
    told[has_said[chosen]] = -1.0
    names = np.empty(len(crowd.names), dtype=object)
    names[:] = crowd.names
    best = names[told.argmax(axis=1)]
    best[told.max(axis=1) < 0] = None
    names_of_rows = chosen if rows is None else [rows[i] for i in chosen]
    return pd.DataFrame(
        {
            "consensus": crowd.classes[probability[chosen].argmax(axis=1)],
            "probability": probability[chosen].max(axis=1),
            "bits": bits[chosen],
            "annotator": best,
        },
        index=pd.Index(names_of_rows, name="row"),
    )
