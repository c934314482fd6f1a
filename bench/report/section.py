"""One profile of the report: its banner, its scorecard, its tables and figures, its trials.

Profiles never share a table. The banner stays in sight while its section is read, and every caption names the
profile again. Every artifact has notes of its own on the choice of rows, and so has the scorecard: what is
said of one table is not said of all.
"""

from collections.abc import Sequence

from bench.artifact import Artifact, Sheet, rendered
from bench.judging.results import Results
from bench.render.headings import heading, notes
from bench.report.figure import picture
from bench.report.markup import Markup, element, together
from bench.report.scorecard import anchor, coverage, scorecard
from bench.report.sheet import table
from bench.report.trials import trial_list
from sweeps.trial.identity import Profile
from vera.errors import VeraError
from vera.wording import plural

MEANINGS: dict[Profile, str] = {
    "paper": "The paper's own setting. These numbers, and only these, are comparable with the paper's.",
    "laptop": "Small budgets. These numbers are not comparable with the paper's; only those of the paper profile are.",
    "smoke": "A few steps, to see that everything runs. These numbers are not comparable with the paper's, nor with anything else.",
}


def section(artifacts: Sequence[Artifact], results: Results) -> Markup:
    profile = results.profile
    about = [
        element("h3", "Scorecard", id=f"{profile}-scorecard"),
        _scorecard(artifacts, results.copy_without_notes()),
        element("h3", "Tables and figures", id=f"{profile}-artifacts"),
        [_artifact(artifact, results.copy_without_notes()) for artifact in artifacts],
    ]
    trials = [element("h3", "Trials", id=f"{profile}-trials"), trial_list(results)]
    parts = [banner(profile, len(results.rows)), *about, *trials]
    return element(
        "section", *parts, id=profile, class_=f"profile {profile}", aria_labelledby=f"{profile}-banner"
    )


def banner(profile: Profile, n: int) -> Markup:
    title = element("h2", f"{profile} profile", id=f"{profile}-banner")
    return element("div", title, element("p", f"{MEANINGS[profile]} {plural(n, 'trial')}."), class_="banner")


def _scorecard(artifacts: Sequence[Artifact], results: Results) -> Markup:
    score = scorecard(artifacts, results)
    return together(score, [element("p", note, class_="note") for note in results.notes])


def _artifact(artifact: Artifact, results: Results) -> Markup:
    found = coverage(artifact, results)
    done = f"Partial: {found.progress} done. To run the rest: "
    missing = {"no rows": "No trials of this have been run. To run them: ", "partial": done}.get(found.status)
    command = element("code", f"{artifact.command} --profile {results.profile}{results.flag}")
    return element(
        "article",
        element("h4", artifact.title, " ", element("span", f"{results.profile} profile", class_="tag")),
        element("p", missing, command, class_="missing") if missing else "",
        _rendering(artifact, results) if found.status != "no rows" else "",
        id=anchor(artifact, results.profile),
    )


def _rendering(artifact: Artifact, results: Results) -> Markup:
    try:
        made = rendered(artifact, results)
        body, remarks = (
            (table(made), notes(made)) if isinstance(made, Sheet) else (picture(made), list(made.notes))
        )
    except VeraError as error:
        return element("p", f"It could not be drawn: {error}", class_="missing")
    caption = element("p", made.caption, class_="caption")
    region = element("div", body, class_="wide", tabindex=0, role="region", aria_label=heading(made))
    return together(region, caption, [element("p", text, class_="note") for text in remarks])
