"""The task contract: what a trial trains and what it measures at the end.

A task builds the Trainer of a spec and measures the finished run. The measurement goes into the trial's row:
metrics and arrays, all plain data, so reading a row needs neither the networks nor torch.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor

from vera.spec.registry import Registry, methods
from vera.spec.trial_spec import TrialSpec
from vera.training.averaging import PREFIX
from vera.training.trainer import Trainer


@dataclass(frozen=True)
class Measurement:
    """Final metrics and arrays by name."""

    metrics: dict[str, float] = field(default_factory=dict)
    arrays: dict[str, Tensor] = field(default_factory=dict)


class Task(ABC):
    """Builds and measures the trials of one kind."""

    methods: ClassVar[Registry[Any]] = methods
    """The registry in which the spec's `method` is looked up."""
    trains_model: ClassVar[bool] = True
    """Whether a finished run leaves networks worth keeping. A study measures an estimator or a time."""

    @abstractmethod
    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        """The Trainer of a spec. `options` go to the Trainer."""

    @abstractmethod
    def measure(self, trainer: Trainer) -> Measurement:
        """The final metrics and arrays of a run whose outcome is "ok"."""

    def measure_run(self, trainer: Trainer) -> Measurement:
        """The measurement of the trained weights and, under names with `ema_`, of averaged weights if the run
        has them."""
        plain = self.measure(trainer)
        if trainer.average is None:
            return plain
        with trainer.use_averaged_weights():
            averaged = self.measure(trainer)
        return Measurement(
            plain.metrics | {f"{PREFIX}{name}": value for name, value in averaged.metrics.items()},
            plain.arrays | {f"{PREFIX}{name}": array for name, array in averaged.arrays.items()},
        )

    def preflight(self, spec: TrialSpec, data_dir: str | Path | None = None) -> Sequence[str]:
        """Raise if the measurement will not be possible: a file is missing or damaged, or the data is of the
        wrong kind. Returns one sentence for each optional measurement that will be left out. The files of the
        data set are checked elsewhere (`vera.tasks.build.locate_files`)."""
        return ()
