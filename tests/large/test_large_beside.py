"""Probabilities and vectors of a table in parts: heard as in memory, the same however it is divided."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from large.conftest import SMALL, small_table, write_parts
from large.test_large_audit import ROLES, reported

import labelcut
from labelcut.cli import main
from labelcut.errors import BadChoice, BadTable
from labelcut.large.audit import audit_parts
from labelcut.large.beside import find_sides
from labelcut.large.parts import find_parts
from labelcut.large.request import Request
from labelcut.large.settings import Sizes

FEATURES = [f"x{i}" for i in range(6)]


def told_table(n_rows=700, seed=3):
    """Return rows whose features are noise; probabilities of a model and vectors tell the class."""
    rng = np.random.default_rng(seed)
    frame = small_table(n_rows, seed)
    frame[FEATURES] = rng.normal(size=(n_rows, 6)).astype(np.float32)
    is_yes = (frame["truth"] == "yes").to_numpy()
    sure = rng.uniform(0.8, 0.99, n_rows)
    frame["bert_yes"] = np.where(is_yes, sure, 1.0 - sure)
    frame["bert_no"] = 1.0 - frame["bert_yes"]
    vectors = rng.normal(size=(n_rows, 8)) + np.where(is_yes, 1.0, -1.0)[:, None]
    return frame.assign(vector=list(vectors.astype(np.float32)))


def accuracy(audit, frame):
    """Return the share of rows whose class is found."""
    rows, _ = reported(audit)
    truth = frame.set_index("name").loc[rows["name"], "truth"].to_numpy()
    return float((rows["labelcut_predicted_label"].to_numpy() == truth).mean())


def ask(folder, client, **choices):
    """Audit the files of a folder, in small parts."""
    choices = {**ROLES, "sizes": SMALL} | choices
    return audit_parts(Request((str(folder),), **choices), cluster=client)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Return a table, and the folder of its files."""
    frame = told_table()
    return frame, write_parts(frame, tmp_path_factory.mktemp("told"))


@pytest.fixture(scope="module")
def heard(threads, told):
    """Return what is found with the opinion and the vectors."""
    return ask(told[1], threads, opinions={"bert": "bert_*"}, embedding="vector")


def test_a_good_opinion_takes_over(threads, told):
    frame, folder = told
    others = tuple(name for name in frame if name.startswith(("bert_", "vector")))
    without = ask(folder, threads, ignore=("truth", *others))
    with_it = ask(folder, threads, ignore=("truth", "vector"), opinions={"bert": "bert_*"})
    assert accuracy(without, frame) < 0.95
    assert accuracy(with_it, frame) > 0.98
    weights = with_it.summary["large"]["expert_weights"]
    assert max(weights, key=weights.get) == "bert"
    first = with_it.summary["model"]["experts"][0]
    assert (first["name"], first["is_own"]) == ("bert", True)
    assert "How far each expert was believed: bert " in with_it.facts["experts"]["text"]
    assert with_it.issues["reason"].str.contains("bert says ‘").any()
    note = {column["name"]: column["note"] for column in with_it.summary["columns"]}["bert_yes"]
    assert note == "probabilities of bert: no feature"


def test_vectors_make_the_neighbours(threads, told):
    frame, folder = told
    choices = {"ignore": ("truth", "bert_yes", "bert_no")}
    found = ask(folder, threads, embedding="vector", **choices)
    assert accuracy(found, frame) > 0.95
    truth = frame.set_index("name")["truth"]
    votes = found.issues["reason"].str.extract(r"(\d+) of (\d+) labeled rows near it").dropna().astype(int)
    assert len(votes) + found.issues["reason"].str.startswith("All ").sum() > 20
    assert (truth.loc[found.issues["id"]].to_numpy() == found.issues["predicted_label"]).mean() > 0.9
    whole = labelcut.audit(frame, label="y", id="name", group="who", embedding="vector", **choices)
    in_memory = whole.rows.assign(name=frame["name"]).sort_values("name")["predicted_label"]
    rows, _ = reported(found)
    assert (rows["labelcut_predicted_label"].to_numpy() == in_memory.to_numpy()).mean() > 0.97


def test_the_answers_do_not_depend_on_workers_or_parts(heard, told, tmp_path):
    from distributed import Client, LocalCluster

    shuffled = told[0].sample(frac=1.0, random_state=1)
    folder = write_parts(shuffled, tmp_path / "other", n_files=2)
    own = {"threads_per_worker": 1, "dashboard_address": ":0", "local_directory": str(tmp_path)}
    with LocalCluster(n_workers=2, **own) as processes, Client(processes, set_as_default=False) as client:
        sizes = replace(SMALL, rows_per_part=47)
        other = ask(folder, client, opinions={"bert": "bert_*"}, embedding="vector", sizes=sizes)
    for mine, yours in zip(reported(heard), reported(other), strict=True):
        pd.testing.assert_frame_equal(mine, yours, check_exact=True)
    assert heard.summary["estimate"] == other.summary["estimate"]
    assert heard.summary["large"]["expert_weights"] == other.summary["large"]["expert_weights"]


def test_npy_files_beside_the_table_say_the_same_as_columns_in_it(
    heard, threads, told, tmp_path, small_sizes
):
    frame = told[0]
    folder = write_parts(frame.drop(columns=["bert_yes", "bert_no", "vector"]), tmp_path / "t")
    np.save(tmp_path / "bert.npy", frame[["bert_no", "bert_yes"]].to_numpy())
    np.save(tmp_path / "vectors.npy", np.stack(frame["vector"]))
    said = {"opinions": {"bert": tmp_path / "bert.npy"}, "embedding": str(tmp_path / "vectors.npy")}
    found = labelcut.audit(f"{folder}/*.parquet", **ROLES, cluster=threads, **said)
    # Rows are numbered by other cells, so another order of the same work is all that differs.
    mine, yours = reported(found)[0], reported(heard)[0]
    assert (mine["labelcut_predicted_label"] == yours["labelcut_predicted_label"]).mean() > 0.99
    np.save(tmp_path / "bert.npy", frame[["bert_yes", "bert_no"]].to_numpy())
    with pytest.raises(
        BadTable, match=r"bert.npy agree with .* put the columns into the order \['no', 'yes'\]"
    ):
        labelcut.audit(folder, **ROLES, cluster=threads, **said)
    np.save(tmp_path / "bert.npy", frame[["bert_no", "bert_yes"]].to_numpy()[:-1])
    with pytest.raises(
        BadTable, match="bert.npy: has 699 lines, but the table has 700 rows; give one line per"
    ):
        labelcut.audit(folder, **ROLES, cluster=threads, **said)


@pytest.mark.parametrize("embedding", [None, "vector"])
def test_without_features_rows_are_judged_by_what_others_saw(threads, told, tmp_path, embedding):
    frame, _ = told
    own = ["name", "y", "bert_yes", "bert_no", *([embedding] if embedding else [])]
    folder = write_parts(frame[own], tmp_path)
    found = ask(folder, threads, group=None, ignore=(), opinions={"bert": "bert_*"}, embedding=embedding)
    assert accuracy(found, frame) > 0.97
    whole = labelcut.audit(frame[own], label="y", id="name", opinions={"bert": "bert_*"}, embedding=embedding)
    assert found.summary["estimate"]["wrong"] == pytest.approx(whole.summary["estimate"]["wrong"], rel=0.2)
    assert set(found.summary["large"]["expert_weights"]) == set(whole.model.expert_weights_)


def test_long_vectors_are_had_of_fewer_rows():
    sizes = Sizes().with_vectors(768)
    assert sizes.sample_rows < 100_000 < Sizes().with_vectors(0).sample_rows == Sizes().sample_rows
    assert sizes.cell_rows < 50_000


def test_wide_rows_make_short_parts(tmp_path):
    rows = pd.DataFrame(
        {"y": ["a", "b"] * 50, "vector": list(np.random.default_rng(0).normal(size=(100, 64)))}
    )
    rows.to_parquet(tmp_path / "t.parquet")
    how = {"label": "y", "rows_per_part": 1000}
    whole, _ = find_parts([str(tmp_path / "t.parquet")], bytes_per_part=1_000_000, **how)
    short, _ = find_parts([str(tmp_path / "t.parquet")], bytes_per_part=20_000, **how)
    assert [part.end for part in whole] == [100]
    assert len(short) in (3, 4)  # some 52 000 bytes


def test_rows_of_equal_cells_are_told_apart_by_their_lines_in_a_file(tmp_path):
    np.save(tmp_path / "v.npy", np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]))
    rows, names = pd.DataFrame({"x": [1, 1, 1]}), ("x",)
    sides = find_sides(None, tmp_path / "v.npy", names, "t")
    first, second, third = sides.salt(sides.of(rows, slice(0, 3), "t")).tolist()
    assert first == second != third


def spoiled(frame, how):
    """Return a table with something wrong in its second file."""
    frame = frame.copy()
    if how == "logits":
        frame[["bert_yes", "bert_no"]] = np.log(frame[["bert_yes", "bert_no"]])
    elif how == "sums":
        frame.loc[400, "bert_yes"] += 0.5
        frame.loc[400, "bert_no"] = 0.5
    elif how == "gap":
        frame.loc[400, "bert_yes"] = np.nan
    elif how == "class":
        frame = frame.rename(columns={"bert_no": "bert_maybe"})
    elif how == "vector":
        frame.at[400, "vector"] = None
    elif how == "length":
        frame["vector"] = [v[:7] if i >= 467 else v for i, v in enumerate(frame["vector"])]
    return frame


@pytest.mark.parametrize(
    ("how", "line"),
    [
        ("logits", "bert_* holds numbers from -"),
        ("sums", ": bert_* adds up to 1.01 in row 46; each row has to add up to 1."),
        ("gap", "every row needs a probability for every class."),
        ("class", "has the columns 'yes', 'maybe', but the classes are 'no', 'yes'"),
        ("vector", "of 'vector' is None, which is no list of numbers"),
        ("length", "vectors in vector have 7 numbers, others have 8; give every row"),
    ],
)
def test_bad_inputs_are_refused_in_one_line_with_nothing_written(threads, told, tmp_path, how, line):
    folder = write_parts(spoiled(told[0], how), tmp_path / "t")
    with pytest.raises(BadTable) as refused:
        ask(folder, threads, opinions={"bert": "bert_*"}, embedding="vector")
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_cannot_be_read_in_parts_is_refused_with_a_way_out(told, threads, tmp_path, small_sizes):
    folder = told[1]
    told[0][["bert_no", "bert_yes"]].to_parquet(tmp_path / "probs.parquet")
    choices = {**ROLES, "cluster": threads}
    for opinions, line in (
        (
            {"bert": np.zeros((700, 2))},
            "a ndarray as .* is for a table in memory; leave it out, or name columns",
        ),
        ({"bert": tmp_path / "probs.parquet"}, "probs.parquet cannot be read in parts; put its columns into"),
        ({"bert": "brt_*"}, "no column begins with 'brt_'; did you mean 'bert_\\*'?"),
        ({"forest": "bert_*"}, "would have the name of another expert"),
        ({"bert": "no.npy"}, "'no.npy' is no file"),
        ({"bert": "who*"}, "column 'who' is the group and cannot hold probabilities or vectors, too"),
    ):
        with pytest.raises(BadChoice, match=line):
            labelcut.audit(folder, opinions=opinions, **choices)
    with pytest.raises(BadChoice, match="no column 'vec'; several begin with it|no column begins with 'vec'"):
        labelcut.audit(folder, embedding="vec", **choices)
    with pytest.raises(TypeError, match="opinions is a list; give a dict"):
        labelcut.audit(folder, opinions=["bert_*"], **choices)


def test_the_command_hears_columns_of_the_parts(told, tmp_path, capsys, small_sizes):
    words = ["audit", str(told[1]), "--label", "y", "--id", "name", "--ignore", "truth", "--workers", "1"]
    words += ["--opinion", "bert=bert_*", "--embedding", "vector", "--out", str(tmp_path / "out")]
    main([*words, "--json"])
    capsys.readouterr()
    rows = pd.concat([pd.read_parquet(path) for path in sorted((tmp_path / "out").glob("table-*.parquet"))])
    assert (rows["labelcut_predicted_label"] == rows["truth"]).mean() > 0.98
    assert np.stack(rows["vector"]).shape == (700, 8)
    page = (tmp_path / "out" / "report.html").read_text()
    assert '"opinions": {"bert": "bert_*"}' in page or '"opinions":{"bert":"bert_*"}' in page
    with pytest.raises(SystemExit) as left:
        main([*words[:-1], str(tmp_path / "no"), "--opinion", "other=oter_*"])
    assert left.value.code == 2
    assert len(capsys.readouterr().err.strip().splitlines()[-1:]) == 1
    assert not (tmp_path / "no").exists()
