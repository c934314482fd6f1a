"""Stopping rules: which trials stop at which milestones."""

import math
import random

import pytest
from facts import raises_with

from sweeps.search.stopping_rules import (
    HalvingStopping,
    MedianStopping,
    NeverStop,
    build_rule,
    compute_milestones,
)
from vera.errors import SettingError


def test_milestones_are_evaluated_steps():
    assert compute_milestones(2_700, 100, 3) == (100, 300, 900)
    assert compute_milestones(3_000, 300, 3) == (300, 900)
    assert compute_milestones(100, 100) == ()
    assert all(step % 70 == 0 for step in compute_milestones(5_000, 70, 2))
    with raises_with(SettingError, "got 1"):
        compute_milestones(100, 10, 1)


def stop_in_turn(rule, scores):
    """Whether each of the trials, which arrive in turn, is stopped."""
    stopped = []
    for number, score in enumerate(scores):
        rule.record_score(str(number), 10, score)
        stopped.append(rule.should_stop(str(number), 10))
    return stopped


def test_halving_keeps_a_third_of_the_trials_that_arrived():
    stopped = stop_in_turn(HalvingStopping((10,), 3), [5.0, 1.0, 2.0, 9.0, 3.0, 8.0, 0.0, 7.0, 6.0])
    assert stopped == [False, True, True, False, True, False, True, True, True]


def test_of_equal_scores_the_earlier_one_continues():
    assert stop_in_turn(HalvingStopping((10,), 3), [-100.0] * 12) == [False, *[True] * 11]


@pytest.mark.parametrize(
    ("rule", "places"),
    [(HalvingStopping((10, 30, 90), 2), [30]), (MedianStopping((10, 30, 90)), [30, 90])],
    ids=["halving", "median"],
)
def test_a_diverged_trial_has_a_place_where_it_would_have_been_stopped(rule, places):
    """Under halving at the next milestone only, because more places would let other trials pass."""
    rule.record_score("bad", 10, 1.0)
    rule.record_end("bad", 17, -100.0)
    assert [step for step, known in rule.scores.items() if known.get("bad") == -100.0] == places
    rule.record_score("good", 30, -5.0)
    assert not rule.should_stop("good", 30)
    rule.forget("bad")
    assert rule.scores == {10: {}, 30: {"good": -5.0}, 90: {}}


def test_diverged_trials_make_no_room_at_later_milestones():
    """Every second of 90 trials diverges at once; of the others a third of all arrivals passes each
    milestone."""
    rule, rng, passed = HalvingStopping((10, 30, 90), 3), random.Random(0), dict.fromkeys((10, 30, 90), 0)
    for number in range(90):
        if number % 2:
            rule.record_end(str(number), 3, -100.0)
            continue
        quality = rng.random()
        for step in rule.milestones:
            rule.record_score(str(number), step, quality)
            if rule.should_stop(str(number), step):
                break
            passed[step] += 1
    assert passed[10] <= 90 / 3 + 3
    assert passed[30] <= passed[10] / 2
    assert passed[90] < passed[30]


def test_scores_must_be_finite():
    with raises_with(ValueError, "nan"):
        HalvingStopping((10,), 2).record_score("worse", 10, math.nan)


def test_the_median_needs_enough_other_trials():
    rule = MedianStopping((10,), needed=3)
    assert stop_in_turn(rule, [1.0, 2.0, 3.0]) == [False, False, False]
    rule.record_score("below", 10, 1.5)
    rule.record_score("above", 10, 2.5)
    assert (rule.should_stop("below", 10), rule.should_stop("above", 10)) == (True, False)


def test_rules_are_built_by_name():
    assert isinstance(build_rule("none", 100, 10), NeverStop)
    assert build_rule("asha", 100, 10).milestones == (10, 30)
    assert build_rule("median", 40, 10).milestones == (10, 20, 30)
    assert not build_rule("asha", 100, 10).should_stop("unknown", 10)
    with raises_with(SettingError, "'hyperband'", "asha"):
        build_rule("hyperband", 100, 10)
