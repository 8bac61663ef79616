"""A worked example of the cut: a chain of five rows whose ends are known, and where the middle goes."""

import numpy as np
from scipy.sparse import diags_array

from labelcut.cut import parametric_cut

likeness = np.array([1.0, 4.0, 0.5, 2.0])  # of rows 0-1, 1-2, 2-3, 3-4
chain = diags_array([likeness, likeness], offsets=[1, -1], shape=(5, 5)).tocsr()
is_first, is_last = np.arange(5) == 0, np.arange(5) == 4
degree = np.asarray(chain.sum(axis=1))

path = parametric_cut(chain, np.zeros(5), degree, source_seeds=is_first, sink_seeds=is_last)
print(path)
for t in (-0.5, 0.0, 0.5):
    side = "".join("+" if joined else "-" for joined in path.source_side(t))
    print(f"trade-off {t:5.2f}: {side}   cost {path.value(t):.2f}")
