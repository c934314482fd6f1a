"""The whole page: the user's own sweeps, the tables and figures of every profile, and all trials. The page
loads nothing from the network.

Jinja2 escapes every text that is not marked safe; only `style.css` and `script.js` are. As a second barrier,
the content security policy allows exactly this style and this script, by their hashes. A text that became
markup by mistake could not run.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from bench.artifact import Artifact
from bench.judging.results import Results
from bench.locations import PROFILES
from bench.render.caption import describe_commit
from bench.report.curve_drawing import POINT_LIMIT
from bench.report.section import ProfileSection, build_section
from bench.report.trial_detail import COMMIT_DIGITS, TrialDetail
from sweeps.store.row import Row
from sweeps.trial.identity import Profile
from vera.wording import make_printable, plural

FOLDER = Path(__file__).parent
PROFILE_ORDER: tuple[Profile, ...] = PROFILES[::-1]
"""The paper's profile comes first."""
TITLES = {"local": "Your results", "published": "Published results"}
SOURCES = {"local": "local: trained here", "published": "published: shipped with the code"}
SWEEP_TITLES = {"local": "Your sweeps", "published": "Other sweeps"}

NAMED_TEXTS = 4
"""Commits and processors that the header names."""


@dataclass(frozen=True)
class UnrunArtifact:
    """An artifact without trials at some profiles."""

    name: str
    title: str
    profiles: Sequence[Profile]
    command: str


def render_page(
    artifacts: Iterable[Artifact],
    found: Sequence[Results],
    warnings: Sequence[str] = (),
    grids: Collection[str] = (),
    refresh: int = 0,
) -> str:
    """The HTML document of the results of one store, one section per profile. The same rows give the same
    bytes. `grids` are the names of declared tuning grids. The page reloads itself every `refresh` seconds, or
    not at all if it is 0."""
    known = sorted(artifacts, key=lambda artifact: artifact.optional)  # demos last
    style, script = _read_asset("style.css"), _read_asset("script.js")
    sections = [build_section(known, results, grids, _render_detail) for results in found]
    source = found[0].source
    own = [sweep for section in sections for sweep in section.own_sweeps]
    return (
        load_templates()
        .get_template("page.html.j2")
        .render(
            title=TITLES[source],
            subtitle=", ".join(results.profile for results in found),
            policy=_make_policy(style, script),
            style=style,
            script=script,
            facts=_summarise_store(found),
            warnings=warnings,
            sections=sections,
            own_sweeps=own,
            sweep_title=SWEEP_TITLES[source],
            is_published=source == "published",
            not_run=_list_not_run(sections),
            refresh=refresh,
        )
    )


def load_templates() -> Environment:
    """The environment of the templates: texts are escaped, and undefined names are errors."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalize,
    )
    environment.filters["plural"] = plural
    return environment


def _finalize(value: Any) -> Any:
    """A text of a row without control characters, which HTML does not allow; the rest as it is."""
    return make_printable(value) if type(value) is str else value


@cache
def _load_detail_template() -> Template:
    return load_templates().get_template("trial_detail.html.j2")


def _render_detail(detail: TrialDetail) -> str:
    return _load_detail_template().render(detail=detail, point_limit=POINT_LIMIT)


def _read_asset(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _make_policy(style: str, script: str) -> str:
    return f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _list_not_run(sections: Sequence[ProfileSection]) -> list[UnrunArtifact]:
    """Every artifact that was not run at one of the profiles, without demos."""
    found: dict[str, UnrunArtifact] = {}
    for section in sections:
        for article in section.not_run:
            artifact = article.artifact
            if not artifact.optional:
                before = found.get(artifact.name)
                profiles = [*(before.profiles if before else ()), section.profile]
                command = before.command if before else article.command
                found[artifact.name] = UnrunArtifact(artifact.name, artifact.title, profiles, command)
    return list(found.values())


def _summarise_store(found: Sequence[Results]) -> dict[str, str]:
    rows = [row for results in found for row in results.rows]
    return {
        "Store": SOURCES[found[0].source],
        "Trials": f"{len(rows):,}: {_count_distinct(row.outcome for row in rows)}",
        "Finished": _describe_days(rows),
        "Code": _count_distinct(describe_commit(row, COMMIT_DIGITS, "unknown") for row in rows),
        "Processor": _count_distinct(row.processor for row in rows),
    }


def _count_distinct(texts: Iterable[str]) -> str:
    """The most frequent texts, each with its count if there are several, and the number of the others."""
    counts = Counter(texts).most_common()
    shown = [text if len(counts) == 1 else f"{text} ({n:,})" for text, n in counts[:NAMED_TEXTS]]
    others = [f"{len(counts) - NAMED_TEXTS} more"] if len(counts) > NAMED_TEXTS else []
    return ", ".join([*shown, *others])


def _describe_days(rows: Sequence[Row]) -> str:
    days = sorted(row.finished_at[:10] for row in rows)
    return days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
