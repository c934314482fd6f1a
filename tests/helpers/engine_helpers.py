"""What the tests of the engine share: the plug-in, records compared, the command line in a process of its
own."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from locations import ROOT

from sweeps.store.row import Row
from sweeps.store.schema import column_types
from sweeps.trial.sweep import sweeps
from vera.spec.registry import load_plugin, methods

PLUGIN = Path(__file__).with_name("trouble_plugin.py")
PLAIN = {str: "plain", int: 1, float: 0.5, bool: False}
JSON_COLUMNS = {"metrics": '{"loss": 0.5}', "spec": "{}", "versions": "{}", "restarts": "[]"}
TIMING = ("seconds", "started_at", "finished_at")
PATIENCE = 600.0
"""Seconds after which a wait has failed, on a machine however busy; no test measures anything against it."""


def make_row(trial_id="abc0", **changes):
    values = {name: PLAIN.get(annotation, "ok") for name, (annotation, _) in column_types(Row).items()}
    return Row(
        **(
            values
            | JSON_COLUMNS
            | {"trial_id": trial_id, "reason": "", "log_tail": "", "schema_version": 1}
            | changes
        )
    )


@contextmanager
def plugged():
    """The plug-in's module; what it registers is forgotten again."""
    before = [(registry, dict(registry._entries)) for registry in (methods, sweeps)]
    load_plugin(PLUGIN)
    yield plugin()
    for registry, entries in before:
        registry._known = entries


def plugin():
    return next(
        module
        for name, module in reversed(sys.modules.items())
        if name.startswith("vera_plugin_trouble_plugin_")
    )


def content(record):
    """All of a record that must not depend on when, where and in how many pieces it ran."""
    timeless = {name: value for name, value in vars(record.row).items() if name not in TIMING}
    return (
        timeless,
        record.curves,
        {name: (array.shape, array.tobytes()) for name, array in record.arrays.items()},
    )


def results(record):
    """The same, of trials that ran in different processes: provenance may differ as others change the work
    tree."""
    row = record.row
    arrays = {name: np.asarray(array).tobytes() for name, array in record.arrays.items()}
    return (
        row.trial_id,
        row.outcome,
        row.outcome_step,
        row.reason,
        json.loads(row.metrics),
        record.curves,
        arrays,
    )


def start(*arguments, **environment):
    """`vera ...` in a session of its own, as a terminal would start it."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "bench.cli.main", *map(str, arguments)],
        cwd=ROOT, env=os.environ | {"PYTHONUNBUFFERED": "1"} | {k: str(v) for k, v in environment.items()},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def finish(process):
    """(exit code, stdout, stderr)."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"did not end:\n{out}\n{err}") from None
    return process.returncode, out, err


def vera(*arguments, **environment):
    return finish(start(*arguments, **environment))


def wait_for(what, process=None):
    """The first true value of what(), which may ask for files that are not there yet."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with suppress(FileNotFoundError):
            if value := what():
                return value
        if process is not None and process.poll() is not None:
            raise AssertionError(f"ended too soon: {process.communicate()}")
        time.sleep(0.05)
    raise AssertionError("waited in vain")
