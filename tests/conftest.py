"""Fixtures and order of all tests. Each process uses one thread: numbers are reproducible and parallel runs
do not compete for cores."""

import os
import signal
import tempfile
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
import torch
from cluster_helpers import WANDB
from engine_helpers import end_started
from store_helpers import CREDENTIALS

from sweeps.cluster.connection import RAY_DEFAULTS, connect
from sweeps.trial.sweep import sweeps
from vera.spec.registry import datasets, joint_methods, methods, models, tasks

torch.set_num_threads(1)
# Ray reads these when it is imported, which happens long before the first test starts a cluster.
os.environ.update({name: os.environ.get(name, value) for name, value in RAY_DEFAULTS.items()})
# By default Ray lowers the priority of its workers, which would then wait for the other test processes.
os.environ.setdefault("RAY_worker_niceness", "0")
# Commands that tests start keep derived facts here, not in the home directory.
os.environ.setdefault("VERA_CACHE", tempfile.mkdtemp(prefix="vera-cache-"))
# A background process ignores Ctrl-C and its children inherit that; some tests send Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Move the files that have a test with the mark `long` to the front: if one started last, the other
    processes would wait for it."""
    long = {item.path for item in items if item.get_closest_marker("long")}
    items.sort(key=lambda item: item.path not in long)


@pytest.fixture(autouse=True)
def forget_plugins():
    """Removes from the registries after each test what it registered, such as the methods of a plug-in."""
    # Tasks come first: reading them imports the studies, which register a model.
    registries = (tasks, methods, joint_methods, models, datasets, sweeps)
    before = [(registry, dict(registry._entries)) for registry in registries]
    yield
    for registry, entries in before:
        registry._known = entries


@pytest.fixture(autouse=True)
def end_started_processes():
    """Ends after each test the commands that a failed test left running."""
    yield
    end_started()


@pytest.fixture(scope="session")
def ray_session(tmp_path_factory):
    """A cluster of two CPUs and two logical GPUs in the test process, for tests that need no cluster of their
    own: starting one and importing torch in a new driver take longer than most trials.

    Workers keep the environment in which it was started: the files of the trouble plug-in, and credentials
    for the bucket and for W&B.
    """
    folder = tmp_path_factory.mktemp("ray")
    files = SimpleNamespace(log=folder / "log", mended=folder / "mended")
    environment = CREDENTIALS | WANDB | {"TROUBLE_LOG": files.log, "TROUBLE_MENDED": files.mended}
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("RAY_ADDRESS", raising=False)
            for name, value in environment.items():
                patch.setenv(name, str(value))
            stack.enter_context(connect(cpus=2, gpus=2))
        yield files


@pytest.fixture
def shared_ray(ray_session):
    """The shared cluster, with an empty log of steps."""
    ray_session.log.write_text("")
    ray_session.mended.unlink(missing_ok=True)
    return ray_session
