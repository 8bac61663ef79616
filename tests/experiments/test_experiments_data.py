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

from labelcut.experiments import data, drawn, noise
from labelcut.experiments.loading import load, make_rare, rows_of, title_of
from labelcut.experiments.noise_kinds import KINDS
from labelcut.experiments.synthetic import Synthetic, synthetic_grid

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
    grid = synthetic_grid()
    assert len({config.name for config in grid}) == 2160
    assert len({replace(config, copy=0) for config in grid}) == 540
    assert all(Synthetic.from_name(config.name) == config for config in grid)


def test_a_synthetic_set_has_its_size_and_share_and_repeats():
    config = Synthetic(200, 5, 30, 4, 0.5, "polytope", 3)
    first, again = config.generate(), config.generate()
    assert first.X.shape == (200, 5)
    assert first.y.mean() == pytest.approx(0.3)
    assert first.X.tobytes() == again.X.tobytes()
    assert first.X.tobytes() != replace(config, copy=2).generate().X.tobytes()


@pytest.mark.parametrize("name", ["wine", "synthetic:1", "synthetic:n9:f5:p50:c2:s1:circle:0"])
def test_an_unknown_name_is_answered_with_the_known_ones(name):
    with pytest.raises(ValueError, match=r"no data set .*; choose one of vote, .*adult"):
        load(name)


TOY = Synthetic(101, 5, 40, 2, 1.0, "hypercube", 0).name


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


# Tables with all their classes, thinned, and drawn


def test_the_originals_number_their_classes_by_the_alphabet():
    features, kinds = data._bean_kinds(f"@DATA\n{','.join(['0.5'] * 16)}, SIRA\n".encode())
    assert (features.shape, kinds.tolist()) == ((1, 16), ["SIRA"])
    assert data._letters(b"N,1\nA,2\n")[1].tolist() == ["N", "A"]
    assert {name: len(original.counts) for name, original in data.ORIGINALS.items()} == {
        "obesity7": 7,
        "dry_bean7": 7,
        "letter26": 26,
    }
    assert all(sum(o.counts) == o.source.n_rows for o in data.ORIGINALS.values())


def test_an_original_with_other_counts_is_refused(empty_machine, monkeypatch):
    letters = b"B,1,2\nA,3,4\nB,5,6\n"
    digest = hashlib.sha256(letters).hexdigest()
    (empty_machine / "letter-recognition.data").write_bytes(letters)
    monkeypatch.setenv(data.DATA_VARIABLE, str(empty_machine))
    source = replace(data.REAL["letter"], files={"letter-recognition.data": digest}, n_features=2)
    original = replace(data.ORIGINALS["letter26"], source=source, counts=(1, 2))
    assert data.load_original(original).y.tolist() == [1, 0, 1]
    with pytest.raises(data.DataError, match=r"rows per class are \(2, \(1, 2\)\), expected \(2, \(2, 1\)\)"):
        data.load_original(replace(original, counts=(2, 1)))


@pytest.mark.skipif(not NEIGHBOUR.is_dir(), reason="the UCI files are not in the neighbour folder")
@pytest.mark.parametrize("name", list(data.ORIGINALS))
def test_the_originals_have_the_rows_of_the_binary_tables(name, monkeypatch):
    monkeypatch.setenv(data.DATA_VARIABLE, str(NEIGHBOUR))
    original = load(name)
    assert np.array_equal(original.X, load(data.ORIGINALS[name].source.name).X)
    assert original.n_classes == len(data.ORIGINALS[name].counts)


def test_a_thinned_table_is_a_part_of_the_whole_and_always_the_same():
    whole, part, again = load(TOY), load(f"{TOY}@30"), load(f"{TOY}@30")
    assert part.X.shape == (30, 5)
    assert part.X.tobytes() == again.X.tobytes()
    assert {row.tobytes() for row in part.X} <= {row.tobytes() for row in whole.X}
    assert part.name == f"{TOY}@30"
    assert rows_of(f"{TOY}@30") == 30


def test_a_class_made_rare_is_a_twentieth_and_the_others_stay():
    y = np.array([0] * 95 + [1] * 60)
    chosen = y[make_rare(y, np.random.default_rng(0))]
    assert np.bincount(chosen).tolist() == [95, 5]
    assert title_of("adult@rare@8000") == "Adult, 5 % positive, 8000 rows"


@pytest.mark.parametrize("step", ["1000", "0", "few", "-3"])
def test_an_impossible_thinning_is_refused(step):
    with pytest.raises(
        ValueError, match=f"'{step}' is no way to thin 101 rows; use @rare, or @N with N at most"
    ):
        load(f"{TOY}@{step}")


@pytest.mark.parametrize(
    ("name", "shares"),
    [("pure-50", [0.5, 0.5]), ("pure-16", [0.84, 0.16]), ("pure-3-16", [0.42, 0.42, 0.16])],
)
def test_pure_noise_has_its_classes_and_nothing_in_its_columns(name, shares):
    one, other = load(name, 200), load(name, 201)
    assert np.bincount(one.y) / len(one.y) == pytest.approx(shares, abs=1e-3)
    assert one.X.tobytes() == load(name, 200).X.tobytes() != other.X.tobytes()
    means = np.stack([one.X[one.y == code].mean(axis=0) for code in range(one.n_classes)])
    assert np.abs(means).max() < 0.25


@pytest.mark.parametrize(("name", "share"), [("logistic-50", 0.5), ("logistic-5", 0.05)])
def test_the_logistic_truth_overlaps_as_much_as_it_says(name, share):
    from sklearn.metrics import roc_auc_score

    drawn_ones = [load(name, seed) for seed in range(200, 210)]
    aucs = [roc_auc_score(one.y, one.X.sum(axis=1)) for one in drawn_ones]
    assert np.mean(aucs) == pytest.approx(0.8, abs=0.01)
    assert np.mean([one.y.mean() for one in drawn_ones]) == pytest.approx(share, abs=0.005)


def test_shuffled_labels_keep_columns_and_counts(monkeypatch):
    monkeypatch.setattr(drawn, "load_real", lambda source: replace(load(TOY), name=source.name))
    whole, shuffled = load(TOY), load("shuffled-vote", 3)
    assert shuffled.X.tobytes() == whole.X.tobytes()
    assert np.bincount(shuffled.y).tolist() == np.bincount(whole.y).tolist()
    assert shuffled.y.tolist() != whole.y.tolist()


# Tasks that result lines were made of, and kinds of noise


@pytest.mark.parametrize(
    ("shares", "test_share", "seed", "digest"),
    [
        (0.2, 0.3, 1, "d62694cedd081189"),
        ((0.0, 0.3), 0.3, 7, "69df0209b60fc3b8"),
    ],
)
def test_the_tasks_of_earlier_result_lines_are_still_the_same(shares, test_share, seed, digest):
    task = noise.make_task(TOY, noise=shares, test_share=test_share, seed=seed)
    parts = task.X.tobytes() + task.given.tobytes() + task.is_wrong.tobytes()
    assert hashlib.sha256(parts).hexdigest()[:16] == digest


def three_classes(n_rows=600):
    """Three bands along the first column, and a second column that knows nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 2))
    y = np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.7]))
    return data.DataSet("bands", "Bands", X, y.astype(np.int64))


@pytest.mark.parametrize("kind", ["uniform", "border", "group"])
@pytest.mark.parametrize("table", [TOY, three_classes()])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.2, 0.4])
def test_every_kind_but_the_annotator_makes_exactly_the_asked_share_wrong(kind, table, share):
    task = noise.make_task(table, noise=share, seed=2, kind=kind)
    n_classes = len(np.unique(task.truth))
    assert abs(task.is_wrong.sum() - share * task.is_labeled.sum()) <= (
        n_classes / 2 if kind == "uniform" else 0.5
    )
    assert np.array_equal(task.is_wrong, task.is_labeled & (task.given != task.truth))
    assert set(task.given[task.is_labeled]) <= set(range(n_classes))


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_repeats_by_its_seed_and_meets_the_same_rows(kind):
    first, again, other = (noise.make_task(TOY, noise=0.3, seed=seed, kind=kind) for seed in (3, 3, 4))
    assert first.given.tolist() == again.given.tolist() != other.given.tolist()
    assert np.array_equal(first.is_labeled, noise.make_task(TOY, noise=0.3, seed=3).is_labeled)


def test_uniform_noise_reaches_all_other_classes_and_one_sided_noise_the_one_before():
    uniform = noise.make_task(three_classes(), noise=0.4, seed=0)
    assert {tuple(pair) for pair in zip(uniform.truth, uniform.given, strict=True) if -1 not in pair} == {
        (a, b) for a in range(3) for b in range(3)
    }
    one_sided = noise.make_task(three_classes(), noise=(0.0, 0.4), seed=0)
    assert set(one_sided.truth[one_sided.is_wrong]) == {1}
    assert set(one_sided.given[one_sided.is_wrong]) == {0}
    members = one_sided.is_labeled & (one_sided.truth == 1)
    assert one_sided.is_wrong.sum() == round(0.4 * members.sum())


def test_noise_near_the_border_is_near_the_border_and_names_the_class_beyond_it():
    bands = three_classes()
    task = noise.make_task(bands, noise=0.1, seed=0, kind="border")
    edges = np.quantile(bands.X[:, 0], [0.3, 0.7])
    distance = np.abs(bands.X[:, :1] - edges).min(axis=1)
    assert distance[task.is_wrong].mean() < 0.5 * distance[task.is_labeled].mean()
    assert (np.abs(task.given - task.truth)[task.is_wrong] == 1).mean() > 0.95


def test_the_bad_group_lies_at_one_end_and_half_of_it_is_wrong():
    bands = three_classes()
    task = noise.make_task(bands, noise=0.1, seed=0, kind="group")
    X, labeled = task.X, task.is_labeled
    centre = X[task.is_wrong].mean(axis=0)
    along = X[labeled] @ centre
    nearest = np.argsort(-along)[: 2 * task.is_wrong.sum()]
    assert task.is_wrong[labeled][nearest].sum() >= 0.8 * task.is_wrong.sum()


def test_the_annotator_errs_only_as_far_as_his_columns_do_not_know():
    bands = three_classes()
    wrong = [
        noise.make_task(bands, noise=0.4, seed=seed, kind="annotator").is_wrong.sum() for seed in range(8)
    ]
    n_told = round(0.4 * 420)
    # He sees one of two columns: the one that knows everything, or the one that knows nothing.
    assert {0 if n == 0 else 1 if 0.4 * n_told < n < 0.8 * n_told else 2 for n in wrong} == {0, 1}


def test_every_class_keeps_five_labels_however_few_are_labeled():
    task = noise.make_task(TOY, noise=0.0, test_share=0.95, seed=0)
    counts = np.bincount(task.given[task.is_labeled])
    assert counts.min() == 5
    assert 10 <= counts.sum() <= 12
    few = noise.label_few(np.zeros(4, dtype=bool), np.array([0, 0, 1, 1]), 0)
    assert few.all()


def test_an_unknown_kind_of_noise_is_refused():
    with pytest.raises(
        ValueError, match="no kind of noise 'odd'; choose one of uniform, border, annotator, group"
    ):
        noise.make_task(TOY, noise=0.2, kind="odd")
