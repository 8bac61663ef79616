"""Find the wrong labels in a table and classify its unlabeled rows, by minimum cuts on a similarity graph."""

__version__ = "0.1.0"
