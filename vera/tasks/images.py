"""The task "images": a classifier of images that is also an energy model, measured as a classifier, as a
detector of outliers, and by its samples.

If the method has a generator, its samples are measured before and after MALA refinement; for JEM the chains
of its buffer are measured. Images are stored as bytes: some samples of each kind, two chains step by step,
and refined samples sorted by class.

Traps: FID, KID and Inception Score depend on the feature network and the number of samples, so both are
stored in the metrics. An unseen set whose files are missing is left out, never replaced.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from torch import Tensor

from vera.data.digits.points import scale_pixels
from vera.data.labelled import Split
from vera.errors import DataMissing, IncompatibleModel
from vera.evaluation.digit_features import DigitFeatures, DigitRecipe
from vera.evaluation.features import FeatureNetwork, as_bytes
from vera.evaluation.inception import find_inception_file, load_inception
from vera.evaluation.outliers import bin_scores, compute_aurocs, outlier_metrics, outlier_scores
from vera.evaluation.quality import compute_reference, image_quality
from vera.evaluation.samples import refine_samples, sort_by_class, trace_chains
from vera.models.classifier import Classifier
from vera.models.generator import Generator
from vera.models.network_modes import evaluation_mode
from vera.samplers import LatentRefiner
from vera.spec.registry import tasks, unseen_sets
from vera.spec.settings import Count, OmitDefault, Positive, validate_arguments
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_labelled
from vera.tasks.contract import Measurement
from vera.tasks.joint import JointTask
from vera.tasks.proposal_ess import measure_matched_ess, measure_proposal_ess
from vera.training.state.random_state import derive_seed, use_seed
from vera.training.trainer import Trainer

PAPER_UNSEEN = ("svhn-test", "cifar100-test", "interpolated", "celeba-test")
CHAINS = 2


@tasks.register("images")
class ImageTask(JointTask):
    """Measures classification, outlier detection and samples of images.

    `features` is the network behind FID, KID and the Inception Score, computed from `samples` images. MALA
    takes `refining_steps` towards e^{f/T} with T = `temperature`, after `tuning_steps` that adapt its step
    size. `unseen` names the sets that are to
    be distinguished from held-out images. `shown`, `per_class` and `chain_steps` limit what is stored.
    """

    @validate_arguments
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
        temperature: Annotated[Positive, OmitDefault()] = 1.0,
    ) -> None:
        self.features, self.samples, self.unseen = features, samples, unseen
        self.refining_steps, self.tuning_steps = refining_steps, tuning_steps
        self.shown, self.per_class, self.chain_steps = shown, per_class, chain_steps
        self.temperature = temperature
        for name in unseen:
            unseen_sets.get(name)

    def preflight(self, spec: TrialSpec, data_dir: str | Path | None = None) -> Sequence[str]:
        """Also lists the unseen sets whose files are missing: a trial measured without them counts as
        complete and is not run again for them."""
        if build_labelled(spec.dataset, data_dir).channels is None:
            raise _make_image_error(spec.dataset["name"])
        if self.features == "inception":
            find_inception_file(data_dir)
        return [text for name in self.unseen if (text := _report_missing(name, data_dir))]

    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        """Load what the measurement needs before the run, so that it cannot fail after days of training."""
        trainer = super().build(spec, data_dir=data_dir, device=device, **options)
        if not isinstance(trainer.data, Split) or trainer.data.channels is None:
            raise _make_image_error(trainer.data.name)
        self.data_dir = data_dir
        self.network = self._load_features(trainer.data, device)
        return trainer

    def measure(self, trainer: Trainer) -> Measurement:
        data, classifier = trainer.data, trainer.method.energy
        assert isinstance(data, Split)
        assert isinstance(classifier, Classifier)
        plain = super().measure(trainer)
        with use_seed(derive_seed(trainer.seed, "images")):
            outliers = self._measure_outliers(classifier, data, trainer.seed)
            samples = self._measure_samples(trainer, classifier, data)
        with use_seed(derive_seed(trainer.seed, "ess")):
            ess = measure_proposal_ess(trainer.method) | measure_matched_ess(trainer.method, trainer.seed)
        return Measurement(
            plain.metrics | outliers.metrics | samples.metrics | ess,
            plain.arrays | outliers.arrays | samples.arrays,
        )

    def _sample_images(self, trainer: Trainer, data: Split) -> Measurement:
        """Nothing: `_measure_samples` draws the samples of this task."""
        return Measurement()

    def _measure_outliers(self, classifier: Classifier, data: Split, seed: int) -> Measurement:
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

    def _measure_samples(self, trainer: Trainer, classifier: Classifier, data: Split) -> Measurement:
        generator = getattr(trainer.method, "generator", None)
        if isinstance(generator, Generator):
            refiner = LatentRefiner(classifier, generator, temperature=self.temperature)
            return self._measure_generator(refiner, classifier, data)
        with evaluation_mode(classifier):
            drawn = trainer.method.training_samples(self.samples)
        if drawn is None:
            return Measurement()
        chains = drawn.detach().float().cpu()
        arrays = {
            "training_samples": as_bytes(chains[: self.shown]),
            **self._pick_by_class(classifier, chains),
        }
        return Measurement(self._measure_quality({"": chains}, data), arrays)

    def _measure_generator(self, refiner: LatentRefiner, classifier: Classifier, data: Split) -> Measurement:
        samples = refine_samples(refiner, self.samples, self.refining_steps, tuning_steps=self.tuning_steps)
        arrays = {
            "generated_samples": as_bytes(samples.generated[: self.shown]),
            "refined_samples": as_bytes(samples.refined[: self.shown]),
            "chain_images": as_bytes(trace_chains(refiner, CHAINS, self.chain_steps)),
            **self._pick_by_class(classifier, samples.refined),
        }
        quality = self._measure_quality({"": samples.refined, "generated_": samples.generated}, data)
        return Measurement(samples.metrics() | quality, arrays)

    def _pick_by_class(self, classifier: Classifier, images: Tensor) -> dict[str, Tensor]:
        """The samples with the highest p(y|x) for each class, with labels and probabilities."""
        chosen = sort_by_class(classifier, images, self.per_class)
        return {
            "class_samples": as_bytes(chosen.images),
            "class_labels": chosen.labels,
            "class_probabilities": chosen.probabilities,
        }

    def _measure_quality(self, sets: dict[str, Tensor], data: Split) -> dict[str, float]:
        """The metrics of each set of samples, with the set's prefix."""
        if self.network is None:
            return {}
        reference = compute_reference(self.network, scale_pixels(data.train), self.data_dir)
        metrics: dict[str, float] = {}
        for prefix, images in sets.items():
            quality = image_quality(self.network, images, reference).metrics()
            metrics |= {f"{prefix}{name}": value for name, value in quality.items()}
        return metrics

    def _load_features(self, data: Split, device: str) -> FeatureNetwork | None:
        if self.features == "none":
            return None
        if self.features == "inception":
            return load_inception(device=device, data_dir=self.data_dir)
        return DigitFeatures(DigitRecipe(side=data.side or 32), data_dir=self.data_dir, device=device)


def _make_image_error(name: str) -> IncompatibleModel:
    return IncompatibleModel(f"The task 'images' needs a data set of images, got '{name}'.")


def _report_missing(name: str, data_dir: str | Path | None) -> str:
    """A sentence about an unseen set whose files are missing; empty if they exist. Damaged files raise."""
    verify = getattr(unseen_sets.get(name), "verify", None)
    try:
        if verify is not None:
            verify(data_dir)
    except DataMissing as error:
        return f"The unseen set {name} is left out: {error}"
    return ""
