"""How many trials share a GPU: as many as their memory allows, measured on one trial of each kind.

A short run of a trial, with its evaluation and measurement, is given a whole GPU; its peak with a margin, and
what a process takes for CUDA itself, say how many fit. More than there are CPUs for would only wait. Alike
are trials as in `sweeps.trial.plan`: the learning rate of one says nothing about the memory of another.

A short run can miss the peak of a long one. So a trial that runs out of memory on a part of a GPU is run once
more, on a whole one, as its next attempt, from its checkpoint. Its row has that attempt and that GPU, and its
log begins with how the first one ended.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, isqrt
from typing import Any, Protocol

import torch

from sweeps.cluster import connection as cluster
from sweeps.errors import EngineError
from sweeps.run.attempt import run_trial
from sweeps.run.conditions import Conditions
from sweeps.store.row import FAILURES, Outcome, Row
from sweeps.trial.identity import Trial
from sweeps.trial.plan import kind
from vera.spec.registry import load_plugin

MARGIN = 1.2
"""Of the peak: fragments, and batches larger than those that were seen."""
CONTEXT_BYTES = 512 * 2**20
"""At the least, what a process takes on a GPU before it holds a single number."""
SMOKE_STEPS = 20
GRAIN = 10_000
"""Ray counts GPUs in parts of so many."""
MOST = isqrt(GRAIN)
"""Of trials on a GPU: above it, 1/k and 1/(k + 1) can be the same number of grains."""


@dataclass(frozen=True)
class Footprint:
    """Bytes on a GPU: the most that a trial's tensors took, what its process took besides, and all that there
    is."""

    peak: int
    context: int
    memory: int


class Device(Protocol):
    """A GPU whose memory can be watched."""

    def watch(self) -> None: ...

    def footprint(self) -> Footprint: ...


class CudaDevice:
    """The GPU that this process was given."""

    def watch(self) -> None:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()

    def footprint(self) -> Footprint:
        free, memory = torch.cuda.mem_get_info()
        besides = memory - free - torch.cuda.memory_reserved()
        return Footprint(torch.cuda.max_memory_reserved(), max(CONTEXT_BYTES, besides), memory)


class Rows(Protocol):
    """A store, as far as it is asked here."""

    def rows(self) -> list[Row]: ...


def share(footprint: Footprint, cpus_per_gpu: float, cpus_per_trial: float) -> float:
    """1/k for the largest k such that k trials fit, rounded down so that k shares are never more than a
    GPU."""
    each = MARGIN * footprint.peak + footprint.context
    fitting = min(footprint.memory // each, cpus_per_gpu // cpus_per_trial, MOST)
    return floor(GRAIN / max(1, fitting)) / GRAIN


def measure(trial: Trial, conditions: Conditions, device: Device) -> Footprint | None:
    """Of a short run of the trial with all that a long one does; None if it fails, and then nothing is
    known."""
    device.watch()
    short = replace(trial, spec=replace(trial.spec, steps=min(trial.spec.steps, SMOKE_STEPS)))
    alone = replace(conditions, gpus=1.0, checkpoint_dir=None, time_limit=None)
    return None if run_trial(short, alone).row.outcome in FAILURES else device.footprint()


def needs_whole(outcome: Outcome, gpus: float) -> bool:
    """Whether a trial that ended so is to be run again with a whole GPU."""
    return outcome == "out_of_memory" and 0 < gpus < 1


def repeats(jobs: Sequence[Mapping[str, Any]], store: Rows) -> Iterator[dict[str, Any]]:
    """The jobs to run once more with a whole GPU, each with what is to be said of its first attempt."""
    sharing = [job for job in jobs if 0 < job["gpus"] < 1]
    held = {row.trial_id: row for row in store.rows()} if sharing else {}
    for job in sharing:
        row = held.get(job["id"])
        again = None if row is None else repeated(job, row)
        if again is not None:
            yield again


def repeated(job: Mapping[str, Any], row: Row) -> dict[str, Any] | None:
    """The job with a whole GPU, if this row of it says that it needs one."""
    if row.attempt != job["attempt"] or not needs_whole(row.outcome, job["gpus"]):
        return None
    return {**job, "gpus": 1.0, "attempt": row.attempt + 1, "before": told(row)}


def told(row: Row) -> str:
    at = f"at step {row.outcome_step} with {row.gpus:g} of a GPU"
    return f"Attempt {row.attempt} ended {row.outcome} {at}: {row.reason}\nThis attempt had a whole GPU."


def check_packable(available: Mapping[str, float]) -> None:
    if available.get("GPU", 0) < 1:
        raise EngineError(
            "--gpus-per-trial auto measures a trial on a GPU, and no node has one: leave it out to run on CPUs."
        )


def measured_shares(
    trials: Sequence[Trial],
    site: Mapping[str, Any],
    available: Mapping[str, float],
    tell: Callable[[str], None],
) -> dict[str, float]:
    """Trial id → its part of a GPU, from one short run for each kind of trial, as many at once as there are
    GPUs."""
    import ray

    firsts = {kind(trial): trial for trial in reversed(trials)}
    tell(
        f"measuring how many trials share a GPU: {SMOKE_STEPS} steps of one of each kind ({len(firsts)}), once a whole GPU is free"
    )
    task = ray.remote(num_cpus=site["conditions"]["cpus"], num_gpus=1, max_calls=1, max_retries=0)(
        measure_on_worker
    )
    asked = {name: task.remote(trial.facts, dict(site)) for name, trial in firsts.items()}
    cpus = cluster.cpus_per_gpu(available)
    shares = {
        name: _share_of(reference, cpus, site["conditions"]["cpus"]) for name, reference in asked.items()
    }
    return {trial.id: shares[kind(trial)] for trial in trials}


def measure_on_worker(facts: Mapping[str, Any], site: Mapping[str, Any]) -> Footprint | None:
    """In a process of its own, which ends with it: what it holds on the GPU goes with it."""
    conditions = Conditions(**site["conditions"])
    if conditions.data_dir is not None:
        os.environ["VERA_DATA"] = conditions.data_dir
    for file in site["plugins"]:
        load_plugin(file)
    if not torch.cuda.is_available():
        raise EngineError(
            "--gpus-per-trial auto: torch cannot use the GPU that Ray sees. Install a build of torch for it."
        )
    return measure(Trial.from_facts(facts), conditions, CudaDevice())


def _share_of(reference: Any, cpus_per_gpu: float, cpus: float) -> float:
    """A whole GPU where the short run failed or its worker died."""
    import ray

    try:
        footprint = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, EngineError):
            raise error.cause from None
        return 1.0
    except ray.exceptions.RayError:
        return 1.0
    return 1.0 if footprint is None else share(footprint, cpus_per_gpu, cpus)
