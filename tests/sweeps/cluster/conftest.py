"""A local Ray cluster in the test process, shared by the tests that need no cluster of their own. Starting a
cluster and importing torch in a new driver take longer than most of the trials."""

from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from cluster_helpers import WANDB
from store_helpers import CREDENTIALS

from sweeps.cluster.connection import connect


@pytest.fixture(scope="session")
def ray_session(tmp_path_factory):
    """A cluster of two CPUs and two logical GPUs. Workers keep the environment in which it was started: the
    files of the trouble plug-in, and credentials for the bucket and for W&B."""
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


@pytest.fixture
def no_ray(monkeypatch):
    """Ray looks as if this process had joined no cluster; the shared one stays up."""
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.setattr("ray.shutdown", lambda: None)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
