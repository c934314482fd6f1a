"""Spaces, objectives, samplers and stopping rules: plain data and plain rules, each alone."""

import json
import math
import random

import pytest
from engine_helpers import make_row

from sweeps.search.objective import Objective, Result, aggregated
from sweeps.search.samplers import sampler_for
from sweeps.search.space import Axis, Space, choice, log_uniform, uniform, whole
from sweeps.search.stopping_rules import Halving, Median, Never, milestones, rule_for
from vera.errors import SettingError
from vera.spec.trial_spec import TrialSpec

SPEC = TrialSpec(
    {"name": "moons"},
    {"energy": {"name": "mlp"}, "generator": {"name": "mlp-generator", "latent_dim": 2}},
    {"name": "vera", "lr": 1e-3},
    100,
)
SPACE = Space((
    log_uniform("method.lr", "method.generator_lr", low=1e-4, high=1e-2, grid=(1e-4, 1e-3)),
    whole("networks.generator.latent_dim", low=1, high=8, grid=(2, 4)),
    choice("method.penalty", values=("half", "full")),
))  # fmt: skip


def test_a_point_goes_into_a_spec_and_comes_back_off_it():
    rng = random.Random(0)
    for _ in range(200):
        point = SPACE.draw(rng)
        spec = SPACE.apply(SPEC, point)
        assert spec.method["lr"] == spec.method["generator_lr"] == point["method.lr"]
        assert SPACE.read(json.loads(json.dumps(spec.to_dict()))) == point
    assert SPEC.method == {"name": "vera", "lr": 1e-3}


@pytest.mark.parametrize("changes", [{"lr": 0.5}, {"lr": 2e-3}, {"penalty": "none"}, {"penalty": True}])
def test_a_spec_outside_the_space_has_no_point(changes):
    inside = SPACE.apply(
        SPEC, {"method.lr": 1e-3, "networks.generator.latent_dim": 2, "method.penalty": "half"}
    )
    assert SPACE.read(inside.to_dict()) is not None
    assert SPACE.read({**inside.to_dict(), "method": {**inside.method, **changes}}) is None


def test_draws_are_even_on_the_axis_s_own_scale():
    axis, rng = log_uniform("method.lr", low=1e-4, high=1e-2), random.Random(1)
    draws = [axis.draw(rng) for _ in range(2_000)]
    assert sum(value < 1e-3 for value in draws) / 2_000 == pytest.approx(0.5, abs=0.04)
    assert sorted({whole("batch_size", low=1, high=3).draw(rng) for _ in range(100)}) == [1, 2, 3]
    assert [axis.position(value) for value in (1e-4, 1e-3, 1e-2)] == pytest.approx([0, 0.5, 1])


def test_the_grid_has_every_combination_the_last_axis_fastest():
    points = list(SPACE.grid())
    assert len(points) == 8
    assert [point["method.penalty"] for point in points[:4]] == ["half", "full"] * 2
    with pytest.raises(SettingError, match="declares no grid; take --sampler"):
        list(Space((uniform("method.lr", low=0, high=1),)).grid())


def test_a_grid_can_have_other_values_by_place_or_by_its_last_part():
    for name in ("lr", "method.lr", "method.generator_lr"):
        assert SPACE.with_grid(name, ["1e-2", "0.005", "0.01"]).axes[0].grid == (1e-2, 5e-3)
    assert SPACE.with_grid("latent_dim", ["3"]).axes[1].grid == (3,)
    assert SPACE.with_grid("penalty", ["Full"]).axes[2].grid == ("full",)
    assert SPACE.axes[0].grid == (1e-4, 1e-3)
    truth = Space((choice("method.reduced", values=(True, False)),)).with_grid("reduced", ["false"])
    assert truth.axes[0].grid == (False,)


@pytest.mark.parametrize(("name", "texts", "message"), [
    ("lrr", ["1"], "no axis 'lrr'.*lr"),
    ("lr", ["0.5"], r"'lr' has 0.5 in its grid, but not in its range, 0.0001 to 0.01"),
    ("lr", ["nan"], "has nan in its grid"),
    ("lr", ["fast"], "'lr' has 'fast' in its grid, which is no number"),
    ("lr", [""], "has '' in its grid"),
    ("latent_dim", ["2.5"], "has 2.5 in its grid"),
    ("penalty", ["none"], "has 'none' in its grid, but not in its range, one of half, full"),
])  # fmt: skip
def test_values_that_an_axis_does_not_hold_are_refused(name, texts, message):
    with pytest.raises(SettingError, match=message):
        SPACE.with_grid(name, texts)


@pytest.mark.parametrize(("build", "message"), [
    (lambda: log_uniform("method.lr", low=0, high=1), "low > 0 on a log scale"),
    (lambda: Axis(("method.lr",)), "either choices or both"),
    (lambda: Axis(()), "needs a place"),
    (lambda: uniform("method.lr", low=0, high=1, grid=(2.0,)), "in its grid, but not in its range"),
    (lambda: Space((uniform("steps", low=1, high=2),)).apply(SPEC, {"steps": 1}), "knows no place 'steps'"),
    (lambda: Space((uniform("networks.critic.width", low=1, high=2),)).apply(SPEC, {"networks.critic.width": 1}), "no place"),
])  # fmt: skip
def test_what_makes_no_sense_is_refused(build, message):
    with pytest.raises(SettingError, match=message):
        build()


LARGE, SMALL = (
    Objective("test_log_likelihood", worst=-100.0),
    Objective("seconds", worst=60.0, direction="small"),
)


def test_a_diverged_trial_counts_as_the_worst_and_a_failed_one_not_at_all():
    metrics = '{"test_log_likelihood": -3.0}'
    assert LARGE.of_row(make_row(outcome="ok", metrics=metrics)) == -3.0
    assert LARGE.of_row(make_row(outcome="diverged", metrics=metrics)) == -100.0
    assert LARGE.of_row(make_row(outcome="error", metrics=metrics)) is None
    assert LARGE.of_row(make_row(outcome="ok", metrics='{"test_log_likelihood": -1e9}')) == -100.0
    assert LARGE.of_row(make_row(outcome="ok", metrics="{}")) is None
    assert SMALL.of_row(make_row(outcome="ok", seconds=5.0)) == -5.0
    assert SMALL.printed(-5.0) == "seconds 5"


def test_seeds_are_put_together_as_declared():
    assert [aggregated([1.0, 2.0, 6.0], by) for by in ("mean", "median", "worst")] == [3.0, 2.0, 1.0]
    with pytest.raises(SettingError, match="not by 'best'"):
        aggregated([1.0], "best")


def test_milestones_are_evaluated_steps():
    assert milestones(2_700, 100, 3) == (100, 300, 900)
    assert milestones(3_000, 300, 3) == (300, 900)
    assert milestones(100, 100) == ()
    assert all(step % 70 == 0 for step in milestones(5_000, 70, 2))


def test_halving_keeps_a_third_of_those_that_came():
    rule = Halving((10,), 3)
    stopped = []
    for number, score in enumerate([5.0, 1.0, 2.0, 9.0, 3.0, 8.0, 0.0, 7.0, 6.0]):
        rule.note(str(number), 10, score)
        stopped.append(rule.stops(str(number), 10))
    assert stopped == [False, True, True, False, True, False, True, True, True]


def test_of_equals_the_one_that_came_before_goes_on():
    rule = Halving((10,), 3)
    stopped = []
    for number in range(12):
        rule.note(str(number), 10, -100.0)
        stopped.append(rule.stops(str(number), 10))
    assert stopped == [False, *[True] * 11]


def test_a_diverged_trial_has_its_place_where_it_would_have_been_stopped():
    """At the next milestone under halving, where more of them would let the others through; at all of them
    for a median."""
    for rule, places in ((Halving((10, 30, 90), 2), [30]), (Median((10, 30, 90)), [30, 90])):
        rule.note("bad", 10, 1.0)
        rule.note_end("bad", 17, -100.0)
        assert [step for step, known in rule.scores.items() if known.get("bad") == -100.0] == places
        rule.note("good", 30, -5.0)
        assert not rule.stops("good", 30)
        rule.forget("bad")
        assert rule.scores == {10: {}, 30: {"good": -5.0}, 90: {}}


def test_diverged_trials_make_no_room_for_others_at_later_milestones():
    """Of 90 trials every second diverges at once: of the others a third of all that came passes each
    milestone."""
    rule, rng, passed = Halving((10, 30, 90), 3), random.Random(0), dict.fromkeys((10, 30, 90), 0)
    for number in range(90):
        if number % 2:
            rule.note_end(str(number), 3, -100.0)
            continue
        quality = rng.random()
        for step in rule.milestones:
            rule.note(str(number), step, quality)
            if rule.stops(str(number), step):
                break
            passed[step] += 1
    assert passed[10] <= 90 / 3 + 3
    assert passed[30] <= passed[10] / 2
    assert passed[90] < passed[30]


def test_only_finite_scores_are_told():
    rule = Halving((10,), 2)
    with pytest.raises(ValueError, match="finite"):
        rule.note("worse", 10, math.nan)


def test_the_median_needs_others_first():
    rule = Median((10,), needed=3)
    for number, score in enumerate([1.0, 2.0, 3.0]):
        rule.note(str(number), 10, score)
        assert not rule.stops(str(number), 10)
    rule.note("below", 10, 1.5)
    rule.note("above", 10, 2.5)
    assert (rule.stops("below", 10), rule.stops("above", 10)) == (True, False)


def test_rules_by_name():
    assert isinstance(rule_for("none", 100, 10), Never)
    assert rule_for("asha", 100, 10).milestones == (10, 30)
    assert rule_for("median", 40, 10).milestones == (10, 20, 30)
    assert not rule_for("asha", 100, 10).stops("unknown", 10)
    with pytest.raises(SettingError, match="no scheduler 'hyperband'"):
        rule_for("hyperband", 100, 10)


def bowl(point):
    """Best at lr = 1e-3 and four latent dimensions."""
    return -abs(math.log10(point["method.lr"]) + 3) - abs(point["networks.generator.latent_dim"] - 4) / 4


@pytest.mark.parametrize("name", ["grid", "random", "tpe"])
def test_samplers_stay_in_the_space_and_random_ones_repeat_themselves(name):
    one, other = (sampler_for(name, SPACE, 1, 7, []) for _ in range(2))
    for _ in range(8):
        point = one.propose()
        assert point == other.propose()
        assert SPACE.read(SPACE.apply(SPEC, point).to_dict()) == SPACE.settled(point)
        for sampler in (one, other):
            sampler.learn(point, Result((bowl(point),)))
    if name == "grid":
        assert one.propose() is None


def test_tpe_learns_where_it_is_good_from_what_it_is_told():
    rng, known = random.Random(3), []
    for _ in range(60):
        point = SPACE.draw(rng)
        known.append((point, Result((bowl(point),), 10 if bowl(point) < -1 else None)))
    sampler = sampler_for("tpe", SPACE, 1, 0, known)
    proposals = [sampler.propose() for _ in range(12)]
    drawn = [SPACE.draw(rng) for _ in range(200)]
    assert sum(map(bowl, proposals)) / 12 > sum(map(bowl, drawn)) / 200 + 0.2
    sampler.learn(proposals[0], None)
    sampler.learn(proposals[1], Result((0.0,), 10))
    states = [trial.state.name for trial in sampler.study.trials]
    assert (states.count("FAIL"), states.count("RUNNING")) == (1, 10)


def test_tpe_learns_from_several_objectives_too():
    """Some of the known ones were stopped early, in a search for one of them: of no use here, and no harm."""
    rng, known = random.Random(3), []
    for _ in range(60):
        point = SPACE.draw(rng)
        scores = (bowl(point), 10 * bowl(point))
        known.append((point, Result(scores, 10 if bowl(point) < -1.5 else None)))
    sampler = sampler_for("tpe", SPACE, 2, 0, known)
    proposals = [sampler.propose() for _ in range(12)]
    drawn = [SPACE.draw(rng) for _ in range(200)]
    assert sum(map(bowl, proposals)) / 12 > sum(map(bowl, drawn)) / 200 + 0.2
    sampler.learn(proposals[0], Result((0.0, 0.0)))
    assert [trial.values for trial in sampler.study.best_trials] == [[0.0, 0.0]]


def test_a_point_that_is_proposed_twice_is_told_twice():
    few = Space((choice("method.penalty", values=("half",)),))
    sampler = sampler_for("tpe", few, 1, 0, [])
    first, second = sampler.propose(), sampler.propose()
    assert first == second
    sampler.learn(second, None)
    sampler.learn(first, Result((1.0,)))
    assert [trial.state.name for trial in sampler.study.trials] == ["COMPLETE", "FAIL"]


def test_an_unknown_sampler_is_refused():
    with pytest.raises(SettingError, match="no sampler 'tpee'"):
        sampler_for("tpee", SPACE, 1, 0, [])


@pytest.mark.parametrize("text", ["inf", "-inf", "nan", "1e999", "2.5"])
def test_what_is_no_whole_number_is_not_in_a_whole_axis(text):
    with pytest.raises(SettingError, match="in its grid, but not in its range, 1 to 8"):
        SPACE.with_grid("latent_dim", [text])


@pytest.mark.parametrize("name", ["grid", "random", "tpe"])
@pytest.mark.parametrize("seed", [-5, 2**32, 99999999999999999999])
def test_a_seed_that_a_sampler_cannot_take_is_refused(name, seed):
    with pytest.raises(
        SettingError, match=f"from 0 to 4294967295, got {seed}: choose another --sampler-seed"
    ):
        sampler_for(name, SPACE, 1, seed, [])


def test_the_last_seed_can_be_resumed_too():
    known = [(SPACE.draw(random.Random(0)), Result((1.0,)))]
    assert sampler_for("tpe", SPACE, 1, 2**32 - 1, known).propose() is not None


def test_of_two_objectives_a_point_that_was_stopped_teaches_nothing():
    sampler = sampler_for("tpe", SPACE, 2, 0, [])
    sampler.learn(sampler.propose(), Result((1.0, 2.0), stopped_at=10))
    sampler.learn(SPACE.draw(random.Random(0)), Result((1.0, 2.0), stopped_at=10))
    assert [trial.state.name for trial in sampler.study.trials] == ["FAIL"]
