"""Several annotators: worth and answers agree, and nothing depends on the order of anything."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import DataConversionWarning

from labelcut import ConfidenceHNC
from labelcut.annotators import combine
from labelcut.hnc.annotators import (
    CONFUSION_LABELS,
    WORTH_LABELS,
    CrowdLabels,
    answer,
    information,
    settle,
    start_accuracy,
    weigh,
)

ACCURACY = np.array([0.95, 0.85, 0.75, 0.6, 0.5])
TURNS = np.arange(120) % 2


def draw(n_rows=300, n_classes=3, gaps=0.4, seed=0, accuracy=ACCURACY):
    """Return true classes and what annotators of known accuracy say, -1 for gaps."""
    rng = np.random.default_rng(seed)
    true = rng.integers(n_classes, size=n_rows)
    wrong = (true[:, None] + rng.integers(1, n_classes, size=(n_rows, accuracy.size))) % n_classes
    said = np.where(rng.random((n_rows, accuracy.size)) < accuracy, true[:, None], wrong)
    said[rng.random(said.shape) < gaps] = -1
    return true, said


def log_odds(p):
    return math.log(p / (1 - p))


def plain_weigh(said, q, k):
    """Return confusions, qualities and shares of one step in loops, as the docstring has them."""
    n_rows, m = said.shape
    counts = [[[0.0] * k for _ in range(k)] for _ in range(m)]
    for i in range(n_rows):
        for j in range(m):
            if said[i, j] >= 0:
                for c in range(k):
                    counts[j][c][said[i, j]] += q[i, c]
    total = sum(sum(map(sum, counts[j])) for j in range(m))
    hits = sum(counts[j][c][c] for j in range(m) for c in range(k))
    a = (hits + WORTH_LABELS * start_accuracy(k)) / (total + WORTH_LABELS)
    crowd = []
    for c in range(k):
        row = [sum(counts[j][c][label] for j in range(m)) for label in range(k)]
        even = [a if label == c else (1 - a) / (k - 1) for label in range(k)]
        crowd.append([(row[x] + WORTH_LABELS * even[x]) / (sum(row) + WORTH_LABELS) for x in range(k)])
    confusion, quality = [], []
    for j in range(m):
        n = sum(map(sum, counts[j]))
        own = (sum(counts[j][c][c] for c in range(k)) + WORTH_LABELS * a) / (n + WORTH_LABELS)
        quality.append(own)
        matrix = []
        for c in range(k):
            right = 1 / (1 + math.exp(-(log_odds(crowd[c][c]) + log_odds(own) - log_odds(a))))
            usual = [right if x == c else (1 - right) * crowd[c][x] / (1 - crowd[c][c]) for x in range(k)]
            size = sum(counts[j][c])
            matrix.append(
                [
                    (counts[j][c][x] + CONFUSION_LABELS * usual[x]) / (size + CONFUSION_LABELS)
                    for x in range(k)
                ]
            )
        confusion.append(matrix)
    counted = [i for i in range(n_rows) if max(said[i]) >= 0]
    shares = [(sum(q[i, c] for i in counted) + 1) / (len(counted) + k) for c in range(k)]
    return confusion, quality, shares


def plain_answer(said, confusion, prior):
    """Return the posterior of every row in loops."""
    found = []
    for i in range(len(said)):
        p = [
            prior[i][c] * math.prod(confusion[j][c][y] for j, y in enumerate(said[i]) if y >= 0)
            for c in range(len(prior[i]))
        ]
        found.append([x / sum(p) for x in p])
    return found


def test_one_turn_is_what_the_formulas_say():
    _, said = draw(60)
    labels = CrowdLabels.of(said, 3)
    q = np.random.default_rng(1).dirichlet(np.ones(3), size=60)
    worth = weigh(labels, q)
    confusion, quality, shares = plain_weigh(said, q, 3)
    np.testing.assert_allclose(worth.confusion, confusion, rtol=1e-6)
    np.testing.assert_allclose(worth.quality, quality, rtol=1e-6)
    np.testing.assert_allclose(worth.shares, shares, rtol=1e-6)
    np.testing.assert_allclose(answer(labels, worth), plain_answer(said, confusion, [shares] * 60), rtol=1e-5)
    np.testing.assert_allclose(answer(labels, worth, q), plain_answer(said, confusion, q), rtol=1e-5)


def test_worth_and_answers_agree_at_the_end():
    _, said = draw()
    labels = CrowdLabels.of(said, 3)
    found = settle(labels)
    again = weigh(labels.with_company(), found.probability)
    np.testing.assert_allclose(again.quality, found.worth.quality, atol=1e-5)
    np.testing.assert_allclose(answer(labels, again), found.probability, atol=1e-5)


def test_good_annotators_are_told_from_bad_ones_within_the_standard_errors():
    true, said = draw(1000)
    found = settle(CrowdLabels.of(said, 3))
    right = np.array([(said[said[:, j] >= 0, j] == true[said[:, j] >= 0]).mean() for j in range(5)])
    assert np.argsort(-found.worth.quality).tolist() == [0, 1, 2, 3, 4]
    assert (np.abs(found.worth.quality - right) < 3 * found.worth.error).all()
    votes = np.array([np.bincount(row[row >= 0], minlength=3) for row in said]).argmax(axis=1)
    assert (found.probability.argmax(axis=1) == true).mean() > (votes == true).mean() + 0.03


def test_one_label_a_row_and_nothing_else_leaves_annotators_alike():
    _, said = draw()
    first = np.where(np.arange(5) == (np.arange(len(said)) % 5)[:, None], np.abs(said), -1)
    found = settle(CrowdLabels.of(first, 3))
    assert np.ptp(found.worth.quality) == 0
    assert (found.probability.argmax(axis=1) == first.max(axis=1)).all()


def test_the_order_of_rows_and_annotators_does_not_matter_to_the_last_bit():
    _, said = draw()
    rng = np.random.default_rng(2)
    rows, people = rng.permutation(len(said)), rng.permutation(5)
    one, two = settle(CrowdLabels.of(said, 3)), settle(CrowdLabels.of(said[rows][:, people], 3))
    assert np.array_equal(one.probability[rows], two.probability)
    assert np.array_equal(one.worth.confusion[people], two.worth.confusion)
    assert np.array_equal(one.worth.error[people], two.worth.error)


def test_a_label_tells_most_where_the_answer_is_open_and_nothing_where_it_is_known():
    q = np.array([[0.5, 0.5], [0.9, 0.1], [1.0, 0.0]])
    bits = information(q, np.array([[0.8, 0.2], [0.2, 0.8]]))
    assert bits[0] == pytest.approx(1 + 0.8 * math.log2(0.8) + 0.2 * math.log2(0.2))
    assert bits[0] > bits[1] > bits[2] == 0


def long_table(said, names="abcde"):
    """Return a line per label, shuffled."""
    lines = [(i, names[j], said[i, j]) for i, j in zip(*np.nonzero(said >= 0), strict=True)]
    table = pd.DataFrame(lines, columns=["item", "annotator", "label"])
    return table.sample(frac=1, random_state=0)


def test_a_long_table_gets_a_consensus_quality_and_a_probability_per_label():
    true, said = draw()
    table = long_table(said)
    crowd = combine(table)
    assert (crowd.consensus["consensus"] == true[crowd.consensus.index]).mean() > 0.85
    assert crowd.annotator_quality.index.tolist() == list("abcde")
    assert crowd.annotator_quality["n_labels"].tolist() == (said >= 0).sum(axis=0).tolist()
    wrong = crowd.labels["label"].to_numpy() != true[crowd.labels["item"]]
    assert crowd.labels["p_wrong"][wrong].mean() > 0.7 > 0.2 > crowd.labels["p_wrong"][~wrong].mean()
    pd.testing.assert_frame_equal(combine(table[::-1]).consensus, crowd.consensus)


def test_opinions_help_where_labels_are_few_and_are_weighed_by_what_they_are_worth():
    true, said = draw(600, gaps=0.7)
    rng = np.random.default_rng(5)
    items = pd.RangeIndex(600)
    good = 0.8 * np.eye(3)[np.where(rng.random(600) < 0.85, true, rng.integers(3, size=600))] + 0.2 / 3
    useless = rng.dirichlet(np.ones(3), size=600)
    table = long_table(said)

    def share_right(**opinions):
        given = {name: pd.DataFrame(p, index=items) for name, p in opinions.items()}
        found = combine(table, opinions=given).consensus["consensus"]
        return (found == true[found.index]).mean()

    alone = share_right()
    assert share_right(good=good) > alone + 0.05
    assert share_right(good=good, useless=useless) > alone + 0.05
    assert share_right(useless=useless) > alone - 0.02


def test_those_asked_next_are_open_and_the_person_has_not_been_asked_yet():
    _, said = draw(100)
    crowd = combine(long_table(said))
    asked = crowd.ask_next(10)
    assert len(asked) == 10
    assert asked["bits"].is_monotonic_decreasing
    assert asked["probability"].mean() < crowd.consensus["probability"].mean()
    for item, who in asked["annotator"].items():
        assert who is None or crowd.wide.loc[item, who] is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.rename(columns={"label": "y"}), "no column 'label'.*Rename"),
        (lambda t: pd.concat([t, t[:1]]), "gave two labels.*drop_duplicates"),
        (lambda t: t.assign(annotator=None), "column 'annotator' has gaps"),
        (lambda t: t.assign(annotator="a").drop_duplicates("item"), "all labels are by 'a'.*ConfidenceHNC"),
        (lambda t: t.assign(label=None), "no line of the table has a label"),
        (lambda t: t.assign(label="x"), "nothing to decide"),
    ],
)
def test_a_long_table_that_cannot_be_used_is_refused_with_a_remedy(change, message):
    _, said = draw(30)
    with pytest.raises(ValueError, match=message):
        combine(change(long_table(said)))


def test_an_opinion_that_misses_an_item_is_refused():
    _, said = draw(30)
    with pytest.raises(ValueError, match="nothing about 1 items, the first of them 29;.*items as index"):
        combine(long_table(said), opinions={"net": pd.DataFrame(np.full((29, 3), 1 / 3))})


@pytest.fixture(scope="module")
def moons():
    """Return rows of two classes and what three annotators say about most of them."""
    X, true = make_moons(120, noise=0.2, random_state=0)
    rng = np.random.default_rng(3)
    said = np.where(rng.random((120, 3)) < [0.95, 0.75, 0.6], true[:, None], 1 - true[:, None])
    said[rng.random(said.shape) < 0.4] = -1
    said[:4] = -1
    return X, true, said


@pytest.fixture(scope="module")
def fitted(moons):
    X, _, said = moons
    return ConfidenceHNC(experts=["forest", "cut"]).fit(X, pd.DataFrame(said, columns=["ann", "bob", "cy"]))


def test_a_fit_to_annotators_tells_answers_worth_and_each_label(moons, fitted):
    _, true, said = moons
    votes = np.array([np.bincount(row[row >= 0], minlength=2) for row in said]).argmax(axis=1)
    assert (fitted.consensus_ == true).mean() > (votes == true).mean() + 0.05
    assert fitted.annotator_quality_["quality"].idxmax() == "ann"
    assert np.array_equal(np.isnan(fitted.label_p_wrong_), said == -1)
    assert ((fitted.consensus_probability_ >= 0.5) & (fitted.consensus_probability_ <= 1)).all()
    assert np.array_equal(fitted.consensus_[:4], fitted.transduction_[:4])
    assert (fitted.predict(moons[0]) == true).mean() > 0.85
    assert len(fitted.ask_next(7)) == 7


def test_a_fit_to_annotators_does_not_depend_on_orders_or_threads(moons, fitted):
    X, _, said = moons
    rng = np.random.default_rng(4)
    rows, people = rng.permutation(len(X)), rng.permutation(3)
    other = ConfidenceHNC(experts=["forest", "cut"], n_jobs=2).fit(X[rows], said[rows][:, people])
    assert np.array_equal(other.consensus_probability_, fitted.consensus_probability_[rows])
    assert np.array_equal(other.label_p_wrong_, fitted.label_p_wrong_[rows][:, people], equal_nan=True)
    assert (
        other.annotator_quality_["quality"].tolist()
        == fitted.annotator_quality_["quality"].to_numpy()[people].tolist()
    )


def test_one_annotator_is_the_ordinary_fit_with_the_usual_warning(moons):
    X, true, _ = moons
    one = ConfidenceHNC("paper").fit(X, true)
    with pytest.warns(UserWarning, match="column-vector y"):
        column = ConfidenceHNC("paper").fit(X, true[:, None])
    assert np.array_equal(one.label_distributions_, column.label_distributions_)
    assert not hasattr(column, "consensus_")
    with pytest.raises(AttributeError, match="consensus_|not fitted"):
        column.ask_next(1)


def test_the_cut_alone_takes_annotators_too(moons):
    X, true, said = moons
    found = ConfidenceHNC("paper").fit(X, [[None if y < 0 else "ab"[y] for y in row] for row in said])
    assert (found.consensus_ == np.array(["a", "b"])[true]).mean() > 0.75


@pytest.mark.parametrize(
    ("Y", "metadata", "message"),
    [
        (np.eye(2)[TURNS], {}, "look like indicators.*argmax"),
        (np.zeros((119, 2)), {}, "Y has 119 rows, but X has 120"),
        ([[0, 1]] * 119 + [[0]], {}, "differ in length"),
        (np.column_stack([TURNS, np.full(120, -1)]), {}, "only the annotator 0 gave labels"),
        (np.column_stack([TURNS] * 2), {"sample_weight": np.ones(120)}, "give a column per annotator"),
        (
            np.column_stack([TURNS] * 2),
            {"sample_weight": np.full((120, 2), 0.5)},
            r"sample_weight\[0, 0\] is 0.5; .* 0 \(leave the label out\), 1, or inf",
        ),
        (
            np.array(["a", "b"])[np.column_stack([TURNS, 1 - TURNS])],
            {"sample_weight": np.full((120, 2), np.inf)},
            "row 0 has the labels 'a' and 'b', both known to be right",
        ),
        (
            np.array(["a", "b"])[np.column_stack([TURNS, 1 - TURNS])],
            {},
            "contradict each other.*ask one more annotator",
        ),
        (np.zeros((120, 2)), {}, "all labels are 0.0; labels of at least two classes"),
        (np.full((120, 2), -1), {}, "none of the 240 rows has a label"),
        (pd.DataFrame(np.ones((120, 2)), columns=["a", "a"]), {}, "two columns of Y are called 'a'"),
    ],
)
def test_labels_of_annotators_that_cannot_be_used_are_refused_with_a_remedy(moons, Y, metadata, message):
    with pytest.raises(ValueError, match=message):
        ConfidenceHNC().fit(moons[0], Y, **metadata)


def test_a_class_that_no_row_is_called_together_is_told_and_not_learned(moons):
    X, true, _ = moons
    Y = np.column_stack([true] * 3 + [np.where(np.arange(120) == 7, 2, true)])
    with pytest.warns(UserWarning, match="the class 2 was named 1 times.*merge"):
        found = ConfidenceHNC(experts=["forest"]).fit(X, Y)
    assert found.classes_.tolist() == [0, 1]
    assert found.consensus_[7] == true[7]
    assert found.label_p_wrong_[7, 3] > 0.9


def test_known_answers_hold_and_tell_who_is_good(moons):
    X, true, said = moons
    Y, trust = np.column_stack([said, true]), np.ones((120, 4))
    trust[:, 3] = np.where(np.arange(120) < 60, np.inf, 0)
    found = ConfidenceHNC(experts=["forest", "cut"]).fit(X, Y, sample_weight=trust)
    assert np.array_equal(found.consensus_[:60], true[:60])
    assert (found.consensus_probability_[:60] == 1).all()
    assert (found.status_[:60] == "reviewed").all()
    assert np.isnan(found.label_p_wrong_[60:, 3]).all()
    real = np.array([(said[:60, j] == true[:60])[said[:60, j] >= 0].mean() for j in range(3)])
    without = ConfidenceHNC(experts=["forest", "cut"]).fit(X, said).annotator_quality_["quality"]
    stated = found.annotator_quality_["quality"].to_numpy()[:3]
    assert np.abs(stated - real).mean() < np.abs(without.to_numpy() - real).mean() + 0.02


def test_answers_that_are_known_count_as_such_in_the_formulas():
    _, said = draw(60)
    known = np.where(np.arange(60) < 20, (said.max(axis=1) + 1) % 3, -1)
    q = answer(CrowdLabels.of(said, 3, known), settle(CrowdLabels.of(said, 3)).worth)
    assert np.array_equal(q[:20], np.eye(3)[known[:20]])
    plain = answer(CrowdLabels.of(said, 3), settle(CrowdLabels.of(said, 3)).worth)
    assert np.array_equal(q[20:], plain[20:])


@pytest.mark.parametrize("seed", range(20))
def test_drawn_crowds_give_probabilities_whatever_the_gaps(seed):
    rng = np.random.default_rng(seed)
    n, m, k = int(rng.integers(2, 40)), int(rng.integers(2, 9)), int(rng.integers(2, 6))
    codes = rng.integers(-1, k, size=(n, m))
    codes[:, rng.integers(m)] = -1  # one has said nothing
    codes[rng.random(n) < 0.2] = -1  # and some rows have no label
    found = settle(CrowdLabels.of(codes, k))
    np.testing.assert_allclose(found.probability.sum(axis=1), 1)
    assert ((found.worth.quality > 0) & (found.worth.quality < 1) & (found.worth.error > 0)).all()
    rows, people = rng.permutation(n), rng.permutation(m)
    again = settle(CrowdLabels.of(codes[rows][:, people], k))
    assert np.array_equal(found.probability[rows], again.probability)
    assert np.array_equal(found.worth.quality[people], again.worth.quality)


def test_one_who_has_said_nothing_is_one_of_the_crowd_with_a_wide_error():
    _, said = draw()
    said[:, 2] = -1
    worth = settle(CrowdLabels.of(said, 3)).worth
    others = np.delete(worth.quality, 2)
    assert others.min() < worth.quality[2] < others.max()
    assert worth.error[2] > 3 * np.delete(worth.error, 2).max()
    with_gap = settle(CrowdLabels.of(np.delete(said, 2, axis=1), 3))
    np.testing.assert_allclose(settle(CrowdLabels.of(said, 3)).probability, with_gap.probability)


def test_one_who_always_contradicts_is_worse_than_chance_and_still_tells():
    true, said = draw(400, n_classes=2, gaps=0.0, accuracy=np.array([0.9, 0.85, 0.8, 0.0]))
    found = settle(CrowdLabels.of(said, 2))
    assert found.worth.quality[3] < 0.1
    with_liar = (found.probability.argmax(axis=1) == true).mean()
    without = settle(CrowdLabels.of(said[:, :3], 2)).probability.argmax(axis=1)
    assert with_liar > (without == true).mean() + 0.02


def test_identical_annotators_are_worth_the_same():
    _, said = draw(200)
    twins = np.column_stack([said[:, 0], said[:, 0], said[:, 1], said[:, 3]])
    worth = settle(CrowdLabels.of(twins, 3)).worth
    assert worth.quality[0] == worth.quality[1]
    assert worth.error[0] == worth.error[1]
    assert np.array_equal(worth.confusion[0], worth.confusion[1])


def test_two_rows_are_enough_for_answers():
    crowd = combine(long_table(np.array([[0, 0, -1], [1, 1, 0]])))
    assert crowd.consensus["consensus"].tolist() == [0, 1]
    assert (crowd.consensus["probability"] > 0.9).all()
    assert crowd.annotator_quality["quality"].idxmin() == "c"


def test_terms_of_single_labels_cancel_to_the_lead_of_the_first_class():
    """The cut with a term per label and the cut with one term of what is left of them are the same."""
    from labelcut.cut import minimum_cut

    rng = np.random.default_rng(0)
    weights = np.triu(rng.random((12, 12)) * (rng.random((12, 12)) < 0.3), 1)
    weights = weights + weights.T
    one, other = rng.random(12), rng.random(12)
    lead = np.maximum(one - other, 0), np.maximum(other - one, 0)

    def cut(to_source, to_sink):
        """Return the source side and the value, a terminal at each end of the rows."""
        arcs, ends = np.zeros((14, 14)), np.arange(14)
        arcs[:12, :12] = weights
        arcs[12, :12], arcs[:12, 13] = to_source, to_sink
        found = minimum_cut(arcs, np.zeros(14), source_seeds=ends == 12, sink_seeds=ends == 13)
        return found.source_side, found.value

    (apart, value), (left, less) = cut(one, other), cut(*lead)
    assert np.array_equal(apart, left)
    assert value == pytest.approx(less + np.minimum(one, other).sum())


@pytest.mark.filterwarnings("ignore:.*contradict the columns")
def test_annotators_work_without_columns(moons):
    _, true, said = moons
    opinion = np.clip(0.8 * true + 0.1 + 0.1 * np.random.default_rng(0).random(120), 0, 1)
    found = ConfidenceHNC().fit(None, said, opinions={"net": opinion})
    assert (found.consensus_ == true).mean() > 0.95


def test_one_annotator_in_a_column_is_the_ordinary_fit():
    X, y = make_moons(120, noise=0.2, random_state=0)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        column = ConfidenceHNC().fit(X, y.reshape(-1, 1))
    plain = ConfidenceHNC().fit(X, y)
    assert column.p_wrong_.tobytes() == plain.p_wrong_.tobytes()
    assert column.label_distributions_.tobytes() == plain.label_distributions_.tobytes()
