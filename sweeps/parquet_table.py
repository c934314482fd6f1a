"""A user's table in a Parquet file. It is not part of `vera`, because `vera` does not import pyarrow.

`sweeps.trial.identity.register_tables` registers it under the name "parquet" when a trial is planned or run.
pyarrow is imported when a file is read, so that data sets can be listed without it.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vera.data.tables.user_table import (
    ParsedColumns,
    UserTable,
    find_label_column,
)
from vera.errors import DataCorrupt
from vera.extras import explain_missing


class ParquetTable(UserTable):
    """Your own table: a Parquet file of numbers and a column of classes."""

    form = "parquet"

    @classmethod
    def read(cls, path: Path, label: str) -> ParsedColumns:
        with explain_missing("A Parquet file"):
            import pyarrow as pa
            import pyarrow.parquet as pq
        try:
            table = pq.ParquetFile(path).read()
        except (OSError, pa.ArrowException) as error:
            raise DataCorrupt(f"{path} is not a Parquet file ({error}).") from error
        at = find_label_column(table.column_names, label, path)
        names = [name for name in table.column_names if name != label]
        x = np.empty((table.num_rows, len(names)))
        for column, name in enumerate(names):
            x[:, column] = _read_numbers(table.column(name), name, path)
        return ParsedColumns(names, x, _read_classes(table.column(at), label, path), lambda row: f"row {row}")


def _read_numbers(column: Any, name: str, path: Path) -> NDArray[np.float64]:
    import pyarrow as pa

    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise DataCorrupt(
            f"{path}, column '{name}', is of type {kind}; every column but the class must be numbers."
        )
    if column.null_count:
        raise DataCorrupt(
            f"{path}, column '{name}', has {column.null_count} missing values; "
            "fill them in or leave their rows out."
        )
    return np.asarray(column.cast(pa.float64(), safe=False), np.float64)


def _read_classes(column: Any, label: str, path: Path) -> list[Any]:
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if column.null_count:
        raise DataCorrupt(f"{path}, column '{label}': the class is missing in {column.null_count} rows.")
    is_whole = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    if not (is_whole or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise DataCorrupt(
            f"{path}, column '{label}', is of type {kind}; classes must be text or whole numbers."
        )
    return list(column.to_pylist())
