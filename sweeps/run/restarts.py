"""Restarts after divergence. A trial that allows them starts again from scratch, each time with another seed,
and its row lists them.

The log is stored next to the checkpoint, so a trial that is killed after a restart resumes with it. A restart
does not use the last checkpoint: when a checkpoint is written depends on the clock, and the numbers of a
trial must not.
"""

import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from sweeps.trial.canonical_json import canonical_json
from vera.atomic_write import write_atomically
from vera.spec.trial_spec import TrialSpec
from vera.training.state.random_state import derive_seed

LOG = ".restarts.json"
"""The end of the name of a log, after the trial's id."""


@dataclass(frozen=True)
class Restart:
    """A run that diverged: at which step, why, with which seed, and after how many seconds."""

    step: int
    reason: str
    seed: int
    seconds: float


@dataclass(frozen=True)
class RestartLog:
    """The runs of a trial that diverged before the current one."""

    entries: tuple[Restart, ...] = ()

    @classmethod
    def read(cls, checkpoint: Path | None) -> "RestartLog":
        """The log next to the checkpoint. A damaged log counts as empty; the trial then diverges and restarts
        as before."""
        if checkpoint is None or not name_log(checkpoint).is_file():
            return cls()
        try:
            entries = tuple(Restart(**entry) for entry in json.loads(name_log(checkpoint).read_text()))
            return cls(entries if all(map(_is_possible, entries)) else ())
        # FileNotFoundError: another driver has just finished the trial.
        except (ValueError, TypeError, FileNotFoundError):
            return cls()

    def write(self, checkpoint: Path | None) -> None:
        """Write the log next to the checkpoint, if there is one."""
        if checkpoint is None:
            return
        path = name_log(checkpoint)
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            file.write(json.dumps([asdict(entry) for entry in self.entries]).encode())

    def add(self, step: int, reason: str, seed: int, seconds: float) -> "RestartLog":
        """The log with one more entry."""
        return RestartLog((*self.entries, Restart(step, reason, seed, seconds)))

    def derive_spec(self, spec: TrialSpec) -> TrialSpec:
        """The spec of the current run: the trial's, with the seed of this restart."""
        if not self.entries:
            return spec
        return replace(spec, seed=derive_seed(spec.seed, f"restart {len(self.entries)}"))

    @property
    def seconds(self) -> float:
        """The time that all diverged runs took."""
        return sum(entry.seconds for entry in self.entries)

    def to_json(self) -> str:
        """The log as a row stores it. It holds no seconds, because a replay must reproduce it."""
        return canonical_json([{"reason": e.reason, "seed": e.seed, "step": e.step} for e in self.entries])


def _is_possible(entry: Restart) -> bool:
    """Whether the values have the right types and ranges."""
    counts = type(entry.step) is int and type(entry.seed) is int and entry.step >= 0
    seconds = type(entry.seconds) in (int, float) and math.isfinite(entry.seconds) and entry.seconds >= 0
    return counts and seconds and isinstance(entry.reason, str)


def name_log(checkpoint: Path) -> Path:
    """The path of the log next to the checkpoint."""
    return checkpoint.with_suffix(LOG)
