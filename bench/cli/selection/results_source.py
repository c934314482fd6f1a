"""Which results a command reads, the user's own or the published ones, and where it writes files."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from bench.locations import LOCAL, PUBLISHED, REMOTE
from sweeps.errors import StoreError

if TYPE_CHECKING:
    from bench.judging.results import Source


def choose_sources(arguments: argparse.Namespace) -> "dict[Source, str]":
    """Source → results directory, in the order in which they are searched. A user who names a results
    directory is not shown others."""
    if arguments.source == "published":
        require_published("--from published")
        return {"published": PUBLISHED}
    own: dict[Source, str] = {"local": str(arguments.results_dir)}
    if arguments.source is None and arguments.results_dir == LOCAL:
        own["published"] = PUBLISHED
    return own


def require_published(flag: str) -> None:
    """Raise StoreError if the published results are not in the working directory."""
    if not has_published():
        raise StoreError(
            f"{flag} reads {PUBLISHED}, which is not here. Run the command in a checkout of the repository."
        )


def has_published() -> bool:
    return Path(PUBLISHED, "trials").is_dir()


def hint_published(arguments: argparse.Namespace) -> str:
    """A hint at --from published, for a user who named an empty results directory."""
    if arguments.source is None and arguments.results_dir != LOCAL:
        return "; to see the published results: --from published"
    return ""


def find_output_folder(results_dir: str) -> Path:
    """The directory for tables, figures and the report: the results directory or, for a bucket, a local
    directory with the name and prefix of the bucket."""
    from sweeps.store.location import BucketLocation, is_url

    if not is_url(results_dir):
        return Path(results_dir)
    address = BucketLocation.parse(results_dir)
    folders = (name for name in address.prefix.split("/") if name not in ("", ".", ".."))
    return Path(REMOTE, address.bucket, *folders)
