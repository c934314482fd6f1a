"""`--keep DIR`: store the numbers of a benchmark under a results directory. Separate from `measurements`,
because provenance may load torch, which the rendering path must not import."""

from collections.abc import Iterable
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench.perf.measurements import BenchmarkValue, locate_values
from sweeps.run.provenance import collect_provenance
from vera.atomic_write import write_atomically


def store_values(location: str | Path, values: Iterable[BenchmarkValue], threads: int = 1) -> None:
    """Replace the file of every benchmark among the values; provenance is added to each row."""
    columns = {field.name for field in fields(BenchmarkValue)}
    origin = {name: value for name, value in collect_provenance("cpu").items() if name in columns}
    origin |= {"threads": threads, "measured_at": datetime.now(UTC).isoformat(timespec="seconds")}
    rows = [asdict(value) | origin for value in values]
    for benchmark in {row["benchmark"] for row in rows}:
        path = locate_values(location, benchmark)
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            pq.write_table(pa.Table.from_pylist([row for row in rows if row["benchmark"] == benchmark]), file)
