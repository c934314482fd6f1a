"""A plug-in for tests: maximum likelihood that can pause, fails on request, and logs where each step ran."""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import torch

from sweeps.trial.identity import Profile, Trial
from sweeps.trial.sweep import sweep
from vera.methods.ml import MaximumLikelihood
from vera.spec.registry import methods
from vera.spec.trial_spec import TrialSpec

FAULT_AT = 5
GATE_AT = 150
"""By this step a patient trial has trained longer than a slice, so it was saved."""


@methods.register("trouble")
@dataclass(eq=False)
class Trouble(MaximumLikelihood):
    """Fails at step FAULT_AT in the way that `fault` names."""

    fault: Annotated[
        str, "none, raise, die, memory, cuda-memory, part-of-a-gpu, diverge, unlucky or path"
    ] = "none"
    pause: Annotated[float, "seconds that a step pauses"] = 0.0
    meet: Annotated[int, "processes that must reach their first step before any of them continues"] = 1

    def setup(self):
        super().setup()
        self.taken = 0
        self.unlucky = bool(self.energy_weights[0].flatten()[0] > 0)  # for about every second seed

    def step(self, x):
        self.taken += 1
        time.sleep(self.pause)
        note(f"{os.getpid()} {self.taken} {self.pause} {os.environ.get('CUDA_VISIBLE_DEVICES')}")
        if self.taken == 1:
            wait_for_others(self.meet)
        if self.taken == GATE_AT:
            wait_at_gate()
        if self.taken == FAULT_AT:
            fail(self.fault)
        metrics = super().step(x)
        diverges = self.fault == "diverge" or (self.fault == "unlucky" and self.unlucky)
        broken = diverges and self.taken >= FAULT_AT
        return {"loss": metrics["loss"] * float("nan")} if broken else metrics


def note(line):
    """Append a line to the file that TROUBLE_LOG names, if it names one."""
    if "TROUBLE_LOG" in os.environ:
        with open(os.environ["TROUBLE_LOG"], "a") as file:
            file.write(line + "\n")


def wait_for_others(count, patience=600.0):
    """Wait until this many processes have written a line into the log."""
    until = time.monotonic() + patience
    while count > 1 and count_processes() < count:
        if time.monotonic() > until:
            raise TimeoutError(f"fewer than {count} trials ran at once")
        time.sleep(0.1)


def count_processes():
    """The number of processes that have written a line into the log."""
    lines = Path(os.environ["TROUBLE_LOG"]).read_text().splitlines()
    return len({line.split()[0] for line in lines})


def wait_at_gate():
    """Wait until the file that TROUBLE_GATE names exists, if it names one."""
    while "TROUBLE_GATE" in os.environ and not Path(os.environ["TROUBLE_GATE"]).exists():
        time.sleep(0.1)


def fail(fault):
    if fault == "raise" and not is_mended():
        raise ValueError("raised on request")
    if fault == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "memory":
        raise MemoryError("no memory on request")
    if fault == "cuda-memory":
        raise RuntimeError("CUDA error: out of memory")
    if fault == "part-of-a-gpu" and assigned_gpus() < 1:
        raise torch.OutOfMemoryError("CUDA out of memory on request")
    if fault == "path":
        raise OSError(
            f"{Path.home()}/secret/file.txt of {os.environ.get('TROUBLE_NAME')} at {Path(__file__).resolve()}"
        )


def is_mended():
    """Whether the file that TROUBLE_MENDED names exists."""
    return "TROUBLE_MENDED" in os.environ and Path(os.environ["TROUBLE_MENDED"]).exists()


def assigned_gpus():
    """The share of GPUs that Ray gave to the trial in this process."""
    import ray

    return ray.get_runtime_context().get_assigned_resources().get("GPU", 0.0)


def trouble(seed=0, steps=20, label="", evaluate_every=10, restarts=0, **settings):
    method = {"name": "trouble", "lr": 1e-3, **settings}
    spec = TrialSpec(
        {"name": "moons"}, {"energy": {"name": "mixture"}}, method, steps, 50, seed, evaluate_every, restarts
    )
    return Trial(spec, "smoke", label=label)


@sweep("faults", "one trial for each way to fail, and good ones", seeds=(0,))
def faults(profile: Profile, seeds: Sequence[int]) -> Iterator[Trial]:
    for seed in seeds:
        yield trouble(seed, label="good")
        yield trouble(seed, label="raises", fault="raise")
        yield trouble(seed, label="diverges", fault="diverge")
        yield trouble(seed, 10_000, label="slow", pause=0.02)


@sweep("doomed", "one trial that kills every worker it gets, and a good one", seeds=(0,))
def doomed(profile: Profile, seeds: Sequence[int]) -> Iterator[Trial]:
    yield trouble(0, label="good")
    yield trouble(0, label="doomed", fault="die", pause=7 / 1e6)


@sweep(
    "crowded",
    "a trial that needs a whole GPU, one that does not, and one that needs more than a GPU",
    seeds=(0,),
)
def crowded(profile: Profile, seeds: Sequence[int]) -> Iterator[Trial]:
    yield trouble(0, label="small")
    yield trouble(0, label="large", fault="part-of-a-gpu")
    yield trouble(0, label="huge", fault="memory")


@sweep("patience", "trials that take seconds", seeds=(0, 1, 2, 3, 4))
def patience(profile: Profile, seeds: Sequence[int]) -> Iterator[Trial]:
    for seed in seeds:
        pause = 0.02 + seed / 1e6  # the log identifies a trial by its pause
        yield trouble(seed, 250, label="patient", evaluate_every=100, pause=pause)


@sweep("pair", "trials that go on only once two processes run them", seeds=(0, 1))
def pair(profile: Profile, seeds: Sequence[int]) -> Iterator[Trial]:
    for seed in seeds:
        yield trouble(seed, label="pair", pause=seed / 1e6, meet=2)


@sweep("meeting", "trials that continue only once all of them run", seeds=tuple(range(16)))
def meeting(profile: Profile, seeds: Sequence[int]) -> Iterator[Trial]:
    for seed in seeds:
        yield trouble(seed, 5, label="meeting", pause=seed / 1e6, meet=len(seeds))
