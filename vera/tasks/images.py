"""The task "images": a classifier of images that is an energy model too, judged as a classifier, as a
detector of outliers, and by its samples.

Where the method has a generator, samples are its own and the same after MALA refinement; JEM's are the chains
of its buffer. What is kept to look at is kept as bytes: a sheet of either, two chains step by step, and
refined samples sorted by class.

Traps: a distance or a score means something only beside the network and the number of samples it was taken
with, so both stand in the metrics; and an unseen set whose files are not here is left out, never replaced.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from torch import Tensor

from vera.data.digits.pixels import scaled
from vera.data.labelled import Split
from vera.errors import DataMissing, IncompatibleModel
from vera.evaluation.digit_features import DigitFeatures, DigitRecipe
from vera.evaluation.features import FeatureNetwork, as_bytes
from vera.evaluation.inception import find_inception_file, load_inception
from vera.evaluation.outliers import bin_scores, compute_aurocs, outlier_metrics, outlier_scores
from vera.evaluation.quality import Reference, compute_reference, image_quality
from vera.evaluation.refinement import refine_samples, sort_by_class, trace_chains
from vera.models.classifier import Classifier
from vera.models.generator import Generator
from vera.models.network_modes import evaluation_mode
from vera.samplers import LatentRefiner
from vera.spec.registry import tasks, unseen_sets
from vera.spec.settings import Count, validated
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_labelled
from vera.tasks.contract import Measurement
from vera.tasks.joint import JointTask
from vera.training.random_state import derive_seed, use_seed
from vera.training.trainer import Trainer

PAPER_UNSEEN = ("svhn-test", "cifar100-test", "interpolated", "celeba-test")
CHAINS = 2


@tasks.register("images")
class ImageTask(JointTask):
    """Classification, outliers and samples of images.

    `features` is the network behind FID, KID and the Inception Score; `samples` how many images they are of;
    `refining_steps` those of MALA, after `tuning_steps` that set its step size; `unseen` the sets that are to
    be told from held-out images; `shown`, `per_class` and `chain_steps` what is kept to look at.
    """

    @validated
    def __init__(
        self,
        features: Literal["inception", "digits", "none"] = "inception",
        samples: Count = 12_800,
        refining_steps: Count = 100,
        tuning_steps: Count = 500,
        unseen: tuple[str, ...] = PAPER_UNSEEN,
        shown: Count = 100,
        per_class: Count = 10,
        chain_steps: Count = 100,
    ) -> None:
        self.features, self.samples, self.unseen = features, samples, unseen
        self.refining_steps, self.tuning_steps = refining_steps, tuning_steps
        self.shown, self.per_class, self.chain_steps = shown, per_class, chain_steps
        for name in unseen:
            unseen_sets.get(name)

    def preflight(self, spec: TrialSpec, data_dir: str | Path | None = None) -> Sequence[str]:
        """Unseen sets whose files are not here are named now: a trial without them is whole, and is not
        trained again for them."""
        if build_labelled(spec.dataset, data_dir).channels is None:
            raise IncompatibleModel(
                f"The task 'images' needs a data set of images; '{spec.dataset['name']}' is none."
            )
        if self.features == "inception":
            find_inception_file(data_dir)
        return [text for name in self.unseen if (text := _missing(name, data_dir))]

    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        """What the measurement at the end will need is looked for now, not after days of training."""
        trainer = super().build(spec, data_dir=data_dir, device=device, **options)
        if not isinstance(trainer.data, Split) or trainer.data.channels is None:
            raise IncompatibleModel(
                f"The task 'images' needs a data set of images; '{trainer.data.name}' is none."
            )
        self.data_dir = data_dir
        self.network = self._network(trainer.data, device)
        return trainer

    def measure(self, trainer: Trainer) -> Measurement:
        data, classifier = trainer.data, trainer.method.energy
        assert isinstance(data, Split)
        assert isinstance(classifier, Classifier)
        plain = super().measure(trainer)
        with use_seed(derive_seed(trainer.seed, "images")):
            outliers = self._outliers(classifier, data, trainer.seed)
            samples = self._samples(trainer, classifier, data)
        return Measurement(
            plain.metrics | outliers.metrics | samples.metrics,
            plain.arrays | outliers.arrays | samples.arrays,
        )

    def _looked_at(self, trainer: Trainer, data: Split) -> Measurement:
        """Images have more to show than the digits of a table."""
        return Measurement()

    def _outliers(self, classifier: Classifier, data: Split, seed: int) -> Measurement:
        seen = outlier_scores(classifier, data.held_out)
        found = {}
        for name in self.unseen:
            with suppress(DataMissing):
                images = unseen_sets.create(name, split=data, data_dir=self.data_dir, seed=seed).images
                found[name] = outlier_scores(classifier, images)
        counts = bin_scores({"seen": seen["f"], **{name: scores["f"] for name, scores in found.items()}})
        return Measurement(
            outlier_metrics(compute_aurocs(seen, found)),
            {f"histogram_{name}": count for name, count in counts.items()},
        )

    def _samples(self, trainer: Trainer, classifier: Classifier, data: Split) -> Measurement:
        generator = getattr(trainer.method, "generator", None)
        if isinstance(generator, Generator):
            return self._of_generator(LatentRefiner(classifier, generator), classifier, data)
        with evaluation_mode(classifier):
            drawn = trainer.method.training_samples(self.samples)
        if drawn is None:
            return Measurement()
        chains = drawn.detach().float().cpu()
        arrays = {"training_samples": as_bytes(chains[: self.shown]), **self._by_class(classifier, chains)}
        return Measurement(self._quality({"": chains}, data), arrays)

    def _of_generator(self, refiner: LatentRefiner, classifier: Classifier, data: Split) -> Measurement:
        made = refine_samples(refiner, self.samples, self.refining_steps, tuning_steps=self.tuning_steps)
        arrays = {
            "generated_samples": as_bytes(made.generated[: self.shown]),
            "refined_samples": as_bytes(made.refined[: self.shown]),
            "chain_images": as_bytes(trace_chains(refiner, CHAINS, self.chain_steps)),
            **self._by_class(classifier, made.refined),
        }
        return Measurement(
            made.metrics() | self._quality({"": made.refined, "generated_": made.generated}, data), arrays
        )

    def _by_class(self, classifier: Classifier, images: Tensor) -> dict[str, Tensor]:
        """Samples that the classifier puts into a class, the surest first, with their labels and p(y|x)."""
        chosen = sort_by_class(classifier, images, self.per_class)
        return {
            "class_samples": as_bytes(chosen.images),
            "class_labels": chosen.labels,
            "class_probabilities": chosen.probabilities,
        }

    def _quality(self, sets: dict[str, Tensor], data: Split) -> dict[str, float]:
        """Of each set of samples, its metrics under its prefix."""
        if self.network is None:
            return {}
        reference = self._reference(self.network, data)
        found = {
            prefix: image_quality(self.network, images, reference).metrics()
            for prefix, images in sets.items()
        }
        return {
            f"{prefix}{name}": value for prefix, metrics in found.items() for name, value in metrics.items()
        }

    def _reference(self, network: FeatureNetwork, data: Split) -> Reference:
        return compute_reference(network, scaled(data.train), self.data_dir)

    def _network(self, data: Split, device: str) -> FeatureNetwork | None:
        if self.features == "none":
            return None
        if self.features == "inception":
            return load_inception(device=device, data_dir=self.data_dir)
        return DigitFeatures(DigitRecipe(side=data.side or 32), data_dir=self.data_dir, device=device)


def _missing(name: str, data_dir: str | Path | None) -> str:
    """What to say of an unseen set that will be left out; nothing of one that is here. A damaged one is an
    error."""
    verify = getattr(unseen_sets.get(name), "verify", None)
    try:
        if verify is not None:
            verify(data_dir)
    except DataMissing as error:
        return f"The unseen set {name} is left out: {error}"
    return ""
