"""LabelCut's own estimators: the presets of ConfidenceHNC, and HNC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from labelcut import HNC, ConfidenceHNC
from labelcut.experiments.methods.base import Inputs, Outcome, Stopwatch, Values
from labelcut.hnc.columns import scale_columns
from labelcut.hnc.forest import fit_forest
from labelcut.hnc.order import canonical_order
from labelcut.hnc.settings import settings_of


@dataclass(frozen=True)
class Importances:
    """Share of each column in the forest tuned the paper's way, and what that forest cost."""

    values: Values
    seconds: float


def fit(inputs: Inputs, preset: str = "default", share_forest: bool = False, **settings: Any) -> Outcome:
    """Fit ConfidenceHNC.

    ``share_forest`` takes the importances of the paper's forest as given where an earlier run had the same
    table and seed: the answer is the same, the forest's time is charged again.
    """
    watch = Stopwatch()
    if share_forest:
        settings["importances"] = paper_importances(inputs, watch)
    model = ConfidenceHNC(settings_of(preset, settings), random_state=inputs.seed, n_jobs=inputs.n_jobs)
    outcome = _outcome(inputs, model, watch)
    if preset == "paper" and not settings:
        found = Importances(model.feature_importances_, model.timings_["forest"])
        inputs.kept.keep("importances", inputs.fingerprint, found)
    return outcome


def fit_hnc(inputs: Inputs, **settings: Any) -> Outcome:
    """Fit HNC with the paper's graph. It never doubts a label: it flags none and ranks them all alike."""
    watch = Stopwatch()
    settings["importances"] = paper_importances(inputs, watch)
    model = HNC(settings_of("paper", settings), random_state=inputs.seed, n_jobs=inputs.n_jobs)
    return _outcome(inputs, model, watch)


def paper_importances(inputs: Inputs, watch: Stopwatch) -> Values:
    """Give the importances that ``ConfidenceHNC("paper")`` finds on this table with this seed."""
    kept: Importances | None = inputs.kept.find("importances", inputs.fingerprint)
    if kept is not None:
        watch.charge("forest", kept.seconds)
        return kept.values
    with watch.stage("forest"):
        order = canonical_order(inputs.X, inputs.given, np.ones(len(inputs.given)))
        X, _ = scale_columns(inputs.X[order])
        forest = fit_forest(
            X, inputs.given[order], tuning="cv", random_state=inputs.seed, n_jobs=inputs.n_jobs
        )
    found = Importances(forest.importances, watch.seconds["forest"])
    return inputs.kept.keep("importances", inputs.fingerprint, found).values


def _outcome(inputs: Inputs, model: Any, watch: Stopwatch) -> Outcome:
    model.fit(inputs.X, inputs.given)
    for stage, seconds in model.timings_.items():
        watch.seconds[stage] = watch.seconds.get(stage, 0.0) + seconds
    columns = np.zeros((len(inputs.given), inputs.n_classes))
    columns[:, np.asarray(model.classes_, dtype=np.intp)] = model.label_distributions_
    evidence = getattr(model, "evidence_", None)
    return Outcome(
        predicted=np.asarray(model.transduction_, dtype=np.int64),
        is_flagged=model.is_label_issue_,
        suspicion=model.p_wrong_,
        probability=columns[:, 1] if inputs.n_classes == 2 else columns,
        p_wrong=model.p_wrong_,
        has_evidence=None if evidence is None else bool(evidence.is_there),
        confidence=model.label_confidence_,
        seconds=watch.seconds,
        notes={
            "tradeoff": _rounded(model.tradeoff_),
            "prior_strength": _rounded(model.prior_strength_),
            "noise_rates": [round(float(rate), 4) for rate in model.noise_rates_],
            "no_evidence": int((model.status_ == "no evidence").sum()),
        },
    )


def _rounded(chosen: Any) -> float | list[float]:
    """Give what the folds chose, a number or one per class, to six digits."""
    found: float | list[float] = np.round(np.asarray(chosen, dtype=np.float64), 6).tolist()
    return found
