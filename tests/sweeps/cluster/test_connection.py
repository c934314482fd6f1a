"""The connection to a cluster: its token, its address, and requests for resources."""

import errno
import os
import socket
import stat
import threading

import pytest
from cluster_helpers import run_here
from facts import raises_with
from node_helpers import find_free_port

from sweeps.cluster import connection
from sweeps.cluster.connection import (
    ClusterResources,
    check_reachable,
    check_resources,
    collect_resources,
    connect,
    count_cpus_per_gpu,
    protect_token,
    resolve_address,
)
from sweeps.errors import EngineError
from sweeps.run.conditions import Conditions

# The token.


@pytest.fixture
def token(tmp_path, monkeypatch):
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    return tmp_path / "ray" / "auth_token"


def read_mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_token_is_readable_by_its_owner_only(token):
    protect_token(token)
    assert read_mode(token) == 0o600
    assert len(token.read_text()) == 64


def test_an_existing_token_is_kept_and_its_mode_is_restricted(token):
    token.parent.mkdir()
    token.write_text("mine")
    token.chmod(0o644)
    protect_token(token)
    assert (read_mode(token), token.read_text()) == (0o600, "mine")


@pytest.mark.parametrize("content", ["", "\n"])
def test_an_empty_token_file_is_replaced(token, content):
    token.parent.mkdir()
    token.write_text(content)
    protect_token(token)
    assert (read_mode(token), len(token.read_text())) == (0o600, 64)


def test_a_token_is_written_atomically(token, monkeypatch):
    def fail(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("sweeps.cluster.connection.os.fsync", fail)
    with raises_with(EngineError, "No space left on device", "RAY_AUTH_TOKEN_PATH"):
        protect_token(token)
    assert not token.exists()
    assert [path.name for path in token.parent.iterdir()] == [".auth_token.lock"]


@pytest.mark.parametrize("before", [None, ""])
def test_two_processes_that_write_the_first_token_share_one(token, monkeypatch, before):
    """Both look for a token, and find none, before either writes one."""
    token.parent.mkdir()
    if before is not None:
        token.write_text(before)
    seen, barrier, has_token = [], threading.Barrier(2), connection._has_token

    def look_together(path):
        found = has_token(path)
        if not hasattr(thread, "has_looked"):
            thread.has_looked = barrier.wait(timeout=60)
        return found

    def run():
        protect_token(token)
        seen.append(token.read_text())

    thread = threading.local()
    monkeypatch.setattr(connection, "_has_token", look_together)
    runs = [threading.Thread(target=run) for _ in range(2)]
    for one in runs:
        one.start()
    for one in runs:
        one.join()
    assert len(seen) == 2
    assert len(set(seen)) == 1
    assert len(seen[0]) == 64


def test_a_token_from_the_environment_is_not_written(token, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    protect_token(token)
    assert not token.parent.exists()


def test_a_token_that_cannot_be_written_is_an_error(tmp_path, monkeypatch):
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    (tmp_path / "ray").write_text("a file")
    with raises_with(EngineError, str(tmp_path), "RAY_AUTH_TOKEN_PATH"):
        protect_token(tmp_path / "ray" / "auth_token")


# Resources.


@pytest.mark.parametrize(
    ("cpus", "gpus", "facts"),
    [(3, 0, ("3 CPU", "has 2:", "--cpus-per-trial")), (1, 0.5, ("0.5 GPU", "has 0:", "--gpus-per-trial"))],
)
def test_a_request_beyond_the_largest_node_is_refused(cpus, gpus, facts):
    with raises_with(EngineError, *facts):
        check_resources(cpus, gpus, {"CPU": 2.0})


@pytest.mark.parametrize(
    ("wrong", "facts"),
    [
        ({"gpus": 1.5}, ("GPU", "1.5", "--gpus-per-trial")),
        ({"gpus": 1e-9}, ("0.0001", "1e-09", "--gpus-per-trial")),
        ({"cpus": 1e-9}, ("0.0001", "1e-09", "--cpus-per-trial")),
        ({"cpus": float("nan")}, ("CPU", "nan")),
    ],
)
def test_amounts_that_ray_rejects_are_refused_before_it_starts(wrong, facts):
    with raises_with(EngineError, *facts):
        Conditions(**wrong)


@pytest.mark.parametrize(("cpus", "gpus"), [(2, 0), (0.5, 0.25), (1, 2)])
def test_a_request_within_the_largest_node_is_accepted(cpus, gpus):
    check_resources(cpus, gpus, {"CPU": 2.0, "GPU": 4.0})


def test_resources_are_those_of_the_largest_live_node():
    node = {"Alive": True, "Resources": {"CPU": 2.0}}
    dead = {"Alive": False, "Resources": {"CPU": 64.0}}
    assert collect_resources([node, node, dead]) == {"CPU": 2.0, "GPU": 0.0}


MIXED = ClusterResources(
    [{"CPU": 64.0}, {"CPU": 8.0, "GPU": 4.0}, {"CPU": 8.0, "GPU": 4.0}, {"CPU": 6.0, "GPU": 1.0}]
)


def test_one_node_must_have_all_resources_of_a_trial():
    with raises_with(
        EngineError, "32 CPU and 1 GPU", "64 CPU with 0 GPU or 8 CPU with 4 GPU", "--cpus-per-trial"
    ):
        check_resources(32, 1, MIXED)
    for cpus, gpus in ((64, 0), (8, 4), (6, 1)):
        check_resources(cpus, gpus, MIXED)


def test_cpus_per_gpu_are_counted_on_nodes_with_gpus():
    assert count_cpus_per_gpu(MIXED) == 2.0
    assert count_cpus_per_gpu({"CPU": 16.0, "GPU": 4.0}) == 4.0
    assert count_cpus_per_gpu({"CPU": 16.0}) == 0.0


# The address.


def test_an_address_where_nothing_answers_is_refused_soon():
    address = f"127.0.0.1:{find_free_port()}"
    with raises_with(EngineError, address, "Connection refused", "0.3 s", "ray start --head"):
        check_reachable(address, patience=0.3)
    with raises_with(EngineError, "no-such-host.invalid:1"):
        check_reachable("no-such-host.invalid:1", patience=0.3)


@pytest.mark.parametrize("address", ["head", "head:", ":6379", "head:many"])
def test_text_that_is_no_address_is_refused_at_once(address):
    with raises_with(EngineError, "HOST:PORT", f"'{address}'"):
        check_reachable(address)


def test_an_address_that_answers_is_accepted():
    with socket.create_server(("127.0.0.1", 0)) as server:
        check_reachable(f"127.0.0.1:{server.getsockname()[1]}")
        check_reachable(f"ray://127.0.0.1:{server.getsockname()[1]}")


@pytest.fixture
def short_patience(monkeypatch):
    monkeypatch.setattr(check_reachable, "__defaults__", (0.3,))


@pytest.mark.usefixtures("no_ray", "short_patience")
def test_a_run_on_a_missing_cluster_is_refused_in_one_line(tmp_path):
    address = f"127.0.0.1:{find_free_port()}"
    place = ("--profile", "smoke", "--results-dir", tmp_path)
    code, _, err = run_here("run", "toy-demo", *place, "--address", address)
    assert code == 2
    assert address in err
    assert len(err.splitlines()) == 1


@pytest.fixture
def no_cluster_here(no_ray, short_patience, monkeypatch, tmp_path):
    """Ray finds no cluster on this machine. Returns the folder in which Ray notes the last address."""
    monkeypatch.setattr("ray._private.services.find_gcs_addresses", set)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    (tmp_path / "ray").mkdir()
    return tmp_path / "ray"


def test_auto_names_the_address_of_a_cluster_that_is_gone(no_cluster_here):
    address = f"127.0.0.2:{find_free_port()}"
    (no_cluster_here / "ray_current_cluster").write_text(address)
    with raises_with(EngineError, address, "ray start --head"), connect("auto"):
        pass


def test_auto_without_any_cluster_is_refused(no_cluster_here):
    with raises_with(EngineError, "No Ray cluster", "ray start --head"), connect("auto"):
        pass


def test_the_address_comes_from_the_flag_or_the_environment(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert resolve_address(None) is None
    assert resolve_address("head:6379") == "head:6379"
    monkeypatch.setenv("RAY_ADDRESS", "other:6379")
    assert resolve_address(None) == "other:6379"
    assert resolve_address("head:1") == "head:1"
    assert resolve_address("local") is None


@pytest.mark.usefixtures("no_ray")
def test_a_local_cluster_that_does_not_start_is_an_error(monkeypatch):
    def fail(**_):
        raise Exception("The current node timed out\n during startup.")

    monkeypatch.setattr("ray.init", fail)
    with raises_with(EngineError, "The current node timed out during startup", "same command"), connect():
        pass
