"""Expected cost: measured here, measured for the published results, or estimated from operations."""

from dataclasses import replace

import pytest
from bench_helpers import row_of, store_rows

from bench.catalogue import catalogue
from bench.cli.main import main
from bench.costs import describe_duration, describe_gpu_time, describe_plan_cost, describe_trial_cost
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.plan import Plan
from sweeps.trial.sweep import find_sweep

TRIALS = find_sweep("toy-demo").trials("smoke")
ML, *_ = TRIALS


def make_timed_row(trial, seconds):
    row = row_of(trial, seconds=seconds, steps=trial.spec.steps)
    return replace(row, spec=canonical_json(trial.facts), trial_id=trial.id)


def test_published_times_are_used_until_there_are_local_ones(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bench.cli.verbs.plan.count_cores", lambda: 2)
    plan = ["plan", "toy-demo", "--profile", "smoke", "--only", "label=ML"]
    assert main(plan) == 0
    assert capsys.readouterr().out.startswith("toy-demo · smoke profile · 3 trials · 0 already done\n")

    store_rows(tmp_path / "results" / "published", [make_timed_row(ML, 1_200.0)])
    main(plan)
    summary, line, *_ = capsys.readouterr().out.splitlines()
    assert "about 30 min on 2 cores" in summary
    assert summary.endswith("results/published")
    assert line.endswith("60 steps   about 20 min")

    store_rows(tmp_path / "results" / "local", [make_timed_row(ML, 60.0)])
    main(plan)
    assert capsys.readouterr().out.splitlines()[0].endswith(" · 1 already done · about 1 min on 2 cores")

    main([*plan, "--only", "seed=1"])
    assert "· 1 trial · 0 already done · about 1 min on" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("seconds", "cores", "text"),
    [
        ([1.0, 2.0], 2, " · less than a minute on 2 cores"),
        ([600.0, 60.0], 2, " · about 10 min on 2 cores"),
        ([600.0, 600.0], 1, " · about 20 min on 1 core"),
        ([7_200.0, 7_200.0], 2, " · about 2.0 h on 2 cores"),
        ([600.0, 600.0], None, " · about 20 min of one core"),
    ],
)
def test_plan_takes_at_least_as_long_as_its_longest_trial(seconds, cores, text):
    known = {trial.id: value for trial, value in zip(TRIALS, seconds, strict=False)}
    assert describe_plan_cost(None, Plan(TRIALS[: len(seconds)], [], known), cores) == text


def test_plan_states_all_costs_in_one_unit(tmp_path, monkeypatch, capsys):
    """In the tuning grid, trials of other learning rates were timed and those of other lengths were not."""
    monkeypatch.chdir(tmp_path)
    trials = [t for t in catalogue.sweep("table6-grid").trials("paper") if t.data == "human"]
    store_rows(tmp_path / "results" / "published", [make_timed_row(trials[0], 3_600.0)])
    flags = ["--profile", "paper", "--only", "dataset=human", "--only", "method=supervised"]
    assert main(["plan", "table6-grid", *flags]) == 0
    summary, *lines = capsys.readouterr().out.splitlines()
    costs = [line for line in lines if "steps" in line]
    assert "GPU-" in summary
    assert len(costs) == 16
    assert all("on a GPU" in line or "GPU-minutes" in line for line in costs)
    assert main(["plan", "table6-grid", *flags, "--only", "label=Supervised lr=0.001"]) == 0
    assert "about 60 min" in capsys.readouterr().out


def test_number_of_steps_bounds_the_gpu_time_of_a_small_network():
    assert describe_gpu_time([(1e9, 100_000)]) == "at least 8 GPU-minutes"
    assert describe_gpu_time([(1e9, 1_000)]) == "less than a minute on a GPU"
    assert describe_gpu_time([(3_600 * 5e12, 1_000)]) == "about 1.0 GPU-hours"
    assert describe_gpu_time([(36_000 * 5e12, 1_000), (0.0, 720_000)]) == "at least 11 GPU-hours"


def test_cost_of_a_trial_is_measured_or_estimated_or_unknown():
    assert describe_trial_cost(lambda _: 1e9, ML, None) == "less than a minute on a GPU"
    assert describe_trial_cost(None, ML, 0.2) == "less than a second"
    assert describe_trial_cost(None, ML, None) == "cost unknown"
    assert describe_duration(36_001) == "about 10 h"
