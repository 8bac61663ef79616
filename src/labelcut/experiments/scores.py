"""Task + Outcome -> the numbers of one result line."""

from __future__ import annotations

import numpy as np

from labelcut.experiments.methods.base import Outcome, Values, by_class
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
    recalls = [np.mean(predicted[truth == code] == code) for code in np.unique(truth)]
    values: dict[str, float | None] = {
        "accuracy": float(np.mean(predicted == truth)),
        "balanced_accuracy": float(np.mean(recalls)),
        **noise_scores(task.is_wrong[labeled], outcome.is_flagged[labeled]),
        "average_precision": None,
        "noise_auc": ranking_auc(task.is_wrong[labeled], outcome.suspicion[labeled]),
        "confidence_auc": None,
        "log_loss": None,
        "brier": None,
        **alarm_scores(task, outcome),
        **review_scores(task, outcome),
    }
    if task.is_wrong.sum() > 0:
        from sklearn.metrics import average_precision_score

        values["average_precision"] = float(
            average_precision_score(task.is_wrong[labeled], outcome.suspicion[labeled])
        )
    if outcome.confidence is not None:
        values["confidence_auc"] = ranking_auc(task.is_wrong[labeled], -outcome.confidence[labeled])
    if outcome.probability is not None:
        columns = by_class(outcome.probability)[test]
        hit = columns[np.arange(len(truth)), truth]
        values["log_loss"] = float(-np.mean(np.log(np.clip(hit, CLIP, 1 - CLIP))))
        # Of two classes it is the usual one, (P(positive) - truth)^2.
        values["brier"] = float(np.mean(((columns - np.eye(columns.shape[1])[truth]) ** 2).sum(axis=1)) / 2)
    for rule, flags in outcome.other_flags.items():
        values |= {
            f"{name}:{rule}": value
            for name, value in noise_scores(task.is_wrong[labeled], flags[labeled]).items()
        }
    return values


def alarm_scores(task: Task, outcome: Outcome) -> dict[str, float | None]:
    """Count wrong and flagged labels, the most flagged of one class, and whether evidence is claimed.

    ``wrong_share`` and ``flagged_share`` are of all labels, ``worst_class_flagged`` is the largest share
    flagged of the labels of one class, ``says_evidence`` is 1 or 0.
    """
    labeled = task.is_labeled
    by_label = [np.mean(outcome.is_flagged[task.given == code]) for code in np.unique(task.given[labeled])]
    return {
        "wrong_share": float(np.mean(task.is_wrong[labeled])),
        "flagged_share": float(np.mean(outcome.is_flagged[labeled])),
        "worst_class_flagged": float(max(by_label)),
        "says_evidence": None if outcome.has_evidence is None else float(outcome.has_evidence),
    }


def review_scores(task: Task, outcome: Outcome) -> dict[str, float | None]:
    """Give what the method expects to be wrong, and what its list of suspects promises and holds.

    ``expected_share`` is the expected number of wrong labels in shares of the labels. The list has as many
    suspects as wrong labels are expected, surest first: ``review_length`` of them, ``review_promised`` the
    sum of their P(wrong), ``review_found`` how many of them are wrong.
    """
    labeled = task.is_labeled
    p_wrong = None if outcome.p_wrong is None else outcome.p_wrong[labeled]
    expected = outcome.expected_wrong
    if expected is None and p_wrong is not None:
        expected = float(p_wrong.sum())
    values: dict[str, float | None] = {
        "expected_share": None if expected is None else expected / int(labeled.sum()),
        "review_length": None,
        "review_promised": None,
        "review_found": None,
    }
    if p_wrong is not None and expected is not None:
        suspects = np.argsort(-outcome.suspicion[labeled], kind="stable")[: round(expected)]
        values["review_length"] = float(len(suspects))
        values["review_promised"] = float(p_wrong[suspects].sum())
        values["review_found"] = float(task.is_wrong[labeled][suspects].sum())
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
    if outcome.probability is not None and task.n_classes == 2:
        test = ~task.is_labeled
        p, truth = np.clip(by_class(outcome.probability)[test, 1], 0, 1), task.truth[test]
        edges = np.linspace(0, 1, RELIABILITY_BINS + 1)
        columns = [np.histogram(p, edges, weights=w)[0] for w in (np.ones(len(p)), p, truth)]
        counts["reliability"] = [[round(float(v), 3) for v in column] for column in columns]
    if outcome.confidence is not None and task.n_classes == 2:
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
