"""The flow of Table 2 trained by newer methods too.

Data, flow, generator, steps and seeds are those of `bench/paper/experiments/nice.py`, so the lines of the
paper are its trials, and NCE is that of Table 1. Each new line has four configurations on the seeds 100 and
101, as the lines of Table 2 have.

Short-run training and CD have the noise of PCD; energy discrepancy has the scale of a pixel's conditional
deviation, .76 in logit space.
"""

from collections.abc import Mapping
from dataclasses import replace

from bench.experiment import TUNING_SEEDS, DataSetting, Line, Scale, vary
from bench.paper.experiments.families import FLOW_FAMILIES, NCE
from bench.paper.experiments.nice import NICE, PAIR, SCALES, WITH_ENTROPY, FlowExperiment
from sweeps.trial.identity import Profile

DAE = {**WITH_ENTROPY, "dae_scale": 0.1}
NEW_LINES = (
    Line(
        "SNL",
        {"name": "snl"},
        laptop={"lr": 1e-3, "noise_ratio": 10},
        laptop_points=vary({"lr": 1e-3, "noise_ratio": 10}, lr=(3e-4, 2e-3), noise_ratio=(1,)),
    ),
    Line(
        "ED",
        {"name": "ed", "samples": 16, "w": 1.0},
        laptop={"lr": 1e-3, "t": 0.3},
        laptop_points=vary({"lr": 1e-3, "t": 0.3}, lr=(3e-4,), t=(0.1, 1.0)),
    ),
    Line(
        "CD",
        {"name": "cd", "sampler_steps": 10},
        laptop={"lr": 1e-4, "noise": 0.3},
        laptop_points=vary({"lr": 1e-4, "noise": 0.3}, lr=(3e-5, 3e-4), noise=(0.1,)),
    ),
    Line(
        "Short-run",
        {"name": "short-run", "sampler_steps": 40},
        laptop={"lr": 1e-4, "noise": 0.3},
        laptop_points=vary({"lr": 1e-4, "noise": 0.3}, lr=(3e-5, 3e-4), noise=(0.1,)),
    ),
    Line(
        "VERA-AR-DAE λ=1",
        {"name": "vera-ar-dae", "entropy_weight": 1.0, "gamma": 0.1},
        laptop=DAE,
        roles=PAIR,
        laptop_points=vary(DAE, lr=(1e-4,), generator_lr=(1e-3,), dae_scale=(0.3,)),
    ),
)
FLOW_SCALES: Mapping[Profile, Scale[DataSetting]] = {
    profile: scale for profile, scale in SCALES.items() if profile != "paper"
}
FLOW = FlowExperiment("flow", (*NICE.lines, FLOW_FAMILIES.line(NCE), *NEW_LINES), FLOW_SCALES, registry=None)
NEW_FLOWS = replace(FLOW, lines=NEW_LINES)
"""The lines whose settings are tuned here."""

flow_grid = NEW_FLOWS.grid_sweep(
    "flow-grid", "four configurations of every newer method on the flow of Table 2, two seeds", TUNING_SEEDS
)
