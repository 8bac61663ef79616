"""Probabilities that are too good to be out of sample: their model has seen the labels it judges."""

from __future__ import annotations

import warnings

import numpy as np

from labelcut.arrays import Floats, Ints
from labelcut.hnc.noise_floor import NoiseBelief

__all__ = ["warn_of_seen_labels"]

#: Agreement has to exceed what can be by so many standard errors before anybody is accused.
ERRORS = 3.0


def warn_of_seen_labels(name: str, opinion: Floats, codes: Ints, belief: NoiseBelief) -> None:
    """Warn if given probabilities agree with more labels than can be right.

    Who knows the true class of every row, but not its label, agrees with the labels that are right. So
    nobody honest agrees with more than one minus the share of wrong labels, here the lowest that the others
    leave possible.

    Parameters
    ----------
    name : str
        Whose opinion it is.
    opinion : ndarray of shape (n_judged, n_classes)
    codes : ndarray of int of shape (n_judged,)
        The given labels.
    belief : NoiseBelief
        How often labels are wrong, by experts who have not seen them.
    """
    shares = np.bincount(codes, minlength=opinion.shape[1]) / codes.size
    most = 1.0 - float(shares @ belief.levels[0])
    agreement = float(np.mean(opinion.argmax(axis=1) == codes))
    if agreement - most > ERRORS * np.sqrt(most * (1.0 - most) / codes.size) and most < 1.0:
        warnings.warn(
            f"opinions[{name!r}] agree with {agreement:.1%} of the labels, but by those who have not seen "
            f"them at most {most:.1%} can be right: the model seems to have seen the labels it judges. Make "
            "its probabilities out of sample: sklearn.model_selection.cross_val_predict(model, X, y, "
            "method='predict_proba').",
            UserWarning,
            stacklevel=6,
        )
