"""Workers that die, disks that fill, files that are damaged: the run ends right, or with one line."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from large.conftest import SMALL, small_table, write_parts
from large.test_large_audit import ROLES, reported

from labelcut.auditing.progress import Progress
from labelcut.errors import BadChoice, BadTable
from labelcut.large import spill
from labelcut.large.audit import audit_parts
from labelcut.large.request import Request

STAGES = ("scan", "sample", "opinions", "neighbours", "cut", "second opinions", "report")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_parts(small_table(), tmp_path_factory.mktemp("table"))


@pytest.fixture(scope="module")
def undisturbed(threads, table):
    return reported(audit_parts(Request((str(table),), **ROLES, sizes=SMALL), cluster=threads))


def processes(n_workers, **limits):
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0", **limits
    )


def killing(client, stages):
    """Return a progress that kills a worker with -9 at the beginning of each of some stages."""
    seen = set()

    def tell(stage, share):
        if stage in stages and stage not in seen:
            seen.add(stage)
            client.wait_for_workers(1)
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    return Progress(tell), seen


def check_kills(table, undisturbed, stages, **limits):
    from distributed import Client

    with processes(2, **limits) as cluster, Client(cluster, set_as_default=False) as client:
        progress, seen = killing(client, stages)
        request = Request((str(table),), **ROLES, sizes=SMALL)
        found = audit_parts(request, cluster=client, on_step=progress)
    assert seen == set(stages)
    for mine, yours in zip(undisturbed, reported(found), strict=True):
        pd.testing.assert_frame_equal(mine, yours, check_exact=True)


def test_a_killed_worker_changes_nothing(table, undisturbed):
    check_kills(table, undisturbed, ("opinions", "neighbours"))


@pytest.mark.slow
def test_a_worker_killed_in_every_stage_changes_nothing(table, undisturbed):
    check_kills(table, undisturbed, STAGES)


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_the_same_bytes_come_from_any_number_of_workers(table, undisturbed, n_workers):
    from distributed import Client

    with processes(n_workers) as cluster, Client(cluster, set_as_default=False) as client:
        found = reported(audit_parts(Request((str(table),), **ROLES, sizes=SMALL), cluster=client))
    for mine, yours in zip(undisturbed, found, strict=True):
        pd.testing.assert_frame_equal(mine, yours, check_exact=True)


def test_a_damaged_row_group_is_named(threads, tmp_path):
    folder = write_parts(small_table(), tmp_path / "table")
    path = folder / "part1.parquet"
    data = bytearray(path.read_bytes())
    data[200:2000] = b"\xff" * 1800
    path.write_bytes(bytes(data))
    with pytest.raises(BadTable, match=r"part1.parquet, rows \d+ to \d+: cannot be read .*; check the file."):
        audit_parts(Request((str(folder),), **ROLES, sizes=SMALL), cluster=threads)


def test_a_file_of_other_columns_is_named(threads, tmp_path):
    folder = write_parts(small_table(), tmp_path / "table")
    pd.DataFrame({"x0": [1.0], "y": ["no"]}).to_parquet(folder / "part9.parquet")
    with pytest.raises(BadTable, match=r"part9.parquet: the column 'colour' is in this file or in .*part0"):
        audit_parts(Request((str(folder),), **ROLES, sizes=SMALL), cluster=threads)


def test_a_full_spill_disk_is_one_line_and_leaves_no_file(threads, table, tmp_path, monkeypatch):
    take = spill._take_space

    def full(file, n_bytes):
        if n_bytes > 10_000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        take(file, n_bytes)

    monkeypatch.setattr(spill, "_take_space", full)
    with pytest.raises(BadChoice, match=r"no room for 0.00 GB \(the disk is full\); free some space.*spill"):
        audit_parts(Request((str(table),), **ROLES, sizes=SMALL), cluster=threads, spill=str(tmp_path / "s"))
    assert list((tmp_path / "s").iterdir()) == []


def test_an_array_in_the_spill_folder_grows_and_keeps_what_it_holds(tmp_path):
    with spill.spill_folder(tmp_path) as own:
        first = own.array("a", "int32", (3, 2))
        first[:] = [[1, 2], [3, 4], [5, 6]]
        assert own.grown("a", "int32", (8,)).tolist() == [1, 2, 3, 4, 5, 6, 0, 0]
    assert list(tmp_path.iterdir()) == []


def test_no_scheduler_is_one_line(table):
    with pytest.raises(BadChoice, match=r"tcp://127.0.0.1:1: no Dask scheduler answers there; start one"):
        audit_parts(Request((str(table),), **ROLES), cluster="tcp://127.0.0.1:1")


def command(*words):
    return [sys.executable, "-m", *words]


def run_audit(table, out, *more, columns=("--label", "y", "--id", "name", "--ignore", "truth")):
    """Start the command, in a group of its own as a terminal would."""
    words = ("audit", str(table), *columns, "--out", str(out))
    options = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "start_new_session": True}
    return subprocess.Popen(command("labelcut", *words, *more), **options)


def is_alive(group):
    """Tell whether a process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_ctrl_c_leaves_an_earlier_report_and_no_process(table, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "summary.json").write_text("earlier")
    run = run_audit(table, out, "--workers", "2", "--spill", str(tmp_path / "spill"))
    assert re.search("scan|sample|forest", run.stderr.readline() + run.stderr.readline())
    os.killpg(run.pid, signal.SIGINT)
    told = run.communicate(timeout=60)[1].strip().splitlines()
    assert run.returncode == 130
    assert told[-1] == "labelcut: interrupted; nothing was written."
    assert [path.name for path in out.iterdir()] == ["summary.json"]
    assert (out / "summary.json").read_text() == "earlier"
    assert list((tmp_path / "spill").iterdir()) == []
    for _ in range(150):  # workers may take a moment to see that nobody is there any more
        if not is_alive(run.pid):
            break
        time.sleep(0.1)
    assert not is_alive(run.pid)


@pytest.mark.slow
@pytest.mark.parametrize("is_lost", [False, True])
def test_a_scheduler_and_workers_of_other_commands(table, tmp_path, is_lost):
    """The command uses them, and ends with one line if the scheduler dies."""
    file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    words = ("distributed.cli.dask_scheduler", "--scheduler-file", str(file), "--port", "0")
    scheduler = subprocess.Popen([*command(*words), "--dashboard-address", ":0"], **quiet)
    worker = ("distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1")
    workers = [subprocess.Popen([*command(*worker), "--dashboard-address", ":0"], **quiet) for _ in range(2)]
    try:
        while not file.exists():
            time.sleep(0.1)
        address = re.search(r'"address": "(tcp://[^"]+)"', file.read_text())[1]
        out = tmp_path / "out"
        run = run_audit(table, out, "--cluster", address)
        if is_lost:
            run.stderr.readline()
            scheduler.kill()
        _, told = run.communicate(timeout=300)
        if is_lost:
            assert run.returncode == 2
            assert re.search(r"the cluster at tcp://.* is gone .*start it again\.", told.splitlines()[-1])
            assert not out.exists()
        else:
            assert run.returncode == 0, told
            assert (out / "issues.parquet").exists()
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def test_a_worker_ended_at_its_memory_limit_changes_nothing(table, undisturbed):
    """Something else on a worker takes more than it may hold; the nanny ends it, and others do its work."""
    from distributed import Client

    def hold_too_much():
        import time

        import numpy as np

        held = np.ones(100_000_000)  # 800 MB
        time.sleep(600)
        return held.size

    ended, hogs = [], []
    with processes(2, memory_limit="600MB") as cluster, Client(cluster, set_as_default=False) as client:

        def tell(stage, share):
            if stage == "opinions" and not hogs:
                address, pid = next(iter(client.run(os.getpid).items()))
                ended.append(pid)
                hogs.append(client.submit(hold_too_much, workers=[address], pure=False))

        request = Request((str(table),), **ROLES, sizes=SMALL)
        found = audit_parts(request, cluster=client, on_step=Progress(tell))
        for _ in range(300):  # the run may end before the worker does
            if not Path(f"/proc/{ended[0]}").exists():
                break
            time.sleep(0.1)
        assert ended[0] not in client.run(os.getpid).values()
    for mine, yours in zip(undisturbed, reported(found), strict=True):
        pd.testing.assert_frame_equal(mine, yours, check_exact=True)


@pytest.mark.slow
def test_a_part_that_no_worker_can_hold_is_one_line_and_leaves_an_earlier_report(tmp_path):
    """120 000 cells of one long text take a page of a file, and a gigabyte once they are read."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    folder, out = tmp_path / "table", tmp_path / "out"
    for one in (folder, out):
        one.mkdir()
    (out / "summary.json").write_text("earlier")
    zeros = pa.array(np.zeros(120_000, dtype=np.int32))
    columns = {
        "x": np.arange(120_000) % 97,
        "text": pa.DictionaryArray.from_arrays(zeros, ["word " * 2000]),
        "y": np.where(np.arange(120_000) % 97 > 40, "yes", "no"),
    }
    parquet.write_table(pa.table(columns), folder / "0.parquet", store_schema=False)
    with processes(2, memory_limit="500MB") as cluster:
        run = run_audit(folder, out, "--cluster", cluster.scheduler_address, columns=("--label", "y"))
        told = run.communicate(timeout=300)[1].strip().splitlines()
    assert run.returncode == 2
    assert re.search(r"a piece of work ended \d workers, probably for want of memory; give each", told[-1])
    assert [path.name for path in out.iterdir()] == ["summary.json"]
    assert (out / "summary.json").read_text() == "earlier"


@pytest.mark.slow
def test_workers_with_less_memory_than_the_table_do_it_all_the_same(tmp_path):
    """300 000 rows of 40 columns; each of two workers may hold 400 MB, of which imports take half."""
    import numpy as np
    from distributed import Client

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300_000, 40)).astype(np.float32)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(40)])
    frame["y"] = np.where((X[:, :3].sum(axis=1) > 0) ^ (rng.random(len(X)) < 0.1), "yes", "no")
    for number in range(6):
        frame.iloc[number::6].to_parquet(Path(tmp_path) / f"{number}.parquet", row_group_size=10_000)
    limits = {"memory_limit": "400MB", "local_directory": str(tmp_path / "workers")}
    with processes(2, **limits) as cluster, Client(cluster, set_as_default=False) as client:
        found = audit_parts(Request((str(tmp_path),), label="y"), cluster=client)
    assert found.facts["counts"]["rows"] == 300_000
    assert found.summary["evidence"]["auc"] > 0.8
