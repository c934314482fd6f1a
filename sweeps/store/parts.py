"""Parts, the Parquet files of the store: writing, reading and merging. Checksums are verified, and nothing in
a file is executed. A file that is no part of the store is reported and set aside.

Trap: a compaction removes parts while others read. The compacted file exists before its parts are removed, so
a reader lists the folder again until it finds no new file.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sweeps.store.folder import LEFT, SUFFIX, Commit, FileIdentity, Folder, Opening, explain_os_errors
from sweeps.store.migrations import check_version, migrate
from sweeps.store.row import SCHEMA_VERSION
from sweeps.store.schema import KEY, SCHEMAS, Kind, Stamp, iterate_values

WRITING: dict[str, Any] = {"write_page_checksum": True, "write_statistics": ["trial_id"]}
ONE_TRIAL = {"compression": "snappy", "use_dictionary": False}
"""Options for the part of one trial, which is small: twice as fast to read as with MANY_TRIALS."""
MANY_TRIALS = {"compression": "zstd"}


class BadPart(Exception):
    """The file is truncated, damaged or not a part of the store; the text is the reason."""

    def __init__(self, reason: str, identity: FileIdentity) -> None:
        super().__init__(reason)
        self.identity = identity


def stage_part(
    folder: Folder, kind: Kind, tables: Iterable[pa.Table], options: Mapping[str, Any] = ONE_TRIAL
) -> AbstractContextManager[Commit]:
    """The tables as one file, one row group each, ready to be committed. Without a commit the file is
    removed."""

    def fill(file: Any) -> None:
        with pq.ParquetWriter(file, SCHEMAS[kind], **WRITING, **options) as writer:
            for table in tables:
                writer.write_table(table)

    return folder.stage(kind, fill)


@dataclass(frozen=True)
class Part:
    """A part whose footer was read: it belongs to the store, and its version can be migrated."""

    kind: Kind
    identity: FileIdentity
    version: int
    parquet: Any

    def read_tables(
        self, columns: list[str] | None = None, trial_id: str | None = None
    ) -> Iterator[pa.Table]:
        """One table for each row group, restricted to the columns and to the trial if they are given."""
        for index in range(self.parquet.num_row_groups):
            if trial_id is None or self._may_hold(index, trial_id):
                table = self._read_group(index, columns)
                yield table if trial_id is None else table.filter(pc.equal(table["trial_id"], trial_id))

    def verify(self) -> None:
        """Read all of it once; BadPart if any row group is damaged."""
        if self.parquet.num_row_groups > 1:
            for _ in self.read_tables():
                pass

    def _may_hold(self, index: int, trial_id: str) -> bool:
        statistics = self.parquet.metadata.row_group(index).column(0).statistics
        if statistics is None or not statistics.has_min_max:
            return True
        return bool(statistics.min <= trial_id <= statistics.max)

    def _read_group(self, index: int, columns: list[str] | None) -> pa.Table:
        with _raise_bad_part(self.identity):
            if self.version == SCHEMA_VERSION:
                return self.parquet.read_row_group(index, columns=columns, use_threads=False)
            table = migrate(self.parquet.read_row_group(index), self.kind, self.version)
            schema = SCHEMAS[self.kind]
            return table.select(schema.names).cast(schema).select(columns or schema.names)


@contextmanager
def open_part(opening: Opening, kind: Kind) -> Iterator[Part]:
    """The part, with its footer verified. BadPart if it is none, OSError if the file system refuses,
    StoreError if a newer release wrote it."""
    with opening as source:
        identity = source.identity
        with _raise_bad_part(identity):
            parquet = pq.ParquetFile(source.file, page_checksum_verification=True)
        found = parquet.metadata.metadata or {}
        version = found.get(b"vera.schema_version", b"")
        if found.get(b"vera.kind") != kind.encode() or not version.isdigit():
            raise BadPart(f"a Parquet file, but not one of the store's {kind}", identity)
        check_version(int(version), source.location)
        if int(version) == SCHEMA_VERSION and not parquet.schema_arrow.equals(SCHEMAS[kind]):
            raise BadPart(f"its columns are not those of {kind}", identity)
        yield Part(kind, identity, int(version), parquet)


@contextmanager
def _raise_bad_part(identity: FileIdentity) -> Iterator[None]:
    """Raise BadPart where Arrow reports damage: by its own exceptions, or by an OSError without an errno. An
    OSError with an errno comes from the file system, and a lack of memory says nothing about the file."""
    try:
        yield
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise BadPart(str(error).partition("\n")[0], identity) from error


Beginning = str | tuple[str, ...]
"""Of a file name; "" for every name."""


class PartReader:
    """Reads the parts of one folder."""

    def __init__(self, folder: Folder, restore_command: str = "") -> None:
        """`restore_command` restores a damaged part; if there is one, bad parts are not moved."""
        self.folder = folder
        self.restore_command = restore_command
        self.moves_bad_parts = not restore_command
        self.problems: list[str] = []
        """One line for each bad part: its name, the reason, and what happened to it."""

    def list_names(self, kind: Kind) -> set[str]:
        """The names of the parts of a kind."""
        with explain_os_errors("read", self.folder.location):
            names = self.folder.list_names(kind)
        return {name for name in names if name.endswith(SUFFIX) and not name.startswith("_")}

    def open_parts(self, kind: Kind, beginning: Beginning = "") -> Iterator[tuple[str, Opening]]:
        """The parts of a kind whose names begin so, until a listing shows no new one."""
        seen: set[str] = set()
        while new := {name for name in self.list_names(kind) if name.startswith(beginning)} - seen:
            yield from self.folder.open_each(f"{kind}/{name}" for name in sorted(new))
            seen |= new

    def read_tables(
        self, kind: Kind, beginning: Beginning = "", columns: list[str] | None = None
    ) -> Iterator[pa.Table]:
        """The tables of all parts of a kind whose names begin so."""
        for name, opening in self.open_parts(kind, beginning):
            yield from self.read_part(name, opening, kind, columns)

    def read_part(
        self,
        name: str,
        opening: Opening,
        kind: Kind,
        columns: list[str] | None = None,
        trial_id: str | None = None,
    ) -> list[pa.Table]:
        """The tables of a part; none if it was removed or is bad. A bad part is set aside."""
        with explain_os_errors("read", self.folder.location):
            try:
                with open_part(opening, kind) as part:
                    return list(part.read_tables(columns, trial_id))
            except BadPart as bad:
                self.set_aside(name, bad)
            except FileNotFoundError:
                pass
            return []

    def set_aside(self, name: str, bad: BadPart) -> None:
        """Report a bad part and move it if parts may be moved, unless a good one has taken its name."""
        happened = self.folder.set_aside(name, bad.identity, self.moves_bad_parts)
        if happened is None:
            return
        is_rerun = happened != LEFT and name.startswith("rows/")
        rerun = "; the next vera run trains its trials again" if is_rerun else ""
        restore = f" To restore it: {self.restore_command}" if self.restore_command else ""
        problem = f"{name} is not readable ({bad}); {happened}{rerun}.{restore}"
        if problem not in self.problems:
            self.problems.append(problem)


Key = tuple[str, int, str]
"""(trial_id, attempt, finished_at): one record."""
Keep = Callable[[str, Stamp], bool]
"""Whether a record, given by trial id and stamp, is kept."""
GROUP_BYTES = 16 * 2**20
"""Size of a row group in a compacted file. Finding one trial reads one group."""


@dataclass(frozen=True)
class PartMerge:
    """Merges many parts into one, each record once. `read` and `taken` are complete when `merge_groups` is
    exhausted."""

    kind: Kind
    openings: Iterable[tuple[str, Opening]]
    keep: Keep
    on_bad: Callable[[str, BadPart], None]
    read: dict[str, FileIdentity] = field(default_factory=dict)
    """The files that were read."""
    taken: set[Key] = field(default_factory=set)
    """The records that were kept."""

    def merge_groups(self) -> Iterator[pa.Table]:
        """The kept records in tables of about GROUP_BYTES."""
        waiting: list[pa.Table] = []
        size = 0
        for table in self._read_kept():
            waiting.append(table)
            size += table.nbytes
            if size > GROUP_BYTES:
                yield pa.concat_tables(waiting)
                waiting, size = [], 0
        if waiting:
            yield pa.concat_tables(waiting)

    def hash_taken(self) -> str:
        """A hash of the records that were kept: the same records give the same file name."""
        return hashlib.sha256(repr((SCHEMA_VERSION, sorted(self.taken))).encode()).hexdigest()[:16]

    def _read_kept(self) -> Iterator[pa.Table]:
        for name, opening in self.openings:
            try:
                with open_part(opening, self.kind) as part:
                    part.verify()
                    yield from self._keep_records(part)
                    self.read[name] = part.identity
            except BadPart as bad:
                self.on_bad(name, bad)
            except FileNotFoundError:
                continue

    def _keep_records(self, part: Part) -> Iterator[pa.Table]:
        here: set[Key] = set()  # a record may span row groups of one part, but is taken from one part only
        for table in part.read_tables():
            keys = list(iterate_values(table, KEY))
            here |= {key for key in set(keys) - self.taken if self.keep(key[0], key[1:])}
            mask = pa.array([key in here for key in keys], pa.bool_())
            yield table.filter(mask) if set(keys) - here else table
        self.taken.update(here)
