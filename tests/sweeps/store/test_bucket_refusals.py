"""A bucket that is not there, a server that denies, is down, is silent or breaks off: what the user is told
of it."""

import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from store_helpers import CREDENTIALS, fill_store

from sweeps.errors import StoreError
from sweeps.store import bucket_folder as remote_folder
from sweeps.store import s3
from sweeps.store.store import Store


class Denies(BaseHTTPRequestHandler):
    """A server that knows nobody."""

    def do_HEAD(self):
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        text = b"<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>no entry for nobody-id</Message></Error>"
        self.send_response(403)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture
def denying():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Denies)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def credentials(monkeypatch):
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)


def refusal(address, create=True):
    with pytest.raises(StoreError) as caught:
        Store(address, create).rows()
    assert len(str(caught.value).splitlines()) == 1
    assert address in str(caught.value)
    return str(caught.value)


def test_a_bucket_that_is_not_there_is_a_clear_error(s3_endpoint):
    for create in (True, False):
        assert "there is no such bucket" in refusal(
            f"s3://nowhere/x?endpoint_override={s3_endpoint}&scheme=http", create
        )


def test_a_bucket_whose_region_nobody_knows_is_not_there(monkeypatch, credentials):
    def unknown(name):
        raise FileNotFoundError(f"Bucket '{name}' not found")

    monkeypatch.setattr(s3.fs, "resolve_s3_region", unknown)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    assert "there is no such bucket" in refusal("s3://nowhere-at-all/x")


def test_access_that_is_denied_is_a_clear_error(denying, credentials):
    text = refusal(f"s3://results/x?endpoint_override={denying}&scheme=http&region=us-east-1")
    assert "access is denied. Credentials are AWS_ACCESS_KEY_ID" in text
    assert not [value for value in CREDENTIALS.values() if value.startswith("nobody") and value in text]


def test_a_server_that_is_down_is_a_clear_error(credentials):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        endpoint = f"127.0.0.1:{nobody.getsockname()[1]}"
    assert "the server does not answer" in refusal(
        f"s3://results/x?endpoint_override={endpoint}&scheme=http&region=us-east-1"
    )


def test_a_server_that_is_silent_is_not_waited_for_without_end(credentials, monkeypatch):
    monkeypatch.setattr(s3, "ANSWER_SECONDS", 1)
    monkeypatch.setattr(s3, "TRIES", 1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"s3://results/x?endpoint_override=127.0.0.1:{silent.getsockname()[1]}&scheme=http&region=us-east-1"
        began = time.monotonic()
        assert "the server does not answer" in refusal(address)
    assert time.monotonic() - began < 60


def test_a_connection_that_breaks_is_not_taken_for_a_damaged_part(bucket, monkeypatch):
    """Neither of an object that is fetched whole nor of one that is read piece by piece."""
    store = fill_store(bucket, 2)

    class Broken:
        def __init__(self, file):
            self.file = file

        def read_buffer(self):
            raise OSError(
                "AWS Error NETWORK_CONNECTION during GetObject operation: curlCode: 56, Failure when receiving; Details: x"
            )

        def read(self, size):
            return self.read_buffer()

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.file.close()

        def __getattr__(self, name):
            return getattr(self.file, name)

    class Objects:
        def __getattr__(self, name):
            return getattr(objects, name)

        def open_input_file(self, key):
            return Broken(objects.open_input_file(key))

    objects, store.folder.objects = store.folder.objects, Objects()
    for whole in (remote_folder.WHOLE, 0):
        monkeypatch.setattr(remote_folder, "WHOLE", whole)
        with pytest.raises(
            StoreError, match=r"Cannot read .* the server does not answer \(failure when receiving\)"
        ):
            store.rows()
    assert store.problems == []
    assert len(Store(bucket).rows()) == 2
