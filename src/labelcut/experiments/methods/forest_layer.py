"""The tuned forest with LabelCut's probability layer on top: what the cut itself adds is the difference."""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from labelcut.experiments.methods.base import (
    Inputs,
    Outcome,
    Stopwatch,
    Values,
    class_probability,
    most_likely,
    of_label,
    spread,
)
from labelcut.experiments.methods.forest import tune_forest
from labelcut.hnc.calibration import (
    NoiseRates,
    estimate_noise,
    fit_logistic,
    true_class_probability,
    wrong_label_probability,
)
from labelcut.hnc.flags import flag_by_expected_f1

CLIP = 0.02
"""As in the prior of the default preset."""


def fit(inputs: Inputs) -> Outcome:
    """Calibrate the forest's log-odds, undo the noise, flag by expected F1: the recipe's last steps.

    More than two classes are taken one against the rest, and their probabilities brought to sum 1.
    """
    watch = Stopwatch()
    forest = tune_forest(inputs, watch)
    with watch.stage("layer"):
        seen = class_probability(forest.model, inputs.X, inputs.n_classes)
        opinion = spread(inputs, forest.out_of_bag, seen)
        classes = [1] if inputs.n_classes == 2 else list(range(inputs.n_classes))
        layers = [_layer(inputs, opinion[:, code], code) for code in classes]
        positive = np.column_stack([probability for probability, _, _ in layers])
        if inputs.n_classes == 2:
            columns, p_wrong = np.column_stack([1 - positive, positive]), layers[0][1]
            probability: Values = positive[:, 0]
        else:
            columns = probability = positive / positive.sum(axis=1, keepdims=True)
            p_wrong = of_label(inputs, np.column_stack([wrong for _, wrong, _ in layers]))
        predicted = most_likely(columns)
        labeled = inputs.is_labeled
        flagged = labeled & (predicted != inputs.given)
        flagged[labeled] &= flag_by_expected_f1(p_wrong[labeled])
        p_wrong = np.where(labeled, p_wrong, np.nan)
    rates = layers[0][2]
    return Outcome(
        predicted=predicted,
        is_flagged=flagged,
        suspicion=p_wrong,
        probability=probability,
        p_wrong=p_wrong,
        seconds=watch.seconds,
        notes={
            "leaf_share": forest.leaf_share,
            "noise_rates": [round(rates.negative, 4), round(rates.positive, 4)]
            if inputs.n_classes == 2
            else [round(found.positive, 4) for _, _, found in layers],
        },
    )


def _layer(inputs: Inputs, opinion: Values, code: int) -> tuple[Values, Values, NoiseRates]:
    """Give P(row is of this class), P(a label is wrong) seen from it, and the noise rates behind both."""
    labeled = inputs.is_labeled
    score = logit(np.clip(opinion, CLIP, 1 - CLIP))
    is_positive = inputs.given == code
    curve = fit_logistic(score[labeled], is_positive[labeled])
    rates = estimate_noise(score[labeled], score[labeled] > 0, is_positive[labeled])
    probability = true_class_probability(curve(score), rates)
    return probability, wrong_label_probability(probability, is_positive, rates), rates
