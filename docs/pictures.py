"""Draw the pictures of guide.md: ``python docs/pictures.py`` writes them beside this file."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from labelcut import ConfidenceHNC

HERE = Path(__file__).parent
BLUE, ORANGE, GREY = "#2f6690", "#d1495b", "#c9c9c9"


def noisy_moons(n_rows=600, seed=0):
    """Two half circles: 15 % of the labels wrong, 40 % of the rows unlabeled."""
    X, truth = make_moons(n_rows, noise=0.18, random_state=seed)
    rng = np.random.default_rng(seed)
    given = np.where(rng.random(n_rows) < 0.15, 1 - truth, truth)
    given[rng.random(n_rows) < 0.4] = -1
    return X, given, truth


def draw_table_and_answer(X, given, clf):
    """Left what is given, right what comes out."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharex=True, sharey=True)
    for code, color in ((-1, GREY), (0, BLUE), (1, ORANGE)):
        rows = given == code
        left.scatter(*X[rows].T, s=10, color=color, label="unlabeled" if code < 0 else f"labeled {code}")
    for code, color in ((0, BLUE), (1, ORANGE)):
        rows = clf.transduction_ == code
        right.scatter(*X[rows].T, s=10, color=color, label=f"class {code}")
    flagged = clf.is_label_issue_
    right.scatter(*X[flagged].T, s=60, facecolors="none", edgecolors="black", label="label flagged as wrong")
    for ax, title in ((left, "the table"), (right, "transduction_ and is_label_issue_")):
        ax.set_title(title)
        ax.legend(loc="lower left", fontsize=7)
        ax.set_xticks([])
        ax.set_yticks([])
    fig.savefig(HERE / "guide-answer.png", dpi=110)


def draw_suspicion(given, truth, clf):
    """Confidence and probability of being wrong, for right and for wrong labels."""
    is_labeled = given != -1
    is_wrong = is_labeled & (given != truth)
    fig, axes = plt.subplots(1, 2, figsize=(9, 2.8), layout="constrained")
    for ax, values, title in (
        (axes[0], clf.label_confidence_, "label_confidence_"),
        (axes[1], clf.p_wrong_, "p_wrong_"),
    ):
        bins = np.linspace(0, 1, 21)
        ax.hist(values[is_labeled & ~is_wrong], bins, color=BLUE, alpha=0.7, label="right labels")
        ax.hist(values[is_wrong], bins, color=ORANGE, alpha=0.7, label="wrong labels")
        ax.set_title(title)
        ax.set_ylabel("rows")
        ax.legend(fontsize=7)
    fig.savefig(HERE / "guide-suspicion.png", dpi=110)


def draw_reliability():
    """Stated probability against the share of rows that truly are of the class, over several tables."""
    stated, true = [], []
    for seed in range(12):
        X, given, truth = noisy_moons(400, seed)
        clf = ConfidenceHNC().fit(X, given)
        hidden = given == -1
        stated.append(clf.label_distributions_[hidden, 1])
        true.append(truth[hidden])
    stated, true = np.concatenate(stated), np.concatenate(true)
    edges = np.linspace(0, 1, 9)
    bucket = np.clip(np.digitize(stated, edges) - 1, 0, 7)
    fig, ax = plt.subplots(figsize=(3.8, 3.6), layout="constrained")
    ax.plot([0, 1], [0, 1], color=GREY)
    points = [
        (stated[bucket == b].mean(), true[bucket == b].mean()) for b in range(8) if (bucket == b).sum() > 10
    ]
    ax.plot(*np.transpose(points), "o-", color=BLUE)
    ax.set_xlabel("stated probability")
    ax.set_ylabel("share that is of the class")
    ax.set_title("unlabeled rows of 12 tables")
    fig.savefig(HERE / "guide-reliability.png", dpi=110)


if __name__ == "__main__":
    X, given, truth = noisy_moons()
    clf = ConfidenceHNC().fit(X, given)
    draw_table_and_answer(X, given, clf)
    draw_suspicion(given, truth, clf)
    draw_reliability()
