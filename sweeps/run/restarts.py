"""Restarts after divergence: never silent. A trial that allows them begins again from scratch with a seed of
its own each time.

The log lies beside the checkpoint, so that a trial which is killed after a restart goes on with it. From
scratch, not from the last checkpoint: when a checkpoint is written depends on the clock, and a trial's
numbers must not.
"""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from sweeps.store.local_folder import remove_abandoned
from sweeps.trial.canonical_json import canonical_json
from vera.atomic_write import write_atomically
from vera.spec.trial_spec import TrialSpec
from vera.training.random_state import derive_seed

LOG = ".restarts.json"
"""How the name of a log ends, after the trial's id."""


@dataclass(frozen=True)
class Restart:
    """Where a run diverged, why, with which seed, and the seconds it had taken."""

    step: int
    reason: str
    seed: int
    seconds: float


@dataclass(frozen=True)
class RestartLog:
    """The runs of a trial that diverged before the present one."""

    entries: tuple[Restart, ...] = ()

    @classmethod
    def read(cls, checkpoint: Path | None) -> "RestartLog":
        """What is noted beside the checkpoint; a damaged log counts as none, and the trial then diverges and
        restarts as before."""
        if checkpoint is None or not _beside(checkpoint).is_file():
            return cls()
        try:
            return cls(tuple(Restart(**entry) for entry in json.loads(_beside(checkpoint).read_text())))
        except (
            ValueError,
            TypeError,
            FileNotFoundError,
        ):  # the last: another driver has just finished the trial
            return cls()

    def write(self, checkpoint: Path | None) -> None:
        if checkpoint is None:
            return
        path = _beside(checkpoint)
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            file.write(json.dumps([asdict(entry) for entry in self.entries]).encode())

    def with_entry(self, step: int, reason: str, seed: int, seconds: float) -> "RestartLog":
        return RestartLog((*self.entries, Restart(step, reason, seed, seconds)))

    def spec_of(self, spec: TrialSpec) -> TrialSpec:
        """The spec that runs now: the trial's own, with the seed of this restart."""
        return (
            replace(spec, seed=derive_seed(spec.seed, f"restart {len(self.entries)}"))
            if self.entries
            else spec
        )

    @property
    def seconds(self) -> float:
        return sum(entry.seconds for entry in self.entries)

    def to_json(self) -> str:
        """For the row: what a replay must find again, so without the seconds."""
        return canonical_json([{"reason": e.reason, "seed": e.seed, "step": e.step} for e in self.entries])


def forget_checkpoint(checkpoint: Path) -> None:
    """The checkpoint, the log beside it, and what killed processes have left in the directory. The trap: a
    temporary file of this trial may be one that another driver is saving just now, which without it would
    take its disk for broken and stop."""
    with suppress(NotADirectoryError):
        for path in (checkpoint, _beside(checkpoint)):
            path.unlink(missing_ok=True)
        remove_abandoned(checkpoint.parent)


def _beside(checkpoint: Path) -> Path:
    return checkpoint.with_suffix(LOG)
