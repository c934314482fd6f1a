"""The scorecard of a profile: how much of every artifact the store holds, and what the rows say of every
claim.

A trial that failed (an error, too little memory, too little time) has a row but says nothing about its
method, so it does not count as done; one that diverged does.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from bench.artifact import Artifact
from bench.judging.claims import Claim, Finding, Judgement
from bench.judging.results import Results
from bench.report.markup import Markup, element, together
from sweeps.store.row import FAILURES
from vera.errors import VeraError
from vera.wording import plural


@dataclass(frozen=True)
class Coverage:
    """Of the trials that an artifact wants at a profile, None where nobody can list them: how the stored ones
    ended."""

    wanted: int | None
    outcomes: Mapping[str, int]
    extra: int = 0
    """Stored trials of seeds that the artifact does not ask for."""

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
            return "no rows"
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
    def losses(self) -> str:
        parts = ((self.outcomes.get("diverged", 0), "diverged"), (self.failed, "failed"))
        return ", ".join(f"{n} {what}" for n, what in parts if n)


def coverage(artifact: Artifact, results: Results) -> Coverage:
    """Only the artifact's own seeds count: a fourth seed of one trial does not make up for a missing one of
    another."""
    rows = artifact.rows(results)
    if not artifact.listed:
        return Coverage(None, Counter(row.outcome for row in rows))
    seeds = artifact.seeds[results.profile]
    own = [row for row in rows if row.seed in seeds]
    wanted = len(list(artifact.trials(results.profile))) * len(seeds)
    return Coverage(wanted, Counter(row.outcome for row in own), len(rows) - len(own))


def judge(claim: Claim, results: Results) -> Finding:
    try:
        return claim.check(results)
    except VeraError as error:
        return Finding("undetermined", str(error))


def scorecard(artifacts: Sequence[Artifact], results: Results) -> Markup:
    judged = [(artifact, claim, judge(claim, results)) for artifact in artifacts for claim in artifact.claims]
    covered = [(artifact, coverage(artifact, results)) for artifact in artifacts]
    return together(_artifact_table(covered, results.profile), _claim_table(judged, results.profile))


def anchor(artifact: Artifact, profile: str) -> str:
    return f"{profile}-{artifact.name}"


def _artifact_table(covered: Sequence[tuple[Artifact, Coverage]], profile: str) -> Markup:
    rows = [
        element(
            "tr",
            element("th", _link(artifact, profile), scope="row"),
            element("td", artifact.title),
            element("td", found.status, class_=f"status {found.status.replace(' ', '-')}"),
            element("td", found.progress),
            element("td", found.losses),
        )
        for artifact, found in covered
    ]
    return _table(
        f"Tables and figures at the {profile} profile", ("artifact", "title", "status", "done", "lost"), rows
    )


def _claim_table(judged: Sequence[tuple[Artifact, Claim, Finding]], profile: str) -> Markup:
    if not judged:
        return together()
    rows = [
        element(
            "tr",
            element("th", finding.marked, scope="row", class_=f"judgement {finding.judgement}"),
            element("td", claim.text),
            element("td", _link(artifact, profile)),
            element("td", claim.where),
            element("td", finding.evidence),
        )
        for artifact, claim, finding in judged
    ]
    counts = Counter(finding.judgement for _, _, finding in judged)
    summary = " · ".join(f"{counts[judgement]} {judgement}" for judgement in get_args(Judgement))
    table = _table(
        f"Claims at the {profile} profile", (f"at {profile}", "claim", "artifact", "where", "evidence"), rows
    )
    return together(element("p", f"Claims, by the trials of the {profile} profile: {summary}"), table)


def _link(artifact: Artifact, profile: str) -> Markup:
    return element("a", artifact.name, href=f"#{anchor(artifact, profile)}")


def _table(label: str, headers: Sequence[str], rows: Sequence[Markup]) -> Markup:
    head = element("tr", [element("th", text, scope="col") for text in headers])
    table = element("table", element("thead", head), element("tbody", rows), class_="score", aria_label=label)
    return element("div", table, class_="wide")
