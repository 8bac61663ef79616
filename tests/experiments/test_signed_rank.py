from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labelcut.experiments.signed_rank import signed_rank_p


def by_every_pattern(differences, is_two_sided):
    """The plain twin: every pattern of signs, one by one."""
    kept = [value for value in differences if value != 0]
    ranks = stats.rankdata(np.abs(kept))
    sums = [
        sum(r for r, sign in zip(ranks, signs, strict=True) if sign)
        for signs in product((0, 1), repeat=len(kept))
    ]
    found = sum(r for r, value in zip(ranks, kept, strict=True) if value > 0)
    above, below = np.mean([s >= found for s in sums]), np.mean([s <= found for s in sums])
    return min(1.0, 2 * min(above, below)) if is_two_sided else above


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9), st.booleans())
def test_it_counts_every_pattern_of_signs_with_ties_and_zeros(differences, is_two_sided):
    found = signed_rank_p(np.array(differences, dtype=float), is_two_sided=is_two_sided)
    assert found == pytest.approx(by_every_pattern(differences, is_two_sided))


@pytest.mark.parametrize("n", [6, 20, 45])
def test_it_is_scipy_s_exact_test_without_ties(n):
    differences = np.random.default_rng(n).normal(0.3, 1.0, n)
    greater = stats.wilcoxon(differences, alternative="greater", method="exact").pvalue
    assert signed_rank_p(differences, is_two_sided=False) == pytest.approx(greater)
    assert signed_rank_p(differences, is_two_sided=True) == pytest.approx(
        stats.wilcoxon(differences, method="exact").pvalue
    )


def test_equal_differences_of_either_sign_say_nothing():
    assert signed_rank_p(np.array([1.0, -1.0, 1.0, -1.0]), is_two_sided=True) == 1.0
    assert signed_rank_p(np.zeros(3), is_two_sided=False) == 1.0
