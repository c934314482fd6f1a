"""What trials will cost: as such trials took here or, where none ran here, for the results that ship; else
from counted operations at an assumed rate of a GPU.

Trap: a small network does not keep a GPU busy. However few its operations, a step takes as long as launching
its kernels does.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.locations import PUBLISHED
from vera.wording import plural

if TYPE_CHECKING:
    from sweeps.trial.identity import Trial
    from sweeps.trial.plan import Plan
    from sweeps.trial.sweep import Flop

GPU_RATE = 5e12
"""Operations a second that one GPU is assumed to keep up: a third of a V100's peak in single precision."""
GPU_STEP = 5e-3
"""Seconds below which no training step is assumed to come."""


def published_seconds(trials: "Sequence[Trial]") -> dict[str, float]:
    """Seconds of the trials whose like is among those that ship, as it took then."""
    from bench.judging.results import open_store
    from sweeps.trial.plan import estimate

    return (
        estimate(trials, open_store(PUBLISHED).rows())
        if trials and Path(PUBLISHED, "trials").is_dir()
        else {}
    )


def trial_cost(flop: "Flop | None", trial: "Trial", seconds: float | None) -> str:
    """As such trials took, else from counted operations."""
    work = flop(trial) if flop else None
    if seconds is not None:
        return (
            "less than a second"
            if seconds < 1
            else f"about {seconds:.0f} s"
            if seconds < 120
            else duration(seconds)
        )
    return "cost unknown" if work is None else gpu_time([(work, trial.spec.steps)])


def plan_cost(flop: "Flop | None", plan: "Plan", cores: int | None = None) -> str:
    """From measured times where all such trials are known, else from counted operations at an assumed rate. A
    cluster's cores are not known beforehand (None)."""
    works = [(flop(trial), trial.spec.steps) for trial in plan.missing] if flop else []
    known = [(work, steps) for work, steps in works if work is not None]
    if known and len(known) == len(works) and len(plan.seconds) < len(plan.missing):
        return f" · {gpu_time(known)} at {GPU_RATE / 1e12:g} TFLOP/s"
    seconds = plan.cost()
    if seconds is None:
        return ""
    time = seconds if cores is None else max(seconds / cores, *plan.seconds.values())
    where = "of one core" if cores is None else f"on {plural(cores, 'core')}"
    return f" · {duration(time)} {where}{f', as measured for {PUBLISHED}' if plan.borrowed else ''}"


def gpu_time(works: Sequence[tuple[float, int]]) -> str:
    """Of trials with so many operations and steps; at least so much, where the steps decide it and not the
    operations."""
    counted_seconds = sum(work / GPU_RATE for work, _ in works)
    seconds = sum(max(work / GPU_RATE, steps * GPU_STEP) for work, steps in works)
    if seconds < 60:
        return "less than a minute on a GPU"
    hours = seconds / 3600
    told = (
        f"{hours:,.0f} GPU-hours"
        if hours >= 10
        else f"{hours:.1f} GPU-hours"
        if hours >= 1
        else f"{seconds / 60:.0f} GPU-minutes"
    )
    return f"{'at least' if seconds > counted_seconds else 'about'} {told}"


def duration(seconds: float) -> str:
    if seconds < 60:
        return "less than a minute"
    minutes = seconds / 60
    return (
        f"about {minutes:.0f} min"
        if minutes < 90
        else f"about {minutes / 60:.1f} h"
        if minutes < 600
        else f"about {minutes / 60:,.0f} h"
    )


def own_cores() -> int:
    """Those of this machine that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
