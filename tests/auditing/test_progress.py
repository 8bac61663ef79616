"""How far an audit is: told in Python, in lines, on a bar."""

import io
import re

import pytest
from tables import AUDIT, run, shop, write_shop

import labelcut
from labelcut.auditing.bar import Bar
from labelcut.auditing.progress import BETWEEN_LINES, COSTS, Lines, Progress, followed


def test_the_share_grows_from_0_to_1_over_the_stages_of_an_audit():
    frame, _ = shop(n_rows=80, n_wrong=4)
    heard = []
    labelcut.audit(frame, label="churned", progress=lambda *told: heard.append(told))
    stages, shares = zip(*heard, strict=True)
    assert stages[:3] == ("reading", "columns to numbers", "forest")
    assert stages[-4:] == ("planted errors", "reasons", "report", "done")
    assert stages.count("graph") == 1  # the light fit that plants errors is no part of it
    assert list(shares) == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert 0.4 < shares[stages.index("graph")] < 0.7


def test_an_exception_in_the_callback_ends_the_audit():
    frame, _ = shop(n_rows=80, n_wrong=4)

    def stop(stage, share):
        if stage == "graph":
            raise TimeoutError("a deadline")

    with pytest.raises(TimeoutError, match="a deadline"):
        labelcut.audit(frame, label="churned", progress=stop)


def shares_of(stages, **options):
    progress = Progress(**options)
    found = []
    for stage in stages:
        progress(stage)
        found.append(progress.share)
    return found


ALL = [name for costs in COSTS for name in costs]


def test_stages_count_by_their_cost_and_those_passed_over_not_at_all():
    shares = dict(zip(ALL, shares_of(ALL), strict=True))
    costs = {name: cost for costs in COSTS for name, cost in costs.items()}
    for before, stage in zip(ALL, ALL[1:], strict=False):
        assert shares[stage] - shares[before] == pytest.approx(costs[before] / sum(costs.values()))
    few = shares_of(["reading", "graph", "writing"])
    assert few[0] == 0
    assert few[1] == pytest.approx(12 / (12 + sum(costs[name] for name in ALL[ALL.index("graph") :])))
    assert few[2] == pytest.approx(18 / 22)


def test_each_class_has_its_cut_and_unknown_stages_simply_work():
    cut = ["confidence", "folds", "cut", "probabilities"]
    stages = ["forest", *(3 * cut), "something new", "writing", "something else"]
    shares = shares_of(stages, n_cuts=3)
    assert shares == sorted(shares)
    assert shares[5] - shares[1] == pytest.approx(shares[9] - shares[5])
    assert shares[-1] < 1


def test_a_stage_that_tells_how_far_it_is_moves_the_share_towards_its_end():
    heard = []
    progress = Progress(lambda *told: heard.append(told))
    progress.hear("forest", 0.0)
    before, until = progress.share, progress.until
    progress.hear("forest", 0.5)
    assert progress.share == pytest.approx((before + until) / 2)
    progress.hear("forest", 0.75)
    assert progress.share == pytest.approx(before + 0.75 * (until - before))
    progress.hear("another", 0.5)  # of a stage that is not at work
    assert [stage for stage, _ in heard] == ["forest", "forest", "forest"]
    progress.hear("graph", 0.0)
    assert progress.share == pytest.approx(until)


@pytest.fixture
def clock(monkeypatch):
    """A time that only moves when told to."""
    now = [100.0]
    monkeypatch.setattr("labelcut.auditing.progress.time.monotonic", lambda: now[0])
    return now


def test_lines_tell_a_stage_and_its_time_when_it_has_ended(clock, capsys):
    with followed(None, verbose=True) as progress:
        for stage, seconds in (("reading", 2.0), ("columns to numbers", 0.01), ("forest", 3.26)):
            progress(stage)
            clock[0] += seconds
    told = capsys.readouterr().err.splitlines()
    assert [line.rsplit(",", 1)[0] for line in told] == [
        "labelcut: reading, 2.0 s",
        "labelcut: forest, 3.3 s",
    ]
    assert told[-1].endswith(", 100 % done")


def test_stages_that_come_again_and_again_are_told_now_and_then(clock, capsys):
    lines = Lines()
    for _ in range(30):
        for stage in ("folds", "cut"):
            lines(stage, 0.5)
            clock[0] += 0.5
    lines("writing", 1.0)
    told = capsys.readouterr().err.splitlines()
    assert 4 <= len(told) <= 4 + 2 * 30 / BETWEEN_LINES
    seconds = [float(re.search(r", ([0-9.]+) s,", line)[1]) for line in told]
    assert sum(seconds) == pytest.approx(30)


def test_the_bar_creeps_to_the_end_of_a_stage_but_never_gets_there(clock):
    progress = Progress()
    bar = Bar(progress)
    progress("reading")
    assert bar.shown(100.0) == 0
    progress("forest")
    shown = [bar.shown(110.0 + seconds) for seconds in (0, 5, 20, 1000)]
    assert shown == sorted(shown)
    assert shown[0] == progress.share
    assert shown[2] < progress.until
    from rich.console import Console

    console = Console(file=io.StringIO(), width=80)
    console.print(bar)
    assert re.search(r"\d+ % forest 0:00", console.file.getvalue())


def test_a_log_gets_lines_and_who_wants_quiet_gets_none(tmp_path, capsys):
    write_shop(tmp_path / "shop.csv", n_rows=80, n_wrong=4)
    words = ("audit", tmp_path / "shop.csv", *AUDIT, "--out", tmp_path / "out")
    assert run(*words) == 0
    lines = capsys.readouterr().err.splitlines()
    assert any(re.fullmatch(r"labelcut: forest, \d+\.\d s, \d+ % done", line) for line in lines)
    for quiet in ("--quiet", "--json"):
        assert run(*words, quiet) == 0
        assert capsys.readouterr().err == ""
    labelcut.audit(tmp_path / "shop.csv", label="churned", verbose=True)
    assert "labelcut: forest, " in capsys.readouterr().err
