"""The cluster: a token for the user alone, and requests that can be met."""

import errno
import os
import socket
import stat
import threading
import time

import pytest
from engine_helpers import wait_for

from sweeps.cluster import connection as cluster
from sweeps.cluster.connection import (
    Available,
    available_nodes,
    check_resources,
    connected,
    cpus_per_gpu,
    protect_token,
)
from sweeps.cluster.head_watch import watched_head
from sweeps.errors import EngineError
from sweeps.run.conditions import Conditions


@pytest.fixture
def token(tmp_path, monkeypatch):
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    return tmp_path / "ray" / "auth_token"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_token_is_made_for_the_user_alone(token):
    protect_token(token)
    assert mode(token) == 0o600
    assert len(token.read_text()) == 64


def test_an_existing_token_is_kept_and_tightened(token):
    token.parent.mkdir()
    token.write_text("mine")
    token.chmod(0o644)
    protect_token(token)
    assert (mode(token), token.read_text()) == (0o600, "mine")


@pytest.mark.parametrize("content", ["", "\n"])
def test_an_empty_file_is_no_token(token, content):
    token.parent.mkdir()
    token.write_text(content)
    protect_token(token)
    assert (mode(token), len(token.read_text())) == (0o600, 64)


def test_a_token_is_written_whole_or_not_at_all(token, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("sweeps.cluster.connection.os.fsync", full)
    with pytest.raises(EngineError, match=r"No space left on device. Set RAY_AUTH_TOKEN_PATH elsewhere\."):
        protect_token(token)
    assert not token.exists()
    assert [path.name for path in token.parent.iterdir()] == [".auth_token.lock"]


@pytest.mark.parametrize("before", [None, ""])
def test_of_two_first_runs_at_once_both_have_the_token_of_the_first(token, monkeypatch, before):
    """Each process has looked, and found none, before any makes one."""
    token.parent.mkdir()
    if before is not None:
        token.write_text(before)
    seen, looked, has_token = [], threading.Barrier(2), cluster._has_token

    def look_together(path):
        found = has_token(path)
        if not hasattr(thread, "looked"):
            thread.looked = looked.wait(timeout=60)
        return found

    def run():
        protect_token(token)
        seen.append(token.read_text())

    thread = threading.local()
    monkeypatch.setattr(cluster, "_has_token", look_together)
    runs = [threading.Thread(target=run) for _ in range(2)]
    for one in runs:
        one.start()
    for one in runs:
        one.join()
    assert len(seen) == 2
    assert len(set(seen)) == 1
    assert len(seen[0]) == 64


def test_a_token_in_the_environment_is_written_nowhere(token, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    protect_token(token)
    assert not token.parent.exists()


@pytest.mark.parametrize(
    ("cpus", "gpus", "words"),
    [
        (3, 0, "asks for 3 CPU, the largest node has 2: choose a smaller --cpus-per-trial"),
        (1, 0.5, "asks for 0.5 GPU, the largest node has 0: choose a smaller --gpus-per-trial"),
    ],
)
def test_a_request_that_cannot_be_met_is_refused(cpus, gpus, words):
    with pytest.raises(EngineError, match=words):
        check_resources(cpus, gpus, {"CPU": 2.0})


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (
            {"gpus": 1.5},
            "whole number of GPUs or a fraction below 1, got 1.5: choose another --gpus-per-trial",
        ),
        ({"gpus": 1e-9}, "at least 0.0001 of a GPU, got 1e-09: choose another --gpus-per-trial"),
        ({"cpus": 1e-9}, "at least 0.0001 of a CPU, got 1e-09: choose another --cpus-per-trial"),
        ({"cpus": float("nan")}, "of a CPU, got nan"),
    ],
)
def test_what_ray_would_refuse_is_refused_before_it_is_started(wrong, why):
    with pytest.raises(EngineError, match=why):
        Conditions(**wrong)


@pytest.mark.parametrize(("cpus", "gpus"), [(2, 0), (0.5, 0.25), (1, 2)])
def test_what_the_cluster_has_can_be_asked_for(cpus, gpus):
    check_resources(cpus, gpus, {"CPU": 2.0, "GPU": 4.0})


def test_a_trial_must_fit_on_one_node():
    node = {"Alive": True, "Resources": {"CPU": 2.0}}
    dead = {"Alive": False, "Resources": {"CPU": 64.0}}
    assert available_nodes([node, node, dead]) == {"CPU": 2.0, "GPU": 0.0}


MIXED = Available(
    [{"CPU": 64.0}, {"CPU": 8.0, "GPU": 4.0}, {"CPU": 8.0, "GPU": 4.0}, {"CPU": 6.0, "GPU": 1.0}]
)


def test_one_node_must_have_all_that_a_trial_asks_for():
    with pytest.raises(EngineError, match="asks for 32 CPU and 1 GPU, and no single node has both; the most that one has is "
                                          "64 CPU with 0 GPU or 8 CPU with 4 GPU: choose a smaller --cpus-per-trial"):  # fmt: skip
        check_resources(32, 1, MIXED)
    for cpus, gpus in ((64, 0), (8, 4), (6, 1)):
        check_resources(cpus, gpus, MIXED)


def test_cpus_for_a_gpu_are_those_of_the_nodes_that_have_gpus():
    assert cpus_per_gpu(MIXED) == 2.0
    assert cpus_per_gpu({"CPU": 16.0, "GPU": 4.0}) == 4.0
    assert cpus_per_gpu({"CPU": 16.0}) == 0.0


def test_a_token_that_cannot_be_kept_is_an_error_with_a_way_on(tmp_path, monkeypatch):
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    (tmp_path / "ray").write_text("a file")
    with pytest.raises(EngineError, match="RAY_AUTH_TOKEN_PATH"):
        protect_token(tmp_path / "ray" / "auth_token")


def test_a_head_that_goes_away_is_told_once_with_the_way_on(capfd):
    server, said = socket.create_server(("127.0.0.1", 0)), []

    def heard():
        said.append(capfd.readouterr().err)
        return "".join(said)

    with watched_head(f"127.0.0.1:{server.getsockname()[1]}", every=0.05):
        server.accept()[0].close()
        assert heard() == ""
        server.close()
        wait_for(heard)
        time.sleep(0.5)
    assert heard().count("\n") == 1
    assert heard().endswith("What is finished is stored: start the head again, then the same command.\n")


def test_a_cluster_that_does_not_start_is_one_line(monkeypatch):
    def late(**_):
        raise Exception("The current node timed out\n during startup.")

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("ray.init", late)
    with pytest.raises(
        EngineError,
        match=r"^Ray could not be started on this machine: The current node timed out during startup\. It may be busy",
    ):
        connected().__enter__()
