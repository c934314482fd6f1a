"""Stability: how many of Table 3's trials diverged, and how often one began again. The paper says it in
words, not in numbers.

A trial of JEM that diverges begins again from scratch with another seed, as its authors do, at the `paper`
profile at most twice; each such restart is counted. One that diverged after its last restart counts as
diverged. Trap: few seeds without a divergence do not show that none would come; at fewer steps than the
paper's they show even less.
"""

import json
from collections.abc import Iterator, Sequence
from functools import partial

from bench.artifact import Column, Sheet, Value
from bench.judging.claims import Claim, Finding
from bench.judging.results import Results
from bench.paper.experiments.image_artifact import PictureArtifact, Sets
from bench.paper.experiments.images import Pictures, line, trial_of, trials
from sweeps.store.row import Row
from sweeps.trial.identity import Trial

VERA = ("VERA α=100", "VERA α=1")


def restarts(row: Row) -> int:
    return len(json.loads(row.restarts))


def troubled(rows: Sequence[Row]) -> int:
    """Trials that diverged in the end or on the way."""
    return sum(row.outcome == "diverged" or restarts(row) > 0 for row in rows)


def rows_of(results: Results, asked: Sequence[Pictures], *labels: str) -> list[Row]:
    """Those that came to an end of their own. One that was lost to the machine shows nothing of the
    method."""
    return [
        row for pictures in asked for label in labels
        for row in results.find_rows(trial_of(line(label), pictures, results.profile)) if row.outcome in ("ok", "diverged")
    ]  # fmt: skip


def vera_is_stable(sets: Sets, results: Results) -> Finding:
    """One divergence refutes it; none shows it only at the paper's length, with more seeds than one on every
    data set."""
    asked = sets(results.profile)
    rows = rows_of(results, asked, *VERA)
    if not rows:
        return Finding("undetermined", "VERA not run")
    evidence = f"{troubled(rows)} of {len(rows)} trials of VERA diverged or began again"
    if troubled(rows):
        return Finding("refuted", evidence)
    several = all(len(rows_of(results, [pictures], label)) > 1 for pictures in asked for label in VERA)
    whole = several and results.profile == "paper"
    return Finding("supported" if whole else "undetermined", evidence)


def jem_is_not(sets: Sets, results: Results) -> Finding:
    """One divergence shows it; none shows nothing but at the paper's length."""
    rows = rows_of(results, sets(results.profile), "JEM")
    evidence = f"{troubled(rows)} of {len(rows)} trials of JEM diverged or began again"
    if rows and troubled(rows):
        return Finding("supported", evidence)
    return Finding("refuted" if results.profile == "paper" and len(rows) > 1 else "undetermined", evidence)


class Stability(PictureArtifact):
    name = "stability"
    title = "Stability: trials of Table 3 that diverged"
    columns = (
        Column("dataset", "data"),
        Column("method", "method"),
        Column("diverged", "diverged"),
        Column("fraction", "fraction", 2),
        Column("step", "at steps"),
        Column("restarts", "restarts", 0),
        Column("failed", "otherwise lost", 0),
    )

    def claims_on(self, sets: Sets) -> Iterator[Claim]:
        yield Claim(
            "vera-is-stable",
            "VERA trains to the end without diverging.",
            "Sec. 6",
            partial(vera_is_stable, sets),
        )
        yield Claim(
            "jem-is-not",
            "JEM diverges on the way and must be begun again.",
            "Sec. 6",
            partial(jem_is_not, sets),
        )

    def render(self, results: Results) -> Sheet:
        lines = [line for pictures in self.sets(results.profile) for line in self.block(results, pictures)]
        return self.sheet(
            results,
            "Trials that diverged, of all that were run, and how often one began again",
            self.columns,
            lines,
        )

    def block(self, results: Results, pictures: Pictures) -> Iterator[dict[str, Value]]:
        for trial in trials(results.profile, [pictures]):
            yield {"dataset": pictures.name, "method": trial.label, **self.counted(results, trial)}

    def counted(self, results: Results, trial: Trial) -> dict[str, Value]:
        rows = results.find_rows(trial)
        if not rows:
            return {"diverged": "not run"}
        lost = [row for row in rows if row.outcome == "diverged"]
        return {
            "diverged": f"{len(lost)} of {len(rows)}",
            "fraction": len(lost) / len(rows),
            "step": ", ".join(f"{row.outcome_step:,}" for row in lost),
            "restarts": float(sum(map(restarts, rows))),
            "failed": float(sum(row.outcome not in ("ok", "diverged") for row in rows)),
        }
