"""Helpers for tests of the engine: rows of declared trials, the plug-in that fails on request, comparison of
records, and the command line in a process of its own."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from locations import ROOT
from store_helpers import make_row

from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import reseed
from sweeps.trial.sweep import sweeps
from vera.spec.registry import load_plugin, methods

PLUGIN = Path(__file__).with_name("trouble_plugin.py")
TIMING = ("seconds", "started_at", "finished_at")
PATIENCE = 600.0
"""Seconds after which a wait fails, even on a busy machine; no test measures a time against it."""
_started = []


def row_of(trial, seed=0, value=None, outcome="ok", metric="likelihood", defaults=None, **changes):
    """The row that a declared trial leaves under this seed; `defaults` are undeclared settings."""
    spec = reseed(trial, seed).spec.to_dict()
    spec = spec | {
        "method": spec["method"] | (defaults or {}),
        "profile": trial.profile,
        "protocol": 1,
        "data_fingerprint": "f" * 16,
    }
    values = {
        "spec": canonical_json(spec), "seed": seed, "outcome": outcome,
        "metrics": "{}" if value is None else json.dumps({metric: value}),
        "profile": trial.profile, "method": spec["method"]["name"], "dataset": spec["dataset"]["name"],
        "label": trial.label, "data_fingerprint": "f" * 16, "device": "cpu",
        "processor": "Processor_9 @ 2 GHz", "cores": 2, "protocol": 1,
        "git_commit": "0123456789abcdef", "versions": '{"torch":"2.13.0"}',
        "finished_at": f"2026-01-0{1 + seed}T00:00:00+00:00",
    }  # fmt: skip
    return make_row(hashlib.sha256(values["spec"].encode()).hexdigest()[:16], **(values | changes))


@contextmanager
def load_trouble_plugin():
    """The plug-in's module; after the block its entries are removed from the registries."""
    before = [(registry, dict(registry._entries)) for registry in (methods, sweeps)]
    load_plugin(PLUGIN)
    yield plugin()
    for registry, entries in before:
        registry._known = entries


def plugin():
    """The module of the loaded plug-in."""
    return next(
        module
        for name, module in reversed(sys.modules.items())
        if name.startswith("vera_plugin_trouble_plugin_")
    )


def content(record):
    """The content of a record that must not depend on when, where and in how many pieces the trial ran."""
    timeless = {name: value for name, value in vars(record.row).items() if name not in TIMING}
    return (
        timeless,
        record.curves,
        {name: (array.shape, array.tobytes()) for name, array in record.arrays.items()},
    )


def results(record):
    """The content of a record without provenance, for trials that ran in different processes."""
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
    """Start `vera ...` in a session of its own, as a terminal does. It ends with the test at the latest."""
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "bench.cli", *map(str, arguments)],
        cwd=ROOT, env=os.environ | {"PYTHONUNBUFFERED": "1"} | {k: str(v) for k, v in environment.items()},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    _started.append(process)
    return process


def end_started():
    """End what `start` started and the test, which may have failed, left running; close its pipes."""
    while _started:
        with _started.pop() as process:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def finish(process):
    """Exit code, stdout and stderr of the process."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"the process did not end:\n{out}\n{err}") from None
    return process.returncode, out, err


def vera(*arguments, **environment):
    """Exit code, stdout and stderr of `vera ...`."""
    return finish(start(*arguments, **environment))


def wait_for(what, process=None):
    """The first true value of what(), which may read files that do not exist yet."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with suppress(FileNotFoundError):
            if value := what():
                return value
        if process is not None and process.poll() is not None:
            raise AssertionError(f"the process ended too soon: {process.communicate()}")
        time.sleep(0.05)
    raise AssertionError(f"waited {PATIENCE:g} s for nothing")
