"""A Wide ResNet that is a classifier and an energy model of images (Tables 3 to 5, the extended FID table,
Figures 4 to 27).

`paper` is the paper's protocol: WRN-28-10 without batch norm, the SNGAN generator, 200 epochs of CIFAR10,
CIFAR100 or SVHN in batches of 64. `laptop` is a small version that two cores can train: the embedded MNIST
digits, padded to 32 × 32 and three channels, and WRN-10-1. Tables and figures call them digits; no number
measured on them is compared with CIFAR10.

For α = 100 a footnote, an appendix and a published command of the paper disagree about the learning rates.
The command is followed: 3e-5 and 6e-5, warm-up over 2,500 steps, decay at epochs 150 and 175.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bench.data_names import describe_data
from bench.experiment import DataSetting, Experiment, Line, Scale
from sweeps.trial.identity import Profile
from vera.errors import SettingError
from vera.spec.registry import joint_methods
from vera.spec.trial_spec import Component

EPOCHS = 200
UNSEEN = {
    "svhn-test": "SVHN",
    "cifar100-test": "CIFAR100",
    "interpolated": "CIFAR10-Interp",
    "celeba-test": "CelebA",
}
"""The unseen sets of Table 5, and their names in the paper."""
EMBEDDED_UNSEEN = {
    "interpolated": "interpolated",
    "inverted": "inverted",
    "photos": "photos",
    "uniform": "uniform noise",
}
"""Unseen sets that need no files."""


@dataclass(frozen=True, kw_only=True)
class ImageSetting(DataSetting):
    """A data set of images, the network that judges samples, and the sets that the model has not seen."""

    features: str = "inception"
    unseen: Mapping[str, str] = field(default_factory=dict)
    """Registered name → printed name."""


def _make_paper_images(
    name: str, dataset: Component, epoch: int, unseen: Mapping[str, str] | None = None
) -> ImageSetting:
    """A data set of the paper. Its settings are written out, so rows of another variant do not match."""
    return ImageSetting(
        name,
        {"labels_per_class": None, **dataset},
        reference=name,
        epoch=epoch,
        steps=EPOCHS * epoch,
        unseen=unseen or {},
    )


PAPER_IMAGES = (
    _make_paper_images("CIFAR10", {"name": "cifar10", "batches": (1, 2, 3, 4, 5)}, 781, UNSEEN),
    _make_paper_images("CIFAR100", {"name": "cifar100"}, 781),
    _make_paper_images("SVHN", {"name": "svhn"}, 1_144),
)
DIGITS = ImageSetting(
    "digits, 32 × 32 × 3",
    {"name": "digits32", "labels_per_class": None, "side": 32},
    features="digits",
    unseen=EMBEDDED_UNSEEN,
)
SMALL_DIGITS = replace(DIGITS, name="digits, 16 × 16 × 3", dataset={**DIGITS.dataset, "side": 16})

SCALES: Mapping[Profile, Scale[ImageSetting]] = {
    "smoke": Scale(
        about="20 steps of tiny networks: shows that everything runs, and nothing else",
        data=(SMALL_DIGITS,),
        networks={
            "energy": {"name": "wrn", "depth": 10, "width": 1, "dropout": 0.0},
            "generator": {"name": "sngan-generator", "width": 8, "latent_dim": 8},
        },
        steps=20,
        batch_size=16,
        evaluations=2,
        task={"name": "images", "samples": 40, "refining_steps": 5, "tuning_steps": 20},
        seeds=(0,),
    ),
    "laptop": Scale(
        about="WRN-10-1, SNGAN generator of width 16, 300 steps of 16",
        data=(DIGITS,),
        networks={
            "energy": {"name": "wrn", "depth": 10, "width": 1, "dropout": 0.0},
            "generator": {"name": "sngan-generator", "width": 16, "latent_dim": 32},
        },
        steps=300,
        batch_size=16,
        evaluations=3,
        task={"name": "images", "samples": 200, "refining_steps": 50, "tuning_steps": 100},
        seeds=(0, 1),
    ),
    "paper": Scale(
        about="WRN-28-10, SNGAN generator of width 256, 200 epochs in batches of 64",
        data=PAPER_IMAGES,
        networks={
            "energy": {"name": "wrn", "depth": 28, "width": 10, "dropout": 0.3},
            "generator": {"name": "sngan-generator"},
        },
        steps=None,
        batch_size=64,
        evaluations=40,
        task={"name": "images", "samples": 12_800, "refining_steps": 100, "tuning_steps": 500},
        seeds=(0, 1, 2),
    ),
}

PAIR = ("energy", "generator")
ADAM = {"lr": 1e-4, "betas": [0.9, 0.999], "warmup": 1_000}
VERA = {"name": "vera", "entropy_weight": 1e-4, "gamma": 0.1, "beta": 0.0, "warmup": 2_500}
HDGE = {"name": "hdge", "data_noise": 0.03, **ADAM}
DECAY = {"decay_at": (160, 180)}
VERA_DECAY = {"decay_at": (150, 175)}
NO_DROPOUT = {"energy": {"dropout": 0.0}}
GFLOP = 2_290.0
"""Of a step of the classifier. WRN-28-10 takes 762 forward for a batch of 64, three times that with its
gradient."""

LINES = (
    Line(
        "Classifier",
        method={"name": "supervised", **ADAM},
        laptop={"lr": 3e-3, "warmup": 0},
        epochs=DECAY,
        reference={"method": "Classifier"},
        copied=True,
        gflop=GFLOP,
    ),
    Line(
        "JEM",
        method={"name": "jem", "data_noise": 0.03, **ADAM},
        laptop={"capacity": 1_000, "warmup": 0},
        epochs=DECAY,
        networks=NO_DROPOUT,
        restarts=2,
        reference={"method": "JEM"},
        copied=True,
        gflop=35_000.0,
    ),
    Line(
        "HDGE",
        method=HDGE,
        laptop={"lr": 3e-3, "queue": 4_096, "warmup": 0},
        epochs=DECAY,
        networks=NO_DROPOUT,
        reference={"method": "HDGE"},
        copied=True,
        gflop=GFLOP,
    ),
    Line(
        "HDGE + log p(x)",
        method={**HDGE, "density_weight": 1.0},
        laptop={"queue": 4_096, "capacity": 1_000, "warmup": 0},
        epochs=DECAY,
        networks=NO_DROPOUT,
        restarts=2,
        reference={"method": "HDGE"},
        copied=True,
        gflop=35_000.0,
    ),
    Line(
        "VERA α=100",
        method={**VERA, "alpha": 100.0, "lr": 3e-5, "generator_lr": 6e-5, "posterior_lr": 3e-5},
        laptop={"lr": 3e-3, "generator_lr": 1e-3, "posterior_lr": 3e-3, "warmup": 0},
        roles=PAIR,
        epochs=VERA_DECAY,
        reference={"method": "VERA", "variant": "alpha=100"},
        gflop=15_400.0,
    ),
    Line(
        "VERA α=1",
        method={**VERA, "alpha": 1.0, "lr": 1e-4, "generator_lr": 2e-4, "posterior_lr": 2e-4},
        laptop={"lr": 1e-3, "generator_lr": 1e-3, "posterior_lr": 3e-3, "warmup": 0},
        roles=PAIR,
        epochs=VERA_DECAY,
        reference={"method": "VERA", "variant": "alpha=1"},
        gflop=15_400.0,
    ),
)
FOR_SAMPLES = ("HDGE + log p(x)",)
"""Lines that are trained for their samples only, not for Tables 3 and 5."""
WITHOUT_SAMPLES = ("Classifier", "HDGE")
"""Lines that draw no samples."""


class ImageExperiment(Experiment[ImageSetting]):
    """The task depends on the data: the network that judges samples, and the unseen sets."""

    def task(self, profile: Profile, data: ImageSetting) -> Component:
        task = self.scales[profile].task
        shared = {"name": task} if isinstance(task, str) else task
        return {**shared, "features": data.features, "unseen": list(data.unseen)}

    def other_data(self, dataset: Component, profile: Profile) -> ImageSetting:
        """Other images. The paper's data sets keep its values, CIFAR10 also its unseen sets. At `paper` any
        other data is a `SettingError`."""
        known = (*PAPER_IMAGES, DIGITS)
        declared = next((each for each in known if each.dataset["name"] == dataset["name"]), None)
        if profile == "paper":
            if declared not in PAPER_IMAGES or declared.dataset != dataset:
                raise SettingError(
                    "At --profile paper, --dataset is cifar10, cifar100 or svhn: "
                    "the paper has no settings for others."
                )
            return declared
        reference = None if declared is None else declared.reference
        is_cifar10, is_digits = dataset["name"] == "cifar10", dataset["name"] == "digits32"
        embedded = {"photos": "photos", "uniform": "uniform noise"}
        return ImageSetting(
            describe_data(reference or str(dataset["name"]), dataset, declared.dataset if declared else {}),
            dataset,
            reference,
            features="digits" if is_digits else "inception",
            unseen={**UNSEEN, **embedded} if is_cifar10 else EMBEDDED_UNSEEN,
        )


IMAGES = ImageExperiment("images", LINES, SCALES, joint_methods)
