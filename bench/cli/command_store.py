"""The store as one command uses it: opened at first use, its rows read once."""

import sys
from functools import cached_property
from typing import TYPE_CHECKING

from bench.cli.flags import RESULTS_DIR
from sweeps.errors import StoreError

if TYPE_CHECKING:
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
