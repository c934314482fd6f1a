"""The store: a folder of Parquet parts, one per finished trial. Any number of processes read and write at
once.

    rows/<trial_id>.parquet              written last: a trial is finished once its row exists
    curves/<trial_id>-<stamp>.parquet    histories of metrics; the stamp names the attempt
    arrays/<trial_id>-<stamp>.parquet    samples, density images
    models/<trial_id>.safetensors        trained networks, see `sweeps.store.models`
    <kind>/compacted-<hash>.parquet      many parts in one file, ordered by trial id
    set-aside/                           files that are no parts, listed in `problems`

A retry does not touch the curves of the earlier attempt, so replacing the row replaces the whole record at
once. A trial may be in several files (a retry after a compaction, a killed compaction, merged stores); the
record of the highest `Rank` counts. `pandas.read_parquet(folder / "rows")` reads all rows as one table,
including superseded ones until `compact()`.

Parts are compacted as they accumulate: a writer that finds LOOSE_LIMIT of them merges them, together with
compacted files of a size of which there are several. Every record is so rewritten a few times only, and the
number of files grows with the logarithm of the number of trials.
"""

import hashlib
import random
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from difflib import get_close_matches
from itertools import groupby
from math import log
from pathlib import Path
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from sweeps.errors import AmbiguousTrial, StoreError, UnknownTrial
from sweeps.store.bucket_folder import BucketFolder
from sweeps.store.folder import SUFFIX, FileIdentity, Folder, explain_os_errors
from sweeps.store.local_folder import LocalFolder
from sweeps.store.location import Location, check_location, is_url
from sweeps.store.merging import COMPACTED, Keep, PartMerge
from sweeps.store.models import MODELS, ModelFolder
from sweeps.store.parts import (
    MANY_TRIALS,
    BadPart,
    Beginning,
    PartReader,
    drop_bad_rows,
    open_part,
    stage_part,
)
from sweeps.store.row import RANKED, CurvePoint, Rank, Record, Row, rank, rank_row
from sweeps.store.schema import (
    KEY,
    KINDS,
    Kind,
    Stamp,
    check_record,
    decode_array,
    get_stamp,
    iterate_values,
    to_curve_points,
    to_rows,
    to_stored_arrays,
    to_tables,
)

LOOSE_LIMIT = 256
"""Number of parts of single trials from which a writer compacts them."""
FAN = 4
"""Compacted files whose sizes lie within this factor are merged once there are nearly as many of them."""
DELAY = 5.0
"""Seconds for which a network disk may hide a new file."""


class Store:
    """The finished trials at one location."""

    def __init__(
        self, location: Location, create: bool = True, restore_command: str = "", needed: bool = True
    ) -> None:
        """A directory that does not exist is created, or else is an error if `needed` and an empty store if
        not. `restore_command` restores a damaged part; if there is one, bad parts are not moved."""
        check_location(location)
        self.folder: Folder = (
            BucketFolder(str(location)) if is_url(location) else LocalFolder(Path(location), create, needed)
        )
        self._parts = PartReader(self.folder, restore_command)
        self.models = ModelFolder(self.folder)
        self._compacts = True
        """Whether writing compacts; not after a compaction failed."""

    @property
    def location(self) -> str:
        """The location as it was given."""
        return self.folder.location

    @property
    def problems(self) -> list[str]:
        """One line for each bad part: its name, the reason, and what happened to it."""
        return self._parts.problems

    @property
    def restore_command(self) -> str:
        """The command that restores a damaged part, or an empty text."""
        return self._parts.restore_command

    def write(self, record: Record) -> None:
        """Store the record, completely or not at all. It replaces records of lower rank only."""
        check_record(record)
        row = record.row
        tables = to_tables(record)
        if bad := drop_bad_rows(tables["rows"], "rows")[1]:
            raise StoreError(f"The trial {row.trial_id} cannot be stored: {bad[0]}.")
        with explain_os_errors("write", self.location), ExitStack() as stack:
            ready = [
                (kind, stack.enter_context(stage_part(self.folder, kind, [table])))
                for kind, table in tables.items()
            ]
            with self.folder.lock():
                if self._read_stored_rank(row) <= rank_row(row):
                    for kind, commit in ready:
                        commit(self._name_part(row, kind))
        self._compact_loose()

    def read_rows(self) -> list[Row]:
        """The row of every trial, ordered by id."""
        best = _choose_highest(self._iterate_rows())
        return [best[trial_id] for trial_id in sorted(best)]

    def read_outcomes(self) -> dict[str, str]:
        """Trial id → outcome, without reading the other columns."""
        columns = ["trial_id", *RANKED]
        tables = self._parts.read_tables("rows", columns=columns)
        found = [values for table in tables for values in iterate_values(table, columns)]
        ordered = sorted(found, key=lambda values: (values[0], rank(*values[1:])))
        return {trial_id: outcome for trial_id, _, outcome, _ in ordered}

    def read_row(self, trial_id: str) -> Row:
        """The row of the trial with this id, or of the only trial whose id begins with it; UnknownTrial or
        AmbiguousTrial if there is none or several."""
        best = _choose_highest(self._iterate_rows((trial_id, COMPACTED), trial_id))
        found = sorted(name for name in best if name.startswith(trial_id))
        if trial_id in best or len(found) == 1:
            return best.get(trial_id) or best[found[0]]
        if found:
            raise AmbiguousTrial(_describe_ambiguous(trial_id, found))
        raise UnknownTrial(_describe_unknown(trial_id, self.read_outcomes(), self.location))

    def has_part(self, trial_id: str) -> bool:
        """Whether the trial has a row outside the compacted files, like one that was just written."""
        with explain_os_errors("read", self.location):
            return self.folder.has_part("rows", trial_id)

    def wait_for_row(self, trial_id: str, attempt: int, patience: float = 0.0) -> Row | None:
        """The row of this attempt or a later one; waits `patience` seconds for it, because a network disk may
        show an old listing for a while."""
        until = time.monotonic() + patience
        while True:
            row = self._find_row(trial_id)
            if row is not None and row.attempt >= attempt:
                return row
            if time.monotonic() >= until:
                return None
            time.sleep(0.2)

    def _find_row(self, trial_id: str) -> Row | None:
        """The row of the trial with exactly this id, if there is one that is not damaged."""
        return _choose_highest(self._iterate_rows((trial_id, COMPACTED), trial_id)).get(trial_id)

    def read_curves(self, trial_id: str) -> list[CurvePoint]:
        """The histories of the trial's metrics, as they were written."""
        return [point for table in self._read_kind(trial_id, "curves") for point in to_curve_points(table)]

    def read_arrays(self, trial_id: str) -> dict[str, NDArray[Any]]:
        """New copies of the trial's arrays by name. A damaged array is reported and left out."""
        return self._decode_arrays(trial_id, self._read_kind(trial_id, "arrays"))

    def read_many_curves(self, rows: Iterable[Row]) -> dict[str, list[CurvePoint]]:
        """Trial id → the histories in the record of each row that has any. Every file is read once."""
        found = self._read_many(rows, "curves")
        return {name: [p for table in tables for p in to_curve_points(table)] for name, tables in found}

    def read_many_arrays(self, rows: Iterable[Row]) -> Iterator[tuple[str, dict[str, NDArray[Any]]]]:
        """Trial id and arrays of each row that has any, in no order. Every file is read once. A damaged array
        is reported and left out."""
        for name, tables in self._read_many(rows, "arrays"):
            yield name, self._decode_arrays(name, tables)

    def _decode_arrays(self, trial_id: str, tables: Iterable[pa.Table]) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for stored in (each for table in tables for each in to_stored_arrays(table)):
            try:
                found[stored.name] = decode_array(stored)
            except (TypeError, ValueError) as error:
                self._parts.report(f"The array {stored.name!r} of trial {trial_id} is damaged: {error}.")
        return found

    def compact(self) -> int:
        """Merge all parts of a kind into one file. Returns the number of merged files. Parts that are written
        meanwhile are left alone."""
        with explain_os_errors("compact", self.location):
            try:
                with self.folder.lock_compaction():
                    return self._compact()
            except BlockingIOError as error:
                raise StoreError(
                    f"Another process is compacting {self.location}: wait until it is done."
                ) from error

    def merge(self, other: Location, only: Collection[str] | None = None, models: bool = True) -> int:
        """Copy the trials of another store (only these ids, if given) that this one lacks, has at a lower
        attempt, or has as a failure where the other has a result. Their models are copied too unless `models`
        is false. Returns the number of trials. The other store is not changed."""
        source = Store(other, create=False)
        source._parts.moves_bad_parts = False
        mine = {row.trial_id: rank_row(row)[:2] for row in self.read_rows()}
        theirs = [row for row in source.read_rows() if only is None or row.trial_id in only]
        wanted = {
            row.trial_id: get_stamp(row)
            for row in theirs
            if mine.get(row.trial_id, (0, False)) < rank_row(row)[:2]
        }
        if models:  # before the rows: a later merge does not look at trials whose rows are here
            self.models.copy_from(source.models, wanted)
        with explain_os_errors("merge into", self.location):
            for kind in KINDS if wanted else ():
                self._merge_parts(kind, source, lambda name, stamp: wanted.get(name) == stamp)
        self.problems.extend(source.problems)
        return len(wanted)

    def _compact(self) -> int:
        keep, merged = self._select_current(), 0
        for kind in KINDS:
            if len(self._parts.list_names(kind)) > 1:
                merged += self._replace_parts(self._merge_parts(kind, self, keep))
            self.folder.remove_abandoned(kind)
        self.folder.remove_abandoned(MODELS)
        return merged

    def _compact_loose(self) -> None:
        """Merge the parts of single trials if there are many. The new record
        is stored whatever happens here, so problems are left to a later reader."""
        if not self._compacts or (not self.folder.has_lock and random.random() > 1 / LOOSE_LIMIT):
            return
        try:
            if _count_loose(self._parts.list_names("rows")) < LOOSE_LIMIT:
                return
            with self.folder.lock_compaction():
                # Rows first: a listing of rows is complete when its trials' curves and arrays are listed.
                chosen = {kind: self._choose_files(kind) for kind in reversed(KINDS)}
                keep = self._select_current(chosen["rows"])
                for kind in KINDS:
                    if len(chosen[kind]) > 1:
                        self._replace_parts(self._merge_parts(kind, self, keep, chosen[kind]))
        except BlockingIOError:  # another process is at it
            pass
        except (OSError, StoreError):
            self._compacts = False

    def _choose_files(self, kind: Kind) -> set[str]:
        """The parts of single trials, and the compacted files of every size of which there are FAN - 1."""
        sizes = self.folder.list_sizes(kind)
        names = {name for name in self._parts.list_names(kind) if name in sizes}
        compacted = {name for name in names if name.startswith(COMPACTED)}
        levels: dict[int, set[str]] = {}
        for name in compacted:
            levels.setdefault(int(log(max(sizes[name], 1), FAN)), set()).add(name)
        return (names - compacted).union(*(found for found in levels.values() if len(found) >= FAN - 1))

    def _replace_parts(self, read: dict[str, FileIdentity]) -> int:
        """Remove the files that were merged. Returns their number."""
        self.folder.remove(read)
        return len(read)

    def _merge_parts(
        self, kind: Kind, source: "Store", keep: Keep, names: Collection[str] | None = None
    ) -> dict[str, FileIdentity]:
        """Write the kept records of the source's parts, or of those with these names, into one new file.
        Returns the other files that were read."""
        merge = PartMerge(kind, source._parts, keep, names)
        with stage_part(self.folder, kind, merge.merge_groups(), MANY_TRIALS) as commit:
            if merge.taken:
                new = f"{kind}/{COMPACTED}{merge.hash_taken()}{SUFFIX}"
                commit(new)
                merge.read.pop(new, None)  # the same records give the same name: the new file must stay
        for name, bad in merge.spoilt.items():  # not before the good rows are in the new file
            if merge.read.pop(name, None):
                source._parts.set_aside(name, bad)
        return merge.read

    def _select_current(self, names: Collection[str] | None = None) -> Keep:
        """A predicate: whether a record counts now, or may count once its row arrives, as far as the files
        with these names tell. A record without a row is still being written. Rows are read completely, so a
        damaged one does not supersede a good one."""
        best: dict[str, Rank] = {}
        seen: set[tuple[str, Stamp]] = set()
        for name, opening in self._parts.open_parts("rows", ""):
            if names is not None and name.partition("/")[2] not in names:
                continue
            for table in self._parts.read_part(name, opening, "rows"):
                for trial_id, *ranked in iterate_values(table, ("trial_id", *RANKED)):
                    found = rank(*ranked)
                    best[trial_id] = max(best.get(trial_id, found), found)
                    seen.add((trial_id, (found[0], found[2])))

        def keep(name: str, stamp: Stamp) -> bool:
            if name not in best or stamp == (best[name][0], best[name][2]):
                return True
            return (name, stamp) not in seen and rank(stamp[0], "ok", stamp[1]) > best[name]

        return keep

    def _iterate_rows(self, files: Beginning = "", beginning: str = "") -> Iterator[Row]:
        """The rows of all parts whose names begin with `files`, of trials whose id begins with `beginning`,
        superseded ones included."""
        tables = self._parts.read_tables("rows", files, beginning=beginning)
        return (row for table in tables for row in to_rows(table))

    def _read_kind(self, trial_id: str, kind: Kind) -> list[pa.Table]:
        """The tables of a kind in the trial's record. If there are none, a retry may have replaced the row,
        so the row is read again."""
        row = self.read_row(trial_id)
        while not (tables := self._find_tables(row, kind)):
            current = self.read_row(row.trial_id)
            if get_stamp(current) == get_stamp(row):
                break
            row = current
        return tables

    def _find_tables(self, row: Row, kind: Kind) -> list[pa.Table]:
        own = self._name_part(row, kind)
        if tables := self._parts.read_part(own, self.folder.open_file(own), kind):
            return tables
        for name, opening in self._parts.open_parts(kind, COMPACTED):
            read = self._parts.read_part(name, opening, kind, beginning=row.trial_id)
            tables = [_select_record(table, row) for table in read]
            if any(table.num_rows for table in tables):
                return tables
        return []

    def _read_many(self, rows: Iterable[Row], kind: Kind) -> Iterator[tuple[str, list[pa.Table]]]:
        """The tables of a kind in the record of each row, those of compacted files last."""
        own = {self._name_part(row, kind): row for row in rows}
        present = own.keys() & {f"{kind}/{name}" for name in self._parts.list_names(kind)}
        waiting = {row.trial_id: row for row in own.values()}
        for name, opening in self.folder.open_each(sorted(present)):
            if tables := self._parts.read_part(name, opening, kind):
                yield waiting.pop(own[name].trial_id).trial_id, tables
        for name, opening in self._parts.open_parts(kind, COMPACTED) if waiting else ():
            found: dict[str, list[pa.Table]] = {}
            for table in self._parts.read_part(name, opening, kind, trials=list(waiting)):
                for trial_id, part in _split_by_trial(table):
                    if (record := _select_record(part, waiting[trial_id])).num_rows:
                        found.setdefault(trial_id, []).append(record)
            for trial_id, tables in found.items():
                del waiting[trial_id]
                yield trial_id, tables

    def _read_stored_rank(self, row: Row) -> Rank:
        """The rank of the trial's own part. The caller holds the lock, so a bad part is not set aside but
        replaced."""
        try:
            with open_part(self.folder.open_file(self._name_part(row, "rows")), "rows") as part:
                tables = part.read_tables(list(RANKED))
                return max(rank(*values) for table in tables for values in iterate_values(table, RANKED))
        except (BadPart, FileNotFoundError, ValueError):
            return (-1, False, "")

    def _name_part(self, row: Row, kind: Kind) -> str:
        """The name of the row's part. A row replaces an earlier one only under a lock; without a lock its
        stamp is part of the name."""
        stamp = f"-{row.attempt}-{hashlib.sha256(row.finished_at.encode()).hexdigest()[:8]}"
        return f"{kind}/{row.trial_id}{'' if kind == 'rows' and self.folder.has_lock else stamp}{SUFFIX}"


def _choose_highest(rows: Iterable[Row]) -> dict[str, Row]:
    """Trial id → its row of the highest rank."""
    best: dict[str, Row] = {}
    for row in rows:
        if row.trial_id not in best or rank_row(row) > rank_row(best[row.trial_id]):
            best[row.trial_id] = row
    return best


def _count_loose(names: Iterable[str]) -> int:
    return sum(not name.startswith(COMPACTED) for name in names)


def _select_record(table: pa.Table, row: Row) -> pa.Table:
    mask = [key == (row.trial_id, *get_stamp(row)) for key in iterate_values(table, KEY)]
    return table.filter(pa.array(mask, pa.bool_()))


def _split_by_trial(table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Consecutive lines of one trial, without copying them."""
    start = 0
    for trial_id, lines in groupby(table.column("trial_id").to_pylist()):
        length = sum(1 for _ in lines)
        yield trial_id, table.slice(start, length)
        start += length


def _describe_ambiguous(prefix: str, found: list[str]) -> str:
    some = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
    return f"{len(found)} trials begin with '{prefix}': {some}. Give more of the id."


def _describe_unknown(trial_id: str, known: Iterable[str], location: str) -> str:
    cut = {name[: len(trial_id)]: name for name in known}
    nearest = [cut[name] for name in get_close_matches(trial_id, cut)]
    hint = f" Nearest: {', '.join(nearest)}." if nearest else ""
    return f"No trial in {location} has the id '{trial_id}', or an id that begins with it.{hint}"
