"""The flow of Table 2 by newer methods, beside the lines of Table 2: exact test log-likelihood in nats.

A flow is normalised, so NCE and SNL need no estimate of log Z here, and short-run training is judged by the
density that it leaves. The distance is that between exact samples of the flow and the samples that trained
it, in pixels; methods without samples have none.

Trap: seconds of the lines of the paper and of the newer ones may come from different days; the captions of
both tables name the commits.
"""

from collections.abc import Callable, Iterator

from bench.artifact import Column, Sheet, Value
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, check_above, require_all
from bench.judging.results import Results
from bench.paper.experiments.families import NCE
from bench.paper.tables.table2 import BEST, DISTANCE, LIKELIHOOD, read_sigma
from bench.today.experiments.flow import FLOW, NEW_FLOWS, NEW_LINES
from bench.today.plane_results import count_rows, read_seconds
from bench.today.tables.density import OURS
from bench.today.today_artifact import TodayArtifact
from bench.today.tuning import describe_tuning
from sweeps.trial.identity import Trial

VERA, AR_DAE = "VERA λ=1", "VERA-AR-DAE λ=1"
NEWER = (NCE, *(line.label for line in NEW_LINES))


def read_likelihood(results: Results, label: str) -> Cell:
    return results.cell(FLOW.trial(label, results.profile), LIKELIHOOD)


def claim_above(high: str, *rivals: str) -> Callable[[Results], Finding]:
    """A claim that a line is above each of its rivals."""

    def check(results: Results) -> Finding:
        own = read_likelihood(results, high)
        return require_all(
            [check_above(high, own, rival, read_likelihood(results, rival)) for rival in rivals]
        )

    return check


class Flow(TodayArtifact):
    experiment = FLOW
    name = "flow"
    title = "Test log-likelihood of the flow of Table 2, newer methods included"
    claims = (
        Claim(
            "vera-beats-newer",
            "VERA (λ = 1) beats NCE, SNL, energy discrepancy, CD and short-run training.",
            OURS,
            claim_above(VERA, *(label for label in NEWER if label != AR_DAE)),
        ),
        Claim(
            "noise-contrast-fails",
            "With a Gaussian noise density NCE falls behind VERA in 196 dimensions.",
            OURS,
            claim_above(VERA, NCE),
        ),
        Claim(
            "discrepancy-beats-score-matching",
            "Energy discrepancy, which needs no derivative in x, beats SSM and DSM.",
            OURS,
            claim_above("ED", "SSM", "DSM"),
        ),
        Claim(
            "importance-beats-ar-dae",
            "Importance sampling trains a better flow than AR-DAE's entropy gradient.",
            OURS,
            claim_above(VERA, AR_DAE),
        ),
        Claim(
            "ml-is-best",
            "Maximum likelihood is above every newer method.",
            OURS,
            claim_above("ML", *NEWER),
        ),
    )
    columns = (
        Column("method", "method"),
        Column(LIKELIHOOD, "test log-likelihood", 1),
        Column(BEST, "best on test", 1),
        Column(DISTANCE, "distance of training samples", 3),
        Column("sigma", "σ", 2),
        Column("seconds", "seconds", 0),
        Column("diverged_trials", "diverged trials"),
    )

    def render(self, results: Results) -> Sheet:
        lines = [self.line(results, trial) for trial in self.trials(results.profile)]
        return self.sheet(results, "Nats, higher is better", self.columns, lines, tuple(self.notes(results)))

    def line(self, results: Results, trial: Trial) -> dict[str, Value]:
        distance, rows = results.cell(trial, DISTANCE), results.find_rows(trial)
        return {
            "method": trial.label,
            LIKELIHOOD: results.cell(trial, LIKELIHOOD),
            BEST: results.cell(trial, BEST),
            DISTANCE: distance if distance.values else "",
            "sigma": read_sigma(results, trial),
            "seconds": results.measure(trial, read_seconds),
            "diverged_trials": count_rows(rows, lambda row: row.outcome == "diverged"),
        }

    def notes(self, results: Results) -> Iterator[str]:
        yield (
            "Best on test: the highest of all evaluations during training, chosen on the test set "
            "(optimistic, not a reported result). The lines of Table 2, and NCE, are trials of Tables 2 and "
            "1 with the settings chosen there."
        )
        if results.profile == "laptop":
            yield from describe_tuning(
                results,
                NEW_FLOWS,
                "vera run today/flow-grid",
                lambda r, trial: r.cell(trial, LIKELIHOOD),
                "higher",
            )
