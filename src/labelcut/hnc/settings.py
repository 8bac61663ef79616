"""Every choice and number of the method in one value; the presets are such values.

What people tune is a parameter of the estimators too. Everything else is changed here::

    from dataclasses import replace
    from labelcut import PAPER, ConfidenceHNC

    ConfidenceHNC(preset=replace(PAPER, kernel="literal"))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from labelcut.arrays import Floats
from labelcut.graph.nearest import METHODS
from labelcut.graph.similarity import KERNELS
from labelcut.hnc.confidence import PAPER_GRID
from labelcut.hnc.flags import RULES
from labelcut.hnc.labels import Labels, count_folds
from labelcut.parameters import number, numbers, one_of, texts, whole

__all__ = ["DEFAULT", "EXPERTS", "LITERAL", "PAPER", "PRESETS", "Settings", "settings_from", "settings_of"]

#: From this many rows on the paper takes fewer neighbours and a smaller bandwidth (sections 6.2 and 6.3).
PAPER_LARGE = 10_000

#: Where the cut decides alone, a forest of fewer labeled rows per class than this is not asked.
FEWEST_FOR_FOREST = 5

#: Rows times classes from which one fold and one prior strength have to do; tells on time, hardly on
#: accuracy.
FEW_FOLDS_FROM = 100_000


@dataclass(frozen=True)
class Above:
    """Finite numbers above a lowest one; infinity too, if it has a meaning."""

    lowest: float
    or_infinite: bool = False


@dataclass(frozen=True)
class AtLeast:
    """Numbers from a lowest one on."""

    lowest: float


@dataclass(frozen=True)
class OneOf:
    """Words that another file knows what to do with."""

    words: tuple[str, ...]


Positive = Annotated[float, Above(0)]
Shares = Annotated[tuple[float, ...], Above(0)]
Strengths = Annotated[tuple[float, ...], AtLeast(0)]
EXPERTS = ("forest", "boosting", "cut", "second_round", "second_boosting")
Experts = Annotated[tuple[str, ...], OneOf(EXPERTS)]


@dataclass(frozen=True)
class Settings:
    """Every choice of a fit. The defaults are the preset "default".

    Attributes
    ----------
    n_neighbors : int or None
        Neighbours per row; None: 15 below 10000 rows, 10 from there on, and never more than there are.
    bandwidth : float or None
        Width of the similarity kernel; None: 0.75 below 10000 rows, 0.5 from there on.
    kernel, one_sided
        See :func:`labelcut.graph.similarity_graph`.
    neighbor_search : {"auto", "exact", "approximate"}
        See :func:`labelcut.graph.neighbors`.
    scale : {"robust", "standard", "none"}
        Bring columns to mean 0 and standard deviation 1 first. "robust" clips absurd values before that, so
        that one bad row cannot flatten a column: none counts as more than ten times as far from the median
        as usual.
    importances : {"forest", "equal"} or tuple of float
        How much each column counts in the distance between two rows.
    forest_tuning : {"oob", "cv"}
        How the leaf size of the forest is chosen; "cv" is the paper's way and far slower.
    leaf_sizes : tuple of float or None
        Leaf sizes to choose from, as shares of the labeled rows; None: those of the tuning.
    n_trees : int or None
        Trees in the forest; None: as many as the tuning takes.
    confidence_symmetric : bool
        Judge negative labels by the mirror image of how positive ones are judged; False as printed.
    confidence_counts : {"free", "with_seeds"}
        Whether seeds are counted in a confidence.
    confidence_scale : {"degree", "mean"}
        What a confidence of 1 weighs: the mean degree, which is ``n_neighbors`` times the mean weight a row
        gives to its nearest rows; or the mean of all weights, as printed.
    confidence_strength : float
        A factor on that weight. Large values make every label a seed.
    confidence_in_folds : {"once", "each"}
        Compute confidences once, or again in each fold without its hidden labels.
    breakpoints : {"exact", "grid"}
        Look at every trade-off at which a cut changes, or at the 1001 values of the paper.
    prior_strengths : tuple of float
        Strengths of the forest prior to choose from; ``()`` for no prior.
    tradeoff : {"crossing", "accuracy"} or float
        How the trade-off is chosen from the folds: where a logistic fit crosses 1/2, or by the best
        accuracy. A number is taken as it is.
    n_folds : int
        Folds for the choice of the trade-off.
    enough_hidden : float
        Run only as many of the folds as hide this many labels; ``inf`` runs all. From 100000 rows on (times
        classes, if more than two) one fold and one prior strength have to do.
    decision : {"probability", "cut"}
        Predict the more probable class, or the side of the cut.
    flags : {"likely", "expected_f1", "side"}
        Of the labels that the prediction contradicts, flag those more likely wrong than right, those that
        give the largest expected F1, or all.
    noise : {"auto", "symmetric", "by_side"}
        Whether all classes are taken to be mislabeled equally often, or each at a rate of its own. "auto"
        tests it, and in doubt takes a class that no column is ever sure of for overlap: fraud hidden among
        honest rows looks like fraud that was overlooked. Say "by_side" if you know that it was overlooked.
    overlap : {"auto", "possible", "none"}
        Whether rows that look alike may be of different classes. "possible", as in tables: contrary labels
        get the benefit of the doubt. "none", as of pictures and texts: who sees a row can tell its class, so
        a contrary label is its error or the model's ignorance, see :mod:`labelcut.hnc.by_sight`. "auto" is
        "none" where opinions are given and no X.
    experts : tuple of {"forest", "boosting", "cut", "second_round", "second_boosting"}
        Who is asked about every row, see :mod:`labelcut.hnc.panel`; ``()``: the cut decides alone, as in the
        paper. So it does where labels are too few, or all held. ``enough_hidden``, ``prior_strengths`` and
        ``decision`` are for the cut alone.
    """

    n_neighbors: Annotated[int, AtLeast(1)] | None = None
    bandwidth: Positive | None = None
    kernel: Annotated[str, OneOf(tuple(KERNELS))] = "squared"
    one_sided: Literal["half", "full"] = "half"
    neighbor_search: Annotated[str, OneOf(METHODS)] = "auto"
    scale: Literal["robust", "standard", "none"] = "robust"
    importances: Literal["forest", "equal"] | tuple[float, ...] = "forest"
    forest_tuning: Literal["oob", "cv"] = "oob"
    leaf_sizes: Shares | None = None
    n_trees: Annotated[int, AtLeast(1)] | None = None
    confidence_symmetric: bool = True
    confidence_counts: Literal["free", "with_seeds"] = "free"
    confidence_scale: Literal["degree", "mean"] = "degree"
    confidence_strength: Positive = 1.0
    confidence_in_folds: Literal["once", "each"] = "once"
    breakpoints: Literal["exact", "grid"] = "exact"
    prior_strengths: Strengths = (0.25, 0.5, 1.0, 2.0)
    tradeoff: Literal["crossing", "accuracy"] | float = "crossing"
    n_folds: Annotated[int, AtLeast(2)] = 5
    enough_hidden: Annotated[float, Above(0, or_infinite=True)] = 3000
    decision: Literal["probability", "cut"] = "probability"
    flags: Annotated[str, OneOf(tuple(RULES))] = "likely"
    noise: Literal["auto", "symmetric", "by_side"] = "auto"
    overlap: Literal["auto", "possible", "none"] = "auto"
    experts: Experts = EXPERTS

    @property
    def grid(self) -> Floats | None:
        """The trade-offs to look at, or None for all of them."""
        return PAPER_GRID if self.breakpoints == "grid" else None

    @property
    def needs_forest(self) -> bool:
        """True if a step uses the forest's importances or its probabilities."""
        return self.importances == "forest" or bool(self.prior_strengths)

    @property
    def forest(self) -> dict[str, Any]:
        """How the forest is grown, as arguments of :func:`~labelcut.hnc.forest.fit_forest`."""
        return {"tuning": self.forest_tuning, "leaf_sizes": self.leaf_sizes, "n_trees": self.n_trees}

    def graph(self, n_rows: int) -> dict[str, Any]:
        """How so many rows are joined, as arguments of :func:`~labelcut.graph.similarity_graph`."""
        is_large = n_rows >= PAPER_LARGE
        usual = min(10 if is_large else 15, n_rows - 1)
        return {
            "n_neighbors": usual if self.n_neighbors is None else self.n_neighbors,
            "bandwidth": (0.5 if is_large else 0.75) if self.bandwidth is None else self.bandwidth,
            "kernel": self.kernel,
            "one_sided": self.one_sided,
        }

    def fit_to(self, labels: Labels, trust: Floats, *, is_seen: bool = False) -> Settings:
        """Return the settings as far as these labels bear them: few, many, held, of more than two classes.

        Rows are seen by others if their opinions are given and no columns.
        """
        n_classes = labels.classes.size
        fitted = self
        if self.overlap == "auto":
            fitted = replace(fitted, overlap="none" if is_seen else "possible")
        if count_folds(labels.codes, trust, self.n_folds) < 2:
            fitted = replace(fitted, experts=())
        if labels.codes.size * (1 if n_classes == 2 else n_classes) >= FEW_FOLDS_FROM:
            nearest = min(self.prior_strengths, key=lambda a: abs(a - 1.0), default=None)
            strengths = () if nearest is None else (nearest,)
            fitted = replace(fitted, prior_strengths=strengths, enough_hidden=1)
        if not fitted.experts and labels.n_labeled < FEWEST_FOR_FOREST * n_classes:
            importances = "equal" if self.importances == "forest" else self.importances
            fitted = replace(fitted, prior_strengths=(), importances=importances)
        if n_classes > 2 and self.noise == "auto" and not fitted.experts:
            # One class against the rest is asymmetric by itself: wrong labels of the rest are spread over
            # many classes.
            fitted = replace(fitted, noise="by_side")
        return fitted


DEFAULT = Settings()

#: Section 6 of the paper, completed by what works where it is silent or cannot be meant; docs/method.md has
#: the evidence.
PAPER = replace(
    DEFAULT,
    scale="standard",
    forest_tuning="cv",
    breakpoints="grid",
    prior_strengths=(),
    tradeoff="accuracy",
    enough_hidden=np.inf,
    decision="cut",
    flags="side",
    noise="symmetric",
    experts=(),
)

#: The text of the paper word for word.
LITERAL = replace(
    PAPER,
    kernel="literal",
    one_sided="full",
    confidence_symmetric=False,
    confidence_counts="with_seeds",
    confidence_scale="mean",
)

PRESETS = {"default": DEFAULT, "paper": PAPER, "literal": LITERAL}


def settings_from(parameters: Mapping[str, Any]) -> Settings:
    """Return the settings that the parameters of an estimator ask for; other parameters do not matter."""
    names = {setting.name for setting in fields(Settings)}
    changes = {name: value for name, value in parameters.items() if name in names}
    return settings_of(parameters["preset"], changes)


def settings_of(preset: Any, changes: Mapping[str, Any]) -> Settings:
    """Return a preset with some choices changed, all of them checked.

    Parameters
    ----------
    preset : {"default", "paper", "literal"} or Settings
        Where the other choices come from.
    changes : mapping of str to object
        Names of settings and their values; None leaves the preset's.
    """
    if isinstance(preset, Settings):
        base = preset
    elif isinstance(preset, str):
        base = PRESETS[one_of("preset", preset, PRESETS)]
    else:
        raise TypeError(
            f"preset={preset!r} is a {type(preset).__name__}; choose one of {', '.join(map(repr, PRESETS))}, "
            "or give Settings."
        )
    chosen = {name: value for name, value in changes.items() if value is not None}
    kinds = get_type_hints(Settings, include_extras=True)
    for name in chosen:
        one_of("the setting", name, kinds)
    checked = {}
    for setting in fields(Settings):
        value = chosen.get(setting.name, getattr(base, setting.name))
        checked[setting.name] = _checked(setting.name, value, kinds[setting.name])
    return Settings(**checked)


def _checked(name: str, value: Any, kind: Any) -> Any:
    """Return the value in the kind that the annotation asks for, or say what was given and what to give."""
    options = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    if value is None and NoneType in options:
        return None
    words = [word for option in options if get_origin(option) is Literal for word in get_args(option)]
    others = [option for option in options if option is not NoneType and get_origin(option) is not Literal]
    if words and (isinstance(value, str) or not others):
        return one_of(name, value, words, or_else="numbers" if others else "")
    return _limited(name, value, others[0])


def _limited(name: str, value: Any, kind: Any) -> Any:
    """Return a word, a flag, a number or several numbers, within the limit of the annotation."""
    limit: Any = None
    if get_origin(kind) is Annotated:
        kind, limit = get_args(kind)
    if kind is str:
        return one_of(name, value, limit.words)
    if kind is bool:
        return bool(one_of(name, value, (True, False)))
    if kind is int:
        return whole(name, value, limit.lowest)
    if get_origin(kind) is tuple and isinstance(limit, OneOf):
        return tuple(one_of(name, word, limit.words) for word in texts(name, value))
    if get_origin(kind) is tuple:
        return tuple(_within(f"{name}[{i}]", v, limit) for i, v in enumerate(numbers(name, value)))
    return _within(name, number(name, value), limit)


def _within(name: str, value: float, limit: Above | AtLeast | None) -> float:
    """Return a number that its limit allows; only where it has a meaning it may be infinite."""
    if isinstance(limit, Above) and limit.or_infinite:
        if not value > limit.lowest:
            raise ValueError(f"{name}={value!r}; give a number above {limit.lowest:g}, or inf for all.")
        return value
    if isinstance(limit, Above) and not (np.isfinite(value) and value > limit.lowest):
        raise ValueError(f"{name}={value!r}; give a finite number above {limit.lowest:g}.")
    if isinstance(limit, AtLeast) and not (np.isfinite(value) and value >= limit.lowest):
        raise ValueError(f"{name}={value!r}; give a finite number of {limit.lowest:g} or more.")
    if not np.isfinite(value):
        raise ValueError(f"{name}={value!r}; give a finite number.")
    return value
