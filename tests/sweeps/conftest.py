"""Fixtures: the plug-in that fails on request, an S3 server on loopback, and a store in a directory and in a
bucket."""

import secrets

import pytest
from engine_helpers import load_trouble_plugin
from pyarrow import fs
from store_helpers import CREDENTIALS

from sweeps.store.store import Store

BUCKET = "results"


@pytest.fixture(scope="module")
def trouble_plugin():
    with load_trouble_plugin() as module:
        yield module


@pytest.fixture(scope="session")
def s3_endpoint():
    """Host and port of a server with one bucket; the credentials in the environment open nothing else."""
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
    """The URL of a location that no other test uses."""
    options = f"endpoint_override={s3_endpoint}&scheme=http&region=us-east-1"
    return f"s3://{BUCKET}/{secrets.token_hex(6)}/runs?{options}"


@pytest.fixture(params=["directory", "bucket"])
def location(request, tmp_path):
    """A location for a store: the test runs once with a directory and once with a bucket."""
    return str(tmp_path / "store") if request.param == "directory" else request.getfixturevalue("bucket")


@pytest.fixture
def store(location):
    return Store(location)
