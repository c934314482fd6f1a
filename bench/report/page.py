"""The page: head, overview, one section for each profile. Nothing is loaded from anywhere.

The content security policy names the style and the script by their hashes and forbids all else, so that the
page asks no network, and a text that escaped as markup, should that ever happen, could still not run.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

from bench.artifact import Artifact
from bench.judging.results import Results
from bench.report.markup import Markup, element, together
from bench.report.numbers import short_commit
from bench.report.section import section
from sweeps.store.row import Row
from sweeps.trial.identity import Profile
from vera.wording import plural

HERE = Path(__file__).parent
PROFILES: tuple[Profile, ...] = tuple(reversed(get_args(Profile)))
"""The paper's own first."""
TITLE = "Energy-based models without MCMC"


def page(artifacts: Iterable[Artifact], found: Sequence[Results], warnings: Sequence[str] = ()) -> str:
    """The whole document, from the results of one store by profile. The same rows give the same bytes."""
    known = list(artifacts)
    sections = [section(known, results) for results in found]
    body = element("body", element("main", _header(found, warnings), sections))
    return f"<!DOCTYPE html>\n{element('html', _head(found), body, lang='en')}\n"


def _head(found: Sequence[Results]) -> Markup:
    style, script = (Markup((HERE / name).read_text(encoding="utf-8")) for name in ("style.css", "script.js"))
    policy = f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}"
    profiles = ", ".join(results.profile for results in found)
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", f"{TITLE}: {found[0].source} results ({profiles} profile)"),
        element("style", style),
        element("script", script),
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _header(found: Sequence[Results], warnings: Sequence[str]) -> Markup:
    rows = [row for results in found for row in results.rows]
    source = {"local": "local: trained here", "published": "published: shipped with the code"}[
        found[0].source
    ]
    facts = {
        "Store": source,
        "Trials": f"{len(rows):,}: {_counted(row.outcome for row in rows)}",
        "Finished": _span(rows),
        "Code": _counted(short_commit(row.git_commit, row.git_dirty) for row in rows),
        "Processor": _counted(row.processor for row in rows),
    }
    pairs = [together(element("dt", name), element("dd", text)) for name, text in facts.items()]
    notes = [element("p", text, class_="note") for text in warnings]
    return element("header", element("h1", TITLE), element("dl", pairs), _contents(found), notes)


def _contents(found: Sequence[Results]) -> Markup:
    """What is here, profile by profile, and what is not."""
    held = {results.profile: len(results.rows) for results in found}
    lines = [element("li", _profile_line(profile, held.get(profile, 0))) for profile in PROFILES]
    rule = element("p", "Only numbers of the paper profile are comparable with the paper's.")
    return element("nav", rule, element("ul", lines), aria_label="Profiles")


def _profile_line(profile: Profile, n: int) -> Markup:
    if not n:
        return together(f"{profile} profile: no trials")
    link = element("a", f"{profile} profile", href=f"#{profile}")
    return together(link, f": {plural(n, 'trial')} (", _inner(profile), ")")


def _inner(profile: Profile) -> Markup:
    links = [element("a", name, href=f"#{profile}-{name}") for name in ("scorecard", "artifacts", "trials")]
    return together(links[0], ", ", links[1], ", ", links[2])


def _counted(texts: Iterable[str]) -> str:
    """Each text once, the commonest first, with its number where there are several."""
    counts = Counter(texts).most_common()
    return ", ".join(text if len(counts) == 1 else f"{text} ({n})" for text, n in counts)


def _span(rows: Sequence[Row]) -> str:
    days = sorted(row.finished_at[:10] for row in rows)
    return days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
