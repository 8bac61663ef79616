"""A study -> its runs -> one JSON line per finished run in ``results/<study>/<method>.jsonl``.

A run whose line exists is skipped, so a study that was stopped, even by ``kill -9``, goes on where it was;
only the runs under way are lost. Runs travel to the workers as names and seeds, never as arrays, so the
same code serves one process, joblib's processes, and a Dask or Ray cluster. Several runners may work on one
results folder: each claims a run before it starts it.
"""

from __future__ import annotations

import platform
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib import metadata, resources
from itertools import chain, islice, product
from pathlib import Path
from typing import Any

import numpy as np

from labelcut.errors import BadTable
from labelcut.experiments import scores
from labelcut.experiments.claims import Claims, open_claims
from labelcut.experiments.cluster import cluster
from labelcut.experiments.crowds import crowd_rows, is_crowd, make_crowd, score_crowd
from labelcut.experiments.data import REAL, DataError
from labelcut.experiments.drawn import DRAWN
from labelcut.experiments.kept import Kept
from labelcut.experiments.loading import load, rows_of
from labelcut.experiments.methods import Method, get_method
from labelcut.experiments.methods.base import Inputs
from labelcut.experiments.noise import Task, make_task, seed_of
from labelcut.experiments.noise_kinds import KINDS, UNIFORM
from labelcut.experiments.pictures import is_pictures, make_pictures, picture_rows, score_pictures
from labelcut.experiments.result_lines import Arrivals, Record, append_line, key_of, read_lines
from labelcut.experiments.study_file import read_study_file
from labelcut.experiments.synthetic import Synthetic, synthetic_grid

PACKAGES = ("labelcut", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Run:
    """One method on one data set with one kind and level of noise, test share and seed."""

    method: str
    data: str
    noise: tuple[float, float]
    test_share: float
    seed: int
    settings: tuple[tuple[str, Any], ...] = ()
    """Overrides of the method's settings, sorted by name."""
    kind: str = UNIFORM
    """Kind of noise, one of `KINDS`; a line names it only where it is not the usual one."""
    n_jobs: int = field(default=1, compare=False)

    @property
    def key(self) -> str:
        """What makes two runs the same run."""
        return key_of(self.as_record())

    def as_record(self) -> Record:
        """Give the beginning of its result line."""
        record: Record = vars(self) | {"settings": dict(self.settings), "noise": list(self.noise)}
        if self.kind == UNIFORM:
            del record["kind"]
        return record


@dataclass(frozen=True)
class Study:
    """A named list of runs."""

    name: str
    title: str
    runs: tuple[Run, ...]
    reuses: tuple[str, ...] = ()
    """Studies whose lines count as this one's where the run is the same."""


def study_names() -> list[str]:
    """List the studies that come with the package."""
    folder = resources.files("labelcut.experiments") / "configs"
    return sorted(
        entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")
    )


def load_study(name_or_path: str) -> Study:
    """Read a study by its name, or from a TOML file of one's own."""
    if name_or_path.endswith(".toml"):
        path = Path(name_or_path)
        try:
            return parse_study(path.stem, read_study_file(path))
        except ValueError as problem:  # a method or a data set that is not there
            raise problem if isinstance(problem, BadTable) else BadTable(f"{path}: {problem}") from None
    if name_or_path not in study_names():
        raise ValueError(
            f"no study {name_or_path!r}; choose one of {', '.join(study_names())}, or give a .toml file."
        )
    config = resources.files("labelcut.experiments") / "configs" / f"{name_or_path}.toml"
    return parse_study(name_or_path, read_study_file(config))


def parse_study(name: str, config: dict[str, Any]) -> Study:
    """Multiply out the parts of a study: data sets x kinds x noise x test shares x seeds x methods."""
    runs: dict[str, Run] = {}
    for part in config["part"]:
        combinations = product(
            _data_names(part),
            part["noise"],
            part.get("test_share", [0.3]),
            part["seeds"],
            part["methods"],
            part.get("kinds", [UNIFORM]),
        )
        for data, noise, test_share, seed, method, kind in combinations:
            entry: dict[str, Any] = {"name": method} if isinstance(method, str) else method
            get_method(entry["name"])
            if kind not in KINDS:
                raise ValueError(f"no kind of noise {kind!r}; choose one of {', '.join(KINDS)}.")
            run = Run(
                entry["name"],
                data,
                (noise, noise) if isinstance(noise, int | float) else (noise[0], noise[1]),
                test_share,
                seed,
                tuple(sorted(entry.get("settings", {}).items())),
                kind,
            )
            runs.setdefault(run.key, run)
    # A synthetic study that is stopped early has then covered the grid evenly.
    late = {one.name for one in synthetic_grid()} - {one.name for one in sample_grid(synthetic_grid(1))}
    ordered = sorted(
        runs.values(),
        key=lambda run: (run.data in late, _rows_of(run.data), run.data, run.seed, run.kind, run.noise),
    )
    return Study(name, config["title"], tuple(ordered), tuple(config.get("reuses", ())))


def _rows_of(data: str) -> int:
    if is_pictures(data):
        return picture_rows(data)
    return crowd_rows(data) if is_crowd(data) else rows_of(data)


def _data_names(part: dict[str, Any]) -> list[str]:
    if part["data"] == "real":
        return list(REAL)
    if part["data"] == "synthetic":
        grid = synthetic_grid(part.get("copies", 4))
        return [config.name for config in (sample_grid(grid) if part.get("sample") else grid)]
    return list(part["data"])


def sample_grid(grid: list[Synthetic]) -> list[Synthetic]:
    """Choose 54 configurations: every size, width, cluster count and separation; the rest in turn."""
    chosen: list[Synthetic] = []
    cells: dict[tuple[float, ...], list[Synthetic]] = {}
    for config in grid:
        if config.copy == 0:
            cell = (config.n_rows, config.n_features, config.n_clusters, config.class_sep)
            cells.setdefault(cell, []).append(config)
    for turn, members in enumerate(cells.values()):
        # Ten members per cell (five shares of positives, two centroids); 3 and 10 have no common factor.
        chosen.append(members[(3 * turn) % len(members)])
    return chosen


def execute(run: Run, kept: Kept | None = None) -> Record:
    """Do one run and return its line; an error becomes part of the line, unless the data are not to be had.

    `kept` is what the runs before it have left for it: the same scores come out, sooner.
    """
    kept = Kept() if kept is None else kept
    record = run.as_record()
    method = get_method(run.method)
    record["versions"] = _versions(method.packages)
    start = time.perf_counter()
    try:
        if is_crowd(run.data):
            return record | _combine_crowd(run, method, kept)
        if is_pictures(run.data):
            return record | _judge_pictures(run, method, kept)
        task = task_of(run, kept)
        inputs = Inputs(
            task.X,
            task.given,
            seed=seed_of("method", run.data, run.seed),
            n_jobs=run.n_jobs,
            name=run.data,
            told_noise=float(np.mean(run.noise)),
            n_classes=task.n_classes,
            kept=kept,
        )
        method.load()  # imports take seconds, once per process
        start = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcome = method.fit(inputs, **dict(run.settings))
        reused = outcome.seconds.get("reused", 0.0)
        record["seconds"] = {"total": round(time.perf_counter() - start + reused, 4)} | {
            stage: round(value, 4) for stage, value in outcome.seconds.items()
        }
        record["scores"] = {
            name: None if value is None else round(value, 6)
            for name, value in scores.score(task, outcome).items()
        }
        if run.data in REAL:
            record["histograms"] = scores.histograms(task, outcome)
        record["notes"] = outcome.notes
        told = sorted({f"{item.category.__name__}: {item.message}"[:200] for item in caught})
        if told:
            record["warnings"] = told[:3]
    except DataError:  # nothing was tried, so there is nothing to keep
        raise
    except Exception as problem:
        place = traceback.extract_tb(problem.__traceback__)[-1]
        record["seconds"] = {"total": round(time.perf_counter() - start, 4)}
        where = f"{Path(place.filename).name}:{place.lineno}"
        record["error"] = f"{type(problem).__name__} in {where}: {problem}"[:500]
    return record


def _combine_crowd(run: Run, method: Method, kept: Kept) -> Record:
    """Combine the labels of several annotators; give seconds and scores."""
    key = (run.data, run.seed)
    task = kept.find("crowd", key) or kept.keep("crowd", key, make_crowd(run.data, run.seed))
    combine = method.load()
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = combine(task)
    seconds = {"total": round(time.perf_counter() - start, 4)}
    found = score_crowd(task, outcome)
    return {"seconds": seconds, "scores": {name: value and round(value, 6) for name, value in found.items()}}


def _judge_pictures(run: Run, method: Method, kept: Kept) -> Record:
    """Judge labels by given opinions; give seconds, scores and what was noted."""
    task = kept.find("pictures", run.data) or kept.keep("pictures", run.data, make_pictures(run.data))
    judge = method.load()
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = judge(task, **method.settings, **dict(run.settings))
    found: Record = {"seconds": {"total": round(time.perf_counter() - start, 4)}}
    values = score_pictures(task, outcome)
    found["scores"] = {name: None if value is None else round(value, 6) for name, value in values.items()}
    found["notes"] = outcome.notes
    told = sorted({f"{item.category.__name__}: {item.message}"[:200] for item in caught})
    return found | ({"warnings": told[:3]} if told else {})


def task_of(run: Run, kept: Kept) -> Task:
    """Make the run's task; data set and task of the run before it are used again where they are the same."""
    key = (run.data, run.seed) if run.data in DRAWN else run.data
    data = kept.find("data", key) or kept.keep("data", key, load(run.data, run.seed))
    what = (key, run.noise, run.test_share, run.seed, run.kind)
    task: Task | None = kept.find("task", what)
    if task is None:
        made = make_task(data, noise=run.noise, test_share=run.test_share, seed=run.seed, kind=run.kind)
        task = kept.keep("task", what, made)
    return task


def _versions(packages: Iterable[str]) -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in (*PACKAGES, *packages):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "missing"
    return versions


def records_of(study: Study, results: Path) -> list[Record]:
    """Read every line there is for the study's runs, its own before reused ones, in the study's order."""
    found: dict[str, Record] = {}
    for name in (study.name, *study.reuses):
        for record in read_lines(results, name):
            found.setdefault(key_of(record), record)
    return [found[run.key] for run in study.runs if run.key in found]


def plan(
    study: Study,
    results: Path,
    only: Iterable[str] = (),
    *,
    seeds: int | None = None,
    retry: bool = False,
) -> list[Run]:
    """List the study's runs that have no line yet.

    Parameters
    ----------
    study : Study
        The study.
    results : Path
        The folder of result lines.
    only : iterable of str
        Names of methods, data sets, noise levels ("20") or kinds of noise: a run must match one of each sort
        named.
    seeds : int, optional
        Leave out seeds from this one on.
    retry : bool, default=False
        Count failed runs as not done.
    """
    done = {key_of(record) for record in records_of(study, results) if not (retry and "error" in record)}
    chosen = [run for run in _selected(study, list(only)) if seeds is None or run.seed < seeds]
    return [run for run in chosen if run.key not in done]


def _selected(study: Study, only: list[str]) -> list[Run]:
    kinds: list[tuple[set[str], Callable[[Run], str]]] = [
        ({run.method for run in study.runs}, lambda run: run.method),
        ({run.data for run in study.runs}, lambda run: run.data),
        ({noise_word(run.noise) for run in study.runs}, lambda run: noise_word(run.noise)),
        ({run.kind for run in study.runs}, lambda run: run.kind),
    ]
    known = set().union(*(names for names, _ in kinds))
    unknown = [name for name in only if name not in known]
    if unknown:
        shown = ", ".join(sorted(known)[:40])
        raise ValueError(
            f"{unknown[0]!r} is no method, data set or noise level of study {study.name}: {shown}."
        )
    return [
        run
        for run in study.runs
        if all(not names.intersection(only) or value(run) in only for names, value in kinds)
    ]


def noise_word(noise: Iterable[float]) -> str:
    """Name a noise level: "20", or "0+30" for one-sided noise."""
    percents = [f"{100 * share:g}" for share in noise]
    return percents[0] if len(set(percents)) == 1 else "+".join(percents)


def run_study(
    study: Study,
    results: Path,
    *,
    only: Iterable[str] = (),
    jobs: int = 1,
    seeds: int | None = None,
    retry: bool = False,
    backend: str | None = None,
    address: str | None = None,
    on_done: Callable[[Record, int, int], None] | None = None,
) -> int:
    """Do the missing runs, write each line as it comes, and return how many were done.

    Runs that another runner has claimed are left to it, and taken over if it ends before they are done.
    """
    folder = results / study.name
    arrivals = Arrivals(folder)  # before the plan: no line may come between them
    left = {run.key: run for run in plan(study, results, only, seeds=seeds, retry=retry)}
    done = 0
    if not left:
        return done
    with open_claims(folder / ".claims") as claims:
        while left:
            before = done
            for record in _answers(_claimed(left, claims, arrivals), jobs, backend, address):
                append_line(folder / f"{record['method']}.jsonl", record)
                claims.drop(key_of(record))
                left.pop(key_of(record), None)
                done += 1
                if on_done is not None:
                    on_done(record, done, done + len(left))
            if done == before:  # others are at what is left
                break
    return done


def _claimed(left: dict[str, Run], claims: Claims, arrivals: Arrivals) -> Iterator[list[Run]]:
    """Claim group after group; pass over runs that others are at, and forget those they have finished."""
    for group in together(list(left.values())):
        ours = [run for run in group if claims.take(run.key)]
        for finished in arrivals.since():
            left.pop(finished, None)
        for run in ours:
            if run.key not in left:
                claims.drop(run.key)
        missing = [run for run in ours if run.key in left]
        if missing:
            yield missing


def execute_in_turn(runs: Iterable[Run]) -> Iterator[Record]:
    """Do runs one after another; each may use what those before it have left."""
    kept = Kept()
    for run in runs:
        yield execute(run, kept)


def _execute_all(runs: Iterable[Run]) -> list[Record]:
    return list(execute_in_turn(runs))


def together(todo: Iterable[Run]) -> list[list[Run]]:
    """Put the runs of one table whose methods share a forest together, for one worker to do in turn."""
    groups: dict[tuple[object, ...], list[Run]] = {}
    for run in todo:
        common = get_method(run.method).shares or run.key
        table = (run.data, run.kind, run.noise, run.test_share, run.seed)
        groups.setdefault((*table, common), []).append(run)
    return list(groups.values())


def _answers(
    groups: Iterator[list[Run]], jobs: int, backend: str | None, address: str | None
) -> Iterator[Record]:
    if backend is None and jobs == 1:
        yield from execute_in_turn(chain.from_iterable(groups))
        return
    from joblib import Parallel, delayed, effective_n_jobs, parallel_config

    with cluster(backend, address) as options, parallel_config(**options):
        if backend == "ray":
            # Ray's backend answers only when a call ends, so a call is as many runs as there are workers.
            size = effective_n_jobs(jobs)
            while batch := list(islice(groups, size)):
                calls = (delayed(_execute_all)(group) for group in batch)
                yield from chain.from_iterable(Parallel(n_jobs=jobs)(calls))
        else:
            parallel = Parallel(
                n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs"
            )
            yield from chain.from_iterable(parallel(delayed(_execute_all)(group) for group in groups))
