"""One profile of the report: banner, scorecard, tables and figures, trials.

Profiles never share a table. The banner stays visible while its section is read, and every heading names the
profile again. Notes on the choice of rows are kept apart: each artifact has its own, and so has the
scorecard.
"""

import base64
import io
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from bench.artifact import Artifact, Drawing, Sheet
from bench.judging.results import Results
from bench.render.layout import PrintedColumn, collect_notes, lay_out, make_heading
from bench.render.plotting import STYLE, save_figure
from bench.report.scorecard import Scorecard, build_scorecard, measure_coverage
from bench.report.trial_list import TrialList, build_trial_list
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
class EmbeddedImage:
    """A PNG in base64 and its size on the page."""

    source: str
    width: int
    height: int


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
    return ArtifactArticle(artifact, missing, command, rendering, error)


def _render(artifact: Artifact, results: Results) -> RenderedArtifact:
    made = artifact.render_with_notes(results)
    label = make_heading(made)
    if isinstance(made, Sheet):
        return RenderedArtifact(label, made.caption, collect_notes(made), columns=lay_out(made))
    return RenderedArtifact(label, made.caption, made.notes, image=_embed_drawing(made))


def _embed_drawing(drawing: Drawing) -> EmbeddedImage:
    file = io.BytesIO()
    save_figure(drawing.draw(), file)
    data = file.getvalue()
    pixels = struct.unpack(">II", data[16:24])
    width, height = (round(side * CSS_DPI / STYLE["savefig.dpi"]) for side in pixels)
    return EmbeddedImage(f"data:image/png;base64,{base64.b64encode(data).decode()}", width, height)
