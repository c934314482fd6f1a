"""Tasks: what a trial trains for, and what is measured when it is done.

A task builds the Trainer of a spec and, at the end, takes the measurements that go into the trial's row: numbers, and arrays to
look at. All of it is plain data, so that whoever reads the row needs neither the networks nor torch.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from vera.build import build_dataset, build_trainer
from vera.data.contract import DataSet
from vera.data.toy import Toy
from vera.evaluation import LikelihoodEvaluation, best_of_batches, density_image, exact_samples, grid_log_likelihood
from vera.generator import evaluating
from vera.models.contract import Density
from vera.randomness import seed_for, seeded
from vera.registry import Registry, methods, tasks
from vera.spec import TrialSpec
from vera.trainer import Trainer


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
    def build(self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any) -> Trainer: ...

    @abstractmethod
    def measure(self, trainer: Trainer) -> Measurement:
        """Of a run that ended ok."""


@tasks.register("density")
class DensityTask(Task):
    """An energy model of a density: judged by its likelihood where it has one, on a grid where it has two dimensions."""

    samples = 1_000

    def build(self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any) -> Trainer:
        trainer = build_trainer(spec, data_dir=data_dir, device=device, evaluate_every=spec.evaluate_every, **options)
        if isinstance(trainer.method.energy, Density):
            trainer.evaluate = LikelihoodEvaluation(trainer.data)
        return trainer

    def measure(self, trainer: Trainer) -> Measurement:
        with seeded(seed_for(trainer.seed, "measurement")), torch.no_grad():
            return Measurement(self._metrics(trainer), self._arrays(trainer))

    def _metrics(self, trainer: Trainer) -> dict[str, float]:
        energy, data = trainer.method.energy, trainer.data
        if isinstance(energy, Density):
            return {"best_of_ten_batches": best_of_batches(energy, data, trainer.seed)} if isinstance(data, Toy) else {}
        return self._grid_metrics(energy, data, trainer.seed) if data.data_dim == 2 else {}

    def _grid_metrics(self, energy: Callable[[Tensor], Tensor], data: DataSet, seed: int) -> dict[str, float]:
        """The likelihood of an unnormalised model in the plane by quadrature, and how much of its mass the grid may miss."""
        estimate, normaliser = grid_log_likelihood(energy, data.test_points(seed))
        return {
            "grid_log_likelihood": estimate.mean,
            "grid_log_likelihood_se": estimate.standard_error,
            "grid_log_normaliser": normaliser.log_z,
            "grid_rim_share": normaliser.rim_share,
        }

    def _arrays(self, trainer: Trainer) -> dict[str, Tensor]:
        method = trainer.method
        arrays: dict[str, Tensor] = {}
        if trainer.data.data_dim == 2:
            arrays["density_image"] = density_image(method.energy).float()
        if isinstance(method.energy, Density):
            arrays["exact_samples"] = exact_samples(method.energy, self.samples)
        with evaluating(method.energy):
            drawn = method.training_samples(self.samples)
        if drawn is not None:
            arrays["training_samples"] = drawn
        return {name: array.detach().cpu() for name, array in arrays.items()}


def build_task(spec: TrialSpec) -> Task:
    return tasks.create(spec.task)


def data_fingerprint(spec: TrialSpec, data_dir: str | Path | None = None) -> str:
    return build_dataset(spec.dataset, data_dir).fingerprint
