"""Helpers for tests of the store: rows and records whose curves and arrays name their attempt, and processes
that write them."""

import os
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
from locations import HELPER_FOLDERS

from sweeps.store.row import SCHEMA_VERSION, CurvePoint, Record, Row
from sweeps.store.schema import read_column_types
from sweeps.store.store import Store

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "id-of-nobody",
    "AWS_SECRET_ACCESS_KEY": "secret-of-nobody",
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""Credentials of the test server; they open nothing else."""
PLAIN = {str: "plain", int: 1, float: 0.5, bool: False}
SPECIAL = {
    "metrics": '{"loss": 0.5}',
    "spec": "{}",
    "versions": "{}",
    "restarts": "[]",
    "reason": "",
    "log_tail": "",
    "schema_version": SCHEMA_VERSION,
}


def make_row(trial_id="abc0", **changes):
    values = {name: PLAIN.get(annotation, "ok") for name, (annotation, _) in read_column_types(Row).items()}
    return Row(**(values | SPECIAL | {"trial_id": trial_id} | changes))


def make_record(trial_id="abc0", attempt=1, **changes):
    """A record whose curves and arrays hold the number of the attempt."""
    row = make_row(trial_id, attempt=attempt, finished_at=f"2026-01-0{attempt}", **changes)
    curves = [CurvePoint(trial_id, "training", "loss", step, float(attempt)) for step in range(3)]
    return Record(row, curves, {"samples": np.full((2, 2), attempt, np.float32)})


def holds(store, record):
    """Whether the store returns the whole record unchanged."""
    trial_id = record.row.trial_id
    arrays = store.read_arrays(trial_id)
    same = arrays.keys() == record.arrays.keys() and all(
        np.array_equal(arrays[name], a) for name, a in record.arrays.items()
    )
    return store.read_row(trial_id) == record.row and store.read_curves(trial_id) == record.curves and same


def files(store, kind="rows"):
    return sorted(store.folder.list_names(kind))


def parquet_files(store, kind):
    for name in files(store, kind):
        with store.folder.open_file(f"{kind}/{name}") as source:
            yield pq.ParquetFile(source.file)


def fill_store(location, count=5):
    store = Store(location)
    for i in range(count):
        store.write(make_record(f"t{i:02}"))
    return store


def start_python(code, *arguments):
    """Start a process that runs the code with the names of this module."""
    start = f"import sys; sys.path[:0] = {HELPER_FOLDERS!r}; from store_helpers import *\n"
    return subprocess.Popen(
        [sys.executable, "-c", start + code, *map(str, arguments)], stderr=subprocess.PIPE, text=True
    )


def finish_python(process):
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors


def refuse(number, after=0):
    """A function that does nothing `after` times and then raises OSError with this number."""
    calls = []

    def call(*arguments, **options):
        calls.append(arguments)
        if len(calls) > after:
            raise OSError(number, os.strerror(number))

    return call
