"""One profile of the report: banner, scorecard, tables and figures, trials.

Profiles never share a table. The banner stays visible while its section is read, and every heading names the
profile again. Notes on the choice of rows are kept apart: each artifact has its own, and so has the
scorecard.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.artifact import Artifact, Sheet
from bench.judging.results import Results
from bench.render.headings import collect_notes, make_heading
from bench.report.embedded_image import EmbeddedImage, embed_drawing
from bench.report.html_table import HtmlTable, build_table
from bench.report.scorecard import Scorecard, build_scorecard, make_anchor, measure_coverage
from bench.report.trial_list import TrialList, build_trial_list
from sweeps.trial.identity import Profile
from vera.errors import VeraError

MEANINGS: dict[Profile, str] = {
    "paper": "The paper's own setting. Only these numbers are comparable with the paper's.",
    "laptop": "Small budgets. These numbers are not comparable with the paper's; "
    "only those of the paper profile are.",
    "smoke": "A few steps, to test that everything runs. "
    "These numbers are not comparable with the paper's or with any others.",
}


@dataclass(frozen=True)
class RenderedArtifact:
    """A table or figure with its caption and notes."""

    label: str
    content: HtmlTable | EmbeddedImage
    caption: str
    notes: Sequence[str]

    @property
    def is_table(self) -> bool:
        return isinstance(self.content, HtmlTable)


@dataclass(frozen=True)
class ArtifactArticle:
    """What the page shows of one artifact."""

    anchor: str
    title: str
    missing: str
    """What is missing of it; empty if it is complete."""
    command: str
    """The command that runs what is missing."""
    rendering: RenderedArtifact | None = None
    error: str = ""
    """Why it could not be rendered."""


@dataclass(frozen=True)
class ProfileSection:
    profile: Profile
    meaning: str
    trials: TrialList
    scorecard: Scorecard
    articles: Sequence[ArtifactArticle]


def build_section(artifacts: Sequence[Artifact], results: Results) -> ProfileSection:
    return ProfileSection(
        results.profile,
        MEANINGS[results.profile],
        build_trial_list(results),
        build_scorecard(artifacts, results.copy_without_notes()),
        [_build_article(artifact, results.copy_without_notes()) for artifact in artifacts],
    )


def _build_article(artifact: Artifact, results: Results) -> ArtifactArticle:
    coverage = measure_coverage(artifact, results)
    missing = {
        "not run": "No trials of this have been run. To run them: ",
        "partial": f"Partial: {coverage.progress} done. To run the rest: ",
    }.get(coverage.status, "")
    rendering, error = None, ""
    if coverage.status != "not run":
        try:
            rendering = _render(artifact, results)
        except VeraError as problem:
            error = str(problem)
    command = f"{artifact.command} --profile {results.profile}{results.flag}"
    anchor = make_anchor(artifact, results.profile)
    return ArtifactArticle(anchor, artifact.title, missing, command, rendering, error)


def _render(artifact: Artifact, results: Results) -> RenderedArtifact:
    made = artifact.render_with_notes(results)
    if isinstance(made, Sheet):
        return RenderedArtifact(make_heading(made), build_table(made), made.caption, collect_notes(made))
    return RenderedArtifact(make_heading(made), embed_drawing(made), made.caption, made.notes)
