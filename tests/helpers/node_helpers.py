"""A cluster of several nodes on one machine: each a `ray start` with its own address, ports and folder, which
can lose its power.

Such a node ends as a machine does: all its processes at once, without a word.
"""

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

from engine_helpers import wait_for

from sweeps.cluster.connection import QUIET

MEMORY, TRIES = 100_000_000, 5


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def family(pid):
    """A process, all of its session, and all that descend from them, also where a parent has ended."""
    children, found = {}, {pid: None}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent, _, session = map(int, stat.read_text().rpartition(")")[2].split()[1:4])
        except OSError:  # it has ended meanwhile
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
        if session == pid:
            found[int(stat.parent.name)] = None
    queue = list(found)
    for member in queue:
        queue += [child for child in children.get(member, []) if child not in found]
        found |= dict.fromkeys(children.get(member, []))
    return list(found)


class Node:
    """A node with one CPU, up as soon as this is made. Ray gives up after 30 seconds; on a busy machine it is
    asked again."""

    def __init__(self, folder, environment, *arguments):
        self.log, self.environment = folder / "ray.log", environment
        folder.mkdir()
        command = [
            "start",
            "--block",
            "--num-cpus",
            1,
            "--object-store-memory",
            MEMORY,
            "--temp-dir",
            folder,
            *arguments,
        ]
        ports = ["--min-worker-port", 0, "--max-worker-port", 0, "--dashboard-agent-listen-port", 0]
        for _ in range(TRIES):
            if self.starts(*command, *ports):
                return
        raise AssertionError(self.log.read_text())

    def starts(self, *command):
        """Whether it is up in the end."""
        ray, self.ended = "from ray.scripts.scripts import main; main()", False
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", ray, *map(str, command)],
                env=os.environ | self.environment, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        try:
            wait_for(lambda: self.process.poll() is not None or self.is_up())
        except BaseException:
            self.kill()
            raise
        if self.process.poll() is not None:
            self.kill()
        return self.process.poll() is None

    def is_up(self):
        return "Ray runtime started" in self.log.read_text()

    def kill(self):
        """Stopped first, so that none starts another while they are counted. Only once: its number may be
        another's later."""
        if self.ended:
            return
        for blow in (signal.SIGSTOP, signal.SIGKILL):
            for pid in family(self.process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, blow)
        self.process.wait()
        self.ended = True


class Nodes:
    """The nodes of one cluster. `address` stays the same when the head is started again."""

    def __init__(self, folder, **environment):
        self.folder, self.address, self.all = folder, f"127.0.0.1:{free_port()}", []
        token = {"RAY_AUTH_TOKEN": secrets.token_hex(32)}
        self.environment = QUIET | token | {name: str(value) for name, value in environment.items()}
        """Of every node, whose workers have it from there, and for drivers: without the token they cannot
        join."""

    def head(self):
        port = self.address.partition(":")[2]
        return self._start(
            "--head", "--port", port, "--node-ip-address", "127.0.0.1", "--include-dashboard", "false"
        )

    def another(self):
        return self._start("--address", self.address, "--node-ip-address", f"127.0.0.{len(self.all) + 1}")

    def _start(self, *arguments):
        self.all.append(Node(self.folder / str(len(self.all)), self.environment, *arguments))
        return self.all[-1]


@contextmanager
def cluster(**environment):
    """No nodes yet; those that are started in the block end with it."""
    with tempfile.TemporaryDirectory(prefix="vr", dir="/tmp", ignore_cleanup_errors=True) as short:
        nodes = Nodes(Path(short), **environment)
        try:
            yield nodes
        finally:
            for node in nodes.all:
                node.kill()
