"""A plug-in for `vera perf engine`: a task whose trials train one tiny step and measure nothing."""

from pathlib import Path
from typing import Any

from vera.spec.registry import tasks
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_plain_trainer
from vera.tasks.contract import Measurement, Task
from vera.training.trainer import Trainer


@tasks.register("trivial")
class TrivialTask(Task):
    """Trains as the spec says, without an evaluation."""

    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        return build_plain_trainer(spec, data_dir=data_dir, device=device, **options)

    def measure(self, trainer: Trainer) -> Measurement:
        return Measurement()
