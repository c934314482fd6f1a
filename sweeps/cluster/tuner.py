"""Run trials under one Ray Tuner. Tune's own state is not used: each trial's row is in the store when it
ends. A worker that is killed is replaced, and the trial continues from its own checkpoint file."""

import re
import signal
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ray import tune

from sweeps.cluster.budget_searcher import BudgetSearcher
from sweeps.cluster.callbacks import InterruptStopper, ListenerCallback
from sweeps.cluster.connection import resolve_address
from sweeps.cluster.engine import Engine, TrialJob, build_worker_settings
from sweeps.cluster.notices import notify_if_waiting
from sweeps.cluster.trainable import TrialTrainable
from sweeps.errors import StoreError
from sweeps.run.progress import TrialListener
from sweeps.store.store import Store
from vera.training.interrupts import defer_interrupt

MAX_FAILURES = 3
"""How often a trial may lose its worker before it ends as an error."""


@dataclass(frozen=True)
class TuneRequest:
    """What Tune runs: known jobs as a space, or a searcher that makes them, with a scheduler."""

    experiment: str
    space: Mapping[str, Any] = field(default_factory=dict)
    searcher: Any = None
    scheduler: Any = None


def build_grid_request(jobs: Sequence[TrialJob], engine: Engine) -> TuneRequest:
    """A request for jobs that are known beforehand."""
    if engine.budget is not None:
        searcher = BudgetSearcher(jobs, engine, engine.budget)
        return TuneRequest(jobs[0]["sweep"] or "trials", searcher=searcher)
    return TuneRequest(jobs[0]["sweep"] or "trials", {"job": tune.grid_search(list(jobs))})


def run_tuner(
    request: TuneRequest, engine: Engine, listener: TrialListener, store: Store, folder: str
) -> ListenerCallback:
    """Run the request to its end; the callback holds the last reports and errors. Raise `KeyboardInterrupt`
    after an interrupt, and `StoreError` if rows could not be written."""
    callback = ListenerCallback(listener, store, engine.budget)
    with (
        defer_interrupt(signal.SIGTERM) as interrupt,
        _notify_if_busy(request, engine, callback, listener),
    ):
        trainable = tune.with_parameters(TrialTrainable, settings=build_worker_settings(engine))
        tuner = tune.Tuner(
            tune.with_resources(trainable, lambda config: _build_resources(engine, config)),
            param_space=dict(request.space),
            tune_config=_build_tune_config(engine, request),
            run_config=tune.RunConfig(
                name=f"{request.experiment}-{datetime.now(UTC):%Y%m%d-%H%M%S}",
                storage_path=engine.exports.choose_folder(folder),
                verbose=1 if engine.verbose else 0,
                stop=InterruptStopper(interrupt, callback),
                callbacks=[callback, *engine.exports.build_callbacks(request.experiment)],
                failure_config=tune.FailureConfig(max_failures=MAX_FAILURES),
                checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
            ),
        )
        tuner.fit()
        interrupt.check()
    if callback.store_error is not None:
        raise StoreError(
            f"{callback.store_error} The run was stopped and its trials can be resumed: fix this, then run "
            "the same command."
        )
    return callback


def _build_resources(engine: Engine, config: Mapping[str, Any]) -> tune.PlacementGroupFactory:
    gpus = config["job"]["gpus"]
    return tune.PlacementGroupFactory([{"CPU": engine.conditions.cpus} | ({"GPU": gpus} if gpus else {})])


def _notify_if_busy(
    request: TuneRequest, engine: Engine, callback: ListenerCallback, listener: TrialListener
) -> AbstractContextManager[None]:
    """Watch a joined cluster; a local one is never busy. Jobs may need less of a GPU than the maximum."""
    if not resolve_address(engine.address):
        return nullcontext()
    jobs = request.space.get("job", {}).get("grid_search", ())
    gpus = min((job["gpus"] for job in jobs), default=engine.conditions.gpus)
    wanted = {"CPU": engine.conditions.cpus, "GPU": gpus}
    return notify_if_waiting(wanted, lambda: callback.has_started, listener.on_note)


def _build_tune_config(engine: Engine, request: TuneRequest) -> tune.TuneConfig:
    settings: dict[str, Any] = {"trial_name_creator": _name_trial, "trial_dirname_creator": _name_trial}
    if request.searcher is not None:
        settings |= {"search_alg": request.searcher, "scheduler": request.scheduler, "num_samples": -1}
    return tune.TuneConfig(reuse_actors=True, max_concurrent_trials=engine.max_concurrent, **settings)


def _name_trial(tune_trial: Any) -> str:
    """The name of a trial in Tune's folders and in exports."""
    job = tune_trial.config["job"]
    label = re.sub(r"[^\w.=-]+", "-", job["label"] or job["facts"]["method"]["name"])
    return f"{label}-seed{job['facts']['seed']}-{job['id'][:8]}"
