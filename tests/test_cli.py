"""The command line, from a csv to a corrected csv."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tables import AUDIT, N_WRONG, run, shop, write_shop

import labelcut
from labelcut.errors import BadChoice
from labelcut.table.source import find_source


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    frame, right = write_shop(folder / "shop.csv")
    assert run("audit", folder / "shop.csv", *AUDIT, "--out", folder / "out", "--quiet") == 0
    return folder, frame, right


def test_an_audit_writes_the_page_the_issues_the_table_and_the_summary(audited):
    folder, frame, right = audited
    out = folder / "out"
    assert sorted(file.name for file in out.iterdir()) == [
        *("issues.csv", "report.html", "summary.json", "table.csv"),
    ]
    issues = pd.read_csv(out / "issues.csv")
    given = frame["churned"].to_numpy()
    is_wrong = (given != right) & frame["churned"].notna().to_numpy()
    rows = issues["row"].to_numpy() - 1
    assert is_wrong[rows[:N_WRONG]].sum() >= N_WRONG - 1
    assert issues["label_quality"].is_monotonic_increasing
    assert issues["reason"].str.len().min() > 10
    assert issues["id"].tolist() == frame["customer"].to_numpy()[rows].tolist()
    original, table = (
        (folder / "shop.csv").read_text().splitlines(),
        (out / "table.csv").read_text().splitlines(),
    )
    assert all(new.startswith(old + ",") for old, new in zip(original, table, strict=True))
    assert original[0] + ",labelcut_is_label_issue,labelcut_predicted_label" in table[0]


#: What programs may rely on within schema 1: keys may be added, never renamed or removed.
PARTS = {
    "source": {"name", "format", "suffix", "delimiter", "encoding", "notes"},
    "counts": {
        *("rows", "rows_in_file", "columns", "features", "labeled", "unlabeled", "suspects", "reviewed"),
        *("unsure", "no_evidence"),
    },
    "estimate": {"wrong", "share", "contradicted", "labels"},
    "evidence": {
        *("text", "is_there", "auc", "auc_error", "balanced_accuracy", "balanced_accuracy_error", "z"),
    },
    "by_class": {"name", "labeled", "suspects", "wrong"},
    "groups": {"name", "labeled", "suspects", "wrong", "share"},
    "columns": {"name", "kind", "role", "missing", "distinct", "note", "weight"},
    "model": {"preset", "n_neighbors", "tradeoff", "noise_rates"},
    "flagged": {"id", "key", "given_label"},
}


def parts_of(part):
    return part[0] if isinstance(part, list) else part


def test_the_summary_has_the_documented_keys(audited):
    folder, frame, _ = audited
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert list(summary) == [
        *("schema", "version", "source", "label", "id", "group", "classes", "counts", "estimate"),
        *("evidence", "by_class", "budget", "unlabeled", "annotators", "worth_knowing", "groups", "columns"),
        *("conflicts", "image", "text", "pictures", "model", "flagged"),
    ]
    assert {name: keys - set(parts_of(summary[name])) for name, keys in PARTS.items()} == dict.fromkeys(
        PARTS, set()
    )
    assert summary["counts"]["labeled"] == int(frame["churned"].notna().sum())
    assert summary["counts"]["suspects"] == len(pd.read_csv(folder / "out" / "issues.csv"))
    assert 0 < summary["estimate"]["share"] < 0.3
    kinds = {column["name"]: column["kind"] for column in summary["columns"]}
    assert kinds["since"] == "date"
    assert kinds["plan"] == "category"
    assert {group["name"] for group in summary["groups"]} == {"ann", "bob"}


def test_the_same_input_gives_the_same_bytes(audited, tmp_path):
    folder, _, _ = audited
    assert run("audit", folder / "shop.csv", *AUDIT[:-1], 2, "--out", tmp_path / "again", "--quiet") == 0
    for file in (folder / "out").iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes(), file.name


def decisions_for(folder, right, n):
    """Decide the first n suspects from the truth."""
    issues = pd.read_csv(folder / "out" / "issues.csv", dtype=str).head(n)
    lines = ["key,id,row,given_label,decision,label,label_column,id_column"]
    for issue in issues.to_dict("records"):
        truth = right[int(issue["row"]) - 1]
        verdict = "keep" if truth == issue["given_label"] else "flip"
        lines.append(
            f"{issue['key']},{issue['id']},{issue['row']},{issue['given_label']},{verdict},{truth},churned,customer"
        )
    return "\n".join(lines) + "\n"


def test_decisions_flow_into_the_next_audit_and_into_the_table(audited, tmp_path, capsys):
    folder, frame, right = audited
    decisions = tmp_path / "decisions.csv"
    decisions.write_text(decisions_for(folder, right, 5))
    again = (
        "audit",
        folder / "shop.csv",
        *AUDIT,
        "--decisions",
        decisions,
        "--out",
        tmp_path / "second",
        "--json",
    )
    assert run(*again) == 0
    second = json.loads(capsys.readouterr().out)
    first = json.loads((folder / "out" / "summary.json").read_text())
    assert second["counts"]["reviewed"] == 5
    before = set(pd.read_csv(folder / "out" / "issues.csv")["id"].head(5))
    after = set(pd.read_csv(tmp_path / "second" / "issues.csv")["id"])
    assert not before & after
    assert second["counts"]["suspects"] < first["counts"]["suspects"]

    assert run("apply", folder / "shop.csv", decisions, "--out", tmp_path / "cleaned.csv", "--json") == 0
    done = json.loads(capsys.readouterr().out)
    old, new = (
        (folder / "shop.csv").read_text().splitlines(),
        (tmp_path / "cleaned.csv").read_text().splitlines(),
    )
    changed = [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    assert len(changed) == done["changed"] > 0
    for i in changed:
        assert new[i] == re.sub("(yes|no)$", right[i - 1], old[i])


def test_apply_finds_the_rows_by_content_in_a_table_of_another_order(audited, tmp_path, capsys):
    folder, frame, right = audited
    shuffled = frame.drop(columns="customer").sample(frac=1, random_state=1)
    shuffled.to_csv(tmp_path / "moved.csv", index=False)
    frame.drop(columns="customer").to_csv(tmp_path / "plain.csv", index=False)
    args = (
        "--label",
        "churned",
        "--group",
        "clerk",
        "--ignore",
        "since",
        "--out",
        tmp_path / "out",
        "--quiet",
    )
    assert run("audit", tmp_path / "plain.csv", *args) == 0
    issue = pd.read_csv(tmp_path / "out" / "issues.csv", dtype=str).iloc[0]
    line = f"{issue['key']},,{issue['row']},{issue['given_label']},flip,{issue['predicted_label']},churned,"
    (tmp_path / "d.csv").write_text(f"key,id,row,given_label,decision,label,label_column,id_column\n{line}\n")
    assert run("apply", tmp_path / "moved.csv", tmp_path / "d.csv", "--out", tmp_path / "c.csv") == 0
    assert "1 label changed" in capsys.readouterr().out
    cleaned = pd.read_csv(tmp_path / "c.csv", keep_default_na=False)["churned"].to_numpy()
    place = shuffled.index.get_loc(int(issue["row"]) - 1)
    differs = np.flatnonzero(cleaned != shuffled["churned"].fillna("").to_numpy())
    assert differs.tolist() == [place]


def test_other_formats_go_the_whole_way(tmp_path):
    frame, _ = shop(n_rows=80, n_wrong=4)
    frame["since"] = frame["since"].astype(str)
    writers = {
        "parquet": frame.to_parquet,
        "jsonl": lambda path: frame.to_json(path, orient="records", lines=True),
        "csv.gz": lambda path: frame.to_csv(path, index=False),
    }
    keys = []
    for ending, write in writers.items():
        file, out = tmp_path / f"t.{ending}", tmp_path / ending
        write(file)
        assert run("audit", file, *AUDIT, "--out", out, "--quiet") == 0
        assert (out / f"table.{ending}").exists()
        keys.append(pd.read_csv(out / "issues.csv")["id"].tolist())
    assert all(found == keys[0] for found in keys)


def test_a_table_comes_in_by_standard_input(tmp_path, monkeypatch, capsys):
    frame, _ = shop(n_rows=60, n_wrong=3)
    text = frame.to_csv(index=False, sep=";").encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert run("audit", "-", *AUDIT, "--out", tmp_path, "--json") == 0
    assert json.loads(capsys.readouterr().out)["source"]["name"] == "standard input"


def test_the_summary_on_the_screen_names_the_worst_and_the_page(audited, tmp_path, capsys):
    folder, _, _ = audited
    assert run("audit", folder / "shop.csv", *AUDIT, "--out", tmp_path, "--max-rows", 150) == 0
    shown = capsys.readouterr().out
    assert "labels look wrong" in shown
    assert "wrong labels are expected" in shown
    assert "unlabeled rows were classified" in shown
    assert "The columns tell the classes apart with an AUC of 0." in shown
    assert "labeled rows near it are" in shown
    assert f"report: {tmp_path / 'report.html'}" in shown
    assert "150 rows" in shown


def test_label_studio_gets_tasks_with_scores(audited, tmp_path):
    folder, _, _ = audited
    assert (
        run("audit", folder / "shop.csv", *AUDIT, "--out", tmp_path, "--format", "label-studio", "--quiet")
        == 0
    )
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    issues = pd.read_csv(tmp_path / "issues.csv")
    assert [task["data"]["customer"] for task in tasks] == issues["id"].tolist()
    prediction = tasks[0]["predictions"][0]
    assert prediction["score"] == issues["p_wrong"][0]
    assert prediction["result"][0]["value"]["choices"] == [issues["predicted_label"][0]]


def test_a_data_frame_is_audited_in_python(tmp_path):
    frame, _ = shop()
    audit = labelcut.audit(frame, label="churned", id="customer", group="clerk")
    assert {"row", "id", "given_label", "predicted_label", "label_quality", "reason"} <= set(audit.issues)
    assert audit.summary["counts"]["suspects"] == len(audit.issues)
    assert "suspects among 150 labels" in repr(audit)
    assert audit._repr_html_().startswith("<iframe srcdoc=")
    assert "&lt;script&gt;" in audit._repr_html_()
    saved = audit.save(tmp_path / "out")
    assert pd.read_csv(tmp_path / "out" / "table.csv")["labelcut_is_label_issue"].sum() == len(audit.issues)
    assert (tmp_path / "out" / "report.html") in saved


@pytest.mark.parametrize("path", [str, Path])
def test_a_file_is_audited_in_python_as_by_the_command(audited, tmp_path, path):
    folder, _, _ = audited
    roles = {"label": "churned", "id": "customer", "group": "clerk"}
    labelcut.audit(path(folder / "shop.csv"), **roles, n_jobs=1).save(tmp_path)
    for file in (folder / "out").iterdir():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes(), file.name


def test_a_file_is_read_in_python_as_it_is_told(tmp_path):
    file = tmp_path / "shop.csv"
    frame, _ = shop(n_rows=80, n_wrong=4)
    frame.to_csv(file, sep="#", header=False, index=False, na_rep="gone", encoding="utf-16")
    told = {"delimiter": "#", "encoding": "utf-16", "missing": ["gone"], "has_header": False}
    audit = labelcut.audit(file, label="column 7", **told)
    assert audit.table.classes == ("no", "yes")
    assert audit.table.codes.tolist() == labelcut.audit(frame, label="churned").table.codes.tolist()
    assert audit.summary["source"]["delimiter"] == "#"
    with pytest.raises(BadChoice, match=r"delimiter='#' says how a file is read, and table is a data frame"):
        labelcut.audit(frame, label="churned", delimiter="#")
    with pytest.raises(BadChoice, match=r"no\.csv: cannot be read \(no such file or directory\); check"):
        labelcut.audit(tmp_path / "no.csv", label="churned")


@pytest.mark.parametrize("option", ["ignore", "unlabeled", "missing"])
def test_one_text_is_not_taken_for_a_list_of_letters(option):
    frame, _ = shop()
    with pytest.raises(TypeError, match=f"{option}='no' is a str; give a list of texts"):
        labelcut.audit(frame, label="churned", **{option: "no"})
    with pytest.raises(TypeError, match=rf"{option}\[1\]=-1 is a int; give a text"):
        labelcut.audit(frame, label="churned", **{option: ["no", -1]})


def test_a_missing_file_is_told_before_anything_heavy_is_imported(tmp_path):
    for command in ("audit", "apply"):
        words = {"audit": ["--label", "y"], "apply": ["decisions.csv", "--out", "out.csv"]}[command]
        code = (
            "import sys; from labelcut.cli import main\n"
            f"try: main({[command, 'no.csv', *words]!r})\n"
            "except SystemExit as stop: print(stop.code, 'pandas' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
        assert done.stdout.split() == ["2", "False"], done.stderr


def test_a_data_frame_keeps_its_index_and_its_own_way_of_writing(tmp_path):
    frame, _ = shop()
    frame["since"] = frame["since"].dt.strftime("%d.%m.%Y")
    frame.index = pd.Index([f"row {i}" for i in range(len(frame))])
    audit = labelcut.audit(frame, label="churned", max_rows=120)
    assert set(audit.issues.index) <= set(frame.index)
    assert audit.issues["given_label"].tolist() == frame["churned"][audit.issues.index].tolist()
    audit.save(tmp_path)
    written = pd.read_csv(tmp_path / "table.csv")
    assert len(written) == 120
    assert set(written["since"]) <= set(frame["since"])
    with pytest.raises(TypeError, match="table is a list; give a data frame"):
        labelcut.audit([1, 2], label="y")


def test_what_the_model_warns_of_stands_in_the_report(tmp_path, capsys, monkeypatch):
    import warnings

    from labelcut.hnc.classifier import ConfidenceHNC

    fit = ConfidenceHNC.fit

    def fit_with_a_warning(self, *args, **options):
        warnings.warn("the cut is nearly empty; change the trade-off.", UserWarning, stacklevel=2)
        return fit(self, *args, **options)

    write_shop(tmp_path / "shop.csv", n_rows=80, n_wrong=4)
    monkeypatch.setattr("labelcut.auditing.review_curve.plant_and_find", lambda *_: None)
    monkeypatch.setattr("labelcut.auditing.audit.plant_and_find", lambda *_: None)
    monkeypatch.setattr(ConfidenceHNC, "fit", fit_with_a_warning)
    assert run("audit", tmp_path / "shop.csv", *AUDIT, "--out", tmp_path / "out") == 0
    assert "note: the cut is nearly empty" in capsys.readouterr().out
    assert "the cut is nearly empty" in (tmp_path / "out" / "report.html").read_text()


def test_a_fault_of_ours_is_one_line_too(tmp_path, capsys, monkeypatch):
    write_shop(tmp_path / "shop.csv", n_rows=80, n_wrong=4)
    monkeypatch.setattr("labelcut.auditing.judging.encode", lambda table: 1 / 0)
    assert run("audit", tmp_path / "shop.csv", *AUDIT, "--out", tmp_path / "out") == 1
    assert "a fault of LabelCut (ZeroDivisionError: division by zero)" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_three_classes_are_audited(tmp_path):
    rng = np.random.default_rng(0)
    kind = np.arange(150) % 3
    frame = pd.DataFrame(rng.normal(kind[:, None] * 4, 1, (150, 3)), columns=["a", "b", "c"])
    right = np.array(["low", "mid", "high"], dtype=object)[kind]
    given = right.copy()
    given[[0, 1, 2]] = ["high", "low", "mid"]
    frame["y"] = given
    audit = labelcut.audit(frame, label="y")
    worst = audit.issues.head(3)
    assert set(worst.index) == {0, 1, 2}
    assert worst["predicted_label"].tolist() == right[worst.index].tolist()


WRONG = [
    (["audit"], 2, "missing argument 'TABLE...'"),
    (["audit", "shop.csv"], 2, "missing option '--label'"),
    (["audit", "shop.csv", "--label", "chrun"], 2, "no column 'chrun'; did you mean 'churned'?"),
    (["audit", "gone.csv", "--label", "x"], 2, "gone.csv: cannot be read (no such file or directory)"),
    (["audit", "shop.csv", "--label", "churned", "--kind", "plan"], 2, "not of the form COLUMN=KIND"),
    (["audit", "shop.csv", "--label", "churned", "--positive", "maybe"], 2, "no row is labeled 'maybe'"),
    (["audit", "shop.csv", "--label", "churned", "--preset", "best"], 2, "'best' is not one of"),
    (["audit", "shop.csv", "--label", "churned", "--flags", "some"], 2, "'some' is not one of"),
    (["audit", "shop.csv", "--label", "churned", "--out", "shop.csv/x"], 2, "is a file"),
    (["audit", "shop.csv", "--label", "visits"], 3, "looks like a number to predict"),
    (["aduit", "shop.csv"], 2, "no command 'aduit'; did you mean 'audit'?"),
    (["apply", "shop.csv", "gone.csv", "--out", "x.csv"], 2, "gone.csv: cannot be read"),
]


@pytest.mark.parametrize(("args", "code", "message"), WRONG)
def test_wrong_use_gives_one_line_and_a_code(tmp_path, monkeypatch, capsys, args, code, message):
    monkeypatch.chdir(tmp_path)
    write_shop(tmp_path / "shop.csv", n_rows=60, n_wrong=2)
    assert run(*args) == code
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""
    assert [file.name for file in tmp_path.iterdir()] == ["shop.csv"]


THREE = pd.DataFrame({"x": [1.5, 2.5, 3.5, 4.5], "y": ["a", "b", "c", "a"]})
TOLD_TWICE = [
    ({"positive": "a"}, ("--positive", "a"), "{} is for two classes", "positive='a'", "--positive a"),
    ({"ignore": ["x"]}, ("--ignore", "x"), "name the kind of a useful one with {}.",
     "kinds={'COLUMN': 'category'}", "--kind COLUMN=category"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "typed", "message", "in_python", "on_command_line"), TOLD_TWICE)
def test_options_are_named_as_the_user_writes_them(
    tmp_path, capsys, options, typed, message, in_python, on_command_line
):
    with pytest.raises(ValueError, match=re.escape(message.format(in_python))):
        labelcut.audit(THREE, label="y", **options)
    THREE.to_csv(tmp_path / "three.csv", index=False)
    assert run("audit", tmp_path / "three.csv", "--label", "y", *typed, "--out", tmp_path / "out") in (2, 3)
    assert message.format(on_command_line) in capsys.readouterr().err


def test_how_to_read_a_file_is_told_as_the_user_writes_it(tmp_path, capsys):
    file = tmp_path / "t.csv"
    file.write_bytes(b"x,y\n1,a\n2,b\n")
    with pytest.raises(BadChoice, match=r"^delimiter=';;' has 2 characters; it has to be one\.$"):
        find_source(file, delimiter=";;")
    assert run("audit", file, "--label", "y", "--delimiter", ";;", "--out", tmp_path / "out") == 2
    assert capsys.readouterr().err == "labelcut: --delimiter ';;' has 2 characters; it has to be one.\n"


NO_DECISIONS = "key,id,row,given_label,decision,label,label_column,id_column\n"


def test_apply_never_writes_over_the_table_or_the_decisions(tmp_path, capsys):
    write_shop(tmp_path / "shop.csv", n_rows=40, n_wrong=1)
    before = (tmp_path / "shop.csv").read_bytes()
    (tmp_path / "d.csv").write_text(NO_DECISIONS)
    (tmp_path / "link.csv").symlink_to("d.csv")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "shop.csv")
    args = ("apply", tmp_path / "shop.csv", tmp_path / "d.csv", "--label", "churned")
    table, decisions = "is the table itself", "is the decisions file"
    refused = {"shop.csv": table, "hard.csv": table, "d.csv": decisions, "link.csv": decisions}
    for name, message in refused.items():
        assert run(*args, "--out", tmp_path / name) == 2
        assert message in capsys.readouterr().err
    assert run(*args, "--out", tmp_path / "new.csv") == 0
    assert (tmp_path / "new.csv").read_bytes() == before == (tmp_path / "shop.csv").read_bytes()
    assert (tmp_path / "d.csv").read_text() == NO_DECISIONS


@pytest.mark.parametrize("name", ["table.csv", "issues.csv", "report.html", "summary.json", "tasks.json"])
def test_audit_never_writes_over_the_table_or_the_decisions(tmp_path, capsys, monkeypatch, name):
    monkeypatch.setattr("labelcut.auditing.audit.audit_table", None)  # Refused before any work is done.
    write_shop(tmp_path / "shop.csv", n_rows=40, n_wrong=1)
    (tmp_path / "d.csv").write_text(NO_DECISIONS)
    out = tmp_path / "out"
    out.mkdir()
    args = ("--label", "churned", "--out", out, "--format", "label-studio")
    (out / name).symlink_to("../shop.csv")
    assert run("audit", tmp_path / "shop.csv", *args) == 2
    assert f"{out / name}: is the table itself" in capsys.readouterr().err
    (out / name).unlink()
    (out / name).hardlink_to(tmp_path / "d.csv")
    assert run("audit", tmp_path / "shop.csv", *args, "--decisions", tmp_path / "d.csv") == 2
    assert f"{out / name}: is the decisions file" in capsys.readouterr().err
    assert [file.name for file in out.iterdir()] == [name]


def test_a_table_on_standard_input_is_not_written_over_either(tmp_path):
    write_shop(tmp_path / "table.csv", n_rows=40, n_wrong=1)
    before = (tmp_path / "table.csv").read_bytes()
    code = "from labelcut.cli import main; main()"
    args = [sys.executable, "-c", code, "audit", "-", "--label", "churned", "--out", tmp_path]
    with open(tmp_path / "table.csv", "rb") as table:
        done = subprocess.run(args, stdin=table, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "table.csv: is the table itself" in done.stderr
    assert (tmp_path / "table.csv").read_bytes() == before


def test_saving_from_python_spares_the_decisions_too(tmp_path):
    frame, _ = shop(n_rows=60, n_wrong=4)
    (tmp_path / "issues.csv").write_text(NO_DECISIONS)
    found = labelcut.audit(frame, label="churned", decisions=tmp_path / "issues.csv", n_jobs=1)
    with pytest.raises(ValueError, match="is the decisions file"):
        found.save(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["issues.csv"]


def test_the_demo_finds_most_of_its_planted_errors(tmp_path, capsys):
    assert run("demo", "--out", tmp_path / "demo", "--n-jobs", 1) == 0
    shown = capsys.readouterr().out
    found, first = map(int, re.search(r"(\d+) of the first (\d+) suspects are among them", shown).groups())
    assert found >= 0.8 * first
    left = int(re.search(r"with (\d+) wrong labels left of 40", shown)[1])
    assert left == 40 - found
    assert {"report.html", "cleaned.csv", "decisions.csv"} <= {
        file.name for file in (tmp_path / "demo").iterdir()
    }


def test_help_is_quick_and_loads_nothing_heavy():
    code = "import sys; from labelcut.cli import main; main(['--help']); "
    code += "print([name for name in ('pandas', 'sklearn', 'skrub', 'torch') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip().endswith("[]"), done.stdout + done.stderr
    assert "audit" in done.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["audit", "gone.csv", "--label", "y"], "gone.csv: cannot be read"),
        (["audit", "t.csv", "--label", "y", "--decisions", "gone.csv"], "gone.csv: cannot be read"),
        (["audit", "t.csv", "--label", "y", "--out", "t.csv/x"], "t.csv: is a file"),
        (["apply", "gone.csv", "t.csv", "--out", "x.csv"], "gone.csv: cannot be read"),
        (["apply", "t.csv", "gone.csv", "--out", "x.csv"], "gone.csv: cannot be read"),
        (["apply", "t.csv", "d.csv", "--out", "d.csv"], "is the decisions file"),
    ],
)
def test_what_a_look_can_tell_is_told_before_anything_heavy_is_loaded(tmp_path, args, message):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n")
    (tmp_path / "d.csv").write_text(NO_DECISIONS)
    code = f"""
import sys
from labelcut.cli import main
try:
    main({args!r})
finally:
    print([name for name in ("numpy", "pandas", "sklearn", "skrub") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout.strip() == "[]"
