"""Table 1's evidence: noise contrast in the experiments of Tables 2 and 10, score matching on the mixture of
Table 10, and what a training step of each method costs.

The paper's Table 1 compares four families of methods in words. Most of the evidence is in the trials of
Tables 2 and 10. What those do not have is trained here, with the networks, data, steps and seeds of those
tables, so that lines can be compared seed by seed. The paper has no noise-contrastive line: NCE has a
Gaussian noise density with a full covariance, fitted to the data.

At `laptop` the learning rate of NCE on the flow is chosen as those of Table 2's lines are (`table1-grid`:
four settings, the seeds 100 and 101). On the mixture all lines have the one rate of Table 10 and no other
setting was tried, except for the σ of PCD.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bench.experiment import TUNING_SEEDS, Line, vary
from bench.paper.experiments.nice import NICE, FlowExperiment
from bench.paper.experiments.toys import MIXTURE, MIXTURE_BUDGETS, TOYS, ToyExperiment, make_scales
from sweeps.trial.identity import Profile, Trial
from vera.spec.trial_spec import TrialSpec


@dataclass(frozen=True)
class Family:
    """A family of Table 1, and the labels of its methods on the flow and on the mixture."""

    name: str
    flow: tuple[str, ...]
    mixture: Mapping[str, tuple[str, ...]]
    """By label on the flow: its lines on the mixture; of several the best is shown."""


NCE = "NCE"
FAMILIES = (
    Family("MCMC", ("PCD",), {"PCD": tuple(f"PCD σ={noise:g}" for noise in (0.01, 0.03, 0.1, 0.3, 1.0))}),
    Family("Score matching", ("SSM", "DSM", "CP-SM"), {"SSM": ("SSM",), "DSM": ("DSM",)}),
    Family("Noise contrastive", (NCE,), {NCE: (NCE,)}),
    Family("VERA", ("VERA λ=1",), {"VERA λ=1": ("VERA λ=1",)}),
)
"""In the paper's order and under its names."""

MIXTURE_FAMILIES = ToyExperiment(
    "mixture-families",
    (
        Line(NCE, {"name": "nce"}),
        Line("SSM", {"name": "ssm"}),
        Line("DSM", {"name": "dsm", "noise": 0.1}),
    ),
    make_scales("mixture", TOYS, MIXTURE_BUDGETS),
    registry=None,
)
FLOW_FAMILIES = FlowExperiment(
    "flow-families",
    (
        Line(
            NCE,
            {"name": "nce", "lr": 1e-4},
            laptop={"lr": 1e-3},
            grid={"lr": (1e-3, 1e-4, 1e-5)},
            laptop_points=vary({"lr": 1e-3}, lr=(3e-4, 2e-3), noise_ratio=(1,)),
            gflop=126.5,
        ),
    ),
    NICE.scales,
    registry=None,
)
ROUNDS: Mapping[Profile, int] = {"smoke": 3, "laptop": 21, "paper": 11}
"""Rounds of the timing, the first of which is not counted."""

table1_grid = FLOW_FAMILIES.grid_sweep(
    "table1-grid", "what was tried for NCE on the flow of Table 2: four settings, two seeds", TUNING_SEEDS
)


def find_flow_trial(label: str, profile: Profile) -> Trial:
    """The trial of a line on the flow, of Table 2 or of this experiment."""
    experiment = FLOW_FAMILIES if FLOW_FAMILIES.find_line(label) else NICE
    return experiment.trial(label, profile)


def list_mixture_trials(label: str, profile: Profile, toy: int) -> list[Trial]:
    """The trials of a method on one toy, of Table 10 or of this experiment; none if it cannot train a
    mixture."""
    labels = next((family.mixture.get(label, ()) for family in FAMILIES if label in family.flow), ())
    return [
        (MIXTURE_FAMILIES if MIXTURE_FAMILIES.find_line(each) else MIXTURE).trial(each, profile, TOYS[toy])
        for each in labels
    ]


def make_cost_trial(label: str, profile: Profile) -> Trial:
    """The timing of a step of this line on the flow, with the line's settings and networks."""
    trial = find_flow_trial(label, profile)
    spec: TrialSpec = replace(
        trial.spec, steps=ROUNDS[profile], evaluate_every=None, restarts=0, task="step-cost"
    )
    return replace(trial, spec=spec, label=f"{label}, cost of a step")
