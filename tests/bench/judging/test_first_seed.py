"""The first seed of a trial, and the reason if it has no result."""

import numpy as np
from toys_helpers import record_of, results_of

from bench.judging.first_seed import find_first_rows, find_first_seed
from sweeps.trial.identity import Trial
from vera.spec.trial_spec import TrialSpec


def make_trial(steps=5):
    return Trial(TrialSpec({"name": "moons"}, {"energy": {"name": "mixture"}}, {"name": "ml"}, steps))


def test_the_lowest_seed_is_shown_with_its_arrays_and_metrics(tmp_path):
    records = [
        record_of(make_trial(), seed, arrays={"images": np.full(3, seed)}, loss=float(seed))
        for seed in (2, 1)
    ]
    first = find_first_seed(results_of(tmp_path, records), make_trial())
    assert (first.row.seed, first.is_ok, first.outcome, first.failure) == (1, True, "ok", "")
    assert (list(first.arrays["images"]), first.metrics) == ([1, 1, 1], {"loss": 1.0})


def test_a_trial_without_rows_was_not_run(tmp_path):
    first = find_first_seed(results_of(tmp_path, []), make_trial())
    assert (first.row, first.is_ok, first.outcome, first.failure) == (None, False, "not run", "not run")
    assert (first.arrays, first.metrics) == ({}, {})


def test_a_failed_first_seed_is_shown_unless_only_ok_is_asked_for(tmp_path):
    records = [
        record_of(make_trial(1_000_000), 0, "out_of_memory", step=12_345),
        record_of(make_trial(1_000_000), 1),
    ]
    results = results_of(tmp_path, records)
    first = find_first_seed(results, make_trial(1_000_000))
    assert (first.row.seed, first.is_ok) == (0, False)
    assert (first.outcome, first.failure) == ("out of memory", "out of memory at step 12,345")
    assert find_first_seed(results, make_trial(1_000_000), only_ok=True).row.seed == 1


def test_first_rows_leave_out_trials_that_were_not_run(tmp_path):
    results = results_of(tmp_path, [record_of(make_trial(), seed) for seed in (0, 1)])
    assert [row.seed for row in find_first_rows(results, [make_trial(), make_trial(7)])] == [0]
