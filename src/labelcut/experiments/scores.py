"""Task + Outcome -> the numbers of one result line."""

from __future__ import annotations

import numpy as np

from labelcut.experiments.methods.base import Outcome, Values
from labelcut.experiments.noise import Mask, Task

CLIP = 1e-3
"""Probabilities are kept this far from 0 and 1 in the log-loss, as in the recipe."""
RELIABILITY_BINS = 10
CONFIDENCE_BINS = 20


def score(task: Task, outcome: Outcome) -> dict[str, float | None]:
    """Measure predictions on the unlabeled rows, flags and ranking on the labeled ones.

    All shares are fractions. A number that cannot be had (no probabilities, no wrong label) is None.
    """
    test, labeled = ~task.is_labeled, task.is_labeled
    truth, predicted = task.truth[test], outcome.predicted[test]
    recalls = [np.mean(predicted[truth == code] == code) for code in (0, 1) if (truth == code).any()]
    values: dict[str, float | None] = {
        "accuracy": float(np.mean(predicted == truth)),
        "balanced_accuracy": float(np.mean(recalls)),
        **noise_scores(task.is_wrong[labeled], outcome.is_flagged[labeled]),
        "average_precision": None,
        "noise_auc": ranking_auc(task.is_wrong[labeled], outcome.suspicion[labeled]),
        "confidence_auc": None,
        "log_loss": None,
        "brier": None,
    }
    if task.is_wrong.sum() > 0:
        from sklearn.metrics import average_precision_score

        values["average_precision"] = float(
            average_precision_score(task.is_wrong[labeled], outcome.suspicion[labeled])
        )
    if outcome.confidence is not None:
        values["confidence_auc"] = ranking_auc(task.is_wrong[labeled], -outcome.confidence[labeled])
    if outcome.probability is not None:
        p = np.clip(outcome.probability[test], CLIP, 1 - CLIP)
        values["log_loss"] = float(-np.mean(np.log(np.where(truth == 1, p, 1 - p))))
        values["brier"] = float(np.mean((outcome.probability[test] - truth) ** 2))
    for rule, flags in outcome.other_flags.items():
        values |= {
            f"{name}:{rule}": value
            for name, value in noise_scores(task.is_wrong[labeled], flags[labeled]).items()
        }
    return values


def noise_scores(is_wrong: Mask, is_flagged: Mask) -> dict[str, float | None]:
    """Precision, recall and F1 of the flags; precision of no flag at all is 0."""
    if not is_wrong.any():
        return {"noise_precision": None, "noise_recall": None, "noise_f1": None}
    found = int((is_wrong & is_flagged).sum())
    flagged, wrong = int(is_flagged.sum()), int(is_wrong.sum())
    return {
        "noise_precision": found / flagged if flagged else 0.0,
        "noise_recall": found / wrong,
        "noise_f1": 2 * found / (flagged + wrong),
    }


def ranking_auc(is_wrong: Mask, suspicion: Values) -> float | None:
    """Chance that a wrong label is ranked above a right one; ties count half."""
    if is_wrong.all() or not is_wrong.any():
        return None
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(is_wrong, suspicion))


def histograms(task: Task, outcome: Outcome) -> dict[str, list[list[float]]]:
    """Count what the figures show, so that they can be drawn from result lines alone.

    ``reliability``: rows per bin of P(positive), their summed P, their positives (test rows).
    ``confidence``: labels per bin of confidence: clean negatives, wrong ones labeled negative, clean
    positives, wrong ones labeled positive.
    """
    counts: dict[str, list[list[float]]] = {}
    if outcome.probability is not None:
        test = ~task.is_labeled
        p, truth = np.clip(outcome.probability[test], 0, 1), task.truth[test]
        edges = np.linspace(0, 1, RELIABILITY_BINS + 1)
        columns = [np.histogram(p, edges, weights=w)[0] for w in (np.ones(len(p)), p, truth)]
        counts["reliability"] = [[round(float(v), 3) for v in column] for column in columns]
    if outcome.confidence is not None:
        edges = np.linspace(0, 1, CONFIDENCE_BINS + 1)
        counts["confidence"] = [
            np.histogram(np.clip(outcome.confidence[chosen], 0, 1), edges)[0].tolist()
            for code in (0, 1)
            for chosen in (
                (task.given == code) & ~task.is_wrong,
                (task.given == code) & task.is_wrong,
            )
        ]
    return counts
