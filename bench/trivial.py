"""A plug-in for the engine's benchmark: a trial that trains one step of next to nothing and measures nothing."""

from pathlib import Path
from typing import Any

from vera.build import plain_trainer
from vera.registry import tasks
from vera.spec import TrialSpec
from vera.tasks import Measurement, Task
from vera.trainer import Trainer


@tasks.register("trivial")
class TrivialTask(Task):
    """Whatever the spec says, without an evaluation."""

    def build(self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any) -> Trainer:
        return plain_trainer(spec, data_dir=data_dir, device=device, **options)

    def measure(self, trainer: Trainer) -> Measurement:
        return Measurement()
