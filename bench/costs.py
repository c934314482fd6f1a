"""Expected cost of trials: as similar trials took, in the user's store or in the published one; else from
counted operations at an assumed GPU rate.

Trap: a small network does not keep a GPU busy. A step takes at least as long as launching its kernels.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench.locations import PUBLISHED
from vera.wording import plural

if TYPE_CHECKING:
    from sweeps.trial.identity import Trial
    from sweeps.trial.plan import Plan
    from sweeps.trial.sweep import Flop

GPU_RATE = 5e12
"""Operations per second assumed for one GPU: a third of the single-precision peak of a V100."""
GPU_STEP = 5e-3
"""Seconds that a training step is assumed to take at least."""


def describe_trial_cost(flop: "Flop | None", trial: "Trial", seconds: float | None) -> str:
    """The cost of one trial: `seconds` if similar trials were timed, else an estimate from operations."""
    if seconds is None:
        work = flop(trial) if flop else None
        return "cost unknown" if work is None else describe_gpu_time([(work, trial.spec.steps)])
    if seconds < 1:
        return "less than a second"
    return f"about {seconds:.0f} s" if seconds < 120 else describe_duration(seconds)


def describe_plan_cost(flop: "Flop | None", plan: "Plan", cores: int | None = None) -> str:
    """The cost of all missing trials: from operations if all are counted and some were never timed, else from
    measured times. `cores` is None for a cluster, whose size is unknown."""
    if counted := count_operations(flop, plan):
        return f" · {describe_gpu_time(counted)} at {GPU_RATE / 1e12:g} TFLOP/s"
    seconds = plan.estimate_cost()
    if seconds is None:
        return ""
    time = seconds if cores is None else max(seconds / cores, *plan.seconds.values())
    where = "of one core" if cores is None else f"on {plural(cores, 'core')}"
    measured = f", as measured for {PUBLISHED}" if plan.borrowed else ""
    return f" · {describe_duration(time)} {where}{measured}"


def count_operations(flop: "Flop | None", plan: "Plan") -> list[tuple[float, int]]:
    """(operations, steps) of the missing trials if all are counted and some were never timed. Otherwise the
    list is empty, and the cost of the plan and of each trial is stated in measured times."""
    works = [(flop(trial), trial.spec.steps) for trial in plan.missing] if flop else []
    counted = [(work, steps) for work, steps in works if work is not None]
    return counted if len(counted) == len(works) and len(plan.seconds) < len(plan.missing) else []


def describe_gpu_time(works: Sequence[tuple[float, int]]) -> str:
    """GPU time of trials given as (operations, steps): "at least" where the number of steps decides."""
    arithmetic = sum(work / GPU_RATE for work, _ in works)
    seconds = sum(max(work / GPU_RATE, steps * GPU_STEP) for work, steps in works)
    if seconds < 60:
        return "less than a minute on a GPU"
    hours = seconds / 3600
    if hours >= 10:
        time = f"{hours:,.0f} GPU-hours"
    elif hours >= 1:
        time = f"{hours:.1f} GPU-hours"
    else:
        time = f"{seconds / 60:.0f} GPU-minutes"
    return f"{'at least' if seconds > arithmetic else 'about'} {time}"


def describe_duration(seconds: float) -> str:
    if seconds < 60:
        return "less than a minute"
    minutes = seconds / 60
    if minutes < 90:
        return f"about {minutes:.0f} min"
    return f"about {minutes / 60:.1f} h" if minutes < 600 else f"about {minutes / 60:,.0f} h"


def count_cores() -> int:
    """The cores of this machine that the process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
