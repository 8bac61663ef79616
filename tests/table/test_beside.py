"""What stands beside a table: read from arrays, frames, columns and files, and lined up with its rows."""

import numpy as np
import pandas as pd
import pytest

from labelcut.errors import BadChoice, BadTable
from labelcut.table.beside import files_beside
from labelcut.table.row_keys import row_keys
from labelcut.table.table import make_table

P = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.4, 0.6]])


def frame():
    return pd.DataFrame(
        {
            "key": ["a", "b", "c", "d"],
            "size": [1.0, 5.0, 2.0, 4.0],
            "label": ["cat", "dog", "cat", "dog"],
            "net_dog": P[:, 1],
            "net_cat": P[:, 0],
            "vector": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]],
        }
    )


def beside(table=None, **given):
    return make_table(frame() if table is None else table, label="label", **given).beside


def said(found, name="net"):
    return found.opinions[name].values[["cat", "dog"]].to_numpy()


def test_an_array_is_in_the_order_of_the_sorted_classes(tmp_path):
    np.save(tmp_path / "p.npy", P)
    for given in (P, P.tolist(), P[:, 1], tmp_path / "p.npy", str(tmp_path / "p.npy")):
        assert np.allclose(said(beside(opinions={"net": given})), P)


def test_named_columns_may_stand_in_any_order(tmp_path):
    named = pd.DataFrame(P[:, ::-1], columns=["dog", "cat"])
    named.to_parquet(tmp_path / "p.parquet")
    named.to_csv(tmp_path / "p.csv", index=False)
    np.savez(tmp_path / "p.npz", probs=P[:, ::-1], classes=["dog", "cat"])
    for given in (named, tmp_path / "p.parquet", tmp_path / "p.csv", tmp_path / "p.npz"):
        assert np.allclose(said(beside(opinions={"net": given})), P)


def test_columns_of_the_table_are_named_by_what_follows_the_prefix_and_are_no_features():
    table = make_table(frame(), label="label", opinions={"net": "net_*"}, embedding="vector")
    assert np.array_equal(said(table.beside), P)
    assert table.beside.embedding.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert [column.name for column in table.features] == ["key", "size"]
    assert not {"net_dog", "vector"} & {column.name for column in table.shown}


def test_one_column_is_the_probability_of_the_second_class_or_of_the_one_it_is_called_after():
    assert np.allclose(said(beside(opinions={"net": "net_d*"})), P)
    assert np.allclose(said(beside(opinions={"net": frame()[["net_cat"]].set_axis(["cat"], axis=1)})), P)


def test_lines_are_matched_by_id(tmp_path):
    order = [2, 0, 3, 1]
    keys = np.array(list("abcd"))[order]
    pd.DataFrame(P[order], columns=["cat", "dog"]).assign(key=keys).to_parquet(tmp_path / "p.parquet")
    np.savez(tmp_path / "p.npz", probs=P[order], id=keys)
    np.savez(tmp_path / "e.npz", embedding=np.arange(8.0).reshape(4, 2)[order], ids=keys)
    for given in (tmp_path / "p.parquet", tmp_path / "p.npz"):
        assert np.array_equal(said(beside(opinions={"net": given}, id="key")), P)
    assert beside(embedding=tmp_path / "e.npz", id="key").embedding[:, 0].tolist() == [0, 2, 4, 6]


def test_a_sample_takes_its_own_lines_and_graph():
    many = pd.concat([frame()] * 10, ignore_index=True)
    P10, graph = np.vstack([P] * 10), np.arange(1600.0).reshape(40, 40)
    made = make_table(many, label="label", max_rows=12, opinions={"net": P10}, embedding=P10, graph=graph)
    assert np.array_equal(said(made.beside), P10[made.rows])
    assert np.array_equal(made.beside.embedding, P10[made.rows])
    assert np.array_equal(made.beside.graph, graph[made.rows][:, made.rows])


def test_a_sample_that_misses_a_class_still_reads_all_columns():
    many = pd.DataFrame({"x": np.arange(200.0), "label": ["cat", "dog"] * 99 + ["cow", "dog"]})
    P3 = np.tile([0.5, 0.0, 0.5], (200, 1))
    made = make_table(many, label="label", max_rows=20, opinions={"net": P3})
    assert "cow" not in made.classes
    assert made.beside.opinions["net"].values.columns.tolist() == ["cat", "cow", "dog"]


def test_classes_that_are_numbers_are_sorted_by_value():
    numbered = pd.DataFrame({"x": [1.0, 2, 3, 4], "label": [10, 9, 10, 9]})
    found = beside(numbered, opinions={"net": P})
    assert found.opinions["net"].values.columns.tolist() == ["9", "10"]


def test_the_order_in_which_classes_are_shown_does_not_matter():
    assert np.array_equal(said(beside(opinions={"net": P}, positive="cat")), P)


def test_vectors_written_as_text_are_read():
    texts = frame().assign(vector=["[1, 2]", "[3, 4]", "[5, 6]", "[7, 8]"])
    assert beside(texts, embedding="vector").embedding.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]


def test_files_are_told_so_that_they_are_not_written_over(tmp_path):
    np.save(tmp_path / "p.npy", P)
    found = files_beside({"net": str(tmp_path / "p.npy"), "other": "net_*"}, P)
    assert found == {"the probabilities of net": tmp_path / "p.npy"}


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"opinions": P}, TypeError, "opinions is a ndarray; give a dict"),
        ({"opinions": {"net": P[:3]}}, BadTable, "has 3 lines, but the table has 4 rows; give one line per"),
        (
            {"opinions": {"net": np.ones((4, 3)) / 3}},
            BadTable,
            "3 columns, but there are 2 classes.*'cat'",
        ),
        (
            {"opinions": {"net": pd.DataFrame(P, columns=["cat", "cow"])}},
            BadTable,
            "has the columns 'cat', 'cow', but the classes are 'cat', 'dog'; name one column after each",
        ),
        ({"opinions": {"net": "nte_*"}}, BadChoice, r"no column begins with 'nte_'; did you mean 'net_\*'\?"),
        ({"opinions": {"net": "zzz*"}}, BadChoice, "no column begins with 'zzz'; there are 'key'"),
        (
            {"opinions": {"net": "nowhere.npy"}},
            BadChoice,
            "'nowhere.npy' is no file; name one",
        ),
        ({"opinions": {"net": "net_"}}, BadChoice, r"'net_' is no file.*as in 'net_\*'"),
        ({"opinions": {"net": [["x", "y"]] * 4}}, BadTable, "holds no numbers"),
        ({"opinions": {"net": np.zeros((4, 2, 1))}}, BadTable, "has 3 dimensions; give one line"),
        ({"embedding": "nowhere.npy"}, BadChoice, "the embedding: 'nowhere.npy' is no file; check the path"),
        ({"embedding": "vectr"}, BadChoice, "no column begins with 'vectr'"),
        ({"embedding": "net"}, BadChoice, r"no column 'net'; several begin with it: write 'net\*'"),
        ({"embedding": "size"}, BadTable, r"row 1 of 'size' is 1.0, which is no list of numbers"),
        ({"embedding": P[:2]}, BadTable, "has 2 lines, but the table has 4 rows"),
        ({"opinions": {"net": "lab*"}}, BadTable, "the column 'label' holds no numbers"),
        ({"opinions": {"net": "net_*"}, "id": "net_dog"}, BadChoice, "'net_dog' is the id and cannot hold"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_way_out(given, error, message):
    with pytest.raises(error, match=message):
        beside(**given)


def test_vectors_of_different_lengths_and_gaps_are_refused():
    with pytest.raises(BadTable, match="row 3 of 'vector' has 1 numbers, others have 2"):
        beside(frame().assign(vector=[[1, 2], [1, 2], [1], [1, 2]]), embedding="vector")
    with pytest.raises(BadTable, match="row 2 of 'vector' is None, which is no list"):
        beside(frame().assign(vector=[[1, 2], None, [1, 2], [1, 2]]), embedding="vector")


def test_lines_with_names_need_an_id_and_every_row_once(tmp_path):
    np.savez(tmp_path / "p.npz", probs=P, id=list("abcd"))
    with pytest.raises(BadChoice, match="names its lines; say which column of the table.* with id"):
        beside(opinions={"net": tmp_path / "p.npz"})
    np.savez(tmp_path / "p.npz", probs=P, id=list("abca"))
    with pytest.raises(BadTable, match="two lines for the row 'a'"):
        beside(opinions={"net": tmp_path / "p.npz"}, id="key")
    np.savez(tmp_path / "p.npz", probs=P, id=list("abcx"))
    with pytest.raises(BadTable, match="no line for 1 of 4 rows, the first is 'd'"):
        beside(opinions={"net": tmp_path / "p.npz"}, id="key")


def test_objects_are_never_loaded(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "went off"), "w"))

    np.save(tmp_path / "p.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "p.npz", probs=np.array([Bomb()], dtype=object))
    for name in ("p.npy", "p.npz"):
        with pytest.raises(BadTable, match=f"{name}: holds Python objects, which are not loaded"):
            beside(opinions={"net": tmp_path / name})
    assert not (tmp_path / "went off").exists()


def test_damaged_files_are_refused(tmp_path):
    (tmp_path / "p.npy").write_bytes(b"")
    (tmp_path / "q.npy").write_bytes(b"hello")
    (tmp_path / "p.npz").write_bytes(b"PK\x03\x04 not a zip")
    np.savez(tmp_path / "q.npz", one=P, two=P)
    for name, message in (
        ("p.npy", "p.npy: is empty|No data"),
        ("q.npy", "q.npy: (cannot be read as an array|holds Python objects)"),
        ("p.npz", "p.npz: cannot be read"),
        ("q.npz", "holds the arrays 'one', 'two'; call the one with the numbers 'probs'"),
    ):
        with pytest.raises(BadTable, match=message):
            beside(opinions={"net": tmp_path / name})


def test_long_vectors_that_differ_in_the_middle_are_other_rows():
    vectors = np.zeros((3, 1500), dtype=np.float32)
    vectors[1, 700] = 1.0
    rows = pd.DataFrame({"vector": list(vectors), "y": ["a", "b", "a"]})
    first, second, third = row_keys(rows, "y").tolist()
    assert first == third != second
    same = rows.assign(vector=list(vectors.astype(np.float64)))
    assert row_keys(same, "y").tolist() == [first, second, third]


def test_a_column_of_vectors_is_described_without_being_written_out():
    rows = frame().assign(vector=list(np.eye(4)))
    made = make_table(rows, label="label", embedding="vector")
    column = next(column for column in made.columns if column.name == "vector")
    assert (column.role, column.n_distinct, column.is_hidden) == ("beside", 4, True)
    assert column.note == "makes the neighbours: no feature"
