"""The task "step-cost": what a training step costs, in steps of a supervised training, and which networks the
method accepts (Table 1).

A supervised step is one forward and one backward pass of f on the batch and one update. The spec's method and
such steps on a copy of its energy take turns on the same batches, so a slowdown of the machine affects both.
The first round warms up; the result is the ratio of the medians over the others.

Whether the method accepts a ReLU network is found by trying it: its second derivatives in x are zero, so
methods that need them refuse it.
"""

from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from torch.nn.functional import softplus

from vera.data.contract import DataSet
from vera.errors import IncompatibleModel, SettingError
from vera.methods.contract import Batch, Method, Metrics
from vera.spec.registry import Registry, estimators, tasks
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import assemble_trainer, build_dataset, build_method
from vera.tasks.contract import Measurement, Task
from vera.tasks.studies.step_time import WARM_UP, StepTimeComparison
from vera.training.optimisers import adam, descend
from vera.training.state.random_state import derive_seed
from vera.training.trainer import Trainer

OWN, BASELINE = "method", "supervised"
RELU = {"name": "mlp", "activation": "relu"}


@dataclass(eq=False)
class SupervisedStep(Method):
    """Logistic regression of one class on f: the cost of a supervised step, and no model of anything."""

    registry: ClassVar[Registry[Any]] = estimators

    def setup(self) -> None:
        self.optimiser = adam(self.energy_weights, 1e-6)

    def step(self, batch: Batch) -> Metrics:
        loss = softplus(-self.energy(batch)).mean()
        descend(loss, self.energy_weights, self.optimiser)
        return {"loss": loss.detach()}


@tasks.register("step-cost")
class StepCostTask(Task):
    """Times a step of the spec's method and a supervised step of its energy, in `steps` rounds."""

    trains_model = False

    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        if spec.steps <= WARM_UP:
            raise SettingError(
                f"step-cost: steps must be at least {WARM_UP + 1}, including {WARM_UP} to warm up, "
                f"got {spec.steps}."
            )
        data = build_dataset(spec.dataset, data_dir)
        method = build_method(spec, data)
        study = StepTimeComparison(method.energy, rounds=spec.steps)
        study.pair = {OWN: method, BASELINE: SupervisedStep(deepcopy(method.energy))}
        return assemble_trainer(spec, study, data, device=device, **options)

    def measure(self, trainer: Trainer) -> Measurement:
        """`ratio` is the ratio of the medians over the counted rounds."""
        study = trainer.method
        assert isinstance(study, StepTimeComparison)
        assert trainer.spec is not None
        seconds = study.seconds[WARM_UP:].cpu()
        own, supervised = seconds.quantile(0.5, dim=0).tolist()
        accepts = accepts_energy(TrialSpec.from_dict(trainer.spec), trainer.data, RELU)
        metrics = {f"{OWN}_seconds": own, f"{BASELINE}_seconds": supervised}
        return Measurement(
            metrics | {"ratio": own / supervised, "accepts_relu": float(accepts)}, {"seconds": seconds}
        )


def accepts_energy(spec: TrialSpec, data: DataSet, energy: dict[str, Any]) -> bool:
    """Whether the spec's method trains this energy on these data."""
    spec = replace(spec, networks={**spec.networks, "energy": energy})
    example = data.stream(spec.batch_size, derive_seed(spec.seed, "data")).next_batch()
    try:
        build_method(spec, data).begin(example)
    except IncompatibleModel:
        return False
    return True
