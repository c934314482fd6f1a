"""Running trials under one Ray Tuner. What Tune remembers does not matter: each trial's row is in the store when it ends.

A worker that is killed is replaced, and the trial goes on from its own checkpoint file. A trial that Tune itself gives up
on gets its row here, so that every trial ends as one.
"""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweeps.attempt import LOG_TAIL, Attempt, Conditions, Ending
from sweeps.canonical import canonical_json
from sweeps.cluster import check_resources, connected
from sweeps.errors import StoreError
from sweeps.exports import Exports
from sweeps.restarts import forget_checkpoint
from sweeps.row import FAILURES, Outcome, Row
from sweeps.scrub import scrubbed
from sweeps.store import Store
from sweeps.trial import Trial
from vera.build import locate_files
from vera.interrupts import deferred_interrupt
from vera.tasks import build_task

if TYPE_CHECKING:
    from sweeps.callback import ListenerCallback

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
    exports: Exports = field(default_factory=Exports)


class Job(dict[str, Any]):
    """What a worker is told of one trial, as plain data. Never changed, so a copy is itself: Tune copies all jobs for each."""

    def __deepcopy__(self, memo: Any) -> "Job":
        return self


class Listener:
    """What happens to trials as they run; the progress display is one."""

    def noted(self, note: str) -> None:
        """Something to know before the first of them starts."""

    def started(self, trial_id: str) -> None: ...

    def advanced(self, trial_id: str, step: int) -> None: ...

    def ended(self, row: Row) -> None: ...


def execute(
    trials: Sequence[Trial], engine: Engine, listener: Listener | None = None, attempts: Mapping[str, int] | None = None
) -> None:
    """Run the trials; when this returns, each has its row in the store. KeyboardInterrupt: what ran was saved, and can go on.

    `attempts` says how often each had been run when it was decided to run it; a trial that another driver finishes meanwhile is
    not run again.
    """
    listener = listener or Listener()
    store = Store(engine.store)
    engine.exports.check()
    for note in check_data(trials, engine.conditions.data_dir):
        listener.noted(note)
    before = {row.trial_id: row.attempt for row in store.rows()} if attempts is None else attempts
    jobs = [_job(trial, before.get(trial.id, 0) + 1) for trial in trials]
    with connected(engine.address) as available, _quiet_folder() as folder:
        check_resources(engine.conditions.cpus, engine.conditions.gpus, available)
        callback = _fit(jobs, engine, listener, store, folder)
    written = {row.trial_id: row for row in store.rows()}
    for trial, job in zip(trials, jobs, strict=True):
        row = written.get(trial.id)
        if row is None or row.attempt < job["attempt"]:
            listener.ended(_write_loss(trial, job, engine, callback, store))
        elif row.outcome not in FAILURES:
            # A worker that Tune dropped may have saved a trial after another had finished it.
            forget_checkpoint(engine.checkpoints / f"{trial.id}.pt")


def check_data(trials: Sequence[Trial], data_dir: str | None) -> list[str]:
    """Raise `DataMissing` now, once, where a worker would for each trial; say what will be left out of the measurements."""
    for part in {canonical_json(trial.spec.dataset): trial.spec.dataset for trial in trials}.values():
        locate_files(part, data_dir)
    kinds = {canonical_json([trial.spec.task_part, trial.spec.dataset]): trial.spec for trial in trials}
    return sorted({note for spec in kinds.values() for note in build_task(spec).preflight(spec, data_dir)})


def _fit(jobs: list[Job], engine: Engine, listener: Listener, store: Store, folder: str) -> "ListenerCallback":
    """Let Tune run the jobs; what it told of them."""
    from ray import tune

    from sweeps.callback import InterruptStopper, ListenerCallback
    from sweeps.trainable import TrialTrainable

    wanted = {"cpu": engine.conditions.cpus} | ({"gpu": engine.conditions.gpus} if engine.conditions.gpus else {})
    experiment = jobs[0]["sweep"] or "trials"
    callback = ListenerCallback(listener, store)
    with deferred_interrupt() as interrupt:
        tuner = tune.Tuner(
            tune.with_resources(tune.with_parameters(TrialTrainable, site=_site(engine)), wanted),
            param_space={"job": tune.grid_search(jobs)},
            tune_config=_tune_config(engine),
            run_config=tune.RunConfig(
                name=f"{experiment}-{datetime.now(UTC):%Y%m%d-%H%M%S}",
                storage_path=engine.exports.folder(folder),
                verbose=1 if engine.verbose else 0,
                stop=InterruptStopper(interrupt, callback),
                callbacks=[callback, *engine.exports.callbacks(experiment)],
                failure_config=tune.FailureConfig(max_failures=MAX_FAILURES),
                checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
            ),
        )
        tuner.fit()
        interrupt.check()
    if callback.store_error is not None:
        raise StoreError(f"{callback.store_error} The run was stopped, its trials can go on: mend that, then the same command.")
    return callback


def _tune_config(engine: Engine) -> Any:
    from ray import tune

    names: dict[str, Any] = {"trial_name_creator": _name, "trial_dirname_creator": _name}
    return tune.TuneConfig(reuse_actors=True, max_concurrent_trials=engine.max_concurrent, **names)


def _job(trial: Trial, attempt: int) -> Job:
    return Job(id=trial.id, facts=trial.facts, sweep=trial.sweep, label=trial.label, attempt=attempt)


def _site(engine: Engine) -> dict[str, Any]:
    data_dir = None if engine.conditions.data_dir is None else str(Path(engine.conditions.data_dir).resolve())
    conditions = replace(engine.conditions, checkpoint_dir=str(engine.checkpoints.resolve()), data_dir=data_dir)
    plugins = [str(Path(file).resolve()) for file in engine.plugins]
    return {"conditions": asdict(conditions), "store": str(engine.store.resolve()), "plugins": plugins}


def _name(tune_trial: Any) -> str:
    """How a trial is called in Tune's folders and in exports."""
    job = tune_trial.config["job"]
    label = re.sub(r"[^\w.=-]+", "-", job["label"] or job["facts"]["method"]["name"])
    return f"{label}-seed{job['facts']['seed']}-{job['id'][:8]}"


def _write_loss(trial: Trial, job: Job, engine: Engine, callback: "ListenerCallback", store: Store) -> Row:
    """The row of a trial that Tune gave up on, with what it reported last; its checkpoint stays, for a retry."""
    reason = callback.errors.get(trial.id, "the trial never started")
    last = callback.last.get(trial.id, {})
    line = (scrubbed(reason).strip().splitlines() or ["lost without a word"])[-1]
    killed_for_memory = "OutOfMemory" in reason or "low on memory" in reason
    outcome: Outcome = "out_of_memory" if killed_for_memory else "error"
    ending = Ending(outcome, last.get("trained_steps", 0), line[:500], scrubbed(reason)[-LOG_TAIL:])
    conditions = replace(engine.conditions, attempt=job["attempt"], checkpoint_dir=str(engine.checkpoints))
    record = Attempt.lost(trial, conditions, ending, last.get("metrics", {})).record()
    store.write(record)
    return record.row


@contextmanager
def _quiet_folder() -> Iterator[str]:
    """Tune's own experiment folder, of no use afterwards. Short, because Ray's sockets have a limit."""
    with tempfile.TemporaryDirectory(prefix="vera-") as folder:
        yield folder
