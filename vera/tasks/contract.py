"""The task contract: what a trial trains for, and what is measured when it is done.

A task builds the Trainer of a spec and, at the end, takes the measurements that go into the trial's row:
numbers, and arrays to look at. All of it is plain data, so that reading a row needs neither the networks nor
torch.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor

from vera.spec.registry import Registry, methods
from vera.spec.trial_spec import TrialSpec
from vera.training.trainer import Trainer


@dataclass(frozen=True)
class Measurement:
    """Final metrics by name, and arrays by name."""

    metrics: dict[str, float] = field(default_factory=dict)
    arrays: dict[str, Tensor] = field(default_factory=dict)


class Task(ABC):
    """How the trials of one kind are built and measured."""

    methods: ClassVar[Registry[Any]] = methods
    """Where the name in a spec's `method` is looked up."""

    @abstractmethod
    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer: ...

    @abstractmethod
    def measure(self, trainer: Trainer) -> Measurement:
        """Of a run that ended ok."""

    def preflight(self, spec: TrialSpec, data_dir: str | Path | None = None) -> Sequence[str]:
        """Raise where the measurement could not be made: a file is not there or damaged, the data are of
        another kind. What can be left out of it is said, one sentence each. The data set's own files are
        looked for elsewhere."""
        return ()
