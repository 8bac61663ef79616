"""Hostile tables and hostile surroundings: a clear error or a right page, nothing run, nothing lost."""

import csv
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from tables import AUDIT, run, shop, write_shop


@pytest.fixture
def audit(tmp_path, capsys):
    """Audit a frame or bytes; gives the output folder and the messages, and guards the input."""

    def audit(content, *options, label="churned", code=0):
        file, out = tmp_path / "table.csv", tmp_path / "out"
        if isinstance(content, pd.DataFrame):
            content = content.to_csv(index=False).encode()
        file.write_bytes(content)
        done = run("audit", file, "--label", label, "--n-jobs", 1, "--out", out, *options)
        shown = capsys.readouterr()
        assert done == code, shown.err
        assert file.read_bytes() == content
        if code:
            assert not out.exists() or list(out.iterdir()) == []
            assert shown.err.startswith("labelcut: ")
            assert shown.err.count("\n") == 1
        return out, shown

    return audit


def page_facts(out):
    page = (out / "report.html").read_text(encoding="utf-8")
    return page, json.loads(
        re.search(r'<script type="application/json" id="facts">(.*?)</script>', page, re.S)[1]
    )


HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "<!--<script>",
]


def with_hostile_cells():
    """The customers with the hostile texts in cells, in labels and in column names."""
    frame, _ = shop(n_rows=100, n_wrong=6)
    frame["note"] = [HOSTILE[i % 4] for i in range(100)]
    frame["churned"] = frame["churned"].map({"yes": "<b>yes</b></script>", "no": "javascript:no"})
    return frame.rename(columns={"visits": "<script>alert('column')</script>"})


def test_markup_in_cells_labels_and_names_stays_text(audit):
    out, _ = audit(with_hostile_cells(), "--id", "note", "--group", "clerk")
    page, facts = page_facts(out)
    assert len(facts["suspects"]["row"]) > 0
    assert set(facts["suspects"]["id"]) <= set(HOSTILE)
    for text in (*HOSTILE, "<b>yes</b>", "alert('column')</script>"):
        assert "<" not in text or text not in page
    assert page.count("<script") == 2
    assert page.count("</script") == 2


def test_a_cell_of_ten_megabytes_is_cut_in_the_page_only(audit):
    frame, _ = shop(n_rows=60, n_wrong=4)
    frame["note"] = "short"
    frame.loc[frame.index[3], "note"] = "x" * 10_000_000
    out, _ = audit(frame, "--quiet")
    assert (out / "report.html").stat().st_size < 1_000_000
    assert (out / "table.csv").stat().st_size > 10_000_000


def test_control_characters_and_direction_marks_survive(audit):
    frame, _ = shop(n_rows=60, n_wrong=4)
    frame["note"] = [f"a\u202eb\x07c\x1b[31m{i % 3}" for i in range(60)]
    out, shown = audit(frame, "--id", "note")
    assert "\x1b[31m" not in shown.out
    assert "\u202e" not in shown.out
    table = pd.read_csv(out / "table.csv", keep_default_na=False)
    assert table["note"].tolist() == frame["note"].tolist()


def test_column_names_may_collide_be_empty_or_double(audit):
    frame, _ = shop(n_rows=60, n_wrong=4)
    frame = frame.rename(columns={"visits": "", "spent": "x", "plan": "x", "clerk": "labelcut_status"})
    out, _ = audit(frame, "--quiet")
    _, facts = page_facts(out)
    columns = {column["name"]: column for column in facts["columns"]}
    assert list(columns) == ["customer", "column 2", "x", "x (2)", "since", "labelcut_status", "churned"]
    assert columns["labelcut_status"]["note"] == "written by an earlier audit"
    with open(out / "table.csv", newline="") as file:
        header = next(csv.reader(file))
    assert header[:7] == list(frame.columns)
    assert "labelcut_status_2" in header
    assert len(set(header[7:])) == 6


def test_formulas_are_not_passed_on(audit):
    frame, _ = shop(n_rows=60, n_wrong=4)
    frame["churned"] = frame["churned"].map({"yes": "=cmd|'/c calc'!A0", "no": "+1"})
    frame["customer"] = "@SUM(" + frame["customer"] + ")"
    out, _ = audit(frame, "--id", "customer", "--quiet")
    for name in ("issues.csv", "table.csv"):
        with open(out / name, newline="") as file:
            rows = list(csv.reader(file))
        ours = [cell for row in rows for cell in (row if name == "issues.csv" else row[7:])]
        assert any(cell.startswith("'=cmd") for cell in ours)
        assert not [cell for cell in ours if re.match(r"[=+\-@\t\r](?!\d+(\.\d+)?$)", cell)]


def test_nul_bytes_are_refused(audit):
    _, shown = audit(b"x,y\n1,a\n2,\0b\n", label="y", code=3)
    assert "a NUL byte at position 10" in shown.err


def test_mixed_encodings_keep_their_bytes(audit):
    frame, _ = shop(n_rows=60, n_wrong=4)
    frame["plan"] = frame["plan"].map({"gold": "größe öä", "basic": "basic"})
    content = frame.to_csv(index=False).encode() + b"C9999,1.0,2.0,caf\xe9,2021-01-01,ann,no\n"
    out, _ = audit(content, "--quiet")
    assert (
        (out / "table.csv")
        .read_bytes()
        .split(b"\n")[-2]
        .startswith(b"C9999,1.0,2.0,caf\xe9,2021-01-01,ann,no,")
    )
    _, facts = page_facts(out)
    assert facts["source"]["notes"] == [
        "1 bytes are not UTF-8 and are shown as \ufffd; the tables we write keep them."
    ]


def test_five_thousand_columns_are_audited(audit):
    frame, _ = shop(n_rows=60, n_wrong=4)
    wide = pd.DataFrame({f"c{j}": (frame["visits"] * (j % 7 + 1)).round(1) + j for j in range(5000)})
    out, _ = audit(wide.assign(churned=frame["churned"]), "--quiet")
    _, facts = page_facts(out)
    assert len(facts["columns"]) == 5001
    assert (out / "report.html").stat().st_size < 15_000_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "holds only blank lines"),
        (b"x,churned\n", "0 rows; at least two"),
        (b"x,churned\n1,yes\n", "1 rows; at least two"),
        (b"x,churned\n1,yes\n2,yes\n", "all 2 labeled rows are 'yes'"),
        (b"churned\nyes\nno\n", "no column to judge the labels by"),
    ],
)
def test_tables_without_enough_rows_are_refused(audit, content, message):
    _, shown = audit(content, code=3)
    assert message in shown.err


@pytest.mark.parametrize(
    ("path", "message"), [("/dev", "is a folder"), ("/dev/zero", "is a device, not a file")]
)
def test_folders_and_devices_are_refused(tmp_path, capsys, path, message):
    assert run("audit", path, "--label", "y", "--out", tmp_path / "out") == 2
    assert message in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_refused(tmp_path, capsys):
    write_shop(tmp_path / "shop.csv", n_rows=60, n_wrong=4)
    assert run("audit", tmp_path / "shop.csv", *AUDIT, "--out", "/proc/report", "--quiet") == 2
    assert re.search(r"/proc.*cannot be written", capsys.readouterr().err)


@pytest.fixture
def small_disk(tmp_path):
    """Mount a disk of 64 kB where that is allowed; elsewhere a limit on file sizes takes its place."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode == 0:
        yield disk, None
        subprocess.run(["umount", disk], check=True)
    else:
        yield disk, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))


def command(*args):
    return [sys.executable, "-c", "from labelcut.cli import main; main()", *map(str, args)]


def test_a_full_disk_leaves_the_old_report_and_nothing_half_written(tmp_path, small_disk):
    disk, limit = small_disk
    write_shop(tmp_path / "shop.csv")
    (disk / "out").mkdir()
    (disk / "out" / "summary.json").write_text("old")
    done = subprocess.run(
        command("audit", tmp_path / "shop.csv", *AUDIT, "--out", disk / "out"),
        capture_output=True, text=True, preexec_fn=limit, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert re.search(r"cannot be written \((no space left on device|file too large)\)", done.stderr)
    assert [file.name for file in (disk / "out").iterdir()] == ["summary.json"]
    assert (disk / "out" / "summary.json").read_text() == "old"


def test_a_forked_worker_ends_when_its_parent_stops_it():
    # A starting worker that took SIGTERM for Ctrl-C lost the exception, and its parent waited for ever.
    code = """
import os, signal, time
from labelcut.cli import _take_sigterm_as_interrupt
_take_sigterm_as_interrupt()
read, write = os.pipe()
worker = os.fork()
while not worker:
    try:
        os.write(write, b"ready")
        time.sleep(0.01)
    except KeyboardInterrupt:
        pass
os.read(read, 5)
os.kill(worker, signal.SIGTERM)
print(os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == str(128 + signal.SIGTERM), done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_audit_says_so_and_leaves_nothing(tmp_path, number):
    write_shop(tmp_path / "shop.csv")
    code = (
        "import os, time, labelcut.auditing; from labelcut.cli import main; "
        f"stop = lambda *_: (os.kill(os.getpid(), {int(number)}), time.sleep(5)); "
        "labelcut.auditing.write_with_columns = stop; main()"
    )
    args = ["audit", tmp_path / "shop.csv", *AUDIT, "--out", tmp_path / "out"]
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, args)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 130, done.stderr
    assert "interrupted; nothing was written" in done.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_a_killed_audit_leaves_no_half_report_and_the_next_one_tidies_up(tmp_path):
    write_shop(tmp_path / "shop.csv")
    args = ["audit", tmp_path / "shop.csv", *AUDIT, "--out", tmp_path / "out", "--quiet"]
    code = "import os, signal; os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL); "
    code += "from labelcut.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *map(str, args)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert {file.name[:10] for file in (tmp_path / "out").iterdir()} == {".labelcut-"}
    assert run(*args) == 0
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        *("issues.csv", "report.html", "summary.json", "table.csv"),
    ]


def test_a_pipe_that_is_never_fed_does_not_pass_for_a_table(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    args = command("audit", tmp_path / "pipe", "--label", "y", "--out", tmp_path / "out")
    process = subprocess.Popen(args, stderr=subprocess.PIPE, text=True)
    time.sleep(0.2)
    (tmp_path / "pipe").write_bytes(b"")
    _, shown = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "the file is empty" in shown


def test_decisions_with_hostile_labels_change_only_their_cell(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"id,x,y\na,1,no\nb,2,yes\nc,3,no\n")
    decisions = (
        'key,id,row,given_label,decision,label,label_column,id_column\n,b,2,yes,flip,"\'=cmd,""x",y,id\n'
    )
    (tmp_path / "d.csv").write_text(decisions)
    assert run("apply", tmp_path / "t.csv", tmp_path / "d.csv", "--out", tmp_path / "o.csv", "--quiet") == 0
    assert (tmp_path / "o.csv").read_bytes() == b'id,x,y\na,1,no\nb,2,"=cmd,""x"\nc,3,no\n'
