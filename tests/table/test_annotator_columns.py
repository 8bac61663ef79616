"""Labels of several annotators as they stand in a table: a column each, or a line per label."""

import numpy as np
import pandas as pd
import pytest

from labelcut.errors import BadChoice, BadTable
from labelcut.table.annotators import CONSENSUS
from labelcut.table.table import make_table, read_table


def votes():
    """Four pets, three annotators."""
    return pd.DataFrame(
        {
            "pet": ["Rex", "Tom", "Kim", "Bo"],
            "kg": [30.0, 4.0, 5.0, 22.0],
            "ann": ["dog", "cat", None, "dog"],
            "bob": ["dog", "dog", "cat", None],
            "cy": [None, "cat", "cat", "dog"],
        }
    )


def lines(frame=None):
    """Return the same with a line per label."""
    frame = votes() if frame is None else frame
    long = frame.melt(["pet", "kg"], var_name="who", value_name="says").dropna(subset="says")
    return long.sample(frac=1, random_state=1).reset_index(drop=True)


def test_a_column_per_annotator_is_one_row_with_several_labels():
    table = make_table(votes(), label=["ann", "bob", "cy"], id="pet")
    assert table.classes == ("cat", "dog")
    assert table.annotators.names == ("ann", "bob", "cy")
    assert table.annotators.codes.tolist() == [[1, 1, -1], [0, 1, 0], [-1, 0, 0], [1, -1, 1]]
    assert [column.name for column in table.features] == ["kg"]
    assert table.label == CONSENSUS
    assert not table.is_labeled.any()


def test_a_line_per_label_is_one_row_per_id_in_their_order():
    frame = lines()
    table = make_table(frame, label="says", annotator="who", id="pet")
    wide = make_table(votes(), label=["ann", "bob", "cy"], id="pet")
    assert table.ids() == list(dict.fromkeys(frame["pet"]))
    order = [wide.ids().index(name) for name in table.ids()]
    assert np.array_equal(table.annotators.codes, wide.annotators.codes[order])
    assert np.array_equal(table.keys, wide.keys[order])
    assert (frame["pet"].iloc[table.rows].to_numpy() == table.ids()).all()
    assert (np.array(table.ids())[table.annotators.lines] == frame["pet"]).all()


def test_a_sample_is_of_rows_and_not_of_lines():
    table = make_table(lines(), label="says", annotator="who", id="pet", max_rows=2)
    assert len(table.codes) == 2
    assert table.n_rows_in_file == 4
    kept = table.annotators.lines >= 0
    assert set(lines()["pet"][kept]) == set(table.ids())


def test_the_key_of_a_row_does_not_change_with_one_more_annotator():
    more = votes().assign(dee=["dog", None, "dog", "dog"], labelcut_consensus="dog")
    one = make_table(votes(), label=["ann", "bob", "cy"]).keys
    assert np.array_equal(one, make_table(more, label=["ann", "bob", "cy", "dee"]).keys)


def test_one_column_in_a_list_is_the_ordinary_table():
    table = make_table(votes(), label=["bob"], id="pet", ignore=["ann", "cy"])
    assert table.annotators is None
    assert table.label == "bob"


def test_marks_and_blanks_are_read_in_every_label_column(tmp_path):
    frame = votes().assign(ann=["dog", "cat", "NA", "skip"], bob=[" dog", "dog", "cat", "-"])
    frame.to_csv(tmp_path / "v.csv", index=False)
    table = read_table(tmp_path / "v.csv", label=["ann", "bob", "cy"], unlabeled=["skip", "-"])
    assert table.classes == ("cat", "dog")
    assert table.annotators.codes[:, 0].tolist() == [1, 0, -1, -1]
    assert "'NA' (1)" in table.notes[0]


def test_columns_that_tell_of_the_label_are_left_out_and_told():
    frame = lines().assign(seconds=range(9))
    table = make_table(frame, label="says", annotator="who", id="pet")
    assert [column.name for column in table.features] == ["kg"]
    assert "differ inside most ids tell of the label and are left out: 'seconds'" in table.notes[-1]


def test_a_feature_that_differs_inside_an_id_is_refused_by_name():
    frame = lines()
    frame.loc[frame["pet"] == "Tom", "kg"] = [4.0, 4.0, 4.5]
    with pytest.raises(BadTable, match="rows of pet 'Tom' differ in the column 'kg'.*ignore"):
        make_table(frame, label="says", annotator="who", id="pet")
    with pytest.raises(BadTable, match="no column to judge"):
        make_table(frame, label="says", annotator="who", id="pet", ignore=["kg"])


WIDE = {"label": ["ann", "bob", "cy"]}
LONG = {"label": "says", "annotator": "who", "id": "pet"}


@pytest.mark.parametrize(
    ("frame", "choices", "kind", "message"),
    [
        (votes(), {"label": ["ann", "bop"]}, BadChoice, "no column 'bop'; did you mean 'bob'"),
        (votes(), {"label": ["ann", "ann"]}, BadChoice, "'ann' is named twice"),
        (votes(), {"label": []}, BadChoice, "names no column"),
        (votes(), {"label": ["ann", 3]}, TypeError, "3 is no text"),
        (votes(), {**WIDE, "id": "bob"}, BadChoice, "'bob' is the label and cannot be the id"),
        (votes(), {**WIDE, "ignore": ["cy"]}, BadChoice, "'cy' is the label and cannot be"),
        (votes().assign(bob=None, cy=None), WIDE, BadTable, "only 'ann' holds labels; name it alone"),
        (votes().assign(ann=None, bob=None, cy=None), WIDE, BadTable, "holds no label at all"),
        (votes().assign(ann="dog", bob="dog", cy="dog"), WIDE, BadTable, "all 12 labeled rows are 'dog'"),
        (lines(), {**LONG, "annotator": "whom"}, BadChoice, "no column 'whom'; did you mean 'who'"),
        (lines(), {"label": "says", "annotator": "who"}, BadChoice, "which lines belong together with id"),
        (lines(), {**LONG, "id": "who"}, BadChoice, "names the annotators and cannot be the id"),
        (lines(), {**LONG, "group": "who"}, BadChoice, "cannot be the group as well"),
        (lines(), {**LONG, "ignore": ["who"]}, BadChoice, "'who' is ignored and cannot be the annotator"),
        (lines(), {**LONG, "label": ["says", "kg"]}, BadChoice, "2 label columns are named; name one"),
        (lines().assign(who="ann").drop_duplicates("pet"), LONG, BadTable, "all labels are by 'ann'"),
        (pd.concat([lines(), lines()[:1]]), LONG, BadTable, "gave two labels to .*; keep one of them"),
        (lines().assign(who=[None, *"abcdefgh"]), LONG, BadTable, "1 rows do not say whose .* in row 1"),
        (lines().assign(pet=[*"abcdefgh", None]), LONG, BadTable, "1 rows do not say what .* in row 9"),
    ],
)
def test_choices_that_do_not_fit_are_refused_with_a_remedy(frame, choices, kind, message):
    with pytest.raises(kind, match=message):
        make_table(frame, **choices)


def test_an_annotator_of_another_question_is_refused():
    many = pd.concat([votes()] * 5, ignore_index=True).assign(pet=range(20))
    many["cy"] = np.where(np.arange(20) % 2, "red", "blue")
    with pytest.raises(BadTable, match="no label of the annotator 'cy' was ever given by another one"):
        make_table(many, label=["ann", "bob", "cy"])
