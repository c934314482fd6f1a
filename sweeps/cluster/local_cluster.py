"""A local Ray cluster: it listens on loopback only, its processes do not outlive the command by more than a
few seconds, and if one of its two main processes ends, the command says so in one line and ends too.

Ray alone would go on for ten seconds or more after that, print dozens of lines and end the process without
giving control back. So a thread watches both processes. When one ends, the thread prints the message,
silences all other output and ends the command; the reaper kills the rest of the cluster. No result is lost,
because workers write rows and checkpoints atomically.
"""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from sweeps.cluster import reaper

Process: TypeAlias = "subprocess.Popen[bytes]"
OBJECT_STORE_BYTES = 200_000_000
INTERVAL = 0.1
"""Seconds between two checks of the processes."""
WATCHED = {"raylet": "raylet", "gcs_server": "GCS server"}
"""Ray's processes without which nothing goes on, and their names in the message."""
MESSAGE = (
    "Ray's {} on this machine ended unexpectedly, and the run with it. Finished trials are stored. "
    "To resume, run the same command again."
)
EXIT_CODE = 2


@contextmanager
def run_local_cluster(
    cpus: int | None, gpus: int | None, quiet: Mapping[str, Any], scratch: Path | None = None
) -> Iterator[None]:
    """A local cluster for as long as the block runs. `scratch` is a folder that is deleted if the cluster is
    lost, because the process then ends without leaving the block."""
    import ray

    with _listen_on_loopback():
        ray.init(
            address="local",
            num_cpus=cpus,
            num_gpus=gpus,
            include_dashboard=False,
            object_store_memory=OBJECT_STORE_BYTES,
            **quiet,
        )
    try:
        processes = _list_processes()
        with _run_reaper(processes.values()), _drop_log_of_raylet(), _watch_processes(processes, scratch):
            yield
    finally:
        ray.shutdown()


def _list_processes() -> dict[str, Process]:
    """The processes that Ray has started, by kind."""
    from ray._private import worker

    started: Mapping[str, Any] = vars(worker)["_global_node"].all_processes
    return {kind: found.process for kind, several in started.items() for found in several}


@contextmanager
def _run_reaper(processes: Iterable[Process]) -> Iterator[None]:
    """A process that kills what is left of the cluster once this process has ended, even after kill -9. It
    has a session of its own, so that Ctrl-C does not reach it."""
    roots = [str(process.pid) for process in processes]
    command = [sys.executable, "-S", "-E", reaper.__file__, *roots]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as running:
        try:
            yield
        finally:
            running.kill()  # the cluster is shut down in order


@contextmanager
def _listen_on_loopback() -> Iterator[None]:
    """Ray takes the loopback address for this machine's while the block runs. By default it listens on every
    interface; on Windows and macOS it does what is done here. `ray.init` accepts no loopback address."""
    from ray._private import ray_constants

    before, ray_constants.ENABLE_RAY_CLUSTER = ray_constants.ENABLE_RAY_CLUSTER, False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


@contextmanager
def _drop_log_of_raylet() -> Iterator[None]:
    """Ray does not print the last lines of a lost raylet's log, which it may do before the watching thread
    has the word."""
    from ray._private import worker

    print_lines: Callable[..., None] = worker.print_to_stdstream

    def print_others(data: Mapping[str, Any], *arguments: Any, **named: Any) -> None:
        if not data["lines"][0].startswith("Raylet is terminated"):
            print_lines(data, *arguments, **named)

    worker.print_to_stdstream = print_others
    try:
        yield
    finally:
        worker.print_to_stdstream = print_lines


@contextmanager
def _watch_processes(processes: Mapping[str, Process], scratch: Path | None) -> Iterator[None]:
    """End this process if a watched process of Ray ends while the block runs."""
    watched = {name: processes[kind] for kind, name in WATCHED.items() if kind in processes}
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(INTERVAL):
            lost = [name for name, process in watched.items() if process.poll() is not None]
            if lost:
                _end(lost[0], scratch)

    thread = threading.Thread(target=watch, name="vera-local-cluster", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _end(name: str, scratch: Path | None) -> None:
    """Say what was lost and end this process. The reaper then ends the rest of the cluster."""
    sys.stdout.flush()
    os.write(2, f"vera: {MESSAGE.format(name)}\n".encode())
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    if scratch is not None:
        shutil.rmtree(scratch, ignore_errors=True)
    os._exit(EXIT_CODE)
