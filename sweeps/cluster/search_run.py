"""Run a search: read the store, build the proposer, and let Tune run its trials. On return every trial has
its row.

To resume, run the same search again: trials in the store are not trained again, whichever cluster ran them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sweeps.cluster.engine import Engine, build_worker_settings, open_cluster
from sweeps.cluster.execute import check_data, ensure_rows
from sweeps.cluster.gpu_packing import measure_shares
from sweeps.errors import EngineError
from sweeps.run.progress import TrialListener
from sweeps.run.record import check_storable
from sweeps.run.writable_store import check_writable
from sweeps.search.declaration import Configuration, Search
from sweeps.search.proposer import Proposer
from sweeps.search.stopping_rules import build_rule
from sweeps.store.store import Store
from sweeps.trial.identity import Profile


@dataclass(frozen=True)
class SearchOptions:
    """How a search samples and stops trials. `configurations` is the total, earlier runs included."""

    sampler: str = "tpe"
    scheduler: str = "asha"
    configurations: int = 40
    factor: int = 3
    seed: int = 0


def build_proposer(search: Search, profile: Profile, options: SearchOptions, store: Store) -> Proposer:
    """A proposer that knows everything in the store."""
    spec = search.base(profile).spec
    if options.scheduler != "none" and len(search.objectives) > 1:
        raise EngineError(
            "A scheduler compares trials by one objective: with --against use --scheduler none."
        )
    if options.scheduler != "none" and (spec.evaluate_every or spec.steps) >= spec.steps:
        raise EngineError(
            f"The trials of {search.name} are evaluated only at their end: use --scheduler none."
        )
    rule = build_rule(options.scheduler, spec.steps, spec.evaluate_every or spec.steps, options.factor)
    proposer = Proposer(
        search,
        profile,
        sampler=options.sampler,
        rule=rule,
        configurations=options.configurations,
        rows=store.read_rows(),
        seed=options.seed,
    )
    for entry in proposer.known.values() if rule.milestones else ():
        for row in entry.rows.values():
            proposer.record_milestones(row, store.read_curves(row.trial_id))
    return proposer


def run_search(
    search: Search,
    profile: Profile,
    options: SearchOptions,
    engine: Engine,
    listener: TrialListener | None = None,
) -> list[Configuration]:
    """Run the search and return all its configurations, including those already stored."""
    listener, store = listener or TrialListener(), Store(engine.store)
    engine.exports.check()
    check_storable(search.list_choice_trials(profile))
    check_writable(engine.store, engine.checkpoints)
    for note in check_data([search.base(profile)], engine.conditions.data_dir):
        listener.on_note(note)
    proposer = build_proposer(search, profile, options, store)
    if proposer.waiting or proposer.has_budget():
        _run_proposer(proposer, engine, listener, store)
    return search.find_configurations(store.read_rows(), profile)


def _run_proposer(proposer: Proposer, engine: Engine, listener: TrialListener, store: Store) -> None:
    with open_cluster(engine) as (available, folder):
        from sweeps.cluster.search_tuning import ProposerSearcher, RuleScheduler, SearchJobs
        from sweeps.cluster.tuner import TuneRequest, run_tuner

        gpus = _choose_gpus(proposer, engine, available, listener)
        jobs = SearchJobs(engine, store, gpus, proposer.rule.milestones)
        searcher, scheduler = ProposerSearcher(proposer, jobs), RuleScheduler(proposer, jobs)
        request = TuneRequest(proposer.search.sweep, searcher=searcher, scheduler=scheduler)
        callback = run_tuner(request, engine, listener, store, folder)
    issued = [(trial, jobs.by_trial[trial.id]) for trial in proposer.issued]
    ensure_rows(issued, engine, callback, listener, store)


def _choose_gpus(
    proposer: Proposer, engine: Engine, available: Mapping[str, float], listener: TrialListener
) -> float:
    """The GPU share of each trial. It is measured beforehand, because a measurement during the search would
    wait for the GPUs of running trials."""
    if not engine.pack_gpus:
        return engine.conditions.gpus
    largest = proposer.search.list_largest_trials(proposer.profile)
    return min(measure_shares(largest, build_worker_settings(engine), available, listener.on_note).values())
