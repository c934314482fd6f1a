"""The task "joint": a classifier that is an energy model, trained with few labels or all, judged on held-out
points (Sec. 6).

The accuracy that counts is the last one, as in the paper; the best on the way stands beside it under its own
name. Where points are images and the method has a generator, samples are kept as the generator makes them and
after 100 MALA steps (Figure 8).
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from vera.data.labelled import Split
from vera.errors import IncompatibleModel
from vera.evaluation.classification import ClassificationEvaluation, Reliability, is_collapsed, predict
from vera.evaluation.refinement import refine_samples
from vera.models.classifier import Classifier
from vera.models.generator import Generator
from vera.samplers import LatentRefiner
from vera.spec.registry import joint_methods, tasks
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_labelled, build_method
from vera.tasks.contract import Measurement, Task
from vera.training.random_state import derive_seed, use_seed
from vera.training.trainer import Trainer

IMAGES, REFINING_STEPS = 100, 100


@tasks.register("joint")
class JointTask(Task):
    """Classification and density in one network."""

    methods = joint_methods

    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        data = build_labelled(spec.dataset, data_dir).split(spec.seed)
        method = build_method(spec, data, self.methods)
        known = getattr(method.energy, "classes", data.classes)
        if known < data.classes:  # the first batch need not hold the class that has no place
            network = type(method.energy).__name__
            raise IncompatibleModel(
                f"{method.label()}: {network} has classes={known}, the data set '{data.name}' has {data.classes} classes."
            )
        trainer = Trainer(
            method, data, steps=spec.steps, batch_size=spec.batch_size, seed=spec.seed, device=device,
            evaluate=ClassificationEvaluation(data), evaluate_every=spec.evaluate_every, **options,
        )  # fmt: skip
        trainer.spec = spec.to_dict()
        return trainer

    def measure(self, trainer: Trainer) -> Measurement:
        data, classifier = trainer.data, trainer.method.energy
        assert isinstance(data, Split)
        assert isinstance(classifier, Classifier)
        with use_seed(derive_seed(trainer.seed, "measurement")):
            logits = predict(classifier, data.held_out).double()
            metrics = self._facts(data) | self._over_time(trainer, data, logits.argmax(1))
            diagram = Reliability.from_probabilities(torch.softmax(logits, dim=1), data.held_out_labels)
            arrays = {"reliability": torch.stack([diagram.counts, diagram.confidence, diagram.accuracy])}
            looked_at = self._looked_at(trainer, data)
            return Measurement(metrics | looked_at.metrics, arrays | looked_at.arrays)

    def _facts(self, data: Split) -> dict[str, float]:
        """What the data hold (Table 8)."""
        facts = data.facts
        return {
            "features": float(facts.features),
            "train_examples": float(facts.examples),
            "classes": float(facts.classes),
            "max_class_percent": facts.largest_class,
        }

    def _over_time(self, trainer: Trainer, data: Split, predicted: Tensor) -> dict[str, float]:
        """What became of the accuracy on the way, and whether the classifier ended up saying one class for
        everything."""
        accuracies = torch.tensor([row["test_accuracy"] for row in trainer.evaluations], dtype=torch.float64)
        return {
            "best_test_accuracy": float(accuracies.amax()),
            "majority_share": data.majority_share,
            "collapsed": float(is_collapsed(predicted, data.held_out_labels)),
        }

    def _looked_at(self, trainer: Trainer, data: Split) -> Measurement:
        """Where a point is an image, a generator's samples and the same after refinement."""
        generator = getattr(trainer.method, "generator", None)
        if data.side is None or not isinstance(generator, Generator):
            return Measurement()
        made = refine_samples(LatentRefiner(trainer.method.energy, generator), IMAGES, REFINING_STEPS)
        return Measurement(
            made.metrics(), {"generated_samples": made.generated, "refined_samples": made.refined}
        )
