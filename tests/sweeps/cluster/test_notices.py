"""Notices: a busy cluster is reported once, unless the first trial is only slow to start. So is a head that
does not answer."""

import socket
import threading

import pytest
from engine_helpers import wait_for

from sweeps.cluster.notices import THREAD_NAME, describe_wait, notify_if_waiting, watch_head

ONE = {"CPU": 1.0, "GPU": 0.0}


@pytest.mark.parametrize(
    ("wanted", "free", "text"),
    [
        (ONE, {}, "waiting for 1 CPU: the cluster has no CPU free"),
        ({"CPU": 4.0, "GPU": 0.0}, {"CPU": 1.5}, "waiting for 4 CPU: the cluster has 1.5 CPU free"),
        ({"CPU": 1.0, "GPU": 0.5}, {"CPU": 8.0}, "waiting for 0.5 GPU: the cluster has no GPU free"),
        (
            {"CPU": 4.0, "GPU": 1.0},
            {"CPU": 1.0},
            "waiting for 4 CPU and 1 GPU: the cluster has 1 CPU and no GPU free",
        ),
        (
            {"CPU": 4.0, "GPU": 0.0},
            {"CPU": 6.0},
            "waiting for 4 CPU: no single node has this much free",
        ),
    ],
)
def test_the_wait_is_described(wanted, free, text):
    assert describe_wait(wanted, free) == text


@pytest.fixture
def reservations(monkeypatch):
    """The cluster's reservations, with one that another driver made before, and a function that waits for
    further checks."""
    states, checks = {"other": "CREATED"}, threading.Semaphore(0)

    def read():
        checks.release()
        return dict(states)

    monkeypatch.setattr("sweeps.cluster.notices._read_reservations", read)
    monkeypatch.setattr("sweeps.cluster.notices._read_free_resources", dict)
    return states, lambda times: [checks.acquire(timeout=60.0) for _ in range(times)]


def collect_notices(reservations, own):
    """The notices within a few checks, while our own reservations are in these states."""
    states, wait_for_checks = reservations
    notices, has_notice = [], threading.Event()

    def notify(text):
        notices.append(text)
        has_notice.set()

    with notify_if_waiting(ONE, lambda: False, notify, interval=0.01):
        wait_for_checks(1)
        states.update(own)
        if set(own.values()) == {"PENDING"}:
            assert has_notice.wait(60.0)
            join_watch()
        else:
            wait_for_checks(5)
    return notices


def join_watch():
    """Wait until the watching thread has ended by itself; otherwise it could repeat the notice."""
    for thread in threading.enumerate():
        if thread.name == THREAD_NAME:
            thread.join(60.0)
            assert not thread.is_alive()


def test_a_trial_without_free_resources_is_reported_once(reservations):
    (notice,) = collect_notices(reservations, {"mine": "PENDING", "next": "PENDING"})
    assert "1 CPU" in notice


@pytest.mark.parametrize("own", [{}, {"mine": "CREATED"}, {"mine": "CREATED", "next": "PENDING"}])
def test_a_trial_that_has_resources_and_is_starting_is_not_reported(reservations, own):
    assert collect_notices(reservations, own) == []


def test_nothing_is_reported_once_a_trial_has_started(reservations):
    states, wait_for_checks = reservations
    notices = []
    with notify_if_waiting(ONE, lambda: True, notices.append, interval=0.01):
        wait_for_checks(1)
        states.update(mine="PENDING")
        join_watch()
    assert notices == []


def test_a_cluster_that_does_not_answer_ends_no_run(monkeypatch):
    monkeypatch.setattr("sweeps.cluster.notices._read_reservations", lambda: 1 / 0)
    notices = []
    with notify_if_waiting(ONE, lambda: False, notices.append, interval=0.01):
        pass
    assert notices == []


def test_a_head_that_stops_answering_is_reported_once(capfd):
    server, printed = socket.create_server(("127.0.0.1", 0)), []
    address = f"127.0.0.1:{server.getsockname()[1]}"

    def read_printed():
        printed.append(capfd.readouterr().err)
        return "".join(printed)

    with watch_head(address, interval=0.05):
        server.accept()[0].close()
        assert read_printed() == ""
        server.close()
        wait_for(read_printed)
        threading.Event().wait(0.3)
    (line,) = read_printed().splitlines()
    assert address in line
    assert "same command" in line
