"""The tuned forest with LabelCut's probability layer on top: what the cut itself adds is the difference."""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from labelcut.experiments.methods.base import Inputs, Outcome, Stopwatch, positive_probability, spread
from labelcut.experiments.methods.forest import tune_forest
from labelcut.hnc.calibration import (
    estimate_noise,
    fit_logistic,
    true_class_probability,
    wrong_label_probability,
)
from labelcut.hnc.flags import flag_by_expected_f1

CLIP = 0.02
"""As in the prior of the default preset."""


def fit(inputs: Inputs) -> Outcome:
    """Calibrate the forest's log-odds, undo the noise, flag by expected F1: the recipe's last steps."""
    watch = Stopwatch()
    labeled = inputs.is_labeled
    forest = tune_forest(inputs, watch)
    with watch.stage("layer"):
        opinion = spread(inputs, forest.out_of_bag, positive_probability(forest.model, inputs.X))
        score = logit(np.clip(opinion, CLIP, 1 - CLIP))
        is_positive = inputs.given[labeled] == 1
        curve = fit_logistic(score[labeled], is_positive)
        side = score[labeled] > 0
        rates = estimate_noise(score[labeled], side, is_positive)
        probability = true_class_probability(curve(score), rates)
        p_wrong = wrong_label_probability(probability[labeled], is_positive, rates)
        flagged = np.zeros(len(inputs.given), dtype=bool)
        flagged[labeled] = flag_by_expected_f1(p_wrong) & ((probability[labeled] > 0.5) != is_positive)
    return Outcome(
        predicted=(probability > 0.5).astype(np.int64),
        is_flagged=flagged,
        suspicion=spread(inputs, p_wrong),
        probability=probability,
        seconds=watch.seconds,
        notes={
            "leaf_share": forest.leaf_share,
            "noise_rates": [round(rates.negative, 4), round(rates.positive, 4)],
        },
    )
