"""Benchmarks over time: a line per release and machine in history.jsonl, and the page that draws it.

    python benchmarks/history.py measure    # some minutes on a quiet machine: adds the line, draws the page
    python benchmarks/history.py draw       # docs/history.md and its picture, from the lines there are

Purpose: a release that got slower shows as a step. Fits are those of bench_fit.py, on tables that every
machine can make; numbers of different machines are never joined by a line. Measuring a release on a machine
again replaces its line.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
from html import escape
from pathlib import Path

import bench_fit

import labelcut

HERE = Path(__file__).parent
LINES, PAGE, PICTURE = HERE / "history.jsonl", Path("docs/history.md"), Path("docs/figures/history.svg")
ROWS = (1_000, 10_000, 100_000)
SHOWN = ("seconds", "forest", "graph", "cuts", "gb")
TITLES = {"seconds": "seconds", "gb": "peak memory, GB"}
COLORS = ("#2f6fde", "#d97706", "#1a7f37", "#8250df", "#57606a")
WIDTH, HEIGHT, LEFT, GAP = 300, 150, 60, 40

HEAD = """# Speed over time

The default fit of LabelCut, release by release: tables of {tables} rows and 20 columns, 20 % of the labels
wrong, 30 % of the rows unlabeled, two threads. Each line of `benchmarks/history.jsonl` is one release on one
machine; `make history` measures one and draws this page. Machines are not compared with each other.
"""
NOTHING = "\nNo release has been measured yet.\n"


def main(arguments: list[str] | None = None) -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("measure", "draw"))
    parser.add_argument("--rows", nargs="+", type=int, default=ROWS, help="sizes of the tables")
    parser.add_argument("--machine", default=this_machine(), help="its name in the lines")
    parser.add_argument("--folder", type=Path, default=HERE.parent, help="the repository to write into")
    options = parser.parse_args(arguments)
    file = options.folder / LINES.relative_to(HERE.parent)
    lines = read(file)
    if options.what == "measure":
        lines = added(lines, measure(options.rows, options.machine))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    for path, text in ((PAGE, page(lines)), (PICTURE, picture(lines))):
        (options.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (options.folder / path).write_text(text, encoding="utf-8")
    print(f"{len(lines)} lines; drawn in {PAGE}")


def read(file: Path) -> list[dict]:
    """Return the lines, oldest first."""
    return (
        [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
    )


def added(lines: list[dict], new: dict) -> list[dict]:
    """Return the lines with a new one in place of an earlier one of the same release and machine."""
    key = ("version", "machine")
    return [line for line in lines if any(line[name] != new[name] for name in key)] + [new]


def measure(rows: list[int], machine: str) -> dict:
    """Return the line of this release on this machine."""
    commit = subprocess.run(
        ["git", "-C", HERE, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    numbers = {f"fit of {n} rows": fit(n) for n in rows}
    about = {"version": labelcut.__version__.partition("+")[0], "commit": commit, "machine": machine}
    return about | {"python": platform.python_version(), "benchmarks": numbers}


def fit(n_rows: int) -> dict[str, float]:
    """Return what one fit took, in a process of its own."""
    ours = bench_fit.in_own_process({"method": "ours", "table": f"synthetic {n_rows}", "threads": 2})
    if "error" in ours:
        raise SystemExit(f"the fit of {n_rows} rows failed: {ours['error']}")
    stages = ours["seconds"]
    cuts = sum(stages.get(stage, 0.0) for stage in bench_fit.CUTS)
    found = {"seconds": ours["total"], "forest": stages.get("forest", 0.0), "graph": stages.get("graph", 0.0)}
    found |= {"cuts": cuts, "gb": ours["gb"], "accuracy": ours["accuracy"]}
    return {name: round(value, 4) for name, value in found.items()}


def this_machine() -> str:
    """Return the processor and the number of its cores."""
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        named = [
            line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
        ]
        model = named[0].split(":", 1)[1].strip() if named else model
    return f"{model}, {os.cpu_count()} cores"


def page(lines: list[dict]) -> str:
    """Return the page: the picture, then every number."""
    head = HEAD.format(tables=", ".join(f"{n:_}".replace("_", " ") for n in ROWS))
    if not lines:
        return head + NOTHING
    text = head + "\n![Seconds and memory of a fit, release by release](figures/history.svg)\n"
    for name in benchmarks(lines):
        text += (
            f"\n## {name[0].upper()}{name[1:]}\n\n| release | machine | "
            + " | ".join(SHOWN)
            + " | accuracy |\n"
        )
        text += "|---|---|" + "---:|" * (len(SHOWN) + 1) + "\n"
        for line in lines:
            if name in line["benchmarks"]:
                numbers = line["benchmarks"][name]
                cells = [f"{numbers[column]:.2f}" for column in SHOWN] + [f"{numbers['accuracy']:.1%}"]
                text += f"| {line['version']} | {line['machine']} | " + " | ".join(cells) + " |\n"
    return text


def benchmarks(lines: list[dict]) -> list[str]:
    """Return the names of all benchmarks in the order in which they appeared."""
    return list(dict.fromkeys(name for line in lines for name in line["benchmarks"]))


def picture(lines: list[dict]) -> str:
    """Return a panel per benchmark (rows) and number (columns), with a line per machine."""
    names, machines = benchmarks(lines), list(dict.fromkeys(line["machine"] for line in lines))
    width = len(TITLES) * (WIDTH + LEFT) + GAP
    height = len(names) * (HEIGHT + 2 * GAP) + 24 * len(machines) + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for k, machine in enumerate(machines):
        y, color = 20 + 24 * k, COLORS[k % len(COLORS)]
        parts.append(f'<circle cx="{GAP}" cy="{y}" r="4" fill="{color}"/>')
        parts.append(f'<text x="{GAP + 12}" y="{y + 4}">{escape(machine)}</text>')
    for row, name in enumerate(names):
        for column, (number, title) in enumerate(TITLES.items()):
            corner = (LEFT + column * (WIDTH + LEFT), 24 * len(machines) + GAP + row * (HEIGHT + 2 * GAP))
            parts += panel(lines, machines, name, number, f"{name}: {title}", corner)
    return "\n".join([*parts, "</svg>", ""])


def panel(
    lines: list[dict], machines: list[str], name: str, number: str, title: str, corner: tuple[int, int]
) -> list[str]:
    """Return one panel: releases from left to right, from 0 to the largest number upwards."""
    left, top = corner
    shown = [line for line in lines if name in line["benchmarks"]]
    releases = list(dict.fromkeys(line["version"] for line in shown))
    largest = max(line["benchmarks"][name][number] for line in shown) or 1.0
    bottom = top + HEIGHT
    parts = [
        f'<text x="{left}" y="{top - 10}" font-weight="bold">{escape(title)}</text>',
        f'<path d="M{left} {top}V{bottom}H{left + WIDTH}" fill="none" stroke="#8b949e"/>',
        f'<text x="{left - 6}" y="{top + 4}" text-anchor="end">{largest:.3g}</text>',
        f'<text x="{left - 6}" y="{bottom}" text-anchor="end">0</text>',
    ]
    step = WIDTH / (len(releases) + 1)
    for k, release in enumerate(releases, start=1):
        parts.append(
            f'<text x="{left + k * step:.1f}" y="{bottom + 16}" text-anchor="middle">{escape(release)}</text>'
        )
    for machine in machines:
        points = [
            (
                left + step * (1 + releases.index(line["version"])),
                bottom - HEIGHT * line["benchmarks"][name][number] / largest,
            )
            for line in shown
            if line["machine"] == machine
        ]
        color = COLORS[machines.index(machine) % len(COLORS)]
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{color}" stroke-width="1.5"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}"/>' for x, y in points]
    return parts


if __name__ == "__main__":
    main()
