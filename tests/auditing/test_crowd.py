"""Several annotators through the whole tool: audit, decisions, the consensus column, and look again."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pages import facts_of, saved
from tables import run, shop

import labelcut
from labelcut.auditing.consensus import choose_consensus, read_consensus
from labelcut.errors import BadChoice
from labelcut.table.annotators import CONSENSUS
from labelcut.table.correcting import write_column
from labelcut.table.decisions import FIELDS, match, read_decisions
from labelcut.table.source import find_source
from labelcut.table.table import make_table, read_table

OVERLAPS = (Path(__file__).parent / "overlaps.js").read_text(encoding="utf-8")
ACCURACY = {"ann": 0.95, "bob": 0.8, "cy": 0.65, "eve": 0.1}
LABELS = [word for name in ACCURACY for word in ("--label", name)]


def votes(n_rows=160, seed=5):
    """Return customers with what four annotators say, one of whom contradicts; and the right labels."""
    frame, right = shop(n_rows, n_wrong=1)
    frame = frame.drop(columns=["churned", "clerk"])
    rng = np.random.default_rng(seed)
    for name, accuracy in ACCURACY.items():
        says = np.where(rng.random(n_rows) < accuracy, right, np.where(right == "no", "yes", "no"))
        frame[name] = pd.Series(says, dtype=object).mask(rng.random(n_rows) < 0.3)
    frame.loc[:2, list(ACCURACY)] = None
    return frame, right


def lines_of(frame):
    """Return a line per label, shuffled, with a column that tells of the label."""
    kept = [name for name in frame.columns if name not in ACCURACY]
    long = frame.melt(kept, var_name="who", value_name="says").dropna(subset="says")
    return long.assign(seconds=np.arange(len(long))).sample(frac=1, random_state=0)


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wide")
    frame, right = votes()
    frame.to_csv(folder / "votes.csv", index=False)
    args = (*LABELS, "--id", "customer", "--n-jobs", 1, "--quiet", "--out", folder / "out")
    assert run("audit", folder / "votes.csv", *args) == 0
    return folder, frame, right


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    folder = tmp_path_factory.mktemp("long")
    frame, right = votes()
    lines_of(frame).to_csv(folder / "lines.csv", index=False)
    args = ("--label", "says", "--annotator", "who", "--id", "customer", "--n-jobs", 1, "--quiet")
    assert run("audit", folder / "lines.csv", *args, "--out", folder / "out") == 0
    return folder, lines_of(frame), dict(zip(frame["customer"], right, strict=True))


def write_decisions(folder, issues, verdicts=("flip", "keep", "unsure")):
    """Decide about the first issues in turn; returns the label of each decided id, empty for unsure."""
    rows, decided = [], {}
    for verdict, issue in zip(verdicts, issues.to_dict("records"), strict=False):
        label = {"flip": issue["predicted_label"], "keep": issue["given_label"], "unsure": ""}[verdict]
        cells = [issue["key"], issue["id"], issue["row"], issue["given_label"], verdict, label]
        rows.append([*cells, CONSENSUS, "customer"])
        decided[issue["id"]] = label
    pd.DataFrame(rows, columns=FIELDS).to_csv(folder / "decisions.csv", index=False)
    return decided


def test_an_audit_of_annotators_writes_consensus_quality_disagreements_and_whom_to_ask(wide):
    folder, frame, right = wide
    table = pd.read_csv(folder / "out" / "table.csv", dtype=str)
    assert (table[CONSENSUS] == right).mean() > 0.93
    assert table[list(frame.columns[:4])].equals(pd.read_csv(folder / "votes.csv", dtype=str).iloc[:, :4])
    people = pd.read_csv(folder / "out" / "annotators.csv")
    assert people["annotator"].tolist() == list(ACCURACY)
    assert people["n_labels"].tolist() == frame[list(ACCURACY)].notna().sum().tolist()
    assert people["quality"].is_monotonic_decreasing
    assert (people["standard_error"] > 0).all()
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert summary["estimate"]["contradicted"] == 0, "what the consensus contradicts is a suspect"
    said = summary["annotators"]
    assert said["form"] == "wide"
    assert said["labels"] == list(ACCURACY)
    assert said["quality"][-1]["is_below_chance"]
    assert said["n_disagree"] == int((frame[list(ACCURACY)].nunique(axis=1) > 1).sum())
    assert len(said["disagreements"]) == min(50, said["n_disagree"])
    assert {"id", "bits", "ask", "said"} <= set(said["ask_next"][0])
    issues = pd.read_csv(folder / "out" / "issues.csv")
    assert issues["reason"].str.contains("say").any()


def test_the_card_knows_who_said_what(wide):
    folder, frame, _ = wide
    facts = facts_of(folder / "out" / "report.html")
    names, classes = facts["annotators"]["names"], facts["classes"]
    by_id = frame.set_index("customer")
    for name, said in zip(facts["suspects"]["id"], facts["suspects"]["said"], strict=True):
        row = by_id.loc[name, list(ACCURACY)].dropna()
        assert {names[j]: classes[code] for j, code, _ in said} == row.to_dict()


def test_the_long_form_says_the_same_of_every_id(wide, long):
    folder, lines, right = long
    table = pd.read_csv(folder / "out" / "table.csv", dtype=str)
    assert len(table) == len(lines)
    by_id = table.groupby("customer")[CONSENSUS]
    assert (by_id.nunique() == 1).all()
    assert np.mean([right[name] == label for name, label in by_id.first().items()]) > 0.93
    long_people = pd.read_csv(folder / "out" / "annotators.csv")
    wide_people = pd.read_csv(wide[0] / "out" / "annotators.csv")
    assert long_people["n_labels"].tolist() == wide_people["n_labels"].tolist()
    assert np.abs(long_people["quality"] - wide_people["quality"]).max() < 0.03
    notes = json.loads((folder / "out" / "summary.json").read_text())["source"]["notes"]
    assert any("'seconds'" in note for note in notes)


@pytest.mark.parametrize("form", ["wide", "long"])
def test_a_model_and_an_embedding_are_heard_beside_annotators(form, request, tmp_path):
    folder = request.getfixturevalue(form)[0]
    frame, truth = votes()
    sure = np.where(truth == "yes", 0.9, 0.1)
    vectors = np.column_stack([np.where(truth == "yes", 1.0, -1.0), np.zeros(len(truth))])
    for name, values in (("net", sure), ("vectors", vectors)):
        beside = pd.DataFrame(values, columns=["yes"] if name == "net" else ["v0", "v1"])
        beside.insert(0, "customer", frame["customer"])
        beside.sample(frac=1, random_state=1).to_csv(tmp_path / f"{name}.csv", index=False)
    said = LABELS if form == "wide" else ["--label", "says", "--annotator", "who"]
    args = (*said, "--id", "customer", "--n-jobs", 1, "--quiet", "--out", tmp_path / "out")
    args += ("--opinion", f"net={tmp_path / 'net.csv'}", "--embedding", tmp_path / "vectors.csv")
    assert run("audit", next(folder.glob("*.csv")), *args) == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert {expert["name"]: expert["share"] for expert in summary["model"]["experts"]}["net"] > 0.1
    heard = pd.read_csv(tmp_path / "out" / "table.csv").set_index("customer")[CONSENSUS]
    assert (heard == pd.Series(truth, index=frame["customer"])[heard.index]).all()


@pytest.mark.parametrize("form", ["wide", "long"])
def test_apply_writes_decisions_then_the_consensus_and_leaves_every_other_byte(form, request, capsys):
    folder = request.getfixturevalue(form)[0]
    name = "votes.csv" if form == "wide" else "lines.csv"
    issues = pd.read_csv(folder / "out" / "issues.csv", dtype=str, keep_default_na=False)
    decided = write_decisions(folder, issues)
    args = ("--audit", folder / "out", "--consensus", "truth", "--out", folder / "final.csv")
    assert run("apply", folder / name, folder / "decisions.csv", *args) == 0
    assert "2 decided labels" in capsys.readouterr().out
    before = (folder / name).read_bytes().splitlines()
    after = (folder / "final.csv").read_bytes().splitlines()
    assert [line.rpartition(b",")[0] for line in after] == before
    final = pd.read_csv(folder / "final.csv", dtype=str, keep_default_na=False)
    audited = pd.read_csv(folder / "out" / "table.csv", dtype=str, keep_default_na=False)
    wanted = [decided.get(i, label) for i, label in zip(final["customer"], audited[CONSENSUS], strict=True)]
    assert final["truth"].tolist() == wanted
    # The column is there now: a second time nothing changes, and it is not learned from.
    again = ("--audit", folder / "out", "--consensus", "truth", "--out", folder / "again.csv")
    assert run("apply", folder / "final.csv", folder / "decisions.csv", *again) == 0
    assert (folder / "again.csv").read_bytes() == (folder / "final.csv").read_bytes()


def test_decided_labels_are_certain_in_the_next_audit_whatever_was_said_since(wide):
    folder, frame, _ = wide
    issues = pd.read_csv(folder / "out" / "issues.csv", dtype=str)
    decided = write_decisions(folder, issues, ("keep", "keep"))
    more = frame.assign(dee=np.where(frame["customer"].isin(list(decided)), frame["ann"], None))
    labels = [*ACCURACY, "dee"]
    found = labelcut.audit(more, label=labels, id="customer", decisions=folder / "decisions.csv", n_jobs=1)
    rows = found.rows.set_axis(frame["customer"])
    assert (rows.loc[list(decided), "status"] == "reviewed").all()
    assert found.consensus.set_axis(frame["customer"]).loc[list(decided), "consensus"].to_dict() == decided
    assert found.summary["counts"]["reviewed"] == 2
    assert found.annotators.index.tolist() == labels
    assert len(found.ask_next(5)) == 5
    final = found.apply(folder / "decisions.csv").set_index("customer")
    assert final.loc[list(decided), CONSENSUS].to_dict() == decided
    assert final.drop(columns=CONSENSUS).equals(more.set_index("customer"))
    with pytest.raises(BadChoice, match="consensus of several annotators"):
        labelcut.apply(more, folder / "decisions.csv")


def test_what_is_not_sure_enough_or_left_unsure_stays_empty(wide):
    folder, frame, _ = wide
    table = read_table(folder / "votes.csv", label=list(ACCURACY), id="customer")
    issues = pd.read_csv(folder / "out" / "issues.csv", dtype=str)
    write_decisions(folder, issues, ("unsure",))
    matched = match(read_decisions(folder / "decisions.csv"), table)
    found = read_consensus(folder / "out", table)
    chosen = choose_consensus(table, matched, found, 0.9)
    empty = {row for row, label in enumerate(chosen.labels) if not label}
    assert empty == set(np.flatnonzero(found.probability < 0.9)) | set(matched.unsure)
    assert chosen.n_empty == len(empty)
    assert chosen.n_agreed == len(frame) - len(empty)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("decisions.csv",), "stay as they are; name a column .* --consensus COLUMN"),
        (("--consensus", "truth"), "name their columns (--label a --label b)"),
        (("--consensus", "ann", *LABELS), "--consensus ann: this column holds what the annotators said"),
        (("--consensus", "t", "--fill-unlabeled"), "ask for one at a time"),
        (("--consensus", "t", "--audit", "nowhere"), "summary.json: cannot be read"),
        (("decisions.csv", *LABELS), "name a column"),
    ],
)
def test_apply_refuses_what_it_cannot_mean(wide, args, message, capsys):
    folder = wide[0]
    write_decisions(folder, pd.read_csv(folder / "out" / "issues.csv", dtype=str))
    args = [str(folder / arg) if arg in ("decisions.csv", "nowhere") else arg for arg in args]
    assert run("apply", folder / "votes.csv", *args, "--out", folder / "no.csv") == 2
    told = capsys.readouterr().err
    assert all(part in told for part in message.split(" .* "))
    assert not (folder / "no.csv").exists()


def test_one_label_column_has_no_annotators(tmp_path):
    frame, _ = shop()
    found = labelcut.audit(frame, label=["churned"], id="customer", n_jobs=1)
    assert found.summary["annotators"] is None
    with pytest.raises(AttributeError, match="for several annotators"):
        _ = found.consensus
    assert not any(path.name == "annotators.csv" for path in found.save(tmp_path))


def test_the_terminal_tells_who_is_right_how_often(wide, capsys):
    folder, _, _ = wide
    args = (*LABELS, "--id", "customer", "--n-jobs", 1, "--top", 1, "--out", folder / "two")
    assert run("audit", folder / "votes.csv", *args) == 0
    told = capsys.readouterr().out
    assert "right labels: ann 9" in told
    assert "ask next: " in told
    assert "agreed labels look wrong" in told


def test_a_consensus_is_written_in_every_format(wide, tmp_path):
    folder, frame, _ = wide
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "v.parquet")
    frame.to_excel(tmp_path / "v.xlsx", index=False)
    table = make_table(frame, label=list(ACCURACY), id="customer")
    for suffix, read in (("parquet", pd.read_parquet), ("xlsx", pd.read_excel)):
        path, out = tmp_path / f"v.{suffix}", tmp_path / f"o.{suffix}"
        labels = ["a", "", "+"] + ["b"] * (len(table.codes) - 3)
        assert write_column(find_source(path), out, "truth", labels) == len(labels) - 1
        found = read(out)
        assert found["truth"].fillna("").tolist() == labels
        pd.testing.assert_frame_equal(found.drop(columns="truth"), read(path))


def test_the_page_shows_annotators_and_its_decisions_are_applied(wide, open_page, tmp_path):
    folder, frame, _ = wide
    facts = facts_of(folder / "out" / "report.html")
    page = open_page(folder / "out" / "report.html", viewport={"width": 1440, "height": 900})
    for width in (1440, 1024, 820, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.click("#tab-annotators")
        assert page.evaluate(OVERLAPS) == [], width
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), width
    assert page.locator("#annotator-list .annotator").count() == len(ACCURACY)
    assert page.locator("#annotator-list .below .mark-below").inner_text() == "worse than chance"
    assert page.locator("#annotator-list .below bdi").inner_text() == "eve"
    assert "ann" in page.locator("#annotator-list .annotator").first.inner_text()
    # The least sure row is open; from the list it is opened, seen with who said what, and decided.
    page.set_viewport_size({"width": 1280, "height": 900})
    page.locator("#disagree-list button.name").first.click()
    name = page.locator("#detail h3").inner_text()
    said = frame.set_index("customer").loc[name, list(ACCURACY)].dropna()
    assert page.locator("#detail .chip").count() == len(said)
    page.keyboard.press("f")
    filled = facts["annotators"]["disagreements"][0]
    made = saved(page, tmp_path)
    assert made[["id", "label_column"]].to_numpy().tolist() == [[name, CONSENSUS]]
    assert made["label"].tolist() == [facts["classes"][filled["consensus"]]]
    args = ("--audit", folder / "out", "--consensus", "truth", "--out", tmp_path / "final.csv", "--quiet")
    assert run("apply", folder / "votes.csv", tmp_path / "decisions.csv", *args) == 0
    final = pd.read_csv(tmp_path / "final.csv", dtype=str).set_index("customer")
    assert final.loc[name, "truth"] == made["label"][0]
    page.click("#tab-columns")
    command = page.locator("#next code").first.inner_text()
    assert command.startswith("labelcut apply votes.csv decisions.csv --label ann --label bob")
    assert "--consensus consensus" in command
