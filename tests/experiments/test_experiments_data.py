"""The ten data sets, the synthetic grid, splits and injected noise."""

import gzip
import hashlib
import http.server
import io
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from labelcut.experiments import data, noise

NEIGHBOUR = Path(__file__).resolve().parents[3] / "shared" / "data" / "raw"

VOTES = b"republican," + b",".join([b"n"] * 16) + b"\ndemocrat," + b",".join([b"y"] * 15 + [b"?"]) + b"\n"


def small_vote() -> data.Source:
    """The Vote rules on a file of two rows."""
    digest = hashlib.sha256(VOTES).hexdigest()
    return replace(
        data.REAL["vote"], files={"house-votes-84.data": digest}, n_rows=2, n_positive=1, archive="votes.zip"
    )


@pytest.fixture
def empty_machine(tmp_path, monkeypatch):
    """No data folder, an empty cache."""
    monkeypatch.delenv(data.DATA_VARIABLE, raising=False)
    monkeypatch.setenv(data.CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def server(empty_machine):
    """A web server with one folder, and that folder."""
    folder = empty_machine / "web"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(folder))

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}", folder
        running.shutdown()


def zip_with(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"inner/{name}", content)
    return buffer.getvalue()


def test_a_file_is_downloaded_once_checked_and_kept(server):
    home, folder = server
    (folder / "votes.zip").write_bytes(zip_with("house-votes-84.data", VOTES))
    first = data.load_real(small_vote(), home=home)
    (folder / "votes.zip").unlink()
    again = data.load_real(small_vote(), home=home)
    assert first.X.tolist() == again.X.tolist() == [[-1.0] * 16, [1.0] * 15 + [0.0]]
    assert first.y.tolist() == [0, 1]


def test_a_changed_file_is_refused_and_not_kept(server):
    home, folder = server
    (folder / "votes.zip").write_bytes(zip_with("house-votes-84.data", VOTES + b"x"))
    with pytest.raises(data.DataError, match=r"house-votes-84.data has SHA-256 .*damaged or another edition"):
        data.load_real(small_vote(), home=home)
    assert not list((data.cache_folder()).rglob("*.data"))


def test_an_archive_without_the_file_names_what_it_has(server):
    home, folder = server
    (folder / "votes.zip").write_bytes(zip_with("other.txt", b""))
    with pytest.raises(data.DataError, match=r"does not hold house-votes-84.data; it has \['other.txt'\]"):
        data.load_real(small_vote(), home=home)


def test_offline_the_message_says_where_to_put_the_file(empty_machine):
    with pytest.raises(
        data.DataError, match=r"could not download .*votes.zip.*set LABELCUT_DATA to the folder"
    ):
        data.load_real(small_vote(), home="http://127.0.0.1:9")


@pytest.mark.parametrize("packed", [False, True])
def test_a_local_folder_is_used_first_packed_or_not(empty_machine, monkeypatch, packed):
    folder = empty_machine / "mine" / "vote"
    folder.mkdir(parents=True)
    name, content = (
        ("house-votes-84.data.gz", gzip.compress(VOTES)) if packed else ("house-votes-84.data", VOTES)
    )
    (folder / name).write_bytes(content)
    monkeypatch.setenv(data.DATA_VARIABLE, str(folder.parent))
    assert data.load_real(small_vote(), home="http://127.0.0.1:9").y.tolist() == [0, 1]


def test_a_table_of_the_wrong_size_is_refused(empty_machine, monkeypatch):
    (empty_machine / "house-votes-84.data").write_bytes(VOTES)
    monkeypatch.setenv(data.DATA_VARIABLE, str(empty_machine))
    with pytest.raises(data.DataError, match=r"\(2, 16, 1\), expected \(3, 16, 1\)"):
        data.load_real(replace(small_vote(), n_rows=3))


# One hand-made file per rule: columns, codes and the positive class without the real data.


def test_the_rules_of_the_plain_tables():
    features, positive = data._read_breast_cancer(b"7,M,1,2\n8,B,3,4\n")
    assert features.to_numpy().tolist() == [[1, 2], [3, 4]]
    assert positive.tolist() == [True, False]
    features, positive = data._read_maternal(
        b"\xef\xbb\xbfAge,a,b,c,d,e,RiskLevel\r\n1,2,3,4,5,6,mid risk\r\n6,5,4,3,2,1,low risk\r\n"
    )
    assert features.columns[0] == "Age"
    assert positive.tolist() == [True, False]
    assert data._read_red_wine(b'"a";"quality"\n1;5\n2;6\n')[1].tolist() == [False, True]
    assert data._read_letter(b"N,1\nM,2\nA,3\n")[1].tolist() == [False, True, True]


def test_the_rules_of_the_arff_tables():
    row = ",".join(["-1"] * 30)
    features, positive = data._read_phishing(f"@relation x\r\n@data\r\n{row},1\r\n{row},-1\r\n".encode())
    assert features.shape == (2, 30)
    assert positive.tolist() == [True, False]
    row = ",".join(["0.5"] * 16)
    _, positive = data._read_dry_bean(f"% note\n@DATA\n{row},SIRA\n{row},CALI\n{row},DERMASON\n".encode())
    assert positive.tolist() == [True, False, True]


def test_mushroom_drops_stalk_root_and_keeps_every_category():
    first = ["e"] + ["a"] * 22
    second = ["p"] + ["b"] * 21 + ["a"]
    features, positive = data._read_mushroom("\n".join([",".join(first), ",".join(second)]).encode())
    assert features.shape == (2, 41)  # 20 attributes with two values, one with a single value
    assert positive.tolist() == [True, False]


def test_obesity_orders_the_ordinal_columns_and_drops_the_first_category():
    header = (
        "Gender,Age,Height,Weight,family_history_with_overweight,FAVC,FCVC,NCP,CAEC,SMOKE,CH2O,SCC,FAF,TUE,"
        "CALC,MTRANS,NObeyesdad"
    )
    rows = [
        "Female,21,1.6,64,yes,no,2,3,Sometimes,no,2,no,0,1,no,Bike,Normal_Weight",
        "Male,30,1.8,120,no,yes,2,3,Always,yes,2,yes,0,1,Frequently,Walking,Obesity_Type_I",
    ]
    features, positive = data._read_obesity("\r\n".join([header, *rows]).encode())
    assert features[["CAEC", "CALC"]].to_numpy().tolist() == [[1, 0], [3, 2]]
    assert "Gender_Male" in features
    assert "Gender_Female" not in features
    assert positive.tolist() == [False, True]


def test_adult_makes_its_columns_before_it_drops_incomplete_rows():
    whole = "39, Private, 1, HS, 9, Single, Sales, Own, White, Male, 0, 0, 40, Cuba, <=50K\n"
    other = whole.replace("Private", "Local").replace("<=50K", ">50K")
    missing = whole.replace("Private", "Never").replace("Sales", "?")
    features, positive = data._read_adult(
        (whole + missing).encode(), ("|1x3\n" + other.replace(">50K", ">50K.")).encode()
    )
    assert [c for c in features if c.startswith("workclass")] == ["workclass_Never", "workclass_Private"]
    assert positive.tolist() == [False, True]


@pytest.mark.skipif(not NEIGHBOUR.is_dir(), reason="the UCI files are not in the neighbour folder")
@pytest.mark.parametrize("name", list(data.REAL))
def test_the_published_files_have_the_papers_sizes(name, monkeypatch):
    monkeypatch.setenv(data.DATA_VARIABLE, str(NEIGHBOUR))
    source = data.REAL[name]
    assert data.load_real(source).X.shape == (source.n_rows, source.n_features)


def test_the_sources_agree_with_the_papers_table():
    printed = [61.38, 37.26, 59.96, 53.47, 46.04, 51.80, 55.69, 45.42, 49.70, 24.78]
    ours = [100 * source.n_positive / source.n_rows for source in data.REAL.values()]
    assert np.round(ours, 2).tolist() == printed


def test_the_grid_has_540_configurations_with_four_data_sets_each():
    grid = data.synthetic_grid()
    assert len({config.name for config in grid}) == 2160
    assert len({replace(config, copy=0) for config in grid}) == 540
    assert all(data.Synthetic.from_name(config.name) == config for config in grid)


def test_a_synthetic_set_has_its_size_and_share_and_repeats():
    config = data.Synthetic(200, 5, 30, 4, 0.5, "polytope", 3)
    first, again = config.generate(), config.generate()
    assert first.X.shape == (200, 5)
    assert first.y.mean() == pytest.approx(0.3)
    assert first.X.tobytes() == again.X.tobytes()
    assert first.X.tobytes() != replace(config, copy=2).generate().X.tobytes()


@pytest.mark.parametrize("name", ["wine", "synthetic:1", "synthetic:n9:f5:p50:c2:s1:circle:0"])
def test_an_unknown_name_is_answered_with_the_known_ones(name):
    with pytest.raises(ValueError, match=r"no data set .*; choose one of vote, .*adult"):
        data.load(name)


TOY = data.Synthetic(101, 5, 40, 2, 1.0, "hypercube", 0).name


def test_noise_is_exact_in_each_class():
    task = noise.make_task(TOY, noise=0.2, test_share=0.3, seed=1)
    assert (~task.is_labeled).sum() == 31  # ceil(0.3 * 101)
    for code in (0, 1):
        members = task.is_labeled & (task.truth == code)
        assert (task.is_wrong & members).sum() == round(0.2 * members.sum())
    assert np.array_equal(
        task.given[task.is_labeled] != task.truth[task.is_labeled], task.is_wrong[task.is_labeled]
    )
    assert not task.is_wrong[~task.is_labeled].any()


def test_one_sided_noise_touches_one_class_only():
    task = noise.make_task(TOY, noise=(0.0, 0.5), seed=1)
    assert set(task.truth[task.is_wrong]) == {1}


def test_more_noise_keeps_the_split_and_the_wrong_labels_of_less():
    less, more = (noise.make_task(TOY, noise=level, seed=4) for level in (0.1, 0.4))
    assert np.array_equal(less.is_labeled, more.is_labeled)
    assert more.is_wrong[less.is_wrong].all()
    assert more.is_wrong.sum() > less.is_wrong.sum()


def test_a_seed_repeats_and_another_differs():
    first, again, other = (noise.make_task(TOY, noise=0.2, seed=seed) for seed in (5, 5, 6))
    assert first.given.tolist() == again.given.tolist()
    assert first.given.tolist() != other.given.tolist()


def test_columns_are_standardized_over_all_rows():
    X = noise.standardize(np.array([[1.0, 5.0], [3.0, 5.0]]))
    assert X.tolist() == [[-1.0, 0.0], [1.0, 0.0]]


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_split_without_labeled_or_test_rows_is_refused(share):
    with pytest.raises(ValueError, match="leaves no labeled or no test row"):
        noise.split_rows(10, share, 0)


def test_impossible_noise_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        noise.make_task(TOY, noise=1.2)
