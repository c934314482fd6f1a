"""Joining a Ray cluster, or starting a local one: quiet, with token authentication on and the token for the
user's eyes only."""

import logging
import os
import secrets
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sweeps.cluster.head_watch import watched_head
from sweeps.errors import EngineError
from sweeps.store.local_folder import locked
from vera.atomic_write import write_atomically

QUIET = {
    "RAY_AUTH_MODE": "token",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AIR_NEW_OUTPUT": "0",
    "RAY_CHDIR_TO_TRIAL_DIR": "0",
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "TUNE_DISABLE_SIGINT_HANDLER": "1",  # ours saves the running trials
    "TUNE_GLOBAL_CHECKPOINT_S": "86400",  # Tune's own snapshots of all trials, which nothing reads
    "RAY_worker_register_timeout_seconds": "600",  # given up as too slow after 60, a first worker is waited for without end
}
KINDS = ("CPU", "GPU")
OBJECT_STORE_BYTES = 200_000_000
REACH_SECONDS = 20.0
"""How long a cluster that is starting may take to answer. Left to itself Ray waits for minutes, and writes of
its own troubles."""


class Available(dict[str, float]):
    """The most CPUs, and the most GPUs, that a node has. The trap: it need not be the same node, so `nodes`
    has each of them."""

    def __init__(self, nodes: Sequence[Mapping[str, float]]) -> None:
        self.nodes = [{kind: node.get(kind, 0.0) for kind in KINDS} for node in nodes]
        super().__init__({kind: max((node[kind] for node in self.nodes), default=0.0) for kind in KINDS})


@contextmanager
def connected(
    address: str | None = None, cpus: int | None = None, gpus: int | None = None
) -> Iterator[Available]:
    """A cluster for as long as the block runs, and what its nodes have.

    Ours is shut down afterwards; a cluster we joined is left.
    """
    settle_ray()
    protect_token(Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token"))
    import ray

    logging.getLogger("ray.tune").setLevel(logging.CRITICAL)  # what fails is a row
    address = joined_address(address)
    joined = ray.is_initialized()
    if not joined:
        _init(address, cpus, gpus)
    head = ray.get_runtime_context().gcs_address
    try:
        with watched_head(head) if address and not joined else nullcontext():
            yield available_nodes(ray.nodes())
    finally:
        if not joined:
            ray.shutdown()


def settle_ray() -> None:
    """Our settings for Ray, where the user has none. Ray reads some when it is imported: whoever may import
    it comes after."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)


def joined_address(address: str | None) -> str | None:
    """Of the cluster to join; None where a local one is started."""
    address = address or os.environ.get("RAY_ADDRESS")
    return None if address == "local" else address


def found_address() -> str:
    """What Ray takes for "auto": a cluster that runs here, or the last one that was started, be it long
    gone."""
    from ray._private.services import canonicalize_bootstrap_address

    try:
        return str(canonicalize_bootstrap_address("auto"))
    except ConnectionError as error:
        raise EngineError(
            "No Ray cluster was found here to join: start one (ray start --head), give its HOST:PORT with --address, "
            "or leave --address and RAY_ADDRESS out to run on this machine."
        ) from error


def check_reachable(address: str, patience: float = REACH_SECONDS) -> None:
    """EngineError unless something answers there."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise EngineError(
            f"A cluster's address is HOST:PORT or auto, got '{address}': choose another --address."
        )
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
        f"No Ray cluster answers at {address} ({why}; tried for {patience:g} s): start one (ray start --head), "
        "or leave --address and RAY_ADDRESS out to run on this machine."
    )


def available_nodes(nodes: Sequence[Mapping[str, Any]]) -> Available:
    """What the nodes have that are alive, as Ray lists them."""
    return Available([node["Resources"] for node in nodes if node["Alive"]])


def cpus_per_gpu(available: Mapping[str, float]) -> float:
    """The fewest CPUs for each GPU on a node that has GPUs, so that no GPU is left without; 0 where none has
    one."""
    return min((node["CPU"] / node["GPU"] for node in _nodes(available) if node["GPU"]), default=0.0)


def _nodes(available: Mapping[str, float]) -> list[dict[str, float]]:
    """A plain mapping is one node."""
    return (available if isinstance(available, Available) else Available([available])).nodes


def _init(address: str | None, cpus: int | None, gpus: int | None) -> None:
    import ray

    if address:
        address = found_address() if address == "auto" else address
        check_reachable(address)
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    local: dict[str, Any] = {"include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES}
    try:
        if address:
            ray.init(address=address, **quiet)
        else:
            ray.init(address="local", num_cpus=cpus, num_gpus=gpus, **local, **quiet)
    except Exception as error:  # Ray raises plain ones too, such as for a node that took too long to start
        ray.shutdown()
        why = " ".join((str(error) or repr(error)).split())[:300].rstrip(".")
        if address:
            raise EngineError(f"Could not join the Ray cluster at {address}: {why}.") from error
        again = "It may be busy or short of memory; nothing was trained, and the same command tries again."
        raise EngineError(f"Ray could not be started on this machine: {why}. {again}") from error


def protect_token(path: Path) -> None:
    """The token exists and only its owner may read it; Ray itself would write it readable by others. An empty
    file, as a full disk leaves one, is no token: Ray would take it for one that is wrong."""
    if os.environ.get("RAY_AUTH_TOKEN"):
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _has_token(path):
            _make_token(path)
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
    except OSError as error:
        raise EngineError(
            f"Ray's token cannot be kept at {path}: {error}. Set RAY_AUTH_TOKEN_PATH elsewhere."
        ) from error


def _has_token(path: Path) -> bool:
    return path.is_file() and bool(path.read_bytes().strip())


def _make_token(path: Path) -> None:
    """Whole or not at all. Of several processes that make the first one at once, all use that of the process
    which came first: each looks once more when it is alone."""
    with locked(path.with_name(f".{path.name}.lock")):
        if _has_token(path):
            return
        with write_atomically(path, mode=0o600) as file:
            file.write(secrets.token_hex(32).encode())


def check_resources(cpus: float, gpus: float, available: Mapping[str, float]) -> None:
    """Ray waits for ever, and in silence, for what no single node has; so ask first."""
    for kind, wanted in zip(KINDS, (cpus, gpus), strict=True):
        if wanted > available.get(kind, 0):
            raise EngineError(
                f"A trial asks for {wanted:g} {kind}, the largest node has {available.get(kind, 0):g}: "
                f"choose a smaller --{kind.lower()}s-per-trial."
            )
    nodes = _nodes(available)
    if not any(cpus <= node["CPU"] and gpus <= node["GPU"] for node in nodes):
        raise EngineError(
            f"A trial asks for {cpus:g} CPU and {gpus:g} GPU, and no single node has both; the most that one has is "
            f"{' or '.join(_largest(nodes))}: choose a smaller --cpus-per-trial or --gpus-per-trial."
        )


def _largest(nodes: Sequence[Mapping[str, float]]) -> list[str]:
    """The nodes that no other one surpasses, those that are alike once, the one with the most CPUs first."""
    amounts = sorted({(node["CPU"], node["GPU"]) for node in nodes}, reverse=True)
    best = [
        (cpus, gpus)
        for place, (cpus, gpus) in enumerate(amounts)
        if all(gpus > more for _, more in amounts[:place])
    ]
    return [f"{cpus:g} CPU with {gpus:g} GPU" for cpus, gpus in best]
