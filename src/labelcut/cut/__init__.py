"""A graph with costs -> its minimum cuts, for every value of a trade-off."""

from labelcut.cut.path import Certificate, Cut, CutPath, CutProblem, minimum_cut, parametric_cut, verify

__all__ = ["Certificate", "Cut", "CutPath", "CutProblem", "minimum_cut", "parametric_cut", "verify"]
