"""Your own model is one more expert
=================================

1797 digits that come with scikit-learn, one label in ten made wrong. The table has how dark the columns and
every second row of a picture are; the pictures themselves are seen only by a model of your own, here a
support vector machine. There are three ways to let LabelCut hear such a model:

- as an expert, fitted by LabelCut on folds of the table, so that it never judges a label it has learned from;
- as an opinion: probabilities that you have already, out of sample, from whatever made them;
- as the only opinion, without any columns, as cleanlab takes ``pred_probs``.

How much each expert was believed is told, as a weight; one that says nothing new gets none.

Run ``python examples/own_model.py``, with a file name as argument for a picture.
"""

import sys

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict
from sklearn.svm import SVC

from labelcut import ConfidenceHNC, find_label_issues


def mislabeled_digits(wrong: float = 0.1, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pictures as rows, the true digits, and the given ones, a tenth of them wrong."""
    X, truth = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    is_wrong = rng.random(truth.size) < wrong
    return X, truth, np.where(is_wrong, (truth + rng.integers(1, 10, truth.size)) % 10, truth)


def main() -> None:
    """Find the wrong labels without the machine, with it, and by it alone."""
    pictures, truth, given = mislabeled_digits()
    is_wrong = given != truth
    squares = pictures.reshape(-1, 8, 8)
    X = np.hstack([squares.sum(axis=1), squares.sum(axis=2)[:, ::2]])
    machine = CalibratedClassifierCV(SVC(gamma=0.001), cv=3, ensemble=False)
    probabilities = cross_val_predict(machine, pictures, given, cv=5, method="predict_proba")

    alone = ConfidenceHNC(random_state=0).fit(X, given)
    expert = ConfidenceHNC(experts=["forest", "cut", ("machine", machine)], random_state=0).fit(X, given)
    opinion = ConfidenceHNC(random_state=0).fit(X, given, opinions={"machine": probabilities})
    only = find_label_issues(None, given, pred_probs=probabilities)

    suspicion = {
        "the machine, 1 - P(given label)": 1 - probabilities[np.arange(given.size), given],
        "LabelCut, the table alone": 1 - alone.label_issues_["label_quality"],
        "with the machine as an expert": 1 - expert.label_issues_["label_quality"],
        "with its view of the pictures": 1 - opinion.label_issues_["label_quality"],
        "that view alone": 1 - only["label_quality"],
    }
    print(f"{is_wrong.sum()} of {given.size} labels are wrong")
    scores = {name: average_precision_score(is_wrong, values) for name, values in suspicion.items()}
    for name, score in scores.items():
        print(f"{name:34} average precision {score:.3f}")
    for name, model in (("expert", expert), ("opinion", opinion)):
        weights = ", ".join(f"{who} {weight:.2f}" for who, weight in model.expert_weights_.items())
        print(f"believed, as {name}: {weights}")
    if len(sys.argv) > 1:
        draw(scores, sys.argv[1])


def draw(scores: dict[str, float], path: str) -> None:
    """Draw how well each ranks the wrong labels."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
    names = list(scores)[::-1]
    # Dots, since the axis does not begin at 0.
    axis.scatter([scores[name] for name in names], names, color=["#4477aa"] * 4 + ["#888888"], zorder=2)
    for name in names:
        axis.annotate(f"{scores[name]:.3f}", (scores[name], name), (8, -3), textcoords="offset points")
    axis.grid(axis="y", color="#dddddd")
    axis.set_ylim(-0.5, len(names) - 0.5)
    axis.set_xlim(0.98 * min(scores.values()), 1.0)
    axis.set_xlabel("average precision of the ranking of wrong labels")
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
