"""Score bias: estimators of a generator's score compared with the exact score. Figure 3 compares the
estimators, Figure 5 shows the generator, Figure 6 uses its ESS.

The generator is probabilistic PCA of MNIST with 100 components, whose exact score is known. Each estimator is
tuned on samples of the generator and then estimates the score many times at the same pairs (z0, x).

The paper's numbers depend on two choices, so both are run: HMC with the full force of the posterior, and with
that of the prior only, as in the published code; σ as the noise deviation, and as the noise *variance*, as in
the published script. At `laptop` the second σ has three burn-ins only, which saves a third of the time.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from bench.artifact import DEFAULT_SEEDS
from bench.experiment import DataSetting, Experiment, Line, Scale, change_networks
from sweeps.trial.identity import Profile
from vera.spec.trial_spec import Component

Force = Literal["full", "prior_only"]
Noise = Literal["deviation", "variance"]
FORCES: Mapping[Force, str] = {"full": "HMC (full force)", "prior_only": "HMC (prior-only force)"}
IMPORTANCE, LATENT = "IS, k = 20", "z = z0"
SHORT, LONG = 2, 500
"""The burn-in during training, and the longest in the paper."""
ALL = (SHORT, 5, 10, 20, 50, 100, 200, LONG)
"""Every burn-in."""


@dataclass(frozen=True)
class NoiseReading(DataSetting):
    """The digits, one reading of the generator's σ, and the burn-ins of HMC with it."""

    noise: Noise = "deviation"
    burn_ins: tuple[int, ...] = ALL


@dataclass(frozen=True)
class ScoreBiasScale(Scale[NoiseReading]):
    """A scale with the number of pairs (z0, x) and of estimates at each pair."""

    pairs: int = 100
    repeats: int = 5_000

    @property
    def latent_dim(self) -> int:
        """Components of the generator."""
        return int(self.networks["generator"]["latent_dim"])


@dataclass(frozen=True)
class ScoreBiasExperiment(Experiment[NoiseReading]):
    """Estimators of the score under both readings of σ."""

    scales: Mapping[Profile, ScoreBiasScale]

    def reading(self, profile: Profile, noise: Noise) -> NoiseReading:
        return next(data for data in self.data(profile) if data.noise == noise)

    def lines_for(self, profile: Profile, data: NoiseReading) -> Iterable[Line]:
        """HMC only at the burn-ins of this reading."""
        return (line for line in self.lines if line.method.get("burn_in") in (None, *data.burn_ins))

    def settings(self, line: Line, profile: Profile, data: NoiseReading) -> dict[str, Any]:
        """Images of the generator, for Figure 5, are stored with importance sampling and the first
        reading."""
        scale, method = self.scales[profile], super().settings(line, profile, data)
        if line.label == LATENT:
            return {**method, "pairs": scale.pairs}
        images = {"images": 100} if line.label == IMPORTANCE and data.noise == "deviation" else {}
        return {**method, "pairs": scale.pairs, "repeats": scale.repeats, **images}

    def networks(self, profile: Profile, data: NoiseReading, line: Line | None) -> Mapping[str, Component]:
        return change_networks(super().networks(profile, data, line), {"generator": {"noise": data.noise}})

    def steps(self, line: Line | None, profile: Profile, data: NoiseReading) -> int:
        """The estimate with z0 has nothing to tune: one step."""
        is_latent = line is not None and line.label == LATENT
        return 1 if is_latent else super().steps(line, profile, data)

    def trial_label(self, line: Line, data: NoiseReading) -> str:
        return line.label if data.noise == "deviation" else f"{line.label}, {data.name}"


KEPT = 2
"""Samples that the paper's HMC keeps."""
KEPT_COUNTS = (KEPT, 5, 10, 20)


def label_hmc(force: Force, burn_in: int, kept: int = KEPT) -> str:
    return f"{FORCES[force]}, burn-in {burn_in}" + (f", {kept} kept" if kept != KEPT else "")


def make_hmc_line(force: Force, burn_in: int, kept: int = KEPT) -> Line:
    method = {"name": "hmc", "force": force, "burn_in": burn_in, "kept": kept}
    return Line(label_hmc(force, burn_in, kept), method, roles=("generator",))


def make_scale(
    profile: Profile,
    about: str,
    dataset: Component,
    latent_dim: int,
    steps: int,
    batch_size: int,
    pairs: int,
    repeats: int,
    burn_ins: Mapping[Noise, tuple[int, ...]],
) -> ScoreBiasScale:
    readings = [
        NoiseReading(f"σ = noise {noise}", dataset, noise=noise, burn_ins=own)
        for noise, own in burn_ins.items()
    ]
    return ScoreBiasScale(
        about,
        tuple(readings),
        {"generator": {"name": "pca-generator", "latent_dim": latent_dim}},
        steps,
        batch_size,
        task="score-error",
        seeds=DEFAULT_SEEDS[profile],
        pairs=pairs,
        repeats=repeats,
    )


SCORE_BIAS = ScoreBiasExperiment(
    "score-bias",
    (
        Line(LATENT, {"name": "latent"}, roles=("generator",)),
        Line(IMPORTANCE, {"name": "importance", "k": 20}, roles=("generator",)),
        *(make_hmc_line(force, burn_in) for force in FORCES for burn_in in ALL),
    ),
    {
        "smoke": make_scale(
            "smoke",
            "10 components of digits at 14 × 14, hardly tuned: shows that everything runs, and nothing else",
            {"name": "mnist5k-pixels", "side": 14},
            latent_dim=10,
            steps=20,
            batch_size=50,
            pairs=5,
            repeats=20,
            burn_ins={"deviation": (SHORT, 5), "variance": (SHORT,)},
        ),
        "laptop": make_scale(
            "laptop",
            (
                "100 components of 4,000 digits, 500 rounds of tuning on 200 samples, 20 pairs, 400 "
                "estimates each"
            ),
            {"name": "mnist5k-pixels"},
            latent_dim=100,
            steps=500,
            batch_size=200,
            pairs=20,
            repeats=400,
            burn_ins={"deviation": ALL, "variance": (SHORT, 20, LONG)},
        ),
        "paper": make_scale(
            "paper",
            "100 components of 60,000 digits, 500 rounds of tuning on 5,000 samples, 100 pairs (the paper: "
            "10), 5,000 estimates each",
            {"name": "mnist-pixels"},
            latent_dim=100,
            steps=500,
            batch_size=5_000,
            pairs=100,
            repeats=5_000,
            burn_ins={"deviation": ALL, "variance": ALL},
        ),
    },
    registry=None,
)

KEPT_SAMPLES = ScoreBiasExperiment(
    "kept-samples",
    tuple(make_hmc_line(force, SHORT, kept) for force in FORCES for kept in KEPT_COUNTS),
    {profile: replace(scale, data=scale.data[:1]) for profile, scale in SCORE_BIAS.scales.items()},
    registry=None,
)
"""HMC with the burn-in of training that keeps more samples of its chain. With two it is the trial of Figure
3."""
