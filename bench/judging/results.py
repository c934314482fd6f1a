"""The rows of one profile in a store, as tables and figures read them: rows, cells, arrays and curves of
declared trials, the first seed of a trial, and notes for the reader.

Which rows belong to a declared trial is defined in `sweeps.trial.matching`. Imports neither torch nor ray.
"""

import json
import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from numpy.typing import NDArray

from bench.judging.cell import Cell, make_cell
from bench.locations import LOCAL, PUBLISHED
from sweeps.store.location import Location, is_url, join_location
from sweeps.store.row import CurvePoint, Row
from sweeps.store.store import Store
from sweeps.trial.identity import PROTOCOL, Profile, Trial
from sweeps.trial.matching import RowMatcher

Source = Literal["local", "published"]
ONE_SEED: Mapping[Profile, tuple[int, ...]] = {"smoke": (0,), "laptop": (0,), "paper": (0,)}
"""The seeds of a figure that shows the first seed only."""


@dataclass
class Results:
    """The finished trials of one profile in one store."""

    store: Store
    profile: Profile
    source: Source = "local"
    notes: list[str] = field(default_factory=list)
    """What a reader must know about the rows that were read, each note once."""
    file_fingerprints: Mapping[str, str] = field(default_factory=dict)
    """Fingerprints of data sets whose file was read, by `make_data_key`."""
    _curves: dict[str, list[CurvePoint]] = field(default_factory=dict)
    """Curves that were read, by trial id: a table and its claims read the same ones."""

    @classmethod
    def open_profiles(
        cls,
        location: Location,
        profiles: Iterable[Profile],
        source: Source = "local",
        file_fingerprints: Mapping[str, str] | None = None,
    ) -> "list[Results]":
        """The results of several profiles. The store is opened and read once."""
        store = open_store(location)
        rows, found = store.read_rows(), []
        for profile in profiles:
            found.append(cls(store, profile, source, file_fingerprints=file_fingerprints or {}))
            found[-1].stored_rows = rows
        return found

    @property
    def flag(self) -> str:
        """The flag that a command needs to find these rows; empty for the default and the published ones."""
        location = str(self.store.location).removesuffix("trials").rstrip("/")
        if self.source == "published" or location == LOCAL:
            return ""
        return f" --results-dir {shlex.quote(location)}"

    @cached_property
    def stored_rows(self) -> list[Row]:
        """All rows of the store, of every profile and protocol."""
        return self.store.read_rows()

    @cached_property
    def rows(self) -> list[Row]:
        """All rows of the profile and the current protocol."""
        return [row for row in self.stored_rows if row.profile == self.profile and row.protocol == PROTOCOL]

    @cached_property
    def _matcher(self) -> RowMatcher:
        return RowMatcher(self.rows, self.file_fingerprints)

    def copy_without_notes(self) -> "Results":
        """The same rows, not read again, with an empty list of notes: each artifact has its own."""
        other = Results(
            self.store,
            self.profile,
            self.source,
            file_fingerprints=self.file_fingerprints,
            _curves=self._curves,
        )
        other.rows, other._matcher = self.rows, self._matcher
        return other

    def find_rows(self, trial: Trial) -> list[Row]:
        """The rows of this trial under every seed, ordered by seed. Rows with tuning seeds are found only for
        a trial that has one."""
        match = self._matcher.match(trial)
        self._add_notes(match.notes)
        restarted = sum(bool(json.loads(row.restarts)) for row in match.rows)
        if restarted:
            name = f"{trial.name} on {trial.spec.dataset['name']}"
            self._add_notes(
                [f"{name}: {restarted} of {len(match.rows)} trials began again after a divergence."]
            )
        return match.rows

    def find_all_rows(self, trials: Iterable[Trial]) -> list[Row]:
        """The rows of all these trials."""
        return [row for trial in trials for row in self.find_rows(trial)]

    def cell(self, trial: Trial, metric: str, paper: float | None = None) -> Cell:
        """A metric of the trial over its seeds."""
        return self.measure(trial, lambda row: read_metrics(row).get(metric), paper)

    def measure(self, trial: Trial, read: Callable[[Row], float | None], paper: float | None = None) -> Cell:
        """What `read` finds in the rows of the trial."""
        rows = self.find_rows(trial)
        return make_cell([(row.outcome, read(row)) for row in rows], paper, list_seeds(rows))

    def read_arrays(self, row: Row) -> dict[str, NDArray[Any]]:
        """The arrays of the row's trial by name."""
        return self.store.read_arrays(row.trial_id)

    def read_curves(self, row: Row) -> list[CurvePoint]:
        """The histories of the metrics of the row's trial."""
        if row.trial_id not in self._curves:
            self._curves[row.trial_id] = self.store.read_curves(row.trial_id)
        return self._curves[row.trial_id]

    def load_curves(self, rows: Iterable[Row]) -> None:
        """Read the histories of all these rows at once, which is much faster than one by one."""
        missing = [row for row in rows if row.trial_id not in self._curves]
        found = self.store.read_many_curves(missing)
        self._curves.update({row.trial_id: found.get(row.trial_id, []) for row in missing})

    def _add_notes(self, notes: Iterable[str]) -> None:
        self.notes += [note for note in notes if note not in self.notes]


def open_store(location: Location, create: bool = False, needed: bool = True) -> Store:
    """The store of a results directory or bucket. A directory that does not exist is an error, or, if not
    `needed`, an empty store. Damaged parts of the published results are not moved: git restores them."""
    # os.path.realpath, because Path.resolve fails on a loop of links.
    is_published = not is_url(location) and os.path.realpath(location) == os.path.realpath(PUBLISHED)
    restore = f"git checkout {PUBLISHED}" if is_published else ""
    return Store(join_location(location, "trials"), create, restore_command=restore, needed=needed)


def list_seeds(rows: Sequence[Row]) -> tuple[int, ...]:
    """The seeds of these rows; empty if one was restarted, because a restart changes the seed."""
    is_restarted = any(json.loads(row.restarts) for row in rows)
    return () if is_restarted else tuple(row.seed for row in rows)


def read_metrics(row: Row) -> dict[str, float]:
    """The final metrics of the row by name."""
    return dict(json.loads(row.metrics))


@dataclass(frozen=True)
class FirstSeed:
    """The row with the lowest seed of a trial, whatever its outcome, and its arrays and metrics."""

    row: Row | None = None
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_ok(self) -> bool:
        return self.row is not None and self.row.outcome == "ok"

    @property
    def outcome(self) -> str:
        """For readers: not run, ok, diverged, out of memory."""
        return "not run" if self.row is None else self.row.outcome.replace("_", " ")

    @property
    def failure(self) -> str:
        """Why it has no result: not run, diverged at step 17. Empty if it ended ok."""
        if self.row is None:
            return self.outcome
        return "" if self.is_ok else f"{self.outcome} at step {self.row.outcome_step:,}"


def find_first_seed(results: Results, trial: Trial, only_ok: bool = False) -> FirstSeed:
    """The first seed of a trial; with `only_ok`, the first that ended ok."""
    rows = [row for row in results.find_rows(trial) if row.outcome == "ok" or not only_ok]
    return FirstSeed(rows[0], results.read_arrays(rows[0]), read_metrics(rows[0])) if rows else FirstSeed()


def find_first_rows(results: Results, trials: Iterable[Trial]) -> list[Row]:
    """The rows of the first seed of these trials."""
    return [row for trial in trials for row in results.find_rows(trial)[:1]]
