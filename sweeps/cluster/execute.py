"""Running trials under one Ray Tuner. What Tune remembers does not matter: each trial's row is in the store
when it ends.

A worker that is killed is replaced, and the trial goes on from its own checkpoint file. A trial that Tune
itself gives up on gets its row here, so that every trial ends as one.
"""

import re
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweeps.cluster.connection import check_resources, connected, joined_address
from sweeps.cluster.exports import Exports
from sweeps.cluster.gpu_packing import check_packable, measured_shares, repeats
from sweeps.cluster.preflight import check_nodes
from sweeps.cluster.wait_notice import told_if_waiting
from sweeps.errors import StoreError
from sweeps.run.attempt import LOG_TAIL, Attempt, Ending
from sweeps.run.checkpoint_store import forget_checkpoints
from sweeps.run.conditions import Conditions
from sweeps.run.listener import Listener
from sweeps.run.scrub import scrubbed
from sweeps.run.storable import check_storable
from sweeps.store.address import Place, settled
from sweeps.store.row import FAILURES, Outcome, Row
from sweeps.store.store import DELAY, Store
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Trial, data_parts
from vera.tasks.build import build_task, locate_files
from vera.training.interrupts import defer_interrupt

if TYPE_CHECKING:
    from sweeps.cluster.callback import ListenerCallback

MAX_FAILURES = 3
"""How often a trial may lose its worker before it ends as an error."""
UNSEEN = "it ended, but on a node whose results directory is another one: run it again (vera retry), every node is asked first"
"""Of a node that joined after the others were asked."""


@dataclass(frozen=True)
class Engine:
    """Where and with what trials run."""

    store: Place
    checkpoints: Place
    conditions: Conditions = field(default_factory=Conditions)
    address: str | None = None
    max_concurrent: int | None = None
    verbose: bool = False
    plugins: tuple[str, ...] = ()
    """Files that register what the trials use; every node must see them."""
    exports: Exports = field(default_factory=Exports)
    pack_gpus: bool = False
    """Whether a trial's part of a GPU is measured, not told."""


class Job(dict[str, Any]):
    """What a worker is told of one trial, as plain data. Never changed, so a copy is itself: Tune copies all
    jobs for each."""

    def __deepcopy__(self, memo: Any) -> "Job":
        return self


def execute(
    trials: Sequence[Trial],
    engine: Engine,
    listener: Listener | None = None,
    attempts: Mapping[str, int] | None = None,
) -> None:
    """Run the trials; when this returns, each has its row in the store. KeyboardInterrupt: what ran was
    saved, and can go on.

    `attempts` says how often each had been run when it was decided to run it; a trial that another driver
    finishes meanwhile is not run again.
    """
    listener = listener or Listener()
    store = Store(engine.store)
    engine.exports.check()
    check_storable(trials)
    for note in check_data(trials, engine.conditions.data_dir):
        listener.noted(note)
    before = {row.trial_id: row.attempt for row in store.rows()} if attempts is None else attempts
    with on_cluster(engine) as (available, folder):
        shares = (
            measured_shares(trials, site_of(engine), available, listener.noted) if engine.pack_gpus else {}
        )
        jobs = [job_for(t, before.get(t.id, 0) + 1, shares.get(t.id, engine.conditions.gpus)) for t in trials]
        callback = fit(_given(jobs), engine, listener, store, folder)
        again = {job["id"]: Job(job) for job in repeats(jobs, store)}
        if again:
            callback.follow(fit(_given(list(again.values())), engine, listener, store, folder))
            jobs = [again.get(job["id"], job) for job in jobs]
    close(list(zip(trials, jobs, strict=True)), engine, callback, listener, store)


@contextmanager
def on_cluster(engine: Engine) -> Iterator[tuple[dict[str, float], str]]:
    """What one node of the cluster has at most, and a folder for Tune, of no use afterwards and short,
    because Ray's sockets have a limit. Ray is imported in here, and not before."""
    with connected(engine.address) as available, tempfile.TemporaryDirectory(prefix="vera-") as folder:
        _check_cluster(engine, available)
        yield available, folder


def close(
    issued: Sequence[tuple[Trial, Job]],
    engine: Engine,
    callback: "ListenerCallback",
    listener: Listener,
    store: Store,
) -> None:
    """Every trial that was handed to Tune has its row now, those that Tune lost too. StoreError, when all
    were looked at, where the row of a lost one could not be written."""
    written = {row.trial_id: row for row in store.rows()}
    finished: list[str] = []
    refused: list[StoreError] = []
    for trial, job in issued:
        row = written.get(trial.id)
        if (row is None or row.attempt < job["attempt"]) and callback.last.get(trial.id, {}).get("done"):
            row = store.ended(trial.id, job["attempt"], DELAY)
        if row is None or row.attempt < job["attempt"]:
            try:
                listener.ended(_write_loss(trial, job, engine, callback, store))
            except StoreError as error:
                refused.append(error)
        elif row.outcome not in FAILURES:
            finished.append(trial.id)
    # A worker that Tune dropped may have saved a trial after another had finished it.
    forget_checkpoints(engine.checkpoints, finished)
    if refused:
        raise refused[0]


def _check_cluster(engine: Engine, available: Mapping[str, float]) -> None:
    """Whatever of the cluster can be seen to be wrong before anything is trained."""
    if engine.pack_gpus:
        check_packable(available)
    check_resources(engine.conditions.cpus, engine.conditions.gpus, available)
    if joined_address(engine.address):
        check_nodes(engine.store, _places(engine))


def check_data(trials: Sequence[Trial], data_dir: str | None) -> list[str]:
    """Raise `DataMissing` now, once, where a worker would for each trial; say what will be left out of the
    measurements."""
    for part in data_parts(trials):
        locate_files(part, data_dir)
    kinds = {canonical_json([trial.spec.task_component, trial.spec.dataset]): trial.spec for trial in trials}
    return sorted({note for spec in kinds.values() for note in build_task(spec).preflight(spec, data_dir)})


@dataclass(frozen=True)
class Asked:
    """What Tune is to run: jobs that are known beforehand, as a space, or a searcher that makes them, and a
    scheduler."""

    experiment: str
    space: Mapping[str, Any] = field(default_factory=dict)
    searcher: Any = None
    scheduler: Any = None


def _given(jobs: list[Job]) -> Asked:
    from ray import tune

    return Asked(jobs[0]["sweep"] or "trials", {"job": tune.grid_search(jobs)})


def fit(asked: Asked, engine: Engine, listener: Listener, store: Store, folder: str) -> "ListenerCallback":
    """Let Tune run what is asked; what it told of it."""
    from ray import tune

    from sweeps.cluster.callback import InterruptStopper, ListenerCallback
    from sweeps.cluster.trainable import TrialTrainable

    def wanted(config: dict[str, Any]) -> Any:
        gpus = config["job"]["gpus"]
        return tune.PlacementGroupFactory([{"CPU": engine.conditions.cpus} | ({"GPU": gpus} if gpus else {})])

    callback = ListenerCallback(listener, store)
    with defer_interrupt(signal.SIGTERM) as interrupt, _told_if_busy(asked, engine, callback, listener):
        tuner = tune.Tuner(
            tune.with_resources(tune.with_parameters(TrialTrainable, site=site_of(engine)), wanted),
            param_space=dict(asked.space),
            tune_config=_tune_config(engine, asked),
            run_config=tune.RunConfig(
                name=f"{asked.experiment}-{datetime.now(UTC):%Y%m%d-%H%M%S}",
                storage_path=engine.exports.folder(folder),
                verbose=1 if engine.verbose else 0,
                stop=InterruptStopper(interrupt, callback),
                callbacks=[callback, *engine.exports.callbacks(asked.experiment)],
                failure_config=tune.FailureConfig(max_failures=MAX_FAILURES),
                checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
            ),
        )
        tuner.fit()
        interrupt.check()
    if callback.store_error is not None:
        raise StoreError(
            f"{callback.store_error} The run was stopped, its trials can go on: mend that, then the same command."
        )
    return callback


def _told_if_busy(
    asked: Asked, engine: Engine, callback: "ListenerCallback", listener: Listener
) -> AbstractContextManager[None]:
    """A cluster of our own is never busy. Of a GPU a job may want less than a trial is given at most."""
    if not joined_address(engine.address):
        return nullcontext()
    jobs = asked.space.get("job", {}).get("grid_search", ())
    gpus = min((job["gpus"] for job in jobs), default=engine.conditions.gpus)
    return told_if_waiting(
        {"CPU": engine.conditions.cpus, "GPU": gpus}, lambda: callback.begun, listener.noted
    )


def _tune_config(engine: Engine, asked: Asked) -> Any:
    from ray import tune

    settings: dict[str, Any] = {"trial_name_creator": _name, "trial_dirname_creator": _name}
    if asked.searcher is not None:
        settings |= {"search_alg": asked.searcher, "scheduler": asked.scheduler, "num_samples": -1}
    return tune.TuneConfig(reuse_actors=True, max_concurrent_trials=engine.max_concurrent, **settings)


def job_for(trial: Trial, attempt: int, gpus: float, milestones: Sequence[int] = ()) -> Job:
    """`milestones` are steps at which a worker pauses to report."""
    about = {
        "id": trial.id,
        "facts": trial.facts,
        "sweep": trial.sweep,
        "label": trial.label,
        "attempt": attempt,
    }
    return Job(about, gpus=gpus, before="", milestones=list(milestones))


def site_of(engine: Engine) -> dict[str, Any]:
    data_dir = None if engine.conditions.data_dir is None else str(Path(engine.conditions.data_dir).resolve())
    conditions = replace(engine.conditions, checkpoint_dir=settled(engine.checkpoints), data_dir=data_dir)
    plugins = [str(Path(file).resolve()) for file in engine.plugins]
    return {"conditions": asdict(conditions), "store": settled(engine.store), "plugins": plugins}


def _places(engine: Engine) -> list[str]:
    """What every node must have besides the store."""
    site = site_of(engine)
    return [*([site["conditions"]["data_dir"]] if site["conditions"]["data_dir"] else []), *site["plugins"]]


def _name(tune_trial: Any) -> str:
    """How a trial is called in Tune's folders and in exports."""
    job = tune_trial.config["job"]
    label = re.sub(r"[^\w.=-]+", "-", job["label"] or job["facts"]["method"]["name"])
    return f"{label}-seed{job['facts']['seed']}-{job['id'][:8]}"


def _write_loss(trial: Trial, job: Job, engine: Engine, callback: "ListenerCallback", store: Store) -> Row:
    """The row of a trial that Tune gave up on, with what it reported last, and its worker of itself; its
    checkpoint stays, for a retry."""
    last = callback.last.get(trial.id, {})
    reason = callback.errors.get(trial.id, UNSEEN if last.get("done") else "the trial never started")
    line = (scrubbed(reason).strip().splitlines() or ["lost without a word"])[-1]
    killed_for_memory = "OutOfMemory" in reason or "low on memory" in reason
    outcome: Outcome = "out_of_memory" if killed_for_memory else "error"
    ending = Ending(outcome, last.get("trained_steps", 0), line[:500], scrubbed(reason)[-LOG_TAIL:])
    own = {name: job[name] for name in ("attempt", "gpus", "before")}
    conditions = replace(engine.conditions, checkpoint_dir=str(engine.checkpoints), **own)
    record = Attempt.lost(
        trial, conditions, ending, last.get("metrics", {}), last.get("trained_seconds", 0.0)
    ).record()
    row = replace(record.row, **last.get("worker", {}))
    store.write(replace(record, row=row))
    return row
