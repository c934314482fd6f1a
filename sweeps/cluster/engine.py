"""The engine: where and with what trials run, and the plain data that workers receive."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sweeps.cluster.connection import check_resources, connect, resolve_address
from sweeps.cluster.exports import Exports
from sweeps.cluster.gpu_packing import check_packable
from sweeps.cluster.preflight import check_nodes
from sweeps.run.budget import TrialBudget
from sweeps.run.conditions import Conditions
from sweeps.run.record import Ending, build_record_from_report
from sweeps.store.location import Location, resolve_location
from sweeps.store.row import Record
from sweeps.trial.identity import Trial


@dataclass(frozen=True)
class Engine:
    """Where and with what trials run."""

    store: Location
    checkpoints: Location
    conditions: Conditions = field(default_factory=Conditions)
    address: str | None = None
    max_concurrent: int | None = None
    verbose: bool = False
    plugins: tuple[str, ...] = ()
    """Files that register what the trials use; every node must see them."""
    exports: Exports = field(default_factory=Exports)
    pack_gpus: bool = False
    """Whether the GPU share of a trial is measured instead of given."""
    budget: TrialBudget | None = None
    """No trial is started once it is spent."""


class TrialJob(dict[str, Any]):
    """What a worker receives of one trial, as plain data. Jobs are never changed, so a copy is the job
    itself: Tune copies all jobs for each trial."""

    def __deepcopy__(self, memo: Any) -> "TrialJob":
        return self


def build_job(trial: Trial, attempt: int, gpus: float, milestones: Sequence[int] = ()) -> TrialJob:
    """The job of a trial. At the steps in `milestones` the worker pauses to report."""
    about = {
        "id": trial.id,
        "facts": trial.facts,
        "sweep": trial.sweep,
        "label": trial.label,
        "attempt": attempt,
    }
    return TrialJob(about, gpus=gpus, before="", milestones=list(milestones))


def build_job_record(
    trial: Trial, job: TrialJob, engine: Engine, ending: Ending, report: Mapping[str, Any]
) -> Record:
    """The record of a job that its worker cannot write, from the worker's last report."""
    own = {name: job[name] for name in ("attempt", "gpus", "before")}
    conditions = replace(engine.conditions, checkpoint_dir=resolve_location(engine.checkpoints), **own)
    metrics, seconds = report.get("metrics", {}), report.get("trained_seconds", 0.0)
    record = build_record_from_report(trial, conditions, ending, metrics, seconds)
    return replace(record, row=replace(record.row, **report.get("worker", {})))


def build_worker_settings(engine: Engine) -> dict[str, Any]:
    """What all workers of a run share: conditions, store and plug-ins, with absolute paths."""
    data_dir = None if engine.conditions.data_dir is None else str(Path(engine.conditions.data_dir).resolve())
    conditions = replace(
        engine.conditions, checkpoint_dir=resolve_location(engine.checkpoints), data_dir=data_dir
    )
    plugins = [str(Path(file).resolve()) for file in engine.plugins]
    return {"conditions": asdict(conditions), "store": resolve_location(engine.store), "plugins": plugins}


@contextmanager
def open_cluster(engine: Engine) -> Iterator[tuple[dict[str, float], str]]:
    """A checked cluster: the resources of its largest node, and a temporary folder for Tune with a short
    path, because socket paths have a length limit. Ray is not imported before this. Raise `EngineError` for
    everything that can be found wrong before training."""
    with (
        tempfile.TemporaryDirectory(prefix="vera-") as folder,
        connect(engine.address, scratch=Path(folder)) as available,
    ):
        if engine.pack_gpus:
            check_packable(available)
        check_resources(engine.conditions.cpus, engine.conditions.gpus, available)
        if resolve_address(engine.address):
            settings = build_worker_settings(engine)
            data_dir = settings["conditions"]["data_dir"]
            check_nodes(engine.store, [*([data_dir] if data_dir else []), *settings["plugins"]])
        yield available, folder
