"""Most rows have no label
=======================

569 tumours of scikit-learn's breast cancer table, but a doctor has looked at one in six of them, and one
label in ten is wrong. Which are the others, how sure can one be of each, and which should the doctor see
next?

One ``fit`` takes all rows; ``-1`` marks those without a label. The probability of a row says how sure the
answer is, so rows can be taken over from the top and left to a person at the bottom. A forest that learns
from the labeled rows alone is right about as often, but it takes the wrong labels at their word: it can be
sure of far fewer rows.

Run ``python examples/unlabeled_rows.py``, with a file name as argument for a picture.
"""

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from labelcut import ConfidenceHNC


def mostly_unlabeled(share: float = 1 / 6, wrong: float = 0.1, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Return the columns, the true classes, and what is known of them: -1 where nothing is."""
    X, truth = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(seed)
    given = np.where(rng.random(truth.size) < wrong, 1 - truth, truth)
    given[rng.random(truth.size) >= share] = -1
    return X, truth, given


def main() -> None:
    """Classify the unlabeled rows and say how far the answers can be trusted."""
    X, truth, given = mostly_unlabeled()
    is_unlabeled = given == -1
    is_wrong = ~is_unlabeled & (given != truth)
    print(f"{(~is_unlabeled).sum()} rows have a label, {is_wrong.sum()} of them a wrong one")
    clf = ConfidenceHNC().fit(X, given)
    forest = RandomForestClassifier(random_state=0).fit(X[~is_unlabeled], given[~is_unlabeled])
    shares = {"LabelCut": clf.label_distributions_, "forest": forest.predict_proba(X)}
    for name, share in shares.items():
        is_right = share.argmax(axis=1) == truth
        is_sure = is_unlabeled & (share.max(axis=1) >= 0.95)
        print(
            f"{name:8}  {is_right[is_unlabeled].mean():.1%} of the others right; at least 95% sure of "
            f"{is_sure.sum()} rows, {is_right[is_sure].mean():.1%} of them right"
        )
    sureness, is_right = clf.label_distributions_.max(axis=1), clf.transduction_ == truth
    ask = np.flatnonzero(is_unlabeled)[np.argsort(sureness[is_unlabeled], kind="stable")[:5]]
    print("to look at next: rows", *ask)
    if len(sys.argv) > 1:
        draw(sureness[is_unlabeled], is_right[is_unlabeled], sys.argv[1])


def draw(sureness: np.ndarray, is_right: np.ndarray, file: str) -> None:
    """Save how many answers are right among those that are taken over from the top."""
    import matplotlib.pyplot as plt

    order = np.argsort(-sureness, kind="stable")
    taken = np.arange(1, order.size + 1)
    figure, axis = plt.subplots(figsize=(6.4, 3.0), layout="constrained")
    axis.plot(taken, np.cumsum(is_right[order]) / taken, color="tab:blue", label="right so far")
    axis.plot(taken, sureness[order], color="tab:orange", label="said of the row itself")
    axis.set_xlabel("rows taken over, surest first")
    axis.set_ylabel("share, probability")
    axis.set_ylim(0.45, 1.02)
    axis.legend(frameon=False, loc="lower left")
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=100)


if __name__ == "__main__":
    main()
