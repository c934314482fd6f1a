"""The task "joint": a classifier that is also an energy model, trained with few or all labels and measured on
held-out points (Sec. 6).

The reported accuracy is the last one, as in the paper; the best accuracy during training is stored under its
own name. If the points are images and the method has a generator, its samples are stored before and after 100
MALA steps (Figure 8).
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from vera.data.labelled import Split
from vera.errors import IncompatibleModel
from vera.evaluation.classification import ClassificationEvaluation, Reliability, is_collapsed, predict
from vera.evaluation.samples import refine_samples
from vera.models.classifier import Classifier
from vera.models.generator import Generator
from vera.samplers import LatentRefiner
from vera.spec.registry import joint_methods, tasks
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import assemble_trainer, build_labelled, build_method
from vera.tasks.contract import Measurement, Task
from vera.training.state.random_state import derive_seed, use_seed
from vera.training.trainer import Trainer

IMAGES, REFINING_STEPS = 100, 100


@tasks.register("joint")
class JointTask(Task):
    """Trains and measures a classifier that is also an energy model."""

    methods = joint_methods

    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        data = build_labelled(spec.dataset, data_dir).split(spec.seed)
        method = build_method(spec, data, self.methods)
        classes = getattr(method.energy, "classes", data.classes)
        if classes < data.classes:  # the first batch may lack the class that the network does not have
            network = type(method.energy).__name__
            raise IncompatibleModel(
                f"{method.label()}: {network} has classes={classes}, "
                f"the data set '{data.name}' has {data.classes} classes."
            )
        evaluation = {"evaluate": ClassificationEvaluation(data), "evaluate_every": spec.evaluate_every}
        return assemble_trainer(spec, method, data, device=device, **evaluation, **options)

    def measure(self, trainer: Trainer) -> Measurement:
        data, classifier = trainer.data, trainer.method.energy
        assert isinstance(data, Split)
        assert isinstance(classifier, Classifier)
        with use_seed(derive_seed(trainer.seed, "measurement")):
            logits = predict(classifier, data.held_out).double()
            metrics = self._describe_data(data) | self._summarise_accuracy(trainer, data, logits.argmax(1))
            diagram = Reliability.from_probabilities(torch.softmax(logits, dim=1), data.held_out_labels)
            arrays = {"reliability": torch.stack([diagram.counts, diagram.confidence, diagram.accuracy])}
            samples = self._sample_images(trainer, data)
            return Measurement(metrics | samples.metrics, arrays | samples.arrays)

    def _describe_data(self, data: Split) -> dict[str, float]:
        """Number of features, examples and classes, and the share of the largest class (Table 8)."""
        facts = data.facts
        return {
            "features": float(facts.features),
            "train_examples": float(facts.examples),
            "classes": float(facts.classes),
            "max_class_percent": facts.largest_class,
        }

    def _summarise_accuracy(self, trainer: Trainer, data: Split, predicted: Tensor) -> dict[str, float]:
        """The best accuracy during training, and whether the classifier collapsed to a single class."""
        return {
            "best_test_accuracy": max(row["test_accuracy"] for row in trainer.evaluations),
            "majority_share": data.majority_share,
            "collapsed": float(is_collapsed(predicted, data.held_out_labels)),
        }

    def _sample_images(self, trainer: Trainer, data: Split) -> Measurement:
        """The generator's samples before and after refinement, if the points are images."""
        generator = getattr(trainer.method, "generator", None)
        if data.side is None or not isinstance(generator, Generator):
            return Measurement()
        samples = refine_samples(LatentRefiner(trainer.method.energy, generator), IMAGES, REFINING_STEPS)
        arrays = {"generated_samples": samples.generated, "refined_samples": samples.refined}
        return Measurement(samples.metrics(), arrays)
