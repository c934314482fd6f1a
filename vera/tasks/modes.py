"""The task "modes": counts how many of the 1,000 triples of digits a generator of StackedMNIST produces
(Sec. 5.2, B.5).

Samples include the noise σε, and batch norm uses the statistics of the samples, as in training. Each channel
is classified by a digit classifier trained on digits resized like those of the data set. The same count on as
many held-out images is stored too: a perfect generator would reach it with this classifier and this number of
samples, so compare every count with it.

Trap: the paper's 10,000 samples can show 1,000 modes; a few hundred cannot.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from vera.data.digits.stacked import StackedMNIST
from vera.errors import IncompatibleModel
from vera.evaluation.digit_features import DigitFeatures, DigitRecipe
from vera.evaluation.features import as_bytes
from vera.evaluation.modes import count_modes
from vera.models.generator import Generator
from vera.spec.registry import tasks
from vera.spec.settings import Count, validate_arguments
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_plain_trainer
from vera.tasks.contract import Measurement, Task
from vera.training.state.random_state import derive_seed, use_seed
from vera.training.trainer import Trainer


@tasks.register("modes")
class ModesTask(Task):
    """Counts the modes among `samples` images, drawn `batch` at a time; the classifier trains for `epochs`.

    The published code draws all samples in one batch. Smaller batches limit the memory; batch norm then uses
    the statistics of each batch. `shown` is the number of samples that are stored.
    """

    @validate_arguments
    def __init__(
        self, samples: Count = 10_000, batch: Count = 10_000, epochs: Count = 14, shown: Count = 100
    ) -> None:
        self.samples, self.batch, self.epochs, self.shown = samples, batch, epochs, shown

    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        """Load or train the classifier before the run, so that the measurement cannot fail after it."""
        trainer = build_plain_trainer(
            spec, data_dir=data_dir, device=device, evaluate_every=spec.evaluate_every, **options
        )
        data = trainer.data
        if not isinstance(data, StackedMNIST):
            raise IncompatibleModel(
                f"The task 'modes' needs the data set 'stacked-mnist', got '{data.name}'."
            )
        if not isinstance(getattr(trainer.method, "generator", None), Generator):
            raise IncompatibleModel(
                f"The task 'modes' needs a method with a generator; '{spec.method['name']}' has none."
            )
        recipe = DigitRecipe(data.side, "resize", data.source, self.epochs)
        self.classifier = DigitFeatures(recipe, data_dir=data_dir, device=device)
        return trainer

    def measure(self, trainer: Trainer) -> Measurement:
        data, generator = trainer.data, getattr(trainer.method, "generator", None)
        assert isinstance(data, StackedMNIST)
        assert isinstance(generator, Generator)
        with use_seed(derive_seed(trainer.seed, "modes")):
            images = self._draw_images(generator)
        shares = data.compute_mode_shares()
        metrics = count_modes(self.classifier.classify_channels(images), shares).metrics()
        held_out = self.classifier.classify_channels(data.test_points(trainer.seed, self.samples))
        metrics |= {f"data_{name}": value for name, value in count_modes(held_out, shares).metrics().items()}
        assert self.classifier.accuracy is not None
        metrics["classifier_accuracy"] = self.classifier.accuracy
        return Measurement(metrics, {"generated_samples": as_bytes(images[: self.shown])})

    def _draw_images(self, generator: Generator) -> Tensor:
        sizes = [min(self.batch, self.samples - start) for start in range(0, self.samples, self.batch)]
        return torch.cat([generator.sample(size).float().cpu() for size in sizes])
