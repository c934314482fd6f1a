"""Rows as one wide table: what JSON columns hold, each under a column of its own.

`metric.NAME` comes from the metrics; `method.NAME`, `dataset.NAME` and one such group for each network
(`energy.NAME`, `generator.NAME`) come from the spec. A row that lacks a column's entry has a missing value
there, never a default. A list among the settings becomes its JSON text, because pandas cannot group by a
list.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any

import pandas as pd

from sweeps.store.row import Row

COLUMNS = [f.name for f in fields(Row)]


def frame(rows: Iterable[Row]) -> pd.DataFrame:
    """One line a row: the row's own columns, then the spread ones by name."""
    lines = [asdict(row) | dict(_spread(row)) for row in rows]
    spread = sorted({name for line in lines for name in line} - set(COLUMNS))
    return pd.DataFrame(lines, columns=[*COLUMNS, *spread])


def _spread(row: Row) -> Iterator[tuple[str, Any]]:
    for name, value in json.loads(row.metrics).items():
        yield f"metric.{name}", value
    spec = json.loads(row.spec)
    for role, part in {**spec, **spec.get("networks", {})}.items():
        if role != "networks" and isinstance(part, Mapping):
            yield from _settings(role, part)


def _settings(role: str, part: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in part.items():
        if (
            name != "name" or role not in COLUMNS
        ):  # the row has the names of data set, energy and method already
            yield (
                f"{role}.{name}",
                json.dumps(value, sort_keys=True) if isinstance(value, list | dict) else value,
            )
