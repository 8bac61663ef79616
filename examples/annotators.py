"""Several people labeled the table, and they disagree
====================================================

The 178 wines of scikit-learn's table, three kinds, tasted by five people who each labeled some of them: one
knows wine, three know some of it, and one calls each kind by the name of another. Which kind is each wine,
who can be trusted how far, and whose opinion on which wine is worth having next?

``fit(X, Y)`` takes a column per person, ``-1`` where they said nothing. What each of them is worth and what
the answers are is estimated in turn until it agrees, together with what the columns say. A majority vote
counts all of them alike and has to toss a coin where they are level.

Run ``python examples/annotators.py``, with a file name as argument for a picture.
"""

import sys

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from labelcut import ConfidenceHNC

#: How often each is right, and the share of the wines they labeled.
PEOPLE = {"Ada": (0.97, 0.4), "Ben": (0.8, 0.5), "Cleo": (0.7, 0.5), "Dan": (0.6, 0.5), "Eli": (0.0, 0.4)}


def tasted(seed: int = 0) -> tuple[np.ndarray, np.ndarray, pd.DataFrame]:
    """Return the columns, the true kinds, and what everybody says; Eli takes each kind for the next one."""
    X, truth = load_wine(return_X_y=True)
    rng = np.random.default_rng(seed)
    said = {}
    for who, (right, share) in PEOPLE.items():
        other = (truth + (1 if who == "Eli" else rng.integers(1, 3, truth.size))) % 3
        says = np.where(rng.random(truth.size) < max(right, 0.1), truth, other)
        said[who] = np.where(rng.random(truth.size) < share, says, -1)
    return X, truth, pd.DataFrame(said)


def majority(Y: pd.DataFrame, seed: int = 0) -> np.ndarray:
    """Return the most frequent label of each wine, a coin tossed where two are level or none is there."""
    votes = np.stack([Y.eq(kind).sum(axis=1) for kind in range(3)], axis=1)
    return (votes + np.random.default_rng(seed).uniform(0, 0.5, votes.shape)).argmax(axis=1)


def main() -> None:
    """Find the kinds of the wines, what the people are worth, and whom to ask next."""
    X, truth, Y = tasted()
    n_labels = (Y != -1).sum(axis=1)
    print(f"{n_labels.sum()} labels for {len(Y)} wines, {(n_labels == 0).sum()} of them without any")
    crowd = ConfidenceHNC().fit(X, Y)
    for name, answer in (("majority", majority(Y)), ("LabelCut", crowd.consensus_)):
        print(f"{name:8}  {(answer == truth).mean():.1%} of the wines right")
    real = [(Y[who] == truth)[Y[who] != -1].mean() for who in Y]
    people = crowd.annotator_quality_.assign(really=real)
    for who, line in people.iterrows():
        share = f"{line['quality']:.0%} +- {line['standard_error']:.0%}"
        print(f"{who:4}  {line['n_labels']:.0f} labels, right {share}, really {line['really']:.0%}")
    for row, line in crowd.ask_next(3).iterrows():
        print(f"wine {row}: kind {line['consensus']} with {line['probability']:.0%}; ask {line['annotator']}")
    if len(sys.argv) > 1:
        draw(people, sys.argv[1])


def draw(people: pd.DataFrame, file: str) -> None:
    """Save what is said of each person, with two standard errors, beside what is true."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
    places = np.arange(len(people))[::-1]
    axis.barh(places, people["quality"], color="#9db8ea", height=0.55)
    errors = 2 * people["standard_error"]
    axis.errorbar(people["quality"], places, xerr=errors, fmt="none", ecolor="black", capsize=4)
    axis.plot(people["really"], places, "D", color="tab:orange", label="really")
    axis.axvline(1 / 3, color="gray", linestyle=":", label="by chance")
    axis.set_yticks(places, people.index)
    axis.set_xlim(0, 1.02)
    axis.set_xlabel("share of right labels, with two standard errors")
    axis.legend(frameon=False, loc="lower right")
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=100)


if __name__ == "__main__":
    main()
