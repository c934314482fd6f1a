"""Plans: declared trials minus stored ones, and the estimated cost of the rest."""

from dataclasses import replace

import pytest
from engine_helpers import make_row

from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import reseed
from sweeps.trial.plan import Plan, deduplicate, estimate_seconds, make_plan
from sweeps.trial.sweep import find_sweep

SWEEP = find_sweep("toy-demo")
TRIALS = SWEEP.trials("smoke")


def make_measured_row(trial, seconds, outcome="ok"):
    facts = canonical_json(trial.facts)
    return make_row(trial.id, outcome=outcome, steps=trial.spec.steps, seconds=seconds, spec=facts)


def test_with_an_empty_store_every_trial_is_missing():
    plan = make_plan(TRIALS, {}, [])
    assert (plan.missing, plan.cached, plan.seconds, plan.estimate_cost()) == (TRIALS, [], {}, None)


def test_stored_trials_are_subtracted_whatever_their_outcome():
    plan = make_plan(TRIALS, {TRIALS[0].id: "ok", TRIALS[4].id: "error", "of another sweep": "ok"}, [])
    assert plan.cached == [TRIALS[0], TRIALS[4]]
    assert plan.missing == [t for t in TRIALS if t not in plan.cached]


@pytest.mark.parametrize(
    ("retry", "again"), [((), []), (("error",), [1]), (("error", "timeout"), [1, 2]), (("diverged",), [])]
)
def test_outcomes_that_are_retried_count_as_missing(retry, again):
    outcomes = dict(zip([t.id for t in TRIALS], ["ok", "error", "timeout"] + 6 * ["ok"], strict=True))
    assert make_plan(TRIALS, outcomes, [], retry).missing == [TRIALS[i] for i in again]


def test_a_trial_that_is_listed_twice_runs_once():
    assert deduplicate([TRIALS[1], TRIALS[0], TRIALS[1]]) == [TRIALS[1], TRIALS[0]]
    assert make_plan([*TRIALS, *TRIALS], {}, []).missing == TRIALS


def test_adding_a_seed_to_a_finished_sweep_gives_exactly_the_new_trials():
    done = {trial.id: "ok" for trial in TRIALS}
    new = make_plan(SWEEP.trials("smoke", range(4)), done, []).missing
    assert new == [reseed(t, 3) for t in TRIALS if t.spec.seed == 0]
    assert make_plan(SWEEP.trials("laptop"), done, []).cached == []


def test_adding_a_value_to_a_grid_gives_exactly_the_new_trials():
    def grid(rates):
        return [
            replace(TRIALS[0], spec=replace(TRIALS[0].spec, method={"name": "ml", "lr": lr})) for lr in rates
        ]

    done = {trial.id: "ok" for trial in grid((1e-3, 1e-4))}
    assert make_plan(grid((1e-3, 1e-4, 1e-5)), done, []).missing == grid((1e-5,))


def test_the_estimate_is_the_median_of_the_cost_class_scaled_to_the_steps():
    trial, other_profile = TRIALS[0], SWEEP.trials("laptop")[0]
    long = replace(trial, spec=replace(trial.spec, steps=10 * trial.spec.steps))
    faster = replace(trial, spec=replace(trial.spec, method={**trial.spec.method, "lr": 0.5}))
    rows = [
        make_measured_row(reseed(trial, seed), seconds) for seed, seconds in ((7, 6.0), (8, 12.0), (9, 600.0))
    ]
    assert estimate_seconds([trial, long, faster, TRIALS[-1], other_profile], rows) == {
        trial.id: pytest.approx(12.0),
        long.id: pytest.approx(120.0),
        faster.id: pytest.approx(12.0),
    }


def test_the_estimate_of_a_trial_that_was_run_is_its_own_time():
    trial, diverged = TRIALS[0], TRIALS[-1]
    rows = [
        make_measured_row(reseed(trial, 7), 600.0),
        make_measured_row(trial, 6.0),
        make_measured_row(diverged, 1.0, outcome="diverged"),
    ]
    assert estimate_seconds([trial, diverged], rows) == {trial.id: 6.0, diverged.id: 1.0}


def test_a_whole_number_among_the_settings_changes_the_cost_class():
    pcd = TRIALS[-1]
    more = replace(pcd, spec=replace(pcd.spec, method={**pcd.spec.method, "sampler_steps": 200}))
    assert estimate_seconds([more], [make_measured_row(pcd, 5.0)]) == {}


def test_failed_trials_are_not_used_for_estimates():
    assert estimate_seconds(TRIALS, [make_measured_row(TRIALS[0], 5.0, outcome="timeout")]) == {}


def test_trials_that_were_stopped_early_are_not_used_for_estimates():
    assert estimate_seconds(TRIALS, [make_measured_row(TRIALS[0], 5.0, outcome="stopped_early")]) == {}


def test_the_total_cost_is_extrapolated_from_the_known_estimates():
    assert Plan(TRIALS[:4], [], {TRIALS[0].id: 2.0, TRIALS[1].id: 4.0}).estimate_cost() == 12.0
