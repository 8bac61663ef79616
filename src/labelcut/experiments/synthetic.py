"""The paper's grid of synthetic tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labelcut.experiments.data import ORIGINALS, REAL, DataSet


@dataclass(frozen=True)
class Synthetic:
    """One configuration of scikit-learn's ``make_classification`` (table "Synthetic Data Configurations").

    The paper lists six parameters. Ours, because it is silent: every feature is informative (two classes of
    four clusters need at least three), and ``flip_y=0`` (the noise is injected later, exactly).
    """

    n_rows: int = 1000
    n_features: int = 5
    percent_positive: int = 50
    n_clusters: int = 2
    class_sep: float = 1.0
    centroids: str = "hypercube"
    copy: int = 0
    """Which of the data sets of this configuration; the seed of its generation."""

    PREFIX = "synthetic"

    @property
    def name(self) -> str:
        """The configuration as one word; `load` understands it."""
        return (
            f"{self.PREFIX}:n{self.n_rows}:f{self.n_features}:p{self.percent_positive}:c{self.n_clusters}"
            f":s{self.class_sep:g}:{self.centroids}:{self.copy}"
        )

    @classmethod
    def from_name(cls, name: str) -> Synthetic:
        """Read back what `name` wrote."""
        try:
            prefix, n, f, p, c, s, centroids, copy = name.split(":")
            if prefix != cls.PREFIX or centroids not in ("hypercube", "polytope"):
                raise ValueError
            return cls(int(n[1:]), int(f[1:]), int(p[1:]), int(c[1:]), float(s[1:]), centroids, int(copy))
        except ValueError:
            raise ValueError(
                f"no data set {name!r}; choose one of {', '.join((*REAL, *ORIGINALS))}, "
                f"or a synthetic one such as {cls().name!r}."
            ) from None

    def generate(self) -> DataSet:
        """Draw the table."""
        from sklearn.datasets import make_classification

        share = self.percent_positive / 100
        X, y = make_classification(
            n_samples=self.n_rows,
            n_features=self.n_features,
            n_informative=self.n_features,
            n_redundant=0,
            n_clusters_per_class=self.n_clusters,
            weights=[1 - share, share],
            flip_y=0.0,
            class_sep=self.class_sep,
            hypercube=self.centroids == "hypercube",
            random_state=self.copy,
        )
        return DataSet(self.name, self.name, np.ascontiguousarray(X, dtype=np.float64), y.astype(np.int64))


def synthetic_grid(copies: int = 4) -> list[Synthetic]:
    """List the paper's 540 configurations, `copies` data sets of each."""
    return [
        Synthetic(n_rows, n_features, positive, clusters, sep, centroids, copy)
        for copy in range(copies)
        for n_rows in (1000, 5000, 10000)
        for n_features in (5, 10, 20)
        for positive in (30, 40, 50, 60, 70)
        for clusters in (2, 4)
        for sep in (0.5, 1.0, 2.0)
        for centroids in ("hypercube", "polytope")
    ]
