"""The verdicts of results/README.md: what the published rows say of the claims, at each profile. Written from
the rows.

    python -m bench.publishing.claim_summary            write them, between the marks
    python -m bench.publishing.claim_summary --check    write nothing; exit code 1 if they are not what they would be

A claim that they decide at a profile has a line; those that they leave open, for they are too few, are
counted. Loads neither torch nor ray.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.artifact import Artifact
from bench.catalogue import catalogue
from bench.judging.claims import Claim
from bench.judging.results import Results
from bench.locations import PUBLISHED
from bench.publishing.marked_block import written_block
from sweeps.trial.identity import Profile
from vera.spec.settings import by_number
from vera.wording import plural

PAGE = Path("results/README.md")
SHOWN: tuple[Profile, ...] = ("laptop", "paper")
HEAD = ("| | claim | where | `laptop` | `paper` |", "|---|---|---|---|---|")
OPEN = "open"
WORDS = {"supported": "✓ supported", "refuted": "✗ refuted", "undetermined": OPEN}


def lines(folder: str) -> Iterator[str]:
    """The table's lines, its head first; where a profile has no rows at all, nothing stands."""
    found, still_open = {profile: Results.open(folder, profile, "published") for profile in SHOWN}, 0
    yield from HEAD
    for artifact in sorted(catalogue.artifacts(), key=lambda artifact: by_number(artifact.name)):
        for claim in artifact.claims:
            verdicts = [_verdict(artifact, claim, found[profile]) for profile in SHOWN]
            if {*verdicts} <= {OPEN, ""}:
                still_open += OPEN in verdicts
            else:
                yield f"| `{artifact.name}` | {claim.text} | {claim.where} | {' | '.join(verdicts)} |"
    yield from (
        "",
        f"{plural(still_open, 'more claim')} of those that have rows are open: too few to decide. All, with the evidence:",
    )
    yield "`vera report --from published`."


def _verdict(artifact: Artifact, claim: Claim, results: Results) -> str:
    apart = results.copy_without_notes()
    return WORDS[claim.check(apart).judgement] if artifact.is_in(apart) else ""


def main(argv: Sequence[str] | None = None) -> int:
    return written_block(argv, "bench.publishing.claim_summary", "verdicts", PAGE, lambda: lines(PUBLISHED))


if __name__ == "__main__":
    sys.exit(main())
