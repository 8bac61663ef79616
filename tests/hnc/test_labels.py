import numpy as np
import pandas as pd
import polars
import pytest

from labelcut.hnc.labels import Labels, check_trust, read_labels
from labelcut.hnc.order import stand_ins


def codes_of(y):
    return read_labels(y, len(y)).codes.tolist()


def classes_of(y):
    return read_labels(y, len(y)).classes.tolist()


@pytest.mark.parametrize(
    "y",
    [
        [0, 1, -1, 1],
        np.array([0.0, 1.0, np.nan, 1.0]),
        np.array([0, 1, None, 1], dtype=object),
        ["a", "b", None, "b"],
        ["a", "b", float("nan"), "b"],
        ["a", "b", -1, "b"],
        [False, True, None, True],
        pd.Series(["a", "b", None, "b"]),
        pd.Series(["a", "b", None, "b"], dtype="category"),
        pd.Series([0, 1, None, 1], dtype="Int64"),
        pd.Series([False, True, None, True], dtype="boolean"),
        pd.Series(["a", "b", None, "b"], dtype="string"),
    ],
    ids=lambda y: f"{type(y).__name__}-{getattr(y, 'dtype', '')}-{list(y)[:3]}",
)
def test_every_way_to_write_unlabeled_is_read_alike(y):
    assert codes_of(y) == [0, 1, -1, 1]


def test_polars_columns_are_read():
    assert codes_of(polars.Series(["a", "b", None, "b"])) == [0, 1, -1, 1]
    assert codes_of(polars.Series([0, 1, None, 1])) == [0, 1, -1, 1]


def test_classes_keep_their_type():
    assert read_labels(np.array(["x", "y"]), 2).classes.dtype.kind == "U"
    assert read_labels(np.array([True, False]), 2).classes.dtype == bool
    assert classes_of(np.array([1, 0, None], dtype=object)) == [0, 1]
    assert classes_of(["no", "yes", None]) == ["no", "yes"]


def test_minus_one_and_one_alone_are_two_classes():
    assert codes_of([-1, 1, 1, -1]) == [0, 1, 1, 0]
    assert codes_of(np.array([-1.0, 1.0])) == [0, 1]


def test_minus_one_beside_other_classes_is_unlabeled():
    assert codes_of([-1, 0, 1]) == [-1, 0, 1]
    assert codes_of([-1, 1, 2]) == [-1, 0, 1]


def test_minus_one_and_one_with_missing_values_is_refused_with_advice():
    with pytest.raises(
        ValueError, match=r"1 times -1, 2 times 1 and 1 missing values.*write the classes as 0 and 1"
    ):
        read_labels([-1, 1, None, 1], 4)


@pytest.mark.parametrize("y", [[-1, -1], [None, None], [np.nan, np.nan]])
def test_no_label_at_all_is_refused(y):
    with pytest.raises(ValueError, match=r"none of the 2 rows has a label; at least one row of each class"):
        read_labels(y, 2)


def test_wrong_length_names_both_numbers():
    with pytest.raises(ValueError, match=r"y has 2 labels, but X has 3 rows"):
        read_labels([0, 1], 3)


def test_mixed_types_are_named():
    with pytest.raises(TypeError, match=r"mixes labels of the types number, str; convert them to one"):
        read_labels(np.array(["a", 7], dtype=object), 2)


def test_infinity_and_fractions_are_no_classes():
    with pytest.raises(ValueError, match="y contains infinity"):
        read_labels([0.0, np.inf], 2)
    with pytest.raises(ValueError, match="Unknown label type"):
        read_labels([0.1, 0.2, 0.3], 3)


def test_weight_zero_makes_a_row_unlabeled_and_the_default_trust_is_one():
    labels = read_labels([0, 1, 1, 0], 4)
    kept, trust = check_trust([0, 1, 2, np.inf], labels)
    assert kept.codes.tolist() == [-1, 1, 1, 0]
    assert trust.tolist() == [0, 1, 2, np.inf]
    assert check_trust(None, labels)[1].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -2, 1, 1], r"sample_weight\[1\] is -2.0; it is the trust in a label, from 0"),
        ([1, 1, np.nan, 1], r"sample_weight\[2\] is nan"),
        ([1, 1], r"sample_weight has shape \(2,\), but X has 4 rows"),
        ([0, 0, 0, 0], r"sample_weight is zero for every labeled row"),
        ([0, 1, 1, 0], r"sample_weight is zero for every row of class"),
    ],
)
def test_bad_weights_are_told(weight, message):
    with pytest.raises(ValueError, match=message):
        check_trust(weight, read_labels([0, 1, 1, 0], 4))


def test_the_first_of_equal_rows_stands_for_all():
    X = np.array([[1.0], [1.0], [1.0], [2.0], [2.0]])
    assert stand_ins(X, np.array([0, 0, 1, 1, 1]), np.ones(5)).tolist() == [0, 0, 2, 3, 3]


def test_labels_that_were_read_before_are_not_guessed_again():
    labels = Labels.of_codes(["a", "b", "c"], np.array([-1, 1, 2, 1]))  # no row is an a
    assert (labels.classes.tolist(), labels.codes.tolist()) == (["b", "c"], [-1, 0, 1, 0])
    only_b = Labels.of_codes(["a", "b"], np.array([-1, 1, 1]))
    assert (only_b.classes.tolist(), only_b.codes.tolist()) == (["b"], [-1, 0, 0])
    assert read_labels(only_b, 3) is only_b
    with pytest.raises(ValueError, match=r"y has 3 labels, but X has 4 rows"):
        read_labels(only_b, 4)
    with pytest.raises(ValueError, match=r"none of the 2 rows has a label"):
        Labels.of_codes(["a", "b"], np.array([-1, -1]))
