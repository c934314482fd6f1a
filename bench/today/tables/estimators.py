"""Estimators of the generator's score against the exact one: bias, spread and cost.

The RMS bias is that of the mean over repeated estimates with the Monte Carlo noise removed, as in Figure 3's
claims. The deviation is that of one estimate. The error of one estimate, √(bias² + deviation²), is what a
training step sees. The cost is that of a whole training step of the flow of Table 2, in supervised steps of
the same flow; it exists for the burn-in of training only.

Trap: AR-DAE is a function of x once it is trained. Its error is the same every time, so it is all bias, and
averaging over a batch or over steps does not reduce it. The exact score has bias and deviation 0.
"""

import math
from collections.abc import Callable, Iterator

from bench.artifact import Column, Sheet, Value
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, check_above
from bench.judging.results import Results, read_metrics
from bench.paper.experiments.score_bias import IMPORTANCE, SHORT, label_hmc
from bench.paper.figures.figure3 import read_noise_free_bias
from bench.today.experiments.estimators import (
    AR_DAE,
    DENOISERS,
    ESTIMATORS,
    LONG_AR_DAE,
    TRAINED_BY,
    make_cost_trial,
)
from bench.today.tables.density import OURS
from bench.today.today_artifact import TodayArtifact
from bench.today.tuning import describe_tuning
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial

FULL_HMC = label_hmc("full", SHORT)


def read_bias(results: Results, trial: Trial) -> Cell:
    return read_noise_free_bias(results, trial)


def read_error(results: Results, trial: Trial) -> Cell:
    """The error of one estimate, without the noise in the measured bias."""
    return results.measure(trial, _combine)


def _combine(row: Row) -> float | None:
    metrics = read_metrics(row)
    if not {"rms_bias", "rms_noise", "deviation"} <= metrics.keys():
        return None
    bias = max(metrics["rms_bias"] ** 2 - metrics["rms_noise"] ** 2, 0.0)
    return math.sqrt(bias + metrics["deviation"] ** 2)


def read_cost(results: Results, label: str) -> Cell | None:
    """Supervised steps that a training step costs; None for an estimator that trains nothing here."""
    if label not in TRAINED_BY:
        return None
    return results.cell(make_cost_trial(label, results.profile), "ratio")


Read = Callable[[Results, Trial], Cell]


def check_smaller(name: str, read: Read, small: str, large: str) -> Callable[[Results], Finding]:
    """A claim that a quantity is smaller for one estimator than for another."""

    def check(results: Results) -> Finding:
        a, b = (read(results, ESTIMATORS.trial(label, results.profile)) for label in (large, small))
        return check_above(f"{name} of {large}", a, small, b, better="lower")

    return check


def check_cheaper(results: Results) -> Finding:
    own, other = (read_cost(results, label) or Cell() for label in (IMPORTANCE, AR_DAE))
    return check_above("cost of AR-DAE", other, "importance sampling", own, better="lower")


class Estimators(TodayArtifact):
    experiment = ESTIMATORS
    name = "estimators"
    title = "Estimators of the generator's score: bias, deviation, cost"
    claims = (
        Claim(
            "ar-dae-less-biased",
            "AR-DAE, trained for as many rounds as the others are tuned, is less biased than importance "
            "sampling.",
            OURS,
            check_smaller("RMS bias", read_bias, AR_DAE, IMPORTANCE),
        ),
        Claim(
            "long-ar-dae-less-biased",
            "AR-DAE, trained ten times as long, is less biased than importance sampling.",
            OURS,
            check_smaller("RMS bias", read_bias, LONG_AR_DAE, IMPORTANCE),
        ),
        Claim(
            "ar-dae-smaller-error",
            "One estimate of AR-DAE is nearer to the exact score than one of HMC with the full force.",
            OURS,
            check_smaller("error", read_error, AR_DAE, FULL_HMC),
        ),
        Claim(
            "importance-cheaper",
            "A training step with importance sampling costs less than one with AR-DAE.",
            OURS,
            check_cheaper,
        ),
    )
    columns = (
        Column("estimator", "estimator"),
        Column("bias", "RMS bias", 3),
        Column("deviation", "deviation of one estimate", 3),
        Column("error", "error of one estimate", 3),
        Column("signed_bias", "signed bias", 4, only_in_csv=True),
        Column("absolute_bias", "absolute bias", 3, only_in_csv=True),
        Column("cost", "training step, in supervised steps", 1),
    )

    def trials(self, profile: Profile) -> Iterator[Trial]:
        """The estimators, and the timings of training with them."""
        yield from super().trials(profile)
        if self.experiment.data(profile):
            yield from (make_cost_trial(label, profile) for label in TRAINED_BY)

    def render(self, results: Results) -> Sheet:
        lines = [self.line(results, line.label) for line in ESTIMATORS.lines]
        text = "Per dimension of the score, lower is better"
        return self.sheet(results, text, self.columns, lines, tuple(self.notes(results)))

    def line(self, results: Results, label: str) -> dict[str, Value]:
        trial, cost = ESTIMATORS.trial(label, results.profile), read_cost(results, label)
        return {
            "estimator": label,
            "bias": read_bias(results, trial),
            "deviation": results.cell(trial, "deviation"),
            "error": read_error(results, trial),
            "signed_bias": results.cell(trial, "signed_bias"),
            "absolute_bias": results.cell(trial, "absolute_bias"),
            "cost": "" if cost is None else cost,
        }

    def notes(self, results: Results) -> Iterator[str]:
        yield (
            "RMS bias: without the Monte Carlo noise of the measured means. Error: √(bias² + deviation²). "
            "The exact score has both at 0."
        )
        if results.profile == "laptop":
            yield from describe_tuning(
                results, DENOISERS, "vera run today/estimators-grid", read_bias, "lower"
            )
