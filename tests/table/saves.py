"""Small sets of files, saved; and, run as a program, saves that are killed.

``saves.py FOLDER steps`` kills a save at its first step that changes the disk, the next one at its second
step, and so on until a save gets through (``first-steps``: without an earlier set). ``saves.py FOLDER 300``
kills 300 loops of saves at random moments. After each kill it prints what a reader finds in the folder, and
what is there after one more save.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from labelcut.table.saving import staged_folder

NAMES = ("issues.csv", "report.html", "summary.json", "table.csv")
CHANGES = ("os.rename", "os.link", "os.symlink", "os.mkdir", "os.rmdir", "os.remove")


def save(folder, text, names=NAMES):
    with staged_folder(folder, inputs={}) as stage:
        for name in names:
            (stage / name).write_text(text)


def contents(folder):
    return {file.name: file.read_text() for file in folder.iterdir()}


def readable(folder):
    """Return what a reader finds; a name that leads nowhere is none."""
    return {name: (folder / name).read_text() for name in NAMES if (folder / name).exists()}


def die_at(step):
    """End this process by SIGKILL just before it changes the disk for the `step`-th time."""
    count = 0

    def hook(event, args):
        nonlocal count
        if event in CHANGES or (event == "open" and isinstance(args[1], str) and args[1][0] in "wa"):
            count += 1
            if count == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def run_child(work):
    child = os.fork()
    if not child:
        work()
        os._exit(0)
    return child


def kill_at_steps(folder, has_old_set):
    for step in range(1, 1000):
        for name in NAMES:
            (folder / name).unlink(missing_ok=True)
        if has_old_set:
            save(folder, "old")
        child = run_child(lambda step=step: (die_at(step), save(folder, "new")))
        if not os.WIFSIGNALED(os.waitpid(child, 0)[1]):
            return
        yield readable(folder)


def kill_at_random(folder, n_kills):
    def save_for_ever():
        while True:
            save(folder, str(time.monotonic_ns()))

    for _ in range(n_kills):
        child = run_child(save_for_ever)
        time.sleep(random.uniform(0.001, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        yield readable(folder)


if __name__ == "__main__":
    place, mode = Path(sys.argv[1]), sys.argv[2]
    place.mkdir(parents=True)
    (place / "decisions.csv").write_text("mine")
    is_by_steps = mode in ("steps", "first-steps")
    kills = kill_at_steps(place, mode == "steps") if is_by_steps else kill_at_random(place, int(mode))
    for found in kills:
        line = {"set": found, "mine": (place / "decisions.csv").read_text()}
        save(place, "next")
        sys.stdout.write(json.dumps(line | {"next": contents(place)}) + "\n")
