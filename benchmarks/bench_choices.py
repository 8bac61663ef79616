"""What each choice of the method is worth: accuracy and noise F1 with one choice changed at a time.

Purpose: the evidence behind the presets (docs/method.md), measured again on demand. Every line is the mean
over the same tasks, so differences between lines are paired; their standard error is printed beside them.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.metrics import average_precision_score, f1_score

from labelcut import HNC, ConfidenceHNC
from labelcut.experiments.noise import make_task

SETS = ("vote", "breast_cancer", "maternal", "red_wine", "obesity")

#: Lines that differ from the preset `paper`; its forest is replaced by one out-of-bag forest per task.
FROM_PAPER = {
    "as it is": {},
    "kernel as printed": {"kernel": "literal"},
    "one-sided neighbours count in full": {"one_sided": "full"},
    "theta = mean weight": {"confidence_scale": "mean"},
    "confidences not symmetric": {"confidence_symmetric": False},
    "seeds counted in confidences": {"confidence_counts": "with_seeds"},
    "all breakpoints instead of the grid": {"breakpoints": "exact"},
    "confidences again in each fold": {"confidence_in_folds": "each"},
    "trade-off by the logistic crossing": {"tradeoff": "crossing"},
    "trade-off 0": {"tradeoff": 0.0},
    "columns count alike": {"importances": "equal"},
    "labels held (HNC)": None,
    "everything as printed (literal)": {"preset": "literal"},
}

FROM_DEFAULT = {
    "as it is": {},
    "no prior": {"prior_strengths": ()},
    "prior strength 1": {"prior_strengths": (1.0,)},
    "trade-off by best accuracy": {"tradeoff": "accuracy"},
    "prediction by the side of the cut": {"decision": "cut"},
    "flags where prediction and label differ": {"flags": "side"},
    "columns count alike": {"importances": "equal"},
}


def main(arguments: list[str] | None = None) -> None:
    """Run and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--noise", nargs="+", type=float, default=[0.2, 0.3])
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", "degenerate cut")
    scores: dict[tuple[str, str], list[list[float]]] = {}
    for name in options.sets:
        for noise in options.noise:
            for seed in options.seeds:
                task = make_task(name, noise=noise, seed=seed)
                base = ConfidenceHNC().fit(task.X, task.given)
                for line, changes in FROM_PAPER.items():
                    parameters = {
                        "preset": "paper",
                        "importances": base.feature_importances_,
                        **(changes or {}),
                    }
                    make = HNC if changes is None else ConfidenceHNC
                    model = make(**parameters).fit(task.X, task.given)
                    scores.setdefault(("paper", line), []).append(score(model, task))
                for line, changes in FROM_DEFAULT.items():
                    model = ConfidenceHNC(**changes).fit(task.X, task.given) if changes else base
                    scores.setdefault(("default", line), []).append(score(model, task))
    for preset in ("paper", "default"):
        print_table(preset, {line: np.array(s) for (p, line), s in scores.items() if p == preset})


def score(model: ConfidenceHNC, task) -> list[float]:
    hidden, labeled = ~task.is_labeled, task.is_labeled
    return [
        100 * np.mean(model.transduction_[hidden] == task.truth[hidden]),
        100 * f1_score(task.is_wrong[labeled], model.is_label_issue_[labeled], zero_division=0.0),
        100 * average_precision_score(task.is_wrong[labeled], model.p_wrong_[labeled]),
    ]


def print_table(preset: str, scores: dict[str, np.ndarray]) -> None:
    base = scores["as it is"]
    print(f"\n| `{preset}`, {len(base)} runs" + " | accuracy | change | noise F1 | change | AP | change |")
    print("|---|---|---|---|---|---|---|")
    for line, values in scores.items():
        cells = []
        for column in range(3):
            change = values[:, column] - base[:, column]
            error = change.std(ddof=1) / np.sqrt(len(change)) if len(change) > 1 else 0.0
            told = "" if line == "as it is" else f"{change.mean():+.1f} ({error:.1f})"
            cells += [f"{values[:, column].mean():.1f}", told]
        print(f"| {line} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
