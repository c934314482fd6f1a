"""Errors of a bucket: it does not exist, or its server denies access, is down, does not answer or breaks the
connection."""

import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from facts import raises_with
from store_helpers import CREDENTIALS, fill_store

from sweeps.errors import StoreError
from sweeps.store import bucket_folder, s3
from sweeps.store.store import Store


class DenyingHandler(BaseHTTPRequestHandler):
    """Answers every request with 403."""

    def do_HEAD(self):
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        error = b"<Error><Code>AccessDenied</Code><Message>no entry for nobody-id</Message></Error>"
        text = b"<?xml version='1.0'?>" + error
        self.send_response(403)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture
def denying():
    server = ThreadingHTTPServer(("127.0.0.1", 0), DenyingHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def credentials(monkeypatch):
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)


def read_refusal(location, create=True):
    """The message of the error, which is one line and names the location."""
    with pytest.raises(StoreError) as caught:
        Store(location, create).read_rows()
    assert len(str(caught.value).splitlines()) == 1
    assert location in str(caught.value)
    return str(caught.value)


def test_a_bucket_that_does_not_exist(s3_endpoint):
    for create in (True, False):
        assert "no such bucket" in read_refusal(
            f"s3://nowhere/x?endpoint_override={s3_endpoint}&scheme=http", create
        )


def test_a_bucket_without_a_region_does_not_exist(monkeypatch, credentials):
    def unknown(name):
        raise FileNotFoundError(f"Bucket '{name}' not found")

    monkeypatch.setattr(s3.fs, "resolve_s3_region", unknown)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    assert "no such bucket" in read_refusal("s3://nowhere-at-all/x")


def test_access_that_is_denied(denying, credentials):
    text = read_refusal(f"s3://results/x?endpoint_override={denying}&scheme=http&region=us-east-1")
    assert "access is denied" in text
    assert "AWS_ACCESS_KEY_ID" in text
    assert "nobody" not in text, "no credential, and nothing that the server wrote"


def test_a_server_that_is_down(credentials):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        endpoint = f"127.0.0.1:{unused.getsockname()[1]}"
    assert "the server does not answer" in read_refusal(
        f"s3://results/x?endpoint_override={endpoint}&scheme=http&region=us-east-1"
    )


def test_a_server_that_does_not_answer_is_given_up(credentials, monkeypatch):
    monkeypatch.setattr(s3, "ANSWER_SECONDS", 1)
    monkeypatch.setattr(s3, "TRIES", 1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        endpoint = f"127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        assert "the server does not answer" in read_refusal(
            f"s3://results/x?endpoint_override={endpoint}&scheme=http&region=us-east-1"
        )
    assert time.monotonic() - began < 60


def test_a_broken_connection_does_not_count_as_a_damaged_part(bucket, monkeypatch):
    """For objects that are fetched in one piece and for those that are read in ranges."""
    store = fill_store(bucket, 2)

    class Broken:
        def __init__(self, file):
            self.file = file

        def read_buffer(self):
            raise OSError(
                "AWS Error NETWORK_CONNECTION during GetObject operation: "
                "curlCode: 56, Failure when receiving; Details: x"
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
    for whole in (bucket_folder.WHOLE, 0):
        monkeypatch.setattr(bucket_folder, "WHOLE", whole)
        with raises_with(StoreError, "read", "the server does not answer", "failure when receiving"):
            store.read_rows()
    assert store.problems == []
    assert len(Store(bucket).read_rows()) == 2
