"""Probabilities seen through a channel: the product of matrices, row by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelcut.hnc.channel import seen_through


@given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_it_is_the_product_of_matrices(n_rows, n_classes, seed):
    rng = np.random.default_rng(seed)
    probability = rng.dirichlet(np.ones(n_classes), n_rows)
    channel = rng.uniform(-1, 1, (n_classes, n_classes))
    assert seen_through(probability, channel) == pytest.approx(probability @ channel, abs=1e-14)


@given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_a_row_has_the_same_digits_alone_as_among_others(n_rows, n_classes, seed):
    rng = np.random.default_rng(seed)
    probability = rng.dirichlet(np.ones(n_classes), n_rows)
    channel = rng.uniform(-1, 1, (n_classes, n_classes))
    together = seen_through(probability, channel)
    for i in range(n_rows):
        assert seen_through(probability[[i]], channel).tobytes() == together[[i]].tobytes()
