"""GPU packing: how many trials share a GPU, from the memory measured on one trial of each kind.

A short run of a trial, with its evaluation and measurement, gets a whole GPU. Its peak with a margin, plus
what a process needs for CUDA itself, gives the number of trials that fit, limited by the CPUs. Trials are of
one kind as in `sweeps.trial.plan`: a learning rate does not change the memory.

A short run can miss the peak of a long one. So a trial that runs out of memory on a share of a GPU is run
once more on a whole one, as its next attempt, from its checkpoint. Its row has that attempt and that GPU, and
its log starts with how the first attempt ended.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, isqrt
from typing import Any

import torch

from sweeps.cluster.connection import count_cpus_per_gpu
from sweeps.errors import EngineError
from sweeps.run.attempt import run_trial
from sweeps.run.conditions import Conditions
from sweeps.store.row import FAILURES, Row
from sweeps.store.store import Store
from sweeps.trial.identity import Trial
from sweeps.trial.plan import get_cost_class
from vera.spec.registry import load_plugin

MARGIN = 1.2
"""Factor on the peak, for fragmentation and larger batches."""
CONTEXT_BYTES = 512 * 2**20
"""The least memory that a process takes on a GPU before it holds any tensor."""
SMOKE_STEPS = 20
GRAIN = 10_000
"""Ray counts GPUs in units of 1 / GRAIN."""
MOST_TRIALS = isqrt(GRAIN)
"""Maximum number of trials per GPU: beyond it 1/k and 1/(k + 1) can be the same number of units."""


@dataclass(frozen=True)
class Footprint:
    """Bytes on a GPU: the peak of a trial's tensors, what its process takes besides, and the total memory."""

    peak: int
    context: int
    memory: int


class CudaMeter:
    """Measures the memory of this process's GPU."""

    def reset(self) -> None:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()

    def measure(self) -> Footprint:
        free, memory = torch.cuda.mem_get_info()
        besides = memory - free - torch.cuda.memory_reserved()
        return Footprint(torch.cuda.max_memory_reserved(), max(CONTEXT_BYTES, besides), memory)


def compute_share(footprint: Footprint, cpus_per_gpu: float, cpus_per_trial: float) -> float:
    """1/k for the largest k such that k trials fit, rounded down so that k shares never exceed a GPU."""
    each = MARGIN * footprint.peak + footprint.context
    fitting = min(footprint.memory // each, cpus_per_gpu // cpus_per_trial, MOST_TRIALS)
    return floor(GRAIN / max(1, fitting)) / GRAIN


def measure_footprint(trial: Trial, conditions: Conditions, meter: CudaMeter) -> Footprint | None:
    """The footprint of a short run that does everything a long one does; None if it fails."""
    meter.reset()
    short = replace(trial, spec=replace(trial.spec, steps=min(trial.spec.steps, SMOKE_STEPS)))
    alone = replace(conditions, gpus=1.0, checkpoint_dir=None, time_limit=None)
    return None if run_trial(short, alone).row.outcome in FAILURES else meter.measure()


def list_retries(jobs: Sequence[Mapping[str, Any]], store: Store) -> list[dict[str, Any]]:
    """The jobs to run once more with a whole GPU."""
    sharing = [job for job in jobs if is_sharing(job)]
    rows = {row.trial_id: row for row in store.read_rows()} if sharing else {}
    retries = [build_retry(job, rows[job["id"]]) for job in sharing if job["id"] in rows]
    return [retry for retry in retries if retry is not None]


def is_sharing(job: Mapping[str, Any]) -> bool:
    """Whether the job has a share of a GPU."""
    return bool(0 < job["gpus"] < 1)


def build_retry(job: Mapping[str, Any], row: Row) -> dict[str, Any] | None:
    """The job with a whole GPU, if its row says that a share was not enough."""
    if row.attempt != job["attempt"] or row.outcome != "out_of_memory" or not is_sharing(job):
        return None
    at = f"at step {row.outcome_step} with {row.gpus:g} of a GPU"
    before = f"Attempt {row.attempt} ended {row.outcome} {at}: {row.reason}\nThis attempt had a whole GPU."
    return {**job, "gpus": 1.0, "attempt": row.attempt + 1, "before": before}


def check_packable(available: Mapping[str, float]) -> None:
    if available.get("GPU", 0) < 1:
        raise EngineError(
            "--gpus-per-trial auto measures trials on a GPU, but no node has one: omit it to run on CPUs."
        )


def measure_shares(
    trials: Sequence[Trial],
    settings: Mapping[str, Any],
    available: Mapping[str, float],
    notify: Callable[[str], None],
) -> dict[str, float]:
    """The GPU share of each trial, by id, from one short run for each kind of trial, in parallel."""
    import ray

    firsts = {get_cost_class(trial.facts): trial for trial in reversed(trials)}
    notify(
        f"measuring how many trials share a GPU: {SMOKE_STEPS} steps of one trial of each kind "
        f"({len(firsts)}) as soon as a whole GPU is free"
    )
    cpus = settings["conditions"]["cpus"]
    task = ray.remote(num_cpus=cpus, num_gpus=1, max_calls=1, max_retries=0)(measure_on_worker)
    references = {name: task.remote(trial.facts, dict(settings)) for name, trial in firsts.items()}
    cpus_per_gpu = count_cpus_per_gpu(available)
    shares = {name: _read_share(reference, cpus_per_gpu, cpus) for name, reference in references.items()}
    return {trial.id: shares[get_cost_class(trial.facts)] for trial in trials}


def measure_on_worker(facts: Mapping[str, Any], settings: Mapping[str, Any]) -> Footprint | None:
    """Measure in a process of its own, which frees its GPU memory when it ends."""
    conditions = Conditions(**settings["conditions"])
    if conditions.data_dir is not None:
        os.environ["VERA_DATA"] = conditions.data_dir
    for file in settings["plugins"]:
        load_plugin(file)
    if not torch.cuda.is_available():
        raise EngineError(
            "--gpus-per-trial auto: torch cannot use the GPU that Ray sees. Install a torch build for it."
        )
    return measure_footprint(Trial.from_facts(facts), conditions, CudaMeter())


def _read_share(reference: Any, cpus_per_gpu: float, cpus: float) -> float:
    """The measured share; a whole GPU if the short run failed or its worker died."""
    import ray

    try:
        footprint = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, EngineError):
            raise error.cause from None
        return 1.0
    except ray.exceptions.RayError:
        return 1.0
    return 1.0 if footprint is None else compute_share(footprint, cpus_per_gpu, cpus)
