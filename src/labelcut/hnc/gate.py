"""What is said about labels if the columns do not tell the classes apart: nothing, and that it is nothing."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from labelcut.arrays import Floats, Ints
from labelcut.hnc.evidence import UNPROVEN_P_WRONG, Evidence, measure_evidence
from labelcut.hnc.labels import UNLABELED
from labelcut.hnc.one_vs_rest import Conclusion, shrink
from labelcut.hnc.opinion import NoOpinion, Opinion
from labelcut.hnc.settings import Settings

__all__ = ["Gate", "look_for_evidence"]


@dataclass(frozen=True, eq=False)
class Gate:
    """Open, it lets every answer through; closed, it lets through what is known without columns.

    Attributes
    ----------
    evidence : Evidence or None
        What was found; None if it could not be tested.
    shares : ndarray of shape (n_classes,) or None
        What probabilities are drawn to; None if the gate is open.
    """

    evidence: Evidence | None
    shares: Floats | None = None

    @property
    def is_open(self) -> bool:
        """Whether labels may be called wrong."""
        return self.shares is None

    def conclusion(self, found: Conclusion, codes: Ints, trust: Floats, guess: Ints) -> Conclusion:
        """Return what may be said about the rows of the table."""
        if self.shares is None or self.evidence is None:
            return found
        return found.without_evidence(codes, trust, guess, self.shares, self.evidence.weight)

    def distribution(self, found: Floats) -> Floats:
        """Return what may be said about new rows."""
        if self.shares is None or self.evidence is None:
            return found
        return shrink(found, self.shares, self.evidence.weight)

    def noise_rates(self, found: Floats) -> Floats:
        """Return how often labels may be called wrong."""
        return found if self.is_open else np.full_like(found, UNPROVEN_P_WRONG)


def look_for_evidence(opinion: Opinion, codes: Ints, trust: Floats, settings: Settings) -> Gate:
    """Return the gate, closed with a warning where evidence should be there and is not.

    Parameters
    ----------
    opinion : Opinion
        Who was asked; nobody's opinion cannot be tested.
    codes, trust
        The labels and the trust in them. If every label is held, none is judged and the gate stays open.
    settings : Settings
        Whether evidence is needed.
    """
    evidence = None if isinstance(opinion, NoOpinion) else measure_evidence(opinion.probability, codes)
    is_judging = settings.needs_evidence and np.isfinite(trust[codes != UNLABELED]).any()
    if evidence is None or evidence.is_there or not is_judging:
        return Gate(evidence)
    warnings.warn(
        f"the columns do not tell the classes apart better than chance (AUC {evidence.auc:.2f} +- "
        f"{evidence.auc_error:.2f}), so no label can be called wrong by them and none is flagged. "
        "Add columns that have to do with the label, or label more rows.",
        UserWarning,
        stacklevel=3,
    )
    return Gate(evidence, NoOpinion.on(codes).shares)
