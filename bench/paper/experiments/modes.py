"""Mode counting: generators trained on StackedMNIST, 1,000 triples of digits (Sec. 5.2, B.5), by VERA,
VERA-HMC and VERA without entropy.

`paper` is DCGAN at 64 × 64, 17 epochs in batches of 100, 10,000 samples. The paper gives neither λ nor the
learning rates of this experiment; those of Table 7 for large images are used, λ = 10⁻⁴ and 1e-4, 2e-4, 2e-4.
`laptop` is a narrow DCGAN at 32 × 32 on the embedded digits.

Operations of one step: half of VERA's are the generator's pass over k = 20. HMC with the full force has 21
gradients of the generator instead, with the prior-only force seven passes.
"""

from collections.abc import Mapping
from typing import Any

from bench.artifact import DEFAULT_SEEDS
from bench.experiment import DataSetting, Experiment, Line, Scale
from sweeps.trial.identity import Profile
from vera.spec.trial_spec import Component

RATES = {"lr": 1e-4, "generator_lr": 2e-4, "gamma": 0.1}
PUBLISHED_HMC = "VERA-HMC, prior-only force"
"""HMC with the force of the published code. HMC with the full force is not in the paper."""


class ModeExperiment(Experiment[DataSetting]):
    """Generators of stacked digits. At `smoke` their learning rates are the paper's."""

    def settings(self, line: Line, profile: Profile, data: DataSetting) -> dict[str, Any]:
        return super().settings(line, "paper" if profile == "smoke" else profile, data)


def make_line(label: str, method: Component, gflop: float, reference: Mapping[str, str] | None) -> Line:
    """A line with the learning rates that all lines share."""
    laptop = {"lr": 5e-4, "generator_lr": 1e-3}
    roles = ("energy", "generator")
    return Line(label, {**method, **RATES}, laptop, roles, reference=reference, gflop=gflop)


def make_scale(
    profile: Profile, about: str, dataset: Component, width: int, steps: int, batch_size: int, task: Component
) -> Scale[DataSetting]:
    networks = {
        "energy": {"name": "dcgan", "width": width},
        "generator": {"name": "dcgan-generator", "width": width},
    }
    data = DataSetting("StackedMNIST", {"name": "stacked-mnist", **dataset}, "StackedMNIST 64x64")
    seeds = DEFAULT_SEEDS[profile]
    return Scale(about, (data,), networks, steps, batch_size, task={"name": "modes", **task}, seeds=seeds)


MODES = ModeExperiment(
    "modes",
    (
        make_line(
            "VERA",
            {"name": "vera", "entropy_weight": 1e-4, "posterior_lr": 2e-4},
            835.0,
            {"method": "VERA", "variant": ""},
        ),
        make_line(
            PUBLISHED_HMC,
            {"name": "vera-hmc", "force": "prior_only", "entropy_weight": 1e-4},
            560.0,
            {"method": "VERA-HMC", "variant": ""},
        ),
        make_line(
            "VERA-HMC, full force",
            {"name": "vera-hmc", "force": "full", "entropy_weight": 1e-4},
            1_420.0,
            None,
        ),
        make_line(
            "VERA λ=0",
            {"name": "vera", "entropy_weight": 0.0, "posterior_lr": 2e-4},
            415.0,
            {"method": "VERA", "variant": "lambda=0"},
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
            "DCGAN of width 16 at 32 × 32, 400 steps of 50, digits of the embedded part of MNIST",
            {"source": "mnist5k", "side": 32},
            width=16,
            steps=400,
            batch_size=50,
            task={"samples": 4_000, "batch": 1_000, "epochs": 3},
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
