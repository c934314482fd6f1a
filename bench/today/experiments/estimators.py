"""Estimators of the generator's entropy gradient in the setting of Figure 3, AR-DAE included, and what a
training step with each of them costs.

The generator is probabilistic PCA of digits, whose score is known exactly. Importance sampling and HMC are
the trials of Figure 3, with one seed more. They tune themselves (η by an ELBO, the step size by the
acceptance rate); AR-DAE is a network, and four configurations of it are tried on tuning seeds. It is trained
for as many rounds as the others are tuned, and for ten times as many: in training it follows the generator
for thousands of steps.

The cost of a training step is measured on the flow of Table 2, with the method that uses the estimator.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bench.experiment import TUNING_SEEDS, Line, vary
from bench.paper.experiments.families import ROUNDS
from bench.paper.experiments.score_bias import (
    FORCES,
    IMPORTANCE,
    LATENT,
    LONG,
    SCORE_BIAS,
    SHORT,
    NoiseReading,
    ScoreBiasExperiment,
    label_hmc,
)
from bench.today.experiments.flow import FLOW
from sweeps.trial.identity import Profile, Trial

MIDDLE, LONGER = 20, 10
AR_DAE, LONG_AR_DAE = "AR-DAE", f"AR-DAE, {LONGER} × the rounds"
SEEDS: Mapping[Profile, tuple[int, ...]] = {"smoke": (0,), "laptop": (0, 1, 2)}
_DAE = {"lr": 1e-3, "scale": 0.05, "hidden": [128, 128]}
_POINTS = vary(_DAE, lr=(3e-3,), scale=(0.2,), hidden=([512, 512],))
DENOISING = (
    Line(AR_DAE, {"name": "denoising"}, laptop=_DAE, roles=("generator",), laptop_points=_POINTS),
    Line(LONG_AR_DAE, {"name": "denoising"}, laptop=_DAE, roles=("generator",), laptop_points=()),
)
KNOWN = (
    LATENT,
    IMPORTANCE,
    *(label_hmc(force, burn_in) for force in FORCES for burn_in in (SHORT, MIDDLE, LONG)),
)
TRAINED_BY = {
    IMPORTANCE: "VERA λ=1",
    label_hmc("full", SHORT): "VERA-HMC λ=1, full force",
    label_hmc("prior_only", SHORT): "VERA-HMC λ=1, prior-only force",
    AR_DAE: "VERA-AR-DAE λ=1",
}
"""By estimator: the line on the flow that trains with it."""


@dataclass(frozen=True)
class EstimatorExperiment(ScoreBiasExperiment):
    """The lines of Figure 3 with one reading of σ, and AR-DAE."""

    def settings(self, line: Line, profile: Profile, data: NoiseReading) -> dict[str, Any]:
        """All estimates of AR-DAE at one point are equal, so they are not repeated."""
        settings = super().settings(line, profile, data)
        return settings if line.method["name"] != "denoising" else {**settings, "repeats": 2}

    def steps(self, line: Line | None, profile: Profile, data: NoiseReading) -> int:
        steps = super().steps(line, profile, data)
        return LONGER * steps if line is not None and line.label == LONG_AR_DAE else steps


ESTIMATORS = EstimatorExperiment(
    "estimators",
    (*map(SCORE_BIAS.line, KNOWN), *DENOISING),
    {
        profile: replace(SCORE_BIAS.scales[profile], data=SCORE_BIAS.data(profile)[:1], seeds=seeds)
        for profile, seeds in SEEDS.items()
    },
    registry=None,
)
DENOISERS = replace(ESTIMATORS, lines=DENOISING[:1])
"""The line whose settings are tuned here."""

estimators_grid = DENOISERS.grid_sweep(
    "estimators-grid", "four configurations of AR-DAE in Figure 3's setting, two seeds", TUNING_SEEDS
)


def make_cost_trial(estimator: str, profile: Profile) -> Trial:
    """The timing of a training step on the flow with this estimator."""
    label = TRAINED_BY[estimator]
    trial = FLOW.trial(label, profile)
    spec = replace(trial.spec, steps=ROUNDS[profile], evaluate_every=None, restarts=0, task="step-cost")
    return replace(trial, spec=spec, label=f"{label}, cost of a step")
