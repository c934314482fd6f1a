"""The whole page: head, overview and one section per profile. The page loads nothing from the network.

Jinja2 escapes every text that is not marked safe; only `style.css` and `script.js` are. As a second barrier,
the content security policy allows exactly this style and this script, by their hashes. A text that became
markup by mistake could not run.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bench.artifact import Artifact
from bench.judging.results import Results
from bench.locations import PROFILES
from bench.render.caption import describe_commit
from bench.report.curve_drawing import POINT_LIMIT
from bench.report.section import build_section
from bench.report.trial_detail import COMMIT_DIGITS
from sweeps.store.row import Row
from sweeps.trial.identity import Profile
from vera.wording import make_printable, plural

FOLDER = Path(__file__).parent
PROFILE_ORDER: tuple[Profile, ...] = PROFILES[::-1]
"""The paper's profile comes first."""
TITLE = "Energy-based models without MCMC"
SOURCES = {"local": "local: trained here", "published": "published: shipped with the code"}


def render_page(artifacts: Iterable[Artifact], found: Sequence[Results], warnings: Sequence[str] = ()) -> str:
    """The HTML document of the results of one store, one section per profile. The same rows give the same
    bytes."""
    known = list(artifacts)
    counts = {results.profile: len(results.rows) for results in found}
    style, script = _read_asset("style.css"), _read_asset("script.js")
    template = load_templates().get_template("page.html.j2")
    return template.render(
        title=TITLE,
        subtitle=f"{found[0].source} results ({', '.join(counts)} profile)",
        policy=_make_policy(style, script),
        style=style,
        script=script,
        facts=_summarise_store(found),
        contents=[(profile, counts.get(profile, 0)) for profile in PROFILE_ORDER],
        warnings=warnings,
        point_limit=POINT_LIMIT,
        sections=[build_section(known, results) for results in found],
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


def _read_asset(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _make_policy(style: str, script: str) -> str:
    return f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


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
    """Every distinct text once, the most frequent first, with its count if there are several."""
    counts = Counter(texts).most_common()
    return ", ".join(text if len(counts) == 1 else f"{text} ({n})" for text, n in counts)


def _describe_days(rows: Sequence[Row]) -> str:
    days = sorted(row.finished_at[:10] for row in rows)
    return days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
