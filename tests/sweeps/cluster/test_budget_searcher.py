"""`--budget-hours`: no trial is started once the budget is spent, and those that run end."""

import pytest
from cluster_helpers import read_rows, run_here
from ray.tune.search import Searcher

from sweeps.cluster import budget_searcher
from sweeps.cluster.budget_searcher import BudgetSearcher, count_trials_at_once
from sweeps.cluster.connection import ClusterResources
from sweeps.cluster.engine import Engine, TrialJob
from sweeps.run.budget import TrialBudget

NODES = ClusterResources([{"CPU": 8, "GPU": 2}, {"CPU": 3, "GPU": 2}, {"CPU": 4}])


@pytest.mark.parametrize(
    ("cpus", "gpus", "count"), [(1, 0, 15), (2, 0, 7), (1, 1, 4), (1, 0.5, 7), (4, 1, 2), (0.5, 0, 30)]
)
def test_as_many_trials_run_at_once_as_fit_on_the_nodes(cpus, gpus, count):
    assert count_trials_at_once(NODES, cpus, gpus) == count


def test_jobs_are_handed_out_while_there_is_room_and_budget(tmp_path, monkeypatch):
    monkeypatch.setattr(budget_searcher, "count_places", lambda engine, gpus: 2)
    now, jobs = [0.0], [TrialJob(id=name, gpus=0.0) for name in "abcde"]
    budget = TrialBudget(10.0, clock=lambda: now[0])
    searcher = BudgetSearcher(jobs, Engine(tmp_path, tmp_path), budget)
    assert [searcher.suggest(name) for name in "12"] == [{"job": jobs[0]}, {"job": jobs[1]}]
    assert searcher.suggest("3") is None
    budget.start("a")
    now[0] = 9.0
    searcher.on_trial_complete("1")
    assert searcher.suggest("3") == {"job": jobs[2]}
    now[0] = 10.0
    assert searcher.suggest("4") == Searcher.FINISHED
    assert budget.not_started == ["d", "e"]
    assert searcher.suggest("4") == Searcher.FINISHED
    assert budget.not_started == ["d", "e"]


def test_a_run_whose_budget_is_spent_leaves_the_rest_to_the_next_run(tmp_path, shared_ray):
    command = ["run", "toy-demo", "--profile", "smoke", "--only", "method=ml", "--seeds", 3]
    command += ["--results-dir", tmp_path, "--max-concurrent", 1, "--models", "none"]
    code, out, err = run_here(*command, "--budget-hours", 1e-6)
    assert code == 1
    (line,) = err.splitlines()
    assert "2 trials were not started" in line
    assert "1e-06 hours" in line
    assert "1 of 3 trials" in out
    (row,) = read_rows(tmp_path).values()
    assert row.outcome == "ok"
    assert not list((tmp_path / "checkpoints").glob("*.pt"))
    code, out, err = run_here(*command, "--budget-hours", 1)
    assert (code, err) == (0, "")
    assert "3 of 3 trials" in out
    assert [row.outcome for row in read_rows(tmp_path).values()] == ["ok"] * 3


def test_a_search_whose_budget_is_spent_starts_no_more_trials(tmp_path, shared_ray):
    command = ["search", "moons", "--profile", "smoke", "--sampler", "random", "--configurations", 3]
    command += ["--scheduler", "none", "--seeds", 1, "--results-dir", tmp_path, "--max-concurrent", 1]
    code, _, err = run_here(*command, "--budget-hours", 1e-6)
    assert code == 1
    (line,) = err.splitlines()
    assert "2 trials were not started" in line
    assert len(read_rows(tmp_path)) == 1
