"""How much of an artifact the store holds, and the judgement of its claims.

A failed trial (error, out of memory, timeout) has a row but says nothing about its method, so it does not
count as done. A diverged trial does.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.artifact import Artifact
from bench.judging.claims import Claim, Finding
from bench.judging.results import Results
from sweeps.store.row import FAILURES, Row
from vera.errors import VeraError
from vera.wording import plural


@dataclass(frozen=True)
class ArtifactCoverage:
    """The outcomes of an artifact's stored trials, and how many trials it wants at the profile."""

    wanted: int | None
    """None if the trials cannot be listed in advance."""
    outcomes: Mapping[str, int]
    extra: int = 0
    """Stored trials with seeds that the artifact does not ask for."""

    @property
    def stored(self) -> int:
        return sum(self.outcomes.values())

    @property
    def failed(self) -> int:
        return sum(self.outcomes.get(outcome, 0) for outcome in FAILURES)

    @property
    def done(self) -> int:
        return self.stored - self.failed

    @property
    def status(self) -> str:
        if self.wanted == 0:
            return "needs no trials"
        if not self.stored + self.extra:
            return "not run"
        if self.wanted is None:
            return "open-ended"
        return "complete" if self.done == self.wanted else "partial"

    @property
    def progress(self) -> str:
        if self.wanted is None:
            return plural(self.done, "trial")
        more = f", and {self.extra} of other seeds" if self.extra else ""
        return f"{self.done} of {plural(self.wanted, 'trial')}{more}" if self.wanted else ""

    @property
    def failures(self) -> str:
        """The numbers of diverged and of failed trials, as far as there are any."""
        counts = {"diverged": self.outcomes.get("diverged", 0), "failed": self.failed}
        return ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)


def measure_coverage(
    artifact: Artifact, results: Results, rows: Sequence[Row] | None = None
) -> ArtifactCoverage:
    """Counts only the artifact's own seeds: a fourth seed of one trial does not replace a missing one of
    another. `rows` are those of the artifact, if they were read already."""
    rows = artifact.rows(results) if rows is None else rows
    if not artifact.listed:
        return ArtifactCoverage(None, Counter(row.outcome for row in rows))
    seeds = artifact.seeds.get(results.profile, ())
    own = [row for row in rows if row.seed in seeds]
    wanted = len(list(artifact.trials(results.profile))) * len(seeds)
    return ArtifactCoverage(wanted, Counter(row.outcome for row in own), len(rows) - len(own))


def judge_claim(claim: Claim, results: Results) -> Finding:
    """The finding of the claim; undetermined if its rows cannot be read."""
    try:
        return claim.judge(results)
    except VeraError as error:
        return Finding("undetermined", str(error))
