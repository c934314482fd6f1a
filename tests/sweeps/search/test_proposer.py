"""The search as plain logic: seeds together, cached trials, early stops, resumption from rows alone. No trial
is run."""

import json
import math
from dataclasses import replace

import pytest
from engine_helpers import make_row

from sweeps.search.declaration import Search, best
from sweeps.search.objective import Objective
from sweeps.search.proposer import Proposer
from sweeps.search.space import Space, choice, log_uniform
from sweeps.search.stopping_rules import Never, rule_for
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


SEARCH = Search(
    "toy", "for these tests", base, Space((log_uniform("method.lr", low=1e-4, high=1e-1, grid=(1e-4, 1e-3, 1e-2)),)),
    (LIKELIHOOD,), (100, 101),
)  # fmt: skip


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
        search, "smoke", sampler=sampler, rule=rule or Never(), configurations=configurations, rows=rows
    )


def run(search, rows, evaluate=bowl):
    """Run all that it hands out; the rows, in order."""
    made = []
    while (trial := search.next()) is not None:
        made.append(row_of(trial, evaluate(trial)))
        search.ended(made[-1])
    rows.extend(made)
    return made


@pytest.mark.parametrize("sampler", ["grid", "random", "tpe"])
def test_every_configuration_runs_with_all_its_seeds_and_the_best_is_found(sampler):
    rows = []
    run(proposer(sampler=sampler, configurations=12), rows)
    entries = SEARCH.found(rows, "smoke")
    assert len(entries) == (3 if sampler == "grid" else 12)
    assert all(sorted(entry.rows) == [100, 101] for entry in entries)
    assert len({row.trial_id for row in rows}) == len(rows)
    (winner,) = best(entries)
    assert winner.result().scores == (max(entry.result().scores[0] for entry in entries),)


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_a_search_goes_on_from_its_rows_and_can_be_extended(sampler):
    rows = []
    first = proposer(sampler=sampler, configurations=4)
    for _ in range(5):  # interrupted in the middle of the third
        trial = first.next()
        rows.append(row_of(trial, bowl(trial)))
        first.ended(rows[-1])
    again = run(proposer(rows, sampler, configurations=4), rows)
    assert len(again) == 3
    assert again[0].seed == 101
    assert json.loads(again[0].spec)["method"] == json.loads(rows[4].spec)["method"]
    assert run(proposer(rows, sampler, configurations=4), rows) == []
    assert len(run(proposer(rows, sampler, configurations=7), rows)) == 6
    assert len(SEARCH.found(rows, "smoke")) == 7


def test_rows_of_other_sweeps_are_fed_to_the_sampler_and_not_run_again():
    points = list(SEARCH.space.grid())
    foreign = [
        row_of(trial, bowl(trial), sweep="table10")
        for trial in SEARCH.configuration(points[1], "smoke").trials
    ]
    search = proposer(foreign, "grid", 3)
    handed = run(search, [])
    assert len(handed) == 4
    assert not {row.trial_id for row in foreign} & {row.trial_id for row in handed}
    learner = proposer(foreign, "tpe", 3)
    assert [trial.state.name for trial in learner.sampler.study.trials] == ["COMPLETE"]
    other = replace(foreign[0], spec=canonical_json({**json.loads(foreign[0].spec), "batch_size": 7}))
    assert SEARCH.found([other], "smoke") == []


def test_a_budget_is_counted_by_name_and_what_others_found_is_told_without_training():
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
    own = [entry for entry in learned.found(rows, "smoke") if entry.own_rows]
    assert (len(own), sum(entry.steps for entry in own)) == (4, 800)


def test_a_row_stays_with_the_search_that_ran_it_first():
    rows = []
    run(
        proposer(sampler="grid", configurations=3, search=replace(SEARCH, run_name="one", seeds=(100,))), rows
    )
    again = replace(SEARCH, run_name="two")
    assert {row.seed for row in run(proposer(rows, "grid", 3, search=again), rows)} == {101}
    found = again.found(rows, "smoke")
    assert all(entry.result() is not None and entry.steps == 100 for entry in found)


def test_a_diverged_seed_counts_as_the_worst_never_the_survivors():
    entry = SEARCH.configuration({"method.lr": 1e-2}, "smoke")
    good, bad = entry.trials
    entry.rows = {100: row_of(good, -1.0), 101: row_of(bad, None, "diverged", step=7)}
    assert entry.result().scores == (-25.5,)
    entry.rows[101] = row_of(bad, None, "error")
    assert entry.result() is None
    steady = SEARCH.configuration({"method.lr": 1e-3}, "smoke")
    steady.rows = {trial.spec.seed: row_of(trial, -10.0) for trial in steady.trials}
    entry.rows[101] = row_of(bad, None, "diverged", step=7)
    assert best([entry, steady]) == [steady]


def test_a_failed_trial_is_run_again_by_the_next_search():
    rows = []
    first = proposer(configurations=1)
    for outcome in ("error", "ok"):
        trial = first.next()
        rows.append(row_of(trial, -1.0, outcome))
        first.ended(rows[-1])
    again = proposer(rows, configurations=1)
    assert again.at_most() == 1
    assert [row.trial_id for row in run(again, rows)] == [rows[0].trial_id]


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_a_configuration_of_which_every_trial_failed_is_run_again_and_no_other(sampler):
    rows, first = [], proposer(sampler=sampler, configurations=3)
    for _ in range(6):
        trial = first.next()
        rows.append(row_of(trial, bowl(trial), "error" if len(rows) < 2 else "ok"))
        first.ended(rows[-1])
    again = run(proposer(rows, sampler, configurations=3), [])
    assert {row.trial_id for row in again} == {row.trial_id for row in rows[:2]}


def test_where_the_first_seed_failed_the_others_are_not_run():
    search = proposer(configurations=2, rule=rule_for("asha", 100, 10))
    failed = search.next()
    search.ended(row_of(failed, None, "error", step=5))
    following = search.next()
    assert following.spec.seed == 100
    assert following.spec.method != failed.spec.method


def test_a_stopped_seed_spares_the_others_and_never_wins():
    search = proposer(configurations=2)
    first = search.next()
    search.ended(row_of(first, 100.0, "stopped_early", step=10))
    second = search.next()
    assert second.spec.method != first.spec.method
    search.ended(row_of(second, -3.0))
    last = search.next()
    search.ended(row_of(last, -3.0))
    assert search.next() is None
    stopped, whole = search.known.values()
    assert (stopped.result().stopped_at, stopped.result().scores) == (10, (100.0,))
    assert best(search.known.values()) == [whole]


def test_the_rule_is_told_what_stored_trials_had_at_its_milestones():
    rule = rule_for("asha", 100, 10)
    good, bad = (SEARCH.configuration({"method.lr": rate}, "smoke").trials for rate in (1e-2, 1e-1))
    rows = [row_of(good[0], -2.0), row_of(good[1], -9.0), row_of(bad[0], None, "diverged", step=15)]
    search = proposer(rows, rule=rule)
    for row in rows:
        curves = [CurvePoint(row.trial_id, "evaluation", "test_log_likelihood", 10, -3.0),
                  CurvePoint(row.trial_id, "training", "test_log_likelihood", 30, 5.0)]  # fmt: skip
        search.remember(row, curves)
    assert rule.scores == {10: {good[0].id: -3.0, bad[0].id: -3.0}, 30: {bad[0].id: -50.0}}, (
        "second seeds are not compared"
    )


def test_under_a_rule_the_first_seed_goes_ahead_and_the_others_run_to_their_end():
    search = proposer(rule=rule_for("asha", 100, 10), configurations=2)
    assert search.at_most() == 4
    first, second = search.next(), search.next()
    assert (first.spec.seed, second.spec.seed) == (100, 100)
    assert search.next() is None, "the others wait"
    search.ended(row_of(first, -1.0, "stopped_early", step=10))
    assert search.next() is None, "and are spared where the first was stopped"
    search.ended(row_of(second, -1.0))
    other = search.next()
    assert (other.spec.seed, other.spec.method) == (101, second.spec.method)
    assert search.is_judged(first.id)
    assert not search.is_judged(other.id)


def test_where_the_first_seed_diverged_the_others_are_judged():
    search = proposer(rule=rule_for("asha", 100, 10), configurations=1)
    first = search.next()
    search.ended(row_of(first, None, "diverged", step=7))
    assert search.is_judged(search.next().id)


@pytest.mark.parametrize("sampler", ["grid", "random"])
def test_a_long_search_goes_on_too(sampler):
    """Samplers that begin again from the beginning propose more that is known than would end a search
    elsewhere."""
    axis = log_uniform(
        "method.lr", low=1e-4, high=1e-1, grid=tuple(10 ** (-4 + number / 40) for number in range(120))
    )
    long, rows = replace(SEARCH, space=Space((axis,)), seeds=(100,)), []
    for wanted in (70, 100):
        run(proposer(rows, sampler, wanted, search=long), rows)
        assert len(rows) == wanted


def test_a_search_under_a_rule_goes_on_with_the_seeds_that_are_missing():
    entry = SEARCH.configuration({"method.lr": 1e-2}, "smoke")
    again = proposer(
        [row_of(entry.trials[0], -1.0, sweep=SEARCH.sweep)], rule=rule_for("asha", 100, 10), configurations=1
    )
    assert again.at_most() == 1
    assert again.next().id == entry.trials[1].id
    assert again.next() is None


def test_a_space_that_is_used_up_ends_the_search():
    small = replace(SEARCH, space=Space((choice("method.lr", values=(1e-3, 1e-2)),)))
    rows = []
    for sampler in ("random", "tpe"):
        run(proposer(rows, sampler, configurations=20, search=small), rows)
        assert len(small.found(rows, "smoke")) == 2


def test_with_two_objectives_the_best_are_those_that_none_is_better_than():
    both = replace(SEARCH, objectives=(LIKELIHOOD, Objective("seconds", worst=100.0, direction="small")))
    entries = []
    for lr, value, seconds in ((1e-4, -1.0, 9.0), (1e-3, -2.0, 3.0), (1e-2, -3.0, 5.0)):
        entry = both.configuration({"method.lr": lr}, "smoke")
        entry.rows = {trial.spec.seed: row_of(trial, value, seconds=seconds) for trial in entry.trials}
        entries.append(entry)
    assert best(entries) == entries[:2]
