"""Running a search: the store is read, the proposer told, and Tune let go. When it returns, every trial has its row.

Resuming is running again, as with any sweep: what the store has is not trained, on whichever cluster it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sweeps.attempt import Attempt, Ending
from sweeps.errors import EngineError, UnknownTrial
from sweeps.execute import Asked, Engine, Listener, check_data, close, fit, job_for, on_cluster
from sweeps.places import settled
from sweeps.row import CurvePoint, Record, Row
from sweeps.search.declaration import Configuration, Search
from sweeps.search.proposer import Proposer
from sweeps.search.rules import rule_for
from sweeps.store import Store
from sweeps.trial import Profile, Trial


@dataclass(frozen=True)
class Budget:
    """How a search goes about it. `configurations` counts all, those of earlier runs too."""

    sampler: str = "tpe"
    scheduler: str = "asha"
    configurations: int = 40
    factor: int = 3
    seed: int = 0


def proposer_for(search: Search, profile: Profile, budget: Budget, store: Store) -> Proposer:
    """With everything told that the store knows."""
    spec = search.base(profile).spec
    if budget.scheduler != "none" and len(search.objectives) > 1:
        raise EngineError("A scheduler compares trials by one objective; with --against take --scheduler none.")
    if budget.scheduler != "none" and (spec.evaluate_every or spec.steps) >= spec.steps:
        raise EngineError(f"The trials of {search.name} are evaluated only at their end; take --scheduler none.")
    rule = rule_for(budget.scheduler, spec.steps, spec.evaluate_every or spec.steps, budget.factor)
    proposer = Proposer(
        search,
        profile,
        sampler=budget.sampler,
        rule=rule,
        configurations=budget.configurations,
        rows=store.rows(),
        seed=budget.seed,
    )
    for entry in proposer.known.values() if rule.milestones else ():
        for row in entry.rows.values():
            proposer.remember(row, store.curves(row.trial_id))
    return proposer


def run_search(
    search: Search, profile: Profile, budget: Budget, engine: Engine, listener: Listener | None = None
) -> list[Configuration]:
    """Every configuration of the search, those that the store had and those that were run now."""
    listener, store = listener or Listener(), Store(engine.store)
    engine.exports.check()
    for note in check_data([search.base(profile)], engine.conditions.data_dir):
        listener.noted(note)
    proposer = proposer_for(search, profile, budget, store)
    if proposer.waiting or proposer.may_propose():
        _fit(proposer, engine, listener, store)
    return search.found(store.rows(), profile)


def _fit(proposer: Proposer, engine: Engine, listener: Listener, store: Store) -> None:
    attempts = {row.trial_id: row.attempt for row in store.rows()}

    def job_of(trial: Trial) -> Any:
        return job_for(trial, attempts.get(trial.id, 0) + 1, engine.conditions.gpus, proposer.rule.milestones)

    def stopped(trial: Trial, report: Mapping[str, Any]) -> None:
        store.write(stopped_record(trial, report, engine, attempts.get(trial.id, 0) + 1, proposer))

    def ask() -> Asked:
        from sweeps.search.tuning import ProposerSearcher, RuleScheduler

        searcher = ProposerSearcher(proposer, job_of, lambda trial_id: _row(store, trial_id))
        return Asked(proposer.search.sweep, searcher=searcher, scheduler=RuleScheduler(proposer, stopped))

    with on_cluster(engine) as (_, folder):
        callback = fit(ask(), engine, listener, store, folder)
    close([(trial, job_of(trial)) for trial in proposer.issued], engine, callback, listener, store)


def stopped_record(trial: Trial, report: Mapping[str, Any], engine: Engine, attempt: int, proposer: Proposer) -> Record:
    """Of a trial that was stopped early: what it reported last, and its score at each milestone as its curve."""
    step, objective, scores = report["trained_steps"], proposer.search.objectives[0], proposer.rule.scores
    ending = Ending("stopped_early", step, f"not among the best at step {step:,}")
    conditions = replace(engine.conditions, attempt=attempt, checkpoint_dir=settled(engine.checkpoints))
    metrics = {name: value for name, value in report["metrics"].items() if isinstance(value, int | float)}
    record = Attempt.lost(trial, conditions, ending, metrics, report["trained_seconds"]).record()
    points = [
        CurvePoint(trial.id, "evaluation", objective.metric, milestone, objective.score(known[trial.id]))
        for milestone, known in scores.items()
        if trial.id in known and milestone <= step
    ]
    return replace(record, curves=points)


def _row(store: Store, trial_id: str) -> Row | None:
    try:
        return store.row(trial_id)
    except UnknownTrial:
        return None
