"""The tables of results/README.md: claims and files of each artifact, the verdicts on all claims, and the
ledger of what was run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path

from bench.artifact import Artifact
from bench.catalogue import catalogue
from bench.judging.claims import MARKS, Claim, Finding, Judgement, summarise_judgements
from bench.judging.results import Results
from bench.locations import PUBLISHED
from bench.publishing.markdown import render_grid, render_template
from sweeps.store.row import Row
from sweeps.trial.identity import Profile
from vera.spec.settings import by_number

LEDGER_HEAD = ("sweep", "profile", "trials", "not ok", "from", "to", "CPU-minutes", "commit")


def render_verdicts(*profiles: Results) -> str:
    """A line for each artifact with its claims by judgement and its published files, a line for each claim
    with rows at one of the profiles, the number of claims by judgement, and why claims are not testable. A
    profile without rows of the artifact has an empty cell."""
    lines: list[list[str]] = []
    scores: list[list[str]] = []
    reasons: dict[str, None] = {}
    counts: dict[Profile, Counter[Judgement]] = {results.profile: Counter() for results in profiles}
    for artifact in sorted(catalogue.artifacts(), key=lambda artifact: by_number(artifact.name)):
        own: dict[Profile, Counter[Judgement]] = {profile: Counter() for profile in counts}
        for claim in artifact.claims:
            found = {results.profile: _judge(artifact, claim, results) for results in profiles}
            for profile, finding in found.items():
                if finding is not None:
                    own[profile][finding.judgement] += 1
                if finding is not None and finding.judgement == "not testable":
                    why = "; ".join(finding.reasons)
                    reasons[f"`{artifact.name}` at `{profile}`: {why}"] = None
            if any(found.values()):
                cells = [_describe_finding(finding) for finding in found.values()]
                lines.append([f"`{artifact.name}`", claim.text, claim.where, *cells])
        files = link_files(artifact.name, Path(PUBLISHED))
        if files or any(own.values()):
            scores.append([artifact.title, *map(_count_judgements, own.values()), files])
        for profile in counts:
            counts[profile] += own[profile]
    summaries = {profile: summarise_judgements(of_profile) for profile, of_profile in counts.items()}
    names = [f"`{profile}`" for profile in counts]
    return render_template(
        "verdicts",
        score_head=["", *(f"claims at {name}" for name in names), "files"],
        scores=scores,
        head=["", "claim", "where", *names],
        lines=lines,
        summaries=summaries,
        reasons=list(reasons),
    )


def _count_judgements(counts: Mapping[Judgement, int]) -> str:
    """Such as 8 ✓ 1 ✗ 5 ?."""
    return " ".join(
        f"{counts[judgement]} {mark}" for judgement, mark in MARKS.items() if counts.get(judgement)
    )


def link_files(name: str, folder: Path) -> str:
    """The tables and figures of the artifact, without those on other data."""
    links = []
    for kind, place in (("table", f"tables/{name}{{}}.md"), ("figure", f"figures/{name}{{}}.png")):
        for suffix in ("", "-paper"):
            file = folder / place.format(suffix)
            if file.is_file():
                links.append(f"[{kind}{suffix.replace('-', ' ')}]({folder.name}/{place.format(suffix)})")
    return " · ".join(links)


def _judge(artifact: Artifact, claim: Claim, results: Results) -> Finding | None:
    """The finding; None if the results hold no rows of the artifact."""
    own = results.copy_without_notes()
    return claim.judge(own) if artifact.is_in(own) else None


def _describe_finding(finding: Finding | None) -> str:
    """The judgement, and for an undetermined claim the number of seeds that would decide it, where that is
    known."""
    if finding is None or finding.outlook is None:
        return "" if finding is None else finding.label
    return f"{finding.label} ({finding.outlook.count})"


def render_ledger(rows: Sequence[Row]) -> str:
    """One line per sweep and profile, `laptop` first. Minutes are CPU time of training and measuring, summed
    over trials."""
    ordered = sorted(rows, key=lambda row: (row.profile != "laptop", row.profile, by_number(name_run(row))))
    groups = groupby(ordered, key=lambda row: (name_run(row), row.profile))
    return render_grid(LEDGER_HEAD, ([*key, *_summarise_run(list(found))] for key, found in groups))


def name_run(row: Row) -> str:
    """The sweep, and the data if --dataset replaced those that the sweep declares."""
    declared = _list_declared_data(row.sweep, row.profile)
    return f"{row.sweep} on {row.dataset}" if declared and row.dataset not in declared else row.sweep


@cache
def _list_declared_data(sweep: str, profile: Profile) -> set[str]:
    """Names of data sets; none for a search or a trial file, which the catalogue does not know."""
    known = sweep in catalogue.sweep_names()
    return (
        {trial.spec.dataset["name"] for trial in catalogue.sweep(sweep).trials(profile)} if known else set()
    )


def _summarise_run(rows: Sequence[Row]) -> list[str]:
    minutes = sum(row.seconds * row.cpus for row in rows) / 60
    commits = {f"`{row.git_commit[:7]}`{' (changed)' if row.git_dirty else ''}" for row in rows}
    return [
        str(len(rows)),
        str(sum(row.outcome != "ok" for row in rows)),
        _format_minute(min(row.started_at for row in rows)),
        _format_minute(max(row.finished_at for row in rows)),
        f"{minutes:,.0f}",
        ", ".join(sorted(commits)),
    ]


def _format_minute(time: str) -> str:
    return time[:16].replace("T", " ")
