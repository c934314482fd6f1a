"""The generated parts of docs/reproduction.md: judgements, agreement with the paper's values, cost, what was
not run."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby, product

from bench.artifact import Artifact
from bench.costs import describe_gpu_time
from bench.judging.claims import MARKS, Claim, Finding
from bench.judging.results import Results
from bench.paper.artifacts import ARTIFACTS
from bench.paper.ledger.statements import list_artifacts, list_paper_claims
from bench.publishing.markdown import render_grid
from bench.publishing.quotes import read_published_table
from sweeps.store.row import Row
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Trial
from vera.spec.settings import by_number

FEW = 2
"""The number of comparisons that are spelled out."""
VERDICTS = ("agrees", "equal", "above", "below", "undetermined")


def render_paper_claims(*profiles: Results) -> str:
    """The paper's claims at the first of these profiles that has rows, with the evidence."""
    lines = [
        [
            f"`{artifact.name}`",
            claim.text,
            claim.where,
            f"`{profile}`",
            finding.label,
            summarise_evidence(finding),
        ]
        for artifact, claim in list_paper_claims()
        for profile, finding in _judge_first(artifact, claim, profiles)
    ]
    return render_grid(("", "claim", "where", "profile", "judgement", "evidence"), lines)


def _judge_first(artifact: Artifact, claim: Claim, profiles: Iterable[Results]) -> list[tuple[str, Finding]]:
    for results in profiles:
        own = results.copy_without_notes()
        if artifact.is_in(own):
            return [(results.profile, claim.judge(own))]
    return []


def summarise_evidence(finding: Finding) -> str:
    """The evidence; of many comparisons only how many support or refute the claim."""
    if finding.judgement == "not testable":
        return "; ".join(finding.reasons)
    if len(finding.leaves) <= FEW:
        return finding.explanation
    counts = Counter(leaf.judgement for leaf in finding.leaves)
    outlook = f"; {finding.outlook.sentence}" if finding.outlook else ""
    listed = ", ".join(f"{counts[judgement]} {judgement}" for judgement in MARKS if counts[judgement])
    return f"{len(finding.leaves)} comparisons: {listed}{outlook}"


def render_agreement() -> str:
    """For each published table at `paper`, how many of the paper's values agree with ours."""
    lines = []
    for name in sorted(ARTIFACTS, key=by_number):
        found = read_published_table(f"{name}-paper")
        for metric in _list_compared(found):
            counts = Counter(line[f"{metric}_verdict"] for line in found if line[f"{metric}_paper"])
            if decided := [str(counts[verdict]) for verdict in VERDICTS if set(counts) & set(VERDICTS)]:
                lines.append([f"`{name}`", metric.replace("_", " "), *decided, str(counts[""])])
    return render_grid(("table", "value", *VERDICTS, "no verdict"), lines)


def _list_compared(lines: Sequence[dict[str, str]]) -> list[str]:
    columns = lines[0] if lines else ()
    return [column.removesuffix("_verdict") for column in columns if column.endswith("_verdict")]


def render_cost(rows: Iterable[Row]) -> str:
    """What the published trials took, by profile."""
    ordered = sorted(rows, key=lambda row: row.profile)
    lines = [
        [f"`{profile}`", *_summarise_cost(list(found))]
        for profile, found in groupby(ordered, key=lambda row: row.profile)
    ]
    return render_grid(("profile", "trials", "diverged", "failed", "CPU-hours", "processors"), lines)


def _summarise_cost(rows: Sequence[Row]) -> list[str]:
    outcomes = Counter(row.outcome for row in rows)
    failed = outcomes["error"] + outcomes["out_of_memory"] + outcomes["timeout"]
    hours = sum(row.seconds * row.cpus for row in rows) / 3600
    processors = sorted({row.processor for row in rows})
    return [f"{len(rows):,}", str(outcomes["diverged"]), str(failed), f"{hours:.1f}", ", ".join(processors)]


def render_not_run(paper: Results) -> str:
    """The experiments at `paper` that have trials without a row, and their GPU time from counted operations.
    Artifacts with the same trials share a line."""
    names: dict[tuple[str, ...], list[str]] = {}
    lines: dict[tuple[str, ...], list[str]] = {}
    for artifact in list_artifacts():
        missing = _list_missing(artifact, paper)
        key = tuple(sorted(f"{canonical_json(trial.spec.to_dict())} {seed}" for trial, seed in missing))
        if missing:
            names.setdefault(key, []).append(f"`{artifact.name}`")
            works = [(artifact.flop(trial), trial.spec.steps) for trial, _ in missing]
            counted = [(work, steps) for work, steps in works if work is not None]
            cost = describe_gpu_time(counted) if len(counted) == len(works) else ""
            lines.setdefault(key, [str(len(missing)), cost])
    described = [[_join_names(names[key]), *line] for key, line in lines.items()]
    return render_grid(("not run, or not completely", "trials", "GPU time of these"), described)


def _list_missing(artifact: Artifact, paper: Results) -> list[tuple[Trial, int]]:
    declared, seeds = list(artifact.trials("paper")), artifact.seeds["paper"]
    return [
        (trial, seed)
        for trial, seed in product(declared, seeds)
        if seed not in {row.seed for row in paper.find_rows(trial)}
    ]


def _join_names(names: Sequence[str]) -> str:
    return (
        ", ".join(names)
        if len(names) <= 3
        else f"{names[0]} and {len(names) - 1} others with the same trials"
    )
