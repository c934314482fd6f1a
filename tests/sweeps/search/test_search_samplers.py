"""Samplers: proposals stay in the space, repeat under a seed, and TPE learns."""

import math
import random
import subprocess
import sys

import pytest
from facts import raises_with
from locations import ROOT
from search_space import SPACE, SPEC

from sweeps.search.objective import SearchScore
from sweeps.search.proposer import build_sampler
from sweeps.search.space import Space, choice
from vera.errors import SettingError


def bowl(point):
    """A score that is best at lr = 1e-3 and four latent dimensions."""
    return -abs(math.log10(point["method.lr"]) + 3) - abs(point["networks.generator.latent_dim"] - 4) / 4


def states_of(sampler):
    return [trial.state.name for trial in sampler.study.trials]


@pytest.mark.parametrize("name", ["grid", "random", "tpe"])
def test_proposals_stay_in_the_space_and_repeat_under_the_same_seed(name):
    one, other = (build_sampler(name, SPACE, 1, 7, []) for _ in range(2))
    for _ in range(8):
        point = one.propose()
        assert point == other.propose()
        assert SPACE.read(SPACE.apply(SPEC, point).to_dict()) == SPACE.round_point(point)
        for sampler in (one, other):
            sampler.learn(point, SearchScore((bowl(point),)))
    if name == "grid":
        assert one.propose() is None


def assert_better_than_random(sampler, rng):
    proposals = [sampler.propose() for _ in range(12)]
    drawn = [SPACE.draw(rng) for _ in range(200)]
    assert sum(map(bowl, proposals)) / 12 > sum(map(bowl, drawn)) / 200 + 0.2
    return proposals


def test_tpe_learns_from_known_scores():
    rng, known = random.Random(3), []
    for _ in range(60):
        point = SPACE.draw(rng)
        known.append((point, SearchScore((bowl(point),), 10 if bowl(point) < -1 else None)))
    sampler = build_sampler("tpe", SPACE, 1, 0, known)
    proposals = assert_better_than_random(sampler, rng)
    sampler.learn(proposals[0], None)
    sampler.learn(proposals[1], SearchScore((0.0,), 10))
    states = states_of(sampler)
    assert (states.count("FAIL"), states.count("RUNNING")) == (1, 10)


def test_tpe_learns_from_several_objectives():
    """Points that a search for one objective stopped early are ignored."""
    rng, known = random.Random(3), []
    for _ in range(60):
        point = SPACE.draw(rng)
        scores = (bowl(point), 10 * bowl(point))
        known.append((point, SearchScore(scores, 10 if bowl(point) < -1.5 else None)))
    sampler = build_sampler("tpe", SPACE, 2, 0, known)
    proposals = assert_better_than_random(sampler, rng)
    sampler.learn(proposals[0], SearchScore((0.0, 0.0)))
    assert [trial.values for trial in sampler.study.best_trials] == [[0.0, 0.0]]


def test_with_two_objectives_tpe_learns_nothing_from_a_stopped_point():
    sampler = build_sampler("tpe", SPACE, 2, 0, [])
    sampler.learn(sampler.propose(), SearchScore((1.0, 2.0), stopped_at=10))
    sampler.learn(SPACE.draw(random.Random(0)), SearchScore((1.0, 2.0), stopped_at=10))
    assert states_of(sampler) == ["FAIL"]


def test_a_point_that_is_proposed_twice_is_answered_twice():
    few = Space((choice("method.penalty", values=("half",)),))
    sampler = build_sampler("tpe", few, 1, 0, [])
    first, second = sampler.propose(), sampler.propose()
    assert first == second
    sampler.learn(second, None)
    sampler.learn(first, SearchScore((1.0,)))
    assert states_of(sampler) == ["COMPLETE", "FAIL"]


def test_an_unknown_sampler_is_refused():
    with raises_with(SettingError, "'tpee'", "tpe?"):
        build_sampler("tpee", SPACE, 1, 0, [])


@pytest.mark.parametrize("name", ["grid", "random", "tpe"])
@pytest.mark.parametrize("seed", [-5, 2**32, 99999999999999999999])
def test_a_seed_outside_the_range_is_refused(name, seed):
    with raises_with(SettingError, "4294967295", f"got {seed}", "--sampler-seed"):
        build_sampler(name, SPACE, 1, seed, [])


def test_a_search_with_the_last_seed_can_be_resumed():
    known = [(SPACE.draw(random.Random(0)), SearchScore((1.0,)))]
    assert build_sampler("tpe", SPACE, 1, 2**32 - 1, known).propose() is not None


def test_declaring_a_search_does_not_load_optuna():
    script = "import sys, sweeps.search.proposer, bench.searches.problems; print('optuna' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
