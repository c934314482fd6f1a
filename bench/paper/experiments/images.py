"""E-JEM: a Wide ResNet that is a classifier and an energy model of images. Tables 3 to 5, the extended FID
table, Figures 4 to 27.

`paper` is the paper's protocol: WRN-28-10 without batch norm, the SNGAN generator, 200 epochs of CIFAR10,
CIFAR100 or SVHN in batches of 64. `laptop` is the same end to end at a size that two cores can train: the
embedded MNIST digits, padded to 32 × 32 and three channels, WRN-10-1. They are digits and are called so; no
number of theirs stands for CIFAR10.

Where the paper contradicts itself (the learning rates for α = 100: a footnote, an appendix and a command
disagree), the published command is followed: 3e-5 and 6e-5, warm-up over 2,500 steps, decay at epochs 150 and
175.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bench.artifact import data_name
from sweeps.trial.identity import Profile, Trial, plugged
from vera.errors import SettingError
from vera.spec.registry import joint_methods
from vera.spec.trial_spec import Component, TrialSpec

EPOCHS = 200
UNSEEN = {
    "svhn-test": "SVHN",
    "cifar100-test": "CIFAR100",
    "interpolated": "CIFAR10-Interp",
    "celeba-test": "CelebA",
}
"""The sets of Table 5, and what the paper calls them."""
EMBEDDED_UNSEEN = {
    "interpolated": "interpolated",
    "inverted": "inverted",
    "photos": "photos",
    "uniform": "uniform noise",
}


@dataclass(frozen=True)
class Pictures:
    """A data set of images in the experiment."""

    name: str
    dataset: Component
    epoch: int
    """Batches in an epoch."""
    reference: str | None = None
    """The data set's name in the paper, where it has it."""
    features: str = "inception"
    unseen: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Size:
    """What all lines share at one profile."""

    about: str
    depth: int
    width: int
    dropout: float
    generator: Component
    batch_size: int
    steps: int | None
    """In place of 200 epochs."""
    samples: int
    refining_steps: int
    tuning_steps: int
    evaluations: int


PAPER = (
    Pictures(
        "CIFAR10",
        {"name": "cifar10", "labels_per_class": None, "batches": (1, 2, 3, 4, 5)},
        781,
        "CIFAR10",
        unseen=UNSEEN,
    ),
    Pictures("CIFAR100", {"name": "cifar100", "labels_per_class": None}, 781, "CIFAR100", unseen={}),
    Pictures("SVHN", {"name": "svhn", "labels_per_class": None}, 1_144, "SVHN", unseen={}),
)
"""Every setting of a data set is said, or rows of another variant would be taken for these."""
DIGITS = Pictures(
    "digits, 32 × 32 × 3",
    {"name": "digits32", "labels_per_class": None, "side": 32},
    250,
    features="digits",
    unseen=EMBEDDED_UNSEEN,
)
SETS: Mapping[Profile, tuple[Pictures, ...]] = {
    "smoke": (replace(DIGITS, name="digits, 16 × 16 × 3", dataset={**DIGITS.dataset, "side": 16}),),
    "laptop": (DIGITS,),
    "paper": PAPER,
}
SIZES: Mapping[Profile, Size] = {
    "smoke": Size(
        "20 steps of tiny networks: shows that everything runs, and nothing else",
        10, 1, 0.0, {"name": "sngan-generator", "width": 8, "latent_dim": 8}, 16, 20, 40, 5, 20, 2,
    ),
    "laptop": Size(
        "WRN-10-1, SNGAN generator of width 16, 300 steps of 16",
        10, 1, 0.0, {"name": "sngan-generator", "width": 16, "latent_dim": 32}, 16, 300, 200, 50, 100, 3,
    ),
    "paper": Size(
        "WRN-28-10, SNGAN generator of width 256, 200 epochs in batches of 64",
        28, 10, 0.3, {"name": "sngan-generator"}, 64, None, 12_800, 100, 500, 40,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A way to train the network: the published settings, what differs at `laptop`, and how often it may
    begin again."""

    label: str
    method: Component
    laptop: Component
    roles: tuple[str, ...] = ("energy",)
    decay_epochs: tuple[int, ...] = (160, 180)
    dropout: bool = True
    restarts: int = 0
    reference: Mapping[str, str] | None = None
    for_samples: bool = False
    """Trained for its samples alone, not for Tables 3 and 5."""

    def settings(self, profile: Profile, epoch: int) -> dict[str, Any]:
        own = dict(self.method) if profile == "paper" else {**self.method, **self.laptop, "warmup": 0}
        return own | (
            {"decay_at": [epoch * each for each in self.decay_epochs]} if profile == "paper" else {}
        )


VERA = {"name": "vera", "entropy_weight": 1e-4, "gamma": 0.1, "beta": 0.0, "warmup": 2_500}
HDGE = {"name": "hdge", "lr": 1e-4, "betas": [0.9, 0.999], "data_noise": 0.03, "warmup": 1_000}
LINES = (
    Line("Classifier", {"name": "supervised", "lr": 1e-4, "betas": [0.9, 0.999], "warmup": 1_000}, {"lr": 3e-3},
         reference={"method": "Classifier"}),
    Line("JEM", {"name": "jem", "lr": 1e-4, "betas": [0.9, 0.999], "data_noise": 0.03, "warmup": 1_000},
         {"capacity": 1_000}, dropout=False, restarts=2, reference={"method": "JEM"}),
    Line("HDGE", HDGE, {"lr": 3e-3, "queue": 4_096}, dropout=False, reference={"method": "HDGE"}),
    Line("HDGE + log p(x)", {**HDGE, "density_weight": 1.0}, {"queue": 4_096, "capacity": 1_000}, dropout=False, restarts=2,
         reference={"method": "HDGE"}, for_samples=True),
    Line("VERA α=100", {**VERA, "alpha": 100.0, "lr": 3e-5, "generator_lr": 6e-5, "posterior_lr": 3e-5},
         {"lr": 3e-3, "generator_lr": 1e-3, "posterior_lr": 3e-3}, ("energy", "generator"), (150, 175),
         reference={"method": "VERA", "variant": "alpha=100"}),
    Line("VERA α=1", {**VERA, "alpha": 1.0, "lr": 1e-4, "generator_lr": 2e-4, "posterior_lr": 2e-4},
         {"lr": 1e-3, "generator_lr": 1e-3, "posterior_lr": 3e-3}, ("energy", "generator"), (150, 175),
         reference={"method": "VERA", "variant": "alpha=1"}),
)  # fmt: skip
COPIED = ("Classifier", "JEM", "HDGE", "HDGE + log p(x)")
"""Whose values in the paper come from other papers, with other protocols."""
SILENT = ("Classifier", "HDGE")
"""They draw no samples."""


GFLOP = {
    "Classifier": 2_290.0, "JEM": 35_000.0, "HDGE": 2_290.0, "HDGE + log p(x)": 35_000.0, "VERA α=100": 15_400.0,
    "VERA α=1": 15_400.0,
}  # fmt: skip
"""Of one step at the `paper` profile: WRN-28-10 takes 762 forwards for a batch of 64, and three times that
with its gradient."""


def flop(trial: Trial) -> float | None:
    """Of a whole trial at the `paper` profile."""
    return (
        1e9 * GFLOP[trial.label] * trial.spec.steps
        if trial.profile == "paper" and trial.label in GFLOP
        else None
    )


def line(label: str) -> Line:
    return next(line for line in LINES if line.label == label)


def own_pictures(dataset: Component, profile: Profile) -> Pictures:
    """Other images in place of the profile's own. The paper's sets keep its values, CIFAR10 what it is told
    from."""
    known = next(
        (pictures for pictures in (*PAPER, DIGITS) if pictures.dataset["name"] == dataset["name"]), None
    )
    if profile == "paper":
        if known not in PAPER or known.dataset != dataset:
            raise SettingError(
                "At --profile paper, --dataset is cifar10, cifar100 or svhn: the paper has no settings for others."
            )
        return known
    usual = known.dataset if known else {}
    name = data_name(known.reference if known and known.reference else str(dataset["name"]), dataset, usual)
    unseen = (
        {**UNSEEN, "photos": "photos", "uniform": "uniform noise"}
        if dataset["name"] == "cifar10"
        else EMBEDDED_UNSEEN
    )
    features = "digits" if dataset["name"] == "digits32" else "inception"
    return Pictures(name, dataset, 1, known.reference if known else None, features, unseen)


def trial_of(line: Line, pictures: Pictures, profile: Profile) -> Trial:
    settings = line.settings(profile, pictures.epoch)
    return made(
        pictures, profile, line.label, settings, line.roles, dropout=line.dropout, restarts=line.restarts
    )


def made(
    pictures: Pictures,
    profile: Profile,
    label: str,
    method: Component,
    roles: Sequence[str],
    *,
    dropout: bool = True,
    restarts: int = 0,
) -> Trial:
    size = SIZES[profile]
    steps = size.steps or EPOCHS * pictures.epoch
    networks: dict[str, Component] = {
        "energy": {
            "name": "wrn",
            "depth": size.depth,
            "width": size.width,
            "dropout": size.dropout if dropout else 0.0,
        },
        "generator": size.generator,
    }
    task = {
        "name": "images", "features": pictures.features, "samples": size.samples, "refining_steps": size.refining_steps,
        "tuning_steps": size.tuning_steps, "unseen": list(pictures.unseen or {}),
    }  # fmt: skip
    spec = TrialSpec(
        pictures.dataset, {role: networks[role] for role in roles}, method, steps, size.batch_size,
        evaluate_every=max(1, steps // size.evaluations), restarts=restarts if profile == "paper" else 0, task=task,
    )  # fmt: skip
    return Trial(spec, profile, label=label)


def trials(profile: Profile, sets: Sequence[Pictures], samples: bool = False) -> Iterator[Trial]:
    """Every line of Table 3 on every data set, or those that draw samples, and every method of a plug-in,
    with its defaults."""
    shown = [line for line in LINES if (line.label not in SILENT if samples else not line.for_samples)]
    for pictures in sets:
        yield from (trial_of(line, pictures, profile) for line in shown)
        for name, roles, method in plugged(joint_methods, ("energy", "generator")):
            yield made(pictures, profile, name, method, roles)
