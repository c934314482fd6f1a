"""The tests' own plug-in, for the modules that ask for it, and an S3 server on loopback, for the places that
results can lie in."""

import secrets

import pytest
from engine_helpers import plugged
from pyarrow import fs
from store_helpers import CREDENTIALS

from sweeps.store.store import Store

BUCKET = "results"


@pytest.fixture(scope="module")
def trouble_plugin():
    with plugged() as module:
        yield module


@pytest.fixture(scope="session")
def s3_endpoint():
    """Host and port of a server that has one bucket; the credentials in the environment open nothing else."""
    server = pytest.importorskip("moto.server", reason="moto, of the dev extra, is not installed")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in CREDENTIALS.items():
            patch.setenv(name, value)
        running = server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        running.start()
        endpoint = "{}:{}".format(*running.get_host_and_port())
        objects = fs.S3FileSystem(
            endpoint_override=endpoint, scheme="http", region="us-east-1", allow_bucket_creation=True
        )
        objects.create_dir(BUCKET)
        yield endpoint
        running.stop()


@pytest.fixture
def bucket(s3_endpoint):
    """The address of a place that nobody else uses."""
    return f"s3://{BUCKET}/{secrets.token_hex(6)}/runs?endpoint_override={s3_endpoint}&scheme=http&region=us-east-1"


@pytest.fixture(params=["directory", "bucket"])
def place(request, tmp_path):
    """Where a store can lie: a test that asks for this is run once in each."""
    return str(tmp_path / "store") if request.param == "directory" else request.getfixturevalue("bucket")


@pytest.fixture
def store(place):
    return Store(place)
