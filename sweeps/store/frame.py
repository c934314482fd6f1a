"""Rows as one wide table, with a column for each entry of the JSON columns.

`metric.NAME` comes from the metrics. `method.NAME`, `dataset.NAME` and one group for each network
(`energy.NAME`, `generator.NAME`) come from the spec. A row that has no such entry has a missing value, never
a default. A list among the settings becomes JSON text, because pandas cannot group by lists.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any

import pandas as pd

from sweeps.store.row import Row

COLUMNS = [f.name for f in fields(Row)]


def build_frame(rows: Iterable[Row]) -> pd.DataFrame:
    """One line per row: the columns of the row, then those of its metrics and settings by name."""
    lines = [asdict(row) | dict(_expand_json(row)) for row in rows]
    expanded = sorted({name for line in lines for name in line} - set(COLUMNS))
    return pd.DataFrame(lines, columns=[*COLUMNS, *expanded])


def _expand_json(row: Row) -> Iterator[tuple[str, Any]]:
    for name, value in json.loads(row.metrics).items():
        yield f"metric.{name}", value
    spec = json.loads(row.spec)
    for role, component in {**spec, **spec.get("networks", {})}.items():
        if role != "networks" and isinstance(component, Mapping):
            yield from _expand_settings(role, component)


def _expand_settings(role: str, component: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in component.items():
        if name == "name" and role in COLUMNS:  # data set, energy and method have columns of their own
            continue
        is_nested = isinstance(value, list | dict)
        yield f"{role}.{name}", json.dumps(value, sort_keys=True) if is_nested else value
