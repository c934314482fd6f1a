"""The task "step-time": the time of a training step of a joint method and of JEM with the same classifier
(Sec. 6).

The paper reports that VERA trains 2.8 times faster than JEM with 20 Langevin steps. Each step of this run is
a round: one training step of the spec's method and one of JEM on the same classifier and batch, in
alternating order. Both are timed next to each other, so a slowdown of the machine affects both. The first
round warms up and is not counted; the result is the median over the others. The device is synchronised before
each reading of the clock.

JEM has the settings of its own paper and is computed like the spec's method (precision, memory layout,
compilation). Trap: the ratio depends on both networks. With a small classifier, a full-width generator costs
more than the Langevin steps.
"""

import time
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any

import torch
from torch import Tensor, nn

from vera.errors import SettingError, VeraError
from vera.joint import JEM, ClassifierMethod
from vera.joint.forward_passes import EXECUTION_SETTINGS
from vera.methods.contract import Batch, Method, Metrics
from vera.spec.registry import joint_methods, tasks
from vera.spec.settings import Count, validate_arguments
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import assemble_trainer, build_labelled, build_method
from vera.tasks.contract import Measurement, Task
from vera.training.trainer import Trainer

RIVAL = "jem"
JEM_SETTINGS: dict[str, Any] = {"data_noise": 0.03, "lr": 1e-4}
"""The settings of JEM's paper for images; the settings of its sampler are the defaults."""
WARM_UP = 1


@dataclass(eq=False)
class StepTimeComparison(Method):
    """Two methods that take turns on the same batches, with the seconds of each step."""

    has_fixed_length = True
    _: KW_ONLY
    rounds: Annotated[Count, "of one step each; inferred from the spec's steps"]

    def __post_init__(self) -> None:
        self.pair: dict[str, Method] = {}
        super().__post_init__()

    def setup(self) -> None:
        self.seconds = torch.zeros(self.rounds, 2, dtype=torch.float64)
        self.taken = 0

    def begin(self, batch: Batch) -> None:
        for method in self.pair.values():
            method.begin(batch)

    def step(self, batch: Batch) -> Metrics:
        order = list(enumerate(self.pair))
        losses: dict[str, Tensor] = {}
        for column, name in order if self.taken % 2 == 0 else reversed(order):
            started = self._now()
            losses[name] = self.pair[name].step(batch)["loss"]
            self.seconds[self.taken, column] = self._now() - started
        row = self.seconds[self.taken]
        self.taken += 1
        loss = torch.stack(list(losses.values())).sum()  # finite only if both losses are
        return {"loss": loss} | {f"{name}_seconds": row[column].clone() for column, name in order}

    def networks(self) -> dict[str, nn.Module]:
        return next(iter(self.pair.values())).networks() if self.pair else super().networks()

    def settings(self) -> dict[str, Any]:
        return super().settings() | {name: method.settings() for name, method in self.pair.items()}

    def _now(self) -> float:
        device = self.energy_weights[0].device
        if device.type != "cpu":
            torch.accelerator.synchronize(device)
        return time.perf_counter()


@tasks.register("step-time")
class StepTimeTask(Task):
    """Times a step of the spec's method and of JEM with `sampler_steps` Langevin steps, in `steps` rounds."""

    methods = joint_methods
    trains_model = False

    @validate_arguments
    def __init__(self, sampler_steps: Count = 20) -> None:
        self.sampler_steps = sampler_steps

    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        if spec.method["name"] == RIVAL:
            raise VeraError(f"The task 'step-time' compares another joint method with {RIVAL}, got {RIVAL}.")
        if spec.steps <= WARM_UP:
            raise SettingError(
                f"step-time: steps must be at least {WARM_UP + 1}, including {WARM_UP} to warm up, "
                f"got {spec.steps}."
            )
        data = build_labelled(spec.dataset, data_dir).split(spec.seed)
        method = build_method(spec, data, self.methods)
        assert isinstance(method, ClassifierMethod)
        study = StepTimeComparison(method.energy, rounds=spec.steps)
        execution = {name: getattr(method, name) for name in EXECUTION_SETTINGS}
        jem = JEM(method.energy, sampler_steps=self.sampler_steps, **JEM_SETTINGS, **execution)
        study.pair = {spec.method["name"]: method, RIVAL: jem}
        return assemble_trainer(spec, study, data, device=device, **options)

    def measure(self, trainer: Trainer) -> Measurement:
        """Medians over the counted rounds. `ratio` is the ratio of the medians, `spread` the interquartile
        range of the ratios of single rounds."""
        study = trainer.method
        assert isinstance(study, StepTimeComparison)
        seconds = study.seconds[WARM_UP:].cpu()
        own, rival = seconds.quantile(0.5, dim=0).tolist()
        ratios = seconds[:, 1] / seconds[:, 0]
        metrics = {f"{name}_seconds": value for name, value in zip(study.pair, (own, rival), strict=True)}
        metrics |= {"ratio": rival / own, "spread": float(ratios.quantile(0.75) - ratios.quantile(0.25))}
        return Measurement(metrics, {"seconds": seconds})
