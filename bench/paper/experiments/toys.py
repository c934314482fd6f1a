"""Three densities in the plane (the toys) and the ways to train a model of them: Table 10, `drift` and Figure
1.

Settings follow B.2 of the paper: fresh batches of 200 points, one constant learning rate for energy,
generator and posterior, γ = .1, 20 importance samples, PCD with 20 Langevin steps. The paper does not give
the σ of its PCD sweep. The five σ used here range from chains that hardly move to chains that diverge.

`paper` trains for 100,000 steps at a learning rate of .001. At `laptop` the mixture is trained for 2,000
steps at .005: at .001 these steps would end before PCD with a large σ diverges.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.artifact import DEFAULT_SEEDS
from bench.experiment import DataSetting, Experiment, Line, Scale
from sweeps.trial.identity import Profile

BATCH_SIZE = 200
SIGMAS = (0.01, 0.03, 0.1, 0.3, 1.0)
LAMBDAS = (0.0, 0.01, 0.1, 1.0)
TOYS = tuple(DataSetting(name, {"name": name}, name) for name in ("moons", "circles", "rings"))


@dataclass(frozen=True)
class ToyScale(Scale[DataSetting]):
    """A scale with one learning rate for everything that is trained."""

    rate: float = 1e-3


@dataclass(frozen=True)
class ToyExperiment(Experiment[DataSetting]):
    """One kind of energy on some of the toys. Its lines declare no learning rate: the scale has it."""

    scales: Mapping[Profile, ToyScale]

    def settings(self, line: Line, profile: Profile, data: DataSetting) -> dict[str, Any]:
        rates = ("lr", "generator_lr", "posterior_lr") if "generator" in line.roles else ("lr",)
        return {**super().settings(line, profile, data), **dict.fromkeys(rates, self.scales[profile].rate)}


def label_vera(entropy_weight: float) -> str:
    return f"VERA λ={entropy_weight:g}"


def label_pcd(noise: float) -> str:
    return f"PCD σ={noise:g}"


def make_vera_line(entropy_weight: float, reference: Mapping[str, str] | None = None) -> Line:
    method = {"name": "vera", "entropy_weight": entropy_weight, "gamma": 0.1, "k": 20}
    return Line(label_vera(entropy_weight), method, roles=("energy", "generator"), reference=reference)


def make_pcd_line(noise: float) -> Line:
    return Line(label_pcd(noise), {"name": "pcd", "noise": noise, "sampler_steps": 20})


def make_scales(
    energy: str,
    toys: tuple[DataSetting, ...],
    budgets: Mapping[Profile, tuple[int, float]],
    evaluations: Mapping[Profile, int] | None = None,
    seeds: Mapping[Profile, tuple[int, ...]] = DEFAULT_SEEDS,
) -> dict[Profile, ToyScale]:
    """The scales of an experiment. `budgets` are training steps and learning rates."""
    networks = {"energy": {"name": energy}, "generator": {"name": "mlp-generator"}}
    return {
        profile: ToyScale(
            describe_budget(budgets, profile),
            toys,
            networks,
            steps,
            BATCH_SIZE,
            (evaluations or {}).get(profile, 0),
            seeds=seeds[profile],
            rate=rate,
        )
        for profile, (steps, rate) in budgets.items()
    }


def describe_budget(budgets: Mapping[Profile, tuple[int, float]], profile: Profile) -> str:
    """Steps and learning rate for a caption, followed by the paper's if they differ."""
    (steps, rate), (paper_steps, paper_rate) = budgets[profile], budgets["paper"]
    paper = f" (the paper: {paper_steps:,} steps, learning rate {paper_rate:g})"
    is_paper = budgets[profile] == budgets["paper"]
    return f"{steps:,} steps of {BATCH_SIZE} points, learning rate {rate:g}{'' if is_paper else paper}"


MIXTURE_BUDGETS: Mapping[Profile, tuple[int, float]] = {
    "smoke": (20, 5e-3),
    "laptop": (2_000, 5e-3),
    "paper": (100_000, 1e-3),
}

MIXTURE = ToyExperiment(
    "mixture",
    (
        Line("ML", {"name": "ml"}, reference={"method": "ML"}),
        *(make_vera_line(each, {"method": "VERA", "variant": f"lambda={each}"}) for each in LAMBDAS),
        *map(make_pcd_line, SIGMAS),
    ),
    make_scales("mixture", TOYS, MIXTURE_BUDGETS),
)
"""A mixture of 100 Gaussians, evaluated at the end of training (Table 10)."""

DRIFT_SIGMAS = (0.1, 0.3, 1.0)

EVALUATED_MIXTURE = ToyExperiment(
    "drift",
    (MIXTURE.line("ML"), *map(make_pcd_line, DRIFT_SIGMAS)),
    make_scales(
        "mixture",
        TOYS,
        MIXTURE_BUDGETS,
        evaluations={"smoke": 4, "laptop": 100, "paper": 100},
        seeds={"smoke": (0,), "laptop": (0, 1, 2), "paper": (0, 1, 2)},
    ),
    registry=None,
)
"""The same mixture, evaluated during training (`drift`). PCD's two smallest σ are left out: they end far
below the others."""

SMALL_NETWORK_LAMBDAS = (0.01, 0.1, 1.0)

SMALL_NETWORK = ToyExperiment(
    "small-network",
    (*map(make_vera_line, SMALL_NETWORK_LAMBDAS), *map(make_pcd_line, SIGMAS)),
    make_scales("mlp", TOYS[:1], {"smoke": (20, 5e-3), "laptop": (5_000, 1e-3), "paper": (100_000, 1e-3)}),
    registry=None,
)
"""A small network on moons (Figure 1)."""
