"""Helpers for tests on Ray: `vera` in this process, and the log in which the trouble plug-in notes steps."""

import io
from collections import defaultdict
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

from bench.cli.main import main
from sweeps.store.row import Record
from sweeps.store.store import Store

WANDB = {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "WANDB_API_KEY": "c0ffee" * 7}
"""The environment of W&B in workers of the shared cluster; a key has this length."""


def run_here(*arguments):
    """Exit code, stdout and stderr of `vera ...` in this process. It uses the cluster that this process has
    joined, if there is one."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


def read_log(path):
    """[(process id, step, seed, CUDA_VISIBLE_DEVICES)]; an incomplete last line is left out."""
    lines = [line.split() for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [
        (int(pid), int(step), round(float(pause) * 1e6) % 10_000, devices)
        for pid, step, pause, devices in lines
    ]


def read_processes(log, seed):
    """The processes that ran a trial, in order, and the steps that each took."""
    lives = defaultdict(list)
    for pid, step, of_seed, _ in read_log(log):
        if of_seed == seed:
            lives[pid].append(step)
    return lives


def read_seeds(log):
    """The seeds of the trials that have started."""
    return {seed for _, _, seed, _ in read_log(log)}


def is_alive(pid):
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def read_rows(folder):
    """The rows of a results directory, by trial id."""
    return {row.trial_id: row for row in Store(folder / "trials").read_rows()}


def read_record(store, trial_id):
    return Record(store.read_row(trial_id), store.read_curves(trial_id), store.read_arrays(trial_id))
