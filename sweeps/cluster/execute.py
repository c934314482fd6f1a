"""Execute trials on a cluster, so that every trial ends with a row in the store.

Workers write the rows. A trial that Tune gives up gets its row here.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sweeps.cluster.engine import (
    Engine,
    TrialJob,
    build_job,
    build_job_record,
    build_worker_settings,
    open_cluster,
)
from sweeps.cluster.gpu_packing import list_retries, measure_shares
from sweeps.errors import StoreError
from sweeps.run.checkpoint_store import delete_checkpoints
from sweeps.run.progress import TrialListener
from sweeps.run.record import LOG_TAIL, Ending, check_storable
from sweeps.run.scrub import scrub
from sweeps.run.writable_store import check_writable
from sweeps.store.row import FAILURES, Outcome, Row
from sweeps.store.store import DELAY, Store
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Trial, collect_datasets
from vera.tasks.build import build_task, verify_files
from vera.wording import plural

if TYPE_CHECKING:
    from sweeps.cluster.callbacks import ListenerCallback

OTHER_STORE = (
    "the trial finished on a node that has another results directory: run it again (vera retry), which "
    "checks every node first"
)
"""The reason when a node joined after the preflight check."""


def execute(
    trials: Sequence[Trial],
    engine: Engine,
    listener: TrialListener | None = None,
    attempts: Mapping[str, int] | None = None,
) -> None:
    """Run the trials; on return each has its row in the store, unless the engine's budget names it as not
    started. Raise `KeyboardInterrupt` after an interrupt, when the running trials were saved and can be
    resumed.

    `attempts` gives the number of earlier attempts of each trial at the time of planning; a trial that
    another driver finishes meanwhile is not run again.
    """
    listener = listener or TrialListener()
    store = Store(engine.store)
    engine.exports.check()
    check_storable(trials)
    check_writable(engine.store, engine.checkpoints)
    for note in check_data(trials, engine.conditions.data_dir):
        listener.on_note(note)
    before = {row.trial_id: row.attempt for row in store.read_rows()} if attempts is None else attempts
    with open_cluster(engine) as (available, folder):
        from sweeps.cluster.tuner import build_grid_request, run_tuner

        settings = build_worker_settings(engine)
        shares = measure_shares(trials, settings, available, listener.on_note) if engine.pack_gpus else {}
        gpus = engine.conditions.gpus
        jobs = [build_job(t, before.get(t.id, 0) + 1, shares.get(t.id, gpus)) for t in trials]
        callback = run_tuner(build_grid_request(jobs, engine), engine, listener, store, folder)
        retries = {job["id"]: TrialJob(job) for job in list_retries(jobs, store)}
        if retries and not (engine.budget and engine.budget.is_spent):
            request = build_grid_request(list(retries.values()), engine)
            callback.merge(run_tuner(request, engine, listener, store, folder))
            jobs = [retries.get(job["id"], job) for job in jobs]
    left = set() if engine.budget is None else set(engine.budget.not_started)
    issued = [(trial, job) for trial, job in zip(trials, jobs, strict=True) if trial.id not in left]
    ensure_rows(issued, engine, callback, listener, store)


def check_data(trials: Sequence[Trial], data_dir: str | None) -> list[str]:
    """Raise `DataMissing` or `DataCorrupt` once, before any worker does; return notes on what will not be
    measured."""
    for component in collect_datasets(trials):
        verify_files(component, data_dir)
    kinds = {canonical_json([trial.spec.task_component, trial.spec.dataset]): trial.spec for trial in trials}
    return sorted({note for spec in kinds.values() for note in build_task(spec).preflight(spec, data_dir)})


def ensure_rows(
    issued: Sequence[tuple[Trial, TrialJob]],
    engine: Engine,
    callback: "ListenerCallback",
    listener: TrialListener,
    store: Store,
) -> None:
    """Write the missing rows of issued trials. Raise `StoreError`, after trying all, if one could not be
    written."""
    written = {row.trial_id: row for row in store.read_rows()}
    finished: list[str] = []
    refused: list[StoreError] = []
    for trial, job in issued:
        row = written.get(trial.id)
        is_missing = row is None or row.attempt < job["attempt"]
        if is_missing and callback.last_reports.get(trial.id, {}).get("done"):
            row = store.wait_for_row(trial.id, job["attempt"], DELAY)
        if row is None or row.attempt < job["attempt"]:
            try:
                listener.on_end(_write_failure(trial, job, engine, callback, store))
            except StoreError as error:
                refused.append(error)
        elif row.outcome not in FAILURES:
            finished.append(trial.id)
    # A worker that Tune dropped may have saved a checkpoint after another worker finished the trial.
    delete_checkpoints(engine.checkpoints, finished)
    if refused:
        raise refused[0]
    if callback.model_errors:
        raise StoreError(_describe_lost_models(callback.model_errors, store.location))


def _describe_lost_models(errors: Mapping[str, str], location: str) -> str:
    trial_id, reason = next(iter(errors.items()))
    return (
        f"The models of {plural(len(errors), 'trial')} could not be stored in {location} "
        f"({reason.rstrip('.')}). The rows are stored. To train a model again: "
        f"vera replay {trial_id} --keep-model, with the --results-dir of this run"
    )


def _write_failure(
    trial: Trial, job: TrialJob, engine: Engine, callback: "ListenerCallback", store: Store
) -> Row:
    """Write and return the row of a trial that Tune gave up, from its last report. Its checkpoint stays for a
    retry."""
    last = callback.last_reports.get(trial.id, {})
    reason = callback.errors.get(trial.id, OTHER_STORE if last.get("done") else "the trial never started")
    line = (scrub(reason).strip().splitlines() or ["the worker ended without an error message"])[-1]
    is_memory = "OutOfMemory" in reason or "low on memory" in reason
    outcome: Outcome = "out_of_memory" if is_memory else "error"
    ending = Ending(outcome, last.get("trained_steps", 0), line[:500], scrub(reason)[-LOG_TAIL:])
    record = build_job_record(trial, job, engine, ending, last)
    store.write(record)
    return record.row
