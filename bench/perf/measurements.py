"""Numbers that benchmarks measure, stored as Parquet: one file per benchmark, one row per number.

Measuring again replaces the file. Milliseconds belong to one machine on one day; ratios of two things that
were timed alternately carry over to other machines. Loads neither torch nor ray.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sweeps.run.provenance import collect_provenance
from vera.atomic_write import write_atomically

FOLDER = "benchmarks"


@dataclass(frozen=True)
class BenchmarkValue:
    """One measured quantity of one subject, with the code and machine that measured it."""

    benchmark: str
    subject: str
    """What was measured: a shape, a number of trials."""
    method: str
    quantity: str
    value: float
    measured_at: str = ""
    threads: int = 1
    processor: str = ""
    cores: int = 0
    versions: str = ""
    git_commit: str = ""
    git_dirty: bool = False


def make_values(
    benchmark: str, subject: str, method: str, quantities: Mapping[str, float | None]
) -> Iterator[BenchmarkValue]:
    """The quantities of one subject; None means not measured and is skipped."""
    for name, value in quantities.items():
        if value is not None:
            yield BenchmarkValue(benchmark, subject, method, name, float(value))


def locate_values(location: str | Path, benchmark: str) -> Path:
    return Path(location, FOLDER, f"{benchmark}.parquet")


def read_values(location: str | Path, benchmark: str) -> list[BenchmarkValue]:
    """The stored numbers of a benchmark; empty if it was not measured."""
    file = locate_values(location, benchmark)
    return [BenchmarkValue(**line) for line in pq.read_table(file).to_pylist()] if file.is_file() else []


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
