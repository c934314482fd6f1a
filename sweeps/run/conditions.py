"""What a trial is given to run with; none of it is part of its identity. What Ray would refuse is refused
before Ray is started."""

import math
from dataclasses import dataclass

from sweeps.errors import EngineError

LEAST = 1e-4
"""Of a CPU or a GPU, for Ray counts in such parts."""


@dataclass(frozen=True)
class Conditions:
    """Where, with how much of a machine, and for how long."""

    data_dir: str | None = None
    checkpoint_dir: str | None = None
    """A directory, or the address of one in a bucket."""
    device: str = "cpu"
    """A device's name, or "auto": a GPU where the trial was given one that torch can use."""
    cpus: float = 1.0
    gpus: float = 0.0
    time_limit: float | None = None
    checkpoint_every: float = 30.0
    attempt: int = 1
    before: str = ""
    """How an earlier attempt ended that this one makes good; its row's log begins with it."""

    def __post_init__(self) -> None:
        for kind, amount in (("CPU", self.cpus), ("GPU", self.gpus)):
            if not LEAST <= amount < math.inf and not (kind == "GPU" and amount == 0):
                raise EngineError(
                    f"A trial takes at least {LEAST:.4f} of a {kind}, got {amount:g}: choose another --{kind.lower()}s-per-trial."
                )
        if self.gpus > 1 and self.gpus != int(self.gpus):
            raise EngineError(
                f"A trial takes a whole number of GPUs or a fraction below 1, got {self.gpus:g}: choose another --gpus-per-trial."
            )
