"""Draw the pictures of method.md: ``python docs/panel_pictures.py`` writes them beside this file."""

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_wine, make_moons

from labelcut import ConfidenceHNC

HERE = Path(__file__).parent
BLUE, ORANGE, GREY = "#2f6690", "#d1495b", "#8d8d8d"


def draw_experts():
    """Draw what each expert thinks of every row, and what the pool makes of it."""
    X, truth = make_moons(400, noise=0.25, random_state=0)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.2, 1 - truth, truth)
    clf = ConfidenceHNC().fit(X, y)
    panel, order = clf._answer.verdict, clf.row_order_
    named = panel.opinions | {"all together": clf._answer.found.distribution}
    fig, axes = plt.subplots(1, len(named), figsize=(11, 3.0), layout="constrained", sharex=True, sharey=True)
    for ax, (name, opinion) in zip(axes, named.items(), strict=True):
        drawn = ax.scatter(*X[order].T, c=opinion[:, 1], s=9, cmap="coolwarm", vmin=0, vmax=1)
        weight = clf.expert_weights_.get(name)
        title = name.replace("_", " ")
        ax.set_title(title if weight is None else f"{title}: weight {weight:.2f}", fontsize=10)
        ax.set_xticks([])
        ax.set_yticks([])
    fig.colorbar(drawn, ax=axes, label="P(class 1)")
    fig.savefig(HERE / "panel-experts.png", dpi=80)


def draw_floor():
    """Draw the share of contrary labels over sureness, for noise, for overlap and for both."""
    u = np.linspace(0.005, 0.995, 200)
    z = norm.ppf((1 + u) / 2)
    curves = {
        "noise of 15 %, classes apart": 0.15 + 0.7 * expit(-3.5 * z),
        "right labels, classes overlap": expit(-1.2 * z),
        "both: 8 % noise and overlap": 0.08 + 0.84 * expit(-1.8 * z),
    }
    fig, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    for (name, curve), color in zip(curves.items(), (ORANGE, BLUE, GREY), strict=True):
        ax.plot(u, curve, color=color, label=name)
    ax.axhline(0.15, color=ORANGE, lw=0.7, ls=":")
    ax.axhline(0.08, color=GREY, lw=0.7, ls=":")
    ax.set_xlabel("sureness: rank of the row on its side")
    ax.set_ylabel("share of contrary labels")
    ax.set_ylim(0, 0.52)
    ax.legend(fontsize=8)
    fig.savefig(HERE / "panel-floor.png", dpi=90)


def draw_evidence():
    """Draw by how many standard errors labels are ranked better than shuffled ones."""
    rng = np.random.default_rng(0)
    tables = {"breast cancer": load_breast_cancer(return_X_y=True), "wine": load_wine(return_X_y=True)}
    groups = {"labels shuffled": [], "30 % of the labels wrong": []}
    for X, y in tables.values():
        for _ in range(6):
            wrong = rng.random(y.size) < 0.3
            moved = np.where(wrong, (y + rng.integers(1, y.max() + 1, y.size)) % (y.max() + 1), y)
            for group, given in (
                ("labels shuffled", rng.permutation(y)),
                ("30 % of the labels wrong", moved),
            ):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    groups[group].append(ConfidenceHNC().fit(X, given).evidence_.z)
    fig, ax = plt.subplots(figsize=(6.4, 2.0), layout="constrained")
    for height, (name, color) in enumerate((("labels shuffled", BLUE), ("30 % of the labels wrong", ORANGE))):
        ax.scatter(groups[name], np.full(len(groups[name]), height), color=color, s=22)
    ax.axvline(3.0, color=GREY, ls=":")
    ax.set_yticks([0, 1], list(groups), fontsize=8)
    ax.set_ylim(-0.5, 1.5)
    ax.set_xlabel("standard errors better than shuffled labels")
    ax.text(2.9, 1.25, "no label is called wrong", ha="right", fontsize=8, color=GREY)
    fig.savefig(HERE / "panel-evidence.png", dpi=90)


if __name__ == "__main__":
    draw_experts()
    draw_floor()
    draw_evidence()
