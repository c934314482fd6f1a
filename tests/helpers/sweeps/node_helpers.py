"""A cluster of several nodes on one machine: each is a `ray start` with its own address, ports and folder.

Killing such a node is like cutting its power: all its processes end at once.
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

from sweeps.cluster.connection import RAY_DEFAULTS

MEMORY, TRIES = 100_000_000, 5
FAST_DETECTION = {"RAY_health_check_period_ms": "1000", "RAY_gcs_rpc_server_reconnect_timeout_s": "5"}
"""A dead node is noticed after 5 s instead of 15, and a dead head after 5 s instead of 60."""


def find_free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def list_family(pid):
    """A process, all processes of its session, and all their descendants, even if a parent has ended."""
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


class RayNode:
    """A node with one CPU, running when this is built. Ray gives up after 30 seconds, so a busy machine gets
    several tries."""

    def __init__(self, folder, environment, *arguments):
        self.log, self.environment = folder / "ray.log", environment
        folder.mkdir()
        size = ["--num-cpus", 1, "--object-store-memory", MEMORY, "--temp-dir", folder]
        ports = ["--min-worker-port", 0, "--max-worker-port", 0, "--dashboard-agent-listen-port", 0]
        for _ in range(TRIES):
            if self.start("start", "--block", *size, *arguments, *ports):
                return
        raise AssertionError(self.log.read_text())

    def start(self, *command):
        """Start Ray and return whether it runs."""
        ray, self.is_killed = "from ray.scripts.scripts import main; main()", False
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", ray, *map(str, command)],
                env=self.environment, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        try:
            wait_for(lambda: self.process.poll() is not None or self.is_running())
        except BaseException:
            self.kill()
            raise
        if self.process.poll() is not None:
            self.kill()
        return self.process.poll() is None

    def is_running(self):
        return "Ray runtime started" in self.log.read_text()

    def kill(self):
        """Kill all processes of the node, once: its process id may later belong to another process. They are
        stopped first, so that none starts another while they are listed."""
        if self.is_killed:
            return
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in list_family(self.process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
        self.process.wait()
        self.is_killed = True


class RayNodes:
    """The nodes of one cluster. `address` stays the same when the head is started again."""

    def __init__(self, folder, **environment):
        self.folder, self.address, self.nodes = folder, f"127.0.0.1:{find_free_port()}", []
        token = {"RAY_AUTH_TOKEN": secrets.token_hex(32)}
        own = {name: str(value) for name, value in environment.items()}
        self.environment = RAY_DEFAULTS | FAST_DETECTION | token | own
        """The environment of every node, which its workers inherit, and of drivers, which need the token."""

    def start_head(self):
        port = self.address.partition(":")[2]
        place = ("--port", port, "--node-ip-address", "127.0.0.1")
        return self._start((), "--head", *place, "--include-dashboard", "false")

    def start_node(self, without=()):
        """Start another node, whose environment lacks these names."""
        place = ("--node-ip-address", f"127.0.0.{len(self.nodes) + 1}")
        return self._start(without, "--address", self.address, *place)

    def _start(self, without, *arguments):
        environment = os.environ | self.environment
        environment = {name: value for name, value in environment.items() if name not in without}
        self.nodes.append(RayNode(self.folder / str(len(self.nodes)), environment, *arguments))
        return self.nodes[-1]


@contextmanager
def manage_nodes(**environment):
    """A cluster without nodes; nodes that are started in the block are killed at its end."""
    with tempfile.TemporaryDirectory(prefix="vr", dir="/tmp", ignore_cleanup_errors=True) as short:
        cluster = RayNodes(Path(short), **environment)
        try:
            yield cluster
        finally:
            for node in cluster.nodes:
                node.kill()
