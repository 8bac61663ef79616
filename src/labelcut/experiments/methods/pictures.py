"""Who judges labels by opinions: LabelCut, cleanlab's scores and filters, Datalab, and contradiction."""

from __future__ import annotations

import contextlib
import io

import numpy as np

from labelcut.experiments.methods.base import Outcome, Values, most_likely
from labelcut.experiments.noise import Mask
from labelcut.experiments.pictures import PictureTask


def labelcut(task: PictureTask) -> Outcome:
    """Fit without columns: ``fit(None, y, opinions=..., embedding=...)``."""
    from labelcut import ConfidenceHNC

    neighbors = {} if task.embedding is None else {"embedding": task.embedding}
    model = ConfidenceHNC(n_jobs=1).fit(None, task.given, opinions=task.opinions, **neighbors)
    return Outcome(
        predicted=np.asarray(model.transduction_, dtype=np.int64),
        is_flagged=model.is_label_issue_,
        suspicion=model.p_wrong_,
        probability=model.label_distributions_,
        p_wrong=model.p_wrong_,
        notes={"weights": {name: round(weight, 3) for name, weight in model.expert_weights_.items()}},
    )


def self_confidence(task: PictureTask) -> Outcome:
    """Suspect a label by 1 - its probability, and flag it from one half on."""
    suspicion = 1 - _of_label(task)
    return _outcome(task, suspicion > 0.5, suspicion, p_wrong=suspicion)


def prediction_differs(task: PictureTask) -> Outcome:
    """Flag where the likeliest class is another one; rank by the log-odds of the likeliest other class."""
    logs = np.log(np.maximum(task.mean_opinion, 1e-300))
    rows = np.arange(task.given.size)
    own = logs[rows, task.given].copy()
    logs[rows, task.given] = -np.inf
    return _outcome(task, most_likely(task.mean_opinion) != task.given, logs.max(axis=1) - own)


def cleanlab_filter(task: PictureTask, filter_by: str) -> Outcome:
    """Flag by one of cleanlab's filters; rank by self-confidence, as it does."""
    from cleanlab.filter import find_label_issues

    mask = find_label_issues(task.given, task.mean_opinion, filter_by=filter_by, n_jobs=1)
    return _outcome(task, np.asarray(mask, dtype=bool), 1 - _of_label(task))


def datalab(task: PictureTask) -> Outcome:
    """Let Datalab judge by probabilities and, where there is an embedding, by features beside them."""
    from cleanlab import Datalab

    features = {} if task.embedding is None else {"features": task.embedding}
    alone = {"label": {"clean_learning_kwargs": {"find_label_issues_kwargs": {"n_jobs": 1}}}}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        lab = Datalab({"label": task.given.tolist()}, label_name="label", verbosity=0)
        lab.find_issues(pred_probs=task.mean_opinion, issue_types=alone, **features)
        try:
            issues = lab.get_issues("label")
        except ValueError as error:  # what went wrong before was only printed
            raise ValueError(f"Datalab gave up: {printed.getvalue().strip()}") from error
    return _outcome(
        task, issues["is_label_issue"].to_numpy(dtype=bool), 1 - issues["label_score"].to_numpy(dtype=float)
    )


def _of_label(task: PictureTask) -> Values:
    found: Values = task.mean_opinion[np.arange(task.given.size), task.given]
    return found


def _outcome(
    task: PictureTask, is_flagged: Mask, suspicion: Values, *, p_wrong: Values | None = None
) -> Outcome:
    """Give a rival's answers; without a P(wrong) it expects what it flags."""
    return Outcome(
        predicted=most_likely(task.mean_opinion),
        is_flagged=is_flagged,
        suspicion=suspicion,
        probability=task.mean_opinion,
        p_wrong=p_wrong,
        expected_wrong=None if p_wrong is not None else float(is_flagged.sum()),
    )
