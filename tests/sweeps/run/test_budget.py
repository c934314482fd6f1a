"""The time of a run's trials, and whether its budget is spent."""

from sweeps.run.budget import TrialBudget


def test_the_time_of_ended_and_running_trials_is_added():
    now = [100.0]
    budget = TrialBudget(10.0, clock=lambda: now[0])
    assert (budget.spent, budget.is_spent) == (0.0, False)
    budget.start("a")
    budget.start("b")
    now[0] += 3
    budget.end("a")
    assert budget.spent == 6
    budget.start("b")  # a trial that gets another worker goes on
    now[0] += 3
    assert (budget.spent, budget.is_spent) == (9, False)
    now[0] += 1
    assert (budget.spent, budget.is_spent) == (10, True)
    budget.end("b")
    budget.end("b")
    now[0] += 50
    assert budget.spent == 10
