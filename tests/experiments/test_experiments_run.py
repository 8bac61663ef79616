"""Studies, plans, result lines, and what survives a crash."""

import ast
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from labelcut.cli import main
from labelcut.experiments import cluster, result_lines, run, scores
from labelcut.experiments.claims import open_claims
from labelcut.experiments.command import experiment
from labelcut.experiments.data import REAL
from labelcut.experiments.loading import load, rows_of
from labelcut.experiments.methods import METHODS, Method
from labelcut.experiments.methods.base import Outcome
from labelcut.experiments.noise import Task
from labelcut.experiments.synthetic import synthetic_grid

TOY = "synthetic:n60:f3:p50:c1:s2:hypercube:0"
OTHER = "synthetic:n80:f3:p50:c1:s2:hypercube:0"


TREES = {"name": "extra_trees", "settings": {"n_trees": 3}}


def small_config(**changes):
    part = {"data": [TOY, OTHER], "noise": [0.1, 0.2], "seeds": [0, 1], "methods": [TREES, "boosting"]}
    return {"title": "small", "part": [part | changes]}


@pytest.fixture
def small():
    return run.parse_study("small", small_config())


@pytest.fixture
def broken(monkeypatch):
    """A method that always fails."""
    monkeypatch.setitem(METHODS, "broken", Method("broken", "Broken", "forest", function="no_such_function"))


# Studies


def test_every_study_of_the_package_can_be_read():
    sizes = {name: len(run.load_study(name).runs) for name in run.study_names()}
    assert sizes["accuracy"] == 10 * 2 * 10 * 9
    assert sizes["synthetic"] == 540 * 2 * 4 + 54 * 2 * 3
    assert {"accuracy", "real", "synthetic", "confidence", "time", "ablation", "noise"} <= set(sizes)


def test_the_sample_of_the_grid_covers_it():
    chosen = run.sample_grid(synthetic_grid())
    assert len({c.name for c in chosen}) == 54
    assert len({(c.n_rows, c.n_features, c.n_clusters, c.class_sep) for c in chosen}) == 54
    assert {c.percent_positive for c in chosen} == {30, 40, 50, 60, 70}
    assert {c.centroids for c in chosen} == {"hypercube", "polytope"}


def test_a_study_goes_from_small_to_large_data(small):
    sizes = [rows_of(one.data) for one in run.load_study("accuracy").runs]
    assert sizes == sorted(sizes)
    assert len(small.runs) == 16


def test_a_synthetic_study_covers_the_grid_before_it_fills_it():
    data = list(dict.fromkeys(one.data for one in run.load_study("synthetic").runs))
    assert set(data[:54]) == {one.name for one in run.sample_grid(synthetic_grid())}


def test_a_kind_of_noise_makes_another_run_and_the_usual_one_is_not_named(tmp_path):
    config = small_config(data=[TOY], noise=[0.2], seeds=[0], methods=[TREES], kinds=["uniform", "group"])
    study = run.parse_study("s", config)
    group, uniform = study.runs
    assert "kind" not in uniform.as_record()
    assert group.as_record()["kind"] == "group"
    old = {"name": "s"} | small_config(data=[TOY], noise=[0.2], seeds=[0], methods=[TREES])
    assert uniform.key == run.parse_study("s", old).runs[0].key
    assert run.run_study(study, tmp_path, only=["group"]) == 1
    assert run.plan(study, tmp_path) == [uniform]


def test_an_unknown_kind_of_noise_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="no kind of noise 'odd'; choose one of uniform, border"):
        run.parse_study("s", small_config(kinds=["odd"]))


def test_the_studies_of_fresh_seeds_have_every_run_that_was_asked_for():
    sizes = {name: len(run.load_study(name).runs) for name in ("fresh", "few", "no-signal", "kinds")}
    assert sizes["fresh"] == 10 * 7 * 5 * 7
    assert sizes["few"] == 10 * 4 * 2 * 3 * 7
    assert sizes["no-signal"] == (7 + 2 * 4) * 10 * 5
    assert sizes["kinds"] == (13 + 10) * (11 + 3 * 4) * 2 * 8
    assert all(one.seed >= 200 for name in sizes for one in run.load_study(name).runs)


def test_settings_make_another_run():
    study = run.parse_study("s", small_config(methods=["boosting", TREES, "extra_trees"]))
    assert len(study.runs) == 24


def test_unknown_names_are_refused_with_the_known_ones(small, tmp_path):
    with pytest.raises(ValueError, match="no study 'x'; choose one of ablation, accuracy"):
        run.load_study("x")
    with pytest.raises(ValueError, match="no method 'svm'"):
        run.parse_study("s", small_config(methods=["svm"]))
    with pytest.raises(ValueError, match="'vote' is no method, data set or noise level of study small"):
        run.plan(small, tmp_path, ["vote"])


# Plans


def test_only_keeps_runs_that_match_one_of_each_kind(small, tmp_path):
    chosen = run.plan(small, tmp_path, ["extra_trees", TOY, "20"])
    assert {(r.method, r.data, r.noise) for r in chosen} == {("extra_trees", TOY, (0.2, 0.2))}
    assert len(run.plan(small, tmp_path, ["boosting", "extra_trees"])) == 16


def test_seeds_can_be_cut_short(small, tmp_path):
    assert {r.seed for r in run.plan(small, tmp_path, seeds=1)} == {0}


def test_finished_runs_are_not_done_again(small, tmp_path):
    assert run.run_study(small, tmp_path, only=["extra_trees"]) == 8
    assert run.run_study(small, tmp_path, only=["extra_trees"]) == 0
    assert len(run.plan(small, tmp_path)) == 8


def test_lines_of_a_reused_study_count(small, tmp_path):
    run.run_study(small, tmp_path, only=["extra_trees"])
    other = run.parse_study("other", small_config() | {"reuses": ["small"]})
    assert {r.method for r in run.plan(other, tmp_path)} == {"boosting"}
    assert {record["method"] for record in run.records_of(other, tmp_path)} == {"extra_trees"}


def test_a_failed_run_is_a_line_and_stops_nobody(broken, tmp_path):
    study = run.parse_study("s", small_config(methods=["broken", TREES], data=[TOY], noise=[0.1]))
    assert run.run_study(study, tmp_path) == 4
    failed = [record for record in result_lines.read_lines(tmp_path, "s") if "error" in record]
    assert len(failed) == 2
    assert failed[0]["error"].startswith("AttributeError in ")
    assert "no_such_function" in failed[0]["error"]
    assert run.plan(study, tmp_path) == []
    assert {r.method for r in run.plan(study, tmp_path, retry=True)} == {"broken"}


# Lines


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_study_whose_data_cannot_be_had_ends_with_one_line_and_no_row(tmp_path, monkeypatch, capsys, jobs):
    monkeypatch.setenv("LABELCUT_DATA", str(tmp_path))
    (tmp_path / "vote").mkdir()
    (tmp_path / "vote" / "house-votes-84.data").write_text("damaged")
    study = tmp_path / "small.toml"
    study.write_text(
        'title = "t"\n[[part]]\ndata = ["vote"]\nnoise = [0.2]\nseeds = [0, 1]\nmethods = ["knn"]\n'
    )
    call = ["experiment", "run", str(study), "--jobs", jobs, "--results", str(tmp_path / "results")]
    with pytest.raises(SystemExit) as ended:
        main(call)
    assert ended.value.code == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert "house-votes-84.data has SHA-256" in told.err
    assert not list((tmp_path / "results").rglob("*.jsonl"))


def test_importing_a_methods_libraries_is_not_part_of_its_time(monkeypatch, small):
    clock, load = [0.0], Method.load

    def slow_once(method):
        if clock[0] == 0:
            clock[0] = 100.0
        return load(method)

    monkeypatch.setattr(Method, "load", slow_once)
    monkeypatch.setattr(run, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    assert run.execute(small.runs[0])["seconds"]["total"] == 0
    assert clock == [100.0]


@pytest.mark.parametrize("method", ["cl", "dividemix", "coteaching"])
def test_no_library_is_imported_in_the_midst_of_a_run(method):
    script = f"""
import sys
import sklearn.datasets, sklearn.metrics  # the table and the scores, before and after the clock
from labelcut.experiments import run
from labelcut.experiments.methods import METHODS
part = {{"data": [{TOY!r}], "noise": [0.2], "seeds": [0], "methods": [{method!r}]}}
(one,) = run.parse_study("one", {{"title": "one", "part": [part]}}).runs
METHODS[{method!r}].load()
before = set(sys.modules)
record = run.execute(one)
assert "error" not in record, record["error"]
print(len(set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    # Some single modules are; cleanlab's torch and the optimiser's compiler would be hundreds.
    assert int(done.stdout) < 100


def test_a_line_says_everything_needed_to_repeat_the_run(tmp_path, small):
    first = run.execute(small.runs[0])
    again = run.execute(small.runs[0])
    assert first["scores"] == again["scores"]
    assert set(first["scores"]) >= {
        *("accuracy", "balanced_accuracy", "noise_precision", "noise_recall", "noise_f1"),
        *("average_precision", "noise_auc", "log_loss", "brier"),
    }
    assert first["seconds"]["total"] > 0
    assert first["versions"]["scikit-learn"][0].isdigit()
    assert result_lines.key_of(json.loads(json.dumps(first))) == small.runs[0].key


def test_a_line_cut_off_by_a_crash_is_passed_over_and_closed_off(tmp_path, small):
    record = run.execute(small.runs[0])
    path = tmp_path / "small" / "extra_trees.jsonl"
    result_lines.append_line(path, record)
    with path.open("a") as file:
        file.write(json.dumps(record)[:40])
    result_lines.append_line(path, record | {"seed": 9})
    assert [one["seed"] for one in result_lines.read_lines(tmp_path, "small")] == [0, 9]


def test_the_last_line_of_a_run_counts(tmp_path, small):
    record = run.execute(small.runs[0])
    path = tmp_path / "small" / "extra_trees.jsonl"
    for accuracy in (0.1, 0.9):
        result_lines.append_line(path, record | {"scores": {"accuracy": accuracy}})
    assert [one["scores"]["accuracy"] for one in result_lines.read_lines(tmp_path, "small")] == [0.9]


BAD_LINES = {
    b"{}": "no 'method' in it",
    b"null": "not the record of a run",
    b"[]": "not the record of a run",
    b"0": "not the record of a run",
    b"\xff\xfe{": "not the JSON of a run",
    b'{"method": "\xe9"}': "not the JSON of a run",
    b"<<<<<<< HEAD": "not the JSON of a run",
    json.dumps(dict.fromkeys((*result_lines.KEY, "seconds", "scores"))).encode(): "neither an accuracy",
}


@pytest.mark.parametrize("command", ["list", "table", "figures", "report", "run"])
@pytest.mark.parametrize("bad", BAD_LINES)
def test_a_line_that_is_no_run_is_told_with_its_place_and_exit_code_3(tmp_path, capsys, bad, command):
    path = tmp_path / "accuracy" / "cl.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"\n" + bad + b"\n")
    options = {
        "run": ["accuracy"],
        "figures": ["--out", str(tmp_path)],
        "report": ["--out", str(tmp_path / "r.md")],
    }
    with pytest.raises(SystemExit) as left:
        main(["experiment", command, *options.get(command, []), "--results", str(tmp_path)])
    told = capsys.readouterr().err
    assert left.value.code == 3
    assert f"{path}, line 2: {BAD_LINES[bad]}" in told
    assert told.endswith("delete this line, its run will be done again.\n")
    assert told.count("\n") == 1


def test_histograms_are_kept_for_real_tables_only(small):
    assert "histograms" not in run.execute(small.runs[0])
    assert set(REAL) & {TOY} == set()


# Scores


def tiny_task():
    return Task(
        "tiny",
        np.zeros((6, 1)),
        given=np.array([1, 0, 1, 0, -1, -1]),
        truth=np.array([1, 1, 1, 0, 0, 1]),
        is_wrong=np.array([False, True, False, False, False, False]),
        noise=(0.0, 0.3),
    )


def tiny_outcome(**changes):
    fields = {
        "predicted": np.array([1, 1, 1, 0, 0, 0]),
        "is_flagged": np.array([False, True, True, False, False, False]),
        "suspicion": np.array([0.1, 0.9, 0.95, 0.2, np.nan, np.nan]),
        "probability": np.array([1, 1, 1, 0, 0.2, 0.4]),
    }
    return Outcome(**(fields | changes))


def test_scores_worked_by_hand():
    values = scores.score(tiny_task(), tiny_outcome())
    assert values["accuracy"] == values["balanced_accuracy"] == 0.5
    assert (values["noise_precision"], values["noise_recall"]) == (0.5, 1.0)
    assert values["noise_f1"] == pytest.approx(2 / 3)
    assert values["average_precision"] == 0.5  # the wrong label is ranked second
    assert values["noise_auc"] == pytest.approx(2 / 3)
    assert values["log_loss"] == pytest.approx(-(np.log(0.8) + np.log(0.4)) / 2)
    assert values["brier"] == pytest.approx((0.04 + 0.36) / 2)


def test_alarms_and_the_review_list_worked_by_hand():
    p_wrong = np.array([0.1, 0.9, 0.95, 0.25, np.nan, np.nan])
    values = scores.score(tiny_task(), tiny_outcome(p_wrong=p_wrong, has_evidence=False))
    assert (values["wrong_share"], values["flagged_share"]) == (0.25, 0.5)
    assert values["worst_class_flagged"] == 0.5  # one of two labels of either class
    assert values["says_evidence"] == 0
    assert values["expected_share"] == pytest.approx(2.2 / 4)
    # Two are expected, so the list has the two surest: one of them is wrong.
    assert (values["review_length"], values["review_found"]) == (2, 1)
    assert values["review_promised"] == pytest.approx(0.9 + 0.95)


def test_a_number_of_its_own_goes_before_the_sum():
    values = scores.score(tiny_task(), tiny_outcome(expected_wrong=3.0))
    assert values["expected_share"] == 0.75
    assert values["review_found"] is values["says_evidence"] is None


def test_scores_of_three_classes_worked_by_hand():
    task = Task(
        "three",
        np.zeros((5, 1)),
        given=np.array([0, 1, 1, -1, -1]),
        truth=np.array([0, 1, 2, 2, 1]),
        is_wrong=np.array([False, False, True, False, False]),
        noise=(0.3, 0.3),
        n_classes=3,
    )
    columns = np.array([[1, 0, 0], [0, 1, 0], [0, 0.2, 0.8], [0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    outcome = Outcome(
        predicted=columns.argmax(axis=1),
        is_flagged=np.array([False, False, True, False, False]),
        suspicion=np.array([0, 0, 0.8, np.nan, np.nan]),
        probability=columns,
    )
    values = scores.score(task, outcome)
    assert (values["accuracy"], values["noise_f1"], values["average_precision"]) == (0.5, 1, 1)
    assert values["log_loss"] == pytest.approx(-(np.log(0.5) + np.log(0.3)) / 2)
    assert values["brier"] == pytest.approx((0.38 + 0.86) / 2 / 2)
    assert values["worst_class_flagged"] == 0.5
    assert scores.histograms(task, outcome) == {}


def test_scores_that_cannot_be_had_are_none():
    task = tiny_task()
    clean = Task(task.name, task.X, task.given, task.truth, np.zeros(6, dtype=bool), (0.0, 0.0))
    values = scores.score(clean, tiny_outcome(probability=None))
    missing = ("noise_f1", "average_precision", "noise_auc", "log_loss", "confidence_auc")
    assert {name: values[name] for name in missing} == dict.fromkeys(missing)
    nothing = scores.noise_scores(np.array([True]), np.array([False]))
    assert nothing == {"noise_precision": 0.0, "noise_recall": 0.0, "noise_f1": 0.0}


def test_a_second_rule_has_its_own_columns():
    values = scores.score(tiny_task(), tiny_outcome(other_flags={"mask": tiny_task().is_wrong}))
    assert values["noise_f1:mask"] == 1.0


def test_histograms_count_every_row_once():
    counts = scores.histograms(
        tiny_task(), tiny_outcome(confidence=np.array([0.9, 0.1, 1.0, 0.5, np.nan, np.nan]))
    )
    assert sum(counts["reliability"][0]) == 2
    assert sum(counts["reliability"][2]) == 1
    clean_negative, wrong_negative, clean_positive, wrong_positive = counts["confidence"]
    totals = [sum(c) for c in (clean_negative, wrong_negative, clean_positive, wrong_positive)]
    assert totals == [1, 1, 2, 0]
    assert wrong_negative[2] == 1


# The command, crashes and clusters


def toml_of(tmp_path, **changes):
    part = small_config(**changes)["part"][0]
    part["methods"] = [m if isinstance(m, str) else m["name"] for m in part["methods"]]
    lines = [f"{name} = {json.dumps(value)}" for name, value in part.items()]
    path = tmp_path / "small.toml"
    path.write_text("\n".join(['title = "small"', "[[part]]", *lines]))
    return path


def test_the_command_runs_a_study_and_says_how_far_it_is(tmp_path):
    config = toml_of(tmp_path, data=[TOY], noise=[0.1], methods=["extra_trees", "boosting"])
    call = ["run", str(config), "--results", str(tmp_path)]
    answer = CliRunner().invoke(experiment, call)
    assert answer.exit_code == 0, answer.output
    assert "4/4  0:00:00 left" in answer.output
    assert "4 runs done" in answer.output
    assert "Nothing to do" in CliRunner().invoke(experiment, call).output


def test_the_command_lists_studies_and_methods(tmp_path):
    answer = CliRunner().invoke(experiment, ["list", "--results", str(tmp_path)])
    assert "accuracy          0 of   1800 done, 0 failed" in answer.output
    assert all(name in answer.output for name in METHODS)


def test_a_wrong_study_is_one_line_and_exit_code_2(tmp_path):
    answer = CliRunner().invoke(experiment, ["run", "nothing", "--results", str(tmp_path)])
    assert answer.exit_code == 2
    assert "no study 'nothing'; choose one of" in answer.output


BAD_STUDIES = {
    'title = "x"': "the study has no 'part'; add one [[part]] or more.",
    "part = 3": "the study has no 'title'; add a text.",
    'title = "x"\npart = []': "'part' of the study is []; make it one [[part]] or more.",
    'title = "x"\n[[part]]': '[[part]] 1 has no \'data\'; add "real", "synthetic" or a list of data sets.',
    'title = "x"\n[part]': "'part' of the study is {}; make it one [[part]] or more.",
    'title = "x"\nseed = 1\n[[part]]': "the study has an entry 'seed'; choose among title, part, reuses.",
    "title =": "is not TOML (Invalid value (at end of document)); correct that place.",
    "title = 'caf\udce9'": "is not UTF-8, as TOML must be; save it again as UTF-8.",
}
BAD_PARTS = {
    "data": [3, "vote", [], ["votes"]],
    "noise": [0.2, ["20"], [[0.1]], [2]],
    "seeds": [3, [0.5], [True]],
    "methods": ["cl", ["svm"], [{"nam": "cl"}], [{"name": "cl", "setting": {}}]],
    "test_share": [0.3, ["x"]],
}


def leaves_with(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(["experiment", *map(str, arguments)])
    return left.value.code, capsys.readouterr().err


@pytest.mark.parametrize("text", BAD_STUDIES)
def test_a_study_file_without_its_parts_is_one_line_and_exit_code_3(tmp_path, capsys, text):
    path = tmp_path / "mine.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    code, told = leaves_with(["run", path, "--results", tmp_path], capsys)
    assert (code, told) == (3, f"labelcut: {path}: {BAD_STUDIES[text]}\n")


@pytest.mark.parametrize(
    ("entry", "value"), [(name, v) for name, values in BAD_PARTS.items() for v in values]
)
def test_an_entry_of_the_wrong_kind_is_told_by_name(tmp_path, capsys, entry, value):
    path = toml_of(tmp_path, **{entry: value}) if entry != "methods" else tmp_path / "small.toml"
    if entry == "methods":
        shown = json.dumps(value).replace('": ', '" = ')
        path.write_text(f'title="t"\n[[part]]\ndata=["vote"]\nnoise=[0.1]\nseeds=[0]\nmethods={shown}')
    code, told = leaves_with(["run", path, "--results", tmp_path], capsys)
    assert code == 3
    assert told.startswith(f"labelcut: {path}: ")
    assert f"'{entry}' of [[part]] 1 is" in told or "no data set 'votes'" in told or "no method 'svm'" in told


def test_the_studies_of_the_package_pass_the_check_of_study_files():
    assert all(run.load_study(name).title for name in run.study_names())


def start(config: Path, results: Path) -> subprocess.Popen:
    command = [sys.executable, "-m", "labelcut.experiments", "run", str(config), "--results", str(results)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_study_goes_on_where_it_stopped(tmp_path, how):
    # So many that the study is still under way when the signal comes, however fast the machine is.
    config = toml_of(tmp_path, seeds=list(range(150)), methods=["boosting"], data=[TOY])
    written = tmp_path / "small" / "boosting.jsonl"
    process = start(config, tmp_path)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (written.exists() and written.read_text().count("\n") >= 2):
        time.sleep(0.02)
    process.send_signal(how)
    output = process.communicate(timeout=30)[0]
    if how == signal.SIGINT:
        assert "finished runs are kept" in output
        assert process.returncode == 130
    study = run.load_study(str(config))
    kept = result_lines.read_lines(tmp_path, "small")
    assert 2 <= len(kept) < 300
    assert run.run_study(study, tmp_path) == 300 - len(kept)
    assert run.plan(study, tmp_path) == []


# Several runners


def test_two_runners_share_a_study_and_do_no_run_twice(tmp_path):
    config = toml_of(tmp_path, seeds=list(range(12)), methods=["boosting"], data=[TOY])
    runners = [start(config, tmp_path) for _ in range(2)]
    outputs = [runner.communicate(timeout=120)[0] for runner in runners]
    assert [runner.returncode for runner in runners] == [0, 0], outputs
    written = (tmp_path / "small" / "boosting.jsonl").read_text().splitlines()
    assert len(written) == len({result_lines.key_of(json.loads(line)) for line in written}) == 24
    assert sum(output.count("boosting") for output in outputs) == 24


HOLD = """
import sys, time
from pathlib import Path
from labelcut.experiments.claims import open_claims
with open_claims(Path(sys.argv[1])) as claims:
    print(claims.take(sys.argv[2]), flush=True)
    time.sleep(600)
"""


@pytest.fixture
def other_runner(tmp_path, small):
    """Another process that has claimed the last run of the study, and stays."""
    call = [sys.executable, "-c", HOLD, str(tmp_path / "small" / ".claims"), small.runs[-1].key]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "True\n"
        yield process
        process.kill()


def test_a_run_that_another_runner_has_is_left_to_it_until_it_is_killed(tmp_path, small, other_runner):
    assert run.run_study(small, tmp_path) == 15
    assert run.plan(small, tmp_path) == [small.runs[-1]]
    other_runner.kill()
    other_runner.wait()
    assert run.run_study(small, tmp_path) == 1
    assert run.plan(small, tmp_path) == []


def test_a_runner_takes_over_from_one_that_is_killed_meanwhile(tmp_path, small, other_runner):
    def kill_the_other(record, done, total):
        other_runner.kill()
        other_runner.wait()

    backwards = run.Study("small", "small", small.runs[::-1])
    assert run.run_study(backwards, tmp_path, only=[small.runs[-1].data], on_done=kill_the_other) == 8


def test_the_command_says_how_many_runs_another_runner_has(tmp_path):
    config = toml_of(tmp_path, data=[TOY], noise=[0.1], methods=["extra_trees"])
    (*_, last) = run.load_study(str(config)).runs
    call = [sys.executable, "-c", HOLD, str(tmp_path / "small" / ".claims"), last.key]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "True\n"
        answer = CliRunner().invoke(experiment, ["run", str(config), "--results", str(tmp_path)])
        process.kill()
    assert "1 runs done; another runner is at 1 more. Should it stop, start this again." in answer.output


@pytest.mark.parametrize("retry", [False, True])
def test_a_run_that_another_runner_has_finished_meanwhile_is_not_done_again(tmp_path, small, retry):
    path = tmp_path / "small" / "other.jsonl"
    line = {name: json.loads(small.runs[-1].key)[i] for i, name in enumerate(result_lines.KEY)} | {
        "seconds": {}
    }
    if retry:
        result_lines.append_line(path, line | {"error": "fails"})

    def finish_the_last(record, done, total):
        if done == 1:
            result_lines.append_line(path, line | {"error": "fails again"})

    assert run.run_study(small, tmp_path, on_done=finish_the_last, retry=retry) == 15


def test_claims_are_of_one_run_each_and_can_be_given_back(tmp_path):
    call = [sys.executable, "-c", HOLD, str(tmp_path / "claims"), "b"]
    with open_claims(tmp_path / "claims") as claims:
        assert claims.take("a")
        assert claims.take("b")
        claims.drop("b")
        with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "True\n"
            assert not claims.take("b")
            process.kill()


def test_two_processes_give_the_same_scores_as_one(tmp_path, small):
    run.run_study(small, tmp_path / "one", only=["extra_trees", TOY])
    run.run_study(small, tmp_path / "two", only=["extra_trees", TOY], jobs=2)
    one, two = (
        {result_lines.key_of(r): r["scores"] for r in result_lines.read_lines(tmp_path / where, "small")}
        for where in ("one", "two")
    )
    assert one == two
    assert len(one) == 4


def test_runs_that_share_a_forest_travel_together():
    mixed = ["paper", "forest", "extra_trees", "hnc", "forest_layer"]
    study = run.parse_study("mixed", small_config(data=[TOY], noise=[0.1], methods=mixed))
    groups = [[(one.method, one.seed) for one in group] for group in run.together(study.runs)]
    assert groups == [
        group
        for seed in (0, 1)
        for group in (
            [("paper", seed), ("hnc", seed)],
            [("forest", seed), ("forest_layer", seed)],
            [("extra_trees", seed)],
        )
    ]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_shared_forest_is_trained_once_however_many_workers_there_are(tmp_path, jobs):
    methods = ["forest", "forest_layer", "knn"]
    study = run.parse_study("forests", small_config(data=[TOY], noise=[0.1], methods=methods))
    run.run_study(study, tmp_path, jobs=jobs)
    records = run.read_lines(tmp_path, "forests")
    assert len(records) == 6
    for record in records:
        assert ("reused" in record["seconds"]) == (record["method"] != "forest")


def test_a_data_set_is_loaded_once_for_runs_in_turn(monkeypatch, small):
    loaded = []
    monkeypatch.setattr(run, "load", lambda name, seed: loaded.append(name) or load(name, seed))
    list(run.execute_in_turn(small.runs))
    assert loaded == [TOY, OTHER]


def test_a_drawn_table_is_drawn_again_for_every_seed(monkeypatch):
    drawn = []
    monkeypatch.setattr(run, "load", lambda name, seed: drawn.append(seed) or load(TOY, seed))
    config = small_config(data=["pure-16"], noise=[0.1], methods=[TREES, "boosting"])
    list(run.execute_in_turn(run.parse_study("drawn", config).runs))
    assert drawn == [0, 1]


def test_a_task_is_made_once_for_all_methods(monkeypatch, small):
    made = []
    make = run.make_task
    monkeypatch.setattr(run, "make_task", lambda data, **how: made.append(how) or make(data, **how))
    records = list(run.execute_in_turn(small.runs))
    assert len(made) == len(records) / 2


def test_no_module_of_the_experiments_keeps_state():
    keepers = {"cache", "lru_cache"}
    for path in sorted(Path(run.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            assert not isinstance(node, ast.Global), path.name
            assert not (isinstance(node, ast.alias) and node.name in keepers), path.name
            assert not (isinstance(node, ast.Attribute) and node.attr in keepers), path.name


@pytest.mark.filterwarnings("ignore")  # a cluster that shuts down is noisy, and not ours
def test_a_dask_cluster_of_processes_gives_the_same_scores(tmp_path, small):
    from distributed import LocalCluster

    run.run_study(small, tmp_path / "one", only=["extra_trees", TOY])
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as local:
        pids = {worker.pid for worker in local.workers.values()}
        assert len(pids) == 2
        assert os.getpid() not in pids
        done = run.run_study(
            small,
            tmp_path / "dask",
            only=["extra_trees", TOY],
            jobs=-1,
            backend="dask",
            address=local.scheduler_address,
        )
    assert done == 4
    one, dask = (
        {result_lines.key_of(r): r["scores"] for r in result_lines.read_lines(tmp_path / where, "small")}
        for where in ("one", "dask")
    )
    assert one == dask


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_local_ray_gives_the_same_scores(tmp_path, small):
    pytest.importorskip("ray", reason="ray is not installed; it is not needed for anything else")
    run.run_study(small, tmp_path / "one", only=["extra_trees", TOY])
    done = run.run_study(small, tmp_path / "ray", only=["extra_trees", TOY], jobs=2, backend="ray")
    assert done == 4
    one, ray = (
        {result_lines.key_of(r): r["scores"] for r in result_lines.read_lines(tmp_path / where, "small")}
        for where in ("one", "ray")
    )
    assert one == ray


def test_what_travels_to_a_worker_is_small(small):
    import pickle

    assert len(pickle.dumps(small.runs[0])) < 500


def test_cluster_words_are_checked():
    with (
        pytest.raises(ValueError, match="address='tcp://x' without a backend"),
        cluster.cluster(None, "tcp://x"),
    ):
        pass
    with (
        pytest.raises(ValueError, match="backend='spark'; choose one of dask, ray"),
        cluster.cluster("spark", None),
    ):
        pass
