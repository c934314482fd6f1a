"""Which results a command reads, the user's own or the published ones, and where it writes files."""

import argparse
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bench.cli.flags import RESULTS_DIR
from bench.locations import LOCAL, PUBLISHED, REMOTE
from sweeps.errors import StoreError

if TYPE_CHECKING:
    from bench.judging.results import Source
    from sweeps.store.row import Row
    from sweeps.store.store import Store


class CommandStore:
    """A results directory or bucket. A directory that does not exist is an empty store, unless `create` makes
    it."""

    def __init__(self, results_dir: str, create: bool = False) -> None:
        self.results_dir, self.create = results_dir, create
        self._printed: list[str] = []

    @cached_property
    def store(self) -> "Store":
        from bench.judging.results import open_store
        from sweeps.store.location import is_url

        try:
            return open_store(self.results_dir, self.create, needed=False)
        except StoreError as error:
            if RESULTS_DIR in str(error) or is_url(self.results_dir):
                raise
            raise StoreError(f"{error} Choose another directory with {RESULTS_DIR}.") from error

    @cached_property
    def rows(self) -> "list[Row]":
        """All rows, as they were when they were first read."""
        return self.store.read_rows()

    @property
    def outcomes(self) -> dict[str, str]:
        """Trial id → outcome, from `rows`."""
        return {row.trial_id: row.outcome for row in self.rows}

    def print_problems(self) -> None:
        """Name damaged files on stderr, each once. They are set aside, so a later command does not see
        them."""
        for problem in self.store.problems:
            if problem not in self._printed:
                print(f"vera: {problem}", file=sys.stderr)
                self._printed.append(problem)


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
