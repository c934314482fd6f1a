"""The verdicts in results/README.md: what the published rows say of each claim, at `laptop` and at `paper`.

A claim that is decided at one of the profiles gets a line. Claims with rows that leave them open are counted.
"""

from typing import Any

from bench.artifact import Artifact
from bench.catalogue import catalogue
from bench.judging.claims import Claim
from bench.judging.results import Results
from bench.publishing.markdown_templates import render_template
from vera.spec.settings import by_number
from vera.wording import plural

OPEN = "open"
WORDS = {"supported": "✓ supported", "refuted": "✗ refuted", "undetermined": OPEN}


def render_verdicts(*profiles: Results) -> str:
    """The table of decided claims and the number of open ones. A profile without rows has an empty cell."""
    decided: list[dict[str, Any]] = []
    still_open = 0
    for artifact in sorted(catalogue.artifacts(), key=lambda artifact: by_number(artifact.name)):
        for claim in artifact.claims:
            verdicts = [_judge(artifact, claim, results) for results in profiles]
            if {*verdicts} <= {OPEN, ""}:
                still_open += OPEN in verdicts
            else:
                decided.append(
                    {
                        "artifact": artifact.name,
                        "text": claim.text,
                        "where": claim.where,
                        "verdicts": verdicts,
                    }
                )
    return render_template("verdicts", decided=decided, open_claims=plural(still_open, "more claim"))


def _judge(artifact: Artifact, claim: Claim, results: Results) -> str:
    own = results.copy_without_notes()
    return WORDS[claim.check(own).judgement] if artifact.is_in(own) else ""
