"""Migration of parts from an older schema version to the current one, version by version, when they are read.

Files are not rewritten: reading migrates, and compaction writes what it read. To change the columns, raise
SCHEMA_VERSION in `sweeps.store.row` and add here, under the old version, one function for each kind whose
columns change. A part of a newer version than this code knows is an error, and the part stays where it is. If
it were ignored, finished trials would be run again and overwritten.
"""

from collections.abc import Callable

import pyarrow as pa

from sweeps.errors import StoreError
from sweeps.store.row import SCHEMA_VERSION
from sweeps.store.schema import Kind

Migration = Callable[[pa.Table], pa.Table]

MIGRATIONS: dict[int, dict[Kind, Migration]] = {}
"""Version → kind → the step to the next version. A kind without an entry did not change at that version."""


def migrate(table: pa.Table, kind: Kind, version: int) -> pa.Table:
    """The table with the columns of the current version. `check_version` must have accepted the version."""
    for step in range(version, SCHEMA_VERSION):
        migration = MIGRATIONS[step].get(kind)
        table = table if migration is None else migration(table)
        if kind == "rows":
            table = _set_version(table, step + 1)
    return table


def check_version(version: int, file: str) -> None:
    """StoreError if parts of this version cannot be read; the message names the file."""
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{file} was written by a newer release: its schema version is {version}, and this release "
            f"reads up to {SCHEMA_VERSION}. Update vera, or read another results directory."
        )
    missing = [step for step in range(version, SCHEMA_VERSION) if step not in MIGRATIONS]
    if missing:
        raise StoreError(
            f"{file} has schema version {version}, and there is no migration from version {missing[0]}."
        )


def _set_version(table: pa.Table, version: int) -> pa.Table:
    column = pa.array([version] * table.num_rows, pa.int64())
    if "schema_version" not in table.column_names:
        return table.append_column("schema_version", column)
    return table.set_column(table.column_names.index("schema_version"), "schema_version", column)
