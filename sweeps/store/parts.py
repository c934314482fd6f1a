"""Parts, the Parquet files of the store: writing, reading and merging. Checksums are verified, and nothing in
a file is executed. A file that is no part of the store is reported and set aside.

Trap: a compaction removes parts while others read. The compacted file exists before its parts are removed, so
a reader lists the folder again until it finds no new file.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sweeps.store.folder import (
    LEFT,
    SUFFIX,
    Commit,
    FileIdentity,
    Folder,
    NotAFile,
    OpenFile,
    Opening,
    explain_os_errors,
)
from sweeps.store.migrations import check_version, migrate
from sweeps.store.row import SCHEMA_VERSION
from sweeps.store.schema import SCHEMAS, Kind
from sweeps.store.stored_check import describe_id, find_bad_rows

WRITING: dict[str, Any] = {"write_page_checksum": True, "write_statistics": ["trial_id"]}
ONE_TRIAL = {"compression": "snappy", "use_dictionary": False}
"""Options for the part of one trial, which is small: twice as fast to read as with MANY_TRIALS."""
MANY_TRIALS = {"compression": "zstd"}
MOST_NAMED = 3
"""Bad rows of one part that are named."""
NEWEST_PLAUSIBLE = SCHEMA_VERSION + 1_000
"""A part of a higher schema version was not written by a later release."""


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

    @property
    def count(self) -> int:
        """The number of rows."""
        return int(self.parquet.metadata.num_rows)

    def read_tables(
        self, columns: list[str] | None = None, beginning: str = "", trials: Collection[str] | None = None
    ) -> Iterator[pa.Table]:
        """One table for each row group, restricted to the columns, to trials whose id begins so, and to these
        trials if they are given. Row groups that hold no such trial are not read."""
        for index in range(self.parquet.num_row_groups):
            held = None if trials is None else self._find_possible(index, trials)
            if held == [] or not self._may_hold(index, beginning):
                continue
            table = self.read_group(index, columns, beginning)
            yield table if held is None else table.filter(pc.is_in(table["trial_id"], pa.array(held)))

    def read_group(self, index: int, columns: list[str] | None = None, beginning: str = "") -> pa.Table:
        """The table of one row group, restricted like `read_tables`."""
        table = self._read_group(index, columns)
        return table.filter(pc.starts_with(table["trial_id"], beginning)) if beginning else table

    def find_range(self, index: int) -> tuple[str, str] | None:
        """The lowest and the highest trial id of a row group; None if it has no statistics. Columns of an
        older version may be in another order."""
        if self.version != SCHEMA_VERSION:
            return None
        with _raise_bad_part(self.identity):
            statistics = self.parquet.metadata.row_group(index).column(0).statistics
            if statistics is None or not statistics.has_min_max:
                return None
            return str(statistics.min), str(statistics.max)

    def verify(self) -> None:
        """Read all of it once; BadPart if any row group is damaged."""
        if self.parquet.num_row_groups > 1:
            for _ in self.read_tables():
                pass

    def _may_hold(self, index: int, beginning: str) -> bool:
        found = self.find_range(index) if beginning else None
        if found is None:
            return True
        low, high = (end[: len(beginning)] for end in found)
        return low <= beginning <= high

    def _find_possible(self, index: int, trials: Collection[str]) -> list[str]:
        """The trials that the row group may hold."""
        found = self.find_range(index)
        if found is None:
            return list(trials)
        return [trial_id for trial_id in trials if found[0] <= trial_id <= found[1]]

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
    with _open_regular(opening) as source:
        identity = source.identity
        with _raise_bad_part(identity):
            parquet = pq.ParquetFile(source.file, page_checksum_verification=True)
        found = parquet.metadata.metadata or {}
        version = found.get(b"vera.schema_version", b"")
        if found.get(b"vera.kind") != kind.encode() or not version.isdigit():
            raise BadPart(f"a Parquet file, but not one of the store's {kind}", identity)
        if len(version) > 9 or int(version) > NEWEST_PLAUSIBLE:
            raise BadPart(f"its schema version is {version[:20].decode()}, which no release has", identity)
        check_version(int(version), source.location)
        if int(version) == SCHEMA_VERSION and not parquet.schema_arrow.equals(SCHEMAS[kind]):
            raise BadPart(f"its columns are not those of {kind}", identity)
        yield Part(kind, identity, int(version), parquet)


@contextmanager
def _open_regular(opening: Opening) -> Iterator[OpenFile]:
    """The open file; BadPart in place of `NotAFile`."""
    with ExitStack() as stack:
        try:
            source = stack.enter_context(opening)
        except NotAFile as error:
            raise BadPart(str(error), error.identity) from error
        yield source


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

    def list_until_complete(self, kind: Kind, files: Beginning = "") -> Iterator[set[str]]:
        """The names of the parts of a kind that begin so, then those that appeared meanwhile, until a listing
        shows no new one."""
        seen: set[str] = set()
        while new := {name for name in self.list_names(kind) if name.startswith(files)} - seen:
            yield new
            seen |= new

    def open_parts(self, kind: Kind, files: Beginning = "") -> Iterator[tuple[str, Opening]]:
        """The parts of a kind whose names begin so, until a listing shows no new one."""
        for names in self.list_until_complete(kind, files):
            yield from self.folder.open_each(f"{kind}/{name}" for name in sorted(names))

    def read_tables(
        self, kind: Kind, files: Beginning = "", columns: list[str] | None = None, beginning: str = ""
    ) -> Iterator[pa.Table]:
        """The tables of the parts of a kind whose names begin with `files`, restricted to trials whose id
        begins with `beginning`."""
        for name, opening in self.open_parts(kind, files):
            yield from self.read_part(name, opening, kind, columns, beginning)

    def read_part(
        self,
        name: str,
        opening: Opening,
        kind: Kind,
        columns: list[str] | None = None,
        beginning: str = "",
        trials: Collection[str] | None = None,
    ) -> list[pa.Table]:
        """The valid rows of a part; none if it was removed or is bad. A part that is damaged or has no valid
        row is set aside; single bad rows are reported and left out."""
        with explain_os_errors("read", self.folder.location):
            try:
                with open_part(opening, kind) as part:
                    tables = part.read_tables(columns, beginning, trials)
                    checked = [drop_bad_rows(table, kind) for table in tables]
                    bad = [reason for _, reasons in checked for reason in reasons]
                    if bad and len(bad) == part.count:
                        raise BadPart(bad[0], part.identity)
                    self.report_rows(name, bad)
                    return [table for table, _ in checked]
            except BadPart as found:
                self.set_aside(name, found)
            except FileNotFoundError:
                pass
            return []

    def report_rows(self, name: str, bad: list[str]) -> None:
        """Report bad rows of a part whose other rows are valid."""
        for reason in bad[:MOST_NAMED]:
            more = f", and {len(bad) - MOST_NAMED} more rows" if len(bad) > MOST_NAMED else ""
            rerun = "; the next vera run trains such trials again" if name.startswith("rows/") else ""
            self.report(f"{name} holds a bad row ({reason}){more}; left out{rerun}.")

    def set_aside(self, name: str, bad: BadPart) -> None:
        """Report a bad part and move it if parts may be moved, unless a good one has taken its name."""
        happened = self.folder.set_aside(name, bad.identity, self.moves_bad_parts)
        if happened is None:
            return
        is_rerun = happened != LEFT and name.startswith("rows/")
        rerun = "; the next vera run trains its trials again" if is_rerun else ""
        restore = f" To restore it: {self.restore_command}" if self.restore_command else ""
        self.report(f"{name} is not readable ({bad}); {happened}{rerun}.{restore}")

    def report(self, problem: str) -> None:
        """Add a problem, once."""
        if problem not in self.problems:
            self.problems.append(problem)


def drop_bad_rows(table: pa.Table, kind: Kind) -> tuple[pa.Table, list[str]]:
    """The valid rows, and what is wrong with each of the others."""
    bad = find_bad_rows(table, kind)
    if not bad:
        return table, []
    reasons = [f"trial {describe_id(table, i)}: {reason}" for i, reason in bad.items()]
    return table.filter(pa.array([i not in bad for i in range(len(table))], pa.bool_())), reasons
