"""Experts that users bring: their classifiers and their probabilities, as they write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from labelcut.arrays import Floats, Ints
from labelcut.hnc.labels import plain
from labelcut.parameters import one_of

__all__ = [
    "check_order",
    "check_same_names",
    "read_experts",
    "read_opinion",
    "read_opinions",
    "refuse_experts",
    "refuse_known_names",
]

#: Given probabilities of a row may miss a sum of 1 by this much: they were rounded or are float32.
SUM_TOLERANCE = 1e-3

#: Another order of the columns has to agree with so many labels more before it is called the right one.
FEWEST_BETTER = 10


def read_experts(experts: Any, built_in: Sequence[str]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the names of built-in experts and, by name, the classifiers that a user brings.

    Who names no built-in one has the cut beside their own.

    Parameters
    ----------
    experts : sequence of str, classifier or (str, classifier)
    built_in : sequence of str
        The names that are known.
    """
    if isinstance(experts, str) or not isinstance(experts, Sequence):
        raise TypeError(
            f"experts={experts!r}; give a list of names ({', '.join(map(repr, built_in))}), classifiers, or "
            "pairs of a name and a classifier."
        )
    names: list[str] = []
    own: dict[str, Any] = {}
    for expert in experts:
        if isinstance(expert, str):
            names.append(one_of("experts", expert, built_in))
            continue
        name, model = expert if isinstance(expert, tuple) else (type(expert).__name__.lower(), expert)
        if not hasattr(model, "predict_proba") or isinstance(model, type):
            raise TypeError(
                f"the expert {name!r} is {model!r}, which has no predict_proba; give a classifier that has, "
                "or wrap it in sklearn.calibration.CalibratedClassifierCV."
            )
        if name in own or name in built_in:
            raise ValueError(f"two experts are called {name!r}; give pairs of a name and a classifier.")
        own[str(name)] = model
    if not names and not own:
        raise ValueError("experts is empty; name at least one, or leave it out.")
    return tuple(dict.fromkeys(names)) or ("cut",), own


def read_opinions(opinions: Any, n_rows: int, classes: NDArray[Any]) -> dict[str, Floats]:
    """Return given probabilities by name, each of shape (n_rows, n_classes) in the order of the classes.

    Parameters
    ----------
    opinions : mapping of str to array-like, or None
        Shape (n_rows, n_classes) in the order of the sorted classes, a data frame whose columns are the
        classes in any order, or, of two classes, (n_rows,) with the probability of the second.
    n_rows : int
    classes : ndarray of shape (n_classes,)
    """
    if opinions is None:
        return {}
    if not isinstance(opinions, Mapping):
        raise TypeError(
            f"opinions is a {type(opinions).__name__}; give a dict from a name to probabilities, such as "
            "opinions={'mine': model.predict_proba(X)}."
        )
    return {
        str(name): read_opinion(f"opinions[{str(name)!r}]", given, n_rows, classes)
        for name, given in opinions.items()
    }


def check_same_names(fitted: Sequence[str], given: Mapping[str, Floats]) -> None:
    """Refuse to judge new rows without the opinions, or with others than those, that ``fit`` was given."""
    missing = [name for name in fitted if name not in given]
    if missing:
        raise ValueError(
            f"fit was given the opinions of {missing[0]!r}; pass those of the new rows, too: "
            f"opinions={{{missing[0]!r}: ...}}."
        )
    unknown = [name for name in given if name not in fitted]
    if unknown:
        raise ValueError(f"fit knew no opinions of {unknown[0]!r}; leave them out, or fit with them.")


def refuse_experts(brought: Sequence[str]) -> None:
    """Refuse users' experts where the cut decides alone and would not hear them."""
    if brought:
        raise ValueError(
            f"nobody would hear {brought[0]!r}: the cut decides alone here, because the preset says so, "
            "every label is held, or no two classes have two labels each that may be judged. Take "
            "preset='default', or label more rows."
        )


def refuse_known_names(given: Mapping[str, Any], taken: Sequence[str]) -> None:
    """Refuse opinions under the name of an expert that is asked anyway."""
    for name in given:
        if name in taken:
            raise ValueError(
                f"opinions[{name!r}] would have the name of another expert; call it something else than "
                f"{', '.join(map(repr, taken))}."
            )


def check_order(said: str, opinion: Floats, codes: Ints, classes: NDArray[Any]) -> None:
    """Refuse probabilities whose columns stand in another order than that of the classes.

    Read in another order they would contradict less than half as many labels, each class counting alike:
    noise does not do that, nor does somebody who always says the same.

    Parameters
    ----------
    said : str
        What to call them.
    opinion : ndarray of shape (n_rows, n_classes)
    codes : ndarray of int of shape (n_rows,)
        The given labels, -1 for none.
    classes : ndarray of shape (n_classes,)
    """
    labeled = codes >= 0
    counts = np.zeros((classes.size, classes.size))
    np.add.at(counts, (codes[labeled], opinion[labeled].argmax(axis=1)), 1.0)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    every, column = linear_sum_assignment(-shares)
    kept, best = np.trace(shares) / classes.size, shares[every, column].mean()
    n_better = counts[every, column].sum() - np.trace(counts)
    if n_better >= FEWEST_BETTER and 2 * (1.0 - best) < 1.0 - kept:
        order = [plain(classes[k]) for k in np.argsort(column)]
        raise ValueError(
            f"{said} agree with {kept:.0%} of the labels of a class, but with {best:.0%} if their columns "
            f"were {order}; put the columns into the order {[plain(c) for c in classes]}, or pass a "
            "data frame with the classes as columns."
        )


def read_opinion(said: str, given: Any, n_rows: int, classes: NDArray[Any]) -> Floats:
    """Return given probabilities of shape (n_rows, n_classes); as in `read_opinions`, which names them."""
    if hasattr(given, "columns"):
        given = _columns_in_order(said, given, classes)
    values = np.asarray(given, dtype=np.float64)
    if values.ndim == 1 and classes.size == 2:
        values = np.column_stack([1.0 - values, values])
    if values.shape != (n_rows, classes.size):
        raise ValueError(
            f"{said} has shape {values.shape}; give one line per row and one column per class, "
            f"{(n_rows, classes.size)}, in the order {[plain(c) for c in classes]}."
        )
    if not np.isfinite(values).all():
        i = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise ValueError(f"{said} is {values[i]} in row {i}; every row needs a probability for every class.")
    if values.min() < -SUM_TOLERANCE or values.max() > 1.0 + SUM_TOLERANCE:
        raise ValueError(
            f"{said} holds numbers from {values.min():.3g} to {values.max():.3g}, which are no "
            "probabilities; if they are logits, pass scipy.special.softmax(logits, axis=1)."
        )
    off = np.abs(values.sum(axis=1) - 1.0)
    if off.max() > SUM_TOLERANCE:
        i = int(off.argmax())
        raise ValueError(
            f"{said} adds up to {values[i].sum():.3g} in row {i}; each row has to add up to 1. If classes "
            "are missing, add their columns; else divide each row by its sum."
        )
    return np.clip(values, 0.0, 1.0)


def _columns_in_order(said: str, frame: Any, classes: NDArray[Any]) -> Any:
    """Return the columns of a data frame in the order of the classes, found by name or by its text."""
    by_text = {str(column): column for column in frame.columns}
    missing = [str(c) for c in classes if str(c) not in by_text]
    if missing or len(by_text) != classes.size:
        raise ValueError(
            f"{said} has the columns {list(by_text)}, but the classes are {[str(c) for c in classes]}; name "
            "one column after each class."
        )
    return frame[[by_text[str(c)] for c in classes]]
