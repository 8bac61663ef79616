"""Sets of files onto the disk: the old or the new one, whole, whatever happens and whoever else writes."""

import errno
import json
import os
import subprocess
import sys
import threading

import pytest
import saves
from saves import NAMES, contents, save
from tables import shop

import labelcut
from labelcut.errors import BadChoice
from labelcut.table.saving import refuse_inputs, staged_folder, whole_file


def test_a_set_appears_as_ordinary_files_beside_what_else_is_there(tmp_path):
    for text in ("one", "two"):
        save(tmp_path / "out", text)
        (tmp_path / "out" / "decisions.csv").write_text("mine")
        (tmp_path / "out" / "notes").mkdir(exist_ok=True)
    assert not [file for file in (tmp_path / "out").iterdir() if file.is_symlink()]
    (tmp_path / "out" / "notes").rmdir()
    assert contents(tmp_path / "out") == dict.fromkeys(NAMES, "two") | {"decisions.csv": "mine"}


def test_a_folder_in_the_way_is_named_and_the_earlier_set_stays(tmp_path):
    save(tmp_path, "old")
    (tmp_path / "report.html").unlink()
    (tmp_path / "report.html").mkdir()
    with pytest.raises(BadChoice, match=r"report.html: is a folder where a file has to be written; move it"):
        save(tmp_path, "new")
    (tmp_path / "report.html").rmdir()
    assert contents(tmp_path) == dict.fromkeys({*NAMES} - {"report.html"}, "old")


@pytest.mark.parametrize("has_links", [True, False])
def test_a_rename_that_fails_half_way_is_undone(tmp_path, monkeypatch, has_links):
    save(tmp_path, "old", NAMES[:3])
    rename = os.replace

    def fail_at_the_table(source, target):
        if target == tmp_path / "table.csv":
            raise OSError(errno.EIO, "input/output error")
        rename(source, target)

    def no_links(*_):
        raise OSError(errno.EPERM, "operation not permitted")

    monkeypatch.setattr(os, "replace", fail_at_the_table)
    if not has_links:
        monkeypatch.setattr(os, "symlink", no_links)
    with pytest.raises(OSError, match="input/output error"):
        save(tmp_path, "new")
    assert contents(tmp_path) == dict.fromkeys(NAMES[:3], "old")
    monkeypatch.setattr(os, "replace", rename)
    save(tmp_path, "new")
    assert contents(tmp_path) == dict.fromkeys(NAMES, "new")


def test_a_file_system_without_hard_links_or_locks_is_served_too(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOTSUP, "operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr("labelcut.table.saving.fcntl.flock", refuse)
    save(tmp_path, "old")
    abandoned = tmp_path / (".labelcut-" + 32 * "0")
    abandoned.mkdir()
    save(tmp_path, "new")
    assert abandoned.is_dir()  # Nothing proves that it is abandoned.
    abandoned.rmdir()
    assert contents(tmp_path) == dict.fromkeys(NAMES, "new")


def test_a_link_in_the_way_is_replaced_and_its_target_kept(tmp_path):
    (tmp_path / "elsewhere.html").write_text("kept")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.html").symlink_to("../elsewhere.html")
    save(tmp_path / "out", "new")
    assert contents(tmp_path / "out") == dict.fromkeys(NAMES, "new")
    assert (tmp_path / "elsewhere.html").read_text() == "kept"


def seen_after_kills(folder, mode):
    args = [sys.executable, saves.__file__, str(folder), str(mode)]
    done = subprocess.run(args, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_whole(found):
    return set(found) == set(NAMES) and len(set(found.values())) == 1 and all(found.values())


@pytest.mark.parametrize(("mode", "before"), [("steps", "old"), ("first-steps", None)])
def test_a_kill_at_any_step_leaves_the_old_set_or_the_new_one(tmp_path, mode, before):
    lines = seen_after_kills(tmp_path / "out", mode)
    assert len(lines) > 20
    for line in lines:
        assert is_whole(line["set"]) or (line["set"] == {} and before is None), line
        assert line["mine"] == "mine"
        assert line["next"] == dict.fromkeys(NAMES, "next") | {"decisions.csv": "mine"}
    assert {line["set"].get("report.html") for line in lines} == {before, "new"}


@pytest.mark.parametrize("n_kills", [60, pytest.param(300, marks=pytest.mark.slow)])
def test_kills_in_a_loop_of_saves_leave_no_mixed_set(tmp_path, n_kills):
    lines = seen_after_kills(tmp_path / "out", n_kills)
    assert len(lines) == n_kills
    # The first kill may come before any set was there.
    assert [line for line in lines if line["set"] and not is_whole(line["set"])] == []
    assert len({line["set"].get("report.html") for line in lines}) > n_kills / 2
    assert {line["mine"] for line in lines} == {"mine"}


@pytest.fixture(scope="module")
def audits():
    return [
        labelcut.audit(shop(n_rows=60, n_wrong=4, seed=seed)[0], label="churned", n_jobs=1) for seed in (0, 1)
    ]


def test_four_threads_save_into_one_folder_and_one_of_them_wins_wholly(tmp_path, audits):
    errors = []
    for k, audit in enumerate(audits):
        audit.save(tmp_path / str(k))

    def save_often(k):
        for _ in range(10):
            try:
                audits[k % 2].save(tmp_path / "out")
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=save_often, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert contents(tmp_path / "out") in [contents(tmp_path / "0"), contents(tmp_path / "1")]


def test_processes_with_one_process_id_do_not_touch_each_others_files(tmp_path):
    # As two containers on one volume: each is process 1 of its own world.
    code = (
        "import os, sys; from pathlib import Path; os.getpid = lambda: 1; sys.path.insert(0, sys.argv[1]); "
        "from saves import save; [save(Path(sys.argv[2]), sys.argv[3]) for _ in range(40)]"
    )
    args = [sys.executable, "-c", code, os.path.dirname(__file__), str(tmp_path / "out")]
    started = [subprocess.Popen([*args, text], stderr=subprocess.PIPE, text=True) for text in ("a", "b", "c")]
    assert [process.communicate()[1] for process in started] == ["", "", ""]
    assert is_whole(contents(tmp_path / "out"))


def test_nobody_removes_the_stage_of_a_run_that_is_still_writing(tmp_path):
    second = threading.Thread(target=save, args=(tmp_path, "second"))
    with staged_folder(tmp_path, inputs={}) as stage:
        second.start()
        second.join(0.3)
        assert second.is_alive()
        for name in NAMES:
            (stage / name).write_text("first")
    second.join()
    assert contents(tmp_path) == dict.fromkeys(NAMES, "second")


def same_file(tmp_path, how):
    """Return another name for the file ``read.csv``."""
    read = tmp_path / "read.csv"
    if how == "symbolic link":
        (tmp_path / "other.csv").symlink_to("read.csv")
    elif how == "hard link":
        os.link(read, tmp_path / "other.csv")
    elif how == "another spelling":
        (tmp_path / "sub").mkdir()
        return tmp_path / "sub" / ".." / "read.csv"
    return read if how == "the same name" else tmp_path / "other.csv"


@pytest.mark.parametrize("how", ["the same name", "symbolic link", "hard link", "another spelling"])
def test_what_was_read_is_not_written_over_by_any_of_its_names(tmp_path, how):
    (tmp_path / "read.csv").write_text("read")
    place, inputs = same_file(tmp_path, how), {"the table itself": tmp_path / "read.csv"}
    with pytest.raises(BadChoice, match="is the table itself, and nothing that was read is written over"):
        refuse_inputs([place], inputs)
    with pytest.raises(BadChoice, match="is the table itself"), whole_file(place, inputs=inputs) as file:
        file.write_text("new")
    assert (tmp_path / "read.csv").read_text() == "read"
    refuse_inputs([tmp_path / "new.csv"], inputs)
