"""A busy cluster: what the first trial waits for is said once, and not where it only takes its time to
start."""

import threading

import pytest

from sweeps.cluster import wait_notice as waiting
from sweeps.cluster.wait_notice import told_if_waiting, waits_for

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
            "waiting for 4 CPU: no node of the cluster has as much free",
        ),
    ],
)
def test_what_is_waited_for_in_words(wanted, free, text):
    assert waits_for(wanted, free) == text


@pytest.fixture
def rooms(monkeypatch):
    """What the cluster has reserved; another's is there before we come."""
    found, looks = {"other": "CREATED"}, threading.Semaphore(0)

    def look():
        looks.release()
        return dict(found)

    monkeypatch.setattr(waiting, "_rooms", look)
    monkeypatch.setattr(waiting, "_free", dict)
    return found, lambda times: [looks.acquire(timeout=60.0) for _ in range(times)]


def heard(rooms, ours):
    """What is said within some looks at a cluster in which our own reservations are in these states."""
    found, wait = rooms
    said, told = [], threading.Event()
    with told_if_waiting(ONE, lambda: False, lambda text: (said.append(text), told.set()), after=0.01):
        wait(1)
        found.update(ours)
        if set(ours.values()) == {"PENDING"}:
            assert told.wait(60.0)
            ended()
        else:
            wait(5)
    return said


def ended():
    """The watch is over by itself: whoever looked on would say it again."""
    for thread in threading.enumerate():
        if thread.name == waiting.NAME:
            thread.join(60.0)
            assert not thread.is_alive()


def test_a_trial_that_finds_no_room_is_told_of_once(rooms):
    assert heard(rooms, {"mine": "PENDING", "next": "PENDING"}) == [
        "waiting for 1 CPU: the cluster has no CPU free"
    ]


@pytest.mark.parametrize("ours", [{}, {"mine": "CREATED"}, {"mine": "CREATED", "next": "PENDING"}])
def test_nothing_is_said_of_a_trial_that_has_room_and_is_starting(rooms, ours):
    assert heard(rooms, ours) == []


def test_nothing_is_said_once_a_trial_has_started(rooms):
    found, wait = rooms
    said = []
    with told_if_waiting(ONE, lambda: True, said.append, after=0.01):
        wait(1)
        found.update(mine="PENDING")
        ended()
    assert said == []


def test_a_cluster_that_does_not_answer_ends_no_run(monkeypatch):
    monkeypatch.setattr(waiting, "_rooms", lambda: 1 / 0)
    said = []
    with told_if_waiting(ONE, lambda: False, said.append, after=0.01):
        pass
    assert said == []
