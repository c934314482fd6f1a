"""The task "modes": a generator of StackedMNIST, judged by how many of the 1,000 triples of digits it makes
(Sec. 5.2, B.5).

Samples have their noise σε and batch norm takes their own statistics, as in training; each channel is
classified by the digit classifier, trained here on digits resized as the data set's are. The same count on
held-out data, as many images, stands beside it: it is what a perfect generator would reach with this
classifier and this many samples, so no count is to be read without it.

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
from vera.spec.settings import Count, validated
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_plain_trainer
from vera.tasks.contract import Measurement, Task
from vera.training.random_state import derive_seed, use_seed
from vera.training.trainer import Trainer


@tasks.register("modes")
class ModesTask(Task):
    """Modes among `samples` images of the generator, drawn `batch` at a time; the classifier sees its digits
    `epochs` times.

    One batch of all samples is the published way; smaller ones bound the memory and are normalised each on
    its own.
    """

    @validated
    def __init__(
        self, samples: Count = 10_000, batch: Count = 10_000, epochs: Count = 14, shown: Count = 100
    ) -> None:
        self.samples, self.batch, self.epochs, self.shown = samples, batch, epochs, shown

    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        """The classifier is found or trained first: without it a finished run could not be counted."""
        trainer = build_plain_trainer(
            spec, data_dir=data_dir, device=device, evaluate_every=spec.evaluate_every, **options
        )
        data = trainer.data
        if not isinstance(data, StackedMNIST):
            raise IncompatibleModel(
                f"The task 'modes' counts those of 'stacked-mnist'; '{data.name}' has none that it knows."
            )
        if not isinstance(getattr(trainer.method, "generator", None), Generator):
            raise IncompatibleModel(
                f"The task 'modes' counts those of a generator; '{spec.method['name']}' has none."
            )
        recipe = DigitRecipe(data.side, "resize", data.source, self.epochs)
        self.classifier = DigitFeatures(recipe, data_dir=data_dir, device=device)
        return trainer

    def measure(self, trainer: Trainer) -> Measurement:
        data, generator = trainer.data, getattr(trainer.method, "generator", None)
        assert isinstance(data, StackedMNIST)
        assert isinstance(generator, Generator)
        with use_seed(derive_seed(trainer.seed, "modes")):
            images = self._drawn(generator)
        shares = data.mode_shares()
        metrics = count_modes(self.classifier.classify_channels(images), shares).metrics()
        held_out = self.classifier.classify_channels(data.test_points(trainer.seed, self.samples))
        metrics |= {f"data_{name}": value for name, value in count_modes(held_out, shares).metrics().items()}
        assert self.classifier.accuracy is not None
        metrics["classifier_accuracy"] = self.classifier.accuracy
        return Measurement(metrics, {"generated_samples": as_bytes(images[: self.shown])})

    def _drawn(self, generator: Generator) -> Tensor:
        parts = [
            generator.sample(min(self.batch, self.samples - done))
            for done in range(0, self.samples, self.batch)
        ]
        return torch.cat([part.float().cpu() for part in parts])
