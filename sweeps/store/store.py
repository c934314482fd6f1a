"""The store: a folder of Parquet parts, one a finished trial, that any number of processes write and read at
once.

    rows/<trial_id>.parquet              written last: a trial is finished exactly when its row is there
    curves/<trial_id>-<stamp>.parquet    histories of metrics; the stamp says which attempt left them
    arrays/<trial_id>-<stamp>.parquet    samples, density images
    <kind>/compacted-<hash>.parquet      many parts in one file
    set-aside/                           files that are no parts, named in `problems`

A retry does not touch the curves of the attempt before it, so that replacing the row replaces the whole
record at once. A trial may stand in several files (a retry after a compaction, a compaction that was killed,
stores copied together): which of them counts is in sweeps/store/ranking.py. `pandas.read_parquet(folder /
"rows")` reads all rows as one table, superseded ones too until `compact()`.

The trap: a compaction removes parts while others read. A reader that misses a file lists the folder again,
for the compacted file is there before its parts go.
"""

import hashlib
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, suppress
from difflib import get_close_matches
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from sweeps.errors import AmbiguousTrial, StoreError, UnknownTrial
from sweeps.store.address import Place, folder_at
from sweeps.store.folder import LEFT, SUFFIX, Identity, Opening, explained
from sweeps.store.parts import MANY_TRIALS, BadPart, Gathering, Keep, opened, staged
from sweeps.store.ranking import RANKED, Rank, rank, rank_of
from sweeps.store.row import CurvePoint, Record, Row
from sweeps.store.schema import (
    KINDS,
    STAMP,
    Kind,
    Stamp,
    arrays_of,
    check,
    lines,
    points_of,
    rows_of,
    stamp_of,
    to_tables,
)

COMPACTED = "compacted-"
DELAY = 5.0
"""Seconds for which a network disk may hide a new file."""


class Store:
    """Finished trials in a folder."""

    def __init__(self, place: Place, create: bool = True, restore: str = "", needed: bool = True) -> None:
        """Where the place is not `needed`, one that is not there is as good as empty. `restore` is the
        command that brings back a damaged part; where there is one, such a part is not moved."""
        self.folder = folder_at(place, create, needed)
        self.problems: list[str] = []
        """Files that were no parts: which, why, and what became of them."""
        self.restore = restore
        self._moves_bad_parts = not restore

    @property
    def place(self) -> str:
        return self.folder.place

    def write(self, record: Record) -> None:
        """Keep the record, whole or not at all. It takes the place of an earlier attempt, never of a later
        one, and as a failure of none that has a result."""
        check(record)
        row = record.row
        with explained("write", self.place), ExitStack() as stack:
            ready = [
                (kind, stack.enter_context(staged(self.folder, kind, [table])))
                for kind, table in to_tables(record).items()
            ]
            with self.folder.alone():
                if self._stored_rank(row) <= rank_of(row):
                    for kind, commit in ready:
                        commit(self._part_of(row, kind))

    def rows(self) -> list[Row]:
        """Every trial's row, in the order of their ids."""
        best = _highest(map(rows_of, self._tables("rows")))
        return [best[trial_id] for trial_id in sorted(best)]

    def outcomes(self) -> dict[str, str]:
        """Trial id → outcome, without reading the rest."""
        columns = ["trial_id", *RANKED]
        found = [line for table in self._tables("rows", columns=columns) for line in lines(table, columns)]
        return {
            trial_id: outcome
            for trial_id, _, outcome, _ in sorted(found, key=lambda line: (line[0], rank(*line[1:])))
        }

    def row(self, trial_id: str) -> Row:
        """The row of the trial whose id this is, or the only one whose id begins so."""
        best = _highest(map(rows_of, self._tables("rows", (trial_id, COMPACTED))))
        found = sorted(name for name in best if name.startswith(trial_id))
        if trial_id in best or len(found) == 1:
            return best.get(trial_id) or best[found[0]]
        if found:
            raise AmbiguousTrial(_ambiguous(trial_id, found))
        raise UnknownTrial(_unknown(trial_id, self.outcomes(), self.place))

    def has_part(self, trial_id: str) -> bool:
        """Whether the trial has a row outside the compacted files, as one that was written a moment ago."""
        with explained("read", self.place):
            return self.folder.has_part("rows", trial_id)

    def ended(self, trial_id: str, attempt: int, patience: float = 0.0) -> Row | None:
        """The row of this attempt or a later one, if it was written a moment ago, and so is not compacted
        yet; waits that long. Asked for by its name: a network disk answers that truly, and may show an old
        listing for a while."""
        until = time.monotonic() + patience
        while True:
            row = self._part_row(trial_id)
            if row is not None and row.attempt >= attempt:
                return row
            if time.monotonic() >= until:
                return None
            time.sleep(0.2)

    def _part_row(self, trial_id: str) -> Row | None:
        """The trial's row if it has a part of its own; a part that is damaged, and may have to stay where it
        is, holds none."""
        with suppress(UnknownTrial):
            return self.row(trial_id) if self.has_part(trial_id) else None
        return None

    def curves(self, trial_id: str) -> list[CurvePoint]:
        """The histories of the trial's metrics, as they were written."""
        return [point for table in self._left_by(trial_id, "curves") for point in points_of(table)]

    def arrays(self, trial_id: str) -> dict[str, NDArray[Any]]:
        """The trial's arrays by name; each is the caller's own."""
        try:
            return {
                name: array
                for table in self._left_by(trial_id, "arrays")
                for name, array in arrays_of(table).items()
            }
        except (TypeError, ValueError) as error:
            raise StoreError(
                f"The arrays of trial {trial_id} in {self.place} are damaged: {error}."
            ) from error

    def compact(self) -> int:
        """Put all parts of a kind into one file, and say how many files were merged. What is added meanwhile
        stays as it is."""
        with explained("compact", self.place):
            try:
                with self.folder.compacting():
                    return self._compact()
            except BlockingIOError as error:
                raise StoreError(
                    f"Another process is compacting {self.place}: wait until it is done."
                ) from error

    def merge(self, other: Place, only: Collection[str] | None = None) -> int:
        """Copy the trials of another store (only these ids, if given) that this one lacks, has at a lower
        attempt, or as a failure of an attempt that has a result there; say how many. The other is only
        read."""
        source = Store(other, create=False)
        source._moves_bad_parts = False
        mine = {row.trial_id: rank_of(row)[:2] for row in self.rows()}
        theirs = [row for row in source.rows() if only is None or row.trial_id in only]
        wanted = {
            row.trial_id: stamp_of(row)
            for row in theirs
            if mine.get(row.trial_id, (0, False)) < rank_of(row)[:2]
        }
        with explained("merge into", self.place):
            for kind in KINDS if wanted else ():
                self._gather(kind, source, lambda name, stamp: wanted.get(name) == stamp)
        self.problems += source.problems
        return len(wanted)

    def _compact(self) -> int:
        keep, merged = self._not_superseded(), 0
        for kind in KINDS:
            if len(self._names(kind)) > 1:
                read = self._gather(kind, self, keep)
                self.folder.remove(read)
                merged += len(read)
            self.folder.remove_abandoned(kind)
        return merged

    def _gather(self, kind: Kind, source: "Store", keep: Keep) -> dict[str, Identity]:
        """One new compacted file of what is kept of the source's parts; gives the other files that were
        read."""
        gathering = Gathering(kind, source._openings(kind), keep, source._set_aside)
        with staged(self.folder, kind, gathering.groups(), MANY_TRIALS) as commit:
            if gathering.taken:
                new = f"{kind}/{COMPACTED}{gathering.digest()}{SUFFIX}"
                commit(new)
                gathering.read.pop(
                    new, None
                )  # the same records make the same name: what is new there must stay
        return gathering.read

    def _not_superseded(self) -> Keep:
        """Says of a record whether its row counts now, or may when it comes: a record whose row was not seen
        is being written. Rows are read in full: one that is damaged must not supersede a whole one."""
        rows = [row for table in self._tables("rows") for row in rows_of(table)]
        best, seen = _highest([rows]), {(row.trial_id, stamp_of(row)) for row in rows}

        def keep(name: str, stamp: Stamp) -> bool:
            if name not in best or stamp == stamp_of(best[name]):
                return True
            return (name, stamp) not in seen and rank(stamp[0], "ok", stamp[1]) > rank_of(best[name])

        return keep

    def _left_by(self, trial_id: str, kind: Kind) -> list[pa.Table]:
        """What the trial's record holds of the kind. Where that is nothing, a retry may have come between:
        read the row again."""
        row = self.row(trial_id)
        while not (tables := self._find(row, kind)) and stamp_of(self.row(row.trial_id)) != stamp_of(row):
            row = self.row(row.trial_id)
        return tables

    def _find(self, row: Row, kind: Kind) -> list[pa.Table]:
        own = self._part_of(row, kind)
        if tables := self._read(own, self.folder.opened(own), kind):
            return tables
        for name, opening in self._openings(kind, COMPACTED):
            tables = [
                _of_record(table, row) for table in self._read(name, opening, kind, trial_id=row.trial_id)
            ]
            if any(table.num_rows for table in tables):
                return tables
        return []

    def _tables(
        self, kind: Kind, beginning: str | tuple[str, ...] = "", columns: list[str] | None = None
    ) -> Iterator[pa.Table]:
        for name, opening in self._openings(kind, beginning):
            yield from self._read(name, opening, kind, columns)

    def _openings(self, kind: Kind, beginning: str | tuple[str, ...] = "") -> Iterator[tuple[str, Opening]]:
        """The files of a kind whose names begin so, until a listing shows no new one."""
        seen: set[str] = set()
        while new := {name for name in self._names(kind) if name.startswith(beginning)} - seen:
            yield from self.folder.each(f"{kind}/{name}" for name in sorted(new))
            seen |= new

    def _names(self, kind: Kind) -> set[str]:
        with explained("read", self.place):
            return {
                name for name in self.folder.names(kind) if name.endswith(SUFFIX) and not name.startswith("_")
            }

    def _read(
        self,
        name: str,
        opening: Opening,
        kind: Kind,
        columns: list[str] | None = None,
        trial_id: str | None = None,
    ) -> list[pa.Table]:
        """The tables of a part, none if it is gone or bad; a bad one is set aside."""
        with explained("read", self.place):
            try:
                with opened(opening, kind) as part:
                    return list(part.tables(columns, trial_id))
            except BadPart as bad:
                self._set_aside(name, bad)
            except FileNotFoundError:
                pass
            return []

    def _set_aside(self, name: str, bad: BadPart) -> None:
        """Name a bad part and move it out of the way, unless a good one has taken its name since, or nothing
        may be moved."""
        became = self.folder.set_aside(name, bad.identity, self._moves_bad_parts)
        again = (
            "; the next vera run trains its trials again"
            if became != LEFT and name.startswith("rows/")
            else ""
        )
        problem = f"{name} is not readable ({bad}); {became}{again}.{f' To restore it: {self.restore}' if self.restore else ''}"
        if became is not None and problem not in self.problems:
            self.problems.append(problem)

    def _stored_rank(self, row: Row) -> Rank:
        """The rank in the trial's own part; under the lock, so a bad part is not set aside but replaced."""
        try:
            with opened(self.folder.opened(self._part_of(row, "rows")), "rows") as part:
                return max(
                    rank(*line) for table in part.tables(list(RANKED)) for line in lines(table, RANKED)
                )
        except (BadPart, FileNotFoundError, ValueError):
            return (-1, False, "")

    def _part_of(self, row: Row, kind: Kind) -> str:
        """Its name. A row takes the place of an earlier one only under a lock; where there is none, its stamp
        tells them apart."""
        stamp = f"-{row.attempt}-{hashlib.sha256(row.finished_at.encode()).hexdigest()[:8]}"
        return f"{kind}/{row.trial_id}{'' if kind == 'rows' and self.folder.has_lock else stamp}{SUFFIX}"


def _highest(groups: Iterable[list[Row]]) -> dict[str, Row]:
    best: dict[str, Row] = {}
    for row in (row for rows in groups for row in rows):
        if row.trial_id not in best or rank_of(row) > rank_of(best[row.trial_id]):
            best[row.trial_id] = row
    return best


def _of_record(table: pa.Table, row: Row) -> pa.Table:
    return table.filter(pa.array([stamp == stamp_of(row) for stamp in lines(table, STAMP)], pa.bool_()))


def _ambiguous(prefix: str, found: list[str]) -> str:
    some = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
    return f"{len(found)} trials begin with '{prefix}': {some}. Give more of the id."


def _unknown(trial_id: str, known: Iterable[str], place: str) -> str:
    cut = {name[: len(trial_id)]: name for name in known}
    nearest = [cut[name] for name in get_close_matches(trial_id, cut)]
    hint = f" Nearest: {', '.join(nearest)}." if nearest else ""
    return f"No trial in {place} has the id '{trial_id}', or one that begins so.{hint}"
