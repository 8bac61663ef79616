"""The stages of a fit: timed, and heard by who listens."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_moons

from labelcut import ConfidenceHNC
from labelcut.cut import parametric_cut
from labelcut.hnc.clock import StageClock, hear_stages


def test_stages_of_a_fit_are_heard_inside_and_only_inside():
    X, y = make_moons(60, noise=0.1, random_state=0)
    heard = []
    with hear_stages(lambda *told: heard.append(told)):
        first = ConfidenceHNC().fit(X, y)
    n_heard = len(heard)
    ConfidenceHNC().fit(X, y)
    assert len(heard) == n_heard
    assert {stage for stage, _ in heard} == set(first.timings_)
    begun = [stage for stage, part in heard if part == 0.0]
    assert list(dict.fromkeys(begun)) == list(first.timings_)
    assert all(0.0 <= part <= 1.0 for _, part in heard)


def test_a_listener_can_stop_a_fit_and_is_gone_afterwards():
    def stop(stage, part):
        raise TimeoutError(stage)

    with pytest.raises(TimeoutError, match="graph"), hear_stages(stop), StageClock().stage("graph"):
        raise AssertionError("the stage must not begin")
    assert StageClock().listener is None


def test_any_name_is_a_stage_and_its_times_add_up():
    clock = StageClock()
    for _ in range(2):
        with clock.stage("a stage of tomorrow"):
            before = clock.seconds.get("a stage of tomorrow", 0.0)
    assert clock.seconds["a stage of tomorrow"] > before > 0


def test_a_cut_tells_how_far_it_is_through_the_clock():
    rng = np.random.default_rng(0)
    weights = csr_array(np.triu(rng.random((40, 40)), 1))
    heard = []
    with hear_stages(lambda *told: heard.append(told)):
        clock = StageClock()
        with clock.stage("cut"):
            cost, slope = rng.normal(size=40), np.ones(40)
            path = parametric_cut(weights + weights.T, cost, slope, on_progress=clock.part_done)
            clock.part_done(30, 40)
    assert path.join_at.shape == (40,)
    assert heard[0] == ("cut", 0.0)
    assert heard[-1] == ("cut", 0.75)
    assert all(0 <= part <= 1 for _, part in heard)
