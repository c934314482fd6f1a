"""How a part of an older schema version becomes one of the next, step by step, when it is read.

Files are not rewritten: reading migrates, and compaction writes what it read. To change the columns, raise
SCHEMA_VERSION in `sweeps.store.row` and add here, under the old version, one function for each kind whose
columns change. A newer version than this code knows is refused by name and left where it is: reading it as if
it were ours would run, and overwrite, trials that are finished.
"""

from collections.abc import Callable

import pyarrow as pa

from sweeps.errors import StoreError
from sweeps.store.row import SCHEMA_VERSION
from sweeps.store.schema import Kind

Migration = Callable[[pa.Table], pa.Table]

MIGRATIONS: dict[int, dict[Kind, Migration]] = {}
"""Version → kind → the step to the next version; a kind that is not named did not change at that version."""


def migrate(table: pa.Table, kind: Kind, version: int) -> pa.Table:
    """The table with the columns of this code's version; `check_version` has said that there is a way."""
    for step in range(version, SCHEMA_VERSION):
        table = MIGRATIONS[step].get(kind, _unchanged)(table)
        if kind == "rows":
            table = _with_version(table, step + 1)
    return table


def check_version(version: int, file: str) -> None:
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{file} was written by a newer release: its schema version is {version}, this one reads up to {SCHEMA_VERSION}. "
            "Update vera, or read another results directory."
        )
    lacking = [step for step in range(version, SCHEMA_VERSION) if step not in MIGRATIONS]
    if lacking:
        raise StoreError(
            f"{file} has schema version {version}, and there is no migration from version {lacking[0]}."
        )


def _unchanged(table: pa.Table) -> pa.Table:
    return table


def _with_version(table: pa.Table, version: int) -> pa.Table:
    column = pa.array([version] * table.num_rows, pa.int64())
    if "schema_version" not in table.column_names:
        return table.append_column("schema_version", column)
    return table.set_column(table.column_names.index("schema_version"), "schema_version", column)
