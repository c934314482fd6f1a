"""Join a Ray cluster or start a local one: quiet, with token authentication, and the token readable by its
owner only."""

import logging
import os
import secrets
import signal
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sweeps.cluster.local_cluster import run_local_cluster
from sweeps.cluster.notices import watch_head
from sweeps.errors import EngineError
from sweeps.store.local_folder import lock_file
from vera.atomic_write import write_atomically
from vera.extras import explain_missing
from vera.training.interrupts import defer_interrupt

RAY_DEFAULTS = {
    "RAY_AUTH_MODE": "token",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AIR_NEW_OUTPUT": "0",
    "RAY_CHDIR_TO_TRIAL_DIR": "0",
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "TUNE_DISABLE_SIGINT_HANDLER": "1",  # our own handler saves the running trials
    "TUNE_GLOBAL_CHECKPOINT_S": "86400",  # nothing reads Tune's snapshots of all trials
    # Ray abandons a worker that does not register in time (60 s by default), and then waits for it forever.
    "RAY_worker_register_timeout_seconds": "600",
}
RESOURCE_KINDS = ("CPU", "GPU")
QUIET: Mapping[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
REACH_SECONDS = 20.0
"""How long a starting cluster may take to answer. Ray itself waits for minutes and prints its own errors."""


class ClusterResources(dict[str, float]):
    """The largest number of CPUs, and of GPUs, on one node. Trap: the two maxima may belong to different
    nodes, so `nodes` lists each node."""

    def __init__(self, nodes: Sequence[Mapping[str, float]]) -> None:
        self.nodes = [{kind: node.get(kind, 0.0) for kind in RESOURCE_KINDS} for node in nodes]
        super().__init__(
            {kind: max((node[kind] for node in self.nodes), default=0.0) for kind in RESOURCE_KINDS}
        )


@contextmanager
def connect(
    address: str | None = None,
    cpus: int | None = None,
    gpus: int | None = None,
    scratch: Path | None = None,
) -> Iterator[ClusterResources]:
    """A cluster for as long as the block runs, and the resources of its nodes.

    A cluster started here is shut down afterwards; a joined one keeps running. If a cluster started here is
    lost, this process ends; `scratch` is a folder that is deleted then.
    """
    set_ray_defaults()
    protect_token(Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token"))
    with explain_missing("Running trials"):
        import ray

    logging.getLogger("ray.tune").setLevel(logging.CRITICAL)  # failures are reported in rows
    hide_credentials()
    address = resolve_address(address)
    with ExitStack() as stack:
        if not ray.is_initialized():
            opened = _join(address) if address else run_local_cluster(cpus, gpus, QUIET, scratch)
            _enter(stack, opened, address)
        yield collect_resources(ray.nodes())


def hide_credentials() -> None:
    """Keep Tune from copying credentials into the description of its workers, which Ray writes into a log
    that every user of the machine can read. Workers of a local cluster inherit the environment anyway; nodes
    of a joined one have credentials of their own."""
    from ray.tune.execution import class_cache

    names = class_cache.ENV_VARS_TO_PROPAGATE
    names.difference_update({name for name in names if name.startswith("AWS_")})


def set_ray_defaults() -> None:
    """Set our defaults for Ray's environment variables. Ray reads some of them on import, so call this before
    anything that may import it."""
    for name, value in RAY_DEFAULTS.items():
        os.environ.setdefault(name, value)


def resolve_address(address: str | None) -> str | None:
    """The address of the cluster to join; None to start a local one."""
    address = address or os.environ.get("RAY_ADDRESS")
    return None if address == "local" else address


def find_running_address() -> str:
    """The address that Ray uses for "auto": a cluster on this machine, or the last one started here."""
    from ray._private.services import canonicalize_bootstrap_address

    try:
        return str(canonicalize_bootstrap_address("auto"))
    except ConnectionError as error:
        raise EngineError(
            "No Ray cluster was found on this machine. Start one (ray start --head), "
            "give --address HOST:PORT, or omit --address and RAY_ADDRESS to run locally."
        ) from error


def check_reachable(address: str, patience: float = REACH_SECONDS) -> None:
    """Raise `EngineError` unless something answers at the address."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise EngineError(f"--address must be HOST:PORT or auto, got '{address}'.")
    until, why = time.monotonic() + patience, "no answer"
    while time.monotonic() < until:
        try:
            socket.create_connection(
                (host.strip("[]"), int(port)), timeout=max(0.1, until - time.monotonic())
            ).close()
            return
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or str(error)
            time.sleep(min(0.5, patience))
    raise EngineError(
        f"No Ray cluster answers at {address} ({why}; tried for {patience:g} s). Start one (ray start --head)"
        " or omit --address and RAY_ADDRESS to run locally."
    )


def collect_resources(nodes: Sequence[Mapping[str, Any]]) -> ClusterResources:
    """The resources of the live nodes in Ray's list."""
    return ClusterResources([node["Resources"] for node in nodes if node["Alive"]])


def count_cpus_per_gpu(available: Mapping[str, float]) -> float:
    """The fewest CPUs per GPU on any node with GPUs, so that every GPU can be used; 0 without GPUs."""
    return min((node["CPU"] / node["GPU"] for node in _list_nodes(available) if node["GPU"]), default=0.0)


def _list_nodes(available: Mapping[str, float]) -> list[dict[str, float]]:
    """The nodes; a plain mapping counts as one node."""
    return (available if isinstance(available, ClusterResources) else ClusterResources([available])).nodes


@contextmanager
def _join(address: str) -> Iterator[None]:
    """The connection to a running cluster, whose head is watched."""
    import ray

    address = find_running_address() if address == "auto" else address
    check_reachable(address)
    ray.init(address=address, **QUIET)
    try:
        with watch_head(ray.get_runtime_context().gcs_address):
            yield
    finally:
        ray.shutdown()


def _enter(stack: ExitStack, opened: AbstractContextManager[None], address: str | None) -> None:
    """Open the cluster; `EngineError` if Ray fails. Signals are held back meanwhile: an exception inside
    `ray.init` may be lost."""
    import ray

    try:
        with _keep_handler_of_sigterm(), defer_interrupt(signal.SIGTERM) as interrupt:
            stack.enter_context(opened)
        interrupt.check()
    except EngineError:
        raise
    except Exception as error:  # Ray raises bare Exceptions too, for example when a node starts too slowly
        ray.shutdown()
        why = " ".join((str(error) or repr(error)).split())[:300].rstrip(".")
        if address:
            raise EngineError(f"Could not join the Ray cluster at {address}: {why}.") from error
        raise EngineError(
            f"Ray could not be started on this machine: {why}. The machine may be busy or short of memory; "
            "nothing was trained. Run the same command again."
        ) from error


@contextmanager
def _keep_handler_of_sigterm() -> Iterator[None]:
    """Ray does not install its own handler, which ends the process without saving running trials."""
    from ray._private import utils

    install, utils.set_sigterm_handler = utils.set_sigterm_handler, lambda handler: None
    try:
        yield
    finally:
        utils.set_sigterm_handler = install


def protect_token(path: Path) -> None:
    """Ensure that the token exists and that only its owner can read it; Ray would write it readable by
    others. An empty file, which a full disk leaves behind, is replaced: Ray would use it as a wrong token."""
    if os.environ.get("RAY_AUTH_TOKEN"):
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _has_token(path):
            _write_token(path)
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
    except OSError as error:
        raise EngineError(
            f"Ray's token cannot be written to {path}: {error}. Set RAY_AUTH_TOKEN_PATH to another file."
        ) from error


def _has_token(path: Path) -> bool:
    return path.is_file() and bool(path.read_bytes().strip())


def _write_token(path: Path) -> None:
    """Write a new token atomically. Of several processes that do this at once, all use the first one's token:
    each checks again while it holds the lock."""
    with lock_file(path.with_name(f".{path.name}.lock")):
        if _has_token(path):
            return
        with write_atomically(path, mode=0o600) as file:
            file.write(secrets.token_hex(32).encode())


def check_resources(cpus: float, gpus: float, available: Mapping[str, float]) -> None:
    """Raise `EngineError` if no single node can run a trial. Ray would wait forever without a message."""
    for kind, wanted in zip(RESOURCE_KINDS, (cpus, gpus), strict=True):
        if wanted > available.get(kind, 0):
            raise EngineError(
                f"A trial needs {wanted:g} {kind}, but the largest node has {available.get(kind, 0):g}: "
                f"reduce --{kind.lower()}s-per-trial."
            )
    nodes = _list_nodes(available)
    if not any(cpus <= node["CPU"] and gpus <= node["GPU"] for node in nodes):
        raise EngineError(
            f"A trial needs {cpus:g} CPU and {gpus:g} GPU, but no single node has both; the largest have "
            f"{' or '.join(_describe_largest(nodes))}: reduce --cpus-per-trial or --gpus-per-trial."
        )


def _describe_largest(nodes: Sequence[Mapping[str, float]]) -> list[str]:
    """The nodes that no other node surpasses, without duplicates, the one with the most CPUs first."""
    amounts = sorted({(node["CPU"], node["GPU"]) for node in nodes}, reverse=True)
    largest = [
        (cpus, gpus)
        for place, (cpus, gpus) in enumerate(amounts)
        if all(gpus > more for _, more in amounts[:place])
    ]
    return [f"{cpus:g} CPU with {gpus:g} GPU" for cpus, gpus in largest]
