"""The proposer without training: seeds of a configuration, cached trials, early stops, and resumption from
rows."""

import json
import math
from dataclasses import replace

import pytest
from store_helpers import make_row

from sweeps.search.declaration import Search, find_best
from sweeps.search.objective import Objective
from sweeps.search.proposer import Proposer
from sweeps.search.space import Space, choice, log_uniform
from sweeps.search.stopping_rules import NeverStop, build_rule
from sweeps.store.row import CurvePoint
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Trial
from vera.spec.trial_spec import TrialSpec

LIKELIHOOD = Objective("test_log_likelihood", worst=-50.0)


def base(profile):
    spec = TrialSpec(
        {"name": "moons"}, {"energy": {"name": "mixture"}}, {"name": "ml"}, 100, evaluate_every=10
    )
    return Trial(spec, profile, label="ML")


AXIS = log_uniform("method.lr", low=1e-4, high=1e-1, grid=(1e-4, 1e-3, 1e-2))
SEARCH = Search("toy", "for these tests", base, Space((AXIS,)), (LIKELIHOOD,), (100, 101))


def bowl(trial):
    return -((math.log10(trial.spec.method["lr"]) + 2.5) ** 2) - 0.01 * (trial.spec.seed - 100)


def row_of(trial, value=None, outcome="ok", step=100, **changes):
    metrics = {} if value is None else {"test_log_likelihood": value}
    facts = {
        "seed": trial.spec.seed,
        "spec": canonical_json(trial.facts),
        "sweep": trial.sweep,
        "profile": trial.profile,
    }
    return make_row(
        trial.id, outcome=outcome, outcome_step=step, metrics=canonical_json(metrics), **(facts | changes)
    )


def proposer(rows=(), sampler="random", configurations=6, rule=None, search=SEARCH):
    return Proposer(
        search, "smoke", sampler=sampler, rule=rule or NeverStop(), configurations=configurations, rows=rows
    )


def run(search, rows, evaluate=bowl):
    """Run all proposed trials; their rows, in order."""
    made = []
    while (trial := search.next_trial()) is not None:
        made.append(row_of(trial, evaluate(trial)))
        search.record_row(made[-1])
    rows.extend(made)
    return made


@pytest.mark.parametrize("sampler", ["grid", "random", "tpe"])
def test_every_configuration_runs_with_all_seeds_and_the_best_is_found(sampler):
    rows = []
    run(proposer(sampler=sampler, configurations=12), rows)
    entries = SEARCH.find_configurations(rows, "smoke")
    assert len(entries) == (3 if sampler == "grid" else 12)
    assert all(sorted(entry.rows) == [100, 101] for entry in entries)
    assert len({row.trial_id for row in rows}) == len(rows)
    (winner,) = find_best(entries)
    assert winner.compute_score().scores == (max(entry.compute_score().scores[0] for entry in entries),)


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_a_search_resumes_from_its_rows_and_can_be_extended(sampler):
    rows = []
    first = proposer(sampler=sampler, configurations=4)
    for _ in range(5):  # interrupted in the middle of the third
        trial = first.next_trial()
        rows.append(row_of(trial, bowl(trial)))
        first.record_row(rows[-1])
    again = run(proposer(rows, sampler, configurations=4), rows)
    assert len(again) == 3
    assert again[0].seed == 101
    assert json.loads(again[0].spec)["method"] == json.loads(rows[4].spec)["method"]
    assert run(proposer(rows, sampler, configurations=4), rows) == []
    assert len(run(proposer(rows, sampler, configurations=7), rows)) == 6
    assert len(SEARCH.find_configurations(rows, "smoke")) == 7


def test_the_sampler_learns_rows_of_other_sweeps_and_they_are_not_run_again():
    points = list(SEARCH.space.iterate_grid())
    foreign = [
        row_of(trial, bowl(trial), sweep="table10")
        for trial in SEARCH.build_configuration(points[1], "smoke").trials
    ]
    search = proposer(foreign, "grid", 3)
    handed = run(search, [])
    assert len(handed) == 4
    assert not {row.trial_id for row in foreign} & {row.trial_id for row in handed}
    learner = proposer(foreign, "tpe", 3)
    assert [trial.state.name for trial in learner.sampler.study.trials] == ["COMPLETE"]
    other = replace(foreign[0], spec=canonical_json({**json.loads(foreign[0].spec), "batch_size": 7}))
    assert SEARCH.find_configurations([other], "smoke") == []


def test_each_named_search_has_its_own_budget_and_learns_from_the_others():
    rows = []
    grid, learned = (replace(SEARCH, run_name=name) for name in ("grid", "tpe"))
    run(proposer(sampler="grid", configurations=3, search=grid), rows)
    assert {row.sweep for row in rows} == {"search-toy-grid"}
    second = proposer(rows, "tpe", 4, search=learned)
    assert len(second.sampler.study.trials) == 3
    assert second.begun == set()
    handed = run(second, rows)
    assert {row.sweep for row in handed} == {"search-toy-tpe"}
    assert len(handed) == 8
    assert len(proposer(rows, "tpe", 4, search=learned).begun) == 4
    assert len(proposer(rows, "grid", 4, search=grid).begun) == 3
    own = [entry for entry in learned.find_configurations(rows, "smoke") if entry.own_rows]
    assert (len(own), sum(entry.steps for entry in own)) == (4, 800)


def test_a_row_belongs_to_the_search_that_ran_it_first():
    rows = []
    run(
        proposer(sampler="grid", configurations=3, search=replace(SEARCH, run_name="one", seeds=(100,))), rows
    )
    again = replace(SEARCH, run_name="two")
    assert {row.seed for row in run(proposer(rows, "grid", 3, search=again), rows)} == {101}
    found = again.find_configurations(rows, "smoke")
    assert all(entry.compute_score() is not None and entry.steps == 100 for entry in found)


def test_a_diverged_seed_counts_as_the_worst_value():
    entry = SEARCH.build_configuration({"method.lr": 1e-2}, "smoke")
    good, bad = entry.trials
    entry.rows = {100: row_of(good, -1.0), 101: row_of(bad, None, "diverged", step=7)}
    assert entry.compute_score().scores == (-25.5,)
    entry.rows[101] = row_of(bad, None, "error")
    assert entry.compute_score() is None
    steady = SEARCH.build_configuration({"method.lr": 1e-3}, "smoke")
    steady.rows = {trial.spec.seed: row_of(trial, -10.0) for trial in steady.trials}
    entry.rows[101] = row_of(bad, None, "diverged", step=7)
    assert find_best([entry, steady]) == [steady]


def test_a_failed_trial_is_run_again_by_the_next_search():
    rows = []
    first = proposer(configurations=1)
    for outcome in ("error", "ok"):
        trial = first.next_trial()
        rows.append(row_of(trial, -1.0, outcome))
        first.record_row(rows[-1])
    again = proposer(rows, configurations=1)
    assert again.count_remaining() == 1
    assert [row.trial_id for row in run(again, rows)] == [rows[0].trial_id]


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_only_a_configuration_whose_trials_all_failed_is_run_again(sampler):
    rows, first = [], proposer(sampler=sampler, configurations=3)
    for _ in range(6):
        trial = first.next_trial()
        rows.append(row_of(trial, bowl(trial), "error" if len(rows) < 2 else "ok"))
        first.record_row(rows[-1])
    again = run(proposer(rows, sampler, configurations=3), [])
    assert {row.trial_id for row in again} == {row.trial_id for row in rows[:2]}


def test_if_the_first_seed_failed_the_others_are_not_run():
    search = proposer(configurations=2, rule=build_rule("asha", 100, 10))
    failed = search.next_trial()
    search.record_row(row_of(failed, None, "error", step=5))
    following = search.next_trial()
    assert following.spec.seed == 100
    assert following.spec.method != failed.spec.method


def test_if_a_seed_is_stopped_the_others_are_not_run_and_the_configuration_never_wins():
    search = proposer(configurations=2)
    first = search.next_trial()
    search.record_row(row_of(first, 100.0, "stopped_early", step=10))
    second = search.next_trial()
    assert second.spec.method != first.spec.method
    search.record_row(row_of(second, -3.0))
    last = search.next_trial()
    search.record_row(row_of(last, -3.0))
    assert search.next_trial() is None
    stopped, whole = search.known.values()
    assert (stopped.compute_score().stopped_at, stopped.compute_score().scores) == (10, (100.0,))
    assert find_best(search.known.values()) == [whole]


def test_the_rule_learns_the_scores_of_stored_trials_at_its_milestones():
    rule = build_rule("asha", 100, 10)
    good, bad = (SEARCH.build_configuration({"method.lr": rate}, "smoke").trials for rate in (1e-2, 1e-1))
    rows = [row_of(good[0], -2.0), row_of(good[1], -9.0), row_of(bad[0], None, "diverged", step=15)]
    search = proposer(rows, rule=rule)
    for row in rows:
        curves = [CurvePoint(row.trial_id, "evaluation", "test_log_likelihood", 10, -3.0),
                  CurvePoint(row.trial_id, "training", "test_log_likelihood", 30, 5.0)]  # fmt: skip
        search.record_milestones(row, curves)
    assert rule.scores == {10: {good[0].id: -3.0, bad[0].id: -3.0}, 30: {bad[0].id: -50.0}}, (
        "second seeds are not compared"
    )


def test_under_a_rule_the_first_seed_runs_first_and_the_others_to_their_end():
    search = proposer(rule=build_rule("asha", 100, 10), configurations=2)
    assert search.count_remaining() == 4
    first, second = search.next_trial(), search.next_trial()
    assert (first.spec.seed, second.spec.seed) == (100, 100)
    assert search.next_trial() is None, "the other seeds wait"
    search.record_row(row_of(first, -1.0, "stopped_early", step=10))
    assert search.next_trial() is None, "they are not run if the first was stopped"
    search.record_row(row_of(second, -1.0))
    other = search.next_trial()
    assert (other.spec.seed, other.spec.method) == (101, second.spec.method)
    assert search.is_judged(first.id)
    assert not search.is_judged(other.id)


def test_if_the_first_seed_diverged_the_others_are_judged():
    search = proposer(rule=build_rule("asha", 100, 10), configurations=1)
    first = search.next_trial()
    search.record_row(row_of(first, None, "diverged", step=7))
    assert search.is_judged(search.next_trial().id)


@pytest.mark.parametrize("sampler", ["grid", "random"])
def test_a_long_search_can_be_extended(sampler):
    """These samplers start again from the beginning, so they repeat more proposals than would otherwise end
    the search."""
    axis = log_uniform(
        "method.lr", low=1e-4, high=1e-1, grid=tuple(10 ** (-4 + number / 40) for number in range(120))
    )
    long, rows = replace(SEARCH, space=Space((axis,)), seeds=(100,)), []
    for wanted in (70, 100):
        run(proposer(rows, sampler, wanted, search=long), rows)
        assert len(rows) == wanted


def test_a_resumed_search_under_a_rule_runs_the_missing_seeds():
    entry = SEARCH.build_configuration({"method.lr": 1e-2}, "smoke")
    again = proposer(
        [row_of(entry.trials[0], -1.0, sweep=SEARCH.sweep)],
        rule=build_rule("asha", 100, 10),
        configurations=1,
    )
    assert again.count_remaining() == 1
    assert again.next_trial().id == entry.trials[1].id
    assert again.next_trial() is None


def test_an_exhausted_space_ends_the_search():
    small = replace(SEARCH, space=Space((choice("method.lr", values=(1e-3, 1e-2)),)))
    rows = []
    for sampler in ("random", "tpe"):
        run(proposer(rows, sampler, configurations=20, search=small), rows)
        assert len(small.find_configurations(rows, "smoke")) == 2


def test_with_two_objectives_the_best_form_the_pareto_front():
    both = replace(SEARCH, objectives=(LIKELIHOOD, Objective("seconds", worst=100.0, direction="small")))
    entries = []
    for lr, value, seconds in ((1e-4, -1.0, 9.0), (1e-3, -2.0, 3.0), (1e-2, -3.0, 5.0)):
        entry = both.build_configuration({"method.lr": lr}, "smoke")
        entry.rows = {trial.spec.seed: row_of(trial, value, seconds=seconds) for trial in entry.trials}
        entries.append(entry)
    assert find_best(entries) == entries[:2]
