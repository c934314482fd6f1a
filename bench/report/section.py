"""One profile of the report: its tables and figures that have trials, their claims, and its trials.

Profiles never share a table. The banner stays visible while its section is read, and every heading names the
profile again. Notes on the choice of rows are kept apart: each artifact has its own.
"""

import io
import struct
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from bench.artifact import Artifact, Drawing, Sheet
from bench.judging.claims import Claim, Finding, summarise_judgements
from bench.judging.results import Results
from bench.locations import LOCAL
from bench.render.layout import PrintedColumn, collect_notes, lay_out, make_heading
from bench.render.plotting import STYLE, draw_figure, save_figure
from bench.report.array_images import EmbeddedImage, embed_png
from bench.report.own_sweeps import OwnSweep, find_own_sweeps
from bench.report.scorecard import ArtifactCoverage, judge_claim, measure_coverage
from bench.report.trial_detail import CommandContext, TrialDetail
from bench.report.trial_list import TrialList, build_trial_list, read_trials
from sweeps.trial.identity import Profile
from vera.errors import VeraError

CSS_DPI = 96
MEANINGS: dict[Profile, str] = {
    "paper": "The paper's own setting. Only these numbers are comparable with the paper's.",
    "laptop": "Small budgets. These numbers are not comparable with the paper's; "
    "only those of the paper profile are.",
    "smoke": "A few steps, to test that everything runs. "
    "These numbers are not comparable with the paper's or with any others.",
}


@dataclass(frozen=True)
class RenderedArtifact:
    """A table, by its columns, or a figure, by its image; with caption and notes."""

    label: str
    caption: str
    notes: Sequence[str]
    columns: Sequence[PrintedColumn] = ()
    image: EmbeddedImage | None = None


@dataclass(frozen=True)
class ArtifactArticle:
    """What the page shows of one artifact."""

    artifact: Artifact
    coverage: ArtifactCoverage
    command: str
    """The command that runs its trials."""
    claims: Sequence[tuple[Claim, Finding]] = ()
    rendering: RenderedArtifact | None = None
    error: str = ""
    """Why it could not be rendered."""

    @property
    def is_run(self) -> bool:
        return self.coverage.status != "not run"


@dataclass(frozen=True)
class ProfileSection:
    profile: Profile
    meaning: str
    own_sweeps: Sequence[OwnSweep]
    articles: Sequence[ArtifactArticle]
    """Of the artifacts with trials."""
    judgements: str
    """How many of their claims have each judgement; empty if they have none."""
    not_run: Sequence[ArtifactArticle]
    trials: TrialList


def build_section(
    artifacts: Sequence[Artifact],
    results: Results,
    grids: Collection[str],
    render: Callable[[TrialDetail], str],
) -> ProfileSection:
    """`grids` are the names of declared tuning grids; `render` makes the HTML of a trial's details. Artifacts
    that declare no trials at this profile are left out."""
    trials = read_trials(results)
    declared = [artifact for artifact in artifacts if artifact.seeds.get(results.profile, ())]
    rows = {artifact: artifact.rows(results.copy_without_notes()) for artifact in declared}
    articles = [
        _build_article(artifact, measure_coverage(artifact, results, found), results.copy_without_notes())
        for artifact, found in rows.items()
    ]
    shown = {row.trial_id for artifact, found in rows.items() if artifact.listed for row in found}
    run = [article for article in articles if article.is_run]
    counts = Counter(finding.judgement for article in run for _, finding in article.claims)
    return ProfileSection(
        results.profile,
        MEANINGS[results.profile],
        find_own_sweeps(trials, results.profile, shown, grids),
        run,
        summarise_judgements(counts) if counts else "",
        [article for article in articles if not article.is_run],
        build_trial_list(trials, _describe_context(results), render),
    )


def _describe_context(results: Results) -> CommandContext:
    models = frozenset(results.store.models.list_sizes())
    folder = str(results.store.location).removesuffix("trials").rstrip("/")
    known = results.source == "published" or folder == LOCAL
    return CommandContext(results.flag, "" if known else folder, models)


def _build_article(artifact: Artifact, coverage: ArtifactCoverage, results: Results) -> ArtifactArticle:
    command = f"{artifact.command} --profile {results.profile}{results.flag}"
    if coverage.status == "not run":
        return ArtifactArticle(artifact, coverage, command)
    rendering, error = None, ""
    try:
        rendering = _render(artifact, results)
    except VeraError as problem:
        error = str(problem)
    claims = [(claim, judge_claim(claim, results)) for claim in artifact.claims]
    return ArtifactArticle(artifact, coverage, command, claims, rendering, error)


def _render(artifact: Artifact, results: Results) -> RenderedArtifact:
    made = artifact.render_with_notes(results)
    label = make_heading(made)
    if isinstance(made, Sheet):
        return RenderedArtifact(label, made.caption, collect_notes(made), columns=lay_out(made))
    return RenderedArtifact(label, made.caption, made.notes, image=_embed_drawing(made))


def _embed_drawing(drawing: Drawing) -> EmbeddedImage:
    file = io.BytesIO()
    save_figure(draw_figure(drawing.draw, drawing.name, drawing.profile), file)
    data = file.getvalue()
    pixels = struct.unpack(">II", data[16:24])
    return embed_png(data, *(round(side * CSS_DPI / STYLE["savefig.dpi"]) for side in pixels))
