"""Settings of B.3 that fail: PCD with a gradient penalty does worse than without; PCD with 20 steps of noise
1, and CoopNet with the learning rates of its own code, diverge.

At `laptop` these settings are tried on the small flow, with the rest of each line as in Table 2. Trap: a
setting that diverges at one size need not at another, so a claim that some setting diverges is not refuted by
trials of the small flow.
"""

from collections.abc import Callable, Iterator

from bench.artifact import Column, ExperimentArtifact, Sheet, Value
from bench.judging.claims import Claim, Finding, check_above, require_all
from bench.judging.results import Results
from bench.paper.experiments.nice import (
    FAILING_SETTINGS,
    FAST_COOPNET,
    NICE,
    NOISY_PCD,
    PENALISED_PCD,
)
from bench.paper.tables.table2 import LIKELIHOOD, read_cell
from sweeps.trial.identity import Profile, Trial

UNSTABLE = (NOISY_PCD, *FAST_COOPNET)
SMALLER = "a small flow that stays stable in 3,000 steps says nothing about the paper's in 187,200"


def check_penalty_hurts(results: Results) -> Finding:
    """A penalised PCD that diverged in every seed does worse than one that did not."""
    own = results.cell(FAILING_SETTINGS.trial(PENALISED_PCD, results.profile), LIKELIHOOD)
    without = read_cell(results, "PCD")
    if own.total > 1 and own.diverged == own.total and without.n == without.total > 1:
        return Finding("supported", f"{PENALISED_PCD}: {own.reason}; PCD: no seed diverged")
    return check_above("PCD", without, PENALISED_PCD, own)


def claim_diverges(*labels: str) -> Callable[[Results], Finding]:
    """A claim that most seeds of each of these settings diverge."""

    def check(results: Results) -> Finding:
        return require_all([check_diverges(results, label) for label in labels])

    return check


def check_diverges(results: Results, label: str) -> Finding:
    """Supported if most of at least two seeds diverged. Fewer refute it at `paper` only."""
    cell = results.cell(FAILING_SETTINGS.trial(label, results.profile), LIKELIHOOD)
    evidence = f"{label}: {cell.diverged} of {cell.total} diverged"
    if cell.total < 2:
        return Finding("undetermined", evidence if cell.total else f"{label} not run")
    if 2 * cell.diverged > cell.total:
        return Finding("supported", evidence)
    if results.profile != "paper":
        return Finding("not testable", SMALLER, measured=evidence)
    return Finding("refuted", evidence)


class FailingSettings(ExperimentArtifact):
    experiment = FAILING_SETTINGS
    name = "failing-settings"
    title = "Settings that fail in the paper"
    claims = (
        Claim(
            "penalty-hurts-pcd",
            "With a gradient penalty PCD does worse than without.",
            "B.3",
            check_penalty_hurts,
        ),
        Claim(
            "noisy-pcd-diverges",
            "PCD with 20 steps and noise 1.0 diverges.",
            "B.3",
            claim_diverges(NOISY_PCD),
        ),
        Claim(
            "fast-coopnet-diverges",
            "CoopNet with the learning rates .007 and .0001 diverges.",
            "B.3",
            claim_diverges(*FAST_COOPNET),
        ),
    )
    columns = (
        Column("method", "setting"),
        Column(LIKELIHOOD, "test log-likelihood", 1),
        Column("step", "diverged at steps"),
    )

    def render(self, results: Results) -> Sheet:
        trials = list(self.list_lines(results.profile))
        lines = [self.line(results, trial) for trial in trials]
        text = "Test log-likelihood in nats, higher is better; PCD and CoopNet as in Table 2 for comparison"
        return self.sheet(results, text, self.columns, lines)

    def list_lines(self, profile: Profile) -> Iterator[Trial]:
        """The settings, each method after its line of Table 2."""
        for base in ("PCD", "CoopNet"):
            yield NICE.trial(base, profile)
            yield from (trial for trial in self.trials(profile) if trial.label.startswith(base))

    def line(self, results: Results, trial: Trial) -> dict[str, Value]:
        diverged = [row for row in results.find_rows(trial) if row.outcome == "diverged"]
        steps = ", ".join(f"{row.outcome_step:,}" for row in diverged)
        return {"method": trial.label, LIKELIHOOD: results.cell(trial, LIKELIHOOD), "step": steps}
