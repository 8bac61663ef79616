"""Decisions onto rows, and corrected tables onto the disk."""

import gzip
import io
import json

import numpy as np
import pandas as pd
import pytest

import labelcut
from labelcut.errors import BadChoice, BadTable
from labelcut.table.csv_cells import append_cells, cell_spans, iterate_records, replace_cell, split_cells
from labelcut.table.decisions import match, read_decisions
from labelcut.table.reading import read_frame
from labelcut.table.saving import staged_folder
from labelcut.table.source import find_source
from labelcut.table.table import make_table
from labelcut.table.writing import csv_text, guarded, unguarded, write_corrected, write_with_columns

AWKWARD = (
    b'\xef\xbb\xbfname, size ,"y, or not",text\r\n'
    b'ann,1.50,yes,"a ""quoted"", word"\r\n'
    b"\r\n"
    b'bob, 2 , "no" ,"two\nlines"\n'
    b'5" pipe,3.0,yes,\xff bad\r\n'
    b"short,4,no\r\n"
    b"last,5,no,x"
)


def test_records_come_out_with_every_byte():
    text = AWKWARD.decode("utf-8", "surrogateescape")
    records = list(iterate_records(io.StringIO(text, newline=""), ",", '"'))
    assert "".join(records) == text
    assert len(records) == 7
    assert split_cells(records[3], ",", '"') == ["bob", "2", "no", "two\nlines"]
    assert cell_spans('"a,b"x,c\n', ",", '"') == ([(0, 6), (7, 8)], False)


def test_one_cell_is_replaced_and_nothing_else():
    assert replace_cell('a, "b" ,c\r\n', 1, "new", ",", '"') == 'a, "new" ,c\r\n'
    assert replace_cell("a, b ,c\n", 1, "x,y", ",", '"') == 'a, "x,y" ,c\n'
    assert replace_cell("a,,c", 1, "x", ",", '"') == "a,x,c"
    assert replace_cell("a,\tb\t,c", 1, "x,y", ",", '"') == 'a,"x,y"\t,c'
    assert replace_cell("a\n", 2, "x", ",", '"') == "a,,x\n"
    assert append_cells("a,b\r\n", ["1", "2"], 3, ",", '"') == "a,b,,1,2\r\n"


def test_a_corrected_csv_differs_in_the_changed_cells_only(tmp_path):
    file = tmp_path / "awkward.csv"
    file.write_bytes(AWKWARD)
    source = find_source(file)
    frame = read_frame(source, as_text=["y, or not"])
    assert frame["y, or not"].str.strip().tolist() == ["yes", "no", "yes", "no", "no"]
    given = ["yes", "no", "yes", "no", "no"]
    write_corrected(source, tmp_path / "out.csv", "y, or not", {1: "yes", 4: "yes"}, given)
    expected = AWKWARD.replace(b'"no"', b'"yes"').replace(b"last,5,no", b"last,5,yes")
    assert (tmp_path / "out.csv").read_bytes() == expected
    assert file.read_bytes() == AWKWARD


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16", "latin-1"])
def test_any_encoding_and_delimiter_survives(tmp_path, delimiter, encoding):
    text = "grüße,y\r\nä,ja\r\nö,né\r\nü,ja\r\n".replace(",", delimiter)
    file = tmp_path / "table.csv"
    file.write_bytes(text.encode(encoding))
    source = find_source(file)
    write_corrected(source, tmp_path / "out.csv", "y", {0: "né"}, ["ja", "né", "ja"])
    assert (tmp_path / "out.csv").read_bytes() == text.replace("ja", "né", 1).encode(encoding)
    write_with_columns(source, tmp_path / "more.csv", {"labelcut_x": ["é", None, 1.5]})
    lines = (tmp_path / "more.csv").read_bytes().decode(encoding).splitlines()
    assert lines == [
        line + delimiter + cell
        for line, cell in zip(text.splitlines(), ["labelcut_x", "é", "", "1.5"], strict=True)
    ]


def test_gzip_is_written_the_same_twice(tmp_path):
    file = tmp_path / "t.csv.gz"
    file.write_bytes(gzip.compress(b"x,y\n1,a\n2,b\n"))
    for name in ("one", "two"):
        write_corrected(find_source(file), tmp_path / name, "y", {1: "a"}, ["a", "b"])
    assert gzip.decompress((tmp_path / "one").read_bytes()) == b"x,y\n1,a\n2,a\n"
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_arff_gets_attributes_and_keeps_its_comments(tmp_path):
    text = "% note\n@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n1,a\n% half\n2,'b'\n"
    file = tmp_path / "t.arff"
    file.write_text(text)
    source = find_source(file)
    write_corrected(source, tmp_path / "out.arff", "y", {1: "a"}, ["a", "b"])
    assert (tmp_path / "out.arff").read_text() == text.replace("'b'", "'a'")
    write_with_columns(source, tmp_path / "more.arff", {"labelcut_w": [0.5, None], "labelcut_l": ["a", "b"]})
    again = read_frame(find_source(tmp_path / "more.arff"))
    assert again["labelcut_l"].tolist() == ["a", "b"]
    assert again["labelcut_w"].isna().tolist() == [False, True]


def test_json_lines_keep_untouched_lines_and_the_type_of_the_label(tmp_path):
    lines = ['{"x": 1.50, "y": 1}', '{"x":2,"y":0}', '{ "x": [1, 2], "y": 1 }']
    file = tmp_path / "t.jsonl"
    file.write_text("\n".join(lines))
    source = find_source(file)
    write_corrected(source, tmp_path / "out.jsonl", "y", {1: "1"}, ["1", "0", "1"])
    written = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [written[0], written[2]] == [lines[0], lines[2]]
    assert json.loads(written[1]) == {"x": 2, "y": 1}
    write_with_columns(source, tmp_path / "more.jsonl", {"labelcut_x": ["a", None, 2.0]})
    added = [json.loads(line) for line in (tmp_path / "more.jsonl").read_text().splitlines()]
    assert [row["labelcut_x"] for row in added] == ["a", None, 2.0]


@pytest.mark.parametrize("kind", ["parquet", "feather", "xlsx"])
def test_typed_formats_keep_their_types(tmp_path, kind):
    frame = pd.DataFrame({"x": [1, 2, 3], "y": [0, 1, 1], "z": ["a", "b", None]})
    file, out = tmp_path / f"t.{kind}", tmp_path / f"out.{kind}"
    if kind == "parquet":
        frame["z"] = frame["z"].astype("category")
    {
        "parquet": frame.to_parquet,
        "feather": frame.to_feather,
        "xlsx": lambda f: frame.to_excel(f, index=False),
    }[kind](file)
    source = find_source(file)
    write_corrected(source, out, "y", {0: "1"}, ["0", "1", "1"])
    again = read_frame(find_source(out))
    pd.testing.assert_frame_equal(again, read_frame(source).assign(y=[1, 1, 1]))
    write_with_columns(source, out, {"labelcut_x": ["p", None, "q"]})
    assert read_frame(find_source(out))["labelcut_x"].isna().tolist() == [False, True, False]


def test_cells_that_a_spreadsheet_would_run_are_guarded():
    assert [guarded(text) for text in ("=cmd", "+x", "-1.5", "-x", "@a", "plain", "\tq")] == [
        *("'=cmd", "'+x", "-1.5", "'-x", "'@a", "plain", "'\tq"),
    ]
    texts = ("=cmd", "-1", "'quoted", "x", "@a", "'=1+1", "''=1", "'-1", "'", "''", "'x'=")
    assert [unguarded(guarded(text)) for text in texts] == list(texts)
    assert csv_text(["=a"], [["=1+1"], [None]]) == "'=a\n'=1+1\n\"\"\n"


def test_a_failed_write_leaves_nothing(tmp_path):
    (tmp_path / "report.html").write_text("old")

    def fail():
        with staged_folder(tmp_path, inputs={}) as stage:
            (stage / "report.html").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text() == "old"


TABLE = pd.DataFrame({"name": list("pqrs"), "x": [1, 2, 3, 4.5], "y": ["a", "a", "b", "b"]})


def decided(tmp_path, *lines):
    file = tmp_path / "decisions.csv"
    file.write_text("\n".join(["key,id,row,given_label,decision,label", *lines]))
    return read_decisions(file)


def test_decisions_find_their_rows_by_key_in_any_order(tmp_path):
    keys = make_table(TABLE, label="y").key_texts()
    decisions = decided(
        tmp_path, f"{keys[0]},,1,a,flip,b", f"{keys[2]},,3,b,keep,b", f"{keys[3]},,4,b,unsure,"
    )
    moved = make_table(TABLE.iloc[[3, 2, 1, 0]].reset_index(drop=True), label="y")
    matched = match(decisions, moved)
    assert matched.labels == {3: "b", 1: "b"}
    assert matched.unsure == {0}
    assert matched.conflicts == ()
    assert matched.changed(moved) == {3: "b"}


def test_decisions_find_their_rows_by_id(tmp_path):
    table = make_table(TABLE.assign(x=0.5 + TABLE["x"]), label="y", id="name")
    assert match(decided(tmp_path, "stale,q,2,a,flip,b"), table).labels == {1: "b"}


def test_clashes_are_reported_and_left_out(tmp_path):
    table = make_table(TABLE, label="y", id="name")
    decisions = decided(
        tmp_path, ",gone,9,a,flip,b", ",p,1,c,flip,d", ",q,2,a,flip,b", ",q,2,a,keep,a", ",r,3,a,flip,b"
    )
    matched = match(decisions, table)
    assert matched.labels == {1: "b", 2: "b"}  # r was flipped before: nothing is left to do.
    assert matched.changed(table) == {1: "b"}
    assert [conflict.split(": ", 1)[1] for conflict in matched.conflicts] == [
        "no such row in the table; left out.",
        "decided on 'c', but the row is now 'a'; left out.",
        "contradicts line 4; the earlier one is used.",
    ]


def test_equal_rows_take_one_decision_each(tmp_path):
    frame = pd.DataFrame({"x": [1, 1, 2, 2.5], "y": ["a", "a", "b", "a"]})
    key = make_table(frame, label="y").key_texts()[0]
    decisions = decided(tmp_path, f"{key},,1,a,flip,b", f"{key},,2,a,keep,a")
    assert match(decisions, make_table(frame, label="y")).labels == {0: "b", 1: "a"}


def flip_every(label, to, classes, tmp_path):
    """A partly labeled table, and decisions that turn every one of its rows of one class into another."""
    rng = np.random.default_rng(0)
    code = np.repeat(np.arange(len(classes)), 40)
    X = rng.normal(4.0 * code[:, None], 1.0, (code.size, 2))
    y = np.where(np.arange(code.size) % 2 == 0, np.array(classes, dtype=object)[code], None)
    frame = pd.DataFrame({"name": [f"r{i}" for i in range(code.size)], "x": X[:, 0], "z": X[:, 1], "y": y})
    lines = [f",r{i},{i + 1},{label},flip,{to}" for i in np.flatnonzero(y == label)]
    decided(tmp_path, *lines)
    return frame, tmp_path / "decisions.csv"


def test_a_class_emptied_by_decisions_does_not_make_unlabeled_rows_a_class(tmp_path):
    frame, decisions = flip_every("a", "b", ["a", "b", "c"], tmp_path)
    found = labelcut.audit(frame, label="y", id="name", decisions=decisions, n_jobs=1)
    assert found.summary["counts"]["labeled"] == 60
    assert (found.rows["status"] == "unlabeled").tolist() == frame["y"].isna().tolist()
    assert set(found.rows["predicted_label"]) == {"b", "c"}
    assert (found.rows["predicted_label"][80:] == "c").mean() > 0.9


def test_decisions_that_leave_one_class_are_refused_in_the_words_of_the_table(tmp_path):
    frame, decisions = flip_every("a", "b", ["a", "b"], tmp_path)
    with pytest.raises(BadTable, match=r"all 40 labeled rows are 'b'; at least one row of each class"):
        labelcut.audit(frame, label="y", id="name", decisions=decisions, n_jobs=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("key,label\n1,a\n", "no column decision, given_label"),
        ("key,id,row,given_label,decision,label\n1,,1,a,maybe,b\n", "line 2 says 'maybe'"),
        ("key,id,row,given_label,decision,label\n1,,1,a,flip,\n", "line 2 decides flip but names no label"),
    ],
)
def test_a_file_that_holds_no_decisions_is_refused(tmp_path, text, message):
    (tmp_path / "d.csv").write_text(text)
    with pytest.raises(BadTable, match=message):
        read_decisions(tmp_path / "d.csv")
    with pytest.raises(BadChoice, match="cannot be read"):
        read_decisions(tmp_path / "nowhere.csv")


def test_writing_many_rows_back_equals_reading_them(tmp_path):
    rng = np.random.default_rng(1)
    cells = rng.choice(['a"b', "c,d", "", "line\nbreak", " pad ", "ü", "'", "plain"], size=(200, 3))
    frame = pd.DataFrame(cells, columns=["p", "q", "r"]).assign(y=rng.choice(["a", "b"], 200))
    file = tmp_path / "t.csv"
    frame.to_csv(file, index=False)
    source = find_source(file)
    write_with_columns(source, tmp_path / "more.csv", {"labelcut_n": list(range(200))})
    again = read_frame(find_source(tmp_path / "more.csv"))
    assert again["labelcut_n"].tolist() == list(range(200))
    pd.testing.assert_frame_equal(again.drop(columns="labelcut_n"), read_frame(source))
