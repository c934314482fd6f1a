"""What a plan says it will cost: measured here, measured for what ships, or counted; in words that fit the
number."""

from dataclasses import replace

import pytest
from bench.cli.costs import duration, gpu_time, plan_cost, trial_cost
from bench_helpers import row_of, stored

from bench.cli.main import main
from sweeps.trial.plan import Plan
from sweeps.trial.sweep import find_sweep

TRIALS = find_sweep("toy-demo").trials("smoke")
ML, *_ = TRIALS


def row(trial, seconds):
    from sweeps.trial.canonical_json import canonical_json

    return replace(
        row_of(trial, seconds=seconds, steps=trial.spec.steps),
        spec=canonical_json(trial.facts),
        trial_id=trial.id,
    )


def test_what_ships_was_timed_and_stands_in_for_what_was_not_timed_here(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bench.cli.planning.count_cores", lambda: 2)
    plan = ["plan", "toy-demo", "--profile", "smoke", "--only", "label=ML"]
    assert main(plan) == 0
    assert capsys.readouterr().out.startswith("toy-demo · smoke profile · 3 trials · 0 already done\n")

    stored(tmp_path / "results" / "published", [row(ML, 1_200.0)])
    main(plan)
    summary, line, *_ = capsys.readouterr().out.splitlines()
    assert summary.endswith(" · 0 already done · about 30 min on 2 cores, as measured for results/published")
    assert line.endswith("60 steps   about 20 min")

    stored(tmp_path / "results" / "local", [row(ML, 60.0)])
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
def test_the_time_of_a_plan_is_that_of_the_machine_and_no_shorter_than_its_longest_trial(
    seconds, cores, text
):
    known = {trial.id: value for trial, value in zip(TRIALS, seconds, strict=False)}
    assert plan_cost(None, Plan(TRIALS[: len(seconds)], [], known), cores) == text


def test_a_tiny_network_is_not_said_to_take_next_to_no_gpu_time():
    assert gpu_time([(1e9, 100_000)]) == "at least 8 GPU-minutes"
    assert gpu_time([(1e9, 1_000)]) == "less than a minute on a GPU"
    assert gpu_time([(3_600 * 5e12, 1_000)]) == "about 1.0 GPU-hours"
    assert gpu_time([(36_000 * 5e12, 1_000), (0.0, 720_000)]) == "at least 11 GPU-hours"
    assert trial_cost(lambda _: 1e9, ML, None) == "less than a minute on a GPU"
    assert trial_cost(None, ML, 0.2) == "less than a second"
    assert duration(36_001) == "about 10 h"
