"""The presets of the estimators, and the check of what the user chose instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcut.hnc.columns import check_importances
from labelcut.hnc.forest import check_leaf_sizes
from labelcut.hnc.labels import Labels
from labelcut.hnc.separation import Settings
from labelcut.parameters import number, numbers, one_of, positive, whole
from labelcut.threads import check_n_jobs

__all__ = ["PRESETS", "Plan", "make_plan"]

#: From this many rows on the paper takes fewer neighbours and a smaller bandwidth (sections 6.2 and 6.3).
PAPER_LARGE = 10_000

#: A forest of fewer labeled rows per class than this says nothing; neither is it asked about columns then.
FEWEST_FOR_FOREST = 5

#: Rows times classes from which one fold and one prior strength have to do; tells on time, hardly on
#: accuracy.
FEW_FOLDS_FROM = 100_000

#: What a parameter left at None becomes. ``paper`` is section 6 of the paper, completed by what works where
#: it is silent or cannot be meant; ``literal`` is the text word for word. docs/method.md has the evidence.
PRESETS: dict[str, dict[str, Any]] = {
    "default": {
        "scale": "robust",
        "importances": "forest",
        "forest_tuning": "oob",
        "kernel": "squared",
        "one_sided": "half",
        "breakpoints": "exact",
        "confidence_symmetric": True,
        "confidence_counts": "free",
        "confidence_scale": "degree",
        "prior_strengths": (0.25, 0.5, 1.0, 2.0),
        "tradeoff": "crossing",
        "enough_hidden": 3000,
        "decision": "probability",
        "flags": "expected_f1",
        "noise": "auto",
    },
    "paper": {
        "scale": "standard",
        "importances": "forest",
        "forest_tuning": "cv",
        "kernel": "squared",
        "one_sided": "half",
        "breakpoints": "grid",
        "confidence_symmetric": True,
        "confidence_counts": "free",
        "confidence_scale": "degree",
        "prior_strengths": (),
        "tradeoff": "accuracy",
        "enough_hidden": np.inf,
        "decision": "cut",
        "flags": "side",
        "noise": "symmetric",
    },
    "literal": {
        "scale": "standard",
        "importances": "forest",
        "forest_tuning": "cv",
        "kernel": "literal",
        "one_sided": "full",
        "breakpoints": "grid",
        "confidence_symmetric": False,
        "confidence_counts": "with_seeds",
        "confidence_scale": "mean",
        "prior_strengths": (),
        "tradeoff": "accuracy",
        "enough_hidden": np.inf,
        "decision": "cut",
        "flags": "side",
        "noise": "symmetric",
    },
}

ALLOWED: dict[str, tuple[Any, ...]] = {
    "scale": ("robust", "standard", "none"),
    "verbose": (True, False),
    "forest_tuning": ("oob", "cv"),
    "kernel": ("squared", "literal"),
    "one_sided": ("half", "full"),
    "neighbor_search": ("auto", "exact", "approximate"),
    "breakpoints": ("exact", "grid"),
    "confidence_symmetric": (True, False),
    "confidence_counts": ("free", "with_seeds"),
    "confidence_scale": ("degree", "mean"),
    "confidence_in_folds": ("once", "each"),
    "decision": ("probability", "cut"),
    "flags": ("expected_f1", "side"),
    "noise": ("auto", "symmetric", "by_side"),
}


@dataclass(frozen=True, eq=False)
class Plan:
    """Every choice of a fit, none of them open."""

    scale: str
    importances: NDArray[np.float64] | None  # None: ask the forest
    forest_tuning: str
    leaf_sizes: tuple[float, ...] | None
    n_trees: int | None
    n_neighbors: int
    bandwidth: float
    kernel: str
    one_sided: str
    neighbor_search: str
    n_folds: int
    n_folds_run: int
    flags: str
    settings: Settings

    @property
    def needs_forest(self) -> bool:
        """True if a step uses the forest's importances or its probabilities."""
        return self.importances is None or bool(self.settings.prior_strengths)


def make_plan(parameters: Mapping[str, Any], labels: Labels, n_features: int) -> Plan:
    """Return the choices for a table: the user's, or else those of the preset."""
    n_rows, n_classes = labels.codes.size, labels.classes.size
    chosen = _with_preset(parameters)
    check_n_jobs(chosen["n_jobs"])
    is_large = n_rows >= PAPER_LARGE
    n_neighbors = chosen["n_neighbors"]
    if n_neighbors is None:
        n_neighbors = min(10 if is_large else 15, n_rows - 1)
    bandwidth = chosen["bandwidth"]
    if bandwidth is None:
        bandwidth = 0.5 if is_large else 0.75
    n_folds = whole("n_folds", chosen["n_folds"], 2)
    strengths = _strengths(chosen["prior_strengths"])
    enough = _enough(chosen["enough_hidden"])
    n_folds_run = int(np.clip(np.ceil(enough * n_folds / labels.n_labeled), 1, n_folds))
    if n_rows * (1 if n_classes == 2 else n_classes) >= FEW_FOLDS_FROM:
        strengths = strengths and (min(strengths, key=lambda a: abs(a - 1.0)),)
        n_folds_run = 1
    importances = _importances(chosen["importances"], n_features)
    if labels.n_labeled < FEWEST_FOR_FOREST * n_classes:
        strengths = ()
        importances = _importances("equal", n_features) if importances is None else importances
    # One class against the rest is asymmetric by itself: wrong labels of the rest are spread over many
    # classes.
    noise = "by_side" if n_classes > 2 and chosen["noise"] == "auto" else chosen["noise"]
    settings = Settings(
        breakpoints=chosen["breakpoints"],
        confidence_symmetric=bool(chosen["confidence_symmetric"]),
        confidence_counts=chosen["confidence_counts"],
        confidence_scale=chosen["confidence_scale"],
        confidence_strength=positive("confidence_strength", chosen["confidence_strength"]),
        confidence_in_folds=chosen["confidence_in_folds"],
        prior_strengths=strengths,
        tradeoff=_tradeoff(chosen["tradeoff"]),
        decision=chosen["decision"],
        noise=noise,
    )
    return Plan(
        scale=chosen["scale"],
        importances=importances,
        forest_tuning=chosen["forest_tuning"],
        leaf_sizes=None if chosen["leaf_sizes"] is None else check_leaf_sizes(chosen["leaf_sizes"]),
        n_trees=None if chosen["n_trees"] is None else whole("n_trees", chosen["n_trees"], 1),
        n_neighbors=whole("n_neighbors", n_neighbors, 1),
        bandwidth=positive("bandwidth", bandwidth),
        kernel=chosen["kernel"],
        one_sided=chosen["one_sided"],
        neighbor_search=chosen["neighbor_search"],
        n_folds=n_folds,
        n_folds_run=n_folds_run,
        flags=chosen["flags"],
        settings=settings,
    )


def _with_preset(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters, those left at None filled in by the preset, each word one that is known."""
    chosen = dict(parameters)
    for name, value in PRESETS[one_of("preset", parameters["preset"], PRESETS)].items():
        if chosen[name] is None:
            chosen[name] = value
    for name, allowed in ALLOWED.items():
        one_of(name, chosen[name], allowed)
    return chosen


def _importances(value: Any, n_features: int) -> NDArray[np.float64] | None:
    if isinstance(value, str):
        if value == "forest":
            return None
        if value == "equal":
            return check_importances(None, n_features)
        raise ValueError(f"importances={value!r}; choose 'forest', 'equal' or one number per column.")
    return check_importances(value, n_features)


def _enough(value: Any) -> float:
    enough = number("enough_hidden", value)
    if not enough > 0:
        raise ValueError(f"enough_hidden={value!r}; give a number of labels above 0, or inf for every fold.")
    return enough


def _strengths(value: Any) -> tuple[float, ...]:
    strengths = numbers("prior_strengths", (value,) if isinstance(value, Real) else value)
    for a in strengths:
        if not (np.isfinite(a) and a >= 0):
            raise ValueError(f"prior_strengths contains {a}; give numbers of 0 or more, or () for no prior.")
    return tuple(sorted(set(strengths)))


def _tradeoff(value: Any) -> str | float:
    if isinstance(value, str) and value in ("crossing", "accuracy"):
        return value
    if isinstance(value, str) or not np.isfinite(number("tradeoff", value)):
        raise ValueError(f"tradeoff={value!r}; choose 'crossing', 'accuracy' or a finite number.")
    return float(value)
