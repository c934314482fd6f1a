"""E-BIAS: estimators of a generator's score against the exact score. Figure 3 compares them, 5 shows the
generator, 6 its ESS.

The generator is probabilistic PCA of MNIST with 100 components, whose exact score is known. Each estimator is
tuned on samples of the generator, then estimates the score again and again at the same pairs (z0, x).

Two things are run both ways, because the paper's numbers hang on them: HMC with the full force of the
posterior, and with that of the prior only, which is what the published code runs; σ as the noise deviation,
and as the noise *variance*, which is what the published script takes for it. At `laptop` the second σ is
tried at three burn-ins only, which saves a third of the time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from sweeps.trial.identity import Profile, Trial
from vera.spec.trial_spec import Component, TrialSpec

Force = Literal["full", "prior_only"]
Noise = Literal["deviation", "variance"]
FORCES: Mapping[Force, str] = {"full": "HMC (full force)", "prior_only": "HMC (prior-only force)"}
SHORT, LONG = 2, 500
"""The burn-in of training, and the longest one of the paper."""
ALL = (SHORT, 5, 10, 20, 50, 100, 200, LONG)


@dataclass(frozen=True)
class Budget:
    """The digits, the generator's size, the tuning, and how often the score is estimated at how many
    pairs."""

    dataset: Component
    latent_dim: int
    steps: int
    batch_size: int
    pairs: int
    repeats: int
    burn_ins: Mapping[Noise, tuple[int, ...]]
    about: str


BUDGETS: Mapping[Profile, Budget] = {
    "smoke": Budget(
        {"name": "mnist5k-pixels", "side": 14}, 10, 20, 50, 5, 20, {"deviation": (SHORT, 5), "variance": (SHORT,)},
        "10 components of digits at 14 × 14, hardly tuned: shows that everything runs, and nothing else",
    ),
    "laptop": Budget(
        {"name": "mnist5k-pixels"}, 100, 500, 200, 20, 400, {"deviation": ALL, "variance": (SHORT, 20, LONG)},
        "100 components of 4,000 digits, 500 rounds of tuning on 200 samples, 20 pairs, 400 estimates each",
    ),
    "paper": Budget(
        {"name": "mnist-pixels"}, 100, 500, 5_000, 100, 5_000, {"deviation": ALL, "variance": ALL},
        "100 components of 60,000 digits, 500 rounds of tuning on 5,000 samples, 100 pairs (the paper: 10), 5,000 estimates each",
    ),
}  # fmt: skip


def importance(profile: Profile, noise: Noise = "deviation") -> Trial:
    """Its row also has effective sample sizes and, for Figure 5, samples of the generator."""
    images = {"images": 100} if noise == "deviation" else {}
    return _study(
        profile, "IS, k = 20", {"name": "importance", "k": 20, **_estimates(profile), **images}, noise
    )


def hmc(profile: Profile, force: Force, burn_in: int, noise: Noise = "deviation") -> Trial:
    method = {"name": "hmc", "force": force, "burn_in": burn_in, "kept": 2, **_estimates(profile)}
    return _study(profile, f"{FORCES[force]}, burn-in {burn_in}", method, noise)


def latent(profile: Profile, noise: Noise = "deviation") -> Trial:
    """z0 in place of posterior draws: there is nothing to tune, and nothing random about an estimate."""
    return _study(profile, "z = z0", {"name": "latent", "pairs": BUDGETS[profile].pairs}, noise, steps=1)


def trials(profile: Profile) -> Iterator[Trial]:
    for noise, burn_ins in BUDGETS[profile].burn_ins.items():
        yield latent(profile, noise)
        yield importance(profile, noise)
        yield from (hmc(profile, force, burn_in, noise) for force in FORCES for burn_in in burn_ins)


def _estimates(profile: Profile) -> dict[str, int]:
    return {"pairs": BUDGETS[profile].pairs, "repeats": BUDGETS[profile].repeats}


def _study(profile: Profile, label: str, method: Component, noise: Noise, steps: int | None = None) -> Trial:
    budget = BUDGETS[profile]
    networks = {"generator": {"name": "pca-generator", "latent_dim": budget.latent_dim, "noise": noise}}
    spec = TrialSpec(
        budget.dataset, networks, method, steps or budget.steps, budget.batch_size, task="score-error"
    )
    return Trial(spec, profile, label=label if noise == "deviation" else f"{label}, σ = noise variance")
