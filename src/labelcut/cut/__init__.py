"""A graph with costs -> its minimum cuts, for every value of a trade-off."""

from labelcut.cut.certificate import Certificate, verify
from labelcut.cut.path import Cut, CutPath, minimum_cut, parametric_cut
from labelcut.cut.problem import CutProblem

__all__ = ["Certificate", "Cut", "CutPath", "CutProblem", "minimum_cut", "parametric_cut", "verify"]
