"""Learning-rate schedule: closed form, the optimisers it applies to, and resumed runs."""

import pytest
import torch
from conformance import CLASSIFIERS, PAIRS, check_resume, find_differences, make_batch, make_method

from vera.spec.registry import joint_methods
from vera.training.schedule import Schedule

MOVING = {"warmup": 10, "decay_at": (3, 9), "decay": 0.3}
"""At step 7, where `check_resume` interrupts a run, the rates are still rising and one of two milestones has
passed."""
JOINT_PAIRS = [(method, energy) for method, energy in PAIRS if energy in CLASSIFIERS]


def optimiser(*rates):
    return torch.optim.SGD([{"params": [torch.nn.Parameter(torch.zeros(1))], "lr": rate} for rate in rates])


def rates_over(schedule, optimisers, steps):
    """The rates of all groups at each of the next steps."""
    rows = []
    for _ in range(steps):
        schedule.advance()
        rows.append([group["lr"] for one in optimisers for group in one.param_groups])
    return rows


@pytest.mark.parametrize(
    ("settings", "scales"),
    [
        ({}, [1, 1, 1, 1, 1, 1]),
        ({"warmup": 1}, [1, 1, 1, 1, 1, 1]),
        ({"warmup": 4}, [1 / 4, 2 / 4, 3 / 4, 1, 1, 1]),
        ({"milestones": (2, 4), "factor": 0.5}, [1, 1, 1 / 2, 1 / 2, 1 / 4, 1 / 4]),
        ({"milestones": (4, 2), "factor": 0.5}, [1, 1, 1 / 2, 1 / 2, 1 / 4, 1 / 4]),
        ({"milestones": (1,)}, [1, 0.3, 0.3, 0.3, 0.3, 0.3]),
        ({"warmup": 4, "milestones": (2,), "factor": 2.0}, [1 / 4, 2 / 4, 6 / 4, 2, 2, 2]),
    ],
)
def test_the_rates_follow_the_closed_form(settings, scales):
    optimisers = [optimiser(0.1, 3.0), optimiser(0.02)]
    found = rates_over(Schedule(optimisers, **settings), optimisers, len(scales))
    assert found == [pytest.approx([0.1 * scale, 3.0 * scale, 0.02 * scale], rel=1e-12) for scale in scales]


def test_it_continues_with_optimisers_whose_state_was_loaded():
    """An optimiser that loads a state has new groups; the old ones have no effect any more."""
    straight, first, second = ([optimiser(0.1)] for _ in range(3))
    schedules = [Schedule(optimisers, warmup=4, milestones=(5,)) for optimisers in (straight, first, second)]
    expected = rates_over(schedules[0], straight, 8)
    before = rates_over(schedules[1], first, 2)
    second[0].load_state_dict(first[0].state_dict())
    schedules[2].load_state_dict(schedules[1].state_dict())
    assert before + rates_over(schedules[2], second, 6) == expected


@pytest.mark.parametrize(("method", "energy"), JOINT_PAIRS)
def test_a_run_resumed_while_the_rates_move_is_bit_identical(method, energy, tmp_path):
    check_resume(method, energy, tmp_path, **MOVING)


@pytest.mark.parametrize("method", list(joint_methods))
def test_it_applies_to_every_optimiser_of_a_method_except_that_of_the_estimator(method):
    built = make_method(method, "few_labels", **{**MOVING, "warmup": 4})
    own = [value for value in vars(built).values() if isinstance(value, torch.optim.Optimizer)]
    estimator = getattr(getattr(built, "entropy", None), "optimiser", None)
    start = [[group["lr"] for group in one.param_groups] for one in own]
    rate_of_eta = None if estimator is None else estimator.param_groups[0]["lr"]
    batch = make_batch("few_labels")
    built.begin(batch)
    for scale in (1 / 4, 2 / 4, 3 / 4, 0.3, 0.3):
        built.step(batch)
        assert [[group["lr"] for group in one.param_groups] for one in own] == [
            pytest.approx([rate * scale for rate in rates], rel=1e-12) for rates in start
        ]
        assert estimator is None or estimator.param_groups[0]["lr"] == rate_of_eta
    assert own


def test_the_warm_up_shortens_the_first_step():
    """The first step of Adam without momentum equals the rate in every weight; a warm-up of ten steps makes
    it a tenth."""
    moves = []
    for warmup in (0, 10):
        built = make_method("supervised", "all_labels", lr=0.01, warmup=warmup)
        before = [w.detach().double().clone() for w in built.energy_weights]
        batch = make_batch("all_labels")
        built.begin(batch)
        built.step(batch)
        moves.append(
            max(
                float((w.detach() - old).abs().max())
                for w, old in zip(built.energy_weights, before, strict=True)
            )
        )
    assert moves == pytest.approx([0.01, 0.001], rel=1e-3)


def test_two_runs_do_not_share_a_schedule():
    one, other = (
        make_method("supervised", "all_labels", warmup=4),
        make_method("supervised", "all_labels", warmup=4),
    )
    batch = make_batch("all_labels")
    for _ in range(2):
        one.step(batch)
    other.load_state_dict(one.state_dict())
    assert (other.schedule.next_step, one.schedule.next_step) == (2, 2)
    one.step(batch)
    assert (other.schedule.next_step, one.schedule.next_step) == (2, 3)
    other.step(batch)
    assert find_differences(one.state_dict(), other.state_dict()) == []
