"""Mode counting: generators trained on StackedMNIST, 1,000 triples of digits (Sec. 5.2, B.5), by VERA,
VERA-HMC and VERA without entropy.

`paper` is DCGAN at 64 × 64, 17 epochs in batches of 100, 10,000 samples. The learning rate of energy and
generator is .001 (B.5). The paper does not give λ, γ or η's learning rate for this experiment. λ = 10⁻⁴ and
γ = .1 are those of Table 7; as there, η has the learning rate of the generator.

`laptop` is a narrow DCGAN at 16 × 16 on the embedded digits, with k = 5 instead of 20. Both learning rates
are equal, as in the paper, and are tried for each line on two tuning seeds (the sweep `modes-grid`).

Operations of one step: half of VERA's are the generator's pass over k = 20. HMC with the full force has 21
gradients of the generator instead, with the prior-only force seven passes.
"""

from collections.abc import Mapping

from bench.artifact import DEFAULT_SEEDS
from bench.experiment import TUNING_SEEDS, DataSetting, Experiment, Line, Scale
from sweeps.trial.identity import Profile
from vera.spec.trial_spec import Component

RATE = 1e-3
"""The paper's learning rate, of energy and generator."""
RATES = (3e-4, 1e-3, 3e-3)
"""The learning rates that are tried at `laptop`."""
PUBLISHED_HMC = "VERA-HMC, prior-only force"
"""HMC with the force of the published code. HMC with the full force is not in the paper."""
NO_ENTROPY = "VERA λ=0"


def make_line(
    label: str,
    method: Component,
    gflop: float,
    reference: Mapping[str, str] | None,
    laptop_rate: float,
    laptop: Component | None = None,
) -> Line:
    """A line with the same learning rate for energy and generator."""
    return Line(
        label,
        {**method, "lr": RATE, "generator_lr": RATE, "gamma": 0.1},
        {"lr": laptop_rate, "generator_lr": laptop_rate, **(laptop or {})},
        ("energy", "generator"),
        laptop_points=[{"lr": rate, "generator_lr": rate} for rate in RATES],
        reference=reference,
        gflop=gflop,
    )


def make_scale(
    profile: Profile, about: str, dataset: Component, width: int, steps: int, batch_size: int, task: Component
) -> Scale[DataSetting]:
    networks = {
        "energy": {"name": "dcgan", "width": width},
        "generator": {"name": "dcgan-generator", "width": width},
    }
    data = DataSetting("StackedMNIST", {"name": "stacked-mnist", **dataset}, "StackedMNIST 64x64")
    return Scale(
        about,
        (data,),
        networks,
        steps,
        batch_size,
        task={"name": "modes", **task},
        seeds=(0, 1, 2) if profile == "laptop" else DEFAULT_SEEDS[profile],
    )


MODES: Experiment[DataSetting] = Experiment(
    "modes",
    (
        make_line(
            "VERA",
            {"name": "vera", "entropy_weight": 1e-4},
            835.0,
            {"method": "VERA", "variant": ""},
            laptop_rate=1e-3,
            laptop={"k": 5},
        ),
        make_line(
            PUBLISHED_HMC,
            {"name": "vera-hmc", "force": "prior_only", "entropy_weight": 1e-4},
            560.0,
            {"method": "VERA-HMC", "variant": ""},
            laptop_rate=1e-3,
        ),
        make_line(
            "VERA-HMC, full force",
            {"name": "vera-hmc", "force": "full", "entropy_weight": 1e-4},
            1_420.0,
            None,
            laptop_rate=1e-3,
        ),
        make_line(
            NO_ENTROPY,
            {"name": "vera", "entropy_weight": 0.0},
            415.0,
            {"method": "VERA", "variant": "lambda=0"},
            laptop_rate=1e-3,
        ),
    ),
    {
        "smoke": make_scale(
            "smoke",
            "6 steps of tiny networks: shows that everything runs, and nothing else",
            {"source": "mnist5k", "side": 32},
            width=4,
            steps=6,
            batch_size=16,
            task={"samples": 60, "batch": 60, "epochs": 1},
        ),
        "laptop": make_scale(
            "laptop",
            "DCGAN of width 16 at 16 × 16, 3,000 steps of 50, digits of the embedded part of MNIST",
            {"source": "mnist5k", "side": 16},
            width=16,
            steps=3_000,
            batch_size=50,
            task={"samples": 10_000, "batch": 10_000, "epochs": 10},
        ),
        "paper": make_scale(
            "paper",
            "DCGAN of width 64 at 64 × 64, 17 epochs in batches of 100",
            {"source": "mnist", "side": 64},
            width=64,
            steps=10_200,
            batch_size=100,
            task={"samples": 10_000, "batch": 10_000, "epochs": 14},
        ),
    },
    registry=None,
)

modes_grid = MODES.grid_sweep(
    "modes-grid",
    "what was tried for each line of mode counting at laptop: three learning rates, two seeds each",
    TUNING_SEEDS,
)
