"""Merging of parts: many files become one, ordered by trial id, each record once.

The rows of every input file lie in row groups with a known range of ids. A row group is loaded when the merge
reaches its lowest id and released when the merge has passed its highest, so memory holds only groups whose
ranges overlap: a few of compacted files, which are ordered, and one of each loose part. Reading and writing
take time proportional to the content.

The order makes lookups cheap and is not relied on: readers prune by the ranges that the file states.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from heapq import merge

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sweeps.errors import StoreError
from sweeps.store.folder import FileIdentity, Opening
from sweeps.store.parts import BadPart, Part, PartReader, drop_bad_rows, open_part
from sweeps.store.row import SCHEMA_VERSION
from sweeps.store.schema import KEY, Kind, Stamp, iterate_values

COMPACTED = "compacted-"
"""The beginning of the names of files that hold many trials."""
Key = tuple[str, int, str]
"""(trial_id, attempt, finished_at): one record."""
Keep = Callable[[str, Stamp], bool]
"""Whether a record, given by trial id and stamp, is kept."""
GROUP_BYTES = 4 * 2**20
"""Size of a row group in a compacted file. Finding one trial reads one group."""
Run = tuple[str, Callable[[], pa.Table | None]]
"""The lowest trial id of some rows, and the function that loads them; None if there are none."""


@dataclass
class PartMerge:
    """Merges parts into one. `read`, `taken` and `spoilt` are complete when `merge_groups` is exhausted."""

    kind: Kind
    reader: PartReader
    keep: Keep
    names: Collection[str] | None = None
    """The files to merge; None for all."""
    read: dict[str, FileIdentity] = field(default_factory=dict)
    """The files that were read."""
    taken: dict[Key, str] = field(default_factory=dict)
    """The records that were kept → the file that they were taken from."""
    spoilt: dict[str, BadPart] = field(default_factory=dict)
    """Files with bad rows, whose other rows were kept."""

    def merge_groups(self) -> Iterator[pa.Table]:
        """The kept records in tables of about GROUP_BYTES, ordered by trial id."""
        waiting: list[pa.Table] = []
        size = 0
        for tables in self._read_ordered():
            waiting += tables
            size += sum(table.nbytes for table in tables)
            if size > GROUP_BYTES:
                yield _join(waiting)
                waiting, size = [], 0
        if waiting:
            yield _join(waiting)

    def hash_taken(self) -> str:
        """A hash of the records that were kept: the same records give the same file name."""
        return hashlib.sha256(repr((SCHEMA_VERSION, sorted(self.taken))).encode()).hexdigest()[:16]

    def _read_ordered(self) -> Iterator[list[pa.Table]]:
        """The kept records, see `_interleave`. Files of a later listing follow in an order of their own."""
        listings = [set(self.names)] if self.names is not None else self.reader.list_until_complete(self.kind)
        for names in listings:
            with ExitStack() as stack:
                groups = self._list_groups([name for name in names if name.startswith(COMPACTED)], stack)
                parts = self._list_parts([name for name in names if not name.startswith(COMPACTED)])
                yield from _interleave(merge(sorted(groups, key=_get_low), parts, key=_get_low))

    def _list_groups(self, names: Iterable[str], stack: ExitStack) -> Iterator[Run]:
        """The row groups of compacted files, which stay open on the stack. Nothing is taken from a damaged
        file."""
        for file in sorted(names):
            name = f"{self.kind}/{file}"
            try:
                part = stack.enter_context(open_part(self.reader.folder.open_file(name), self.kind))
                part.verify()
                ranges = [part.find_range(index) for index in range(part.parquet.num_row_groups)]
            except BadPart as bad:
                self.reader.set_aside(name, bad)
                continue
            except FileNotFoundError:
                continue
            self.read[name] = part.identity
            for index, found in enumerate(ranges):
                yield (found[0] if found else "", partial(self._load_group, name, part, index))

    def _load_group(self, name: str, part: Part, index: int) -> pa.Table | None:
        try:
            return self._keep_records(name, part, part.read_group(index))
        except BadPart as bad:
            if part.parquet.num_row_groups > 1:  # verified a moment ago
                raise StoreError(f"{name} changed while it was read ({bad}). Try again.") from bad
            del self.read[name]
            self.reader.set_aside(name, bad)
            return None

    def _list_parts(self, names: Collection[str]) -> Iterator[Run]:
        """The parts of single trials, opened one after the other."""
        openings = self.reader.folder.open_each(f"{self.kind}/{file}" for file in sorted(names))
        for name, opening in openings:
            file = name.partition("/")[2]
            yield file.partition(".")[0], partial(self._load_part, name, opening)

    def _load_part(self, name: str, opening: Opening) -> pa.Table | None:
        try:
            with open_part(opening, self.kind) as part:
                tables = list(part.read_tables())
                self.read[name] = part.identity
                kept = [self._keep_records(name, part, table) for table in tables]
        except BadPart as bad:
            self.reader.set_aside(name, bad)
            return None
        except FileNotFoundError:
            return None
        found = [table for table in kept if table is not None]
        return pa.concat_tables(found) if found else None

    def _keep_records(self, name: str, part: Part, table: pa.Table) -> pa.Table | None:
        """The valid rows that are kept and were not taken from another file; None if there are none."""
        table, reasons = drop_bad_rows(table, self.kind)
        if reasons:
            self.spoilt.setdefault(name, BadPart(reasons[0], part.identity))
        mask = np.zeros(table.num_rows, np.bool_)
        for key, start, stop in list_records(table):
            if self.taken.get(key, name) == name and self.keep(key[0], key[1:]):
                self.taken[key] = name
                mask[start:stop] = True
        if mask.all():
            return table if table.num_rows else None
        return table.filter(pa.array(mask)) if mask.any() else None


def list_records(table: pa.Table) -> list[tuple[Key, int, int]]:
    """(key, start, stop) for each stretch of rows of one record."""
    count = table.num_rows
    if not count:
        return []
    changes = np.zeros(count - 1, np.bool_)
    for name in KEY:
        column = table.column(name).combine_chunks()
        changes |= pc.not_equal(column.slice(1), column.slice(0, count - 1)).to_numpy(zero_copy_only=False)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    keys = iterate_values(table.select(KEY).take(pa.array(starts)), KEY)
    stops = [*starts[1:].tolist(), count]
    return [(key, start, stop) for key, start, stop in zip(keys, starts.tolist(), stops, strict=True)]


def _interleave(runs: Iterable[Run]) -> Iterator[list[pa.Table]]:
    """Pieces of the runs. No piece of a list holds a higher id than a piece of a later list."""
    pending: list[tuple[pa.Array, pa.Table, int]] = []  # the ids, the rows, and how many were yielded
    for low, load in runs:
        rest, passed = [], []
        for ids, table, done in pending:
            cut = bisect_left(ids, low, done, key=_to_text)
            if cut > done:
                passed.append(table.slice(done, cut - done))
            if cut < len(ids):
                rest.append((ids, table, cut))
        pending = rest
        if passed:
            yield passed
        loaded = load()
        if loaded is not None:
            loaded = _sort(loaded)
            pending.append((loaded.column("trial_id").combine_chunks(), loaded, 0))
    if pending:
        yield [table.slice(done) for _, table, done in pending]


def _join(tables: list[pa.Table]) -> pa.Table:
    return _sort(pa.concat_tables(tables).combine_chunks())


def _sort(table: pa.Table) -> pa.Table:
    """Ordered by trial id; rows of one trial keep their order."""
    ids = table.column("trial_id").combine_chunks()
    if len(ids) < 2 or not pc.any(pc.less(ids.slice(1), ids.slice(0, len(ids) - 1))).as_py():
        return table
    return table.sort_by("trial_id")


def _to_text(scalar: pa.StringScalar) -> str:
    """Ids stay in Arrow: as Python texts they would take more memory than the rows."""
    return str(scalar.as_py())


def _get_low(run: Run) -> str:
    return run[0]
