"""The resources and limits of a trial. They are not part of its identity."""

import math
from dataclasses import dataclass, replace

from sweeps.errors import EngineError

LEAST = 1e-4
"""The smallest share of a CPU or GPU that Ray can count."""


@dataclass(frozen=True)
class Conditions:
    """The resources, locations and limits of an attempt; EngineError for resources that Ray would refuse."""

    data_dir: str | None = None
    checkpoint_dir: str | None = None
    """The location of checkpoints: a directory or a bucket URL."""
    device: str = "cpu"
    """The name of a device, or "auto": a GPU if the trial was given one that torch can use."""
    cpus: float = 1.0
    gpus: float = 0.0
    time_limit: float | None = None
    """In seconds, over all attempts at the trial."""
    checkpoint_every: float = 30.0
    """In seconds."""
    keep_model: bool = True
    """Whether the trained networks are stored."""
    attempt: int = 1
    before: str = ""
    """How the earlier attempt ended that this one repeats; the log of the row begins with it."""

    def __post_init__(self) -> None:
        for kind, amount in (("CPU", self.cpus), ("GPU", self.gpus)):
            if not LEAST <= amount < math.inf and not (kind == "GPU" and amount == 0):
                raise EngineError(
                    f"A trial takes at least {LEAST:.4f} of a {kind}, got {amount:g}: "
                    f"choose another --{kind.lower()}s-per-trial."
                )
        if self.gpus > 1 and self.gpus != int(self.gpus):
            raise EngineError(
                f"A trial takes a whole number of GPUs or a fraction below 1, got {self.gpus:g}: "
                "choose another --gpus-per-trial."
            )

    def resolve_device(self) -> "Conditions":
        """The same with the name of a device in place of "auto"."""
        if self.device != "auto":
            return self
        import torch  # not at the top: the command line creates Conditions before torch is needed

        return replace(self, device="cuda" if self.gpus and torch.cuda.is_available() else "cpu")
