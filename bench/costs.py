"""What trials will cost: as such trials took here, else from counted operations at an assumed rate of a GPU."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sweeps.plan import Plan
    from sweeps.sweep import Flop
    from sweeps.trial import Trial

GPU_RATE = 5e12
"""Operations a second that one GPU is assumed to keep up: a third of a V100's peak in single precision."""


def gpu_hours(operations: float) -> str:
    hours = operations / GPU_RATE / 3600
    return f"{hours:,.0f} GPU-hours" if hours >= 10 else f"{hours:.2g} GPU-hours"


def trial_cost(flop: "Flop | None", trial: "Trial", seconds: float | None) -> str:
    """As such trials took here, else from counted operations."""
    work = flop(trial) if flop else None
    if seconds is not None:
        return f"about {seconds:.0f} s"
    return "cost unknown" if work is None else f"about {gpu_hours(work)}"


def plan_cost(flop: "Flop | None", plan: "Plan") -> str:
    """From measured times where the store knows all such trials, else from counted operations at an assumed rate."""
    counted = [flop(trial) for trial in plan.missing] if flop else []
    known = [work for work in counted if work is not None]
    if known and len(known) == len(counted) and len(plan.seconds) < len(plan.missing):
        return f" · about {gpu_hours(sum(known))} at {GPU_RATE / 1e12:g} TFLOP/s"
    seconds = plan.cost()
    return "" if seconds is None else f" · about {seconds / 60:.1f} CPU-minutes"
