"""One table in memory and in parts: time, memory of all processes, accuracy and recall, beside CleanLearning.

Purpose: what a table costs that is read in parts, and whether its answers are as good. The table is made
here, in chunks, as parquet files of float32 numbers: 20 columns, 10 of which tell the class, four clusters a
class, 20 % of the labels wrong, 30 % missing. Each run has a process of its own; the memory of that process
and of all that it starts is added up twice a second (PSS: shared pages are counted once). Accuracy is that on
the rows without a label. The rival runs where it can.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd

N_COLUMNS, N_INFORMATIVE, N_CLUSTERS = 20, 10, 4
WRONG, HIDDEN = 0.2, 0.3
CHUNK, ROWS_PER_FILE, ROWS_PER_GROUP = 250_000, 1_000_000, 125_000
#: Rows up to which CleanLearning is asked: beyond, its trees do not fit into the memory of a usual machine.
MOST_FOR_RIVAL = 1_000_000
#: Required: time against the way in memory, memory in GB by rows, growth from one million rows to ten.
MOST_OF_MEMORY, MOST_GB, MOST_GROWTH = 1.5, {1_000_000: 2.0, 10_000_000: 10.0}, 14.0


def main(arguments: list[str] | None = None) -> None:
    """Run what was asked for and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", nargs="*", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--large-only", action="store_true", help="leave the way in memory and the rival out")
    parser.add_argument("--no-rival", action="store_true", help="leave CleanLearning out")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="where the table is made, and what does not fit into memory spilled")
    parser.add_argument("--json", help="append a line for each run to this file")
    parser.add_argument("--one", metavar="JSON", help="(internal) one run in a process of its own")
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(run_one(json.loads(options.one))), flush=True)
        return
    print(
        "| rows | way | seconds | CPU seconds | peak GB | of it mapped files | accuracy | recall | stages |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    missed: list[str] = []
    seconds: dict[int, float] = {}
    for n_rows in options.rows:
        with tempfile.TemporaryDirectory(prefix="labelcut-bench-", dir=options.folder) as folder:
            missed += compare(n_rows, Path(folder), options, seconds)
    if {1_000_000, 10_000_000} <= set(seconds):
        growth = seconds[10_000_000] / seconds[1_000_000]
        print(f"\nTen million rows take {growth:.1f} times as long as one million.")
        missed += [f"growth {growth:.1f}"] if growth > MOST_GROWTH else []
    print("\nAll targets met." if not missed else "\nMissed: " + "; ".join(missed))


def compare(n_rows: int, folder: Path, options: argparse.Namespace, seconds: dict[int, float]) -> list[str]:
    """Make a table, run every way on it, return the targets that were missed."""
    table = folder / "table"
    make_table(n_rows, table, options.seed)
    ways = ["large"] if options.large_only else ["in memory", "large"]
    if n_rows <= MOST_FOR_RIVAL and not (options.large_only or options.no_rival):
        ways += ["CleanLearning"] if importlib.util.find_spec("cleanlab") else []
    done = {}
    for way in ways:
        task = {"way": way, "table": str(table), "workers": options.workers, "spill": str(folder)}
        done[way] = in_own_process(task)
        print_line(n_rows, way, done[way])
        if options.json:
            with open(options.json, "a") as file:
                file.write(json.dumps({"rows": n_rows, "seed": options.seed, "way": way, **done[way]}) + "\n")
    shutil.rmtree(table)
    large = done["large"]
    if "error" in large:
        return [f"{n_rows} rows: {large['error']}"]
    seconds[n_rows] = large["seconds"]
    missed = []
    if large["gb"] > MOST_GB.get(n_rows, np.inf):
        missed.append(f"{n_rows} rows need {large['gb']:.1f} GB")
    memory = done.get("in memory", {})
    if "seconds" in memory and n_rows >= 1_000_000:
        if large["seconds"] > MOST_OF_MEMORY * memory["seconds"]:
            missed.append(f"{n_rows} rows take {large['seconds'] / memory['seconds']:.2f} of in memory")
        if large["accuracy"] < memory["accuracy"] - 0.002:
            missed.append(f"{n_rows} rows: accuracy {large['accuracy']:.2%} of {memory['accuracy']:.2%}")
    return missed


def print_line(n_rows: int, way: str, done: dict) -> None:
    if "error" in done:
        print(f"| {n_rows:,} | {way} | {done['error']} | | | | | | |", flush=True)
        return
    stages = ", ".join(f"{name} {s:.0f}" for name, s in done["stages"].items() if s >= 1)
    recall = f"{done['recall']:.3f}" if done.get("recall") else ""
    numbers = f"{done['seconds']:.0f} | {done['cpu']:.0f} | {done['gb']:.2f} | {done['mapped']:.2f}"
    print(f"| {n_rows:,} | {way} | {numbers} | {done['accuracy']:.2%} | {recall} | {stages} |", flush=True)


def make_table(n_rows: int, folder: Path, seed: int) -> None:
    """Write a table in files of a million rows, chunk by chunk."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    n_all = 2 * N_CLUSTERS
    corners = rng.permutation(2**N_INFORMATIVE)[:n_all]
    centers = 2.0 * ((corners[:, None] >> np.arange(N_INFORMATIVE)) & 1) - 1.0
    shears = rng.uniform(-1.0, 1.0, (n_all, N_INFORMATIVE, N_INFORMATIVE))
    for number, first in enumerate(range(0, n_rows, ROWS_PER_FILE)):
        writer = None
        last = min(first + ROWS_PER_FILE, n_rows)
        for start in range(first, last, CHUNK):
            table = pa.Table.from_pandas(_chunk(min(CHUNK, last - start), rng, centers, shears))
            writer = writer or ParquetWriter(folder / f"part-{number:04d}.parquet", table.schema)
            writer.write_table(table, row_group_size=ROWS_PER_GROUP)
        writer.close()


def _chunk(n: int, rng: np.random.Generator, centers: np.ndarray, shears: np.ndarray) -> pd.DataFrame:
    cluster = rng.integers(0, len(centers), n)
    X = rng.normal(size=(n, N_COLUMNS)).astype(np.float32)
    for c in range(len(centers)):
        rows = cluster == c
        X[rows, :N_INFORMATIVE] = X[rows, :N_INFORMATIVE] @ shears[c] + centers[c]
    truth = cluster % 2
    label = np.where(rng.random(n) < WRONG, 1 - truth, truth).astype(object)
    label[rng.random(n) < HIDDEN] = None
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(N_COLUMNS)])
    return frame.assign(truth=truth.astype(np.int8), y=pd.array(label, dtype="Int8"))


def in_own_process(task: dict) -> dict:
    """Run one way by itself, and watch the memory of it and of all that it starts."""
    command = [sys.executable, __file__, "--one", json.dumps(task)]
    before = os.times()
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watched = {"gb": 0.0, "mapped": 0.0}
    watcher = threading.Thread(target=watch, args=(process.pid, watched), daemon=True)
    watcher.start()
    out, err = process.communicate()
    watcher.join(timeout=2)
    after = os.times()
    if process.returncode:
        return {"error": (err.strip().splitlines() or ["?"])[-1][:100]}
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    total = time.perf_counter() - start
    return {"whole_seconds": total, "cpu": cpu, **watched, **json.loads(out.splitlines()[-1])}


def watch(root: int, watched: dict) -> None:
    """Keep the most memory that a process and its descendants held at one time."""
    while Path(f"/proc/{root}").exists():
        sizes = [memory_of(pid) for pid in descendants(root)]
        total, mapped = (sum(column) / 1024**2 for column in zip(*sizes, strict=True)) if sizes else (0, 0)
        if total > watched["gb"]:
            watched.update(gb=total, mapped=mapped)
        time.sleep(0.5)


def descendants(root: int) -> list[int]:
    """Return a process and all that it has started."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
    found, more = [root], [root]
    while more:
        more = [pid for pid, parent in parents.items() if parent in more]
        found += more
    return found


def memory_of(pid: int) -> tuple[int, int]:
    """Return kilobytes of a process, shared ones divided, and those of them that are mapped files."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0, 0
    sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines[1:]}
    return sizes.get("Pss", 0), sizes.get("Pss_File", 0) + sizes.get("Pss_Shmem", 0)


def run_one(task: dict) -> dict:
    """Run one way and return its time, accuracy on rows without a label and whatever else it tells."""
    files = sorted(Path(task["table"]).glob("*.parquet"))
    if task["way"] == "CleanLearning":
        return run_rival(files, task["workers"])
    start = time.perf_counter()
    if task["way"] == "large":
        from labelcut.large.audit import audit_parts
        from labelcut.large.request import Request

        request = Request(tuple(map(str, files)), label="y", ignore=("truth",), n_jobs=task["workers"])
        found = audit_parts(request, workers=task["workers"], spill=task["spill"])
        seconds = time.perf_counter() - start
        hits = counted = 0
        for frame in found.frames():
            asked = frame["y"].isna()
            hits += int((frame["labelcut_predicted_label"].astype(int) == frame["truth"])[asked].sum())
            counted += int(asked.sum())
        stages, recall = found.details["seconds"], found.details["recall"]
        return {"seconds": seconds, "accuracy": hits / counted, "stages": stages, "recall": recall}
    import labelcut

    frame = pd.concat([pd.read_parquet(path) for path in files], ignore_index=True)
    audit = labelcut.audit(frame, label="y", ignore=["truth"], n_jobs=task["workers"])
    seconds = time.perf_counter() - start
    asked = frame["y"].isna().to_numpy()
    is_right = audit.rows["predicted_label"].astype(int).to_numpy() == frame["truth"].to_numpy()
    model = audit.model
    told = {"stages": model.timings_, "recall": model.graph_.recall}
    return {"seconds": seconds, "accuracy": float(is_right[asked].mean()), **told}


def run_rival(files: list[Path], threads: int) -> dict:
    """Fit CleanLearning with extremely randomised trees."""
    from cleanlab.classification import CleanLearning
    from sklearn.ensemble import ExtraTreesClassifier

    start = time.perf_counter()
    frame = pd.concat([pd.read_parquet(path) for path in files], ignore_index=True)
    X = frame[[f"x{i}" for i in range(N_COLUMNS)]].to_numpy()
    is_labeled = frame["y"].notna().to_numpy()
    trees = ExtraTreesClassifier(100, n_jobs=threads, random_state=0)
    model = CleanLearning(trees, seed=0, find_label_issues_kwargs={"n_jobs": 1})
    model.fit(X[is_labeled], frame["y"].to_numpy(dtype=float, na_value=0)[is_labeled].astype(int))
    predicted = model.predict(X)
    seconds = time.perf_counter() - start
    is_right = (predicted == frame["truth"].to_numpy())[~is_labeled]
    return {"seconds": seconds, "accuracy": float(is_right.mean()), "stages": {}}


if __name__ == "__main__":
    main()
