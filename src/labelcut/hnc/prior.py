"""An opinion on every row as a pull in the cut."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from labelcut.arrays import Floats, Ints
from labelcut.hnc.calibration import NoiseRates, asymmetric_rates, true_class_probability

__all__ = ["Prior"]

#: The forest's probabilities are kept this far from 0 and 1 before their log-odds are taken.
PRIOR_CLIP = 0.02


@dataclass(frozen=True)
class Prior:
    """The forest's opinion as log-odds in units of their standard deviation over the labeled rows.

    The unit makes a strength near 1 right whatever the noise. Under one-sided noise it is undone first.
    """

    sd: float
    rates: NoiseRates | None

    @classmethod
    def fit(cls, probability: Floats, sign: Ints, noise: str) -> Prior:
        """Learn the unit, and whether the noise is one-sided, from the labeled rows."""
        p, is_positive = probability[sign != 0], sign[sign != 0] > 0
        rates = asymmetric_rates(p, p > 0.5, is_positive) if noise != "symmetric" else None
        rates = None if rates is None else rates.bounded(0.0)
        return cls(float(np.std(_log_odds(p, rates))), rates)

    def of(self, probability: Floats) -> Floats:
        """Return the prior of rows from the forest's probability of the positive class."""
        log_odds = _log_odds(probability, self.rates)
        return log_odds / self.sd if self.sd > 0 else np.zeros_like(log_odds)


def _log_odds(probability: Floats, rates: NoiseRates | None) -> Floats:
    if rates is not None:
        probability = true_class_probability(probability, rates)
    return np.asarray(logit(np.clip(probability, PRIOR_CLIP, 1.0 - PRIOR_CLIP)))
