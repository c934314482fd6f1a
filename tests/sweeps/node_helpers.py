"""A cluster of several nodes on one machine: each a `ray start` with its own address, ports and folder, which can lose its power.

Such a node ends as a machine does: all its processes at once, without a word. Workers are not in the group of the process that
started them, so they are found by their parents.
"""

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from engine_helpers import wait_for

from sweeps.cluster import QUIET

MEMORY = 100_000_000


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def family(pid):
    """A process and all that descend from it."""
    children = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended meanwhile
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    found = [pid]
    for member in found:
        found += children.get(member, [])
    return found


class Node:
    """A node with one CPU, up as soon as this is made."""

    def __init__(self, folder, environment, *arguments):
        self.log = folder / "ray.log"
        folder.mkdir()
        command = ["start", "--block", "--num-cpus", 1, "--object-store-memory", MEMORY, "--temp-dir", folder, *arguments]
        ports = ["--min-worker-port", 0, "--max-worker-port", 0, "--dashboard-agent-listen-port", 0]
        ray = "from ray.scripts.scripts import main; main()"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", ray, *map(str, command + ports)],
                env=os.environ | environment, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        try:
            wait_for(self.is_up)
        except BaseException:
            self.kill()
            raise

    def is_up(self):
        said = self.log.read_text()
        assert self.process.poll() is None, said
        return "Ray runtime started" in said

    def kill(self):
        """Stopped first, so that none starts another while they are counted."""
        for blow in (signal.SIGSTOP, signal.SIGKILL):
            for pid in family(self.process.pid) if self.process.poll() is None else ():
                os.kill(pid, blow)
        self.process.wait()


class Nodes:
    """The nodes of one cluster. `address` stays the same when the head is started again."""

    def __init__(self, folder, **environment):
        self.folder, self.address, self.all = folder, f"127.0.0.1:{free_port()}", []
        token = {"RAY_AUTH_TOKEN": secrets.token_hex(32)}
        self.environment = QUIET | token | {name: str(value) for name, value in environment.items()}
        """Of every node, whose workers have it from there, and for drivers: without the token they cannot join."""

    def head(self):
        port = self.address.partition(":")[2]
        return self._start("--head", "--port", port, "--node-ip-address", "127.0.0.1", "--include-dashboard", "false")

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
