"""Numbers that benchmarks measure, stored as Parquet: one file per benchmark, one row per number.

Measuring again replaces the file. Milliseconds belong to one machine on one day; ratios of two things that
were timed alternately carry over to other machines. Loads neither torch nor ray.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

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
