"""Running trials under one Ray Tuner. What Tune remembers does not matter: each trial's row is in the store when it ends.

A worker that is killed is replaced, and the trial goes on from its own checkpoint file. A trial that Tune itself gives up
on gets its row here, so that every trial ends as one.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sweeps.attempt import LOG_TAIL, Attempt, Conditions, Ending, without_paths
from sweeps.cluster import check_resources, connected
from sweeps.restarts import forget_checkpoint
from sweeps.row import Outcome, Row
from sweeps.store import Store
from sweeps.trial import Trial
from vera.interrupts import deferred_interrupt

MAX_FAILURES = 3
"""How often a trial may lose its worker before it ends as an error."""


@dataclass(frozen=True)
class Engine:
    """Where and with what trials run."""

    store: Path
    checkpoints: Path
    conditions: Conditions = field(default_factory=Conditions)
    address: str | None = None
    max_concurrent: int | None = None
    verbose: bool = False
    plugins: tuple[str, ...] = ()
    """Files that register what the trials use; every node must see them."""


class Listener:
    """What happens to trials as they run; the progress display is one."""

    def started(self, trial_id: str) -> None: ...

    def advanced(self, trial_id: str, step: int) -> None: ...

    def ended(self, row: Row) -> None: ...


def execute(trials: Sequence[Trial], engine: Engine, listener: Listener | None = None) -> None:
    """Run the trials; when this returns, each has its row in the store. KeyboardInterrupt: what ran was saved, and can go on."""
    listener = listener or Listener()
    store = Store(engine.store)
    attempts = {row.trial_id: row.attempt for row in store.rows()}
    conditions = replace(engine.conditions, checkpoint_dir=str(engine.checkpoints.resolve()))
    plugins = [str(Path(file).resolve()) for file in engine.plugins]
    jobs = [_job(trial, store, replace(conditions, attempt=attempts.get(trial.id, 0) + 1), plugins) for trial in trials]
    with connected(engine.address) as available, _quiet_folder() as folder:
        check_resources(conditions.cpus, conditions.gpus, available)
        failures = _fit(jobs, engine, listener, store, folder)
    written = {row.trial_id: row.attempt for row in store.rows()}
    for trial, job in zip(trials, jobs, strict=True):
        if written.get(trial.id, 0) <= attempts.get(trial.id, 0):
            listener.ended(_write_loss(trial, job, failures.get(trial.id, "the trial never started"), store))
        # A worker that Tune dropped may have saved a trial after another had finished it.
        forget_checkpoint(engine.checkpoints / f"{trial.id}.pt")


def _fit(jobs: list[dict[str, Any]], engine: Engine, listener: Listener, store: Store, folder: str) -> dict[str, str]:
    """Let Tune run the jobs; errors by trial id."""
    from ray import tune

    from sweeps.callback import InterruptStopper, ListenerCallback
    from sweeps.trainable import TrialTrainable

    wanted = {"cpu": engine.conditions.cpus} | ({"gpu": engine.conditions.gpus} if engine.conditions.gpus else {})
    with deferred_interrupt() as interrupt:
        tuner = tune.Tuner(
            tune.with_resources(TrialTrainable, wanted),
            param_space={"job": tune.grid_search(jobs)},
            tune_config=tune.TuneConfig(reuse_actors=True, max_concurrent_trials=engine.max_concurrent),
            run_config=tune.RunConfig(
                name="trials",
                storage_path=folder,
                verbose=1 if engine.verbose else 0,
                stop=InterruptStopper(interrupt),
                callbacks=[ListenerCallback(listener, store)],
                failure_config=tune.FailureConfig(max_failures=MAX_FAILURES),
                checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
            ),
        )
        results: Any = tuner.fit()
        interrupt.check()
    return {result.config["job"]["id"]: str(result.error) for result in results if result.error is not None}


def _job(trial: Trial, store: Store, conditions: Conditions, plugins: list[str]) -> dict[str, Any]:
    return {
        "id": trial.id,
        "facts": trial.facts,
        "sweep": trial.sweep,
        "label": trial.label,
        "conditions": asdict(conditions),
        "store": str(store.path.resolve()),
        "plugins": plugins,
    }


def _write_loss(trial: Trial, job: dict[str, Any], reason: str, store: Store) -> Row:
    """The row of a trial that Tune gave up on."""
    last = (reason.strip().splitlines() or ["lost without a word"])[-1]
    outcome: Outcome = "out_of_memory" if "OutOfMemory" in reason else "error"
    ending = Ending(outcome, 0, without_paths(last)[:500], without_paths(reason)[-LOG_TAIL:])
    attempt = Attempt.lost(trial, Conditions(**job["conditions"]), ending)
    record = attempt.record()
    store.write(record)
    return record.row


@contextmanager
def _quiet_folder() -> Iterator[str]:
    """Tune's own experiment folder, of no use afterwards. Short, because Ray's sockets have a limit."""
    with tempfile.TemporaryDirectory(prefix="vera-") as folder:
        yield folder
