"""Decisions out of Label Studio: its export in both forms, several annotators, and what is none."""

import json

import pandas as pd
import pytest
from tables import AUDIT, run, write_shop

import labelcut
from labelcut.errors import BadTable
from labelcut.table.decisions import read_decisions
from labelcut.table.studio import is_export, task_data


def annotation(*choices, who=1, at="2026-01-02T10:00:00Z", **more):
    """Return an annotation as Label Studio writes it."""
    result = [
        {
            "id": "x",
            "type": "choices",
            "from_name": "label",
            "to_name": "row",
            "value": {"choices": [choice]},
            "origin": "manual",
        }
        for choice in choices
    ]
    base = {"id": 7, "completed_by": who, "result": result, "was_cancelled": False, "ground_truth": False}
    return base | {"created_at": at, "updated_at": at, "lead_time": 3.2} | more


def task(*annotations, key="k1", given="no", **data):
    """Return a task about a row."""
    about = task_data(key=key, id="", row=3, given_label=given, label_column="churned", id_column="")
    return {"id": 1, "data": {"visits": "3"} | about | data, "annotations": list(annotations), "meta": {}}


def shortened(whole):
    """Return a task as JSON-MIN has it, one entry per annotation."""
    entries = []
    for one in whole["annotations"]:
        chosen = [choice for part in one["result"] for choice in part["value"]["choices"]]
        entry = whole["data"] | {"id": whole["id"], "annotator": 1, "annotation_id": one["id"]}
        if chosen:
            entry["label"] = chosen[0] if len(chosen) == 1 else {"choices": chosen}
        entries.append(entry | {"updated_at": one["updated_at"], "lead_time": 1.0})
    return entries


def decided(tmp_path, tasks):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    return [(one.key, one.verdict, one.label, one.is_older) for one in read_decisions(path)]


def test_a_choice_keeps_flips_or_leaves_unsure(tmp_path):
    tasks = [
        task(annotation("no"), key="a"),
        task(annotation("yes"), key="b"),
        task(annotation(), key="c"),
        task(annotation("yes", was_cancelled=True), key="d"),
        task(key="e"),
    ]
    wanted = [("a", "keep", "no", False), ("b", "flip", "yes", False), ("c", "unsure", "", False)]
    assert decided(tmp_path, tasks) == wanted
    short = [entry for one in tasks if one["annotations"] for entry in shortened(one)][:3]
    assert decided(tmp_path, short) == wanted


def test_of_several_annotators_the_latest_decides_and_others_are_told(tmp_path):
    early, late = annotation("no", at="2026-01-02T10:00:00Z"), annotation("yes", at="2026-01-03T09:00:00Z")
    for tasks in ([task(late, early)], [task(early, late)], shortened(task(early, late))):
        assert decided(tmp_path, tasks) == [("k1", "flip", "yes", False), ("k1", "keep", "no", True)]
    assert decided(tmp_path, [task(early, annotation("no", who=2))]) == [("k1", "keep", "no", False)]


def test_of_several_questions_ours_is_read(tmp_path):
    both = annotation("yes")
    other = {"type": "choices", "from_name": "mood", "to_name": "row", "value": {"choices": ["glad"]}}
    both["result"].insert(0, other)
    assert decided(tmp_path, [task(both)]) == [("k1", "flip", "yes", False)]
    both["result"][1]["from_name"] = "kind"
    with pytest.raises(BadTable, match="the questions 'kind', 'mood'; call the one about the label 'label'"):
        decided(tmp_path, [task(both)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[{", r"export.json: is not JSON"),
        ("[1, 2]", "holds no list of tasks; export the project as JSON"),
        ('{"a": 1}', "task 1 has neither annotations nor a choice"),
        ('[{"annotations": 3}]', "task 1 has no list of annotations"),
        ('[{"annotations": [{"result": 3}]}]', "task 1 has an annotation without a list of results"),
        (
            '[{"annotations": [{"result": [{"type": "choices", "value": 1}]}]}]',
            "task 1 has a result without value.choices",
        ),
        (json.dumps([task(annotation("a", "b"))]), "task 1 has the choices 'a', 'b'; a row has one label"),
        (
            json.dumps([{"data": {"x": 1}, "annotations": [annotation("a")]}]),
            "task 1 does not say which row it is about .*import the tasks.json",
        ),
    ],
)
def test_what_is_no_export_is_refused_in_one_line(tmp_path, text, message):
    (tmp_path / "export.json").write_text(text)
    with pytest.raises(BadTable, match=message) as refused:
        read_decisions(tmp_path / "export.json")
    assert "\n" not in str(refused.value)


def test_a_csv_is_no_export():
    assert not is_export("key,id\n[1,2")
    assert is_export("\n [")


def answered(tasks, choose):
    """Return the tasks as Label Studio exports them once somebody has chosen."""
    done = []
    for number, one in enumerate(tasks, start=1):
        result = [dict(one["predictions"][0]["result"][0], value={"choices": [choose(one)]}, id=f"r{number}")]
        made = annotation() | {"id": number, "result": result}
        done.append({"id": number, **one, "annotations": [made], "total_annotations": 1, "project": 1})
    return done


def test_the_whole_loop_changes_exactly_the_cells_that_were_decided(tmp_path, capsys):
    write_shop(tmp_path / "shop.csv")
    out = tmp_path / "out"
    assert (
        run("audit", tmp_path / "shop.csv", *AUDIT, "--out", out, "--format", "label-studio", "--quiet") == 0
    )
    tasks = json.loads((out / "tasks.json").read_text())
    assert len(tasks) >= 4
    other = {"yes": "no", "no": "yes"}
    chosen = answered(tasks[:4], lambda one: other[one["data"]["churned"]])
    chosen[3]["annotations"].append(annotation("yes", "no", was_cancelled=True))
    chosen[2]["annotations"][0]["was_cancelled"] = True
    (tmp_path / "export.json").write_text(json.dumps(chosen))
    args = ("--out", tmp_path / "cleaned.csv")
    assert run("apply", tmp_path / "shop.csv", tmp_path / "export.json", *args) == 0
    assert "3 labels changed" in capsys.readouterr().out
    before = pd.read_csv(tmp_path / "shop.csv", dtype=str)
    after = pd.read_csv(tmp_path / "cleaned.csv", dtype=str)
    flipped = {tasks[i]["data"]["customer"] for i in (0, 1, 3)}
    wanted = before["churned"].where(~before["customer"].isin(flipped), before["churned"].map(other))
    pd.testing.assert_frame_equal(after, before.assign(churned=wanted))
    plain, cleaned = ((tmp_path / name).read_bytes().splitlines() for name in ("shop.csv", "cleaned.csv"))
    assert sum(one != two for one, two in zip(plain, cleaned, strict=True)) == 3
    found = labelcut.audit(
        tmp_path / "shop.csv", label="churned", id="customer", decisions=tmp_path / "export.json", n_jobs=1
    )
    assert found.summary["counts"]["reviewed"] == 3


def test_a_column_called_label_leaves_the_choice_its_own_name(tmp_path):
    frame, _ = write_shop(tmp_path / "shop.csv")
    audit = labelcut.audit(frame.rename(columns={"churned": "label"}), label="label", id="customer", n_jobs=1)
    audit.save(tmp_path / "out", format="label-studio")
    tasks = json.loads((tmp_path / "out" / "tasks.json").read_text())
    assert tasks[0]["predictions"][0]["result"][0]["from_name"] == "labelcut_label"
    entry = tasks[0]["data"] | {"id": 1, "annotation_id": 1, "labelcut_label": "yes", "updated_at": "2026"}
    (tmp_path / "short.json").write_text(json.dumps([entry]))
    (made,) = read_decisions(tmp_path / "short.json")
    assert (made.label, made.given_label) == ("yes", entry["label"])
