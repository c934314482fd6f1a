"""Running a search: the store is read, the proposer told, and Tune let go. When it returns, every trial has
its row.

Resuming is running again, as with any sweep: what the store has is not trained, on whichever cluster it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sweeps.cluster.execute import Asked, Engine, check_data, close, fit, on_cluster, site_of
from sweeps.cluster.gpu_packing import measured_shares
from sweeps.cluster.search_jobs import Jobs
from sweeps.errors import EngineError
from sweeps.run.listener import Listener
from sweeps.run.storable import check_storable
from sweeps.search.declaration import Configuration, Search
from sweeps.search.proposer import Proposer
from sweeps.search.stopping_rules import rule_for
from sweeps.store.store import Store
from sweeps.trial.identity import Profile


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
        raise EngineError(
            "A scheduler compares trials by one objective; with --against take --scheduler none."
        )
    if budget.scheduler != "none" and (spec.evaluate_every or spec.steps) >= spec.steps:
        raise EngineError(
            f"The trials of {search.name} are evaluated only at their end; take --scheduler none."
        )
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
    check_storable(search.choices(profile))
    for note in check_data([search.base(profile)], engine.conditions.data_dir):
        listener.noted(note)
    proposer = proposer_for(search, profile, budget, store)
    if proposer.waiting or proposer.may_propose():
        _fit(proposer, engine, listener, store)
    return search.found(store.rows(), profile)


def _fit(proposer: Proposer, engine: Engine, listener: Listener, store: Store) -> None:
    with on_cluster(engine) as (available, folder):
        from sweeps.cluster.search_tuning import ProposerSearcher, RuleScheduler

        jobs = Jobs(engine, store, _gpus(proposer, engine, available, listener), proposer.rule.milestones)
        searcher, scheduler = ProposerSearcher(proposer, jobs), RuleScheduler(proposer, jobs)
        callback = fit(
            Asked(proposer.search.sweep, searcher=searcher, scheduler=scheduler),
            engine,
            listener,
            store,
            folder,
        )
    close([(trial, jobs.made[trial.id]) for trial in proposer.issued], engine, callback, listener, store)


def _gpus(proposer: Proposer, engine: Engine, available: Mapping[str, float], listener: Listener) -> float:
    """What each trial gets; measured beforehand, since a trial that is measured while others train would wait
    for their GPUs."""
    if not engine.pack_gpus:
        return engine.conditions.gpus
    largest = proposer.search.largest(proposer.profile)
    return min(measured_shares(largest, site_of(engine), available, listener.noted).values())
