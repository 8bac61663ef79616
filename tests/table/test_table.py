"""Files and data frames into tables: detection, typing, encoding."""

import gzip
import io
import re
import time
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tables import run

from labelcut.errors import BadChoice, BadTable
from labelcut.table.correcting import write_decided
from labelcut.table.numbers import encode
from labelcut.table.reading import read_frame
from labelcut.table.source import find_source
from labelcut.table.table import make_table, read_table
from labelcut.table.writing import write_with_columns

ROWS = [
    ("001", 5.0, "red", "yes"),
    ("002", 6.5, "blue", "no"),
    ("003", 7.0, "red", "yes"),
    ("004", 1.0, "", "no"),
]
FRAME = pd.DataFrame(ROWS, columns=["id", "size", "colour", "bought"])


def written(tmp_path, content, name="table.csv"):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def csv_bytes(delimiter=",", encoding="utf-8"):
    return FRAME.to_csv(index=False, sep=delimiter).encode(encoding)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path, delimiter):
    source = find_source(written(tmp_path, csv_bytes(delimiter)))
    frame = read_frame(source, as_text=["id"])
    assert source.delimiter == delimiter
    assert frame["id"].tolist() == ["001", "002", "003", "004"]
    assert frame["size"].tolist() == [5.0, 6.5, 7.0, 1.0]
    assert frame["colour"].isna().tolist() == [False, False, False, True]


def write_as(frame, path, kind):
    if kind == "csv.gz":
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    elif kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif kind == "arff":
        head = (
            "% made up\n@RELATION r\n@attribute id string\n@ATTRIBUTE 'size' real\n@attribute colour string\n"
        )
        rows = "\n".join(f"'{i}', {s}, {c or '?'}, {b}" for i, s, c, b in frame.itertuples(index=False))
        path.write_text(f"{head}@attribute bought {{yes,no}}\n@data\n% 50%\n{rows}\n")
    else:
        getattr(frame, {"parquet": "to_parquet", "feather": "to_feather", "xlsx": "to_excel"}[kind])(
            path, **({"index": False} if kind != "feather" else {})
        )


@pytest.mark.parametrize("kind", ["csv.gz", "jsonl", "arff", "parquet", "feather", "xlsx"])
def test_every_format_gives_the_same_table(tmp_path, kind):
    file = tmp_path / f"table.{kind}"
    write_as(FRAME, file, kind)
    frame = read_frame(find_source(file), as_text=["id", "bought"])
    table = make_table(frame, label="bought", id="id")
    assert table.classes == ("no", "yes")
    assert table.codes.tolist() == [1, 0, 1, 0]
    assert frame["size"].tolist() == [5.0, 6.5, 7.0, 1.0]
    assert table.ids() == ["001", "002", "003", "004"]


def test_standard_input_is_recognised_by_its_content(monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(gzip.compress(csv_bytes(";"))))
    monkeypatch.setattr("sys.stdin", stdin)
    source = find_source("-")
    assert (source.format, source.is_gzipped, source.delimiter) == ("csv", True, ";")
    assert len(read_frame(source)) == 4


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_the_encoding_is_found(tmp_path, encoding):
    text = "name,café\nMüller,1\nÅse,2\n"
    source = find_source(written(tmp_path, text.encode(encoding)))
    frame = read_frame(source)
    assert list(frame.columns) == ["name", "café"]
    assert frame["name"].tolist() == ["Müller", "Åse"]


def test_marks_for_missing_values_are_known_and_can_be_replaced(tmp_path):
    file = written(tmp_path, "a,b\n1,?\nN/A,x\n-9,y\n")
    assert read_frame(find_source(file)).isna().to_numpy().tolist() == [[0, 1], [1, 0], [0, 0]]
    own = read_frame(find_source(file, missing=["-9"]))
    assert own["a"].isna().tolist() == [False, False, True]


def test_names_are_made_unique_and_never_empty(tmp_path):
    frame = read_frame(find_source(written(tmp_path, 'x,,x,"x (2)"\n1,2,3,4\n5,6,7,8\n')))
    assert list(frame.columns) == ["x", "column 2", "x (2)", "x (2) (2)"]


def test_a_record_longer_than_the_header_is_refused(tmp_path):
    for text in ("a,b\n1,2\n1,2,3\n", "a,b\n1,2,3\n1,2,3\n"):
        with pytest.raises(BadTable, match="where the header has 2"):
            read_frame(find_source(written(tmp_path, text)))


def test_a_column_of_numbers_and_words_does_not_depend_on_the_order_of_its_rows(tmp_path):
    numbers = [f"{i:07d}" for i in range(150_000)]
    forward = read_frame(
        find_source(written(tmp_path, "a,b\n" + "\n".join(f"{n},1" for n in [*numbers, "x"])))
    )
    assert forward["a"].iloc[7] == "0000007"


def kinds(table):
    return {column.name: (column.kind, column.role) for column in table.columns}


def mixed_frame(n=100):
    return pd.DataFrame(
        {
            "when": pd.date_range("2020-01-28", periods=n).strftime("%d/%m/%Y"),
            "price": [f"{i},5" for i in range(n)],
            "customer": [f"c{i:03d}" for i in range(n)],
            "number": range(1, n + 1),
            "city": [f"town {i % 60}" for i in range(n)],
            "colour": ["red", "blue", None, "green"] * (n // 4),
            "weight": [None, 1.5, 2.5, 3.5] * (n // 4),
            "remark": [f"a longer remark, number {i}, in words" for i in range(n)],
            "unit": "kg",
            "who": ["ann", "bob"] * (n // 2),
            "y": ["a", "b"] * (n // 2),
        }
    )


def test_each_column_is_typed_and_none_is_dropped_in_silence():
    table = make_table(mixed_frame(), label="y", group="who", ignore=["city"])
    assert kinds(table) == {
        "when": ("date", "feature"),
        "price": ("numeric", "feature"),
        "customer": ("identifier", "ignored"),
        "number": ("identifier", "ignored"),
        "city": ("category", "ignored"),
        "colour": ("category", "feature"),
        "weight": ("numeric", "feature"),
        "remark": ("text", "feature"),
        "unit": ("constant", "ignored"),
        "who": ("category", "group"),
        "y": ("category", "label"),
    }
    assert all(column.note for column in table.columns if column.role in ("feature", "ignored"))


def test_a_kind_can_be_overruled():
    table = make_table(mixed_frame(), label="y", kinds={"customer": "category", "price": "category"})
    assert kinds(table)["customer"] == ("category", "feature")
    with pytest.raises(BadChoice, match="'remark' holds text that is no number"):
        make_table(mixed_frame(), label="y", kinds={"remark": "numeric"})
    with pytest.raises(BadChoice, match="no kind is called 'words'; choose from numeric, category"):
        make_table(mixed_frame(), label="y", kinds={"remark": "words"})


def test_the_matrix_has_no_gaps_and_knows_where_its_columns_come_from():
    table = make_table(mixed_frame(), label="y")
    encoded = encode(table)
    assert encoded.X.shape == (100, len(encoded.names))
    assert np.isfinite(encoded.X).all()
    assert set(encoded.origin) == {column.name for column in table.features}
    gap = encoded.X[:, encoded.names.index("weight: was missing")]
    assert gap.tolist() == [1, 0, 0, 0] * 25
    assert {"colour: (missing)", "colour: red", "when: year", "who: bob"} <= set(encoded.names)


def test_numbers_take_half_the_memory_where_that_changes_none_of_them():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": rng.normal(size=60).astype(np.float32), "n": (np.arange(60) % 40).astype(np.int16)}
    )
    frame = frame.assign(c=["red", "green", "blue"] * 20, y=list("ab") * 30)
    narrow, wide = (
        encode(make_table(frame, label="y")),
        encode(make_table(frame.astype({"x": float}), label="y")),
    )
    assert (narrow.X.dtype, wide.X.dtype) == (np.float32, np.float64)
    assert np.array_equal(narrow.X, wide.X)
    gappy = frame.assign(x=frame["x"].mask(frame["n"] < 5))  # a median may lie between two numbers
    large = frame.astype({"n": np.int64})
    for held in (gappy, large):
        assert encode(make_table(held, label="y")).X.dtype == np.float64


def test_infinite_numbers_count_as_missing():
    frame = pd.DataFrame({"x": [1.0, np.inf, 2.0, 3.0], "y": list("abab")})
    assert encode(make_table(frame, label="y")).X.tolist() == [[1, 0], [2, 1], [2, 0], [3, 0]]


def test_labels_are_read_as_they_stand_and_marks_mean_unlabeled():
    frame = pd.DataFrame(
        {"x": range(6), "z": [1, 1, 2, 2, 3, 3.5], "y": [" 1 ", "2", None, "skip", "2", "10"]}
    )
    table = make_table(frame, label="y", unlabeled=["skip"])
    assert table.classes == ("1", "2", "10")
    assert table.codes.tolist() == [0, 1, -1, -1, 1, 2]
    assert make_table(FRAME, label="bought", positive="no").classes == ("yes", "no")


@pytest.mark.parametrize(
    ("label", "change", "message"),
    [
        ("bougth", {}, "no column 'bougth'; did you mean 'bought'"),
        ("bought", {"bought": "yes"}, "all 4 labeled rows are 'yes'; at least one row of a second class"),
        ("bought", {"bought": None}, "holds no label at all"),
        ("zzzzzz", {}, "there are 'id', 'size', 'colour', 'bought'"),
    ],
)
def test_wrong_labels_are_refused_with_a_remedy(label, change, message):
    with pytest.raises((BadChoice, BadTable), match=message):
        make_table(FRAME.assign(**change), label=label)


def test_a_number_to_predict_is_no_label():
    frame = pd.DataFrame({"x": np.arange(100) % 7, "price": np.arange(100) / 7})
    with pytest.raises(BadTable, match="100 different values in 100 rows"):
        make_table(frame, label="price")


def test_keys_follow_the_content_of_a_row_not_its_place_or_its_label():
    frame = mixed_frame()
    keys = make_table(frame, label="y").key_texts()
    assert len(set(keys)) == 100
    order = np.random.default_rng(0).permutation(100)
    moved = frame.iloc[order].reset_index(drop=True)[[*reversed(frame.columns)]]
    moved["y"] = moved["y"].iloc[::-1].to_numpy()
    moved["labelcut_note"] = "new"
    assert make_table(moved, label="y").key_texts() == [keys[i] for i in order]
    roles = {"ignore": ["when", "price"], "id": "customer", "group": "city"}
    assert make_table(moved.astype({"number": str}), label="y", **roles).key_texts() == [
        keys[i] for i in order
    ]


def test_keys_stay_what_they_were_in_saved_decisions_however_columns_are_batched(monkeypatch):
    frame = pd.DataFrame(
        {
            "number": [1.5, np.nan, 3.0],
            "word": ["a", None, "b"],
            "mark": ["7", "x", "8"],
            "day": pd.to_datetime(["2020-01-01", "2021-02-03", None]),
            "mixed": np.array(["q", True, 1.0], dtype=object),
            "y": ["p", "q", "p"],
        }
    )
    saved = ["54158bc4e4827d5b", "38e4f3ee477b9325", "65516a3e42009c9c"]
    assert make_table(frame, label="y").key_texts() == saved
    monkeypatch.setattr("labelcut.table.row_keys.BATCH_CELLS", 3)  # one column at a time
    assert make_table(frame, label="y").key_texts() == saved


@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
def test_keys_do_not_depend_on_the_unit_that_times_are_kept_in(zone):
    days = pd.Series(pd.to_datetime(["2020-01-01", "2021-02-03", None])).dt.tz_localize(zone)
    keys = {
        tuple(
            make_table(pd.DataFrame({"day": days.dt.as_unit(unit), "y": list("pqp")}), label="y").key_texts()
        )
        for unit in ("s", "ms", "us", "ns")
    }
    assert len(keys) == 1


@pytest.mark.slow
@pytest.mark.parametrize("cells", ["numbers", "words"])
def test_twenty_thousand_columns_take_seconds(tmp_path, cells):
    numbers = np.random.default_rng(0).normal(size=(60, 20_000)).round(3)
    words = np.array(["red", "green", "blue"])[np.digitize(numbers, [-0.5, 0.5])]
    frame = pd.DataFrame(words if cells == "words" else numbers).assign(y=np.tile(["a", "b"], 30))
    frame.to_csv(tmp_path / "wide.csv", index=False)
    start = time.process_time()
    assert run("audit", tmp_path / "wide.csv", "--label", "y", "--n-jobs", 1, "--out", tmp_path / "out") == 0
    assert time.process_time() - start < 40  # 10 and 26 s; one pandas call more per cell would be 100


def test_a_sample_of_rows_remembers_their_numbers():
    table = make_table(mixed_frame(), label="y", id="customer", max_rows=10)
    assert len(table.frame) == 10
    assert table.ids() == [f"c{row:03d}" for row in table.rows]
    assert table.n_rows_in_file == 100


def kind_of(values, name="x"):
    frame = pd.DataFrame({name: values, "size": np.arange(len(values)) % 9, "y": np.arange(len(values)) % 2})
    return next(column for column in make_table(frame, label="y").columns if column.name == name)


def test_a_running_number_is_no_feature_in_whatever_order_and_blocks():
    rng = np.random.default_rng(0)
    two_blocks = np.concatenate([rng.permutation(60) + 1000, rng.permutation(40) + 90_000])
    with_a_gap = np.where(np.arange(100) == 7, np.nan, np.arange(100.0))
    for values in (rng.permutation(100), two_blocks, with_a_gap, [f" {i}" for i in range(100)]):
        assert kind_of(values).kind == "identifier"
        assert kind_of(values).note == "differs in every row, says nothing of a class"
    incomes = rng.choice(np.arange(20_000, 90_000), 100, replace=False)
    for values in (incomes, np.arange(100) + 0.5, np.arange(100) % 50):
        assert kind_of(values).kind == "numeric"


@pytest.mark.parametrize("name", ["ID", "patient id", "PassengerId", "uuid"])
def test_what_is_called_an_id_is_no_feature_though_some_come_twice(name):
    numbers = np.concatenate([np.arange(70) * 13, np.arange(30) * 13])
    for values in (numbers, [f"N{n}" for n in numbers]):
        column = kind_of(values, name)
        assert (column.kind, column.role) == ("identifier", "ignored")
        assert column.note == "named like an identifier, mostly different, says nothing of a class"
    assert kind_of(numbers % 12, name).kind == "numeric"  # a dozen of groups say something


@pytest.mark.parametrize("name", ["patient_no", "Sample Number", "orderNo", "row"])
def test_what_is_called_a_number_is_no_feature_if_it_never_comes_twice(name):
    assert kind_of(np.arange(100) * 13, name).kind == "identifier"
    assert kind_of(np.arange(100) % 90 * 13, name).kind == "numeric"
    assert kind_of(np.arange(100) * 13, "paid").kind == "numeric"


def workbook(path):
    """Two sheets: a note first, then the table."""
    with pd.ExcelWriter(path) as writer:
        pd.DataFrame({"note": ["see the next sheet"]}).to_excel(writer, sheet_name="read me", index=False)
        FRAME.to_excel(writer, sheet_name="data", index=False)


@pytest.mark.parametrize("sheet", ["data", "2"])
def test_a_sheet_is_named_or_numbered_and_the_others_stay(tmp_path, sheet):
    file, out = tmp_path / "two.xlsx", tmp_path / "out.xlsx"
    workbook(file)
    table = read_table(file, label="bought", id="id", sheet=sheet)
    assert table.classes == ("no", "yes")
    assert table.source.notes == ()
    write_decided(table, out, {1: "yes"})
    assert pd.read_excel(out, sheet_name="data")["bought"].tolist() == ["yes", "yes", "yes", "no"]
    assert pd.read_excel(out, sheet_name="read me")["note"].tolist() == ["see the next sheet"]


def test_a_sheet_that_is_not_there_or_not_named_is_told(tmp_path):
    workbook(tmp_path / "two.xlsx")
    told = r"no column 'bought' on the sheet 'read me'; if it is on 'data', name that one with sheet\."
    with pytest.raises(BadChoice, match=told):
        read_table(tmp_path / "two.xlsx", label="bought")
    with pytest.raises(BadChoice, match=r"no sheet 'date'; there are 'read me', 'data'\."):
        find_source(tmp_path / "two.xlsx", sheet="date")
    assert find_source(tmp_path / "two.xlsx").notes == (
        "The workbook has 2 sheets; the first one, 'read me', was read.",
    )
    with pytest.raises(BadChoice, match=r"sheet='data' is for Excel, but table\.csv is csv; leave it out\."):
        find_source(written(tmp_path, csv_bytes()), sheet="data")


JSON = """[
  {"id": "001", "size": 5.0, "colour": "red", "bought": "yes"},
  {
    "bought": "no", "size": 6.50,
    "id": "002", "colour": null
  }, {"id":"003","size":7,"colour":"r\\u00e9d","bought":"yes"},
  {"id": "004", "size": 1.0, "tags": ["a", {"bought": "x"}] }
]
"""


@pytest.mark.parametrize("name", ["t.json", "t.json.gz", "t", "t.jsonl"])
def test_a_json_array_is_read_and_written_with_only_the_labels_changed(tmp_path, name):
    content = JSON.encode()
    file = written(tmp_path, gzip.compress(content) if name.endswith("gz") else content, name)
    source = find_source(file)
    assert (source.format, source.suffix) == ("json", ".json.gz" if name.endswith("gz") else ".json")
    table = read_table(file, label="bought", id="id")
    assert table.codes.tolist() == [1, 0, 1, -1]
    write_decided(table, tmp_path / "out", {1: "yes", 3: "no"})
    raw = (tmp_path / "out").read_bytes()
    text = (gzip.decompress(raw) if name.endswith("gz") else raw).decode()
    assert text == JSON.replace('"bought": "no"', '"bought": "yes"').replace("}] }", '}], "bought": "no" }')
    write_with_columns(source, tmp_path / "more", {"labelcut_x": ["a", None, 2.0, 1]})
    again = read_frame(replace(source, path=tmp_path / "more"))
    assert again["labelcut_x"].tolist()[2:] == [2.0, 1]
    assert again.drop(columns="labelcut_x").equals(read_frame(source))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[{}, 3]", r"entry 2 holds no object; write one \{\.\.\.\} per row"),
        ('[{"a": 1},', "the file is not JSON .* or one list of them"),
        ('{"data":\n[{"a": 1}]}', "line 1 is not JSON .* or one list of them"),
    ],
)
def test_json_that_is_no_table_is_refused(tmp_path, content, message):
    with pytest.raises(BadTable, match=message):
        read_frame(find_source(written(tmp_path, content, "t.json")))


def zipped(*names, first=b""):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        if first:
            archive.writestr("mimetype", first)
        for name in names:
            archive.writestr(name, "x")
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "an old Excel file (.xls) or one with a password"),
        (zipped(first=b"application/vnd.oasis.opendocument.spreadsheet"), "an OpenDocument file (.ods)"),
        (zipped("[Content_Types].xml", "xl/workbook.bin"), "a binary Excel file (.xlsb)"),
    ],
)
def test_other_spreadsheets_are_refused_with_a_way_out(tmp_path, content, what):
    told = f"sheet.xls: is {what}, which is not read; open it in Excel or LibreOffice and save it as .xlsx or"
    with pytest.raises(BadTable, match=re.escape(told)):
        find_source(written(tmp_path, content, "sheet.xls"))
    with pytest.raises(BadTable, match="is a zip archive, which is not read; unpack it first"):
        find_source(written(tmp_path, zipped("table.csv"), "table.zip"))
