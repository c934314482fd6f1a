"""One Parquet file of the store: read with its checksums, never executed. A file that is no part of ours
raises BadPart with the reason: what becomes of it is the store's business.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sweeps.store.folder import Commit, Folder, Identity, Opening
from sweeps.store.migrations import check_version, migrate
from sweeps.store.row import SCHEMA_VERSION
from sweeps.store.schema import KEY, SCHEMAS, Kind, Stamp, lines

WRITING: dict[str, Any] = {"write_page_checksum": True, "write_statistics": ["trial_id"]}
ONE_TRIAL = {"compression": "snappy", "use_dictionary": False}
"""Twice as fast to read as what suits many trials, for the smallest of files."""
MANY_TRIALS = {"compression": "zstd"}

StagedPart = AbstractContextManager[Commit]


class BadPart(Exception):
    """The file is truncated, damaged or not one of the store's; the text is the reason."""

    def __init__(self, reason: str, identity: Identity) -> None:
        super().__init__(reason)
        self.identity = identity


def staged(
    folder: Folder, kind: Kind, tables: Iterable[pa.Table], how: Mapping[str, Any] = ONE_TRIAL
) -> StagedPart:
    """The tables in one file, a row group each, ready to be committed; what is not committed is removed."""

    def fill(file: Any) -> None:
        with pq.ParquetWriter(file, SCHEMAS[kind], **WRITING, **how) as writer:
            for table in tables:
                writer.write_table(table)

    return folder.staged(kind, fill)


@dataclass(frozen=True)
class Part:
    """A part whose footer was read: it is one of ours, and of a version that can be migrated."""

    kind: Kind
    identity: Identity
    version: int
    parquet: Any

    def tables(self, columns: list[str] | None = None, trial_id: str | None = None) -> Iterator[pa.Table]:
        """A table for each row group; of the columns, and of the trial, that are asked for."""
        for index in range(self.parquet.num_row_groups):
            if trial_id is None or self._may_hold(index, trial_id):
                table = self._group(index, columns)
                yield table if trial_id is None else table.filter(pc.equal(table["trial_id"], trial_id))

    def verify(self) -> None:
        """Read all of it once, so that nothing is taken from a part that turns out to be damaged further
        on."""
        if self.parquet.num_row_groups > 1:
            for _ in self.tables():
                pass

    def _may_hold(self, index: int, trial_id: str) -> bool:
        statistics = self.parquet.metadata.row_group(index).column(0).statistics
        return (
            statistics is None or not statistics.has_min_max or statistics.min <= trial_id <= statistics.max
        )

    def _group(self, index: int, columns: list[str] | None) -> pa.Table:
        with _bad_if_unreadable(self.identity):
            if self.version == SCHEMA_VERSION:
                return self.parquet.read_row_group(index, columns=columns, use_threads=False)
            table = migrate(self.parquet.read_row_group(index), self.kind, self.version)
            schema = SCHEMAS[self.kind]
            return table.select(schema.names).cast(schema).select(columns or schema.names)


@contextmanager
def opened(opening: Opening, kind: Kind) -> Iterator[Part]:
    """The part, verified as far as its footer goes. OSError: the file system refused. StoreError: written by
    a newer release."""
    with opening as source:
        identity = source.identity
        with _bad_if_unreadable(identity):
            parquet = pq.ParquetFile(source.file, page_checksum_verification=True)
        found = parquet.metadata.metadata or {}
        version = found.get(b"vera.schema_version", b"")
        if found.get(b"vera.kind") != kind.encode() or not version.isdigit():
            raise BadPart(f"a Parquet file, but none of the store's {kind}", identity)
        check_version(int(version), source.address)
        if int(version) == SCHEMA_VERSION and not parquet.schema_arrow.equals(SCHEMAS[kind]):
            raise BadPart(f"its columns are not those of {kind}", identity)
        yield Part(kind, identity, int(version), parquet)


@contextmanager
def _bad_if_unreadable(identity: Identity) -> Iterator[None]:
    """Arrow reports damage by its own exceptions or by an OSError without a number; one with a number is the
    file system's. A lack of memory, which is one of its own too, says nothing of the file."""
    try:
        yield
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise BadPart(str(error).partition("\n")[0], identity) from error


Key = tuple[str, int, str]
"""(trial_id, attempt, finished_at): one record."""
Keep = Callable[[str, Stamp], bool]
GROUP_BYTES = 16 * 2**20
"""Size of a row group in a compacted file: what is read to find one trial."""


@dataclass(frozen=True)
class Gathering:
    """Many parts on their way into one, each record once. `read` and `taken` are known when all `groups` were
    drawn."""

    kind: Kind
    openings: Iterable[tuple[str, Opening]]
    keep: Keep
    on_bad: Callable[[str, BadPart], None]
    read: dict[str, Identity] = field(default_factory=dict)
    taken: set[Key] = field(default_factory=set)

    def groups(self) -> Iterator[pa.Table]:
        waiting: list[pa.Table] = []
        size = 0
        for table in self._tables():
            waiting.append(table)
            size += table.nbytes
            if size > GROUP_BYTES:
                yield pa.concat_tables(waiting)
                waiting, size = [], 0
        if waiting:
            yield pa.concat_tables(waiting)

    def digest(self) -> str:
        """A name for what was taken: the same records make the same file."""
        return hashlib.sha256(repr((SCHEMA_VERSION, sorted(self.taken))).encode()).hexdigest()[:16]

    def _tables(self) -> Iterator[pa.Table]:
        for name, opening in self.openings:
            try:
                with opened(opening, self.kind) as part:
                    part.verify()
                    yield from self._chosen(part)
                    self.read[name] = part.identity
            except BadPart as bad:
                self.on_bad(name, bad)
            except FileNotFoundError:
                continue

    def _chosen(self, part: Part) -> Iterator[pa.Table]:
        here: set[Key] = set()  # a record may span row groups of one part, but is taken from one part only
        for table in part.tables():
            keys = list(lines(table, KEY))
            here |= {key for key in set(keys) - self.taken if self.keep(key[0], key[1:])}
            mask = pa.array([key in here for key in keys], pa.bool_())
            yield table.filter(mask) if set(keys) - here else table
        self.taken.update(here)
