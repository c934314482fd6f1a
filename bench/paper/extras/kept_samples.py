"""Bias of HMC by the number of posterior samples kept off its chain (B.4). The paper reports,
without numbers, that keeping more does not clearly reduce the bias.

The chain and its burn-in are those of training. Kept samples follow one another on the chain, so more of them
also come from a longer chain. As in Figure 3, the bias is the RMS without its Monte Carlo noise.
"""

from collections.abc import Callable, Iterator

from bench.artifact import Column, ExperimentArtifact, Sheet, Value
from bench.judging.claims import Claim, Finding, check_above
from bench.judging.results import Results
from bench.paper.experiments.score_bias import (
    FORCES,
    KEPT,
    KEPT_COUNTS,
    KEPT_SAMPLES,
    SHORT,
    Force,
    label_hmc,
)
from bench.paper.figures.figure3 import CORRECTED, read_noise_free_bias, scale_cell
from sweeps.trial.identity import Trial

CLEAR = 0.9
"""A bias below this share of the bias with two samples is clearly smaller."""


def claim_not_reduced(force: Force) -> Callable[[Results], Finding]:
    """A claim that no number of kept samples has a clearly smaller bias; judged with the largest number."""

    def check(results: Results) -> Finding:
        few, many = (
            read_noise_free_bias(results, KEPT_SAMPLES.trial(label_hmc(force, SHORT, kept), results.profile))
            for kept in (KEPT, KEPT_COUNTS[-1])
        )
        name = f"{CORRECTED} with {KEPT_COUNTS[-1]} kept"
        return check_above(name, many, f"{CLEAR:g} of that with {KEPT}", scale_cell(few, CLEAR))

    return check


def declare_claims() -> Iterator[Claim]:
    for force, sampler in FORCES.items():
        yield Claim(
            f"more-kept-{force}",
            f"More samples kept off the chain do not clearly reduce the bias of {sampler}.",
            "B.4",
            claim_not_reduced(force),
        )


class KeptSamples(ExperimentArtifact):
    experiment = KEPT_SAMPLES
    name = "kept-samples"
    title = "Bias of HMC by the number of samples kept"
    shows_variants = False
    claims = tuple(declare_claims())
    columns = (
        Column("method", "force"),
        Column("kept", "samples kept", 0),
        Column("bias", CORRECTED, 3),
        Column("rms_bias", "RMS bias", 3),
        Column("deviation", "standard deviation", 3),
    )

    def render(self, results: Results) -> Sheet:
        lines = [self.line(results, trial) for trial in self.trials(results.profile)]
        text = f"Error of score estimates per dimension after {SHORT} burn-in transitions, lower is better"
        return self.sheet(results, text, self.columns, lines)

    def line(self, results: Results, trial: Trial) -> dict[str, Value]:
        method = trial.spec.method
        measured: dict[str, Value] = {name: results.cell(trial, name) for name in ("rms_bias", "deviation")}
        bias = read_noise_free_bias(results, trial)
        return {"method": FORCES[method["force"]], "kept": str(method["kept"]), "bias": bias, **measured}
