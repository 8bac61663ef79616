"""Ways to combine the labels of several annotators: majority, Dawid-Skene, CROWDLAB and ours."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from labelcut.experiments.crowds import CrowdOutcome, CrowdTask, majority_of, votes
from labelcut.experiments.data import Matrix


def majority(task: CrowdTask) -> CrowdOutcome:
    """Take the most frequent label; a tie is drawn. Worth is agreement with it."""
    counts = votes(task.said, task.n_classes)
    share = counts / counts.sum(axis=1, keepdims=True)
    consensus = majority_of(task.said, task.n_classes)
    is_given = task.said != -1
    quality = ((task.said == consensus[:, None]) & is_given).sum(axis=0) / is_given.sum(axis=0)
    return CrowdOutcome(consensus, quality, _outcome(task, share, quality).suspicion)


def dawid_skene(task: CrowdTask) -> CrowdOutcome:
    """Dawid and Skene's method of crowd-kit; worth is the accuracy that its confusions imply."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    row, who = np.nonzero(task.said != -1)
    table = pd.DataFrame({"task": row, "worker": who, "label": task.said[row, who]})
    found = DawidSkene(n_iter=100).fit(table)
    classes = range(task.n_classes)
    p = found.probas_.reindex(index=range(len(task.said)), columns=classes, fill_value=0.0).to_numpy()
    errors, shares = found.errors_, p.mean(axis=0)
    quality = np.zeros(task.said.shape[1])
    for j in range(quality.size):
        own = errors.loc[j].reindex(index=classes, columns=classes, fill_value=0.0).to_numpy()
        quality[j] = np.diag(own) @ shares
    return _outcome(task, p, quality)


def crowdlab(task: CrowdTask) -> CrowdOutcome:
    """CROWDLAB of cleanlab with the same opinion; suspicion is 1 - its quality of each label.

    It refuses one label a row and names the function to use then, which is used: the answer is the label.
    """
    import pandas as pd
    from cleanlab.multiannotator import get_label_quality_multiannotator
    from cleanlab.rank import get_label_quality_scores

    is_given = task.said != -1
    if (is_given.sum(axis=1) == 1).all():
        only = task.said.max(axis=1)
        own = get_label_quality_scores(only, task.opinion)
        suspicion = np.where(is_given, 1.0 - own[:, None], np.nan)
        return CrowdOutcome(only, np.ones(task.said.shape[1]), suspicion)
    said = pd.DataFrame(np.where(task.said == -1, np.nan, task.said))
    found = get_label_quality_multiannotator(said, task.opinion, verbose=False)
    per_row = found["label_quality"]
    stats = found["annotator_stats"]["annotator_quality"].reindex(range(task.said.shape[1]))
    suspicion = 1.0 - found["detailed_label_quality"].to_numpy(dtype=np.float64)
    return CrowdOutcome(
        per_row["consensus_label"].to_numpy(dtype=np.int64), stats.to_numpy(dtype=np.float64), suspicion
    )


def combined(task: CrowdTask) -> CrowdOutcome:
    """Ours without an opinion."""
    return _combined(task, None)


def combined_opinion(task: CrowdTask) -> CrowdOutcome:
    """Ours with the opinion that CROWDLAB is given."""
    return _combined(task, task.opinion)


def _combined(task: CrowdTask, opinion: Matrix | None) -> CrowdOutcome:
    import pandas as pd

    from labelcut.annotators import combine

    row, who = np.nonzero(task.said != -1)
    table = pd.DataFrame({"item": row, "annotator": who, "label": task.said[row, who]})
    found = combine(table, opinions=None if opinion is None else {"model": pd.DataFrame(opinion)})
    suspicion = np.full(task.said.shape, np.nan)
    suspicion[row, who] = found.labels["p_wrong"]
    quality = found.annotator_quality["quality"].reindex(range(task.said.shape[1])).to_numpy()
    return CrowdOutcome(found.consensus["consensus"].to_numpy(dtype=np.int64), quality, suspicion)


def fitted(task: CrowdTask) -> CrowdOutcome:
    """Ours with the columns: ConfidenceHNC, its panel asked for forest and cut."""
    from labelcut import ConfidenceHNC

    if task.X is None:
        raise ValueError("pictures have no columns; ask combined_opinion.")
    found = ConfidenceHNC(experts=["forest", "cut"]).fit(task.X, task.said)
    quality = found.annotator_quality_["quality"].to_numpy()
    return CrowdOutcome(found.consensus_.astype(np.int64), quality, found.label_p_wrong_)


def _outcome(task: CrowdTask, p: npt.NDArray[np.float64], quality: npt.NDArray[np.float64]) -> CrowdOutcome:
    """Read answers and suspicion off the probability of each class."""
    own = np.take_along_axis(p, np.maximum(task.said, 0), axis=1)
    return CrowdOutcome(p.argmax(axis=1), quality, np.where(task.said != -1, 1.0 - own, np.nan))
