import numpy as np
import pytest
from scipy import sparse

from labelcut.cut import parametric_cut
from labelcut.graph import SimilarityGraph, similarity_graph
from labelcut.hnc.confidence import PAPER_GRID, label_confidence


def chain(*weights):
    """Rows in a line, each joined to the next."""
    n = len(weights) + 1
    W = np.zeros((n, n))
    for i, w in enumerate(weights):
        W[i, i + 1] = W[i + 1, i] = w
    return SimilarityGraph(sparse.csr_array(W), n_neighbors=2, bandwidth=1.0)


def random_case(seed, n=40):
    rng = np.random.default_rng(seed)
    graph = similarity_graph(rng.normal(size=(n, 3)), n_neighbors=4)
    return graph, rng.choice([-1, 0, 1], size=n, p=[0.35, 0.3, 0.35])


def test_a_positive_row_far_from_the_negatives_is_trusted_most():
    # minus = plus - plus == plus: the last two leave the negative seed first, with all three still there.
    graph = chain(1.0, 0.1, 5.0)
    confidence = label_confidence(graph, np.array([-1, 1, 1, 1]))
    assert confidence[1:].tolist() == [1 / 3, 1.0, 1.0]


def test_confidence_counts_rows_that_leave_no_earlier():
    """The definition, computed the long way: sets S at every trade-off from one cut each."""
    graph, sign = random_case(0)
    confidence = label_confidence(graph, sign)
    for label in (1, -1):
        join_at = parametric_cut(
            graph.weights, np.zeros(sign.size), graph.degree, sink_seeds=sign == -label
        ).join_at
        free = sign != -label
        for i in np.flatnonzero(sign == label):
            staying = sum(join_at[j] >= join_at[i] for j in np.flatnonzero(free))
            assert confidence[i] == pytest.approx(staying / free.sum())


def test_swapping_the_classes_swaps_the_confidences():
    graph, sign = random_case(1)
    assert np.array_equal(label_confidence(graph, sign), label_confidence(graph, -sign), equal_nan=True)


def test_unlabeled_rows_have_no_confidence_and_labeled_ones_lie_between_0_and_1():
    graph, sign = random_case(2)
    confidence = label_confidence(graph, sign)
    assert np.isnan(confidence[sign == 0]).all()
    assert (confidence[sign != 0] > 0).all()
    assert (confidence[sign != 0] <= 1).all()


def test_as_printed_positives_stay_and_negatives_lose_the_group_they_leave_with():
    graph, sign = random_case(3)
    symmetric = label_confidence(graph, sign)
    printed = label_confidence(graph, sign, symmetric=False)
    assert np.array_equal(symmetric[sign > 0], printed[sign > 0])
    assert (printed[sign < 0] < symmetric[sign < 0]).all()


def test_counting_seeds_adds_their_share_and_may_exceed_one():
    graph, sign = random_case(4)
    free, seeds = label_confidence(graph, sign), label_confidence(graph, sign, counts="with_seeds")
    n_negative, n_free = (sign < 0).sum(), (sign >= 0).sum()
    assert seeds[sign > 0] == pytest.approx(free[sign > 0] + n_negative / n_free)
    assert np.nanmax(seeds) > 1


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_grid_of_the_paper_follows_its_definition(symmetric):
    """q_i is the last grid index with i on the sink side; the sets are those of the cuts at that index."""
    graph, sign = random_case(5)
    ours = label_confidence(graph, sign, symmetric=symmetric, grid=PAPER_GRID)

    n_free = (sign >= 0).sum()
    join_at = parametric_cut(graph.weights, np.zeros(sign.size), graph.degree, sink_seeds=sign < 0).join_at
    for i in np.flatnonzero(sign > 0):
        q = np.flatnonzero(join_at[i] >= PAPER_GRID).max()
        sink_side = (join_at >= PAPER_GRID[q]) & (sign >= 0)
        assert ours[i] == pytest.approx(sink_side.sum() / n_free)

    n_free = (sign <= 0).sum()
    join_at = parametric_cut(graph.weights, np.zeros(sign.size), graph.degree, source_seeds=sign > 0).join_at
    for i in np.flatnonzero(sign < 0):
        q = np.flatnonzero(join_at[i] >= PAPER_GRID).max()
        at = q + 1 if symmetric else q
        source_side = (join_at < PAPER_GRID[at]) & (sign <= 0) if at < 1001 else sign <= 0
        assert ours[i] == pytest.approx(source_side.sum() / n_free)


def test_a_row_without_neighbors_is_trusted_least_whatever_its_label():
    graph = similarity_graph(np.array([[0.0], [0.1], [0.2], [0.3], [1e6]]), n_neighbors=2)
    for lonely in (1, -1):
        sign = np.array([1, 1, -1, -1, lonely])
        confidence = label_confidence(graph, sign)
        assert confidence[4] == np.nanmin(confidence)


def test_threads_do_not_matter():
    graph, sign = random_case(6)
    one, two = label_confidence(graph, sign, n_jobs=1), label_confidence(graph, sign, n_jobs=2)
    assert one.tobytes() == two.tobytes()
