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

from labelcut.table.decisions import FIELDS
from labelcut.table.writing import csv_text


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


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("rot13", "encoding 'rot13' is not one that tables are saved in; name the one"),
        ("idna", "encoding 'idna' is not one that tables are saved in; name the one"),
        ("punycode", "encoding 'punycode' is not one that tables are saved in; name the one"),
        ("undefined", "encoding 'undefined' is not one that tables are saved in; name the one"),
        ("base64", "encoding 'base64' is not one that tables are saved in; name the one"),
        ("zlib", "encoding 'zlib' is not one that tables are saved in; name the one"),
        ("no such", "no encoding is called 'no such'; name the one the table was saved in"),
        ("utf-32", "table.csv: is not utf-32 ("),
        ("ascii", "table.csv: is not ascii ("),
    ],
)
def test_an_encoding_that_does_not_fit_is_wrong_use(audit, encoding, message):
    content = "größe,churned\n1,yes\n2,no\n3,yes\n".encode()
    _, shown = audit(content, "--encoding", encoding, code=2)
    assert message in shown.err


@pytest.mark.parametrize(("encoding", "named"), [("utf-32", True), ("utf-32", False), ("utf-16", True)])
def test_a_table_in_utf_32_is_audited_and_written_back(audit, encoding, named):
    frame, _ = shop(n_rows=60, n_wrong=4)
    content = frame.to_csv(index=False).encode(encoding)
    out, _ = audit(content, *(("--encoding", encoding) if named else ()), "--quiet")
    written = (out / "table.csv").read_bytes()
    assert written[:4] == content[:4]
    table = pd.read_csv(out / "table.csv", encoding=encoding)
    assert table["customer"].tolist() == frame["customer"].tolist()
    assert table["labelcut_status"].notna().all()


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
from labelcut.cli.interrupts import take_interrupts
take_interrupts()
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
        "import os, time, labelcut.auditing.result; from labelcut.cli import main; "
        f"stop = lambda *_: (os.kill(os.getpid(), {int(number)}), time.sleep(5)); "
        "labelcut.auditing.result.write_with_columns = stop; main()"
    )
    args = ["audit", tmp_path / "shop.csv", *AUDIT, "--out", tmp_path / "out"]
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, args)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 130, done.stderr
    assert "interrupted; nothing was written" in done.stderr
    assert list((tmp_path / "out").iterdir()) == []


SWALLOW = """
import os, signal, sys
from labelcut.cli import main
from labelcut.hnc import classifier
look_at = classifier.look_at
def swallow(*args, **kwargs):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(10_000): pass
        print("no signal came")
    except BaseException:  # as NumPy does while it reads the type of a buffer
        pass
    return look_at(*args, **kwargs)
classifier.look_at = swallow
main()
"""


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_an_interrupt_that_a_library_swallows_still_ends_the_audit(tmp_path, quiet):
    write_shop(tmp_path / "shop.csv")
    args = ["audit", tmp_path / "shop.csv", *AUDIT, "--out", tmp_path / "out", *quiet]
    done = subprocess.run(
        [sys.executable, "-c", SWALLOW, *map(str, args)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 130, done.stderr
    assert done.stdout == ""
    assert "interrupted; nothing was written" in done.stderr
    assert not (tmp_path / "out").exists()


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


def test_a_label_that_begins_with_an_apostrophe_and_a_formula_goes_the_whole_way(tmp_path):
    rows = [f"k{i},{i % 5},{label}" for i, label in enumerate(["'=no", "=yes"] * 20)]
    (tmp_path / "t.csv").write_text("\n".join(["id,x,y", *rows]))
    decided = [
        ["", "k1", 2, "=yes", "flip", "'=no", "y", "id"],
        ["", "k2", 3, "'=no", "keep", "'=no", "y", "id"],
    ]
    (tmp_path / "d.csv").write_text(csv_text(FIELDS, decided))
    assert run("apply", tmp_path / "t.csv", tmp_path / "d.csv", "--out", tmp_path / "o.csv", "--quiet") == 0
    rows[1] = "k1,1,'=no"
    assert (tmp_path / "o.csv").read_text() == "\n".join(["id,x,y", *rows])


def test_decisions_with_hostile_labels_change_only_their_cell(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'id,x,y\na,1,no\nb,2,yes\nc,3,"=cmd,""x"\n')
    decisions = (
        'key,id,row,given_label,decision,label,label_column,id_column\n,b,2,yes,flip,"\'=cmd,""x",y,id\n'
    )
    (tmp_path / "d.csv").write_text(decisions)
    assert run("apply", tmp_path / "t.csv", tmp_path / "d.csv", "--out", tmp_path / "o.csv", "--quiet") == 0
    assert (tmp_path / "o.csv").read_bytes() == b'id,x,y\na,1,no\nb,2,"=cmd,""x"\nc,3,"=cmd,""x"\n'


CANARIES = {
    "text": [f"CANARY {i % 7} sings a long and quite different song {i}" for i in range(100)],
    "category": [f"CANARY{i % 5}" for i in range(100)],
    "identifier": [f"CANARY{i}" for i in range(100)],
    "number": [770077007.0 + i / 8 for i in range(100)],
    "date": [f"7707-07-{i % 28 + 1:02d}" for i in range(100)],
}
TRACES = re.compile(r"canary|7700770|7707", re.IGNORECASE)


@pytest.mark.parametrize("kind", CANARIES)
def test_cells_of_an_ignored_column_are_in_nothing_but_the_table(audit, kind):
    frame, _ = shop(n_rows=100, n_wrong=8)
    frame.insert(2, "ssn", CANARIES[kind])
    for show in ("--quiet", "--json"):
        out, shown = audit(frame, "--ignore", "ssn", "--format", "label-studio", "--group", "clerk", show)
        assert not TRACES.search(shown.out + shown.err)
    out, shown = audit(frame, "--ignore", "ssn", "--format", "label-studio")
    assert "ssn" in shown.out  # It is not dropped in silence.
    assert not TRACES.search(shown.out)
    written = {file.name: file.read_text(encoding="utf-8") for file in out.iterdir()}
    assert TRACES.search(written.pop("table.csv"))
    assert set(written) == {"report.html", "issues.csv", "summary.json", "tasks.json"}
    assert [name for name, text in written.items() if TRACES.search(text)] == []
    assert len(json.loads(written["tasks.json"])) > 0
    assert "visits" in json.loads(written["tasks.json"])[0]["data"]


@pytest.mark.parametrize("role", ["id", "group"])
def test_an_ignored_column_cannot_name_rows_or_groups(audit, role):
    frame, _ = shop(n_rows=60, n_wrong=4)
    _, shown = audit(frame, "--ignore", "clerk", f"--{role}", "clerk", code=2)
    assert f"column 'clerk' is ignored and cannot be the {role}, whose values are shown" in shown.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (",b,2,yes,flip,evil,y,id", "line 2 of the decisions sets the label 'evil', which no row carries"),
        (",,undefined,,flip,evil,y,id", "line 2 names no row; fill the column key or id"),
        (",b,2,yes,keep,no,y,id", "line 2 keeps 'yes' but names the label 'no'"),
    ],
)
def test_a_file_with_what_is_no_decision_is_refused_whole(tmp_path, capsys, line, message):
    (tmp_path / "t.csv").write_text("id,x,y\na,1,no\nb,2,yes\nc,3,no\n")
    (tmp_path / "d.csv").write_text(f"key,id,row,given_label,decision,label,label_column,id_column\n{line}\n")
    out = tmp_path / "out"
    assert run("apply", tmp_path / "t.csv", tmp_path / "d.csv", "--out", out / "o.csv") == 3
    assert message in capsys.readouterr().err
    decided = ("--decisions", tmp_path / "d.csv", "--id", "id", "--kind", "x=category")
    assert run("audit", tmp_path / "t.csv", "--label", "y", *decided, "--out", out) == 3
    assert message in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("n_jobs", [0, 100000])
@pytest.mark.parametrize("words", [["audit", "table.csv", "--label", "churned"], ["demo"]])
def test_a_number_of_threads_that_cannot_be_is_refused_with_what_can(tmp_path, capsys, n_jobs, words):
    assert run(*words, "--n-jobs", n_jobs, "--out", tmp_path / "out") == 2
    told = rf"labelcut: --n-jobs {n_jobs}; give 1 to \d+ threads, or -1 for all cores\.\n"
    assert re.fullmatch(told, capsys.readouterr().err)


def test_an_ascii_terminal_shows_what_it_can(tmp_path):
    frame, _ = shop(n_rows=100, n_wrong=8)
    frame["churned"] = frame["churned"].map({"yes": "größer", "no": "日本"})
    frame.to_csv(tmp_path / "tablé.csv", index=False)
    surroundings = os.environ | {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    args = ("--label", "churned", "--n-jobs", 1, "--out", tmp_path / "öut")
    done = subprocess.run(
        command("audit", tmp_path / "tablé.csv", *args), capture_output=True, env=surroundings, check=False
    )
    assert done.returncode == 0
    assert all(
        line.startswith(b"labelcut: ") and line.endswith(b" % done") for line in done.stderr.splitlines()
    )
    assert b"labels look wrong" in done.stdout
    assert b"gr??er" in done.stdout
    assert b"ut/report.html" in done.stdout
    assert "tablé.csv" in (tmp_path / "öut" / "report.html").read_text(encoding="utf-8")


def test_a_file_name_that_is_no_utf_8_does_not_stop_the_report(tmp_path):
    file = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv")
    write_shop(file, n_rows=60, n_wrong=4)
    assert run("audit", file, "--label", "churned", "--n-jobs", 1, "--out", tmp_path / "out") == 0
    _, facts = page_facts(tmp_path / "out")
    assert facts["source"]["name"] == "caf\ufffd.csv"
