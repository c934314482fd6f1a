"""A classifier of images that is also an energy model (Tables 3 to 5, the extended FID table, Figures 4, 7
and 9 to 27).

`paper` is the paper's protocol: WRN-28-10 without batch norm, the SNGAN generator, 200 epochs of CIFAR10,
CIFAR100 or SVHN in batches of 64. `laptop` is a small version that two cores can train: the embedded digits
of MNIST as grey images of 16 × 16, the convolutions of a DCGAN, and few importance samples. A second data set
takes the place of CIFAR100 in the figures: the 8 × 8 digits of scikit-learn. Tables and figures call them
digits; no number measured on them is compared with CIFAR10.

The paper's learning rates are for 200 epochs, so at `laptop` every line has a tuning grid (the sweep
`table3-grid`) of four learning rates of the classifier on MNIST. The rule is the same for all lines. Of the
rates whose accuracy is within a point of the line's best, the one with the lowest Fréchet distance of
samples is best; in a line without samples it is the most accurate. All rates are trained with the seed 100,
and the two best of a line with the seed 101 as well, or the best alone if it is better in both. The means
over both seeds decide. A best rate at the edge of its grid asks for further rates beyond it: the grid of
JEM without data noise is lower than that of the other lines with Langevin chains, because 3e-3 diverged
there and 1e-4 was the best of the four.

λ was chosen by hand before that sweep, by the paper's recipe to begin at 1 and to lower it until training is
stable. At 10⁻⁴, the paper's value for larger images, the generator of α = 100 stays at a few digits.

MALA refines samples of e^{f/T}. VERA with an entropy weight λ trains its generator on e^{f/λ}, so T = 1 is
hot: chains drift away from all digits. T = .001 was chosen by hand as well. At T = λ = .01 refined digits are
clearer and less varied, and lie farther from the data than the generator's.

For α = 100 a footnote, an appendix and a published command of the paper disagree about the learning rates.
The command is followed: 3e-5 and 6e-5, warm-up over 2,500 steps, decay at epochs 150 and 175. For α = 30,
which the paper also tried, the same rates are taken.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bench.data_names import describe_data
from bench.experiment import TUNING_SEEDS, DataSetting, Experiment, Line, Scale
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
FEATURES = {
    "mnist5k-images": "digits",
    "digits32": "digits",
    "digits-images": "none",
    "cifar10-16x16": "none",
}
"""The network that judges samples of a data set, if it is not Inception. Inception was trained on images of
299 × 299, so it does not judge 16 × 16."""


@dataclass(frozen=True, kw_only=True)
class ImageSetting(DataSetting):
    """A data set of images, the network that judges samples, and the sets that the model has not seen."""

    features: str = "inception"
    unseen: Mapping[str, str] = field(default_factory=dict)
    """Registered name → printed name."""
    only_in_figures: bool = False
    """Whether tables leave it out; its figures have one trial, with the settings chosen on the first set."""


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
MNIST_5K = ImageSetting(
    "MNIST 5k, 16 × 16",
    {"name": "mnist5k-images", "labels_per_class": None, "side": 16},
    features="digits",
    unseen=EMBEDDED_UNSEEN,
)
DIGITS_8 = ImageSetting(
    "digits 8 × 8",
    {"name": "digits-images", "labels_per_class": None},
    features="none",
    unseen=EMBEDDED_UNSEEN,
    only_in_figures=True,
)


def _make_small_networks(width: int, latent_dim: int) -> dict[str, Component]:
    return {
        "energy": {"name": "dcgan-classifier", "width": 2 * width},
        "generator": {"name": "dcgan-generator", "width": width, "latent_dim": latent_dim},
    }


SCALES: Mapping[Profile, Scale[ImageSetting]] = {
    "smoke": Scale(
        about="20 steps of tiny networks: shows that everything runs, and nothing else",
        data=(MNIST_5K,),
        networks=_make_small_networks(4, latent_dim=8),
        steps=20,
        batch_size=16,
        evaluations=2,
        task={"name": "images", "samples": 40, "refining_steps": 5, "tuning_steps": 20},
        seeds=(0,),
    ),
    "laptop": Scale(
        about="a DCGAN of 32 and 16 maps on grey digits, 1,500 steps of 64",
        data=(MNIST_5K, DIGITS_8),
        networks=_make_small_networks(16, latent_dim=32),
        steps=1_500,
        batch_size=64,
        evaluations=5,
        task={
            "name": "images",
            "samples": 500,
            "refining_steps": 50,
            "tuning_steps": 100,
            "temperature": 1e-3,
        },
        seeds=(0, 1, 2),
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
VERA = {
    "name": "vera",
    "entropy_weight": 1e-4,
    "gamma": 0.1,
    "beta": 0.0,
    "warmup": 2_500,
    "data_noise": 0.0,
}
FOR_LABELS = {"lr": 3e-5, "generator_lr": 6e-5, "posterior_lr": 3e-5}
JEM = {"name": "jem", "data_noise": 0.03, "sampler_steps": 20, **ADAM}
HDGE = {"name": "hdge", "data_noise": 0.03, **ADAM}
DECAY = {"decay_at": (160, 180)}
VERA_DECAY = {"decay_at": (150, 175)}
NO_DROPOUT = {"energy": {"dropout": 0.0}}
SMALL_BUFFER = {"capacity": 1_000, "sampler_steps": 10, "warmup": 0}
SMALL_VERA = {
    "lr": 4e-3,
    "generator_lr": 1e-3,
    "posterior_lr": 1e-3,
    "entropy_weight": 1e-2,
    "k": 5,
    "chunks": 1,
    "warmup": 0,
}
RATES = {"lr": (3e-4, 1e-3, 3e-3, 1e-2)}
CHAIN_RATES = {"lr": (1e-4, 3e-4, 1e-3, 3e-3)}
"""For lines that train with Langevin chains: from 1e-3 on they diverge."""
VERA_RATES = {"lr": (1e-3, 2e-3, 4e-3, 8e-3)}
GFLOP = 2_290.0
"""Of a step of the classifier. WRN-28-10 takes 762 forward for a batch of 64, three times that with its
gradient."""

LINES = (
    Line(
        "Classifier",
        method={"name": "supervised", **ADAM},
        laptop={"lr": 3e-3, "warmup": 0},
        laptop_grid=RATES,
        epochs=DECAY,
        reference={"method": "Classifier"},
        copied=True,
        gflop=GFLOP,
    ),
    Line(
        "JEM",
        method=JEM,
        laptop={"lr": 3e-4, **SMALL_BUFFER},
        laptop_grid=CHAIN_RATES,
        epochs=DECAY,
        networks=NO_DROPOUT,
        restarts=2,
        reference={"method": "JEM"},
        copied=True,
        gflop=35_000.0,
    ),
    Line(
        "JEM without data noise",
        method={**JEM, "data_noise": 0.0},
        laptop={"lr": 1e-4, **SMALL_BUFFER},
        laptop_grid={"lr": (3e-5, 1e-4, 3e-4, 1e-3)},
        epochs=DECAY,
        networks=NO_DROPOUT,
        restarts=2,
        gflop=35_000.0,
    ),
    Line(
        "HDGE",
        method={**HDGE, "density_weight": 0.0},
        laptop={"lr": 3e-3, "queue": 4_096, "warmup": 0},
        laptop_grid=RATES,
        epochs=DECAY,
        networks=NO_DROPOUT,
        reference={"method": "HDGE"},
        copied=True,
        gflop=GFLOP,
    ),
    Line(
        "HDGE + log p(x)",
        method={**HDGE, "density_weight": 1.0},
        laptop={"lr": 3e-4, "queue": 4_096, **SMALL_BUFFER},
        laptop_grid=CHAIN_RATES,
        epochs=DECAY,
        networks=NO_DROPOUT,
        restarts=2,
        reference={"method": "HDGE"},
        copied=True,
        gflop=35_000.0,
    ),
    Line(
        "VERA α=100",
        method={**VERA, "alpha": 100.0, **FOR_LABELS},
        laptop={**SMALL_VERA, "lr": 2e-3},
        laptop_grid=VERA_RATES,
        roles=PAIR,
        epochs=VERA_DECAY,
        reference={"method": "VERA", "variant": "alpha=100"},
        gflop=15_400.0,
    ),
    Line(
        "VERA α=30",
        method={**VERA, "alpha": 30.0, **FOR_LABELS},
        laptop=SMALL_VERA,
        laptop_grid=VERA_RATES,
        roles=PAIR,
        epochs=VERA_DECAY,
        gflop=15_400.0,
    ),
    Line(
        "VERA α=1",
        method={**VERA, "alpha": 1.0, "lr": 1e-4, "generator_lr": 2e-4, "posterior_lr": 2e-4},
        laptop=SMALL_VERA,
        laptop_grid=VERA_RATES,
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

    def networks(self, profile: Profile, data: ImageSetting, line: Line | None) -> Mapping[str, Component]:
        """What lines change is the dropout, which only the networks of `paper` have."""
        return super().networks(profile, data, line if profile == "paper" else None)

    def lines_for(self, profile: Profile, data: ImageSetting) -> Iterable[Line]:
        return () if data.only_in_figures else self.lines

    def task(self, profile: Profile, data: ImageSetting) -> Component:
        task = self.scales[profile].task
        shared = {"name": task} if isinstance(task, str) else task
        return {**shared, "features": data.features, "unseen": list(data.unseen)}

    def other_data(self, dataset: Component, profile: Profile) -> ImageSetting:
        """Other images. The paper's data sets keep its values, CIFAR10 also its unseen sets. At `paper` any
        other data is a `SettingError`."""
        known = (*PAPER_IMAGES, MNIST_5K, DIGITS_8)
        declared = next((each for each in known if each.dataset["name"] == dataset["name"]), None)
        if profile == "paper":
            if declared not in PAPER_IMAGES or declared.dataset != dataset:
                raise SettingError(
                    "At --profile paper, --dataset is cifar10, cifar100 or svhn: "
                    "the paper has no settings for others."
                )
            return declared
        reference = None if declared is None else declared.reference
        is_cifar10 = dataset["name"] in ("cifar10", "cifar10-16x16")
        embedded = {"photos": "photos", "uniform": "uniform noise"}
        return ImageSetting(
            describe_data(reference or str(dataset["name"]), dataset, declared.dataset if declared else {}),
            dataset,
            reference,
            features=FEATURES.get(dataset["name"], "inception"),
            unseen={**UNSEEN, **embedded} if is_cifar10 else EMBEDDED_UNSEEN,
        )


IMAGES = ImageExperiment("images", LINES, SCALES, joint_methods)

table3_grid = IMAGES.grid_sweep(
    "table3-grid", "learning rates that were tried for each line of Tables 3 to 5 at laptop", TUNING_SEEDS
)
