"""Which way an audit takes, and what the large way accepts."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from large.conftest import SMALL, small_table, write_parts
from large.test_large_audit import ROLES, reported

import labelcut
from labelcut.cli import main
from labelcut.errors import BadChoice
from labelcut.large import estimate, parts
from labelcut.large.audit import audit_parts
from labelcut.large.request import Request
from labelcut.table.decisions import read_decisions


def test_any_address_that_fsspec_knows_is_read(threads, small_sizes):
    import fsspec

    frame, memory = small_table(), fsspec.filesystem("memory")
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), 2)):
        with memory.open(f"/bucket/part{number}.parquet", "wb") as file:
            frame.iloc[rows].to_parquet(file, index=False)
    told = []
    found = labelcut.audit(
        "memory://bucket/*.parquet", **ROLES, cluster=threads, progress=lambda *step: told.append(step)
    )
    assert repr(found).startswith("LargeAudit(*.parquet: ")
    assert found.facts["counts"]["rows"] == len(frame)
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert told[-1] == ("done", 1.0)


def test_csv_files_say_the_same_as_parquet_files(threads, tmp_path):
    frame = small_table().astype({f"x{i}": "float64" for i in range(6)}).round(3)
    frame["colour"] = frame["colour"] + np.where(np.arange(len(frame)) % 3 == 0, ',\n"quoted"', "")
    ways = {}
    for format in ("parquet", "csv"):
        folder = write_parts(frame, tmp_path / format, format=format)
        request = Request((str(folder),), **ROLES, sizes=SMALL)
        ways[format] = audit_parts(request, cluster=threads)
    assert len(ways["csv"].parts) > 3
    rows, _ = reported(ways["csv"])
    pd.testing.assert_frame_equal(rows, reported(ways["parquet"])[0], check_dtype=False)


def test_all_contradicted_labels_of_a_table_in_parts_are_suspects_on_request(threads, tmp_path):
    folder = write_parts(small_table(), tmp_path)
    likely, every = (
        audit_parts(Request((str(folder),), **ROLES, flags=flags, sizes=SMALL), cluster=threads).summary
        for flags in (None, "side")
    )
    contradicted = likely["counts"]["suspects"] + likely["estimate"]["contradicted"]
    assert (every["counts"]["suspects"], every["estimate"]["contradicted"]) == (contradicted, 0)
    assert every["estimate"]["wrong"] == likely["estimate"]["wrong"]
    with pytest.raises(ValueError, match="flags='some'; choose one of 'likely'"):
        labelcut.audit(str(folder), label="y", flags="some", cluster=threads)


def test_a_label_column_that_is_not_there_is_told_with_those_that_are(threads, tmp_path):
    folder = write_parts(small_table(), tmp_path)
    with pytest.raises(BadChoice, match="no column 'z'; there are 'x0'"):
        labelcut.audit(str(folder), label="z", cluster=threads)


def test_decisions_are_held_as_certain(threads, tmp_path):
    frame = small_table()
    folder = write_parts(frame, tmp_path)
    request = Request((str(folder),), **ROLES, sizes=SMALL)
    first = audit_parts(request, cluster=threads).issues
    made = first.head(5).assign(decision="flip", label=first["predicted_label"].head(5))
    second = audit_parts(Request(**vars(request) | {"decisions": read_decisions(made)}), cluster=threads)
    assert second.facts["counts"]["reviewed"] == 5
    assert set(second.issues["id"]) & set(made["id"]) == set()
    rows, _ = reported(second)
    held = rows.set_index("name").loc[made["id"]]
    assert (held["labelcut_status"] == "reviewed").all()
    assert held["labelcut_predicted_label"].tolist() == made["label"].tolist()


def test_the_large_way_is_taken_when_memory_will_not_do(tmp_path, monkeypatch):
    frame = small_table()
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    rows, columns = estimate.rows_and_columns(str(tmp_path / "t.csv"))
    assert rows == pytest.approx(len(frame), rel=0.1)
    assert (rows, columns) != estimate.rows_and_columns(str(tmp_path / "t.parquet"))
    assert columns == frame.shape[1]
    assert estimate.too_large(str(tmp_path / "t.csv")) is None
    monkeypatch.setattr(estimate, "free_memory", lambda: 1_000_000)
    assert "rows of 11 columns would take 0.0 GB in memory" in estimate.too_large(str(tmp_path / "t.csv"))
    assert estimate.memory_needed(1_000_000, 20) == 2_200_000_000


def test_without_the_extra_one_line_says_what_to_install(tmp_path, monkeypatch, capsys):
    folder = write_parts(small_table(), tmp_path / "t")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SystemExit) as left:
        main(["audit", str(folder), "--label", "y", "--out", str(tmp_path / "out")])
    assert left.value.code == 2
    told = capsys.readouterr().err.strip().splitlines()
    assert told[-1].endswith("which is not installed; pip install 'labelcut[cluster]'.")
    assert not (tmp_path / "out").exists()


def test_what_a_table_in_parts_does_not_know_is_refused(tmp_path):
    folder = write_parts(small_table(), tmp_path / "t")
    with pytest.raises(BadChoice, match="preset='paper' is for a table in memory"):
        labelcut.audit(folder, label="y", preset="paper")
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        labelcut.audit(folder, label="y", colour=1)
    with pytest.raises(BadChoice, match="cluster is for files, and table is a data frame"):
        labelcut.audit(small_table(), label="y", cluster="local")
    with pytest.raises(BadChoice, match=r"nothing.parquet: is not there; check the path."):
        parts.find_parts([str(tmp_path / "nothing.parquet")], label="y", rows_per_part=1, bytes_per_part=1)


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_decisions_are_applied_file_by_file(tmp_path, format, capsys):
    frame = small_table(200)
    folder = write_parts(frame, tmp_path / "t", format=format)
    chosen = frame[frame["y"].notna()].iloc[[0, 50, 150]]
    flipped = chosen["y"].map({"yes": "no", "no": "yes"})
    made = pd.DataFrame(
        {"id": chosen["name"], "given_label": chosen["y"], "decision": "flip", "label": flipped}
    )
    made.assign(key="", label_column="y", id_column="name").to_csv(tmp_path / "d.csv", index=False)
    main(["apply", str(folder), str(tmp_path / "d.csv"), "--out", str(tmp_path / "new")])
    assert capsys.readouterr().out == f"{tmp_path / 'new'}: 3 labels changed, 0 kept, 0 left unsure.\n"
    read = pd.read_parquet if format == "parquet" else pd.read_csv
    names = sorted(path.name for path in folder.iterdir())
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == names
    old = pd.concat([read(folder / name) for name in names], ignore_index=True)
    new = pd.concat([read(tmp_path / "new" / name) for name in names], ignore_index=True)
    old.loc[chosen.index, "y"] = flipped
    pd.testing.assert_frame_equal(old, new)


def test_an_option_of_a_table_in_memory_is_refused_for_one_in_parts(tmp_path, capsys):
    folder = write_parts(small_table(50), tmp_path / "t")
    with pytest.raises(SystemExit) as left:
        main(["audit", str(folder), "--label", "y", "--text", "colour", "--out", str(tmp_path / "out")])
    assert left.value.code == 2
    told = capsys.readouterr().err.strip()
    assert told == "labelcut: --text is for a table in memory; leave it out for a table in parts."
